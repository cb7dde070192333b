/* SPDX-License-Identifier: MIT */
#include "ipc/failure.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static char path[128];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/etw-failure-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/" ETW_FAILURE_FILE, folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink(path);
	return rmdir(folder);
}

static void put(const char *line)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(line, 1, strlen(line), file), strlen(line));
	assert_int_equal(fclose(file), 0);
}

static void test_failure__is_read_as_it_was_written(void **state)
{
	mode_t mask = umask(077);
	struct etw_failure failure;
	struct stat info;

	(void)state;
	assert_int_equal(etw_failure_read(folder, &failure), -ENOENT);
	assert_int_equal(etw_failure_write(folder, EMFILE, "the host\nhas no files left"), 0);
	assert_int_equal(etw_failure_read(folder, &failure), 0);
	assert_int_equal(failure.error, EMFILE);
	assert_string_equal(failure.text, "the host?has no files left");
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_int_equal(etw_failure_write(folder, ENOMEM, "another"), 0);
	assert_int_equal(etw_failure_read(folder, &failure), 0);
	assert_int_equal(failure.error, ENOMEM);
	etw_failure_clear(folder);
	assert_int_equal(etw_failure_read(folder, &failure), -ENOENT);
	etw_failure_clear(folder);
	umask(mask);
}

static void test_failure__long_sentences_are_cut(void **state)
{
	char text[2 * ETW_FAILURE_TEXT_MAX];
	struct etw_failure failure;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(etw_failure_write(folder, 4095, text), 0);
	assert_int_equal(etw_failure_read(folder, &failure), 0);
	assert_int_equal(strlen(failure.text), ETW_FAILURE_TEXT_MAX);
}

static void test_failure__arguments(void **state)
{
	struct etw_failure failure;

	(void)state;
	assert_int_equal(etw_failure_write(folder, 0, "no error"), -EINVAL);
	assert_int_equal(etw_failure_write(folder, -ENOMEM, "negative"), -EINVAL);
	assert_int_equal(etw_failure_write("/nonexistent", ENOMEM, "nowhere"), -ENOENT);
	assert_int_equal(etw_failure_read("/nonexistent", &failure), -ENOENT);
	etw_failure_clear("/nonexistent");
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(etw_failure_write(folder, ENOMEM, "anybody could replace it"), -EPERM);
}

static void test_failure__what_others_put_there_is_not_believed(void **state)
{
	static const char *const broken[] = {"",         "\n",        "12",        "12\n",
					     "0 none\n", "-5 text\n", " 5 text\n", "5000 text\n",
					     "text\n",   "12 no end"};
	struct etw_failure failure;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		put(broken[i]);
		assert_int_equal(etw_failure_read(folder, &failure), -EPROTO);
	}
	put("12 good\n");
	assert_int_equal(etw_failure_read(folder, &failure), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(etw_failure_read(folder, &failure), -EPERM);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_int_equal(etw_failure_read(folder, &failure), -EPERM);
	assert_int_equal(etw_failure_write(folder, ENOMEM, "in the link's place"), 0);
	assert_int_equal(etw_failure_read(folder, &failure), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_int_equal(etw_failure_read(folder, &failure), -EPERM);
	if (geteuid() == 0) {
		assert_int_equal(unlink(path), 0);
		put("12 another user's\n");
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(etw_failure_read(folder, &failure), -EPERM);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_failure__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(is_read_as_it_was_written),
		TEST(long_sentences_are_cut),
		TEST(arguments),
		TEST(what_others_put_there_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
