/* SPDX-License-Identifier: MIT */
/* Files that are read as a whole: what is no file is refused, and nothing blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

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
	char folder[] = "/tmp/etw-file-XXXXXX", path[sizeof(folder) + 8];
	size_t bytes;
	char *at;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Nobody writes into it: to wait for somebody would be for ever. */
	assert_int_equal(etw_file_read(path, 100, &at, &bytes), -EINVAL);
	assert_int_equal(etw_file_read(folder, 100, &at, &bytes), -EISDIR);
	assert_int_equal(etw_file_read("/dev/zero", 100, &at, &bytes), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file__reads_what_is_there),
		cmocka_unit_test(test_file__refuses_what_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
