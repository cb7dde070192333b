/* SPDX-License-Identifier: MIT */
#include "daemon/waits.h"

#include "unit/daemon/fixture.h"

static struct etwd_wait *ended;
static int ended_status, ended_count;

static void end(struct etwd_host *host, struct etwd_wait *wait, int status)
{
	assert_ptr_equal(host, fixture_host);
	ended = wait;
	ended_status = status;
	ended_count++;
}

static struct etwd_wait *make_wait(uint64_t deadline_ms)
{
	struct etwd_wait *wait = etwd_waits_new(fixture_host, deadline_ms, end);

	assert_non_null(wait);
	ended = NULL;
	ended_count = 0;
	return wait;
}

static void test_waits__one_without_answers_ends_at_once(void **state)
{
	struct etwd_wait *wait = make_wait(UINT64_MAX);

	(void)state;
	etwd_waits_begin(fixture_host, wait);
	assert_ptr_equal(ended, wait);
	assert_int_equal(ended_status, 0);
	assert_null(fixture_host->waits);
}

static void test_waits__the_last_answer_ends_it(void **state)
{
	struct fake_peer *one = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct fake_peer *two = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct etwd_wait *wait = make_wait(UINT64_MAX);
	uint32_t first = etwd_waits_expect(wait, one->peer);
	uint32_t second = etwd_waits_expect(wait, two->peer);

	(void)state;
	assert_true(first && second && first != second);
	assert_int_equal(etwd_waits_expect(NULL, one->peer), 0);
	etwd_waits_begin(fixture_host, wait);
	etwd_waits_answered(one->peer, second); /* it is not the one who was asked */
	etwd_waits_answered(one->peer, 0);
	etwd_waits_answered(one->peer, first);
	etwd_waits_answered(one->peer, first);
	assert_int_equal(ended_count, 0);
	etwd_waits_answered(two->peer, second);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, 0);
	fake_peer_free(one);
	fake_peer_free(two);
}

static void test_waits__a_peer_that_goes_answers_no_more(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct etwd_wait *wait = make_wait(UINT64_MAX);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_not_equal(etwd_waits_expect(wait, fake->peer), 0);
	etwd_waits_begin(fixture_host, wait);
	assert_int_equal(ended_count, 0);
	fake_peer_leave(fake);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, 0);
}

static void test_waits__the_deadline_ends_it(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t now_ms = etw_monotonic_ms();
	struct etwd_wait *wait = make_wait(now_ms + 100000);
	uint32_t request = etwd_waits_expect(wait, fake->peer);

	(void)state;
	etwd_waits_begin(fixture_host, wait);
	assert_int_equal(etwd_waits_check(fixture_host, now_ms), now_ms + 100000);
	assert_int_equal(ended_count, 0);
	assert_int_equal(etwd_waits_check(fixture_host, now_ms + 100000), UINT64_MAX);
	assert_int_equal(ended_count, 1);
	assert_int_equal(ended_status, -ETIMEDOUT);
	etwd_waits_answered(fake->peer, request); /* too late */
	assert_int_equal(ended_count, 1);
	/* The place of the answer that did not come is used again. */
	wait = make_wait(UINT64_MAX);
	assert_int_not_equal(etwd_waits_expect(wait, fake->peer), 0);
	assert_int_equal(fake->peer->answer_count, 1);
	etwd_waits_begin(fixture_host, wait);
	fake_peer_leave(fake);
	assert_int_equal(ended_count, 1);
}

/* Until processes had time to find a new host, their callbacks are waited for as well. */
static void test_waits__those_who_are_on_their_way(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t now_ms = etw_monotonic_ms();
	struct etwd_wait *wait = make_wait(UINT64_MAX);
	GUID provider = fixture_guid(1), other = fixture_guid(2);
	uint32_t request;

	(void)state;
	wait->settle_ms = now_ms + 100000;
	wait->provider = provider;
	etwd_waits_begin(fixture_host, wait);
	assert_int_equal(ended_count, 0);
	assert_null(etwd_waits_settling(fixture_host, &other));
	assert_ptr_equal(etwd_waits_settling(fixture_host, &provider), wait);
	request = etwd_waits_expect(wait, fake->peer);
	assert_int_equal(etwd_waits_check(fixture_host, now_ms), now_ms + 100000);
	assert_int_equal(etwd_waits_check(fixture_host, now_ms + 100000), UINT64_MAX);
	assert_null(etwd_waits_settling(fixture_host, &provider));
	assert_int_equal(ended_count, 0);
	etwd_waits_answered(fake->peer, request);
	assert_int_equal(ended_count, 1);
	fake_peer_free(fake);
}

/* As many as a process may register, in one wait: no scan over them for each. */
static void test_waits__many_answers(void **state)
{
	enum {
		MANY = ETWD_REGISTRATIONS_PER_PEER_MAX
	};
	static uint32_t requests[MANY];
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct etwd_wait *wait = make_wait(UINT64_MAX);

	(void)state;
	for (int i = 0; i < MANY; i++)
		requests[i] = etwd_waits_expect(wait, fake->peer);
	etwd_waits_begin(fixture_host, wait);
	for (int i = MANY - 1; i >= 0; i--) {
		assert_int_equal(ended_count, 0);
		etwd_waits_answered(fake->peer, requests[i]);
	}
	assert_int_equal(ended_count, 1);
	fake_peer_free(fake);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_waits__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_without_answers_ends_at_once), TEST(the_last_answer_ends_it),
		TEST(a_peer_that_goes_answers_no_more), TEST(the_deadline_ends_it),
		TEST(those_who_are_on_their_way),       TEST(many_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
