/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/tdh/symbol_paths.h"
#include "base/macros.h"

#define GUID_NAME "00000001-0002-0003-0405-060708090a0b.tmf"

static const GUID guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static char folder[] = "/tmp/etw-symbol-paths-XXXXXX";
static char before[4096];

static void touch(const char *name)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
}

/* Works in the folder: names are relative to it. */
static int begin(void **state)
{
	(void)state;
	if (!getcwd(before, sizeof(before)) || !mkdtemp(folder) || chdir(folder) ||
	    mkdir("a", 0700) || mkdir("b", 0700))
		return -1;
	touch("b/only.tmf");
	touch("a/both.tmf");
	touch("b/both.tmf");
	touch(GUID_NAME);
	return 0;
}

static int end(void **state)
{
	static const char *const names[] = {"b/only.tmf", "a/both.tmf", "b/both.tmf", GUID_NAME};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlink(names[i]);
	return rmdir("a") || rmdir("b") || chdir(before) || rmdir(folder) ? -1 : 0;
}

struct row {
	struct etw_symbol_paths paths;
	const char *found; /* NULL: nothing */
};

static char only[] = "only.tmf", both[] = "both.tmf", here[] = "b/only.tmf",
	    absolute[] = "/only.tmf", folder_a[] = "a", folder_b[] = "b", a_and_b[] = "a;b",
	    odd[] = ";;none;;b;", nothing[] = "";

static void test_symbol_paths__a_tmf_file_is_looked_for_in_order(void **state)
{
	static const struct row rows[] = {
		{{NULL, folder_a, NULL, NULL}, NULL},
		{{only, NULL, NULL, NULL}, NULL},
		{{here, NULL, NULL, NULL}, "b/only.tmf"},
		{{only, folder_a, NULL, NULL}, NULL},
		{{only, a_and_b, NULL, NULL}, "b/only.tmf"},
		{{only, odd, NULL, NULL}, "b/only.tmf"},
		{{only, nothing, NULL, folder_b}, "b/only.tmf"},
		{{both, folder_b, NULL, folder_a}, "b/both.tmf"},
		{{both, a_and_b, NULL, NULL}, "a/both.tmf"},
		{{absolute, a_and_b, NULL, NULL}, NULL},
		{{folder_a, NULL, NULL, NULL}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(freep) char *found = NULL;
		int result = etw_symbol_paths_find_tmf(&rows[i].paths, &found);

		assert_int_equal(result, rows[i].found ? 0 : -ENOENT);
		if (rows[i].found)
			assert_string_equal(found, rows[i].found);
	}
}

static void test_symbol_paths__a_pdb_is_where_it_is_named(void **state)
{
	const struct etw_symbol_paths paths = {.pdb_path = here};
	const struct etw_symbol_paths lost = {.pdb_path = only, .tmf_search_path = folder_b};
	CLEANUP(freep) char *found = NULL;

	(void)state;
	assert_int_equal(etw_symbol_paths_find_pdb(&lost, &found), -ENOENT);
	assert_int_equal(etw_symbol_paths_find_pdb(&paths, &found), 0);
	assert_string_equal(found, "b/only.tmf");
}

static void test_symbol_paths__a_guid_is_found_in_the_current_folder_last(void **state)
{
	const struct etw_symbol_paths paths = {.tmf_search_path = folder_a};
	CLEANUP(freep) char *last = NULL;
	CLEANUP(freep) char *first = NULL;

	(void)state;
	assert_int_equal(etw_symbol_paths_find_guid(&paths, &guid, &last), 0);
	assert_string_equal(last, "./" GUID_NAME);
	touch("a/" GUID_NAME);
	assert_int_equal(etw_symbol_paths_find_guid(&paths, &guid, &first), 0);
	assert_string_equal(first, "a/" GUID_NAME);
	assert_int_equal(unlink("a/" GUID_NAME), 0);
	assert_int_equal(etw_symbol_paths_find_guid(&paths, &(GUID){0}, &first), -ENOENT);
}

static void test_symbol_paths__has_folder(void **state)
{
	const struct etw_symbol_paths none = {.tmf_search_path = only};
	const struct etw_symbol_paths one = {.tmf_search_path = odd};

	(void)state;
	assert_int_equal(etw_symbol_paths_has_folder(&(struct etw_symbol_paths){0}), 0);
	assert_int_equal(etw_symbol_paths_has_folder(&none), 0);
	assert_int_equal(etw_symbol_paths_has_folder(&one), 1);
}

static void test_symbol_paths__are_read_from_callers_and_the_environment(void **state)
{
	static char name[] = "TRACE_FORMAT_SEARCH_PATH";
	static const WCHAR wide[] = {'a', 0xE9, 0};
	struct etw_symbol_paths paths, copy;

	(void)state;
	assert_int_equal(setenv(name, "x;y", 1), 0);
	assert_int_equal(etw_symbol_paths_read(wide, NULL, wide, &paths), 0);
	assert_int_equal(unsetenv(name), 0);
	assert_string_equal(paths.tmf_file, "a\xC3\xA9");
	assert_null(paths.tmf_search_path);
	assert_string_equal(paths.pdb_path, "a\xC3\xA9");
	assert_string_equal(paths.environment, "x;y");
	assert_int_equal(etw_symbol_paths_copy(&paths, &copy), 0);
	assert_true(etw_symbol_paths_equal(&paths, &copy));
	copy.pdb_path[0] = 'b';
	assert_false(etw_symbol_paths_equal(&paths, &copy));
	etw_symbol_paths_done(&copy);
	assert_int_equal(etw_symbol_paths_read(wide, NULL, NULL, &copy), 0);
	assert_false(etw_symbol_paths_equal(&paths, &copy));
	etw_symbol_paths_done(&copy);
	etw_symbol_paths_done(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol_paths__a_tmf_file_is_looked_for_in_order),
		cmocka_unit_test(test_symbol_paths__a_pdb_is_where_it_is_named),
		cmocka_unit_test(test_symbol_paths__a_guid_is_found_in_the_current_folder_last),
		cmocka_unit_test(test_symbol_paths__has_folder),
		cmocka_unit_test(test_symbol_paths__are_read_from_callers_and_the_environment),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
