/* SPDX-License-Identifier: MIT */
/* Bytes of image events that a user may cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/kernel/processes/image_shares.h"

#define SECOND_NS UINT64_C(1000000000)
#define PIECE     (UINT32_C(1) << 20)

static uint64_t take_all(struct etw_kernel_shares *shares, uint32_t uid, uint64_t now_ns)
{
	uint64_t bytes = 0;

	while (etw_kernel_shares_take(shares, uid, now_ns, PIECE))
		bytes += PIECE;
	return bytes;
}

static void test_image_shares__one_user_takes_nothing_from_another(void **state)
{
	struct etw_kernel_shares shares;

	(void)state;
	etw_kernel_shares_init(&shares);
	assert_int_equal(take_all(&shares, 7, SECOND_NS), ETW_KERNEL_SHARE_BYTES);
	assert_int_equal(take_all(&shares, 8, SECOND_NS), ETW_KERNEL_SHARE_BYTES);
	for (int i = 0; i < 10000; i++)
		assert_true(etw_kernel_shares_take(&shares, 0, SECOND_NS, PIECE));
	/* Less than a piece is left of neither. */
	assert_false(etw_kernel_shares_take(&shares, 7, SECOND_NS, 1));
	assert_true(etw_kernel_shares_take(&shares, 7, SECOND_NS, 0));
}

static void test_image_shares__come_back(void **state)
{
	struct etw_kernel_shares shares;

	(void)state;
	etw_kernel_shares_init(&shares);
	(void)take_all(&shares, 7, SECOND_NS);
	assert_int_equal(take_all(&shares, 7, 2 * SECOND_NS), ETW_KERNEL_SHARE_SECOND_BYTES);
	assert_int_equal(take_all(&shares, 7, 2 * SECOND_NS + SECOND_NS / 2),
			 ETW_KERNEL_SHARE_SECOND_BYTES / 2);
	/* Never more than all, however long it was; and not by a clock that goes back. */
	assert_int_equal(take_all(&shares, 7, UINT64_MAX / 2), ETW_KERNEL_SHARE_BYTES);
	assert_int_equal(take_all(&shares, 7, 0), 0);
	assert_int_equal(take_all(&shares, 7, UINT64_MAX / 2), 0);
}

static void test_image_shares__many_users_have_one_together(void **state)
{
	struct etw_kernel_shares shares;
	uint64_t bytes = 0;

	(void)state;
	etw_kernel_shares_init(&shares);
	for (uint32_t uid = 1; uid < 10 * ETW_KERNEL_SHARES_MAX; uid++)
		bytes += take_all(&shares, uid, SECOND_NS);
	assert_true(bytes <= ETW_KERNEL_SHARES_BYTES);
	assert_int_equal(shares.count, ETW_KERNEL_SHARES_MAX);
	assert_true(etw_kernel_shares_take(&shares, 0, SECOND_NS, PIECE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image_shares__one_user_takes_nothing_from_another),
		cmocka_unit_test(test_image_shares__come_back),
		cmocka_unit_test(test_image_shares__many_users_have_one_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
