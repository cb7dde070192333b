/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Idle states of processors and their frequencies. Which state a processor was in last is kept for the switch that ends its
 * idleness, too.
 */
#include "contexts.h"
#include "cpu_ring.h"

#define IDLE_ENDS 0xFFFFFFFFu /* PWR_EVENT_EXIT */

static __always_inline int is_told(const struct etw_kernel_control *control, __u32 kind)
{
	/* They are of no process. */
	return control && is_wanted(control, kind) && !control->only_pid;
}

SEC("tp_btf/cpu_idle")
int etw_idle_state(__u64 *arguments)
{
	struct context *context = find_context();
	struct etw_kernel_idle_state payload = {};
	struct etw_kernel_cpu_record head = {};
	__u32 state = arguments[0];

	if (!context)
		return 0;
	if (state != IDLE_ENDS)
		context->idle_state = state;
	if (!is_told(find_control(), ETW_KERNEL_IDLE_STATE))
		return 0;
	head.kind = ETW_KERNEL_IDLE_STATE;
	payload.state = context->idle_state;
	payload.is_end = state == IDLE_ENDS;
	send(&head, &payload, sizeof(payload), NULL);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int etw_frequency(__u64 *arguments)
{
	struct etw_kernel_frequency payload = {};
	struct etw_kernel_cpu_record head = {};

	if (!is_told(find_control(), ETW_KERNEL_FREQUENCY))
		return 0;
	head.kind = ETW_KERNEL_FREQUENCY;
	payload.khz = arguments[0];
	payload.cpu = arguments[1];
	send(&head, &payload, sizeof(payload), NULL);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
