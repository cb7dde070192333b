/* SPDX-License-Identifier: MIT */
/*
 * Records files with sessions whose mode makes more of them than one file written from start to end, reads each back with
 * the reader, and leaves it to the walker:
 *
 *	record_modes FOLDER
 *
 * Each line of output is a file and the number of events that its data buffers hold.
 */
#include "unit/session/fixture.h"
#include "unit/session/trace_reading.h"

#define KIB 1024

static struct fixture fixture;

static struct wire_session_config config_of(const char *folder, const char *name, uint32_t mode)
{
	struct wire_session_config config = fixture_config(&fixture);

	(void)snprintf(config.log_file, sizeof(config.log_file), "%s/%s.etl", folder, name);
	config.log_file_mode = mode;
	return config;
}

/* Every event finds room: each few the session takes what there is. */
static void write_events(struct etw_session *session, struct fixture_writer *writer, uint32_t count,
			 uint32_t bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i % 300 == 299)
			assert_int_equal(etw_session_flush(session), 0);
		assert_int_equal(fixture_write(writer, bytes + i % 29), 0);
	}
}

/* What the reader finds is what the walker is to find. */
static void tell(const char *path, uint64_t events)
{
	struct reading reading;

	read_trace(path, &reading);
	if (reading.events != events || reading.findings || reading.out_of_order || reading.doubled)
		fail_msg("%s: %llu events of %llu, %llu findings, %llu out of order", path,
			 (unsigned long long)reading.events, (unsigned long long)events,
			 (unsigned long long)reading.findings,
			 (unsigned long long)reading.out_of_order);
	reading_done(&reading);
	printf("%s %llu\n", path, (unsigned long long)events);
}

/* The same file again and again; a session keeps what was in it. */
static void record_kept(const char *folder)
{
	static const uint32_t modes[] = {0, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
					 EVENT_TRACE_USE_PAGED_MEMORY};

	for (uint32_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct wire_session_config config =
			config_of(folder, "x", EVENT_TRACE_BUFFERING_MODE | modes[i]);
		struct wire_session_config target = {0};
		struct fixture_writer writer;
		struct etw_session *session;
		uint64_t most;

		config.log_file[0] = '\0';
		config.minimum_buffers = 64;
		session = fixture_start(&fixture, &config);
		fixture_attach(&fixture, session, getuid(), 0, &writer);
		for (uint32_t flush = 0; flush < 4; flush++) {
			struct reading reading;

			write_events(session, &writer, flush * 600, 0x60);
			(void)snprintf(target.log_file, sizeof(target.log_file),
				       "%s/buffering-%u-%u.etl", folder, i, flush);
			assert_int_equal(etw_session_flush_to(session, &target, getuid()), 0);
			read_trace(target.log_file, &reading);
			most = reading.events;
			assert_int_equal(reading.next_number[0], writer.written);
			assert_true(flush == 3 ? most < writer.written : most == writer.written);
			reading_done(&reading);
			tell(target.log_file, most);
		}
		etw_session_stop(session, NULL);
		etw_session_free(session);
		etw_ring_set_unmap(&writer.set);
	}
}

static void run_session(const struct wire_session_config *config, uint32_t events,
			struct wire_session_info *ret)
{
	struct etw_session *session = fixture_start(&fixture, config);
	struct fixture_writer writer;

	fixture_attach(&fixture, session, getuid(), 0, &writer);
	writer.written = (uint32_t)ret->events; /* numbers go on where the session before ended */
	write_events(session, &writer, events, 0x60);
	etw_session_stop(session, ret);
	assert_int_equal(ret->events, events);
	assert_int_equal(ret->events_lost, 0);
	ret->events = writer.written;
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
}

/* Three sessions, one file; and what the others refuse leaves it as it is. */
static void record_appended(const char *folder)
{
	static const uint32_t modes[] = {0, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
					 EVENT_TRACE_COMPRESSED_MODE};

	for (uint32_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct wire_session_config config =
			config_of(folder, "x", EVENT_TRACE_FILE_MODE_APPEND | modes[i]);
		struct wire_session_info info = {0};
		struct etw_session *session;
		struct etw_fault fault;

		(void)snprintf(config.log_file, sizeof(config.log_file), "%s/append-%u.etl", folder,
			       i);
		config.clock_type = ETW_CLOCK_SYSTEM;
		for (uint32_t round = 0; round < 3; round++)
			run_session(&config, 700 + 300 * round, &info);
		tell(config.log_file, 700 + 1000 + 1300);
		config.buffer_kib = 8;
		assert_int_equal(
			etw_session_start(&fixture.host, 7, getuid(), &config, &session, &fault),
			-EINVAL);
		config.buffer_kib = 4;
		config.log_file_mode ^= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
		if (etw_session_cpu_count() > 1)
			assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config,
							   &session, &fault),
					 -EINVAL);
	}
}

/* What shrinks, what cannot, and both in turn. */
static void record_compressed(const char *folder)
{
	static const uint32_t modes[] = {0, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING};

	for (uint32_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct wire_session_config config =
			config_of(folder, "x", EVENT_TRACE_COMPRESSED_MODE | modes[i]);
		struct wire_session_info info = {0};

		(void)snprintf(config.log_file, sizeof(config.log_file), "%s/compressed-%u.etl",
			       folder, i);
		config.buffer_kib = i == 0 ? 4 : 64;
		run_session(&config, 5000, &info);
		assert_true(info.bytes < 5000 * 0x60);
		tell(config.log_file, 5000);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		(void)fprintf(stderr, "usage: record_modes FOLDER\n");
		return 2;
	}
	fixture_open(&fixture);
	record_kept(argv[1]);
	record_appended(argv[1]);
	record_compressed(argv[1]);
	fixture_close(&fixture);
	return 0;
}
