/* SPDX-License-Identifier: MIT */
/* Who may go to the system's host, with groups that the linker leads to this file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "control/instance.h"
#include "wire/well_known.h"

#define GROUP 4711

static size_t entry_bytes; /* what the group's entry takes; 0: there is no such group */
static int group_count;    /* of this process; the last is GROUP */

int __wrap_getgrnam_r(const char *name, struct group *entry, char *room, size_t bytes,
		      struct group **ret);
int __wrap_getgroups(int room, gid_t *ret);
bool __wrap_etw_runtime_is_one(void);

int __wrap_getgrnam_r(const char *name, struct group *entry, char *room, size_t bytes,
		      struct group **ret)
{
	(void)room;
	*ret = NULL;
	if (strcmp(name, WIRE_CONTROL_GROUP) != 0 || entry_bytes == 0)
		return 0;
	if (bytes < entry_bytes)
		return ERANGE;
	*entry = (struct group){.gr_gid = GROUP};
	*ret = entry;
	return 0;
}

int __wrap_getgroups(int room, gid_t *ret)
{
	if (room == 0)
		return group_count;
	if (room < group_count) {
		errno = EINVAL;
		return -1;
	}
	for (int i = 0; i < group_count; i++)
		ret[i] = i == group_count - 1 ? GROUP : 100000 + (gid_t)i;
	return group_count;
}

bool __wrap_etw_runtime_is_one(void)
{
	return false;
}

/* Whether the system's host is asked for a session of programs. */
static bool is_system_asked(size_t bytes, int count)
{
	enum etw_instance instances[2];
	bool may_start[2];
	size_t found;

	entry_bytes = bytes;
	group_count = count;
	found = etw_control_start_order(/* is_kernel= */ false, instances, may_start);
	assert_int_equal(instances[found - 1], ETW_INSTANCE_USER);
	assert_true(may_start[found - 1]);
	if (found == 1)
		return false;
	assert_int_equal(instances[0], ETW_INSTANCE_SYSTEM);
	assert_false(may_start[0]);
	return true;
}

static void test_instance__members_of_the_group_go_to_the_system(void **state)
{
	(void)state;
	assert_true(is_system_asked(100, 1));
	assert_false(is_system_asked(100, 0));
	assert_false(is_system_asked(0, 1));
}

static void test_instance__a_group_may_have_many_members(void **state)
{
	(void)state;
	assert_true(is_system_asked(4097, 1));
	assert_true(is_system_asked(2000000, 1));
	assert_false(is_system_asked(SIZE_MAX, 1));
}

static void test_instance__a_member_may_have_many_groups(void **state)
{
	(void)state;
	assert_true(is_system_asked(100, 1025));
	assert_true(is_system_asked(100, 65536));
}

static void test_instance__the_kernel_has_one_place(void **state)
{
	enum etw_instance instances[2];
	bool may_start[2];

	(void)state;
	assert_int_equal(etw_control_start_order(/* is_kernel= */ true, instances, may_start), 1);
	assert_int_equal(instances[0], ETW_INSTANCE_SYSTEM);
	assert_false(may_start[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instance__members_of_the_group_go_to_the_system),
		cmocka_unit_test(test_instance__a_group_may_have_many_members),
		cmocka_unit_test(test_instance__a_member_may_have_many_groups),
		cmocka_unit_test(test_instance__the_kernel_has_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
