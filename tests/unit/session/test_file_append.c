/* SPDX-License-Identifier: MIT */
/* A session's file behind what others have written, packed or not; and a host that dies while it writes there. */
#include <fcntl.h>

#include "session/file/file.h"

#include "parts.h"
#include "trace_reading.h"

static struct wire_session_config appending(const struct fixture *fixture, uint32_t mode)
{
	struct wire_session_config config = fixture_config(fixture);

	config.log_file_mode = EVENT_TRACE_FILE_MODE_APPEND |
			       EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING | mode;
	config.clock_type = ETW_CLOCK_SYSTEM;
	return config;
}

static void end_file(struct parts *parts)
{
	etw_outputs_flush(&parts->outputs);
	etw_session_file_end(&parts->outputs.file, 0);
}

/* A session of @count events; numbers go on at @written. Returns what the next one begins with. */
static uint32_t run_session(struct fixture *fixture, const struct wire_session_config *config,
			    uint32_t count, uint32_t written)
{
	static struct parts parts;
	struct fixture_writer writer;

	parts_open(&parts, fixture, config, 1);
	(void)parts_attach(&parts, getuid(), 0, &writer);
	writer.written = written;
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(fixture_write(&writer, 0x60), 0);
	(void)parts_move(&parts, etw_monotonic_ns(), /* is_flush= */ true);
	end_file(&parts);
	etw_ring_set_unmap(&writer.set);
	parts_close(&parts);
	return writer.written;
}

static void assert_holds(const char *path, uint32_t events)
{
	struct reading reading;

	read_trace(path, &reading);
	assert_int_equal(reading.events, events);
	assert_int_equal(reading.next_number[0], events);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
}

static void run_three(uint32_t mode)
{
	struct fixture fixture;
	struct wire_session_config config;
	uint32_t written = 0;

	fixture_open(&fixture);
	config = appending(&fixture, mode);
	for (uint32_t i = 0; i < 3; i++) {
		written = run_session(&fixture, &config, 100, written);
		assert_holds(fixture.path, written);
	}
	fixture_close(&fixture);
}

static void test_file_append__three_sessions(void **state)
{
	(void)state;
	run_three(0);
	run_three(EVENT_TRACE_COMPRESSED_MODE);
}

/* A damaged time, which is still to come, is not that of the buffers behind it; and the session says so. */
static void test_file_append__a_time_to_come(void **state)
{
	static struct fixture fixture;
	static struct parts parts;
	struct wire_session_config config;
	const uint64_t future = INT64_MAX / 2;
	char complaint[ETW_CONTEXT_COMPLAINT_BYTES];
	int64_t now_raw;
	int fd;

	(void)state;
	fixture_open(&fixture);
	config = appending(&fixture, 0);
	(void)run_session(&fixture, &config, 40, 0);
	fd = open(fixture.path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &future, sizeof(future),
				4096 + offsetof(struct wire_buffer_header, time_raw)),
			 sizeof(future));
	assert_int_equal(close(fd), 0);
	parts_open(&parts, &fixture, &config, 1);
	now_raw = etw_context_now(&parts.context);
	assert_in_range(parts.context.state.head->last_flush_raw, 0, now_raw);
	etw_context_complaint(&parts.context, complaint, sizeof(complaint));
	assert_non_null(strstr(complaint, "still to come"));
	end_file(&parts);
	parts_close(&parts);
	fixture_close(&fixture);
}

/*
 * A host dies behind the record of a sealed buffer, once before and once after it was written; the next one writes the
 * same bytes to the same place, and the buffer counts once.
 */
static void die_while_sealing(uint32_t mode, bool is_written)
{
	static struct fixture fixture;
	static struct parts parts, next;
	struct wire_session_config config;
	struct fixture_writer writer;
	struct etw_state_record record;
	struct etw_session_output *output;

	fixture_open(&fixture);
	config = appending(&fixture, mode);
	(void)run_session(&fixture, &config, 100, 0);
	parts_open(&parts, &fixture, &config, 1);
	(void)parts_attach(&parts, getuid(), 0, &writer);
	writer.written = 100;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(fixture_write(&writer, 0x60), 0);
	(void)parts_move(&parts, etw_monotonic_ns(), /* is_flush= */ true);
	output = &parts.outputs.all[0];
	record = *output->record;
	record.sequence = parts.context.state.head->next_sequence;
	record.offset = etw_session_file_claim(&parts.outputs.file);
	record.file_place = etw_state_file(&parts.context.state)->buffers;
	record.is_sealed = 1;
	etw_output_copy(&parts.outputs, output, record.sequence, output->buffer);
	memcpy(output->record, &record, sizeof(record));
	etw_state_commit(&parts.context.state, 0, output->record);
	if (is_written)
		assert_int_equal(etw_session_file_put(&parts.outputs.file, record.offset,
						      record.file_place, output->buffer),
				 0);
	/* The lock is the open file's, which the next host gets. */
	parts_adopt(&next, &fixture, dup(parts.context.state.fd));
	end_file(&next);
	assert_int_equal(etw_state_file(&next.context.state)->buffers, 1 + 3 + 1);
	assert_holds(fixture.path, 120);
	parts_close(&next);
	parts_close(&parts);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_file_append__a_host_that_dies_counts_no_buffer_twice(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		die_while_sealing(i & 1 ? EVENT_TRACE_COMPRESSED_MODE : 0, i & 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_append__three_sessions),
		cmocka_unit_test(test_file_append__a_time_to_come),
		cmocka_unit_test(test_file_append__a_host_that_dies_counts_no_buffer_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
