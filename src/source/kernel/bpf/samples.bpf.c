/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples: what a processor was doing when its perf event came due, the clock's or a counter's. The event's registers are
 * where it was interrupted, so no frame of the program is on the stack.
 */
#include "owners.h"

/* The program's context begins with the registers, in the order that user space knows; the kernel sees to that. */
#if defined(__TARGET_ARCH_x86)
#define ADDRESS_PLACE 16 /* rip */
#elif defined(__TARGET_ARCH_arm64)
#define ADDRESS_PLACE 32 /* pc */
#endif

struct sampled {
	__u64 others[ADDRESS_PLACE];
	__u64 address;
};

/* perf runs one of these programs at a time on a processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} etw_sample_stack SEC(".maps");

static __always_inline int is_told(const struct etw_kernel_control *control,
				   struct task_struct *task)
{
	const struct context *context = find_context();

	if (context && is_in_soft_interrupt(context))
		return is_soft_inside(control, context, context->soft_number);
	return is_thread_inside(control, task);
}

SEC("perf_event")
int etw_sample(struct sampled *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_sample payload = {};
	struct stack *stack = NULL;
	__u32 key = 0;

	if (!control || !is_wanted(control, ETW_KERNEL_SAMPLE))
		return 0;
	if (control->only_pid && !is_told(control, task))
		return 0;
	head.kind = ETW_KERNEL_SAMPLE;
	payload.address = context->address;
	payload.tid = task->pid;
	payload.priority = task->prio;
	payload.policy = task->policy;
	if (is_in_soft_interrupt(find_context()))
		payload.flags = ETW_KERNEL_SAMPLE_SOFT_INTERRUPT;
	head.stack_tid = task->pid;
	head.stack_pid = task->tgid;
	if (wants_stack(control, ETW_KERNEL_SAMPLE)) {
		head.stack_flags = ETW_KERNEL_STACK_ASKED;
		stack = bpf_map_lookup_elem(&etw_sample_stack, &key);
		if (stack)
			take_stack_from(context, stack, !(task->flags & PF_KTHREAD), 0);
	}
	send(&head, &payload, sizeof(payload), stack);
	return 0;
}

/* The event was attached with the number of its source. */
SEC("perf_event")
int etw_counter_sample(struct sampled *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_counter_sample payload = {};
	struct stack *stack = NULL;
	__u32 key = 0;

	if (!control || !is_wanted(control, ETW_KERNEL_COUNTER_SAMPLE))
		return 0;
	if (control->only_pid && !is_told(control, task))
		return 0;
	head.kind = ETW_KERNEL_COUNTER_SAMPLE;
	payload.address = context->address;
	payload.tid = task->pid;
	payload.source = bpf_get_attach_cookie(context);
	head.stack_tid = task->pid;
	head.stack_pid = task->tgid;
	if (wants_stack(control, ETW_KERNEL_COUNTER_SAMPLE)) {
		head.stack_flags = ETW_KERNEL_STACK_ASKED;
		stack = bpf_map_lookup_elem(&etw_sample_stack, &key);
		if (stack)
			take_stack_from(context, stack, !(task->flags & PF_KTHREAD), 0);
	}
	send(&head, &payload, sizeof(payload), stack);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
