/* SPDX-License-Identifier: MIT */
/* Files that the functions of tdh.h read as a whole. */
#ifndef ETW_API_TDH_FILE_H
#define ETW_API_TDH_FILE_H

#include <stddef.h>

/*
 * etw_tdh_file_read() - a regular file's bytes.
 *
 * @ret: owned memory
 *
 * Returns 0; -EFBIG beyond @bytes_max; -EINVAL for what is no regular file; -ENOMEM; what opening and
 * reading fail with.
 */
int etw_tdh_file_read(const char *path, size_t bytes_max, char **ret, size_t *ret_bytes);

#endif
