/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads that become ready to run. sched_waking tells it where it happens: the thread that wakes is the one that runs,
 * which sched_wakeup does not promise. Both are reached with interrupts off, so one record is made at a time.
 */
#include "owners.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} etw_ready_stack SEC(".maps");

/*
 * Whether the tree that is wanted alone has a thread woken. What serves soft interrupts wakes on behalf of who asked for
 * them: behind a round of them the kernel does it on top of any thread.
 */
static __always_inline int is_woken_inside(const struct etw_kernel_control *control,
					   const struct task_struct *ready)
{
	const struct context *context = find_context();

	if (owner_now(control) != control->only_pid)
		return 0;
	return !is_ksoftirqd(ready) || (context && context->is_raised);
}

static __always_inline int tell_ready(void *context, struct task_struct *ready, __u32 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_ready payload = {};
	struct stack *stack = NULL;
	__u32 key = 0;

	if (!control || !is_wanted(control, ETW_KERNEL_READY))
		return 0;
	if (control->only_pid && !is_thread_inside(control, ready) &&
	    !is_woken_inside(control, ready))
		return 0;
	head.kind = ETW_KERNEL_READY;
	head.stack_tid = task->pid;
	head.stack_pid = task->tgid;
	payload.tid = ready->pid;
	payload.flags = flags;
	if (is_in_interrupt(find_context()))
		payload.flags |= ETW_KERNEL_READY_INTERRUPT;
	if (wants_stack(control, ETW_KERNEL_READY)) {
		head.stack_flags = ETW_KERNEL_STACK_ASKED;
		stack = bpf_map_lookup_elem(&etw_ready_stack, &key);
		if (stack)
			take_stack(context, stack, !(task->flags & PF_KTHREAD));
	}
	send(&head, &payload, sizeof(payload), stack);
	return 0;
}

SEC("tp_btf/sched_waking")
int etw_wake(__u64 *context)
{
	return tell_ready(context, (void *)context[0], 0);
}

SEC("tp_btf/sched_wakeup_new")
int etw_wake_new(__u64 *context)
{
	return tell_ready(context, (void *)context[0], ETW_KERNEL_READY_NEW);
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
