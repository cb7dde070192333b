/* SPDX-License-Identifier: MIT */
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* At most, of the tests before the last one: they may fall into one window with its. */
#define OTHER_LINES 20

static char path[] = "/tmp/etwd-log-XXXXXX";

static unsigned count_lines(const char *with)
{
	FILE *file = fopen(path, "re");
	char line[2048];
	unsigned count = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, with) != NULL;
	(void)fclose(file);
	return count;
}

static void test_log__opens_a_file_or_says_why_not(void **state)
{
	(void)state;
	assert_int_equal(etwd_log_open("/nonexistent/log"), -ENOENT);
	assert_int_equal(etwd_log_open(path), 0);
}

static void test_log__a_name_starts_no_line(void **state)
{
	(void)state;
	/* CSI and NEL as one character each; a letter stays; CSI alone is no UTF-8. */
	etwd_log("session \"%s\"", "x\nroot: \033[2J\xC2\x9B"
				   "2J\xC2\x85\xC3\xA4\x9B");
	assert_int_equal(count_lines("session \"x?root: ?[2J??2J??\xC3\xA4?\""), 1);
}

static void test_log__a_line_has_its_length(void **state)
{
	char *name = malloc(5001);

	(void)state;
	assert_non_null(name);
	memset(name, 'n', 5000);
	name[5000] = '\0';
	etwd_log("long %s", name);
	assert_int_equal(count_lines("long nnn"), 1);
	assert_int_equal(count_lines("nnn...\n"), 1);
	free(name);
}

/* A process that shares the file, as the keeper and the host do: it writes when it is told to. */
static pid_t fork_writer(int *ret_tell)
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	*ret_tell = ends[1];
	if (pid) {
		(void)close(ends[0]);
		return pid;
	}
	(void)close(ends[1]);
	if (read(ends[0], &byte, 1) == 1)
		etwd_log("the other one writes");
	_exit(0);
}

static void test_log__a_file_has_its_size(void **state)
{
	char old_path[sizeof(path) + 2];
	struct stat old;
	int tell;
	pid_t pid = fork_writer(&tell);

	(void)state;
	(void)snprintf(old_path, sizeof(old_path), "%s.1", path);
	assert_int_equal(truncate(path, ETWD_LOG_BYTES_MAX - 1), 0);
	etwd_log("the last line");
	assert_int_equal(access(old_path, F_OK), -1);
	etwd_log("a first line");
	etwd_log("a second line");
	assert_int_equal(write(tell, "", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)close(tell);
	assert_int_equal(count_lines("etwd["), 3);
	assert_int_equal(count_lines("the other one writes"), 1);
	assert_int_equal(stat(old_path, &old), 0);
	assert_in_range(old.st_size, ETWD_LOG_BYTES_MAX, ETWD_LOG_BYTES_MAX + 1024);
	/* Only one is kept. */
	assert_int_equal(truncate(path, ETWD_LOG_BYTES_MAX + 5000), 0);
	etwd_log("a third file");
	assert_int_equal(count_lines("etwd["), 1);
	assert_int_equal(stat(old_path, &old), 0);
	assert_int_equal(old.st_size, ETWD_LOG_BYTES_MAX + 5000);
	(void)unlink(old_path);
}

/* There its name is taken by a folder that is not empty. */
static void test_log__a_file_that_cannot_be_renamed_grows(void **state)
{
	char old_path[sizeof(path) + 2], inside[sizeof(path) + 8];
	struct stat now;

	(void)state;
	(void)snprintf(old_path, sizeof(old_path), "%s.1", path);
	(void)snprintf(inside, sizeof(inside), "%s.1/x", path);
	assert_int_equal(mkdir(old_path, 0700), 0);
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_int_equal(truncate(path, ETWD_LOG_BYTES_MAX), 0);
	etwd_log("one more line");
	assert_int_equal(stat(path, &now), 0);
	assert_true(now.st_size > ETWD_LOG_BYTES_MAX);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(rmdir(inside), 0);
	assert_int_equal(rmdir(old_path), 0);
}

/* The window may turn over in the middle of it. */
static void test_log__lines_are_limited(void **state)
{
	unsigned count;

	(void)state;
	for (unsigned i = 0; i < 10 * ETWD_LOG_LINES_MAX; i++)
		etwd_log("again");
	count = count_lines("again");
	assert_in_range(count, ETWD_LOG_LINES_MAX - OTHER_LINES, 2 * ETWD_LOG_LINES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log__opens_a_file_or_says_why_not),
		cmocka_unit_test(test_log__a_name_starts_no_line),
		cmocka_unit_test(test_log__a_line_has_its_length),
		cmocka_unit_test(test_log__a_file_has_its_size),
		cmocka_unit_test(test_log__a_file_that_cannot_be_renamed_grows),
		cmocka_unit_test(test_log__lines_are_limited),
	};
	int fd = mkstemp(path);
	int failed;

	if (fd < 0)
		return 1;
	(void)close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(path);
	return failed;
}
