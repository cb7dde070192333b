/* SPDX-License-Identifier: MIT */
#include "daemon/waits.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/time.h"

static struct etwd_wait *ended;
static int ended_status, ended_count;

static struct etwd_waits waits;

static void end(struct etwd_wait *wait, int status)
{
	ended = wait;
	ended_status = status;
	ended_count++;
	free(wait);
}

static struct etwd_wait *make_wait(uint64_t deadline_ms)
{
	struct etwd_wait *wait = calloc(1, sizeof(*wait));

	assert_non_null(wait);
	etwd_waits_add(&waits, wait, deadline_ms, end);
	ended = NULL;
	ended_count = 0;
	return wait;
}

static void test_waits__one_without_answers_ends_at_once(void **state)
{
	struct etwd_wait *wait = make_wait(UINT64_MAX);

	(void)state;
	etwd_waits_begin(&waits, wait);
	assert_ptr_equal(ended, wait);
	assert_int_equal(ended_status, 0);
	assert_null(waits.first);
}

static void test_waits__the_last_answer_ends_it(void **state)
{
	struct etwd_answers one = {0};
	struct etwd_answers two = {0};
	struct etwd_wait *wait = make_wait(UINT64_MAX);
	uint32_t first = etwd_waits_expect(&waits, wait, &one);
	uint32_t second = etwd_waits_expect(&waits, wait, &two);

	(void)state;
	assert_true(first && second && first != second);
	assert_int_equal(etwd_waits_expect(&waits, NULL, &one), 0);
	etwd_waits_begin(&waits, wait);
	etwd_waits_answered(&waits, &one, second); /* it is not the one who was asked */
	etwd_waits_answered(&waits, &one, 0);
	etwd_waits_answered(&waits, &one, first);
	etwd_waits_answered(&waits, &one, first);
	assert_int_equal(ended_count, 0);
	etwd_waits_answered(&waits, &two, second);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, 0);
	etwd_waits_gone(&waits, &one);
	etwd_waits_gone(&waits, &two);
}

static void test_waits__a_peer_that_goes_answers_no_more(void **state)
{
	struct etwd_answers fake = {0};
	struct etwd_wait *wait = make_wait(UINT64_MAX);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_not_equal(etwd_waits_expect(&waits, wait, &fake), 0);
	etwd_waits_begin(&waits, wait);
	assert_int_equal(ended_count, 0);
	etwd_waits_gone(&waits, &fake);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, 0);
}

static void test_waits__the_deadline_ends_it(void **state)
{
	struct etwd_answers fake = {0};
	uint64_t now_ms = etw_monotonic_ms();
	struct etwd_wait *wait = make_wait(now_ms + 100000);
	uint32_t request = etwd_waits_expect(&waits, wait, &fake);

	(void)state;
	etwd_waits_begin(&waits, wait);
	assert_int_equal(etwd_waits_check(&waits, now_ms), now_ms + 100000);
	assert_int_equal(ended_count, 0);
	assert_int_equal(etwd_waits_check(&waits, now_ms + 100000), UINT64_MAX);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, -ETIMEDOUT);
	etwd_waits_answered(&waits, &fake, request); /* too late */
	assert_int_equal(ended_count, 1);
	/* The place of the answer that did not come is used again. */
	wait = make_wait(UINT64_MAX);
	assert_int_not_equal(etwd_waits_expect(&waits, wait, &fake), 0);
	assert_int_equal(fake.count, 1);
	etwd_waits_begin(&waits, wait);
	etwd_waits_gone(&waits, &fake);
	assert_int_equal(ended_count, 1);
}

/* Until processes had time to find a new host, their callbacks are waited for as well. */
static void test_waits__those_who_are_on_their_way(void **state)
{
	struct etwd_answers fake = {0};
	uint64_t now_ms = etw_monotonic_ms();
	struct etwd_wait *wait = make_wait(UINT64_MAX);
	GUID provider = {.Data1 = 1}, other = {.Data1 = 2};
	uint32_t request;

	(void)state;
	wait->settle_ms = now_ms + 100000;
	wait->provider = provider;
	etwd_waits_begin(&waits, wait);
	assert_int_equal(ended_count, 0);
	assert_null(etwd_waits_settling(&waits, &other));
	assert_ptr_equal(etwd_waits_settling(&waits, &provider), wait);
	request = etwd_waits_expect(&waits, wait, &fake);
	assert_int_equal(etwd_waits_check(&waits, now_ms), now_ms + 100000);
	assert_int_equal(etwd_waits_check(&waits, now_ms + 100000), UINT64_MAX);
	assert_null(etwd_waits_settling(&waits, &provider));
	assert_int_equal(ended_count, 0);
	etwd_waits_answered(&waits, &fake, request);
	assert_int_equal(ended_count, 1);
	etwd_waits_gone(&waits, &fake);
}

/* As many as a process may register, in one wait: no scan over them for each. */
static void test_waits__many_answers(void **state)
{
	enum {
		MANY = 4096 /* registrations of a process */
	};
	static uint32_t requests[MANY];
	struct etwd_answers fake = {0};
	struct etwd_wait *wait = make_wait(UINT64_MAX);

	(void)state;
	for (int i = 0; i < MANY; i++)
		requests[i] = etwd_waits_expect(&waits, wait, &fake);
	etwd_waits_begin(&waits, wait);
	for (int i = MANY - 1; i >= 0; i--) {
		assert_int_equal(ended_count, 0);
		etwd_waits_answered(&waits, &fake, requests[i]);
	}
	assert_int_equal(ended_count, 1);
	etwd_waits_gone(&waits, &fake);
}

#define TEST(name) cmocka_unit_test(test_waits__##name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_without_answers_ends_at_once), TEST(the_last_answer_ends_it),
		TEST(a_peer_that_goes_answers_no_more), TEST(the_deadline_ends_it),
		TEST(those_who_are_on_their_way),       TEST(many_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
