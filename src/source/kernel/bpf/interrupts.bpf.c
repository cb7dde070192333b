/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Interrupts and soft interrupts: told when they end, with the moment when they began, which waits in the processor's own
 * memory. None of them comes within another of its kind on a processor; a handler may come within a soft interrupt.
 */
#include "owners.h"

/* Who asked for an interrupt is not known: it is told where it takes time of the tree's threads. */
static __always_inline int is_told(const struct etw_kernel_control *control)
{
	return control && is_wanted(control, ETW_KERNEL_INTERRUPT) &&
	       (!control->only_pid || is_thread_inside(control, bpf_get_current_task_btf()));
}

static __always_inline int is_soft_told(const struct etw_kernel_control *control,
					const struct context *context, __u32 number)
{
	return control && is_wanted(control, ETW_KERNEL_SOFT_INTERRUPT) &&
	       (!control->only_pid || is_soft_inside(control, context, number));
}

/* A stack while its record is made. An interrupt may come at the end of a soft one, never within another's. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} etw_isr_stack SEC(".maps"), etw_dpc_stack SEC(".maps");

/* What was interrupted, below what the interrupt itself called. */
static __always_inline struct stack *take_interrupted(void *arguments,
						      struct etw_kernel_cpu_record *head, void *map)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack *stack;
	__u32 key = 0;

	head->stack_flags = ETW_KERNEL_STACK_ASKED;
	head->stack_tid = task->pid;
	head->stack_pid = task->tgid;
	stack = bpf_map_lookup_elem(map, &key);
	if (stack)
		take_stack(arguments, stack, !(task->flags & PF_KTHREAD));
	return stack;
}

static __always_inline void send_interrupt(void *arguments,
					   const struct etw_kernel_interrupt *payload)
{
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_cpu_record head = {};
	struct stack *stack = NULL;

	head.kind = ETW_KERNEL_INTERRUPT;
	if (!payload->start_ns || !is_told(control))
		return;
	if (wants_stack(control, ETW_KERNEL_INTERRUPT))
		stack = take_interrupted(arguments, &head, &etw_isr_stack);
	send(&head, payload, sizeof(*payload), stack);
}

SEC("tp_btf/irq_handler_entry")
int etw_isr_begins(__u64 *arguments)
{
	const struct etw_kernel_control *control = find_control();
	struct context *context;

	(void)arguments;
	if (!control || !is_wanted(control, ETW_KERNEL_INTERRUPT))
		return 0;
	context = find_context();
	if (context)
		context->handler_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int etw_isr_ends(__u64 *arguments)
{
	struct irqaction *action = (void *)arguments[1];
	struct etw_kernel_interrupt payload = {};
	struct context *context = find_context();

	if (!context)
		return 0;
	payload.start_ns = context->handler_ns;
	context->handler_ns = 0;
	payload.routine = (__u64)action->handler;
	payload.number = arguments[0];
	payload.result = arguments[2];
	send_interrupt(arguments, &payload);
	return 0;
}

SEC("tp_btf/softirq_entry")
int etw_dpc_begins(__u64 *arguments)
{
	const struct etw_kernel_control *control = find_control();
	__u64 number = arguments[0];
	struct context *context;

	if (!control || !is_wanted(control, ETW_KERNEL_SOFT_INTERRUPT))
		return 0;
	context = find_context();
	if (context && number < ETW_KERNEL_SOFT_NUMBERS)
		context->soft_ns[number] = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int etw_dpc_ends(__u64 *arguments)
{
	const struct etw_kernel_control *control = find_control();
	struct stack *stack = NULL;
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_soft_interrupt payload = {};
	struct context *context = find_context();
	__u64 number = arguments[0];

	if (!context || number >= ETW_KERNEL_SOFT_NUMBERS)
		return 0;
	payload.start_ns = context->soft_ns[number];
	context->soft_ns[number] = 0;
	if (!payload.start_ns || !is_soft_told(control, context, number))
		return 0;
	head.kind = ETW_KERNEL_SOFT_INTERRUPT;
	payload.number = number;
	if (is_ksoftirqd(bpf_get_current_task_btf()))
		payload.flags = ETW_KERNEL_SOFT_IN_THREAD;
	if (control && control->stack_events & etw_kernel_soft_stack_event(&payload))
		stack = take_interrupted(arguments, &head, &etw_dpc_stack);
	send(&head, &payload, sizeof(payload), stack);
	return 0;
}

#if defined(__TARGET_ARCH_x86)

/* Those of the processor's own: its timer, and those that processors send each other. */

static __always_inline int begin_vector(void)
{
	const struct etw_kernel_control *control = find_control();
	struct context *context;

	if (!control || !is_wanted(control, ETW_KERNEL_INTERRUPT))
		return 0;
	context = find_context();
	if (context)
		context->vector_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end_vector(__u64 *arguments)
{
	struct etw_kernel_interrupt payload = {};
	struct context *context = find_context();

	if (!context)
		return 0;
	payload.start_ns = context->vector_ns;
	context->vector_ns = 0;
	payload.number = arguments[0];
	payload.result = 1;
	payload.flags = ETW_KERNEL_INTERRUPT_LOCAL;
	send_interrupt(arguments, &payload);
	return 0;
}

#define VECTOR(name, tracepoint)                         \
	SEC("tp_btf/" #tracepoint "_entry")              \
	int etw_vector_##name##_begins(__u64 *arguments) \
	{                                                \
		(void)arguments;                         \
		return begin_vector();                   \
	}                                                \
	SEC("tp_btf/" #tracepoint "_exit")               \
	int etw_vector_##name##_ends(__u64 *arguments)   \
	{                                                \
		return end_vector(arguments);            \
	}

VECTOR(timer, local_timer)
VECTOR(resched, reschedule)
VECTOR(call, call_function)
VECTOR(call_one, call_function_single)
VECTOR(work, irq_work)

#endif

char etw_license[] SEC("license") = "Dual MIT/GPL";
