/* SPDX-License-Identifier: MIT */
/* Status files of AutoLoggers. */
#include "autologger/status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"

static void test_status__is_read_as_it_was_written(void **state)
{
	char home[] = "/tmp/etw-autologger-XXXXXX";
	const struct etw_autologger_status written = {
		.status = ENOSPC, .file_counter = 7, .stopped_in = "boot", .reason = "a = b"};
	struct etw_autologger_status read;
	char folder[64], path[96], command[64];
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(home));
	snprintf(folder, sizeof(folder), "%s/made", home);
	assert_int_equal(etw_autologger_status_read(folder, "s", &read), 0);
	assert_int_equal(read.file_counter, 0);
	assert_int_equal(etw_autologger_status_write(folder, "s", &written), 0);
	assert_int_equal(etw_autologger_status_read(folder, "s", &read), 0);
	assert_memory_equal(&read, &written, sizeof(read));
	snprintf(path, sizeof(path), "%s/s", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("Status=x\n", file);
	fclose(file);
	assert_int_equal(etw_autologger_status_read(folder, "s", &read), -EPROTO);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	assert_int_equal(system(command), 0);
}

static void test_status__boot_has_an_id(void **state)
{
	char first[ETW_AUTOLOGGER_BOOT_BYTES], second[ETW_AUTOLOGGER_BOOT_BYTES];

	(void)state;
	etw_autologger_boot_id(first);
	etw_autologger_boot_id(second);
	assert_int_equal(strlen(first), ETW_AUTOLOGGER_BOOT_BYTES - 1);
	assert_string_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status__is_read_as_it_was_written),
		cmocka_unit_test(test_status__boot_has_an_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
