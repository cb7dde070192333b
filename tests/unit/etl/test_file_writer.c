/* SPDX-License-Identifier: MIT */
/* Buffers on disk: places, limits, full disks, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "etl/file_writer.h"

#define BUFFER_BYTES 0x2000u

static char folder[] = "/tmp/etw-test-file-writer-XXXXXX";
static uint8_t buffer[BUFFER_BYTES];

/* What pwrite() does in turn: bytes it takes, or a negative errno; then it is the system's. */
static const int *script;
static unsigned script_left;

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset);

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset)
{
	int step = script_left ? *script++ : INT_MAX;

	script_left -= script_left ? 1 : 0;
	if (step < 0) {
		errno = -step;
		return -1;
	}
	if (bytes > (size_t)step)
		bytes = (size_t)step;
	return bytes ? syscall(SYS_pwrite64, fd, from, bytes, offset) : 0;
}

static int set_up(void **state)
{
	(void)state;
	(void)umask(022);
	return !mkdtemp(folder) || chdir(folder) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink("t.etl");
	(void)unlink("pipe");
	return chdir("/") || rmdir(folder) ? -1 : 0;
}

static struct etw_etl_file_writer open_writer(uint64_t limit_bytes)
{
	struct etw_etl_file_writer writer;

	assert_int_equal(
		etw_etl_file_writer_open("t.etl", 0644, BUFFER_BYTES, limit_bytes, &writer), 0);
	return writer;
}

static int put(struct etw_etl_file_writer *writer, uint64_t offset, uint8_t value)
{
	memset(buffer, value, sizeof(buffer));
	return etw_etl_file_writer_put(writer, offset, buffer);
}

static void claim_and_put(struct etw_etl_file_writer *writer, uint64_t wanted, uint8_t value)
{
	uint64_t offset = 0;

	assert_int_equal(etw_etl_file_writer_claim(writer, &offset), 0);
	assert_int_equal(offset, wanted);
	assert_int_equal(put(writer, offset, value), 0);
}

/* The file consists of buffers that hold these values all over. */
static void assert_file(const uint8_t *values, unsigned count)
{
	FILE *file = fopen("t.etl", "rb");

	assert_non_null(file);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(fread(buffer, 1, sizeof(buffer), file), sizeof(buffer));
		for (unsigned at = 0; at < sizeof(buffer); at++)
			assert_int_equal(buffer[at], values[i]);
	}
	assert_int_equal(fread(buffer, 1, 1, file), 0);
	(void)fclose(file);
}

static void test_file_writer__puts_buffers_in_a_row(void **state)
{
	struct etw_etl_file_writer writer = open_writer(0);
	struct stat info;

	(void)state;
	assert_int_equal(fstat(writer.fd, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_int_equal(fcntl(writer.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(put(&writer, 0, 1), 0);
	claim_and_put(&writer, BUFFER_BYTES, 2);
	claim_and_put(&writer, 2 * BUFFER_BYTES, 3);
	memset(buffer, 4, sizeof(buffer));
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, /* is_synced= */ true), 0);
	etw_etl_file_writer_close(&writer);
	etw_etl_file_writer_close(&writer);
	assert_int_equal(writer.fd, -1);
	assert_file((const uint8_t[]){4, 2, 3}, 3);
}

/* Behind the last whole buffer of the limit comes the second of the file; nothing is cut off. */
static void test_file_writer__circular(void **state)
{
	struct etw_etl_file_writer writer = open_writer(4 * BUFFER_BYTES + 7);

	(void)state;
	writer.is_circular = true;
	assert_int_equal(put(&writer, 0, 1), 0);
	for (uint8_t i = 1; i <= 8; i++) {
		assert_true(etw_etl_file_writer_has_room(&writer));
		claim_and_put(&writer, (uint64_t)i * BUFFER_BYTES, (uint8_t)(10 + i));
	}
	assert_int_equal(etw_etl_file_writer_place(&writer, 0), 0);
	assert_int_equal(etw_etl_file_writer_place(&writer, 3 * BUFFER_BYTES), 3 * BUFFER_BYTES);
	assert_int_equal(etw_etl_file_writer_place(&writer, 4 * BUFFER_BYTES), BUFFER_BYTES);
	assert_int_equal(etw_etl_file_writer_place(&writer, 8 * BUFFER_BYTES), 2 * BUFFER_BYTES);
	memset(buffer, 2, sizeof(buffer));
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, /* is_synced= */ false), 0);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){2, 17, 18, 16}, 4);
}

/* All the space is there at once, and what was not needed is given back. */
static void test_file_writer__preallocated(void **state)
{
	struct etw_etl_file_writer writer = open_writer(4 * BUFFER_BYTES + 7);
	struct stat info;

	(void)state;
	assert_int_equal(etw_etl_file_writer_preallocate(&writer), 0);
	assert_int_equal(fstat(writer.fd, &info), 0);
	assert_int_equal(info.st_size, 4 * BUFFER_BYTES);
	claim_and_put(&writer, BUFFER_BYTES, 5);
	memset(buffer, 4, sizeof(buffer));
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, /* is_synced= */ false), 0);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){4, 5}, 2);
}

static void test_file_writer__empties_what_was_there(void **state)
{
	struct etw_etl_file_writer writer = open_writer(0);

	(void)state;
	assert_int_equal(put(&writer, 0, 9), 0);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){9}, 1);
}

static void test_file_writer__same_place_again(void **state)
{
	struct etw_etl_file_writer writer = open_writer(0);

	(void)state;
	assert_int_equal(put(&writer, 0, 1), 0);
	claim_and_put(&writer, BUFFER_BYTES, 2);
	assert_int_equal(put(&writer, BUFFER_BYTES, 5), 0);
	claim_and_put(&writer, 2 * BUFFER_BYTES, 3);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){1, 5, 3}, 3);
}

/* A host died: it had recorded one place, and a later one may be in the file already, in part. */
static void test_file_writer__adopts(void **state)
{
	struct etw_etl_file_writer dead = open_writer(0), writer;

	(void)state;
	assert_int_equal(put(&dead, 0, 1), 0);
	claim_and_put(&dead, BUFFER_BYTES, 2);
	claim_and_put(&dead, 2 * BUFFER_BYTES, 7);
	assert_int_equal(ftruncate(dead.fd, 2 * BUFFER_BYTES + 100), 0);
	etw_etl_file_writer_adopt(dead.fd, BUFFER_BYTES, 3 * BUFFER_BYTES, 2 * BUFFER_BYTES,
				  &writer);
	memset(buffer, 8, sizeof(buffer));
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, false), 0);
	assert_file((const uint8_t[]){8, 2}, 2);
	claim_and_put(&writer, 2 * BUFFER_BYTES, 3);
	assert_int_equal(etw_etl_file_writer_claim(&writer, &(uint64_t){0}), -EFBIG);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){8, 2, 3}, 3);
}

static void test_file_writer__limit_counts_whole_buffers(void **state)
{
	struct etw_etl_file_writer writer = open_writer(3 * BUFFER_BYTES + BUFFER_BYTES - 1);
	uint64_t offset = 77;

	(void)state;
	claim_and_put(&writer, BUFFER_BYTES, 1);
	claim_and_put(&writer, 2 * BUFFER_BYTES, 2);
	assert_int_equal(etw_etl_file_writer_claim(&writer, &offset), -EFBIG);
	assert_int_equal(offset, 77);
	assert_int_equal(etw_etl_file_writer_claim(&writer, &offset), -EFBIG);
	etw_etl_file_writer_close(&writer);
	/* As far as numbers go. */
	etw_etl_file_writer_adopt(-1, BUFFER_BYTES, 0, UINT64_MAX - BUFFER_BYTES + 1, &writer);
	assert_int_equal(etw_etl_file_writer_claim(&writer, &offset), -EFBIG);
	etw_etl_file_writer_close(&writer);
}

static void test_file_writer__limit_of_properties(void **state)
{
	(void)state;
	assert_int_equal(etw_etl_file_limit(0, 1), 0);
	assert_int_equal(etw_etl_file_limit(3, 1), 3 * 1024 * 1024);
	assert_int_equal(etw_etl_file_limit(3, 0x2001), 3 * 1024);
	assert_true(etw_etl_file_limit(UINT32_MAX, 1) == UINT64_C(0xFFFFFFFF00000));
}

static void test_file_writer__open_refuses(void **state)
{
	struct etw_etl_file_writer writer = {.fd = -5};
	int reader;

	(void)state;
	assert_int_equal(etw_etl_file_writer_open("t.etl", 0644, 0, 0, &writer), -EINVAL);
	assert_int_equal(etw_etl_file_writer_open("t.etl", 0644, 64, 127, &writer), -EFBIG);
	assert_int_equal(etw_etl_file_writer_open("none/t.etl", 0644, 64, 0, &writer), -ENOENT);
	assert_int_equal(etw_etl_file_writer_open(".", 0644, 64, 0, &writer), -EISDIR);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	reader = open("pipe", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(etw_etl_file_writer_open("pipe", 0644, 64, 0, &writer), -EINVAL);
	assert_int_equal(etw_etl_file_writer_open("/dev/null", 0644, 64, 0, &writer), -EINVAL);
	(void)close(reader);
	assert_int_equal(writer.fd, -5);
}

/* Whoever names the file must not get at what this process has open: not its memory, and no file in a closed folder. */
static void test_file_writer__no_way_to_own_descriptors(void **state)
{
	struct etw_etl_file_writer writer = {.fd = -5};
	int memory = memfd_create("memory", MFD_CLOEXEC);
	int file = open("t.etl", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	const int fds[] = {memory, file};
	char path[64];

	(void)state;
	assert_true(memory >= 0 && file >= 0);
	for (unsigned i = 0; i < ARRAY_SIZE(fds); i++) {
		assert_int_equal(ftruncate(fds[i], 4096), 0);
		for (unsigned j = 0; j < 2; j++) {
			(void)snprintf(path, sizeof(path), j ? "/dev/fd/%d" : "/proc/self/fd/%d",
				       fds[i]);
			assert_true(etw_etl_file_writer_open(path, 0644, 64, 0, &writer) < 0);
			assert_int_equal(lseek(fds[i], 0, SEEK_END), 4096); /* not emptied */
		}
		(void)close(fds[i]);
	}
	assert_int_equal(writer.fd, -5);
}

static void test_file_writer__a_file_has_one_writer(void **state)
{
	struct etw_etl_file_writer first = open_writer(0), second = {.fd = -1};
	int kept = dup(first.fd);

	(void)state;
	assert_int_equal(put(&first, 0, 1), 0);
	assert_int_equal(etw_etl_file_writer_open("t.etl", 0644, BUFFER_BYTES, 0, &second),
			 -ETXTBSY);
	assert_int_equal(lseek(first.fd, 0, SEEK_END), BUFFER_BYTES); /* not emptied */
	etw_etl_file_writer_close(&first);
	assert_int_equal(etw_etl_file_writer_open("t.etl", 0644, BUFFER_BYTES, 0, &second), 0);
	etw_etl_file_writer_close(&second);
	(void)close(kept);
}

static void test_file_writer__unclaimed_place_is_not_in_the_file(void **state)
{
	struct etw_etl_file_writer writer = open_writer(0);
	uint64_t offset;

	(void)state;
	assert_int_equal(put(&writer, 0, 1), 0);
	claim_and_put(&writer, BUFFER_BYTES, 2);
	assert_int_equal(etw_etl_file_writer_claim(&writer, &offset), 0);
	assert_int_equal(pwrite(writer.fd, buffer, 10, (off_t)offset), 10);
	etw_etl_file_writer_unclaim(&writer);
	memset(buffer, 1, sizeof(buffer));
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, false), 0);
	assert_file((const uint8_t[]){1, 2}, 2);
	/* The header buffer's place is nobody's to give back. */
	etw_etl_file_writer_unclaim(&writer);
	etw_etl_file_writer_unclaim(&writer);
	assert_int_equal(writer.next_offset, BUFFER_BYTES);
	etw_etl_file_writer_close(&writer);
}

/* SIGXFSZ has its default action here: writing beyond the limit would end this program. */
static void test_file_writer__rlimit(void **state)
{
	struct rlimit whole, small = {2 * BUFFER_BYTES, 0};
	struct etw_etl_file_writer writer = open_writer(0);
	uint64_t offset;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
	small.rlim_max = whole.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(&writer, 0, 1), 0);
	claim_and_put(&writer, BUFFER_BYTES, 2);
	assert_int_equal(etw_etl_file_writer_claim(&writer, &offset), 0);
	assert_int_equal(put(&writer, offset, 3), -EFBIG);
	small.rlim_cur = 3 * BUFFER_BYTES - 1;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(&writer, offset, 3), -EFBIG);
	assert_file((const uint8_t[]){1, 2}, 2);
	small.rlim_cur += 1;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(&writer, offset, 3), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){1, 2, 3}, 3);
}

static void test_file_writer__interrupted_and_short_writes(void **state)
{
	static const int steps[] = {-EINTR, 1, -EINTR, -EINTR, 100, BUFFER_BYTES / 2, -EINTR};
	static const int failing[] = {BUFFER_BYTES / 2, -EIO}, nothing[] = {100, 0};
	struct etw_etl_file_writer writer = open_writer(0);

	(void)state;
	for (unsigned i = 0; i < sizeof(buffer); i++)
		buffer[i] = (uint8_t)(i * 7 + i / 256);
	script = steps;
	script_left = ARRAY_SIZE(steps);
	assert_int_equal(etw_etl_file_writer_put(&writer, 0, buffer), 0);
	assert_int_equal(script_left, 0);
	etw_etl_file_writer_close(&writer);
	writer = (struct etw_etl_file_writer){.fd = open("t.etl", O_RDWR | O_CLOEXEC),
					      .buffer_bytes = BUFFER_BYTES};
	memset(buffer, 0, sizeof(buffer));
	assert_int_equal(read(writer.fd, buffer, sizeof(buffer)), sizeof(buffer));
	for (unsigned i = 0; i < sizeof(buffer); i++)
		assert_int_equal(buffer[i], (uint8_t)(i * 7 + i / 256));
	script = failing;
	script_left = ARRAY_SIZE(failing);
	assert_int_equal(put(&writer, 0, 3), -EIO);
	/* A write of nothing is no progress. */
	script = nothing;
	script_left = ARRAY_SIZE(nothing);
	assert_int_equal(put(&writer, 0, 3), -EIO);
	/* The same call again mends what the failed one left. */
	assert_int_equal(put(&writer, 0, 4), 0);
	etw_etl_file_writer_close(&writer);
	assert_file((const uint8_t[]){4}, 1);
}

static void test_file_writer__errors_of_the_system(void **state)
{
	struct etw_etl_file_writer writer = open_writer(0), full;
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	etw_etl_file_writer_adopt(fd, BUFFER_BYTES, 0, BUFFER_BYTES, &full);
	assert_int_equal(put(&full, 0, 1), -ENOSPC);
	/* The first error is told: fsync() of a device would say -EINVAL. */
	assert_int_equal(etw_etl_file_writer_finish(&full, buffer, /* is_synced= */ true), -ENOSPC);
	etw_etl_file_writer_close(&full);
	etw_etl_file_writer_close(&writer);
	assert_int_equal(put(&writer, 0, 1), -EBADF);
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, false), -EBADF);
	fd = open("t.etl", O_RDONLY | O_CLOEXEC);
	etw_etl_file_writer_adopt(fd, BUFFER_BYTES, 0, BUFFER_BYTES, &writer);
	assert_int_equal(put(&writer, 0, 1), -EBADF);
	etw_etl_file_writer_close(&writer);
}

static void test_file_writer__fsync_fails(void **state)
{
	struct etw_etl_file_writer writer;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	etw_etl_file_writer_adopt(fd, BUFFER_BYTES, 0, BUFFER_BYTES, &writer);
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, false), 0);
	assert_int_equal(etw_etl_file_writer_finish(&writer, buffer, /* is_synced= */ true),
			 -EINVAL);
	etw_etl_file_writer_close(&writer);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (fd >= 0)
		(void)close(fd);
	return is_written;
}

/* In mounts of its own, as root of its own user namespace if need be. */
static bool mount_small_disk(void)
{
	char user[32], group[32];
	unsigned uid = geteuid(), gid = getegid();

	(void)snprintf(user, sizeof(user), "0 %u 1", uid);
	(void)snprintf(group, sizeof(group), "0 %u 1", gid);
	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS))
		return false;
	if (uid &&
	    (!write_text("/proc/self/setgroups", "deny") ||
	     !write_text("/proc/self/uid_map", user) || !write_text("/proc/self/gid_map", group)))
		return false;
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("etw-test", "disk", "tmpfs", 0, "size=20k");
}

#define NO_DISK 77

/* Returns the number of the step that went wrong, or 0. */
static int fill_disk(void)
{
	struct etw_etl_file_writer writer;
	uint64_t offset;

	if (!mount_small_disk())
		return NO_DISK;
	if (etw_etl_file_writer_open("disk/t.etl", 0644, BUFFER_BYTES, 0, &writer))
		return 1;
	if (put(&writer, 0, 1) || etw_etl_file_writer_claim(&writer, &offset) ||
	    put(&writer, offset, 2))
		return 2;
	if (etw_etl_file_writer_claim(&writer, &offset) || put(&writer, offset, 3) != -ENOSPC)
		return 3;
	if (lseek(writer.fd, 0, SEEK_END) == 2 * BUFFER_BYTES)
		return 4; /* nothing of the buffer fitted: this disk shows too little */
	etw_etl_file_writer_unclaim(&writer);
	memset(buffer, 4, sizeof(buffer));
	if (etw_etl_file_writer_finish(&writer, buffer, /* is_synced= */ true))
		return 5;
	if (lseek(writer.fd, 0, SEEK_END) != 2 * BUFFER_BYTES)
		return 6;
	etw_etl_file_writer_close(&writer);
	return 0;
}

/* A disk that becomes full in the middle of a buffer: the file ends whole all the same. */
static void test_file_writer__full_disk(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(mkdir("disk", 0700), 0);
	child = fork();
	if (!child)
		_exit(fill_disk());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(rmdir("disk"), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DISK) {
		print_message("skip: no small disk can be mounted here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_writer__puts_buffers_in_a_row),
		cmocka_unit_test(test_file_writer__circular),
		cmocka_unit_test(test_file_writer__preallocated),
		cmocka_unit_test(test_file_writer__empties_what_was_there),
		cmocka_unit_test(test_file_writer__same_place_again),
		cmocka_unit_test(test_file_writer__adopts),
		cmocka_unit_test(test_file_writer__limit_counts_whole_buffers),
		cmocka_unit_test(test_file_writer__limit_of_properties),
		cmocka_unit_test(test_file_writer__open_refuses),
		cmocka_unit_test(test_file_writer__no_way_to_own_descriptors),
		cmocka_unit_test(test_file_writer__a_file_has_one_writer),
		cmocka_unit_test(test_file_writer__unclaimed_place_is_not_in_the_file),
		cmocka_unit_test(test_file_writer__rlimit),
		cmocka_unit_test(test_file_writer__interrupted_and_short_writes),
		cmocka_unit_test(test_file_writer__errors_of_the_system),
		cmocka_unit_test(test_file_writer__fsync_fails),
		cmocka_unit_test(test_file_writer__full_disk),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
