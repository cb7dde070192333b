/* SPDX-License-Identifier: MIT */
/* Where files are looked for, and what is opened of what is found. */
#include "symbol/files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fixture.h"

/* A device may do something when it is opened; a FIFO stands for it here. */
static void test_files__opens_nothing_but_regular_files(UNUSED_STATE)
{
	char path[PATH_BYTES], room[sizeof(struct inotify_event) + NAME_MAX + 1];
	int fd = -1, watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(watch >= 0);
	assert_true(run("mkfifo pipe && ln -s pipe link && touch file"));
	(void)snprintf(path, sizeof(path), "%s/pipe", fixture_folder);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(etw_symbol_files_open(NULL, path, true, &fd), -EINVAL);
	assert_int_equal(etw_symbol_files_open(fixture_folder, "/pipe", true, &fd), -EINVAL);
	assert_int_equal(etw_symbol_files_open(fixture_folder, "/link", true, &fd), -EINVAL);
	assert_true(read(watch, room, sizeof(room)) < 0);
	assert_int_equal(etw_symbol_files_open(fixture_folder, "/link", false, &fd), -ELOOP);
	assert_int_equal(etw_symbol_files_open(fixture_folder, "/", false, &fd), -EISDIR);
	assert_int_equal(etw_symbol_files_open(fixture_folder, "/file", false, &fd), 0);
	etw_file_closep(&fd);
	etw_file_closep(&watch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_files__opens_nothing_but_regular_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
