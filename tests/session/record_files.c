/* SPDX-License-Identifier: MIT */
/*
 * Records one file for each kind of session into a folder, for the walker to check:
 *
 *	record_files FOLDER
 *
 * Each line of output is a file and the number of events that its data buffers hold.
 */
#include "unit/session/fake_source.h"

struct kind {
	const char *name;
	uint32_t mode, clock_type, buffer_kib, maximum_file_size, flush_timer;
	bool has_source, has_second_uid, is_flushed;
};

static const struct kind kinds[] = {
	{"plain", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 4, 0, 0, false, false, false},
	{"none", EVENT_TRACE_FILE_MODE_NONE, 0, 64, 0, 0, false, false, false},
	{"two-uids", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 8, 0, 0, false, true, false},
	{"kernel", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 8, 0, 0, true, true, false},
	{"flushed", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 4, 0, 0, false, true, true},
	{"timer", 0x10 /* milliseconds */, 0, 4, 0, 3, false, false, false},
	{"system-time", EVENT_TRACE_FILE_MODE_SEQUENTIAL, ETW_CLOCK_SYSTEM, 4, 0, 0, false, true,
	 false},
	{"cycles", EVENT_TRACE_FILE_MODE_SEQUENTIAL, ETW_CLOCK_CYCLE, 4, 0, 0, false, false, false},
	{"one-stream", EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, 0, 4, 0, 0, true, true, false},
	{"limit", EVENT_TRACE_USE_KBYTES_FOR_SIZE, 0, 4, 40, 0, false, false, false},
	{"both", EVENT_TRACE_REAL_TIME_MODE, 0, 4, 0, 0, false, false, true},
	{"independent", EVENT_TRACE_INDEPENDENT_SESSION_MODE, 0, 4, 0, 0, false, false, false},
	{"delayed", EVENT_TRACE_DELAY_OPEN_FILE_MODE, 0, 4, 0, 0, false, false, false},
	{"add-header", EVENT_TRACE_ADD_HEADER_MODE, 0, 4, 0, 0, false, false, false},
	{"paged", EVENT_TRACE_USE_PAGED_MEMORY, 0, 4, 0, 0, false, false, false},
	{"hybrid-stop", EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN, 0, 4, 0, 0, false, false, false},
	{"hybrid-persist", EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN, 0, 4, 0, 0, false, false, false},
	{"global-sequence", EVENT_TRACE_USE_GLOBAL_SEQUENCE, 0, 4, 0, 0, false, false, false},
	{"local-sequence", EVENT_TRACE_USE_LOCAL_SEQUENCE, 0, 4, 0, 0, false, false, false},
	{"large", EVENT_TRACE_FILE_MODE_SEQUENTIAL, 0, 2048, 0, 0, false, false, false},
};

static void write_events(struct fixture *fixture, struct etw_session *session,
			 const struct kind *kind)
{
	struct fixture_writer writers[2];
	uint32_t count = kind->has_second_uid ? 2 : 1;

	for (uint32_t i = 0; i < count; i++)
		fixture_attach(fixture, session, getuid() + i, i, &writers[i]);
	for (uint32_t i = 0; i < 3000; i++) {
		(void)fixture_write(&writers[i % count], 0x58 + i % 37);
		if (kind->has_source && i % 10 == 0)
			fake_source_produce(&fixture->clock, i % 20 != 0);
		if (kind->is_flushed && i % 100 == 0)
			assert_int_equal(etw_session_flush(session), 0);
		if (i % 16 == 0)
			(void)usleep(100);
	}
	for (uint32_t i = 0; i < count; i++)
		etw_ring_set_unmap(&writers[i].set);
}

static void record(const char *folder, const struct kind *kind)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;

	fixture_open(&fixture);
	if (kind->has_source)
		fake_source_attach(&fixture);
	config = fixture_config(&fixture);
	(void)snprintf(config.log_file, sizeof(config.log_file), "%s/%s.etl", folder, kind->name);
	config.log_file_mode = kind->mode;
	config.clock_type = kind->clock_type;
	config.buffer_kib = kind->buffer_kib;
	config.maximum_file_size = kind->maximum_file_size;
	config.flush_timer = kind->flush_timer;
	if (kind->has_source) {
		config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
		config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	}
	session = fixture_start(&fixture, &config);
	write_events(&fixture, session, kind);
	etw_session_stop(session, &info);
	printf("%s %llu\n", config.log_file, (unsigned long long)(info.events - info.loss.file));
	etw_session_free(session);
	if (kind->has_source)
		fake_source_detach();
	fixture_close(&fixture);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		record(argv[1], &kinds[i]);
	return 0;
}
