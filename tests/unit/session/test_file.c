/* SPDX-License-Identifier: MIT */
/* Files that end before their session: by their limit, by a full disk, and files that cannot be made. */
#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fixture.h"
#include "session/file/file.h"
#include "trace_reading.h"

#define WAIT_MS 60000

/* What writes to files do instead; by the test, read by the session's thread. */
static struct {
	int error;       /* 0: they write */
	uint32_t failed; /* so many did not */
	uint32_t most;   /* so many fail; UINT32_MAX: all */
} fault;

/* With whose rights the writes were made; by whatever thread does. */
static struct {
	uint32_t count, wrong_user, with_resources;
	uid_t uid; /* that they are to have; by the test */
} writes;

static bool may_exceed_limits(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[0].effective & (UINT32_C(1) << CAP_SYS_RESOURCE);
}

/* In the place of the C library's. */
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	int error = load_acquire(&fault.error);
	struct stat file;

	/* A ring set's memory is none of the session's file. */
	if (fstat(fd, &file) < 0 || file.st_nlink == 0)
		return syscall(SYS_pwrite64, fd, bytes, count, offset);
	(void)add_relaxed(&writes.count, 1u);
	if ((uid_t)setfsuid((uid_t)-1) != load_relaxed(&writes.uid))
		(void)add_relaxed(&writes.wrong_user, 1u);
	if (may_exceed_limits())
		(void)add_relaxed(&writes.with_resources, 1u);

	if (error && load_relaxed(&fault.failed) < load_relaxed(&fault.most)) {
		(void)add_relaxed(&fault.failed, 1u);
		errno = error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

static void break_disk(int error, uint32_t most)
{
	store_relaxed(&fault.failed, 0u);
	store_relaxed(&fault.most, most);
	store_release(&fault.error, error);
}

static char told[1024];

static void tell(void *context, uint32_t session_id, const char *sentence)
{
	(void)context;
	(void)session_id;
	(void)snprintf(told, sizeof(told), "%s", sentence);
}

static struct etw_session *start_telling(struct fixture *fixture, struct fixture_writer *writer)
{
	struct wire_session_config config = fixture_config(fixture);
	struct etw_session *session;

	told[0] = '\0';
	fixture->host.tell = tell;
	session = fixture_start(fixture, &config);
	fixture_attach(fixture, session, getuid(), 0, writer);
	return session;
}

/* Flushed now and then, so that no ring buffer is missing. */
static void write_events(struct etw_session *session, struct fixture_writer *writer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		(void)fixture_write(writer, 0x60);
		if (i % 100 == 99)
			assert_int_equal(etw_session_flush(session), 0);
	}
	assert_int_equal(etw_session_flush(session), 0);
}

/* Returns what the file holds. */
static uint64_t count_in_file(const struct fixture *fixture)
{
	struct reading reading;
	uint64_t events;

	read_trace(fixture->path, &reading);
	assert_int_equal(reading.findings, 0);
	events = reading.events;
	reading_done(&reading);
	return events;
}

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

static unsigned times_full; /* atomic */

static void note_full(void *context, uint32_t session_id)
{
	(void)context;
	(void)session_id;
	(void)__atomic_add_fetch(&times_full, 1, __ATOMIC_RELAXED);
}

/* The host, which is to end the session, may take its time. */
static void test_file__maximum_size(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;

	(void)state;
	fixture_open(&fixture);
	fixture.host.file_is_full = note_full;
	times_full = 0;
	config = fixture_config(&fixture);
	config.log_file_mode |= EVENT_TRACE_USE_KBYTES_FOR_SIZE;
	config.maximum_file_size = 64;
	overfill(&fixture, &config, -EFBIG, 64 * 1024, RLIM_INFINITY);
	assert_true(times_full > 1);
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

/* A circular file may find the disk full before it is as long as it may be. */
static void test_file__full_disk_circular(void **state)
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
	config.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR;
	config.maximum_file_size = 1;
	overfill(&fixture, &config, -ENOSPC, 128 * 1024, RLIM_INFINITY);
	assert_int_equal(umount(fixture.folder), 0);
	fixture_close(&fixture);
}

/* The same bytes go to the same place until they are there. */
static void test_file__error_that_passes(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	session = start_telling(&fixture, &writer);
	write_events(session, &writer, 100);
	break_disk(EIO, 3);
	write_events(session, &writer, 100);
	assert_int_equal(load_relaxed(&fault.failed), 3);
	break_disk(0, 0);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, 0);
	assert_int_equal(info.events_lost, writer.refused);
	assert_string_equal(told, "");
	etw_session_free(session);
	assert_int_equal(count_in_file(&fixture), writer.written);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_file__error_that_stays(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	session = start_telling(&fixture, &writer);
	write_events(session, &writer, 100);
	break_disk(EIO, UINT32_MAX);
	write_events(session, &writer, 100);
	break_disk(0, 0);
	write_events(session, &writer, 100);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -EIO);
	assert_non_null(strstr(info.complaint, "the file ended before the session"));
	assert_non_null(strstr(told, strerror(EIO)));
	etw_session_stop(session, &info);
	assert_true(info.loss.file >= 200);
	assert_true(info.log_buffers_lost > 0);
	etw_session_free(session);
	assert_int_equal(count_in_file(&fixture), info.events - info.loss.file);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* The file goes on when there is space again, and its numbers say what is missing. */
static void test_file__lack_of_space_that_passes(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_info info;
	struct etw_session *session;
	struct reading reading;
	uint64_t lost;

	(void)state;
	fixture_open(&fixture);
	session = start_telling(&fixture, &writer);
	write_events(session, &writer, 100);
	break_disk(ENOSPC, UINT32_MAX);
	write_events(session, &writer, 200);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -ENOSPC);
	assert_non_null(strstr(told, strerror(ENOSPC)));
	break_disk(0, 0);
	for (uint32_t waited = 0; info.file_status && waited < WAIT_MS; waited += 100) {
		write_events(session, &writer, 10);
		(void)usleep(100000);
		etw_session_info(session, &info);
	}
	assert_int_equal(info.file_status, 0);
	assert_non_null(strstr(told, "goes on"));
	lost = info.loss.file;
	assert_true(lost >= 200);
	write_events(session, &writer, 100);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, 0);
	assert_int_equal(info.loss.file, lost);
	assert_int_equal(info.events_lost, lost + writer.refused);
	etw_session_free(session);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.events, writer.written - lost);
	assert_true(reading.notes >= 1);
	assert_int_equal(reading.findings, 0);
	reading_done(&reading);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* A place that could not be written has neither the old buffer nor the new one; the rest is read as ever. */
static void test_file__circular_error_that_stays(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_config config;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	config.log_file_mode = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_USE_KBYTES_FOR_SIZE;
	config.maximum_file_size = 32;
	session = fixture_start(&fixture, &config);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 2000);
	/* What may pass is tried again; this does not. */
	break_disk(EROFS, 1);
	write_events(session, &writer, 300);
	break_disk(0, 0);
	write_events(session, &writer, 100);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, -EROFS);
	assert_true(info.loss.file >= 400);
	assert_true(info.overwritten > 0);
	etw_session_free(session);
	assert_int_equal(count_in_file(&fixture) + info.overwritten + info.loss.file,
			 writer.written);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* Where it was is nothing: all of it is lost, also what had been written. */
static void test_file__deleted(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_info info;
	struct etw_session *session;

	(void)state;
	fixture_open(&fixture);
	session = start_telling(&fixture, &writer);
	write_events(session, &writer, 300);
	assert_int_equal(unlink(fixture.path), 0);
	write_events(session, &writer, 10);
	etw_session_info(session, &info);
	assert_int_equal(info.file_status, -ENOENT);
	assert_non_null(strstr(info.complaint, "deleted"));
	assert_non_null(strstr(told, "deleted"));
	write_events(session, &writer, 100);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, -ENOENT);
	assert_int_equal(info.loss.file, info.events);
	assert_true(info.loss.file >= writer.written);
	assert_true(info.log_buffers_lost > 0);
	assert_int_equal(info.bytes, 0);
	etw_session_free(session);
	assert_int_equal(access(fixture.path, F_OK), -1);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* At the very end, with no flush that could see it before; another one in its place is not it. */
static void test_file__replaced_before_the_stop(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_info info;
	struct etw_session *session;
	FILE *other;

	(void)state;
	fixture_open(&fixture);
	session = start_telling(&fixture, &writer);
	write_events(session, &writer, 10);
	assert_int_equal(unlink(fixture.path), 0);
	other = fopen(fixture.path, "we");
	assert_non_null(other);
	assert_int_equal(fclose(other), 0);
	etw_session_stop(session, &info);
	assert_int_equal(info.file_status, -ENOENT);
	assert_int_equal(info.loss.file, info.events);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void test_file__errors_of_start(void **state)
{
	struct fixture fixture;
	struct wire_session_config config;
	struct etw_session *session;
	struct etw_fault problem;

	(void)state;
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	(void)snprintf(config.log_file, sizeof(config.log_file), "%s/no/such", fixture.folder);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &problem),
			 -ENOENT);
	(void)snprintf(config.log_file, sizeof(config.log_file), "%s", fixture.folder);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &problem),
			 -EISDIR);
	config = fixture_config(&fixture);
	memset(config.name, 'n', 2500);
	assert_int_equal(etw_session_start(&fixture.host, 7, getuid(), &config, &session, &problem),
			 -EMSGSIZE);
	fixture_close(&fixture);
}

/* Another user's session makes the file with that user's rights, and writes it within that user's limits. */
static void test_file__owner(void **state)
{
	struct fixture fixture;
	struct fixture_writer writer;
	struct wire_session_config config;
	struct etw_session *session;
	struct etw_fault problem;
	struct stat file;

	(void)state;
	if (getuid() != 0) {
		print_message("skipped: only root has sessions of other users\n");
		skip();
	}
	fixture_open(&fixture);
	config = fixture_config(&fixture);
	assert_int_equal(etw_session_start(&fixture.host, 7, 65534, &config, &session, &problem),
			 -EACCES);
	assert_int_equal(chmod(fixture.folder, 0777), 0);
	memset(&writes, 0, sizeof(writes));
	writes.uid = 65534;
	assert_int_equal(etw_session_start(&fixture.host, 7, 65534, &config, &session, &problem),
			 0);
	fixture_attach(&fixture, session, getuid(), 0, &writer);
	write_events(session, &writer, 200);
	etw_session_stop(session, NULL);
	etw_session_free(session);
	etw_ring_set_unmap(&writer.set);
	assert_true(writes.count >= 4);
	assert_int_equal(writes.wrong_user, 0);
	assert_int_equal(writes.with_resources, 0);
	writes.uid = 0;
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(stat(fixture.path, &file), 0);
	assert_int_equal(file.st_uid, 65534);
	fixture_close(&fixture);
}

static mode_t mode_made(struct fixture *fixture, uint32_t file_mode)
{
	struct wire_session_config config = fixture_config(fixture);
	struct etw_session *session;
	struct stat file;

	config.file_mode = file_mode;
	session = fixture_start(fixture, &config);
	etw_session_free(session);
	assert_int_equal(stat(fixture->path, &file), 0);
	assert_int_equal(unlink(fixture->path), 0);
	return file.st_mode & 07777;
}

/* The permissions are what the controller would give it; nobody gets a program with somebody's rights. */
static void test_file__permissions(void **state)
{
	struct fixture fixture;
	mode_t mask = umask(0);

	(void)state;
	fixture_open(&fixture);
	assert_int_equal(mode_made(&fixture, 0), 0600);
	assert_int_equal(mode_made(&fixture, 0640), 0640);
	assert_int_equal(mode_made(&fixture, 0666), 0666);
	assert_int_equal(mode_made(&fixture, 0xFFFFFFFF), 0666);
	umask(mask);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file__maximum_size),
		cmocka_unit_test(test_file__process_limit),
		cmocka_unit_test(test_file__full_disk),
		cmocka_unit_test(test_file__full_disk_circular),
		cmocka_unit_test(test_file__error_that_passes),
		cmocka_unit_test(test_file__error_that_stays),
		cmocka_unit_test(test_file__lack_of_space_that_passes),
		cmocka_unit_test(test_file__circular_error_that_stays),
		cmocka_unit_test(test_file__deleted),
		cmocka_unit_test(test_file__replaced_before_the_stop),
		cmocka_unit_test(test_file__errors_of_start),
		cmocka_unit_test(test_file__owner),
		cmocka_unit_test(test_file__permissions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
