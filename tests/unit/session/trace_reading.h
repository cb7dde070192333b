/* SPDX-License-Identifier: MIT */
/* What a session wrote, read back: each writer's events by number, the order per processor, the findings. */
#ifndef TESTS_UNIT_SESSION_TRACE_READING_H
#define TESTS_UNIT_SESSION_TRACE_READING_H

#include "consumer/trace.h"
#include "fixture.h"

#define READING_WRITERS    16
#define READING_PROCESSORS 256

struct reading {
	uint64_t events, header_events;
	uint64_t out_of_order; /* of a processor */
	uint64_t doubled;      /* numbers that a writer's events had before */
	uint64_t findings;
	uint32_t next_number[READING_WRITERS]; /* highest + 1 */
	uint64_t by_writer[READING_WRITERS];
	int64_t last_raw[READING_PROCESSORS];
	uint64_t kernel_events;
	uint64_t hash;
};

static int reading_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
			 const EVENT_RECORD *record, struct etw_event_address address)
{
	struct reading *reading = context;
	struct fixture_payload payload;

	(void)address;
	if (buffer->type == WIRE_BUFFER_HEADER) {
		reading->header_events++;
		return 0;
	}
	if (record->EventHeader.TimeStamp.QuadPart < reading->last_raw[buffer->processor])
		reading->out_of_order++;
	reading->last_raw[buffer->processor] = record->EventHeader.TimeStamp.QuadPart;
	if (header_type == WIRE_HEADER_SYSTEM64) {
		reading->kernel_events++;
		return 0;
	}
	memcpy(&payload, record->UserData, sizeof(payload));
	assert_true(payload.writer < READING_WRITERS);
	reading->events++;
	reading->by_writer[payload.writer]++;
	if (payload.number >= reading->next_number[payload.writer])
		reading->next_number[payload.writer] = payload.number + 1;
	return 0;
}

static inline void read_trace(const char *path, struct reading *ret)
{
	struct etw_trace_visitor visitor = {.context = ret, .event = reading_event};
	struct etw_trace *trace;
	struct etw_fault fault;

	*ret = (struct reading){0};
	assert_int_equal(etw_trace_open(path, &trace, &fault), 0);
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	ret->findings = etw_findings_total(etw_trace_findings(trace));
	etw_trace_close(trace);
}

#endif
