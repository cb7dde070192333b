/* SPDX-License-Identifier: MIT */
/* Traces whose buffers the program pushes: watermarks, what is refused, and that every buffer is given back once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/macros.h"
#include "consumer/pushed.h"
#include "consumer/trace.h"
#include "unit/etl/sample.h"

#define BUFFERS_MAX  16
#define BUFFER_BYTES 1024

/* The buffers of a preset whose buffers all have this size, and how often each was given back. */
struct source {
	struct sample sample;
	unsigned count;
	unsigned given_back[BUFFERS_MAX];
};

static void on_done(const void *buffer, void *context)
{
	struct source *source = context;
	size_t index = (size_t)((const uint8_t *)buffer - source->sample.bytes) / BUFFER_BYTES;

	assert_true(index < source->count);
	source->given_back[index]++;
}

static struct source make_source(const char *preset)
{
	struct source source = {.sample = sample_make(preset)};

	source.count = (unsigned)(source.sample.file.bytes / BUFFER_BYTES);
	assert_true(source.count > 2 && source.count <= BUFFERS_MAX);
	return source;
}

static uint8_t *buffer_at(const struct source *source, unsigned index)
{
	return source->sample.bytes + (size_t)index * BUFFER_BYTES;
}

/* The time in an event's header. */
static int64_t first_time(const struct source *source, unsigned index)
{
	return (int64_t)etw_load64(buffer_at(source, index) + WIRE_BUFFER_HEADER_BYTES + 0x10);
}

static int push(struct etw_trace *trace, const struct source *source, unsigned index)
{
	return etw_trace_push(trace, buffer_at(source, index), BUFFER_BYTES);
}

static struct etw_trace *open_source(struct source *source)
{
	struct etw_trace *trace;

	assert_int_equal(etw_trace_open_pushed(on_done, source, &trace), 0);
	assert_true(etw_trace_is_pushed(trace));
	assert_true(etw_trace_is_live(trace));
	assert_false(etw_trace_has_header(trace));
	return trace;
}

static void close_source(struct source *source, struct etw_trace *trace, unsigned pushed)
{
	etw_trace_close(trace);
	for (unsigned i = 0; i < source->count; i++)
		assert_int_equal(source->given_back[i], i < pushed);
	sample_done(&source->sample);
}

/* What a pass delivered. */
struct seen {
	unsigned events, headers, ran_back, buffers;
	int64_t last_raw;
	unsigned stop_after;
};

static int on_event(void *context, size_t trace, EVENT_RECORD *record,
		    struct etw_event_address address)
{
	struct seen *seen = context;
	int64_t time_raw = record->EventHeader.TimeStamp.QuadPart;

	(void)trace;
	(void)address;
	seen->ran_back += time_raw < seen->last_raw;
	seen->last_raw = time_raw;
	seen->events++;
	return seen->events == seen->stop_after ? -ECANCELED : 0;
}

static int on_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct seen *seen = context;

	(void)trace;
	(void)buffer;
	seen->buffers++;
	return 0;
}

static void on_header(void *context, size_t trace)
{
	struct seen *seen = context;

	(void)trace;
	seen->headers++;
}

static int run(struct etw_trace *trace, struct seen *seen)
{
	const struct etw_trace_sink sink = {.context = seen,
					    .event = on_event,
					    .buffer = on_buffer,
					    .header = on_header,
					    .from_ft = INT64_MIN,
					    .to_ft = INT64_MAX};

	seen->last_raw = INT64_MIN;
	etw_trace_set_raw(trace, true);
	return etw_trace_process(&trace, 1, &sink);
}

static void test_pushed__delivers_in_order(void **state)
{
	struct source source = make_source("plain");
	struct etw_trace *trace = open_source(&source);
	struct seen seen = {0};

	(void)state;
	for (unsigned i = 0; i < source.count; i++)
		assert_int_equal(push(trace, &source, i), 0);
	assert_true(etw_trace_has_header(trace));
	assert_true(etw_trace_header(trace)->processors > 0);
	etw_trace_end_pushed(trace);
	assert_int_equal(push(trace, &source, 1), -ESHUTDOWN);
	assert_int_equal(run(trace, &seen), 0);
	assert_int_equal(seen.headers, 1);
	assert_int_equal(seen.events, 60); /* those of the header buffer are not delivered */
	assert_int_equal(seen.ran_back, 0);
	assert_int_equal(seen.buffers, source.count - 1);
	close_source(&source, trace, source.count);
}

static void test_pushed__a_pass_that_stops_gives_all_back(void **state)
{
	struct source source = make_source("plain");
	struct etw_trace *trace = open_source(&source);
	struct seen seen = {.stop_after = 5};

	(void)state;
	for (unsigned i = 0; i < source.count; i++)
		assert_int_equal(push(trace, &source, i), 0);
	etw_trace_end_pushed(trace);
	assert_int_equal(run(trace, &seen), -ECANCELED);
	assert_int_equal(seen.events, 5);
	close_source(&source, trace, source.count);
}

/* A buffer that says that events were lost says when, by its first event. */
static void test_pushed__knows_when_events_were_lost(void **state)
{
	struct source source = make_source("plain");
	struct etw_trace *trace = open_source(&source);
	struct seen seen = {0};
	uint8_t *at = buffer_at(&source, 2);
	uint32_t processors;

	(void)state;
	at[AT_FLAGS] |= WIRE_BUFFER_EVENTS_LOST;
	for (unsigned i = 0; i < source.count; i++)
		assert_int_equal(push(trace, &source, i), 0);
	processors = etw_trace_dropped_count(trace);
	assert_true(processors > 1);
	for (uint32_t i = 0; i < processors; i++)
		assert_int_equal(etw_trace_dropped(trace, i), 0);
	etw_trace_end_pushed(trace);
	assert_int_equal(run(trace, &seen), 0);
	assert_int_equal(seen.events, 61); /* with the one of the loss */
	for (uint32_t i = 0; i < processors; i++)
		assert_int_equal(etw_trace_dropped(trace, i),
				 i == sample_buffer(&source.sample, 2 * BUFFER_BYTES).processor
					 ? first_time(&source, 2)
					 : 0);
	close_source(&source, trace, source.count);
}

static void test_pushed__without_a_pass_all_is_given_back(void **state)
{
	struct source source = make_source("plain");
	struct etw_trace *trace = open_source(&source);

	(void)state;
	assert_int_equal(push(trace, &source, 0), 0);
	assert_int_equal(push(trace, &source, 1), 0);
	close_source(&source, trace, 2);
}

static void test_pushed__refuses(void **state)
{
	struct source source = make_source("plain");
	struct etw_trace *trace = open_source(&source);
	uint8_t *at = buffer_at(&source, 2);

	(void)state;
	/* without a header */
	assert_int_equal(push(trace, &source, 1), -EBADMSG);
	assert_false(etw_trace_has_header(trace));
	assert_int_equal(push(trace, &source, 0), 0);
	assert_int_equal(push(trace, &source, 1), 0);
	/* the same once more */
	assert_int_equal(push(trace, &source, 1), -ERANGE);
	/* shorter than its header, and than it says itself */
	assert_int_equal(etw_trace_push(trace, at, WIRE_BUFFER_HEADER_BYTES - 1), -EBADMSG);
	assert_int_equal(etw_trace_push(trace, at, BUFFER_BYTES / 2), -EBADMSG);
	etw_store32(at + AT_VALID, BUFFER_BYTES + 8);
	assert_int_equal(push(trace, &source, 2), -EBADMSG);
	close_source(&source, trace, 2);
}

static void no_done(const void *buffer, void *context)
{
	(void)buffer;
	(void)context;
}

static int64_t take_watermark(struct etw_pushed *pushed)
{
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	int64_t watermark_raw = 0;

	assert_int_equal(etw_pushed_take(pushed, &block, &watermark_raw), 0);
	etw_pushed_give_back(pushed, &block);
	return watermark_raw;
}

static void test_pushed__watermarks(void **state)
{
	struct source source = make_source("plain");
	struct etw_etl_header header = {0};
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	struct etw_pushed *pushed;
	int64_t before = INT64_MIN, watermark_raw;

	(void)state;
	assert_int_equal(etw_pushed_create(no_done, NULL, &pushed), 0);
	assert_int_equal(etw_pushed_take(pushed, &block, &watermark_raw), -EAGAIN);
	assert_int_equal(etw_pushed_add(pushed, buffer_at(&source, 0), BUFFER_BYTES, &header), 0);
	assert_true(take_watermark(pushed) == INT64_MIN);
	for (unsigned i = 1; i < source.count; i++) {
		assert_int_equal(
			etw_pushed_add(pushed, buffer_at(&source, i), BUFFER_BYTES, &header), 0);
		watermark_raw = take_watermark(pushed);
		/* Nothing is known before each processor had one; then it never goes back. */
		if (i < header.processors)
			assert_true(watermark_raw == INT64_MIN);
		if (i + 1 < source.count && watermark_raw > INT64_MIN)
			assert_true(watermark_raw < first_time(&source, i + 1) ||
				    source.count - i < header.processors + 1);
		assert_true(watermark_raw >= before);
		before = watermark_raw;
	}
	etw_pushed_end(pushed);
	assert_int_equal(etw_pushed_take(pushed, &block, &watermark_raw), ETW_END);
	etw_pushed_free(pushed);
	etw_etl_header_done(&header);
	sample_done(&source.sample);
}

/* What a session promised counts at once, whatever processors there are. */
static void test_pushed__a_promise_is_a_watermark(void **state)
{
	struct source source = make_source("plain");
	struct etw_etl_header header = {0};
	struct wire_buffer_header *at = (void *)buffer_at(&source, 1);
	struct etw_pushed *pushed;

	(void)state;
	at->reference_start = le64_of(WIRE_BUFFER_PROMISE);
	at->reference_clock = le64_of(1234567);
	assert_int_equal(etw_pushed_create(no_done, NULL, &pushed), 0);
	assert_int_equal(etw_pushed_add(pushed, buffer_at(&source, 0), BUFFER_BYTES, &header), 0);
	assert_int_equal(etw_pushed_add(pushed, buffer_at(&source, 1), BUFFER_BYTES, &header), 0);
	assert_true(take_watermark(pushed) == INT64_MIN);
	assert_int_equal(take_watermark(pushed), 1234567);
	etw_pushed_give_back_all(pushed);
	etw_pushed_free(pushed);
	etw_etl_header_done(&header);
	sample_done(&source.sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pushed__delivers_in_order),
		cmocka_unit_test(test_pushed__a_pass_that_stops_gives_all_back),
		cmocka_unit_test(test_pushed__knows_when_events_were_lost),
		cmocka_unit_test(test_pushed__without_a_pass_all_is_given_back),
		cmocka_unit_test(test_pushed__refuses),
		cmocka_unit_test(test_pushed__watermarks),
		cmocka_unit_test(test_pushed__a_promise_is_a_watermark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
