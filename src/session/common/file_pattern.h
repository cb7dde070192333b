/* SPDX-License-Identifier: MIT */
/*
 * Names of a series of files (EVENT_TRACE_FILE_MODE_NEWFILE): a pattern with one "%d", which is replaced by the
 * number of the file, from 1. Nothing else of a pattern means anything but itself.
 */
#ifndef ETW_SESSION_COMMON_FILE_PATTERN_H
#define ETW_SESSION_COMMON_FILE_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/message.h"

/* etw_file_pattern_is_one() - whether the name has exactly one "%d". */
bool etw_file_pattern_is_one(const char *name);

/*
 * etw_file_pattern_expand() - the name of one file.
 *
 * @number: 0: the name is no pattern, and is copied
 * @ret:    WIRE_MESSAGE_NAME_MAX + 1 bytes, not inside @pattern
 *
 * Returns 0; -EINVAL when there is a number and not exactly one place for it; -ENAMETOOLONG.
 */
int etw_file_pattern_expand(const char *pattern, uint32_t number, char *ret);

#endif
