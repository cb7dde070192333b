/* SPDX-License-Identifier: MIT */
#include "process/timeline.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_timeline__answers_for_a_time(void **state)
{
	struct etw_timelines timelines = {0};
	struct etw_arena arena = {0};
	int what[3];

	(void)state;
	assert_null(etw_timeline_at(etw_timelines_find(&timelines, 7), 1));
	assert_null(etw_timeline_last(etw_timelines_find(&timelines, 7)));
	assert_int_equal(etw_timelines_add(&timelines, &arena, 7, 10, &what[0]), 0);
	assert_int_equal(etw_timelines_add(&timelines, &arena, 7, 20, &what[1]), 0);
	/* Back in time: counts as the last moment's. */
	assert_int_equal(etw_timelines_add(&timelines, &arena, 7, 15, &what[2]), 0);
	assert_null(etw_timeline_at(etw_timelines_find(&timelines, 7), 9));
	assert_ptr_equal(etw_timeline_at(etw_timelines_find(&timelines, 7), 10), &what[0]);
	assert_ptr_equal(etw_timeline_at(etw_timelines_find(&timelines, 7), 19), &what[0]);
	assert_ptr_equal(etw_timeline_at(etw_timelines_find(&timelines, 7), 20), &what[2]);
	assert_ptr_equal(etw_timeline_last(etw_timelines_find(&timelines, 7)), &what[2]);
	assert_null(etw_timelines_find(&timelines, 8));
	etw_timelines_done(&timelines);
	etw_arena_done(&arena);
}

static void test_timeline__keeps_many_ids_and_moments(void **state)
{
	struct etw_timelines timelines = {0};
	struct etw_arena arena = {0};
	static int what[1000];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(etw_timelines_add(&timelines, &arena, (uint32_t)i, 1, &what[i]),
				 0);
		assert_int_equal(etw_timelines_add(&timelines, &arena, 5000, i, &what[i]), 0);
	}
	assert_int_equal(timelines.moments, 2000);
	for (int i = 0; i < 1000; i++) {
		assert_ptr_equal(etw_timeline_last(etw_timelines_find(&timelines, (uint32_t)i)),
				 &what[i]);
		assert_ptr_equal(etw_timeline_at(etw_timelines_find(&timelines, 5000), i),
				 &what[i]);
	}
	etw_timelines_done(&timelines);
	etw_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline__answers_for_a_time),
		cmocka_unit_test(test_timeline__keeps_many_ids_and_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
