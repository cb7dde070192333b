/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Follows what each processor is doing beside its thread, for the programs that tell it. */
#include "contexts.h"

SEC("tp_btf/softirq_entry")
int etw_softirq_begins(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (context)
		context->soft_tid = (__u32)bpf_get_current_pid_tgid() + 1;
	return 0;
}

SEC("tp_btf/softirq_exit")
int etw_softirq_ends(__u64 *arguments)
{
	struct context *context = find_context();

	(void)arguments;
	if (context)
		context->soft_tid = 0;
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

char etw_license[] SEC("license") = "Dual MIT/GPL";
