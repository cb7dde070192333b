/* SPDX-License-Identifier: MIT */
/* Circular files, and files whose space is taken beforehand: what is in them, and that the numbers agree. */
#include <sys/mount.h>
#include <sys/stat.h>

#include "fixture.h"
#include "session/file/file.h"
#include "trace_reading.h"

#define EVENT_BYTES 1000 /* four to a buffer of 4 KB */
#define FILE_KIB    42   /* ten buffers, and a rest that is not used */
#define PLACES      9    /* for data */

static struct wire_session_config circular(const struct fixture *fixture, uint32_t more_modes)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_USE_KBYTES_FOR_SIZE |
			       more_modes;
	config.maximum_file_size = FILE_KIB;
	return config;
}

static void write_events(struct etw_session *session, struct fixture_writer *writer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(fixture_write(writer, EVENT_BYTES), 0);
		if (i % 16 == 15)
			assert_int_equal(etw_session_flush(session), 0);
	}
	assert_int_equal(etw_session_flush(session), 0);
}

static uint64_t size_of(const char *path)
{
	struct stat file;

	assert_int_equal(stat(path, &file), 0);
	return (uint64_t)file.st_size;
}

static uint32_t header_buffers_written(const char *path)
{
	struct etw_trace *trace;
	struct etw_fault fault;
	uint32_t result;

	assert_int_equal(etw_trace_open(path, &trace, &fault), 0);
	result = etw_trace_header(trace)->buffers_written;
	etw_trace_close(trace);
	return result;
}

/* The file has the newest events without a gap, and all others are told as overwritten. */
static void check_newest(const char *path, const struct wire_session_info *info, uint64_t written)
{
	struct reading reading;

	read_trace(path, &reading);
	assert_int_equal(reading.findings, 0);
	/* This reads in the order of the file, which falls once where it begins anew. */
	assert_true(reading.out_of_order <= 1);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.next_number[0], written);
	assert_int_equal(reading.events + reading.notes + info->overwritten, info->events);
	for (uint64_t i = written - reading.events; i < written; i++)
		assert_int_equal(reading.seen[0][i], 1);
	reading_done(&reading);
}

static void test_file_circular__wraps(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	config = circular(&fixture, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 4 * PLACES * 4 + 13);
	etw_session_info(session, &info);
	assert_int_equal(info.bytes, (PLACES + 1) * 4096);
	assert_true(info.buffers_written > 4 * PLACES);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_int_equal(info.file_status, 0);
	assert_int_equal(info.events_lost, 0);
	assert_int_equal(size_of(fixture.path), (PLACES + 1) * 4096);
	assert_int_equal(header_buffers_written(fixture.path), info.buffers_written);
	check_newest(fixture.path, &info, writer.written);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Before it is full it is as long as what was written, and BuffersWritten says how many buffers there are. */
static void test_file_circular__not_full(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	config = circular(&fixture, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 14);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_int_equal(info.overwritten, 0);
	assert_int_equal(size_of(fixture.path), info.buffers_written * 4096);
	assert_int_equal(header_buffers_written(fixture.path), info.buffers_written);
	check_newest(fixture.path, &info, 14);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Only what was in it is lost with it: what was overwritten before was nobody's loss. */
static void test_file_circular__deleted(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct reading reading;
	char copy[160], command[400];

	(void)state;
	fixture_open(&fixture);
	config = circular(&fixture, 0);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 200);
	(void)snprintf(copy, sizeof(copy), "%s.copy", fixture.path);
	(void)snprintf(command, sizeof(command), "cp %s %s", fixture.path, copy);
	assert_int_equal(system(command), 0);
	read_trace(copy, &reading);
	assert_int_equal(unlink(copy), 0);
	assert_int_equal(unlink(fixture.path), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -ENOENT);
	assert_int_equal(info.loss.file, reading.events);
	assert_int_equal(info.loss.file + info.overwritten, info.events);
	write_events(session, &writer, 10);
	etw_session_stop(session, &info);
	assert_int_equal(info.loss.file + info.overwritten, info.events);
	etw_session_free(session);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* The next file is another ring: nothing of the first one is overwritten by it. */
static void test_file_circular__another_file(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct reading first, second;
	char path[160];

	(void)state;
	fixture_open(&fixture);
	(void)snprintf(path, sizeof(path), "%s.next", fixture.path);
	config = circular(&fixture, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 100);
	assert_int_equal(etw_session_change_file(session, path, ""), 0);
	write_events(session, &writer, 120);
	etw_session_stop(session, &info);
	etw_session_free(session);
	read_trace(fixture.path, &first);
	read_trace(path, &second);
	assert_int_equal(first.findings + second.findings, 0);
	assert_int_equal(first.next_number[0], 100);
	assert_int_equal(second.next_number[0], 220);
	assert_int_equal(first.events + second.events + info.overwritten, 220);
	assert_int_equal(unlink(path), 0);
	reading_done(&first);
	reading_done(&second);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* All of its space is the file's from the start, and readers of the live file see nothing wrong in that. */
static void preallocated(uint32_t mode, uint32_t events)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct reading reading;
	struct stat file;

	fixture_open(&fixture);
	config = circular(&fixture, EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING);
	config.log_file_mode &= ~(uint32_t)EVENT_TRACE_FILE_MODE_CIRCULAR;
	config.log_file_mode |= mode | EVENT_TRACE_FILE_MODE_PREALLOCATE;
	session = fixture_start(&fixture, &config);
	assert_int_equal(stat(fixture.path, &file), 0);
	assert_int_equal(file.st_size, (PLACES + 1) * 4096);
	assert_true((uint64_t)file.st_blocks * 512 >= (PLACES + 1) * 4096);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 5);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, 5);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	write_events(session, &writer, events - 5);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_int_equal(size_of(fixture.path), info.bytes);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.findings, 0);
	assert_int_equal(reading.events + info.overwritten + info.loss.file, events);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_file_circular__preallocated(void **state)
{
	(void)state;
	preallocated(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 14);
	preallocated(EVENT_TRACE_FILE_MODE_SEQUENTIAL, 100); /* it ends at its limit */
	preallocated(EVENT_TRACE_FILE_MODE_CIRCULAR, 14);
	preallocated(EVENT_TRACE_FILE_MODE_CIRCULAR, 200);
}

/* Who takes the space beforehand hears at the start that there is not enough. */
static void test_file_circular__no_space_to_take(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct etw_fault problem;

	(void)state;
	fixture_open(&fixture);
	if (mount("tmpfs", fixture.folder, "tmpfs", 0, "size=32k") < 0) {
		print_message("skipped: no right to mount a small file system\n");
		fixture_close(&fixture);
		skip();
	}
	config = circular(&fixture, EVENT_TRACE_FILE_MODE_PREALLOCATE);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &problem),
			 -ENOSPC);
	assert_int_equal(umount(fixture.folder), 0);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_circular__wraps),
		cmocka_unit_test(test_file_circular__not_full),
		cmocka_unit_test(test_file_circular__deleted),
		cmocka_unit_test(test_file_circular__another_file),
		cmocka_unit_test(test_file_circular__preallocated),
		cmocka_unit_test(test_file_circular__no_space_to_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
