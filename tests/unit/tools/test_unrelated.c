/* SPDX-License-Identifier: MIT */
/* Files that were not recorded together are told, once and with their names; those that were are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "tools/common/unrelated.h"

#define HOUR (3600 * ETW_FILETIME_PER_SECOND)
#define DAY  (24 * HOUR)
#define BASE (INT64_C(13300000000) * ETW_FILETIME_PER_SECOND)

/* An hour of a machine that was booted at @boot_ft, from @start_ft on. */
static struct etw_etl_header make(int64_t boot_ft, int64_t start_ft)
{
	return (struct etw_etl_header){.os_major = 10,
				       .os_build = 19041,
				       .processors = 2,
				       .cpu_mhz = 2000,
				       .boot_ft = BASE + boot_ft,
				       .start_ft = BASE + start_ft,
				       .end_ft = BASE + start_ft + HOUR};
}

static void expect(const struct etw_etl_header *one, const struct etw_etl_header *two,
		   const struct etw_etl_header *three, const char *expected)
{
	static const char *const paths[] = {"one.etl", "two.etl", "three.etl"};
	const struct etw_etl_header *headers[] = {one, two, three};
	struct etw_text text = {0};
	const bool is_told = etw_unrelated_write(&text, headers, paths, three ? 3 : two ? 2 : 1);

	assert_int_equal(is_told, expected != NULL);
	assert_string_equal(etw_text_string(&text), expected ? expected : "");
	etw_text_done(&text);
}

static void test_unrelated__one_machine(void **state)
{
	struct etw_etl_header one = make(0, DAY), two = make(0, DAY),
			      later = make(0, DAY + 5 * HOUR);
	struct etw_etl_header open = make(0, DAY + 6 * HOUR),
			      rebooted = make(2 * DAY, 2 * DAY + HOUR);
	struct etw_etl_header measured = make(0, DAY);

	(void)state;
	open.end_ft = 0;
	measured.cpu_mhz = 1953;
	expect(&one, NULL, NULL, NULL);
	expect(&one, &two, NULL, NULL);
	expect(&two, &later, &one, NULL);
	expect(&later, &open, &one, NULL);
	expect(&open, &rebooted, NULL, NULL);
	expect(&one, &measured, NULL, NULL);
	/* A clock that was set moves the boot. */
	measured.boot_ft += 60 * ETW_FILETIME_PER_SECOND;
	expect(&one, &measured, NULL, NULL);
}

static void regress_unrelated__two_machines(void **state)
{
	struct etw_etl_header one = make(0, DAY), two = make(0, DAY), three = make(0, 152 * DAY);

	(void)state;
	two.os_build = 7601;
	expect(&one, &two, NULL,
	       "one.etl and two.etl come from different machines (build 19041, 2 processors; build "
	       "7601, 2 processors)");
	two = make(0, DAY);
	two.processors = 1;
	expect(&one, &three, &two,
	       "one.etl and three.etl come from different machines (build 19041, 2 processors; "
	       "build 19041, 1 processor)");
	two = one;
	two.cpu_mhz = 3000;
	expect(&one, &two, NULL,
	       "one.etl and two.etl come from different machines (build 19041, 2 processors at "
	       "2,000 MHz; build 19041, 2 processors at 3,000 MHz)");
	three.os_build = 7601;
	expect(&one, &three, NULL,
	       "one.etl and two.etl come from different machines (build 19041, 2 processors; build "
	       "7601, 2 processors) and are 151 days apart");
}

/* Two of one make: the one booted while the other recorded. */
static void test_unrelated__machines_that_are_alike(void **state)
{
	struct etw_etl_header one = make(0, DAY), two = make(DAY + HOUR / 2, DAY + HOUR);

	(void)state;
	expect(&one, &two, NULL,
	       "one.etl and two.etl come from different machines (build 19041, 2 processors, "
	       "booted "
	       "2022-06-18T04:26:40.0000000Z; build 19041, 2 processors, booted "
	       "2022-06-19T04:56:40.0000000Z)");
	expect(&two, &one, NULL,
	       "one.etl and two.etl come from different machines (build 19041, 2 processors, "
	       "booted "
	       "2022-06-19T04:56:40.0000000Z; build 19041, 2 processors, booted "
	       "2022-06-18T04:26:40.0000000Z)");
}

static void regress_unrelated__days_apart(void **state)
{
	struct etw_etl_header one = make(0, DAY), two = make(0, DAY + 20 * HOUR);
	struct etw_etl_header late = make(152 * DAY, 152 * DAY + 21 * HOUR);

	(void)state;
	expect(&one, &two, &late, "two.etl and three.etl are 151 days apart");
	expect(&late, &one, &two, "one.etl and three.etl are 151 days apart");
	expect(&one, &two, NULL, NULL);
	/* A header without a time says nothing. */
	one.start_ft = one.end_ft = one.boot_ft = 0;
	expect(&one, &late, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unrelated__one_machine),
		cmocka_unit_test(regress_unrelated__two_machines),
		cmocka_unit_test(test_unrelated__machines_that_are_alike),
		cmocka_unit_test(regress_unrelated__days_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
