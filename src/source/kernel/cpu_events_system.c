/* SPDX-License-Identifier: MIT */
/* The bytes of system calls. See cpu_events.h. */
#include <stddef.h>

#include "source/kernel/cpu_events_internal.h"

#define SYSCALL_ENTER_TYPE 51
#define SYSCALL_EXIT_TYPE  52

/* An event names this function: the trace gets its symbol. */
static void note_address(const struct etw_kernel_cpu_maker *maker, uint64_t address)
{
	if (maker->seen)
		etw_kernel_seen_add(maker->seen, address);
}

static uint32_t make_syscall_enter(const struct etw_kernel_cpu_maker *maker,
				   const struct etw_kernel_syscall_enter *record, int64_t time_raw,
				   uint8_t *to)
{
	uint64_t address = etw_kernel_routines_call(maker->routines, record->number,
						    record->flags & ETW_KERNEL_SYSCALL_COMPAT);
	uint8_t *at = etw_kernel_event_begin(to, GROUP_PERFINFO, SYSCALL_ENTER_TYPE, 8, time_raw);

	note_address(maker, address);
	at = put64(at, address);
	return (uint32_t)(at - to);
}

static uint32_t make_syscall_exit(const struct etw_kernel_syscall_exit *record, int64_t time_raw,
				  uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_PERFINFO, SYSCALL_EXIT_TYPE, 4, time_raw);

	at = put32(at, (uint32_t)record->result);
	return (uint32_t)(at - to);
}

uint32_t etw_kernel_cpu_system_event(const struct etw_kernel_cpu_maker *maker,
				     const struct etw_kernel_cpu_record *record, int64_t time_raw,
				     uint8_t *to)
{
	const void *payload = record + 1;

	switch (record->kind) {
	case ETW_KERNEL_SYSCALL_ENTER:
		return record->payload_bytes >= sizeof(struct etw_kernel_syscall_enter)
			       ? make_syscall_enter(maker, payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_SYSCALL_EXIT:
		return record->payload_bytes >= sizeof(struct etw_kernel_syscall_exit)
			       ? make_syscall_exit(payload, time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
