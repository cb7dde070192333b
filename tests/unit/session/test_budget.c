/* SPDX-License-Identifier: MIT */
/* Budgets of ring memory: of a uid, of all, and how fast sets may follow each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "base/time.h"
#include "session/rings/budget.h"

#define MIB UINT64_C(1048576)

static struct etw_budget *make(void)
{
	const struct etw_budget_limits limits = {
		.total = 100 * MIB, .uid = 40 * MIB, .session = 20 * MIB, .set = 10 * MIB};
	struct etw_budget *budget;

	assert_int_equal(etw_budget_create(&limits, &budget), 0);
	assert_int_equal(etw_budget_limits(budget)->session, 20 * MIB);
	return budget;
}

static void test_budget__one_uid_has_its_bytes(void **state)
{
	struct etw_budget *budget = make();

	(void)state;
	assert_int_equal(etw_budget_take(budget, 7, 30 * MIB, 1), 0);
	assert_int_equal(etw_budget_look(budget, 7, 11 * MIB, 1), -EDQUOT);
	assert_int_equal(etw_budget_take(budget, 7, 11 * MIB, 1), -EDQUOT);
	assert_int_equal(etw_budget_take(budget, 7, UINT64_MAX, 1), -EDQUOT);
	assert_int_equal(etw_budget_take(budget, 8, 11 * MIB, 1), 0);
	etw_budget_give(budget, 7, 30 * MIB);
	assert_int_equal(etw_budget_look(budget, 7, 40 * MIB, 1), 0);
	assert_int_equal(etw_budget_take(budget, 7, 40 * MIB, 1), 0);
	etw_budget_give(budget, 99, 5 * MIB); /* of whom nothing is known */
	assert_int_equal(etw_budget_take(budget, 7, 1, 1), -EDQUOT);
	etw_budget_free(budget);
}

static void test_budget__all_uids_have_theirs(void **state)
{
	struct etw_budget *budget = make();

	(void)state;
	for (uid_t uid = 100; uid < 104; uid++)
		assert_int_equal(etw_budget_take(budget, uid, 25 * MIB, 1), 0);
	assert_int_equal(etw_budget_take(budget, 104, 1, 1), -EUSERS);
	etw_budget_give(budget, 102, 25 * MIB);
	assert_int_equal(etw_budget_take(budget, 104, 1, 1), 0);
	etw_budget_free(budget);
}

/* What the last host made is there, whatever the limits say. */
static void test_budget__what_is_adopted_counts(void **state)
{
	struct etw_budget *budget = make();

	(void)state;
	assert_int_equal(etw_budget_adopt(budget, 7, 60 * MIB), 0);
	assert_int_equal(etw_budget_take(budget, 7, 1, 1), -EDQUOT);
	assert_int_equal(etw_budget_adopt(budget, 8, 60 * MIB), 0);
	assert_int_equal(etw_budget_take(budget, 9, 1, 1), -EUSERS);
	etw_budget_give(budget, 8, 60 * MIB);
	assert_int_equal(etw_budget_take(budget, 9, 1, 1), 0);
	etw_budget_free(budget);
}

static void test_budget__sets_in_quick_succession_run_out_and_come_back(void **state)
{
	const uint64_t each_ns = ETW_BUDGET_UID_MS * ETW_NS_PER_MS;
	struct etw_budget *budget = make();
	uint64_t now_ns = 1000 * each_ns;

	(void)state;
	for (int i = 0; i < ETW_BUDGET_UID_BURST; i++) {
		assert_int_equal(etw_budget_take(budget, 7, MIB, now_ns), 0);
		etw_budget_give(budget, 7, MIB);
	}
	assert_int_equal(etw_budget_take(budget, 7, MIB, now_ns), -EAGAIN);
	assert_int_equal(etw_budget_take(budget, 8, MIB, now_ns), 0);
	now_ns += each_ns;
	assert_int_equal(etw_budget_take(budget, 7, MIB, now_ns), 0);
	assert_int_equal(etw_budget_take(budget, 7, MIB, now_ns), -EAGAIN);
	now_ns += ETW_BUDGET_UID_BURST * each_ns;
	for (int i = 0; i < ETW_BUDGET_UID_BURST; i++)
		assert_int_equal(etw_budget_take(budget, 7, 1, now_ns), 0);
	assert_int_equal(etw_budget_take(budget, 7, 1, now_ns), -EAGAIN);
	etw_budget_free(budget);
}

/* One account with many subordinate uids is no better off. */
static void test_budget__many_uids_share_one_rate(void **state)
{
	struct etw_budget *budget = make();
	uint64_t now_ns = ETW_NS_PER_S;
	unsigned made = 0;

	(void)state;
	for (uid_t uid = 100000; uid < 101000; uid++) {
		if (etw_budget_take(budget, uid, MIB, now_ns) == 0) {
			etw_budget_give(budget, uid, MIB);
			made++;
		}
	}
	assert_int_equal(made, ETW_BUDGET_TOTAL_BURST);
	now_ns += 2 * ETW_BUDGET_TOTAL_MS * ETW_NS_PER_MS;
	assert_int_equal(etw_budget_take(budget, 7, 1, now_ns), 0);
	assert_int_equal(etw_budget_take(budget, 8, 1, now_ns), 0);
	assert_int_equal(etw_budget_take(budget, 9, 1, now_ns), -EAGAIN);
	etw_budget_free(budget);
}

static void test_budget__limits_follow_the_total(void **state)
{
	struct etw_budget_limits limits = etw_budget_limits_of(1024 * MIB);

	(void)state;
	assert_int_equal(limits.total, 1024 * MIB);
	assert_int_equal(limits.uid, 512 * MIB);
	assert_int_equal(limits.session, 256 * MIB);
	assert_int_equal(limits.set, 64 * MIB);
	assert_true(etw_budget_limits_of(0).total >= 64 * MIB);
	assert_int_equal(etw_budget_limits_of(1).total, 64 * MIB);
	etw_budget_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget__one_uid_has_its_bytes),
		cmocka_unit_test(test_budget__all_uids_have_theirs),
		cmocka_unit_test(test_budget__what_is_adopted_counts),
		cmocka_unit_test(test_budget__sets_in_quick_succession_run_out_and_come_back),
		cmocka_unit_test(test_budget__many_uids_share_one_rate),
		cmocka_unit_test(test_budget__limits_follow_the_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
