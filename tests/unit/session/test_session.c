/* SPDX-License-Identifier: MIT */
/* A session from start to stop: what is written is in the file, in order, and the account is exact. */
#include "fixture.h"
#include "trace_reading.h"

static void test_session__empty_file(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct reading reading;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	etw_session_stop(session, &info);
	assert_int_equal(info.events, 0);
	assert_int_equal(info.events_lost, 0);
	assert_int_equal(info.buffers_written, 1);
	assert_int_equal(info.file_status, 0);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, 0);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	fixture_close(&fixture);
}

static void test_session__events_are_in_the_file(void **state)
{
	enum {
		EVENTS = 20000
	};
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct reading reading;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < EVENTS; i++)
		(void)fixture_write(&writer, 0x58 + i % 50);
	etw_session_stop(session, &info);
	assert_int_equal(info.events, writer.written);
	assert_int_equal(info.loss.no_buffer, writer.refused);
	assert_int_equal(info.events_lost, writer.refused);
	assert_int_equal(writer.written + writer.refused, EVENTS);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, writer.written);
	assert_int_equal(reading.next_number[0], writer.written);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.findings, 0);
	etw_ring_set_unmap(&writer.set);
	reading_done(&reading);
	fixture_close(&fixture);
}

static void test_session__flush_takes_open_buffers(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct reading reading;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(fixture_write(&writer, 0x60), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &info);
	assert_int_equal(info.events, 3);
	assert_true(info.buffers_written >= 2);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, 3);
	etw_session_stop(session, &info);
	assert_int_equal(etw_session_flush(session), -ESHUTDOWN);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	reading_done(&reading);
	fixture_close(&fixture);
}

/*
 * The session's thread is so slow that each of its rounds takes longer than a flush waits for a standstill:
 * the first while the rings are filled, the next two in the flush or at the end.
 */
static void fill_before_slow_rounds(struct fixture *fixture, struct fixture_writer *writer)
{
	/* Nine events a buffer, 16 buffers a round. */
	store_relaxed(&fixture->slow_asks, 3u);
	for (uint32_t i = 0; i < 720; i++) {
		writer->provider += i % 150 == 0; /* the host is asked about each */
		assert_int_equal(fixture_write(writer, 440), 0);
	}
}

static void take_slowly(bool is_flush)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct reading reading;

	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.maximum_buffers = 120;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	fill_before_slow_rounds(&fixture, &writer);
	if (is_flush) {
		assert_int_equal(etw_session_flush(session), 0);
		read_trace(fixture.path, &reading);
		assert_int_equal(reading.events, writer.written);
		reading_done(&reading);
	}
	etw_session_stop(session, &info);
	assert_int_equal(info.events, writer.written);
	assert_int_equal(info.events_lost, 0);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, writer.written);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_session__slow_stop_takes_everything(void **state)
{
	(void)state;
	take_slowly(/* is_flush= */ false);
}

static void test_session__slow_flush_takes_everything(void **state)
{
	(void)state;
	take_slowly(/* is_flush= */ true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session__empty_file),
		cmocka_unit_test(test_session__events_are_in_the_file),
		cmocka_unit_test(test_session__flush_takes_open_buffers),
		cmocka_unit_test(test_session__slow_stop_takes_everything),
		cmocka_unit_test(test_session__slow_flush_takes_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
