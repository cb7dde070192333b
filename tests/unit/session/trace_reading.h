/* SPDX-License-Identifier: MIT */
/* What a session wrote, read back: each writer's events by number, the order per processor, the findings. */
#ifndef TESTS_UNIT_SESSION_TRACE_READING_H
#define TESTS_UNIT_SESSION_TRACE_READING_H

#include "consumer/trace.h"
#include "fixture.h"
#include "wire/session_note.h"

#define READING_WRITERS    16
#define READING_PROCESSORS 256

struct reading {
	bool is_counting_only;
	uint64_t events, header_events;
	uint64_t notes;        /* not among the events */
	uint64_t out_of_order; /* of a processor */
	uint64_t doubled;      /* numbers that a writer's events had before */
	uint64_t findings;
	uint32_t next_number[READING_WRITERS]; /* highest + 1 */
	uint64_t by_writer[READING_WRITERS];
	int64_t last_raw[READING_PROCESSORS];
	uint64_t kernel_events, kernel_disorder; /* its numbers count up on each processor */
	uint32_t kernel_next[READING_PROCESSORS];
	uint8_t *seen[READING_WRITERS]; /* by number; owned */
	uint32_t seen_room[READING_WRITERS];
};

static void reading_mark(struct reading *reading, uint32_t writer, uint32_t number)
{
	uint32_t room = reading->seen_room[writer];

	if (number >= room) {
		uint32_t wanted = number * 2 + 1024;

		reading->seen[writer] = realloc(reading->seen[writer], wanted);
		assert_non_null(reading->seen[writer]);
		memset(reading->seen[writer] + room, 0, wanted - room);
		reading->seen_room[writer] = wanted;
	}
	reading->doubled += reading->seen[writer][number];
	reading->seen[writer][number] = 1;
}

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
		memcpy(&payload, record->UserData, sizeof(payload));
		reading->kernel_events++;
		if (payload.number != reading->kernel_next[buffer->processor]++)
			reading->kernel_disorder++;
		return 0;
	}
	if (etw_guid_equal(&record->EventHeader.ProviderId,
			   &(const GUID)WIRE_SESSION_NOTE_PROVIDER)) {
		reading->notes++;
		return 0;
	}
	memcpy(&payload, record->UserData, sizeof(payload));
	reading->events++;
	/* What a hostile process wrote says nothing. */
	if (reading->is_counting_only &&
	    (payload.writer >= READING_WRITERS || record->UserDataLength != 0x60 - 0x50))
		return 0;
	assert_true(payload.writer < READING_WRITERS);
	reading->by_writer[payload.writer]++;
	if (reading->is_counting_only)
		return 0;
	reading_mark(reading, payload.writer, payload.number);
	if (payload.number >= reading->next_number[payload.writer])
		reading->next_number[payload.writer] = payload.number + 1;
	return 0;
}

static inline void read_with(const char *path, struct reading *ret)
{
	struct etw_trace_visitor visitor = {.context = ret, .event = reading_event};
	struct etw_trace *trace;
	struct etw_fault fault;

	assert_int_equal(etw_trace_open(path, &trace, &fault), 0);
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	ret->findings = etw_findings_total(etw_trace_findings(trace));
	etw_trace_close(trace);
}

static inline void read_trace(const char *path, struct reading *ret)
{
	*ret = (struct reading){0};
	read_with(path, ret);
}

/* The same for a file that a hostile process has events in. */
static inline void fixture_count_only(const char *path, struct reading *ret)
{
	*ret = (struct reading){.is_counting_only = true};
	read_with(path, ret);
}

static inline void reading_done(struct reading *reading)
{
	for (uint32_t i = 0; i < READING_WRITERS; i++)
		free(reading->seen[i]);
}

#endif
