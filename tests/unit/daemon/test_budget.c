/* SPDX-License-Identifier: MIT */
#include "daemon/budget.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define OWNER     1000
#define FILES     100000
#define FIRST_UID 70000
#define MANY_UIDS 65536

static struct etwd_budget budget;

static int set_up(void **state)
{
	(void)state;
	etwd_budget_init(&budget, OWNER, FILES);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etwd_budget_done(&budget);
	return 0;
}

static int take(uid_t uid, uint64_t amount)
{
	return etwd_budget_take(&budget, uid, ETWD_REGISTRATIONS, amount);
}

static void test_budget__a_uid_has_a_limit(void **state)
{
	const uint64_t each = budget.limits[ETWD_REGISTRATIONS].each;

	(void)state;
	assert_int_equal(take(FIRST_UID, each), 0);
	assert_int_equal(take(FIRST_UID, 1), -ETOOMANYREFS);
	assert_int_equal(take(FIRST_UID + 1, 1), 0);
	assert_int_equal(etwd_budget_used(&budget, FIRST_UID, ETWD_REGISTRATIONS), each);
	etwd_budget_give(&budget, FIRST_UID, ETWD_REGISTRATIONS, 1);
	assert_int_equal(take(FIRST_UID, 1), 0);
	assert_int_equal(take(FIRST_UID, UINT64_MAX), -ETOOMANYREFS);
}

/* As many uids as one account's subordinate ids, each far below its own limit. */
static void test_budget__all_uids_together_leave_root_room(void **state)
{
	(void)state;
	for (unsigned resource = 0; resource < ETWD_RESOURCES; resource++) {
		const struct etwd_limit *limit = &budget.limits[resource];
		uint64_t taken = 0;
		int r = 0;

		for (uid_t uid = FIRST_UID; r == 0 && uid < FIRST_UID + MANY_UIDS; uid++) {
			uint64_t amount = limit->each / 8 + 1;

			r = etwd_budget_take(&budget, uid, resource, amount);
			taken += r == 0 ? amount : 0;
		}
		assert_int_equal(r, -EUSERS);
		assert_true(taken <= limit->others);
		assert_true(limit->others < limit->all && limit->each <= limit->others);
		assert_int_equal(
			etwd_budget_take(&budget, OWNER, resource, (limit->all - taken) / 2), 0);
		assert_int_equal(etwd_budget_take(&budget, 0, resource,
						  limit->all - taken - (limit->all - taken) / 2),
				 0);
		assert_int_equal(etwd_budget_take(&budget, 0, resource, 1), -EUSERS);
	}
}

static void test_budget__accounts_live_as_long_as_they_are_used(void **state)
{
	(void)state;
	assert_int_equal(take(FIRST_UID, 0), 0);
	assert_int_equal(budget.account_count, 0);
	assert_int_equal(take(FIRST_UID, 2), 0);
	assert_int_equal(etwd_budget_take(&budget, FIRST_UID, ETWD_CONNECTIONS, 1), 0);
	assert_int_equal(budget.account_count, 1);
	etwd_budget_give(&budget, FIRST_UID, ETWD_REGISTRATIONS, 2);
	assert_int_equal(budget.account_count, 1);
	etwd_budget_give(&budget, FIRST_UID, ETWD_CONNECTIONS, 1);
	assert_int_equal(budget.account_count, 0);
	etwd_budget_give(&budget, FIRST_UID, ETWD_CONNECTIONS, 1);
	assert_int_equal(etwd_budget_used(&budget, FIRST_UID, ETWD_CONNECTIONS), 0);
	for (unsigned i = 0; i < ETWD_RESOURCES; i++)
		assert_int_equal(budget.used[i] + budget.used_by_others[i], 0);
}

static void test_budget__without_one_nothing_is_limited(void **state)
{
	(void)state;
	assert_int_equal(etwd_budget_take(NULL, 1, ETWD_GRANTS, UINT64_MAX), 0);
	etwd_budget_give(NULL, 1, ETWD_GRANTS, 1);
}

static unsigned turns_of(uid_t uid)
{
	unsigned count = 0;

	while (count < 100000 && etwd_budget_take_turn(&budget, uid, 1000))
		count++;
	return count;
}

static void test_budget__turns(void **state)
{
	unsigned count = 0;

	(void)state;
	for (uid_t uid = FIRST_UID; uid < FIRST_UID + 100; uid++)
		assert_int_equal(etwd_budget_take(&budget, uid, ETWD_CONNECTIONS, 1), 0);
	assert_int_equal(turns_of(FIRST_UID), ETWD_TURN_UID_MAX);
	for (uid_t uid = FIRST_UID + 1; uid < FIRST_UID + 100; uid++)
		count += turns_of(uid);
	assert_int_equal(count, ETWD_TURN_OTHERS_MAX - ETWD_TURN_UID_MAX);
	assert_int_equal(turns_of(0), 100000);
	assert_int_equal(turns_of(OWNER), 100000);
	etwd_budget_next_round(&budget);
	assert_int_equal(turns_of(FIRST_UID + 99), ETWD_TURN_UID_MAX);
	assert_int_equal(turns_of(FIRST_UID), ETWD_TURN_UID_MAX);
	assert_int_equal(turns_of(FIRST_UID + 100), 0); /* it has no connection */
}

/* Slow messages end the round; one comes through in each. */
static void test_budget__a_round_has_its_time(void **state)
{
	uint64_t now_ns = 1000;

	(void)state;
	assert_int_equal(etwd_budget_take(&budget, FIRST_UID, ETWD_CONNECTIONS, 1), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(etwd_budget_has_turns(&budget, now_ns + 2 * ETWD_TURN_NS));
		assert_true(etwd_budget_take_turn(&budget, FIRST_UID, now_ns));
		assert_true(etwd_budget_take_turn(&budget, FIRST_UID, now_ns + ETWD_TURN_NS - 1));
		assert_false(etwd_budget_take_turn(&budget, FIRST_UID, now_ns + ETWD_TURN_NS));
		assert_false(etwd_budget_has_turns(&budget, now_ns + ETWD_TURN_NS));
		assert_true(etwd_budget_take_turn(&budget, 0, now_ns + ETWD_TURN_NS));
		now_ns += 10 * ETWD_TURN_NS;
		etwd_budget_next_round(&budget);
	}
}

static void test_budget__lines(void **state)
{
	unsigned count = 0;

	(void)state;
	for (uid_t uid = FIRST_UID; uid < FIRST_UID + 100; uid++)
		assert_int_equal(etwd_budget_take(&budget, uid, ETWD_CONNECTIONS, 1), 0);
	assert_true(etwd_budget_may_tell(&budget, FIRST_UID, 5000));
	assert_false(etwd_budget_may_tell(&budget, FIRST_UID, 5000 + ETWD_TELL_MS - 1));
	for (uid_t uid = FIRST_UID + 1; uid < FIRST_UID + 100; uid++)
		count += etwd_budget_may_tell(&budget, uid, 5000);
	assert_int_equal(count, ETWD_TELL_LINES_MAX - 1);
	for (int i = 0; i < 2 * ETWD_TELL_LINES_MAX; i++)
		assert_true(etwd_budget_may_tell(&budget, i % 2 ? OWNER : 0, 5000));
	assert_true(etwd_budget_may_tell(&budget, FIRST_UID, 5000 + ETWD_TELL_MS));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_budget__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_uid_has_a_limit),
		TEST(all_uids_together_leave_root_room),
		TEST(accounts_live_as_long_as_they_are_used),
		TEST(without_one_nothing_is_limited),
		TEST(turns),
		TEST(a_round_has_its_time),
		TEST(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
