/* SPDX-License-Identifier: MIT */
/* What the header says of this machine, held against other ways to ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "etl/time_zone.h"
#include "etl/writer.h"
#include "wire/etl_logfile.h"

static void test_writer_machine__fields(void **state)
{
	struct etw_etl_file_head head = {0};
	uint8_t zone[ETW_TIME_ZONE_BYTES];

	(void)state;
	assert_int_equal(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
	etw_etl_machine_head(&head);
	assert_int_equal(head.os_major, 10);
	assert_int_equal(head.os_minor, 0);
	assert_int_equal(head.os_build, 19045);
	assert_int_equal(head.layout_major, 0); /* left to the writer */
	assert_true(head.has_partition);
	assert_true(head.processors >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(head.pointer_bytes, sizeof(void *));
	assert_int_equal(head.timer_resolution, WIRE_LOGFILE_TICK_FT);
	etw_time_zone_write((int64_t)time(NULL), zone);
	assert_memory_equal(head.time_zone, zone, sizeof(zone));
}

/* The kernel's own number; the clock may have been set meanwhile by a few seconds, but not by a day. */
static void test_writer_machine__boot_time(void **state)
{
	struct etw_etl_file_head head = {0};
	FILE *file = fopen("/proc/stat", "r");
	char line[4096];
	long long boot_unix = 0;

	(void)state;
	if (!file) {
		print_message("skipped: there is no /proc/stat\n");
		skip();
	}
	while (fgets(line, sizeof(line), file) && sscanf(line, "btime %lld", &boot_unix) != 1)
		;
	(void)fclose(file);
	etw_etl_machine_head(&head);
	boot_unix -= (head.boot_ft - ETW_FILETIME_UNIX_EPOCH) / ETW_FILETIME_PER_SECOND;
	assert_true(boot_unix > -86400 && boot_unix < 86400);
}

static void test_writer_machine__leaves_the_rest(void **state)
{
	struct etw_etl_file_head head;

	(void)state;
	memset(&head, 0x5A, sizeof(head));
	etw_etl_machine_head(&head);
	assert_int_equal(head.buffer_bytes, 0x5A5A5A5A);
	assert_int_equal(head.log_file_mode, 0x5A5A5A5A);
	assert_int_equal(head.perf_frequency, 0x5A5A5A5A5A5A5A5A);
	assert_int_equal(head.logger_id, 0x5A5A);
	assert_int_equal(head.buffers_lost, 0x5A5A5A5A);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer_machine__fields),
		cmocka_unit_test(test_writer_machine__boot_time),
		cmocka_unit_test(test_writer_machine__leaves_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
