/* SPDX-License-Identifier: MIT */
/* A session's numbers as text and as members of a JSON object. */
#include "tools/etw/session_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

static struct wire_cpu_statistics cpus[] = {
	{.buffers = 4,
	 .free_buffers = 3,
	 .events = 10,
	 .buffers_written = 2,
	 .no_buffer = 5,
	 .delivered_buffers = 7,
	 .slow_buffers = 1},
	{.buffers = 4, .free_buffers = 4},
	{.buffers = 4,
	 .free_buffers = 2,
	 .events = 1234,
	 .log_buffers_lost = 3,
	 .file = 6,
	 .unheard_buffers = 2},
};

static struct wire_session_info info = {
	.events_lost = 11,
	.buffers_written = 3,
	.log_buffers_lost = 3,
	.real_time_buffers_lost = 12,
	.loss = {.no_buffer = 5, .file = 6},
};

static struct session_numbers numbers = {
	.sums = {.number_of_buffers = 12,
		 .free_buffers = 9,
		 .loss = {.no_buffer = 5, .file = 6},
		 .filtered = 1500,
		 .others_filtered = 20,
		 .missed_buffers = 4,
		 .unread_buffers = 5,
		 .cpu_count = 3},
	.cpus = cpus,
};

static void test_session_numbers__text(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	numbers.sums.consumers[1] = (struct wire_consumer_statistics){WIRE_CONSUMER_AWAITED, 1, 2,
								      3};
	numbers.sums.consumers[4] = (struct wire_consumer_statistics){WIRE_CONSUMER_FUTURE, 9, 0,
								      9};
	session_numbers_write(&text, &info, &numbers, "", "");
	assert_string_equal(
		etw_text_string(&text),
		"  buffers: 12, 3 in use; 3 written, 3 lost to the file\n"
		"  events lost: 11 (no free buffer 5, not in the file 6)\n"
		"  events filtered: 1,500, and 20 claimed by other users\n"
		"  real-time buffers lost: 12 (of consumers that were slow 1, without a consumer "
		"2, "
		"with a consumer's memory 4, left unread 5)\n"
		"  consumer 1, awaited: 1 buffer, 3 not read yet, 2 lost\n"
		"  kept for the next consumer: 9 buffers, 9 not read yet, 0 lost\n"
		"    processor  events  in use  free  written  lost  delivered  slow  unheard\n"
		"            0      10       1     3        2     0          7     1        0\n"
		"            2   1,234       2     2        0     3          0     0        2\n"
		"    processor  no buffer  too large  gaps  refused  kernel  file\n"
		"            0          5          0     0        0       0     0\n"
		"            2          0          0     0        0       0     6\n");
}

/* A session to which nothing has happened has no tables. */
static void test_session_numbers__of_nothing(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct wire_session_info quiet = {.buffers_written = 1};
	struct wire_cpu_statistics idle = {.buffers = 8, .free_buffers = 8};
	const struct session_numbers none = {
		.sums = {.number_of_buffers = 8, .free_buffers = 8, .cpu_count = 1}, .cpus = &idle};

	(void)state;
	session_numbers_write(&text, &quiet, &none, "", "");
	assert_string_equal(etw_text_string(&text),
			    "  buffers: 8, 0 in use; 1 written, 0 lost to the file\n"
			    "  events lost: 0\n"
			    "  real-time buffers lost: 0\n");
}

/* Read while buffers are given back: more may be free by then than there were before. */
static void test_session_numbers__more_free_than_all(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct wire_session_info quiet = {0};
	struct wire_cpu_statistics busy = {.buffers = 7, .free_buffers = 8, .events = 1};
	const struct session_numbers none = {
		.sums = {.number_of_buffers = 7, .free_buffers = 8, .cpu_count = 1}, .cpus = &busy};

	(void)state;
	session_numbers_write(&text, &quiet, &none, "", "");
	assert_non_null(strstr(etw_text_string(&text), "  buffers: 7, 0 in use;"));
	assert_non_null(strstr(etw_text_string(&text), "            0       1       0     8 "));
}

static void test_session_numbers__json(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct session_numbers one = numbers;

	(void)state;
	one.sums.cpu_count = 1;
	memset(one.sums.consumers, 0, sizeof(one.sums.consumers));
	one.sums.consumers[0] = (struct wire_consumer_statistics){WIRE_CONSUMER_HERE, 1, 2, 3};
	session_numbers_write_json(&text, &info, &one);
	assert_string_equal(
		etw_text_string(&text),
		",\"events_lost_by_cause\":{\"no_buffer\":5,\"too_large\":0,\"gaps\":0,"
		"\"rejected\":0,"
		"\"source\":0,\"file\":6,\"replaced\":0,\"others\":0},"
		"\"events_filtered\":1500,\"events_filtered_of_others\":20,"
		"\"real_time_buffers_lost_by_cause\":{\"slow\":1,\"unheard\":0,\"missed\":4,"
		"\"unread\":5},"
		"\"consumers\":[{\"state\":\"here\",\"buffers\":1,\"waiting\":3,\"lost\":2}],"
		"\"processors\":[{\"buffers\":4,\"free_buffers\":3,\"events\":10,\"notes\":0,"
		"\"buffers_written\":2,\"log_buffers_lost\":0,\"no_buffer\":5,\"too_large\":0,"
		"\"gaps\":0,\"rejected\":0,\"source\":0,\"file\":0,\"delivered_buffers\":7,"
		"\"delivered_events\":0,\"slow_buffers\":1,\"slow_events\":0,\"unheard_buffers\":0,"
		"\"unheard_events\":0}]");
}

/* What is left of a session that is over. */
static void test_session_numbers__json_of_a_stopped_one(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	session_numbers_write_json(&text, &info, NULL);
	assert_string_equal(etw_text_string(&text),
			    ",\"events_lost_by_cause\":{\"no_buffer\":5,\"too_large\":0,\"gaps\":0,"
			    "\"rejected\":0,\"source\":0,\"file\":6,\"replaced\":0,\"others\":0}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_numbers__text),
		cmocka_unit_test(test_session_numbers__of_nothing),
		cmocka_unit_test(test_session_numbers__more_free_than_all),
		cmocka_unit_test(test_session_numbers__json),
		cmocka_unit_test(test_session_numbers__json_of_a_stopped_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
