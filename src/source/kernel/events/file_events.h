/* SPDX-License-Identifier: MIT */
/* The events that name files, which come of records and of the rundown. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_FILE_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_FILE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "source/kernel/events/file_names.h"
#include "source/kernel/out/out.h"

#define ETW_KERNEL_NAME_EVENT_MAX (16 + 8 + (ETW_KERNEL_NAME_TEXT_MAX + 1) * 2)

/*
 * etw_kernel_file_name_event() - a FileIo event of a name.
 *
 * @type: enum etw_kernel_name_type
 * @text: UTF-8; what is malformed becomes U+FFFD; at most ETW_KERNEL_NAME_TEXT_MAX bytes
 * @to:   ETW_KERNEL_NAME_EVENT_MAX bytes
 *
 * Returns its bytes.
 */
uint32_t etw_kernel_file_name_event(uint8_t type, uint64_t key, const char *text, size_t bytes,
				    int64_t time_raw, uint8_t *to);

/* etw_kernel_write_file_names() - every name that was told, as of the rundown (FileRundown). */
void etw_kernel_write_file_names(struct etw_kernel_out *out,
				 const struct etw_kernel_file_names *names);

#endif
