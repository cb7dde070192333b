/* SPDX-License-Identifier: MIT */
/* Files that are read and written as a whole: what is no file is refused, and nothing blocks; folders. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

static char folder[32];

static int begin(void **state)
{
	(void)state;
	(void)strcpy(folder, "/tmp/etw-file-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char command[64];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void test_file__pipes_are_read_and_written_as_a_whole(void **state)
{
	char text[8] = {0};
	size_t bytes = 0;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(etw_file_write_all(ends[1], "abc", 3), 0);
	assert_int_equal(etw_file_write_all(ends[1], "defg", 4), 0);
	assert_int_equal(etw_file_read_all(ends[0], text, 5, &bytes), 0);
	assert_int_equal(bytes, 5);
	etw_file_closep(&ends[1]);
	assert_int_equal(etw_file_read_all(ends[0], text, sizeof(text), &bytes), 0);
	assert_int_equal(bytes, 2);
	assert_memory_equal(text, "fg", 2);
	assert_int_equal(etw_file_write_all(ends[0], "x", 1), -EBADF);
	etw_file_closep(&ends[0]);
	assert_int_equal(etw_file_read_all(ends[0], text, 1, &bytes), -EBADF);
	ends[0] = -1;
	etw_file_closep(&ends[0]);
}

/* How often a file was opened since its watch began; a look at its place is none. */
static size_t opens_of(int watch)
{
	char room[sizeof(struct inotify_event) + NAME_MAX + 1];
	size_t count = 0;

	while (read(watch, room, sizeof(room)) > 0)
		count++;
	return count;
}

static int open_place(const char *path, int *ret_place)
{
	*ret_place = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	assert_true(*ret_place >= 0);
	return etw_file_open_place(*ret_place);
}

static void test_file__places_are_opened_where_they_are_regular_files(void **state)
{
	char pipe_path[64], file_path[64], link_path[64];
	int place = -1, fd, watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	(void)state;
	assert_true(watch >= 0);
	(void)snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
	(void)snprintf(file_path, sizeof(file_path), "%s/file", folder);
	(void)snprintf(link_path, sizeof(link_path), "%s/link", folder);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_int_equal(symlink("file", link_path), 0);
	assert_true(inotify_add_watch(watch, pipe_path, IN_OPEN) >= 0);
	assert_int_equal(open_place(pipe_path, &place), -EINVAL);
	etw_file_closep(&place);
	assert_int_equal(opens_of(watch), 0);
	assert_int_equal(open_place(folder, &place), -EISDIR);
	etw_file_closep(&place);
	assert_int_equal(open_place(link_path, &place), -ELOOP);
	etw_file_closep(&place);
	fd = open(file_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(etw_file_write_all(fd, "abc", 3), 0);
	etw_file_closep(&fd);
	fd = open_place(file_path, &place);
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 3);
	etw_file_closep(&fd);
	etw_file_closep(&place);
	etw_file_closep(&watch);
}

static mode_t mode_of(const char *path)
{
	struct stat info;

	assert_int_equal(stat(path, &info), 0);
	return info.st_mode & 07777;
}

static void test_file__folders_have_the_mode_that_was_asked_for(void **state)
{
	char one[64], three[64], file[64];
	mode_t mask = umask(0777);
	int r;

	(void)state;
	(void)snprintf(one, sizeof(one), "%s/one", folder);
	(void)snprintf(three, sizeof(three), "%s/one/two/three/", folder);
	r = etw_file_make_folders(three, 0755);
	(void)umask(mask);
	assert_int_equal(r, 0);
	assert_int_equal(mode_of(one), 0755);
	assert_int_equal(mode_of(three), 0755);
	assert_int_equal(etw_file_make_folders(three, 0700), 0);
	assert_int_equal(mode_of(three), 0755);
	(void)snprintf(file, sizeof(file), "%s/file", folder);
	assert_int_equal(fclose(fopen(file, "we")), 0);
	(void)snprintf(file, sizeof(file), "%s/file/below", folder);
	assert_int_equal(etw_file_make_folders(file, 0700), -ENOTDIR);
}

static void test_file__reads_what_is_there(void **state)
{
	char path[] = "/tmp/etw-file-XXXXXX";
	int fd = mkstemp(path);
	size_t bytes = 0;
	char *at = NULL;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "some\0text", 9), 9);
	assert_int_equal(close(fd), 0);
	assert_int_equal(etw_file_read(path, 9, &at, &bytes), 0);
	assert_int_equal(bytes, 9);
	assert_memory_equal(at, "some\0text", 10);
	free(at);
	assert_int_equal(etw_file_read(path, 8, &at, &bytes), -EFBIG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(etw_file_read(path, 9, &at, &bytes), -ENOENT);
}

static void test_file__refuses_what_is_no_file(void **state)
{
	char own[] = "/tmp/etw-file-XXXXXX", path[sizeof(own) + 8];
	size_t bytes;
	char *at;

	(void)state;
	assert_non_null(mkdtemp(own));
	(void)snprintf(path, sizeof(path), "%s/fifo", own);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Nobody writes into it: to wait for somebody would be for ever. */
	assert_int_equal(etw_file_read(path, 100, &at, &bytes), -EINVAL);
	assert_int_equal(etw_file_read(own, 100, &at, &bytes), -EISDIR);
	assert_int_equal(etw_file_read("/dev/zero", 100, &at, &bytes), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(own), 0);
}

static void test_file__mode_is_what_a_new_file_gets(void **state)
{
	mode_t before = umask(027);

	(void)state;
	assert_int_equal(etw_file_mode(), 0640);
	assert_int_equal(umask(0), 027); /* it was not touched */
	assert_int_equal(etw_file_mode(), 0666);
	umask(before);
}

static void expect_text(const char *path, const char *wanted)
{
	size_t bytes;
	char *text;

	assert_int_equal(etw_file_read(path, 64, &text, &bytes), 0);
	assert_string_equal(text, wanted);
	free(text);
}

/* The folder is made; what cannot be written leaves the old file, and nothing beside it. */
static void test_file__a_file_is_replaced_as_a_whole(void **state)
{
	char where[64], path[96], fresh[96];

	(void)state;
	(void)snprintf(where, sizeof(where), "%s/a/b", folder);
	(void)snprintf(path, sizeof(path), "%s/name", where);
	(void)snprintf(fresh, sizeof(fresh), "%s/.name.new", where);
	assert_int_equal(etw_file_replace(where, 0700, "name", 0640, "first", 5), 0);
	expect_text(path, "first");
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(mode_of(where), 0700);
	assert_int_equal(etw_file_replace(where, 0700, "name", 0600, "second", 6), 0);
	expect_text(path, "second");
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(access(fresh, F_OK), -1);
	assert_int_equal(mkdir(fresh, 0700), 0);
	assert_int_equal(etw_file_replace(where, 0700, "name", 0600, "third", 5), -EISDIR);
	expect_text(path, "second");
	assert_int_equal(etw_file_replace(path, 0700, "name", 0600, "third", 5), -ENOTDIR);
}

static void test_file__private_is_what_nobody_else_writes(void **state)
{
	char path[64];
	FILE *file;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/own", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fchmod(fileno(file), 0644), 0);
	assert_true(etw_file_is_private(fileno(file)));
	assert_int_equal(fchmod(fileno(file), 0664), 0);
	assert_false(etw_file_is_private(fileno(file)));
	assert_int_equal(fchmod(fileno(file), 0602), 0);
	assert_false(etw_file_is_private(fileno(file)));
	assert_int_equal(fchmod(fileno(file), 0600), 0);
	if (geteuid() == 0) {
		assert_int_equal(fchown(fileno(file), 12345, 0), 0);
		assert_false(etw_file_is_private(fileno(file)));
	}
	assert_false(etw_file_is_private(-1));
	(void)fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file__reads_what_is_there),
		cmocka_unit_test(test_file__refuses_what_is_no_file),
		cmocka_unit_test(test_file__mode_is_what_a_new_file_gets),
		cmocka_unit_test_setup_teardown(test_file__pipes_are_read_and_written_as_a_whole,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_file__places_are_opened_where_they_are_regular_files, begin, end),
		cmocka_unit_test_setup_teardown(test_file__folders_have_the_mode_that_was_asked_for,
						begin, end),
		cmocka_unit_test_setup_teardown(test_file__a_file_is_replaced_as_a_whole, begin,
						end),
		cmocka_unit_test_setup_teardown(test_file__private_is_what_nobody_else_writes,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
