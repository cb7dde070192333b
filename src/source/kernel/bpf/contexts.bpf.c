/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Follows what each processor is doing beside its thread, for the programs that tell it. */
#include "contexts.h"

SEC("tp_btf/softirq_entry")
int etw_softirq_begins(__u64 *arguments)
{
	struct context *context = find_context();
	__u64 number = arguments[0];

	if (!context || number >= ETW_KERNEL_SOFT_NUMBERS)
		return 0;
	context->soft_tid = (__u32)bpf_get_current_pid_tgid() + 1;
	context->soft_number = number;
	context->soft_owner[number] = context->raised_by[number];
	context->raised_by[number] = 0;
	return 0;
}

SEC("tp_btf/softirq_exit")
int etw_softirq_ends(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (!context)
		return 0;
	context->soft_tid = 0;
	context->is_raised = 0;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int etw_handler_begins(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (context)
		context->is_in_handler = 1;
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int etw_handler_ends(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (context)
		context->is_in_handler = 0;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int etw_timer_begins(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (context)
		context->is_in_timer = 1;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int etw_timer_ends(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (context)
		context->is_in_timer = 0;
	return 0;
}

#if defined(__TARGET_ARCH_x86)

static __always_inline int enter_vector(__u32 is_in_vector)
{
	struct context *context = find_context();

	if (context)
		context->is_in_vector = is_in_vector;
	return 0;
}

#define VECTOR(name, tracepoint)                  \
	SEC("tp_btf/" #tracepoint "_entry")       \
	int etw_##name##_begins(__u64 *arguments) \
	{                                         \
		(void)arguments;                  \
		return enter_vector(1);           \
	}                                         \
	SEC("tp_btf/" #tracepoint "_exit")        \
	int etw_##name##_ends(__u64 *arguments)   \
	{                                         \
		(void)arguments;                  \
		return enter_vector(0);           \
	}

VECTOR(asked, call_function)
VECTOR(asked_one, call_function_single)
VECTOR(irq_work, irq_work)

#endif

char etw_license[] SEC("license") = "Dual MIT/GPL";
