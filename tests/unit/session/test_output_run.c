/* SPDX-License-Identifier: MIT */
/* Runs in a whole session: what is mixed with good events, and what one uid can do to another's. */
#include "trace_reading.h"

#include <evntrace.h>

struct mixture {
	uint32_t good, refused, abandoned, gaps;
};

static uint32_t below(unsigned *seed, uint32_t limit)
{
	return (uint32_t)rand_r(seed) % limit;
}

/* An event that is no good, or none at all. */
static void write_other(struct fixture_writer *writer, unsigned *seed, struct mixture *counts)
{
	static const struct {
		uint32_t at;
		uint16_t value;
	} spoils[] = {{2, 0xC001}, {4, 0x0040}, {0x08, 0}, {0x0E, 0x8000}, {0x16, 0x7FFF}};
	uint32_t spoil = below(seed, ARRAY_SIZE(spoils));
	struct etw_ring_span span;

	if (etw_ring_reserve(&writer->set, writer->clock, 0x60, &span) < 0)
		return;
	fixture_make_event(span.at, 0x60, span.time_raw);
	switch (below(seed, 8)) {
	case 0:
		counts->gaps++; /* never committed */
		break;
	case 1:
	case 2:
		etw_ring_abandon(&span);
		counts->abandoned++;
		break;
	default:
		etw_store16(span.at + spoils[spoil].at, spoils[spoil].value);
		etw_ring_commit(&span);
		counts->refused++;
	}
}

/* Each event is in the file once, in order, whatever stands between them, and each other one in the account. */
static void test_output_run__what_is_no_good_costs_itself_alone(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct mixture counts = {0};
	struct etw_session *session;
	struct reading reading;
	unsigned seed = 4711;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.buffer_kib = 64;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t bytes = below(&seed, 50) == 0 ? 0x58 + below(&seed, 8000)
						       : 0x58 + below(&seed, 64);

		if (below(&seed, 100) == 0)
			write_other(&writer, &seed, &counts);
		while (fixture_write(&writer, bytes) < 0) {
			writer.refused--;
			(void)usleep(1000);
		}
		/* Gaps hold buffers back: they are let go of now and then. */
		if (i % 10000 == 0)
			assert_int_equal(etw_session_flush(session), 0);
	}
	etw_ring_set_unmap(&writer.set);
	etw_session_stop(session, &info);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(info.events, writer.written);
	assert_int_equal(info.loss.rejected, counts.refused);
	assert_int_equal(info.loss.gaps, counts.gaps);
	assert_int_equal(reading.events, writer.written);
	assert_int_equal(reading.next_number[0], writer.written);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	fixture_close(&fixture);
}

struct liar {
	struct fixture_writer writer;
	pthread_t thread;
	uint32_t is_over; /* atomic */
};

/* Events of all the times that are soon to come. */
static void *write_the_future(void *context)
{
	struct liar *liar = context;
	uint32_t ahead_ns = 0;

	while (!load_relaxed(&liar->is_over)) {
		struct etw_ring_span span;

		if (etw_ring_reserve(&liar->writer.set, liar->writer.clock, 0x60, &span) < 0) {
			(void)usleep(100);
			continue;
		}
		fixture_make_event(span.at, 0x60, span.time_raw + ahead_ns);
		etw_ring_commit(&span);
		ahead_ns = (ahead_ns + 500) % 300000;
		if (ahead_ns == 0)
			(void)usleep(50);
	}
	return NULL;
}

/* An event that is a little ahead of time would have others' events, which are not, thrown away as too old. */
static void regress_output_run__times_ahead_spoil_nobody_elses(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct liar liar = {.is_over = 0};
	struct etw_session *session;
	struct reading reading;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.buffer_kib = 64;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 1, &writer);
	fixture_attach(&fixture, session, getuid() + 1, 2, &liar.writer);
	assert_int_equal(pthread_create(&liar.thread, NULL, write_the_future, &liar), 0);
	for (uint32_t i = 0; i < 30000; i++) {
		while (fixture_write(&writer, 0x60) < 0) {
			writer.refused--;
			(void)usleep(100);
		}
		if (i % 100 == 0)
			(void)usleep(200);
	}
	store_relaxed(&liar.is_over, 1u);
	pthread_join(liar.thread, NULL);
	etw_ring_set_unmap(&writer.set);
	etw_ring_set_unmap(&liar.writer.set);
	etw_session_stop(session, &info);
	etw_session_free(session);
	fixture_count_only(fixture.path, &reading);
	/* The liar's may be in gaps: on a loaded machine writers are stopped in the midst of an event. */
	assert_in_range(reading.by_writer[1], writer.written - info.loss.gaps, writer.written);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_run__what_is_no_good_costs_itself_alone),
		cmocka_unit_test(regress_output_run__times_ahead_spoil_nobody_elses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
