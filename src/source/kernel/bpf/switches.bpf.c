/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Context switches. The stack of a switch is that of the thread switched in, which is where it was switched out: it is
 * taken then, kept with the thread, and sent when the thread runs again.
 */
#include "contexts.h"
#include "cpu_ring.h"

/* One constant for the loader; see cpu_programs.c. */
const volatile __u32 etw_switch_tells_state = 0;

#define TASK_RUNNING 0

static __always_inline void tell_switch(struct etw_kernel_switch *to, __u64 *context,
					struct task_struct *old, struct task_struct *new)
{
	to->new_tid = new->pid;
	to->old_tid = old->pid;
	to->old_state = etw_switch_tells_state ? (__u32)context[3] : old->__state;
	to->old_ideal_cpu = old->wake_cpu;
	to->new_priority = new->prio;
	to->old_priority = old->prio;
	to->new_policy = new->policy;
	to->old_policy = old->policy;
	if (context[0] & 0xFF)
		to->flags |= ETW_KERNEL_SWITCH_PREEMPTED;
	if (BPF_CORE_READ_BITFIELD(old, in_iowait))
		to->flags |= ETW_KERNEL_SWITCH_WAITS_IO;
	if (old->flags & PF_KTHREAD)
		to->flags |= ETW_KERNEL_SWITCH_OLD_KERNEL;
}

/* Of a switch from the idle thread. One to it begins anew: the processor may do without a state. */
static __always_inline void follow_idle_state(struct etw_kernel_switch *to,
					      const struct task_struct *old)
{
	struct context *context = find_context();

	if (!context)
		return;
	if (!old->pid)
		to->idle_state = context->idle_state < 0xFF ? context->idle_state : 0xFF;
	context->idle_state = 0;
}

/* 0: there is one. @to: what is kept of the thread switched in; NULL: nothing */
static __always_inline __u8 why_no_stack(const struct etw_kernel_control *control,
					 const struct task_struct *new, const struct thread *to)
{
	if (!new->pid)
		return ETW_KERNEL_STACK_IDLE;
	if (!to)
		return control->only_pid ? ETW_KERNEL_STACK_OUTSIDE : ETW_KERNEL_STACK_NO_THREAD;
	if (!is_inside(control, to))
		return ETW_KERNEL_STACK_OUTSIDE;
	return to->has_stack ? 0 : ETW_KERNEL_STACK_NOT_OUT;
}

SEC("tp_btf/sched_switch")
int etw_switch_tasks(__u64 *context)
{
	struct task_struct *old = (void *)context[1], *new = (void *)context[2];
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_SWITCH};
	struct etw_kernel_switch payload = {};
	struct thread *from, *to;

	if (!control || !is_wanted(control, ETW_KERNEL_SWITCH))
		return 0;
	from = old->pid ? bpf_task_storage_get(&etw_threads, old, 0, 0) : NULL;
	to = new->pid ? bpf_task_storage_get(&etw_threads, new, 0, 0) : NULL;
	if (!old->pid || !new->pid)
		follow_idle_state(&payload, old);
	if (is_inside(control, from) || is_inside(control, to)) {
		const struct stack *stack = NULL;

		tell_switch(&payload, context, old, new);
		head.stack_tid = new->pid;
		head.stack_pid = new->tgid;
		if (to && to->out_ns)
			payload.waited_ns = bpf_ktime_get_ns() - to->out_ns;
		if (wants_stack(control, ETW_KERNEL_SWITCH)) {
			head.stack_flags = ETW_KERNEL_STACK_ASKED | why_no_stack(control, new, to);
			if (head.stack_flags == ETW_KERNEL_STACK_ASKED)
				stack = &to->stack;
		}
		send(&head, &payload, sizeof(payload), stack);
	}
	if (!from)
		return 0;
	from->out_ns = bpf_ktime_get_ns();
	from->has_stack = 0;
	if (wants_stack(control, ETW_KERNEL_SWITCH) && is_inside(control, from)) {
		take_stack(context, &from->stack, !(old->flags & PF_KTHREAD));
		from->has_stack = 1;
	}
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
