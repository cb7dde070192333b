/* SPDX-License-Identifier: MIT */
/* The bytes of system calls and interrupts. See cpu_events.h. */
#include <stddef.h>

#include "source/kernel/bpf/stack_records.h"
#include "source/kernel/events/cpu_events_internal.h"

#define SYSCALL_ENTER_TYPE 51
#define SYSCALL_EXIT_TYPE  52
#define MESSAGE_TYPE       50
#define THREADED_DPC_TYPE  66
#define ISR_TYPE           67
#define DPC_TYPE           68
#define TIMER_DPC_TYPE     69

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

static uint32_t make_interrupt(const struct etw_kernel_cpu_maker *maker,
			       const struct etw_kernel_interrupt *record, int64_t time_raw,
			       uint8_t *to)
{
	bool is_local = record->flags & ETW_KERNEL_INTERRUPT_LOCAL;
	uint64_t routine = is_local ? etw_kernel_routines_vector(maker->routines, record->number)
				    : record->routine;
	uint32_t message = 0;
	bool is_message = !is_local && maker->messages &&
			  etw_kernel_messages_find(maker->messages, record->number, &message);
	uint8_t *at = etw_kernel_event_begin(to, GROUP_PERFINFO,
					     is_message ? MESSAGE_TYPE : ISR_TYPE,
					     is_message ? 24 : 20, time_raw);

	note_address(maker, routine);
	at = put64(at, (uint64_t)etw_kernel_start_raw(maker, record->start_ns, time_raw));
	at = put64(at, routine);
	at = put8(at, record->result);
	at = put16(at, (uint16_t)record->number);
	at = put8(at, 0);
	if (is_message)
		at = put32(at, message);
	return (uint32_t)(at - to);
}

static uint8_t dpc_type_of(const struct etw_kernel_soft_interrupt *record)
{
	switch (etw_kernel_soft_stack_event(record)) {
	case ETW_KERNEL_STACK_TIMER_DPC:
		return TIMER_DPC_TYPE;
	case ETW_KERNEL_STACK_THREADED_DPC:
		return THREADED_DPC_TYPE;
	default:
		return DPC_TYPE;
	}
}

static uint32_t make_soft_interrupt(const struct etw_kernel_cpu_maker *maker,
				    const struct etw_kernel_soft_interrupt *record,
				    int64_t time_raw, uint8_t *to)
{
	uint64_t routine = etw_kernel_routines_soft(maker->routines, record->number);
	uint8_t *at = etw_kernel_event_begin(to, GROUP_PERFINFO, dpc_type_of(record), 16, time_raw);

	note_address(maker, routine);
	at = put64(at, (uint64_t)etw_kernel_start_raw(maker, record->start_ns, time_raw));
	at = put64(at, routine);
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
	case ETW_KERNEL_INTERRUPT:
		return record->payload_bytes >= sizeof(struct etw_kernel_interrupt)
			       ? make_interrupt(maker, payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_SOFT_INTERRUPT:
		return record->payload_bytes >= sizeof(struct etw_kernel_soft_interrupt)
			       ? make_soft_interrupt(maker, payload, time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
