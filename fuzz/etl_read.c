/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an .etl file: opened from memory, walked buffer by buffer, and processed in order of time.
 * Beside the sanitizers' own rules: both ways give the same number of events, time runs back only with a
 * finding that says so, a window gives no more than the whole, and work is bounded by the input's size.
 */
#include <stdint.h>
#include <stdlib.h>

#include "consumer/trace.h"
#include "target.h"

/* An event takes 8 bytes of a buffer at least, and compression unpacks 64 MiB from little. */
#define EVENTS_MAX 200000

struct seen {
	uint64_t events;
	uint64_t losses;
	uint64_t sum; /* of every byte that a record points to */
	int64_t last_ft;
	uint64_t back;
	int64_t middle_ft;
	uint64_t stop_after;
};

static void touch(struct seen *seen, const EVENT_RECORD *record)
{
	const uint8_t *payload = record->UserData;

	for (unsigned i = 0; i < record->UserDataLength; i++)
		seen->sum += payload[i];
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		const uint8_t *data = (const uint8_t *)(uintptr_t)item->DataPtr;

		for (unsigned j = 0; j < item->DataSize; j++)
			seen->sum += data[j];
	}
}

static int walked(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		  const EVENT_RECORD *record, struct etw_event_address address)
{
	struct seen *seen = context;

	(void)buffer;
	(void)header_type;
	(void)address;
	touch(seen, record);
	return ++seen->events == EVENTS_MAX;
}

static int processed(void *context, size_t trace, EVENT_RECORD *record,
		     struct etw_event_address address)
{
	struct seen *seen = context;
	int64_t time_ft = record->EventHeader.TimeStamp.QuadPart;

	(void)trace;
	touch(seen, record);
	if (address.offset == UINT32_MAX)
		seen->losses++;
	else
		seen->events++;
	if (time_ft < seen->last_ft)
		seen->back++;
	else
		seen->last_ft = time_ft;
	if (seen->events == 2)
		seen->middle_ft = time_ft;
	return seen->events == seen->stop_after;
}

static void require(int condition)
{
	if (!condition)
		abort();
}

static struct seen run(struct etw_trace *trace, int64_t from_ft, uint64_t stop_after)
{
	struct seen seen = {.last_ft = INT64_MIN, .stop_after = stop_after};
	struct etw_trace_sink sink = {
		.context = &seen, .event = processed, .from_ft = from_ft, .to_ft = INT64_MAX};
	int result = etw_trace_process(&trace, 1, &sink);

	require(result == 0 || result == 1);
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etw_trace *trace = NULL;
	struct etw_fault fault = {0};
	struct seen walk = {0}, pass;
	struct etw_trace_visitor visitor = {.context = &walk, .event = walked};
	int result = etw_trace_open_memory(data, size, &trace, &fault);

	if (result) {
		require(!trace && fault.sentence);
		return 0;
	}
	result = etw_trace_each_buffer(trace, &visitor);
	require(result == 0 || result == 1);
	pass = run(trace, INT64_MIN, EVENTS_MAX);
	if (walk.events < EVENTS_MAX && pass.events < EVENTS_MAX) {
		const struct etw_findings *findings = etw_trace_findings(trace);

		require(walk.events == pass.events);
		require(!pass.back || findings->counts[ETW_FINDING_LATE]);
		if (pass.events >= 2)
			require(run(trace, pass.middle_ft, EVENTS_MAX).events <= pass.events);
	}
	if (pass.events > 1)
		(void)run(trace, INT64_MIN, 1);
	etw_trace_close(trace);
	return 0;
}
