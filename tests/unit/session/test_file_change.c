/* SPDX-License-Identifier: MIT */
/* Sessions that go on in another file: by their limit, by request, and when one cannot be made. */
#include <sys/mount.h>
#include <sys/stat.h>

#include "fixture.h"
#include "session/file/file.h"
#include "trace_reading.h"

#define EVENT_BYTES 1000 /* four to a buffer of 4 KB */
#define WAIT_MS     60000

static void path_of(const struct fixture *fixture, uint32_t number, char path[192])
{
	(void)snprintf(path, 192, "%s/part-%u.etl", fixture->folder, number);
}

/* Files of @kib KB each. */
static struct wire_session_config series(const struct fixture *fixture, uint32_t kib)
{
	struct wire_session_config config = fixture_config(fixture);

	(void)snprintf(config.log_file, sizeof(config.log_file), "%s/part-%%d.etl",
		       fixture->folder);
	(void)snprintf(config.log_file_shown, sizeof(config.log_file_shown), "C:\\part-%%d.etl");
	config.log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE |
			       EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config.maximum_file_size = kib;
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

/* What one file holds, and that it was closed. */
struct part {
	uint64_t events, notes;
	uint32_t buffers_written, first_number;
	int64_t start_ft, end_ft, time_raw;
	char shown[64];
};

static struct part read_part(const char *path)
{
	struct reading reading;
	struct part part = {0};
	struct etw_trace *trace;
	struct etw_fault fault;
	const struct etw_etl_header *header;

	read_trace(path, &reading);
	assert_int_equal(reading.findings, 0);
	assert_int_equal(reading.out_of_order, 0);
	part.events = reading.events;
	part.notes = reading.notes;
	for (uint32_t i = 0; i < reading.seen_room[0] && !reading.seen[0][i]; i++)
		part.first_number = i + 1;
	reading_done(&reading);
	assert_int_equal(etw_trace_open(path, &trace, &fault), 0);
	header = etw_trace_header(trace);
	part.buffers_written = header->buffers_written;
	part.start_ft = header->start_ft;
	part.end_ft = header->end_ft;
	part.time_raw = header->time_raw;
	(void)snprintf(part.shown, sizeof(part.shown), "%s", header->log_file_name);
	etw_trace_close(trace);
	return part;
}

static void test_file_change__a_series_by_its_limit(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct part first = {0};
	uint64_t events = 0;
	char path[192], shown[64];
	uint32_t files = 0;

	(void)state;
	fixture_open(&fixture);
	config = series(&fixture, 20); /* four buffers behind the header */
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 203);
	etw_session_info(session, &info);
	assert_non_null(strstr(info.config.log_file_shown, "C:\\part-"));
	assert_null(strchr(info.config.log_file, '%'));
	assert_true(fixture_kept_count(&fixture, "session-7/file-") == 1);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, 0);
	assert_int_equal(info.events_lost, 0);
	etw_session_free(session);
	for (;; files++) {
		struct part part;

		path_of(&fixture, files + 1, path);
		if (access(path, F_OK) != 0)
			break;
		part = read_part(path);
		assert_int_equal(part.first_number, events);
		events += part.events;
		assert_true(part.end_ft > 0);
		if (files == 0)
			first = part;
		assert_true(part.start_ft == first.start_ft && part.time_raw == first.time_raw);
		(void)snprintf(shown, sizeof(shown), "C:\\part-%u.etl", files + 1);
		assert_string_equal(part.shown, shown);
		assert_true(part.buffers_written <= 5);
		if (files == 0)
			assert_int_equal(part.buffers_written, 5);
		assert_int_equal(unlink(path), 0);
	}
	assert_true(files >= 10);
	assert_int_equal(events, 203);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_file_change__increment(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	char path[192];

	(void)state;
	fixture_open(&fixture);
	config = series(&fixture, 1024);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 1; i <= 3; i++) {
		for (uint32_t j = 0; j < i; j++)
			assert_int_equal(fixture_write(&writer, EVENT_BYTES), 0);
		assert_int_equal(etw_session_change_file(session, NULL, NULL), 0);
		/* What was there before the call is in the file that ended. */
		path_of(&fixture, i, path);
		assert_int_equal(read_part(path).events, i);
	}
	etw_session_info(session, &info);
	path_of(&fixture, 4, path);
	assert_string_equal(info.config.log_file, path);
	assert_int_equal(info.bytes, 4096);
	etw_session_stop(session, &info);
	assert_int_equal(etw_session_change_file(session, NULL, NULL), -ESHUTDOWN);
	etw_session_free(session);
	assert_int_equal(read_part(path).events, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		path_of(&fixture, i, path);
		assert_int_equal(unlink(path), 0);
	}
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_file_change__another_name(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct part part;
	char path[192];

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 30);
	path_of(&fixture, 2, path);
	assert_int_equal(etw_session_change_file(session, fixture.path, ""), -EEXIST);
	assert_int_equal(etw_session_change_file(session, NULL, NULL), -EINVAL);
	assert_int_equal(etw_session_change_file(session, "part", ""), -EINVAL);
	assert_int_equal(etw_session_change_file(session, "/no/such/folder", ""), -ENOENT);
	/* Whatever failed, the file goes on. */
	write_events(session, &writer, 10);
	assert_int_equal(etw_session_change_file(session, path, "D:\\two.etl"), 0);
	write_events(session, &writer, 7);
	etw_session_info(session, &info);
	assert_string_equal(info.config.log_file, path);
	assert_string_equal(info.config.log_file_shown, "D:\\two.etl");
	etw_session_stop(session, &info);
	assert_int_equal(info.events_lost, 0);
	etw_session_free(session);
	assert_int_equal(read_part(fixture.path).events, 40);
	part = read_part(path);
	assert_int_equal(part.events, 7);
	assert_int_equal(part.first_number, 40);
	assert_string_equal(part.shown, "D:\\two.etl");
	assert_int_equal(unlink(path), 0);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* The next file's name is taken by a folder: the series ends there, and goes on when the name is free. */
static void test_file_change__a_next_file_that_cannot_be_made(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	uint64_t events = 0, notes = 0;
	char path[192];

	(void)state;
	fixture_open(&fixture);
	config = series(&fixture, 20);
	path_of(&fixture, 2, path);
	assert_int_equal(mkdir(path, 0700), 0);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	assert_int_equal(etw_session_change_file(session, NULL, NULL), -EISDIR);
	write_events(session, &writer, 40);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -EISDIR);
	assert_true(info.loss.file > 0);
	assert_int_equal(rmdir(path), 0);
	for (uint32_t waited = 0; info.file_status && waited < WAIT_MS; waited += 100) {
		write_events(session, &writer, 4);
		(void)usleep(100000);
		etw_session_info(session, &info);
	}
	assert_int_equal(info.file_status, 0);
	assert_non_null(strstr(info.complaint, "goes on in another file"));
	etw_session_stop(session, &info);
	etw_session_free(session);
	for (uint32_t i = 1;; i++) {
		struct part part;

		path_of(&fixture, i, path);
		if (access(path, F_OK) != 0)
			break;
		part = read_part(path);
		events += part.events;
		notes += part.notes;
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(events + info.loss.file, writer.written);
	assert_int_equal(info.events_lost, info.loss.file);
	assert_int_equal(notes, 1);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* The events of the file that is deleted are lost, those of the files before it are not, and the series goes on. */
static void test_file_change__a_file_that_is_deleted(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	uint64_t events = 0;
	char path[192];

	(void)state;
	fixture_open(&fixture);
	config = series(&fixture, 1024);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	for (uint32_t i = 0; i < 3; i++) {
		write_events(session, &writer, 20);
		assert_int_equal(etw_session_change_file(session, NULL, NULL), 0);
	}
	path_of(&fixture, 4, path);
	write_events(session, &writer, 10);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(etw_session_flush(session), 0);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -ENOENT);
	assert_int_equal(info.loss.file, 10);
	write_events(session, &writer, 15);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, 0);
	assert_int_equal(info.loss.file, 10);
	etw_session_free(session);
	for (uint32_t i = 1; i <= 5; i++) {
		path_of(&fixture, i, path);
		if (i == 4)
			continue;
		events += read_part(path).events;
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(events, 75);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Sums over what there is of a series, and removes it. */
static uint64_t count_series(const struct fixture *fixture, uint32_t *ret_files)
{
	uint64_t events = 0;
	char path[192];

	for (*ret_files = 0;; ++*ret_files) {
		path_of(fixture, *ret_files + 1, path);
		if (access(path, F_OK) != 0)
			return events;
		events += read_part(path).events;
		assert_int_equal(unlink(path), 0);
	}
}

/* The folder of another user's session lets nobody make files any more, and after a while it does again. */
static void test_file_change__a_folder_that_is_read_only(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	struct etw_fault problem;
	uint32_t files;
	uint64_t lost;

	(void)state;
	if (getuid() != 0) {
		print_message("skipped: only root has sessions of other users\n");
		skip();
	}
	fixture_open(&fixture);
	assert_int_equal(chmod(fixture.folder, 0777), 0);
	config = series(&fixture, 20);
	assert_int_equal(etw_session_start(&fixture.host, 7, 65534, &config, &session, &problem),
			 0);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 40);
	assert_int_equal(chmod(fixture.folder, 0755), 0);
	assert_int_equal(etw_session_change_file(session, NULL, NULL), -EACCES);
	write_events(session, &writer, 40);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -EACCES);
	lost = info.loss.file;
	assert_true(lost > 0);
	assert_int_equal(chmod(fixture.folder, 0777), 0);
	for (uint32_t waited = 0; info.file_status && waited < WAIT_MS; waited += 100) {
		write_events(session, &writer, 1);
		(void)usleep(100000);
		etw_session_info(session, &info);
	}
	assert_int_equal(info.file_status, 0);
	write_events(session, &writer, 10);
	etw_session_stop(session, &info);
	etw_session_free(session);
	assert_true(info.loss.file >= lost);
	assert_int_equal(info.events_lost, info.loss.file);
	assert_int_equal(count_series(&fixture, &files) + info.loss.file, writer.written);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* A disk that is full ends the file that is there; when there is space again the series goes on in the next one. */
static void test_file_change__a_full_disk(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct wire_session_info info;
	struct fixture_writer writer;
	struct etw_session *session;
	uint64_t events = 0;
	uint32_t files;
	char path[192];

	(void)state;
	fixture_open(&fixture);
	if (mount("tmpfs", fixture.folder, "tmpfs", 0, "size=48k") < 0) {
		print_message("skipped: no right to mount a small file system\n");
		fixture_close(&fixture);
		skip();
	}
	config = series(&fixture, 20);
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 80);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -ENOSPC);
	path_of(&fixture, 1, path);
	events += read_part(path).events;
	assert_int_equal(unlink(path), 0);
	for (uint32_t waited = 0; info.file_status && waited < WAIT_MS; waited += 100) {
		write_events(session, &writer, 1);
		(void)usleep(100000);
		etw_session_info(session, &info);
	}
	assert_int_equal(info.file_status, 0);
	etw_session_stop(session, &info);
	etw_session_free(session);
	for (files = 2;; files++) {
		path_of(&fixture, files, path);
		if (access(path, F_OK) != 0)
			break;
		events += read_part(path).events;
	}
	assert_true(files >= 4);
	assert_int_equal(events + info.loss.file, writer.written);
	assert_int_equal(umount(fixture.folder), 0);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_change__a_series_by_its_limit),
		cmocka_unit_test(test_file_change__increment),
		cmocka_unit_test(test_file_change__another_name),
		cmocka_unit_test(test_file_change__a_next_file_that_cannot_be_made),
		cmocka_unit_test(test_file_change__a_file_that_is_deleted),
		cmocka_unit_test(test_file_change__a_folder_that_is_read_only),
		cmocka_unit_test(test_file_change__a_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
