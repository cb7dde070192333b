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
#include <unistd.h>

#include <cmocka.h>

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
	free(name);
}

/* The window may turn over in the middle of it. */
static void test_log__lines_are_limited(void **state)
{
	unsigned count;

	(void)state;
	for (unsigned i = 0; i < 10 * ETWD_LOG_LINES_MAX; i++)
		etwd_log("again");
	count = count_lines("again");
	assert_in_range(count, ETWD_LOG_LINES_MAX - 2, 2 * ETWD_LOG_LINES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log__opens_a_file_or_says_why_not),
		cmocka_unit_test(test_log__a_name_starts_no_line),
		cmocka_unit_test(test_log__a_line_has_its_length),
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
