/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Changes of priority, seen where a thread is switched in or out, where it is woken, and where one that waits for it lends
 * its own. They are programs of their own, so that a switch costs nothing more while nobody wants them.
 */
#include "priorities.h"

#define NO_PRIORITY 0x7FFFFFFF

SEC("tp_btf/sched_switch")
int etw_switch_priorities(__u64 *context)
{
	struct task_struct *old = (void *)context[1], *new = (void *)context[2];
	const struct etw_kernel_control *control = find_control();

	if (!control || !is_wanted(control, ETW_KERNEL_PRIORITY))
		return 0;
	if (old->pid)
		look_at_priorities(control, old);
	if (new->pid)
		look_at_priorities(control, new);
	return 0;
}

SEC("tp_btf/sched_waking")
int etw_wake_priorities(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();

	if (control && is_wanted(control, ETW_KERNEL_PRIORITY))
		look_at_priorities(control, (void *)context[0]);
	return 0;
}

/* Comes in front of the change, with the thread that lends; without one, what was lent is given back. */
SEC("tp_btf/sched_pi_setprio")
int etw_lend_priority(__u64 *context)
{
	struct task_struct *task = (void *)context[0], *lender = (void *)context[1];
	const struct etw_kernel_control *control = find_control();
	struct thread *thread;
	int own, lent;
	__u32 seen;

	if (!control || !is_wanted(control, ETW_KERNEL_PRIORITY))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread)
		return 0;
	seen = *(volatile __u32 *)&thread->priorities;
	own = task->normal_prio;
	/* From Linux 6.3 to 6.12 a program is taken to be sure of its lender, and the test of it left out: reading tells. */
	if (!lender || bpf_core_read(&lent, sizeof(lent), &lender->prio))
		lent = NO_PRIORITY;
	tell_priorities(control, task, thread, seen, lent < own ? lent : own);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
