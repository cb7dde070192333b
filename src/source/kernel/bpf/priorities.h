/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Priorities of threads. No tracepoint tells of nice() or sched_setscheduler(), so what a thread has is held against what it
 * had when it was looked at last, whenever it comes by: the change is told then, and once, by whichever program sees it first.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_PRIORITIES_H
#define ETW_SOURCE_KERNEL_BPF_PRIORITIES_H

#include "cpu_ring.h"

#define SCHED_IDLE_POLICY 5
#define FIRST_NICE        100 /* MAX_RT_PRIO */

/* Of each half of the word: the priority, and whether the policy makes the nice value void. */
#define HALF_BITS        16
#define HALF_PRIORITY    0xFFu
#define HALF_IS_IDLE     0x100u
#define PRIORITIES_KNOWN 0x80000000u

static __always_inline __u32 half_of(int priority, __u32 policy)
{
	__u32 half = priority & HALF_PRIORITY;

	if (policy == SCHED_IDLE_POLICY && priority >= FIRST_NICE)
		half |= HALF_IS_IDLE;
	return half;
}

/* What the thread runs with, and above it what it has by itself. */
static __always_inline __u32 join_priorities(const struct task_struct *task, int priority)
{
	return half_of(priority, task->policy) |
	       half_of(task->normal_prio, task->policy) << HALF_BITS | PRIORITIES_KNOWN;
}

static __always_inline void send_priority(__u32 tid, __u32 is_base, __u32 seen, __u32 now)
{
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_priority payload = {};

	head.kind = ETW_KERNEL_PRIORITY;
	payload.tid = tid;
	payload.is_base = is_base;
	payload.old_priority = seen & HALF_PRIORITY;
	payload.new_priority = now & HALF_PRIORITY;
	payload.is_old_idle = (seen & HALF_IS_IDLE) != 0;
	payload.is_new_idle = (now & HALF_IS_IDLE) != 0;
	send(&head, &payload, sizeof(payload), NULL);
}

/*
 * Tells what is new. @priority: what the thread runs with.
 *
 * Two processors may look at a thread at once: what was seen is read before the thread is, and the one that puts its own in
 * place of it tells the change, so that none is told twice, nor an older state as a newer one.
 */
static __always_inline void tell_priorities(const struct etw_kernel_control *control,
					    struct task_struct *task, struct thread *thread,
					    __u32 seen, int priority)
{
	const __u32 half = HALF_PRIORITY | HALF_IS_IDLE;
	__u32 now = join_priorities(task, priority);

	if (seen == now || __sync_val_compare_and_swap(&thread->priorities, seen, now) != seen)
		return;
	if (!(seen & PRIORITIES_KNOWN) || !is_inside(control, thread))
		return;
	if ((seen ^ now) >> HALF_BITS & half)
		send_priority(task->pid, 1, seen >> HALF_BITS, now >> HALF_BITS);
	if ((seen ^ now) & half)
		send_priority(task->pid, 0, seen, now);
}

static __always_inline void look_at_priorities(const struct etw_kernel_control *control,
					       struct task_struct *task)
{
	struct thread *thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	__u32 seen;

	if (!thread)
		return;
	seen = *(volatile __u32 *)&thread->priorities;
	tell_priorities(control, task, thread, seen, task->prio);
}

#endif
