/* SPDX-License-Identifier: MIT */
/* Which files are searched again. What a file teaches goes to a state of this test's own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/tdh/trace_files.h"
#include "synthetic/presets.h"

static char path[] = "/tmp/etw-trace-files-XXXXXX";
static unsigned lessons;
static int answer;

int etw_tdh_learn(const EVENT_RECORD *record)
{
	assert_true(etw_schema_store_is_metadata(record));
	lessons++;
	return answer;
}

/* A file anew for each test: it grows, so that it is not the one that was known. */
static int begin(void **state)
{
	static bool is_made;
	FILE *file;

	(void)state;
	if (!is_made) {
		int fd = mkstemp(path);

		file = fd < 0 ? NULL : fdopen(fd, "w+e");
		if (!file)
			return -1;
		preset_write(preset_find("user"), file);
		is_made = true;
	} else {
		file = fopen(path, "ae");
		if (!file || fputc(0, file) < 0)
			return -1;
	}
	lessons = 0;
	answer = 0;
	if (fclose(file))
		return -1;
	etw_tdh_files_note(path);
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void test_trace_files__are_searched_once(void **state)
{
	unsigned searches = etw_tdh_files_searches();

	(void)state;
	assert_int_equal(etw_tdh_files_learn(&searches), 1);
	assert_int_equal(lessons, 1);
	assert_int_equal(etw_tdh_files_learn(&searches), 0);
	etw_tdh_files_note(path);
	assert_int_equal(etw_tdh_files_learn(&searches), 0);
	assert_int_equal(lessons, 1);
}

static void test_trace_files__that_were_seen_are_not_searched(void **state)
{
	unsigned searches = etw_tdh_files_searches();

	(void)state;
	etw_tdh_files_seen(path);
	assert_int_equal(etw_tdh_files_learn(&searches), 0);
	assert_int_equal(lessons, 0);
}

static void test_trace_files__are_searched_again_when_memory_ran_out(void **state)
{
	unsigned searches = etw_tdh_files_searches();

	(void)state;
	answer = -ENOMEM;
	assert_int_equal(etw_tdh_files_learn(&searches), -ENOMEM);
	assert_int_equal(etw_tdh_files_learn(&searches), -ENOMEM);
	assert_int_equal(lessons, 2);
	answer = 0;
	assert_int_equal(etw_tdh_files_learn(&searches), 1);
	assert_int_equal(lessons, 3);
	assert_int_equal(etw_tdh_files_learn(&searches), 0);
}

static void test_trace_files__are_searched_again_when_no_descriptor_was_left(void **state)
{
	unsigned searches = etw_tdh_files_searches();
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(etw_tdh_files_learn(&searches), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(etw_tdh_files_learn(&searches), 1);
	assert_int_equal(lessons, 1);
}

static void test_trace_files__that_are_gone_are_passed_over(void **state)
{
	unsigned searches = etw_tdh_files_searches();
	char elsewhere[sizeof(path) + 8];

	(void)state;
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s.away", path);
	assert_int_equal(rename(path, elsewhere), 0);
	assert_int_equal(etw_tdh_files_learn(&searches), 1);
	assert_int_equal(etw_tdh_files_learn(&searches), 0);
	assert_int_equal(lessons, 0);
	assert_int_equal(rename(elsewhere, path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_trace_files__are_searched_once, begin),
		cmocka_unit_test_setup(test_trace_files__that_were_seen_are_not_searched, begin),
		cmocka_unit_test_setup(test_trace_files__are_searched_again_when_memory_ran_out,
				       begin),
		cmocka_unit_test_setup(
			test_trace_files__are_searched_again_when_no_descriptor_was_left, begin),
		cmocka_unit_test_setup(test_trace_files__that_are_gone_are_passed_over, begin),
	};

	return cmocka_run_group_tests(tests, NULL, remove_file);
}
