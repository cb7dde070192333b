/* SPDX-License-Identifier: MIT */
#include "corrupt/original.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "consumer/trace.h"

/* Events that a damaged file may give per event of the whole one; more would be a reader that loops. */
#define EVENTS_PER_BYTE 1

struct original_totals original_totals;

/* The buffers that one reading gave, in the order of the walk. */
struct reading {
	struct original_buffer *buffers; /* owned */
	size_t count, room;
	uint64_t events;
	uint64_t limit;
};

static uint64_t mix(uint64_t digest, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < bytes; i++)
		digest = (digest ^ at[i]) * UINT64_C(0x100000001B3);
	return digest;
}

static int take_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct reading *reading = context;

	(void)event_count;
	if (reading->count == reading->room) {
		reading->room = reading->room ? 2 * reading->room : 64;
		reading->buffers = realloc(reading->buffers,
					   reading->room * sizeof(*reading->buffers));
		if (!reading->buffers)
			abort();
	}
	reading->buffers[reading->count++] =
		(struct original_buffer){.offset = buffer->offset,
					 .stride = buffer->stride,
					 .digest = buffer->processor + 1u};
	return 0;
}

static int take_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		      const EVENT_RECORD *record, struct etw_event_address address)
{
	struct reading *reading = context;
	struct original_buffer *last = &reading->buffers[reading->count - 1];
	EVENT_HEADER header = record->EventHeader;
	uint64_t digest = last->digest;

	(void)buffer;
	(void)address;
	/* That the session was private, the file's header says of every event. */
	header.Flags &= (USHORT)~EVENT_HEADER_FLAG_PRIVATE_SESSION;
	digest = mix(digest, &header_type, 1);
	digest = mix(digest, &header, sizeof(header));
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		digest = mix(digest, (const void *)(uintptr_t)item->DataPtr, item->DataSize);
	}
	last->digest = mix(digest, record->UserData, record->UserDataLength);
	last->event_bytes += ALIGN_UP((uint32_t)record->EventHeader.Size, 8);
	return ++reading->events > reading->limit;
}

/* Walks the trace; false when the reader gave an error or too many events. */
static bool read_all(struct etw_trace *trace, uint64_t limit, struct reading *reading)
{
	struct etw_trace_visitor visitor = {
		.context = reading, .buffer = take_buffer, .event = take_event};

	reading->limit = limit;
	return etw_trace_each_buffer(trace, &visitor) == 0;
}

bool original_read(const char *name, uint8_t *bytes, size_t count, struct original *ret)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	struct reading reading = {0};
	struct etw_fault fault = {0};

	*ret = (struct original){.name = name, .bytes = bytes, .count = count};
	if (etw_trace_open_memory(bytes, count, &trace, &fault) ||
	    !read_all(trace, UINT64_MAX - 1, &reading) ||
	    etw_findings_total(etw_trace_findings(trace))) {
		printf("%s: not whole as it is\n", name);
		free(reading.buffers);
		return false;
	}
	ret->buffers = reading.buffers;
	ret->buffer_count = reading.count;
	return true;
}

void original_done(struct original *original)
{
	free(original->bytes);
	free(original->buffers);
	*original = (struct original){0};
}

static unsigned complain(const struct original *original, const struct damage *damage,
			 const char *sentence, uint64_t offset)
{
	printf("%s, %s: %s (buffer at %" PRIu64 ")\n", original->name, damage->what, sentence,
	       offset);
	return 1;
}

/* Finds an untouched buffer of the original among those read and marks it as used. */
static bool take_match(struct reading *reading, size_t *hint, const struct original_buffer *wanted)
{
	for (size_t i = 0; i < reading->count; i++) {
		size_t at = (*hint + i) % reading->count;

		if (reading->buffers[at].digest == wanted->digest &&
		    reading->buffers[at].event_bytes == wanted->event_bytes) {
			reading->buffers[at].digest = 0;
			*hint = at + 1;
			return true;
		}
	}
	return false;
}

static int count_event(void *context, size_t trace, EVENT_RECORD *record,
		       struct etw_event_address address)
{
	(void)trace;
	(void)record;
	if (address.offset != UINT32_MAX)
		(*(uint64_t *)context)++;
	return 0;
}

/* The merge must give as many events as the walk. */
static unsigned judge_merge(const struct original *original, const struct damage *damage,
			    struct etw_trace *trace, uint64_t events)
{
	uint64_t merged = 0;
	struct etw_trace_sink sink = {
		.context = &merged, .event = count_event, .from_ft = INT64_MIN, .to_ft = INT64_MAX};

	if (etw_trace_process(&trace, 1, &sink))
		return complain(original, damage, "the merge fails", 0);
	if (merged != events)
		return complain(original, damage, "merge and walk differ", 0);
	return 0;
}

static unsigned judge_buffers(const struct original *original, const struct damage *damage,
			      struct reading *reading, uint64_t findings)
{
	unsigned complaints = 0;
	uint64_t bytes_before = 0, bytes_after = 0;
	size_t hint = 0;

	for (size_t i = 0; i < reading->count; i++)
		bytes_after += reading->buffers[i].event_bytes;
	for (size_t i = 0; i < original->buffer_count; i++) {
		const struct original_buffer *buffer = &original->buffers[i];

		bytes_before += buffer->event_bytes;
		if (damage->is_touched(damage->context, buffer->offset, buffer->stride))
			continue;
		if (take_match(reading, &hint, buffer))
			original_totals.buffers_kept++;
		else
			complaints += complain(original, damage, "an untouched buffer is lost",
					       buffer->offset);
	}
	if (bytes_after < bytes_before && !findings)
		complaints += complain(original, damage, "events are missing without a finding", 0);
	return complaints;
}

unsigned original_judge(const struct original *original, const struct damage *damage)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	struct reading reading = {0};
	struct etw_fault fault = {0};
	unsigned complaints = 0;
	/* An exact copy, so that the address sanitizer sees a read of one byte too many. */
	uint8_t *exact = malloc(damage->count ? damage->count : 1);
	int result;

	if (!exact)
		abort();
	memcpy(exact, damage->bytes, damage->count);
	original_totals.cases++;
	result = etw_trace_open_memory(exact, damage->count, &trace, &fault);
	if (result) {
		original_totals.refused++;
		if (!damage->may_be_refused || !fault.sentence)
			complaints = complain(original, damage, "the file is refused", 0);
	} else if (!read_all(trace, EVENTS_PER_BYTE * original->count, &reading)) {
		complaints = complain(original, damage, "the walk fails or does not end", 0);
	} else {
		const struct etw_findings *findings = etw_trace_findings(trace);
		uint64_t found = etw_findings_total(findings) +
				 findings->counts[ETW_FINDING_REPAIRED] +
				 findings->counts[ETW_FINDING_UNUSED];

		original_totals.findings += found;
		complaints = judge_buffers(original, damage, &reading, found);
		complaints += judge_merge(original, damage, trace, reading.events);
	}
	free(reading.buffers);
	free(exact);
	return complaints;
}
