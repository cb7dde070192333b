/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For whom the kernel does what it does, where one process tree alone is wanted. A thread that was interrupted has no part
 * in the interrupt. Of soft interrupts and of what kernel workers do it is known who asked for it.
 * Source: docs/kernel-events/only-command.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_OWNERS_H
#define ETW_SOURCE_KERNEL_BPF_OWNERS_H

#include "contexts.h"
#include "cpu_ring.h"

/* Else the first process of a tree. */
#define OWNER_UNKNOWN 0
#define OWNER_OTHER   0xFFFFFFFFu /* somebody who is not of the tree that is wanted */

static __always_inline int is_thread_inside(const struct etw_kernel_control *control,
					    struct task_struct *task)
{
	/* What is known of the thread is not looked for where it does not count. */
	return !control->only_pid ||
	       is_inside(control,
			 task->pid ? bpf_task_storage_get(&etw_threads, task, 0, 0) : NULL);
}

/* Whether a thread is one of those that serve soft interrupts where there are too many: "ksoftirqd/0" and its like. */
static __always_inline int is_ksoftirqd(const struct task_struct *task)
{
	return (task->flags & PF_KTHREAD) && task->comm[0] == 'k' && task->comm[1] == 's' &&
	       task->comm[2] == 'o' && task->comm[3] == 'f' && task->comm[4] == 't' &&
	       task->comm[5] == 'i';
}

static __always_inline __u32 owner_of_soft(const struct context *context, __u32 number)
{
	return context && number < ETW_KERNEL_SOFT_NUMBERS ? context->soft_owner[number]
							   : OWNER_UNKNOWN;
}

/* For whom this processor works now: what is asked for now is asked for by them. */
static __always_inline __u32 owner_now(const struct etw_kernel_control *control)
{
	const struct context *context = find_context();

	if (!context || context->is_in_handler || context->is_in_timer || context->is_in_vector)
		return OWNER_UNKNOWN;
	if (is_in_soft_interrupt(context))
		return owner_of_soft(context, context->soft_number);
	return is_thread_inside(control, bpf_get_current_task_btf()) ? control->only_pid
								     : OWNER_OTHER;
}

/* Whether a soft interrupt is told: it takes time of the thread that it interrupts where nobody is known to have asked. */
static __always_inline int is_soft_inside(const struct etw_kernel_control *control,
					  const struct context *context, __u32 number)
{
	__u32 owner = owner_of_soft(context, number);

	if (owner != OWNER_UNKNOWN)
		return owner == control->only_pid;
	return is_thread_inside(control, bpf_get_current_task_btf());
}

#endif
