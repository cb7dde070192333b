/* SPDX-License-Identifier: MIT */
#include "daemon/grants.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct etwd_grants grants;

static int set_up(void **state)
{
	(void)state;
	etwd_grants_init(&grants, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etwd_grants_done(&grants);
	return 0;
}

static struct etwd_grant grant_of(uint32_t session_id, uint32_t uid, uint32_t provider)
{
	return (struct etwd_grant){session_id, uid, {provider, 0, 0, {0}}};
}

static void test_grants__are_of_session_uid_and_provider(void **state)
{
	struct etwd_grant grant = grant_of(1, 1000, 5);
	struct etwd_grant others[] = {grant_of(2, 1000, 5), grant_of(1, 1001, 5),
				      grant_of(1, 1000, 6)};

	(void)state;
	assert_false(etwd_grants_has(&grants, &grant));
	assert_int_equal(etwd_grants_add(&grants, &grant), 1);
	assert_int_equal(etwd_grants_add(&grants, &grant), 0);
	assert_true(etwd_grants_has(&grants, &grant));
	for (int i = 0; i < 3; i++)
		assert_false(etwd_grants_has(&grants, &others[i]));
}

static void test_grants__end_with_their_session(void **state)
{
	struct etwd_grant ended = grant_of(1, 1000, 5), other = grant_of(2, 1000, 5);

	(void)state;
	assert_int_equal(etwd_grants_add(&grants, &ended), 1);
	assert_int_equal(etwd_grants_add(&grants, &other), 1);
	etwd_grants_end_session(&grants, 1);
	assert_false(etwd_grants_has(&grants, &ended));
	assert_true(etwd_grants_has(&grants, &other));
	assert_int_equal(grants.count, 1);
}

static int count_down(void *context, const struct etwd_grant *grant)
{
	int *left = context;

	(void)grant;
	return --*left ? 0 : -ECANCELED;
}

static void test_grants__are_visited_and_limited(void **state)
{
	struct etwd_grant grant;
	int left = ETWD_GRANTS_MAX + 1;

	(void)state;
	for (uint32_t i = 0; i < ETWD_GRANTS_MAX; i++) {
		grant = grant_of(1, i, 5);
		assert_int_equal(etwd_grants_add(&grants, &grant), 1);
	}
	grant = grant_of(1, ETWD_GRANTS_MAX, 5);
	assert_int_equal(etwd_grants_add(&grants, &grant), -ENOSPC);
	assert_int_equal(etwd_grants_each(&grants, count_down, &left), 0);
	assert_int_equal(left, 1);
	left = 10;
	assert_int_equal(etwd_grants_each(&grants, count_down, &left), -ECANCELED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_grants__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(are_of_session_uid_and_provider),
		TEST(end_with_their_session),
		TEST(are_visited_and_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
