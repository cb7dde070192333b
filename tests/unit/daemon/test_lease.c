/* SPDX-License-Identifier: MIT */
#include "daemon/lease.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define OWNER 1000
#define OTHER 1001

static void test_lease__one_controller_holds_it(void **state)
{
	struct etwd_lease lease = {0};

	(void)state;
	assert_false(etwd_lease_is_of(&lease, 7));
	assert_false(etwd_lease_is_awaited(&lease));
	assert_int_equal(etwd_lease_take(&lease, 7, OWNER), 0);
	assert_int_equal(etwd_lease_take(&lease, 7, OWNER), 0); /* renewed */
	assert_int_equal(etwd_lease_take(&lease, 8, OWNER), -EBUSY);
	assert_int_equal(etwd_lease_take(&lease, 8, 0), -EBUSY);
	assert_true(etwd_lease_is_of(&lease, 7));
	assert_false(etwd_lease_is_of(&lease, 8));
	assert_false(etwd_lease_is_awaited(&lease));
}

static void test_lease__its_controller_comes_back(void **state)
{
	struct etwd_lease lease = {0};

	(void)state;
	etwd_lease_await(&lease, OWNER, 5000);
	assert_true(etwd_lease_is_awaited(&lease));
	assert_int_equal(lease.by_ms, 5000);
	assert_int_equal(etwd_lease_take(&lease, 3, OTHER), -EACCES);
	assert_true(etwd_lease_is_awaited(&lease));
	assert_int_equal(etwd_lease_take(&lease, 3, OWNER), 0);
	assert_false(etwd_lease_is_awaited(&lease));
	assert_true(etwd_lease_is_of(&lease, 3));
}

static void test_lease__root_takes_anybodys(void **state)
{
	struct etwd_lease lease = {0};

	(void)state;
	etwd_lease_await(&lease, OWNER, 5000);
	assert_int_equal(etwd_lease_take(&lease, 4, 0), 0);
	assert_int_equal(lease.uid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lease__one_controller_holds_it),
		cmocka_unit_test(test_lease__its_controller_comes_back),
		cmocka_unit_test(test_lease__root_takes_anybodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
