/* SPDX-License-Identifier: MIT */
/* The bytes of idle states and frequencies. See cpu_events.h. */
#include <stddef.h>

#include "source/kernel/events/cpu_events_internal.h"
#include "wire/kernel_power.h"

#define IDLE_STATE_ENTER_TYPE 57
#define IDLE_STATE_EXIT_TYPE  58

static_assert(WIRE_FREQUENCY_BYTES_MAX <= ETW_KERNEL_CPU_EVENT_MAX, "room of a front");

/* What Linux does not tell of a state that begins: how it is to end, and how long it was to take. */
static uint32_t make_enter(uint32_t state, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_POWER, IDLE_STATE_ENTER_TYPE, 16, time_raw);

	at = put32(at, state);
	at = put16(at, 0); /* Properties */
	at = put8(at, 0);  /* ExpectedWakeReason */
	at = put8(at, 0);
	at = put64(at, 0); /* ExpectedDuration */
	return (uint32_t)(at - to);
}

static uint32_t make_exit(uint32_t state, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_POWER, IDLE_STATE_EXIT_TYPE, 8, time_raw);

	at = put32(at, state);
	at = put32(at, 0); /* Status */
	return (uint32_t)(at - to);
}

static uint32_t make_idle_state(const struct etw_kernel_idle_state *record, int64_t time_raw,
				uint8_t *to)
{
	return record->is_end ? make_exit(record->state, time_raw, to)
			      : make_enter(record->state, time_raw, to);
}

static uint32_t make_frequency(const struct etw_kernel_frequency *record, int64_t time_raw,
			       uint8_t *to)
{
	uint32_t bytes = wire_frequency_encode(record->cpu, record->khz, to);

	etw_store64(to + offsetof(struct wire_event_header, time_raw), (uint64_t)time_raw);
	return bytes;
}

uint32_t etw_kernel_cpu_power_event(const struct etw_kernel_cpu_record *record, int64_t time_raw,
				    uint8_t *to)
{
	const void *payload = record + 1;

	switch (record->kind) {
	case ETW_KERNEL_IDLE_STATE:
		return record->payload_bytes >= sizeof(struct etw_kernel_idle_state)
			       ? make_idle_state(payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_FREQUENCY:
		return record->payload_bytes >= sizeof(struct etw_kernel_frequency)
			       ? make_frequency(payload, time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
