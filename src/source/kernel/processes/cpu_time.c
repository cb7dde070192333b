/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/cpu_time.h"

#include <sys/param.h>

#include "base/number.h"
#include "base/time.h"
#include "wire/etl_logfile.h"

#define CLOCK_PERIOD_NS UINT64_C(1000000000)
#define TICK_NS_MAX     UINT64_C(10000000) /* of 100 Hz, the slowest tick: then the scheduler looks */

void etw_kernel_cpu_time_init(struct etw_kernel_cpu_time *time)
{
	*time = (struct etw_kernel_cpu_time){
		.tick_ns = WIRE_LOGFILE_TICK_FT * ETW_NS_PER_FT,
		.behind_ns = INT64_MAX,
		.behind_before_ns = INT64_MAX,
	};
}

/*
 * The two clocks differ by a number that hardly changes, and by how long ago the scheduler looked at its own. In
 * the course of a second it looks at it right before some record, so the least of the differences is that number.
 */
void etw_kernel_cpu_time_note(struct etw_kernel_cpu_time *time,
			      const struct etw_kernel_record *head,
			      const struct etw_kernel_task *task)
{
	uint64_t passed_ns = head->time_ns - time->since_ns;
	int64_t behind_ns = (int64_t)(head->time_ns - task->clock_ns);

	if (!task->clock_ns)
		return;
	if (passed_ns >= CLOCK_PERIOD_NS) {
		time->behind_before_ns = passed_ns < 2 * CLOCK_PERIOD_NS ? time->behind_ns
									 : INT64_MAX;
		time->behind_ns = INT64_MAX;
		time->since_ns = head->time_ns;
	}
	time->behind_ns = MIN(time->behind_ns, behind_ns);
}

uint64_t etw_kernel_cpu_time_used(const struct etw_kernel_cpu_time *time,
				  const struct etw_kernel_record *head,
				  const struct etw_kernel_task *task)
{
	int64_t least_ns = MIN(time->behind_ns, time->behind_before_ns);
	int64_t unseen_ns = (int64_t)(head->time_ns - task->clock_ns) - least_ns;

	if (head->kind == ETW_KERNEL_NEW_TASK || !task->clock_ns || unseen_ns < 0)
		return task->runtime_ns;
	return task->runtime_ns + MIN((uint64_t)unseen_ns, TICK_NS_MAX);
}

void etw_kernel_cpu_time_ticks(const struct etw_kernel_cpu_time *time,
			       const struct etw_kernel_record *head,
			       const struct etw_kernel_task *task, uint64_t spent_ns,
			       uint32_t *ret_kernel, uint32_t *ret_user)
{
	uint64_t used_ns = etw_kernel_cpu_time_used(time, head, task);
	double both = (double)task->user_ns + (double)task->system_ns;
	double share = both > 0 ? (double)task->system_ns / both : 0;
	uint32_t ticks;

	if (spent_ns >= used_ns)
		spent_ns = 0;
	ticks = etw_saturate32((used_ns - spent_ns + time->tick_ns / 2) / time->tick_ns);
	*ret_kernel = (uint32_t)((double)ticks * share + 0.5);
	*ret_user = ticks - *ret_kernel;
}
