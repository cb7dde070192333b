/* SPDX-License-Identifier: MIT */
/* Windows paths: what exists is taken as given, drives are folders, backslashes are slashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

static char folder[] = "/tmp/etw-test-path-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	(void)unsetenv("XDG_DATA_HOME");
	(void)unsetenv("ETW_DRIVE_C");
	(void)unsetenv("ETW_DRIVE_Q");
	return setenv("HOME", folder, 1);
}

static int tear_down(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void assert_resolves(const char *path, const char *wanted)
{
	char *resolved = NULL;

	assert_int_equal(etw_path_resolve(path, &resolved), 0);
	assert_string_equal(resolved, wanted);
	free(resolved);
}

static void test_path__linux_paths_stay(void **state)
{
	(void)state;
	assert_resolves("/var/log/x.etl", "/var/log/x.etl");
	assert_resolves("relative/x.etl", "relative/x.etl");
	assert_resolves("", "");
	assert_resolves("cc:/x", "cc:/x");
	assert_resolves("c:x", "c:x");
}

static void test_path__backslashes_become_slashes(void **state)
{
	(void)state;
	assert_resolves("logs\\a\\x.etl", "logs/a/x.etl");
	assert_resolves("\\tmp\\x.etl", "/tmp/x.etl");
}

static void test_path__what_exists_is_taken_as_given(void **state)
{
	int fd = open("odd\\name", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	assert_resolves("odd\\name", "odd\\name");
	assert_int_equal(mkdir("c:", 0700), 0);
	assert_resolves("c:", "c:");
	assert_int_equal(rmdir("c:"), 0);
}

static void test_path__drive_by_variable(void **state)
{
	(void)state;
	assert_int_equal(setenv("ETW_DRIVE_Q", "/mnt/q", 1), 0);
	assert_resolves("q:\\logs\\x.etl", "/mnt/q/logs/x.etl");
	assert_resolves("Q:/logs\\x.etl", "/mnt/q/logs/x.etl");
	assert_resolves("Q:\\", "/mnt/q/");
	assert_resolves("Q:", "/mnt/q/");
	assert_int_equal(setenv("ETW_DRIVE_Q", "/mnt/back\\slash", 1), 0);
	assert_resolves("q:\\x", "/mnt/back\\slash/x"); /* the folder is Linux' own */
	(void)unsetenv("ETW_DRIVE_Q");
}

static void test_path__drive_by_default_is_made(void **state)
{
	char wanted[sizeof(folder) + 64];
	struct stat info;

	(void)state;
	(void)snprintf(wanted, sizeof(wanted), "%s/.local/share/etw/drive_c/a/x.etl", folder);
	assert_resolves("C:\\a\\x.etl", wanted);
	wanted[strlen(wanted) - strlen("/a/x.etl")] = '\0';
	assert_int_equal(stat(wanted, &info), 0);
	assert_true(S_ISDIR(info.st_mode));
	assert_int_equal(info.st_mode & 0777, 0700);
	(void)snprintf(wanted, sizeof(wanted), "%s/data/etw/drive_c/x", folder);
	char data[sizeof(folder) + 8];

	(void)snprintf(data, sizeof(data), "%s/data", folder);
	assert_int_equal(setenv("XDG_DATA_HOME", data, 1), 0);
	assert_resolves("C:\\x", wanted);
	assert_int_equal(setenv("XDG_DATA_HOME", "not/absolute", 1), 0);
	(void)snprintf(wanted, sizeof(wanted), "%s/.local/share/etw/drive_c/x", folder);
	assert_resolves("C:\\x", wanted);
	(void)unsetenv("XDG_DATA_HOME");
}

static void test_path__no_home_is_ENOENT(void **state)
{
	char *resolved = NULL;

	(void)state;
	(void)unsetenv("HOME");
	assert_int_equal(etw_path_resolve("C:\\x", &resolved), -ENOENT);
	assert_null(resolved);
	assert_int_equal(setenv("HOME", folder, 1), 0);
}

static void test_path__folder_that_cannot_be_made(void **state)
{
	char *resolved = NULL;
	int fd = open("file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	char data[sizeof(folder) + 8];

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	(void)snprintf(data, sizeof(data), "%s/file", folder);
	assert_int_equal(setenv("XDG_DATA_HOME", data, 1), 0);
	assert_int_equal(etw_path_resolve("C:\\x", &resolved), -ENOTDIR);
	assert_null(resolved);
	(void)unsetenv("XDG_DATA_HOME");
}

static void test_path__endings_count_in_either_case(void **state)
{
	(void)state;
	assert_true(etw_path_ends_with("C:\\x\\A.MAN", ".man"));
	assert_true(etw_path_ends_with(".man", ".man"));
	assert_true(etw_path_ends_with("", ""));
	assert_false(etw_path_ends_with("man", ".man"));
	assert_false(etw_path_ends_with("a.man.bak", ".man"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path__endings_count_in_either_case),
		cmocka_unit_test(test_path__linux_paths_stay),
		cmocka_unit_test(test_path__backslashes_become_slashes),
		cmocka_unit_test(test_path__what_exists_is_taken_as_given),
		cmocka_unit_test(test_path__drive_by_variable),
		cmocka_unit_test(test_path__drive_by_default_is_made),
		cmocka_unit_test(test_path__no_home_is_ENOENT),
		cmocka_unit_test(test_path__folder_that_cannot_be_made),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
