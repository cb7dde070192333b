/* SPDX-License-Identifier: MIT */
/* What the files of cpu_events.h have in common. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_CPU_EVENTS_INTERNAL_H
#define ETW_SOURCE_KERNEL_EVENTS_CPU_EVENTS_INTERNAL_H

#include "source/kernel/events/cpu_events.h"
#include "source/kernel/events/event_bytes.h"

/* etw_kernel_start_raw() - when what ends now began, on the session's clock; never after it ended. */
static inline int64_t etw_kernel_start_raw(const struct etw_kernel_cpu_maker *maker,
					   uint64_t start_ns, int64_t time_raw)
{
	int64_t start_raw;

	if (maker->host->to_raw(maker->host->context, start_ns, &start_raw) || start_raw > time_raw)
		return time_raw;
	return start_raw;
}

/* etw_kernel_cpu_system_event() - as etw_kernel_cpu_event(), of system calls and interrupts. */
uint32_t etw_kernel_cpu_system_event(const struct etw_kernel_cpu_maker *maker,
				     const struct etw_kernel_cpu_record *record, int64_t time_raw,
				     uint8_t *to);

/* etw_kernel_cpu_power_event() - as etw_kernel_cpu_event(), of idle states and frequencies. */
uint32_t etw_kernel_cpu_power_event(const struct etw_kernel_cpu_record *record, int64_t time_raw,
				    uint8_t *to);

/* etw_kernel_cpu_file_event() - as etw_kernel_cpu_event(), of files. */
uint32_t etw_kernel_cpu_file_event(const struct etw_kernel_cpu_maker *maker,
				   const struct etw_kernel_cpu_record *record, int64_t time_raw,
				   uint8_t *to);

/* etw_kernel_disk_event() - as etw_kernel_cpu_event(), of transfers of disks. */
uint32_t etw_kernel_disk_event(const struct etw_kernel_cpu_maker *maker,
			       const struct etw_kernel_cpu_record *record, int64_t time_raw,
			       uint8_t *to);

/* etw_kernel_cpu_memory_event() - as etw_kernel_cpu_event(), of faults, memory and views of files. */
uint32_t etw_kernel_cpu_memory_event(const struct etw_kernel_cpu_maker *maker,
				     const struct etw_kernel_cpu_record *record, int64_t time_raw,
				     uint8_t *to);

/*
 * etw_kernel_view_misc() - MiscInfo of a view: the page of the file that it begins with, and PAGE_* in the lower half.
 *
 * @rights: enum etw_kernel_view_right
 */
uint64_t etw_kernel_view_misc(uint64_t page_offset, uint32_t rights);

#endif
