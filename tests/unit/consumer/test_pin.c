/* SPDX-License-Identifier: MIT */
/* Whose a buffer's memory is while others hold it, and how much of it there may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "consumer/pin.h"
#include "etl/block.h"

static struct etw_etl_block make_block(size_t bytes)
{
	struct etw_etl_block block = {.memory = malloc(bytes), .memory_room = bytes};

	assert_non_null(block.memory);
	return block;
}

static void test_pin__memory_that_nobody_holds_is_used_again(void **state)
{
	struct etw_etl_block block = make_block(100);
	const uint8_t *memory = block.memory;
	struct etw_pin_account *account;
	struct etw_pin *pin;

	(void)state;
	assert_int_equal(etw_pin_account_create(100, &account), 0);
	assert_int_equal(etw_pin_create(account, &block, &pin), 0);
	etw_pin_unref(etw_pin_ref(pin));
	assert_int_equal(etw_pin_account_bytes(account), 100);
	etw_pin_leave(pin, &block);
	assert_ptr_equal(block.memory, memory);
	assert_int_equal(etw_pin_account_bytes(account), 0);
	etw_etl_block_done(&block);
	etw_pin_account_unref(account);
}

static void test_pin__memory_goes_over_to_who_holds_it(void **state)
{
	struct etw_etl_block block = make_block(100);
	uint8_t *memory = block.memory;
	struct etw_pin_account *account;
	struct etw_pin *pin;

	(void)state;
	assert_int_equal(etw_pin_account_create(100, &account), 0);
	assert_int_equal(etw_pin_create(account, &block, &pin), 0);
	(void)etw_pin_ref(pin);
	etw_pin_leave(pin, &block);
	assert_null(block.memory);
	assert_int_equal(block.memory_room, 0);
	memory[99] = 1;
	/* The account may be given back before the last pin. */
	etw_pin_account_unref(account);
	etw_pin_unref(pin);
	etw_pin_unref(NULL);
	etw_pin_account_unref(NULL);
}

static void test_pin__the_account_has_a_limit(void **state)
{
	struct etw_etl_block block = make_block(60), other = make_block(60);
	struct etw_pin_account *account;
	struct etw_pin *pin, *second = NULL;

	(void)state;
	assert_int_equal(etw_pin_account_create(100, &account), 0);
	assert_int_equal(etw_pin_create(account, &block, &pin), 0);
	assert_int_equal(etw_pin_create(account, &other, &second), -ENOBUFS);
	assert_null(second);
	assert_int_equal(etw_pin_account_bytes(account), 60);
	etw_pin_leave(pin, &block);
	assert_int_equal(etw_pin_create(account, &other, &second), 0);
	etw_pin_leave(second, &other);
	etw_etl_block_done(&block);
	etw_etl_block_done(&other);
	etw_pin_account_unref(account);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pin__memory_that_nobody_holds_is_used_again),
		cmocka_unit_test(test_pin__memory_goes_over_to_who_holds_it),
		cmocka_unit_test(test_pin__the_account_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
