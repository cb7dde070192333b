/* SPDX-License-Identifier: MIT */
#include "session/common/owner.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY 65534

#define OF_ROOT                                                            \
	(UINT32_C(1) << CAP_SYS_RESOURCE | UINT32_C(1) << CAP_SYS_PTRACE | \
	 UINT32_C(1) << CAP_SYS_ADMIN)

static uint32_t effective(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	assert_int_equal(syscall(SYS_capget, &head, data), 0);
	return data[0].effective;
}

static void skip_without_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("skipped: only root can act for others\n");
	skip();
}

static void test_owner__files_are_made_with_the_users_rights(void **state)
{
	uint32_t before = effective();
	struct etw_owner owner;

	(void)state;
	skip_without_root();
	assert_int_equal(etw_owner_become(NOBODY, &owner), 0);
	assert_int_equal(setfsuid((uid_t)-1), NOBODY);
	assert_false(effective() & OF_ROOT);
	assert_int_equal(access("/proc/self", F_OK), 0);
	assert_int_equal(open("/etc/shadow", O_RDONLY | O_CLOEXEC), -1);
	etw_owner_return(&owner);
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(effective(), before);
}

static int find_two_groups(uid_t uid, gid_t *ret_gid, gid_t groups[ETW_OWNER_GROUPS_MAX])
{
	assert_int_equal(uid, NOBODY);
	*ret_gid = 4711;
	groups[0] = 4711;
	groups[1] = 4712;
	return 2;
}

static void test_owner__groups_are_those_that_the_host_finds(void **state)
{
	gid_t groups[ETW_OWNER_GROUPS_MAX];
	struct etw_owner owner;

	(void)state;
	skip_without_root();
	assert_int_equal(etw_owner_become(NOBODY, &owner), 0);
	assert_int_equal(setfsgid((gid_t)-1), NOBODY);
	assert_int_equal(getgroups(ETW_OWNER_GROUPS_MAX, groups), 0);
	etw_owner_return(&owner);

	etw_owner_use_groups(find_two_groups);
	assert_int_equal(etw_owner_become(NOBODY, &owner), 0);
	assert_int_equal(setfsgid((gid_t)-1), 4711);
	assert_int_equal(getgroups(ETW_OWNER_GROUPS_MAX, groups), 2);
	assert_int_equal(groups[1], 4712);
	etw_owner_return(&owner);
	etw_owner_use_groups(NULL);
	assert_int_not_equal(setfsgid((gid_t)-1), 4711);
}

static void test_owner__files_are_written_within_the_users_limits(void **state)
{
	uint32_t before = effective();
	struct etw_owner owner;

	(void)state;
	skip_without_root();
	etw_owner_write(NOBODY, &owner);
	assert_int_equal(setfsuid((uid_t)-1), NOBODY);
	assert_false(effective() & OF_ROOT);
	etw_owner_return(&owner);
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(effective(), before);
}

static void test_owner__oneself_changes_nothing(void **state)
{
	uint32_t before = effective();
	struct etw_owner owner;

	(void)state;
	assert_int_equal(etw_owner_become(geteuid(), &owner), 0);
	assert_int_equal(effective(), before);
	etw_owner_return(&owner);
	etw_owner_write(geteuid(), &owner);
	assert_int_equal(effective(), before);
	assert_int_equal(setfsuid((uid_t)-1), geteuid());
	etw_owner_return(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner__files_are_made_with_the_users_rights),
		cmocka_unit_test(test_owner__groups_are_those_that_the_host_finds),
		cmocka_unit_test(test_owner__files_are_written_within_the_users_limits),
		cmocka_unit_test(test_owner__oneself_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
