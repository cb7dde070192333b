/* SPDX-License-Identifier: MIT */
/*
 * What threads used of processors, by the records of tasks. The scheduler's sum is exact up to its last look at its clock;
 * what passed since is found by how far that clock is behind CLOCK_MONOTONIC. Source: docs/kernel-events.md "Headers".
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_CPU_TIME_H
#define ETW_SOURCE_KERNEL_PROCESSES_CPU_TIME_H

#include <stdint.h>

#include "source/kernel/bpf/records.h"

struct etw_kernel_cpu_time {
	uint64_t tick_ns; /* of times in headers: what the file says as TimerResolution */
	/* CLOCK_MONOTONIC minus the scheduler's clock, the least of this second and of the one before. */
	uint64_t since_ns;
	int64_t behind_ns, behind_before_ns;
};

/* etw_kernel_cpu_time_init() - nothing is known of the scheduler's clock. */
void etw_kernel_cpu_time_init(struct etw_kernel_cpu_time *time);

/* etw_kernel_cpu_time_note() - a record, in the order of their times. @task: of the one who acts */
void etw_kernel_cpu_time_note(struct etw_kernel_cpu_time *time,
			      const struct etw_kernel_record *head,
			      const struct etw_kernel_task *task);

/* etw_kernel_cpu_time_used() - nanoseconds of the task who acts, with what the scheduler has not seen yet. */
uint64_t etw_kernel_cpu_time_used(const struct etw_kernel_cpu_time *time,
				  const struct etw_kernel_record *head,
				  const struct etw_kernel_task *task);

/*
 * etw_kernel_cpu_time_ticks() - the same but for @spent_ns of it, in ticks. The sum is exact; how it is divided into time in
 * the kernel and in user code is as the clock's ticks found it.
 */
void etw_kernel_cpu_time_ticks(const struct etw_kernel_cpu_time *time,
			       const struct etw_kernel_record *head,
			       const struct etw_kernel_task *task, uint64_t spent_ns,
			       uint32_t *ret_kernel, uint32_t *ret_user);

#endif
