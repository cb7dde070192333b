/* SPDX-License-Identifier: MIT */
#include "source/kernel/processes/priority.h"

#define PRIO_REALTIME_COUNT 100 /* MAX_RT_PRIO */
#define PRIO_NORMAL         120 /* DEFAULT_PRIO, nice 0 */
#define NICE_MIN            (-20)
#define NICE_MAX            19

#define WINDOWS_LOWEST   1
#define WINDOWS_REALTIME 16
#define STEPS            7 /* from 8 down to 1, and up to 15 */

static uint8_t of_nice(int32_t nice)
{
	if (nice < NICE_MIN)
		nice = NICE_MIN;
	if (nice > NICE_MAX)
		nice = NICE_MAX;
	/* Rounded away from 8, so that every change of the nice value from 0 shows. */
	if (nice >= 0)
		return (uint8_t)(ETW_KERNEL_PRIORITY_NORMAL -
				 (nice * STEPS + NICE_MAX - 1) / NICE_MAX);
	return (uint8_t)(ETW_KERNEL_PRIORITY_NORMAL + (-nice * STEPS - NICE_MIN - 1) / -NICE_MIN);
}

static uint8_t of_realtime(int32_t realtime)
{
	/* No task has 0: what the kernel counts as 99 is the lowest. */
	return (uint8_t)(WINDOWS_REALTIME + (realtime > 0 ? (realtime - 1) / 7 : 0));
}

uint8_t etw_kernel_priority_of(int32_t prio, uint32_t policy)
{
	if (prio < 0)
		return ETW_KERNEL_PRIORITY_HIGHEST;
	if (prio < PRIO_REALTIME_COUNT)
		return of_realtime(PRIO_REALTIME_COUNT - 1 - prio);
	/* Only what it is by itself: with a lender's priority it runs as any other. */
	if (policy == ETW_KERNEL_POLICY_IDLE)
		return WINDOWS_LOWEST;
	return of_nice(prio - PRIO_NORMAL);
}

uint8_t etw_kernel_priority_of_stat(int32_t nice, uint32_t realtime, uint32_t policy)
{
	switch (policy) {
	case ETW_KERNEL_POLICY_DEADLINE:
		return ETW_KERNEL_PRIORITY_HIGHEST;
	case ETW_KERNEL_POLICY_FIFO:
	case ETW_KERNEL_POLICY_RR:
		if (realtime >= PRIO_REALTIME_COUNT)
			realtime = PRIO_REALTIME_COUNT - 1;
		return of_realtime((int32_t)realtime);
	case ETW_KERNEL_POLICY_IDLE:
		return WINDOWS_LOWEST;
	default:
		return of_nice(nice);
	}
}
