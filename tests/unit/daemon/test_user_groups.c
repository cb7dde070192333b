/* SPDX-License-Identifier: MIT */
#include "daemon/user_groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_user_groups__root_is_in_the_group_of_root(void **state)
{
	gid_t groups[ETW_OWNER_GROUPS_MAX];
	gid_t gid = 4711;

	(void)state;
	assert_in_range(etwd_user_groups(0, &gid, groups), 1, ETW_OWNER_GROUPS_MAX);
	assert_int_equal(gid, 0);
	assert_int_equal(groups[0], 0);
}

static void test_user_groups__a_user_whom_nobody_knows_has_none(void **state)
{
	gid_t groups[ETW_OWNER_GROUPS_MAX];
	gid_t gid = 4711;

	(void)state;
	assert_int_equal(etwd_user_groups((uid_t)-2, &gid, groups), 0);
	assert_int_equal(gid, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_groups__root_is_in_the_group_of_root),
		cmocka_unit_test(test_user_groups__a_user_whom_nobody_knows_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
