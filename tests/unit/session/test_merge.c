/* SPDX-License-Identifier: MIT */
/* Two uids' rings and a source merged: order per processor, every event once, the account. */
#include "fake_source.h"
#include "trace_reading.h"

#define WRITERS 4

struct thread_writer {
	struct fixture_writer writer;
	pthread_t thread;
	uint32_t count, bytes;
};

static void *write_many(void *context)
{
	struct thread_writer *own = context;

	for (uint32_t i = 0; i < own->count; i++) {
		(void)fixture_write(&own->writer, own->bytes);
		if (i % 64 == 0)
			(void)usleep(20);
	}
	return NULL;
}

static void *produce_many(void *context)
{
	const struct etw_clock_page *clock = context;

	for (uint32_t i = 0; i < 20000; i++) {
		fake_source_produce(clock, i & 1 && fake_source_memory->cpus[1].written < 9000);
		if (i % 32 == 0)
			(void)usleep(20);
	}
	return NULL;
}

static void merge_all(uint32_t mode, uint32_t clock_type)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct thread_writer writers[WRITERS];
	struct reading reading;
	pthread_t producer;
	uint64_t written = 0, refused[2] = {0}, missing = 0, kernel, notes; /* refused: by uid */

	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = fixture_config(&fixture);
	config.buffer_kib = 16;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	config.log_file_mode |= mode | EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.clock_type = clock_type;
	session = fixture_start(&fixture, &config);
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct thread_writer){.count = 50000, .bytes = 0x58 + 8 * i};
		fixture_attach(&fixture, session, getuid() + i % 2, i, &writers[i].writer);
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_many, &writers[i]),
				 0);
	}
	if (clock_type <= ETW_CLOCK_QPC)
		assert_int_equal(pthread_create(&producer, NULL, produce_many, &fixture.clock), 0);
	for (uint32_t i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		written += writers[i].writer.written;
		refused[i % 2] += writers[i].writer.refused;
		etw_ring_set_unmap(&writers[i].writer.set);
	}
	if (clock_type <= ETW_CLOCK_QPC)
		pthread_join(producer, NULL);
	etw_session_stop(session, &info);
	kernel = fake_source_memory->cpus[0].written + fake_source_memory->cpus[1].written;
	assert_int_equal(info.loss.rejected, 0);
	assert_int_equal(info.loss.no_buffer, refused[0]);
	assert_int_equal(info.loss.others, refused[1]);
	assert_int_equal(info.loss.disregarded, 0);
	/*
	 * A gap is a writer that a loaded machine kept from its processor in the midst of an event. Each cause of
	 * loss is told in a note, what others lost in two: by the one who claims it and by the session.
	 */
	notes = (refused[0] > 0) + UINT64_C(2) * (refused[1] > 0) + (info.loss.gaps > 0);
	assert_int_equal(info.events + info.loss.gaps, written + kernel + notes);
	assert_int_equal(info.is_kernel, 1);
	assert_string_equal(info.complaint, "");
	assert_int_equal(fake_source_memory->rundowns[0], 1);
	assert_int_equal(fake_source_memory->rundowns[1], 1);
	assert_int_equal(fake_source_memory->enabled_flags, EVENT_TRACE_FLAG_PROCESS);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events + info.loss.gaps, written);
	assert_int_equal(reading.notes, notes);
	assert_int_equal(reading.kernel_events, kernel);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.out_of_order, 0);
	assert_int_equal(reading.findings, 0);
	for (uint32_t i = 0; i < WRITERS; i++) {
		assert_true(reading.by_writer[i] <= writers[i].writer.written);
		missing += writers[i].writer.written - reading.by_writer[i];
	}
	assert_int_equal(missing, info.loss.gaps);
	reading_done(&reading);
	fake_source_detach();
	fixture_close(&fixture);
}

static void test_merge__two_uids_and_a_source(void **state)
{
	(void)state;
	merge_all(0, 0);
}

static void test_merge__one_output_for_all(void **state)
{
	(void)state;
	merge_all(EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 0);
}

static void test_merge__system_time(void **state)
{
	(void)state;
	merge_all(0, ETW_CLOCK_SYSTEM);
}

/* A source that fails is told of, and harms nobody. */
static void test_merge__failing_source_is_a_complaint(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	fake_source_memory->open_error = -EACCES;
	config = fixture_config(&fixture);
	(void)snprintf(config.name, sizeof(config.name), "NT Kernel Logger");
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	session = fixture_start(&fixture, &config);
	etw_session_info(session, &info);
	assert_string_equal(info.complaint,
			    "the kernel events are not collected: probe: the fake is told to fail");
	assert_int_equal(info.is_kernel, 1);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, 0);
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

/* What stands in the rings at the end is taken, whatever the source keeps to itself. */
static void test_merge__standing_source_holds_up_no_end(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	fake_source_memory->is_standing = 1;
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < 500; i++)
		(void)fixture_write(&writer, 0x60);
	etw_session_stop(session, &info);
	assert_int_equal(info.events, writer.written);
	assert_int_equal(info.loss.no_buffer, writer.refused);
	etw_ring_set_unmap(&writer.set);
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

/* Records of which a source makes no event fill its memory too: it is given back without any. */
static void test_merge__source_without_events_is_released(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	uint32_t before;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	session = fixture_start(&fixture, &config);
	before = load_relaxed(&fake_source_memory->releases);
	for (int i = 0; i < 5000 && load_relaxed(&fake_source_memory->releases) < before + 3; i++)
		(void)usleep(1000);
	assert_true(load_relaxed(&fake_source_memory->releases) >= before + 3);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

static void test_merge__host_without_a_source(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_THREAD;
	session = fixture_start(&fixture, &config);
	etw_session_stop(session, &info);
	assert_string_equal(info.complaint, "this host has no source of kernel events");
	etw_session_free(session);
	fixture_close(&fixture);
}

/* Of what a session asks for the source collects nothing: it starts as on Windows, and says so. */
static void test_merge__flags_that_nobody_collects(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG;
	session = fixture_start(&fixture, &config);
	etw_session_stop(session, &info);
	assert_string_equal(info.complaint, "kernel events that are not collected: CSWITCH");
	assert_int_equal(info.config.enable_flags, config.enable_flags);
	assert_int_equal(fake_source_memory->opened, 0);
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

/* Every flag that is not collected is named, not the lowest alone. */
static void test_merge__flags_that_are_missing(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	fake_source_attach(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH |
			      EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_NO_SYSCONFIG;
	session = fixture_start(&fixture, &config);
	etw_session_stop(session, &info);
	assert_string_equal(info.complaint,
			    "kernel events that are not collected: DISK_IO, CSWITCH");
	etw_session_free(session);
	fake_source_detach();
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge__two_uids_and_a_source),
		cmocka_unit_test(test_merge__one_output_for_all),
		cmocka_unit_test(test_merge__system_time),
		cmocka_unit_test(test_merge__failing_source_is_a_complaint),
		cmocka_unit_test(test_merge__standing_source_holds_up_no_end),
		cmocka_unit_test(test_merge__source_without_events_is_released),
		cmocka_unit_test(test_merge__host_without_a_source),
		cmocka_unit_test(test_merge__flags_that_nobody_collects),
		cmocka_unit_test(test_merge__flags_that_are_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
