/* SPDX-License-Identifier: MIT */
/*
 * Linux' priorities as Windows' 0 to 31: the one place that says which is which, for every event that has one.
 * Source: docs/kernel-events/thread.md "Priorities".
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_PRIORITY_H
#define ETW_SOURCE_KERNEL_PROCESSES_PRIORITY_H

#include <stdint.h>

#define ETW_KERNEL_PRIORITY_IDLE_TASK \
	0 /* of a processor's idle task, which callers know by its id 0 */
#define ETW_KERNEL_PRIORITY_NORMAL  8 /* of nice 0 */
#define ETW_KERNEL_PRIORITY_HIGHEST 31

/* Scheduling policies, as procfs and task_struct number them. */
enum etw_kernel_policy {
	ETW_KERNEL_POLICY_OTHER = 0,
	ETW_KERNEL_POLICY_FIFO = 1,
	ETW_KERNEL_POLICY_RR = 2,
	ETW_KERNEL_POLICY_IDLE = 5,
	ETW_KERNEL_POLICY_DEADLINE = 6,
};

/*
 * etw_kernel_priority_of() - a priority as the kernel counts it.
 *
 * @prio:   task_struct's prio, normal_prio or static_prio, as tracepoints show them: less than 0 is a deadline's, 0
 *          to 98 are the real-time priorities 99 to 1, 100 to 139 the nice values -20 to 19
 * @policy: the task's, because SCHED_IDLE has a nice value that does not count; ETW_KERNEL_POLICY_OTHER when unknown
 *
 * Returns 1 to 31.
 */
uint8_t etw_kernel_priority_of(int32_t prio, uint32_t policy);

/*
 * etw_kernel_priority_of_stat() - the same for what procfs' stat says of a task, without what it borrows from others
 * that wait for it.
 *
 * @nice, @realtime, @policy: fields 19, 40 and 41
 */
uint8_t etw_kernel_priority_of_stat(int32_t nice, uint32_t realtime, uint32_t policy);

#endif
