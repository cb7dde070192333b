/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as buffers that a program pushes into a trace, one behind the other, and a pass over them. Beside the
 * sanitizers' own rules: each buffer that was taken is given back once, and none that was refused; time runs back only
 * with a finding that says so; whole buffers are shown as they were pushed, and as many with events as without.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "consumer/trace.h"
#include "target.h"

#define BUFFERS_MAX 64

/* A buffer in memory of its own, so that the sanitizer sees where it ends. */
struct given {
	uint8_t *bytes;
	uint32_t count;
	unsigned taken, given_back;
};

struct run {
	struct given buffers[BUFFERS_MAX];
	size_t count;
	struct etw_trace *trace;
	uint64_t sum; /* of every byte that a record points to */
	int64_t last_ft;
	uint64_t back, shown;
};

static void on_done(const void *buffer, void *context)
{
	struct run *run = context;

	for (size_t i = 0; i < run->count; i++) {
		if (run->buffers[i].bytes == buffer)
			run->buffers[i].given_back++;
	}
}

static int on_event(void *context, size_t trace, EVENT_RECORD *record,
		    struct etw_event_address address)
{
	const uint8_t *payload = record->UserData;
	struct run *run = context;
	int64_t time_ft = record->EventHeader.TimeStamp.QuadPart;

	(void)trace;
	for (unsigned i = 0; i < record->UserDataLength; i++)
		run->sum += payload[i];
	if (address.offset == UINT32_MAX)
		return 0;
	if (time_ft < run->last_ft)
		run->back++;
	else
		run->last_ft = time_ft;
	return 0;
}

static int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct run *run = context;
	uint32_t bytes;
	const uint8_t *at = etw_trace_buffer_bytes(run->trace, &bytes);

	(void)trace;
	(void)buffer;
	for (uint32_t i = 0; i < bytes; i++)
		run->sum += at[i];
	run->shown++;
	return 0;
}

/* The next buffer is as long as it says itself, if there is that much. */
static size_t push(struct run *run, const uint8_t *data, size_t size)
{
	struct given *given = &run->buffers[run->count];
	uint32_t bytes = size >= 4 ? etw_load32(data) : 0;

	if (bytes < 8 || bytes > size)
		bytes = (uint32_t)size;
	*given = (struct given){.bytes = malloc(bytes ? bytes : 1), .count = bytes};
	CHECK(given->bytes != NULL);
	memcpy(given->bytes, data, bytes);
	run->count++;
	given->taken = !etw_trace_push(run->trace, given->bytes, bytes);
	return bytes;
}

static uint64_t run_all(const uint8_t *data, size_t size, enum etw_trace_buffers how)
{
	struct run run = {.last_ft = INT64_MIN};
	const struct etw_trace_sink sink = {.context = &run,
					    .event = on_event,
					    .buffer = on_buffer,
					    .from_ft = INT64_MIN,
					    .to_ft = INT64_MAX};

	CHECK(!etw_trace_open_pushed(on_done, &run, &run.trace));
	etw_trace_set_buffers(run.trace, how);
	while (size && run.count < BUFFERS_MAX) {
		size_t bytes = push(&run, data, size);

		data += bytes;
		size -= bytes;
	}
	etw_trace_end_pushed(run.trace);
	CHECK(!etw_trace_process(&run.trace, 1, &sink));
	CHECK(!run.back || etw_trace_findings(run.trace)->counts[ETW_FINDING_LATE]);
	etw_trace_close(run.trace);
	for (size_t i = 0; i < run.count; i++) {
		CHECK(run.buffers[i].given_back == run.buffers[i].taken);
		free(run.buffers[i].bytes);
	}
	return run.shown;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint64_t shown = run_all(data, bytes, ETW_BUFFERS_ALONE);

	CHECK(run_all(data, bytes, ETW_BUFFERS_IN_ORDER) == shown);
	(void)run_all(data, bytes, ETW_BUFFERS_AS_DONE);
	return 0;
}
