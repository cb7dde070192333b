/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks of what tasks do, at the end of the records of records.h: so a stack and its event have one fate. Both sides
 * include this file.
 * Source: docs/kernel-events/stacks.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_STACK_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_STACK_RECORDS_H

#include <linux/types.h>

#include "cpu_records.h"
#include "records.h"

/* Linux' numbers of soft interrupts that serve timers. */
#define ETW_KERNEL_TIMER_SOFTIRQ   1
#define ETW_KERNEL_HRTIMER_SOFTIRQ 8

/* etw_kernel_soft_stack_event() - which of enum etw_kernel_stack_event the event of a soft interrupt is. */
static inline __u32 etw_kernel_soft_stack_event(const struct etw_kernel_soft_interrupt *record)
{
	if (record->number == ETW_KERNEL_TIMER_SOFTIRQ ||
	    record->number == ETW_KERNEL_HRTIMER_SOFTIRQ)
		return ETW_KERNEL_STACK_TIMER_DPC;
	return record->flags & ETW_KERNEL_SOFT_IN_THREAD ? ETW_KERNEL_STACK_THREADED_DPC
							 : ETW_KERNEL_STACK_DPC;
}

/* What begins the stack of a record; its tid and pid are those of the record's head. */
struct etw_kernel_task_stack {
	__u32 kernel_frames;
	__u32 user_frames; /* of struct etw_kernel_framed_stack alone */
	__u64 kernel[ETW_KERNEL_KERNEL_FRAMES];
};

/* User code by frame pointers. */
struct etw_kernel_framed_stack {
	struct etw_kernel_task_stack head;
	__u64 user[ETW_KERNEL_USER_FRAMES];
};

/* What tasks do is rare beside switches and samples, and what loads a library has a deep stack. */
#define ETW_KERNEL_TASK_COPY_BYTES 16384

/* User code to be unwound by its tables. */
struct etw_kernel_copied_stack {
	struct etw_kernel_task_stack head;
	struct etw_kernel_stack_copy copy;
	__u8 bytes[ETW_KERNEL_TASK_COPY_BYTES];
};

/*
 * A system call is about to map code of a file: the stack of the image load that perf's record of the mapping becomes.
 * There is none of a call that fails.
 */
struct etw_kernel_map {
	struct etw_kernel_record head;
	__u64 start;      /* of a change of rights; 0: of a mapping, whose place is not known yet */
	__u64 byte_count; /* as the call says it */
	__u64 file_offset; /* of a mapping */
};

#endif
