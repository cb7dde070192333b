/* SPDX-License-Identifier: MIT */
#include "tools/common/overwrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"

static void test_overwrite__knows_what_dump_writes(void **state)
{
	static const char *const own[] = {
		"{\"time\":\"2011-01-23T22:06:37.4768585Z\",",
		"2011-01-23T22:06:37.4768585Z   3      7      8 Maker/Task/Go",
		"2011-01-23T15:06:37.4768585-07:00   3      7      8 Maker/Task/Go",
		"    +1.5000000   3      -      - Maker/Task/Go",
		"\033[2m    -0.0000001\033[0m   3",
		"129402939974768585   3      7      8 Maker/Task/Go",
	};
	static const char *const other[] = {
		"#include <stdio.h>", "",         "12 34",   "{\"name\":1}",
		"2011-01-23",         "- a list", "\177ELF", "+1.5 litres",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		assert_true(etw_overwrite_is_events(own[i], strlen(own[i])));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_false(etw_overwrite_is_events(other[i], strlen(other[i])));
}

static void test_overwrite__spares_files_of_another_kind(void **state)
{
	char path[] = "/tmp/etw-overwrite-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_true(etw_overwrite_allowed(path, etw_overwrite_is_events, "x"));
	assert_int_equal(write(fd, "int main", 8), 8);
	assert_false(etw_overwrite_allowed(path, etw_overwrite_is_events, "x"));
	assert_true(etw_overwrite_allowed("/dev/null", etw_overwrite_is_events, "x"));
	assert_true(etw_overwrite_allowed("/tmp/no/such/file", etw_overwrite_is_events, "x"));
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, "<instrumentationManifest", 24, 0), 24);
	assert_true(etw_overwrite_allowed(path, etw_overwrite_is_manifest, "x"));
	assert_false(etw_overwrite_allowed(path, etw_overwrite_is_events, "x"));
	(void)close(fd);
	(void)unlink(path);
}

static void test_overwrite__spares_what_is_read(void **state)
{
	char path[] = "/tmp/etw-overwrite-XXXXXX", link[] = "/tmp/etw-overwrite-link-XXXXXX";
	int fd = mkstemp(path), other = mkstemp(link);

	(void)state;
	assert_true(fd >= 0 && other >= 0);
	assert_true(etw_overwrite_spares(link, path, "x"));
	assert_false(etw_overwrite_spares(path, path, "x"));
	/* Under another name it is the same file. */
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink(path, link), 0);
	assert_false(etw_overwrite_spares(link, path, "x"));
	assert_int_equal(unlink(path), 0);
	assert_true(etw_overwrite_spares(link, path, "x"));
	(void)unlink(link);
	(void)close(fd);
	(void)close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overwrite__knows_what_dump_writes),
		cmocka_unit_test(test_overwrite__spares_files_of_another_kind),
		cmocka_unit_test(test_overwrite__spares_what_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
