/* SPDX-License-Identifier: MIT */
/* Files that end before their session: by their limit, by a full disk, and files that cannot be made. */
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fixture.h"
#include "trace_reading.h"

/* Writes more than the file takes; then file and losses must add up. */
static void overfill(struct fixture *fixture, const struct wire_session_config *config,
		     int32_t status, uint64_t most_bytes, rlim_t process_limit)
{
	struct wire_session_info info;
	struct etw_session *session = fixture_start(fixture, config);
	struct fixture_writer writer;
	struct reading reading;
	struct stat file;
	struct rlimit before, limit;

	fixture_attach(fixture, session, getuid(), 0, &writer);
	/* From here on: memfds are files too. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = process_limit;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		(void)fixture_write(&writer, 0x60);
		if (i % 100 == 0)
			assert_int_equal(etw_session_flush(session), 0);
	}
	etw_session_stop(session, &info);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(info.file_status, status);
	assert_true(info.loss.file > 0);
	assert_true(info.log_buffers_lost > 0);
	assert_int_equal(info.events_lost, info.loss.file + writer.refused);
	assert_int_equal(info.events, writer.written);
	etw_session_free(session);
	assert_int_equal(stat(fixture->path, &file), 0);
	assert_true((uint64_t)file.st_size <= most_bytes);
	assert_int_equal(file.st_size % 4096, 0);
	read_trace(fixture->path, &reading);
	assert_int_equal(reading.events, writer.written - info.loss.file);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
}

static void test_file__maximum_size(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_USE_KBYTES_FOR_SIZE;
	config.maximum_file_size = 64;
	overfill(&fixture, &config, -EFBIG, 64 * 1024, RLIM_INFINITY);
	fixture_close(&fixture);
}

static void test_file__process_limit(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	overfill(&fixture, &config, -EFBIG, 40 * 1024, 40 * 1024);
	fixture_close(&fixture);
}

static void test_file__full_disk(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;

	(void)state;
	fixture_open(&fixture);
	if (mount("tmpfs", fixture.folder, "tmpfs", 0, "size=128k") < 0) {
		print_message("skipped: no right to mount a small file system\n");
		fixture_close(&fixture);
		skip();
	}
	config = fixture_config(&fixture);
	overfill(&fixture, &config, -ENOSPC, 128 * 1024, RLIM_INFINITY);
	assert_int_equal(umount(fixture.folder), 0);
	fixture_close(&fixture);
}

static void test_file__errors_of_start(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct etw_fault fault;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	(void)snprintf(config.log_file, sizeof(config.log_file), "%s/no/such", fixture.folder);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &fault),
			 -ENOENT);
	(void)snprintf(config.log_file, sizeof(config.log_file), "%s", fixture.folder);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &fault),
			 -EISDIR);
	config = fixture_config(&fixture);
	memset(config.name, 'n', 2500);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &fault),
			 -EMSGSIZE);
	fixture_close(&fixture);
}

/* Another user's session makes the file with that user's rights. */
static void test_file__owner(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct etw_fault fault;
	struct stat file;

	(void)state;
	if (getuid() != 0) {
		print_message("skipped: only root has sessions of other users\n");
		skip();
	}
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	assert_int_equal(etw_session_start(&fixture.host, 7, 65534, &config, &session, &fault),
			 -EACCES);
	assert_int_equal(chmod(fixture.folder, 0777), 0);
	assert_int_equal(etw_session_start(&fixture.host, 7, 65534, &config, &session, &fault), 0);
	etw_session_free(session);
	assert_int_equal(stat(fixture.path, &file), 0);
	assert_int_equal(file.st_uid, 65534);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file__maximum_size),
		cmocka_unit_test(test_file__process_limit),
		cmocka_unit_test(test_file__full_disk),
		cmocka_unit_test(test_file__errors_of_start),
		cmocka_unit_test(test_file__owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
