/* SPDX-License-Identifier: MIT */
/* Files and memory as the source of a trace's bytes. */
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

#include "etl/file.h"

static char folder[] = "/tmp/etw-test-file-XXXXXX";

static int set_up(void **state)
{
	FILE *file;

	(void)state;
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	file = fopen("ten", "wb");
	return file && fputs("0123456789", file) >= 0 && !fclose(file) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	(void)unlink("ten");
	(void)unlink("pipe");
	return chdir("/") || rmdir(folder) ? -1 : 0;
}

static void assert_reads(const struct etw_etl_file *file)
{
	uint8_t to[16] = {0};
	size_t count = 99;

	assert_int_equal(file->bytes, 10);
	assert_int_equal(etw_etl_file_read(file, 2, to, 4, &count), 0);
	assert_int_equal(count, 4);
	assert_memory_equal(to, "2345", 4);
	assert_int_equal(etw_etl_file_read(file, 8, to, 4, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(etw_etl_file_read(file, 10, to, 4, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(etw_etl_file_read(file, INT64_MAX - 16, to, 4, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(etw_etl_file_read(file, 3, NULL, 0, &count), 0);
	assert_int_equal(count, 0);
}

static void test_file__reads_up_to_the_end(void **state)
{
	struct etw_etl_file file;

	(void)state;
	assert_int_equal(etw_etl_file_open("ten", &file), 0);
	assert_true(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
	assert_reads(&file);
	etw_etl_file_close(&file);
	assert_int_equal(file.fd, -1);
	etw_etl_file_close(&file);
	etw_etl_file_memory((const uint8_t *)"0123456789", 10, &file);
	assert_reads(&file);
	etw_etl_file_close(&file);
}

static void test_file__shrinking_is_no_harm(void **state)
{
	struct etw_etl_file file;
	uint8_t to[16];
	size_t count;

	(void)state;
	assert_int_equal(etw_etl_file_open("ten", &file), 0);
	assert_int_equal(truncate("ten", 3), 0);
	assert_int_equal(etw_etl_file_read(&file, 2, to, 8, &count), 0);
	assert_int_equal(count, 1);
	etw_etl_file_close(&file);
	assert_int_equal(truncate("ten", 10), 0);
}

static void test_file__what_cannot_be_opened(void **state)
{
	struct etw_etl_file file = {.fd = 4711};

	(void)state;
	assert_int_equal(etw_etl_file_open("none", &file), -ENOENT);
	assert_int_equal(etw_etl_file_open("ten/none", &file), -ENOTDIR);
	assert_int_equal(etw_etl_file_open(".", &file), -EISDIR);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	(void)alarm(600); /* a pipe that nobody writes to is not waited for */
	assert_int_equal(etw_etl_file_open("pipe", &file), -ESPIPE);
	(void)alarm(0);
	int writer = open("pipe", O_RDWR | O_CLOEXEC);

	assert_int_equal(etw_etl_file_open("pipe", &file), -ESPIPE);
	(void)close(writer);
	assert_int_equal(file.fd, 4711);
}

static void test_file__read_errors_are_passed_on(void **state)
{
	struct etw_etl_file file = {.fd = -1, .bytes = 10};
	uint8_t to[4];
	size_t count;

	(void)state;
	assert_int_equal(etw_etl_file_read(&file, 0, to, 4, &count), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file__reads_up_to_the_end),
		cmocka_unit_test(test_file__shrinking_is_no_harm),
		cmocka_unit_test(test_file__what_cannot_be_opened),
		cmocka_unit_test(test_file__read_errors_are_passed_on),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
