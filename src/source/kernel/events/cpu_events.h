/* SPDX-License-Identifier: MIT */
/*
 * The bytes of frequent events: a record of a processor's ring becomes an event of its class, and where it has a stack a
 * StackWalk event behind it, with the same time.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_CPU_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_CPU_EVENTS_H

#include <stdint.h>

#include "base/source.h"
#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/bpf/records.h"
#include "source/kernel/code/routines.h"
#include "source/kernel/code/seen.h"
#include "source/kernel/events/file_names.h"
#include "source/kernel/events/messages.h"
#include "source/kernel/machine/disks.h"

#define ETW_KERNEL_CPU_EVENT_MAX 9216 /* bytes of an event with a path, its stack excepted */
#define ETW_KERNEL_STACK_MAX     (16 + 16 + ETW_KERNEL_FRAMES * 8)

/* What events are made with, besides their records. */
struct etw_kernel_cpu_maker {
	const struct etw_source_host *host; /* borrowed: for times other than the event's own */
	const struct etw_kernel_routines *routines; /* borrowed */
	struct etw_kernel_messages *messages;       /* borrowed; NULL: no interrupt is a message */
	const struct etw_kernel_disks *disks; /* borrowed; NULL: their numbers are not known */
	struct etw_kernel_seen *seen; /* borrowed; addresses that events name; NULL: nobody asks */
	struct etw_kernel_file_names *file_names; /* borrowed; NULL: no file is named */
};

/*
 * etw_kernel_cpu_event() - the event of @record.
 *
 * @to: ETW_KERNEL_CPU_EVENT_MAX bytes, 8-aligned
 *
 * Returns its bytes; 0 when the record makes none.
 */
uint32_t etw_kernel_cpu_event(const struct etw_kernel_cpu_maker *maker,
			      const struct etw_kernel_cpu_record *record, int64_t time_raw,
			      uint8_t *to);

/*
 * etw_kernel_cpu_learn_name() - takes in the name that @record, an ETW_KERNEL_FILE_NAME, tells: before any event is made that is
 * later than it.
 */
void etw_kernel_cpu_learn_name(const struct etw_kernel_cpu_maker *maker,
			       const struct etw_kernel_cpu_record *record);

/*
 * etw_kernel_cpu_stack() - the StackWalk event of @record.
 *
 * @frames: innermost first; @count of them, at most ETW_KERNEL_FRAMES
 * @to:     ETW_KERNEL_STACK_MAX bytes, 8-aligned
 *
 * Returns its bytes.
 */
uint32_t etw_kernel_cpu_stack(const struct etw_kernel_cpu_record *record, const uint64_t *frames,
			      uint32_t count, int64_t time_raw, uint8_t *to);

#endif
