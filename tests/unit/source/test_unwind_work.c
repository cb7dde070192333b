/* SPDX-License-Identifier: MIT */
/* Accounts of work, by a clock of the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "source/kernel/unwind/unwind_work.h"

#define START_NS (100 * ETW_NS_PER_S)

static void test_unwind_work__each_uid_has_its_account(void **state)
{
	struct etw_kernel_work work = {0};

	(void)state;
	etw_kernel_work_done(&work, 7, ETW_KERNEL_WORK_OF_UID - 1);
	assert_true(etw_kernel_work_may(&work, 7, START_NS));
	etw_kernel_work_done(&work, 7, ETW_KERNEL_WORK_OF_UID);
	assert_false(etw_kernel_work_may(&work, 7, START_NS));
	assert_true(etw_kernel_work_may(&work, 8, START_NS));
	assert_true(etw_kernel_work_may(&work, 0, START_NS));
}

static void test_unwind_work__accounts_fill_up(void **state)
{
	struct etw_kernel_work work = {0};

	(void)state;
	assert_true(etw_kernel_work_may(&work, 7, START_NS));
	etw_kernel_work_done(&work, 7, ETW_KERNEL_WORK_OF_UID);
	assert_false(etw_kernel_work_may(&work, 7, START_NS));
	/* Looks that come often do not keep it from that. */
	for (uint64_t ns = 0; ns < 1000; ns += 10)
		assert_false(etw_kernel_work_may(&work, 7, START_NS + ns));
	assert_true(etw_kernel_work_may(&work, 7, START_NS + ETW_NS_PER_S));
	etw_kernel_work_done(&work, 7, ETW_KERNEL_WORK_OF_UID / ETW_KERNEL_WORK_REFILL_S);
	assert_false(etw_kernel_work_may(&work, 7, START_NS + ETW_NS_PER_S));
	assert_true(etw_kernel_work_may(&work, 7, START_NS + 100 * ETW_NS_PER_S));
	etw_kernel_work_done(&work, 7, ETW_KERNEL_WORK_OF_UID);
	assert_false(etw_kernel_work_may(&work, 7, START_NS + 100 * ETW_NS_PER_S));
}

/* One user may have many uids. */
static void test_unwind_work__all_but_root_have_one_together(void **state)
{
	struct etw_kernel_work work = {0};

	(void)state;
	for (uint32_t uid = 1; uid <= 5; uid++)
		etw_kernel_work_done(&work, uid * 1000, ETW_KERNEL_WORK_OF_UID);
	assert_false(etw_kernel_work_may(&work, 9, 0));
	etw_kernel_work_done(&work, 0, UINT64_C(1) << 60);
	assert_true(etw_kernel_work_may(&work, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind_work__each_uid_has_its_account),
		cmocka_unit_test(test_unwind_work__accounts_fill_up),
		cmocka_unit_test(test_unwind_work__all_but_root_have_one_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
