/* SPDX-License-Identifier: MIT */
/* The list of leases: each session once, as many as a host has sessions. */
#include "control/leases.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_leases__a_session_is_there_once(void **state)
{
	struct etw_control_leases leases = {.count = 0};

	(void)state;
	assert_int_equal(etw_control_leases_remember(&leases, 7), 0);
	assert_int_equal(etw_control_leases_remember(&leases, 7), 0);
	assert_int_equal(leases.count, 1);
	assert_int_equal(leases.handles[0], 7);
}

static void test_leases__what_is_forgotten_is_gone_and_nothing_else(void **state)
{
	struct etw_control_leases leases = {.count = 0};

	(void)state;
	for (uint64_t handle = 1; handle <= 3; handle++)
		assert_int_equal(etw_control_leases_remember(&leases, handle), 0);
	etw_control_leases_forget(&leases, 9);
	assert_int_equal(leases.count, 3);
	etw_control_leases_forget(&leases, 1);
	assert_int_equal(leases.count, 2);
	assert_int_equal(leases.handles[0] + leases.handles[1], 5);
	etw_control_leases_forget(&leases, 1);
	assert_int_equal(leases.count, 2);
}

static void test_leases__a_full_list_refuses(void **state)
{
	struct etw_control_leases leases = {.count = 0};

	(void)state;
	for (uint64_t handle = 1; !etw_control_leases_are_full(&leases); handle++)
		assert_int_equal(etw_control_leases_remember(&leases, handle), 0);
	assert_int_equal(leases.count, WIRE_LIST_SESSIONS_MAX);
	assert_int_equal(etw_control_leases_remember(&leases, UINT64_MAX), -ENOSPC);
	assert_int_equal(etw_control_leases_remember(&leases, 1), 0); /* it is there already */
	etw_control_leases_forget(&leases, 1);
	assert_false(etw_control_leases_are_full(&leases));
	assert_int_equal(etw_control_leases_remember(&leases, UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leases__a_session_is_there_once),
		cmocka_unit_test(test_leases__what_is_forgotten_is_gone_and_nothing_else),
		cmocka_unit_test(test_leases__a_full_list_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
