/* SPDX-License-Identifier: MIT */
#include "tools/common/local_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/time.h"

static int64_t at(const char *string)
{
	int64_t time = 0;

	assert_int_equal(etw_filetime_parse(string, &time), 0);
	return time;
}

static void test_local_time__is_the_trace_s(void **state)
{
	static struct etw_etl_header header;
	struct etw_local_time local;
	struct etw_text text = {0};

	(void)state;
	header.time_zone[0] = 0xC4; /* Bias -60: an hour east */
	memset(header.time_zone + 1, 0xFF, 3);
	etw_local_time_init(&local, &header);
	assert_int_equal(etw_local_time_east(&local, at("2011-01-23T22:06:37Z")), 60);
	assert_int_equal(etw_local_time_to_utc(&local, at("2011-01-23T22:06:37Z")),
			 at("2011-01-23T21:06:37Z"));
	etw_local_time_write(&text, &local, at("2011-01-23T22:06:37Z"));
	assert_string_equal(etw_text_string(&text),
			    "the trace's machine (UTC+01:00 when it began)");
	etw_text_done(&text);
}

static void test_local_time__is_this_machine_s_without_a_zone(void **state)
{
	static struct etw_etl_header header;
	struct etw_local_time local;
	struct etw_text text = {0};

	(void)state;
	/* Two hours west in winter, one in summer, by a rule that needs no data of zones. */
	assert_int_equal(setenv("TZ", "AAA2BBB1,M3.2.0,M11.1.0", 1), 0);
	tzset();
	etw_local_time_init(&local, &header);
	assert_int_equal(etw_local_time_east(&local, at("2011-01-23T22:06:37Z")), -120);
	assert_int_equal(etw_local_time_east(&local, at("2011-07-23T22:06:37Z")), -60);
	assert_int_equal(etw_local_time_to_utc(&local, at("2011-07-23T22:00:00Z")),
			 at("2011-07-23T23:00:00Z"));
	etw_local_time_write(&text, &local, at("2011-01-23T22:06:37Z"));
	assert_string_equal(etw_text_string(&text), "this machine (UTC-02:00 when it began)");
	etw_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_time__is_the_trace_s),
		cmocka_unit_test(test_local_time__is_this_machine_s_without_a_zone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
