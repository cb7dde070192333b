/* SPDX-License-Identifier: MIT */
/* The names of EVENT_TRACE_FLAG_*, for those who tell which of them a session does not collect. */
#ifndef ETW_WIRE_KERNEL_FLAGS_H
#define ETW_WIRE_KERNEL_FLAGS_H

#include <stddef.h>
#include <stdint.h>

/* etw_kernel_flag_name() - of one bit, without EVENT_TRACE_FLAG_; NULL when Windows has no name for it. Static. */
const char *etw_kernel_flag_name(uint32_t flag);

/*
 * etw_kernel_flags_events() - those of @enable_flags that ask for events; the others say how to record.
 */
uint32_t etw_kernel_flags_events(uint32_t enable_flags);

/*
 * etw_kernel_flags_format() - "CSWITCH, DISK_IO": the names of all flags in @flags, the lowest first; one
 * without a name as "0x08000000".
 *
 * @room: gets at most @room_bytes with the NUL; what does not fit is cut
 */
void etw_kernel_flags_format(uint32_t flags, char *room, size_t room_bytes);

#endif
