/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/table.h"

#define ITEMS 1000

static bool is_number(const void *item, const void *key)
{
	return *(const uint32_t *)item == *(const uint32_t *)key;
}

static void fill(struct etw_table *table, uint32_t *numbers, uint64_t hash_mask)
{
	for (uint32_t i = 0; i < ITEMS; i++) {
		numbers[i] = i;
		assert_int_equal(
			etw_table_insert(table, etw_hash_mix(1, i) & hash_mask, &numbers[i]), 0);
	}
}

static void test_table__what_was_inserted_is_found(void **state)
{
	static uint32_t numbers[ITEMS];
	struct etw_table table;
	uint32_t absent = ITEMS;

	(void)state;
	etw_table_init(&table);
	assert_null(etw_table_find(&table, 5, is_number, &absent));
	fill(&table, numbers, UINT64_MAX);
	assert_int_equal(table.count, ITEMS);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_ptr_equal(etw_table_find(&table, etw_hash_mix(1, i), is_number, &i),
				 &numbers[i]);
	assert_null(etw_table_find(&table, etw_hash_mix(1, absent), is_number, &absent));
	etw_table_done(&table);
	assert_int_equal(table.count, 0);
}

static void test_table__colliding_hashes_are_told_apart(void **state)
{
	static uint32_t numbers[ITEMS];
	struct etw_table table;

	(void)state;
	etw_table_init(&table);
	fill(&table, numbers, 3);
	for (uint32_t i = 0; i < ITEMS; i++)
		assert_ptr_equal(etw_table_find(&table, etw_hash_mix(1, i) & 3, is_number, &i),
				 &numbers[i]);
	etw_table_done(&table);
}

static void test_table__reserved_room_is_not_moved(void **state)
{
	static uint32_t numbers[ITEMS];
	struct etw_table table;
	const struct etw_table_slot *slots;

	(void)state;
	etw_table_init(&table);
	assert_int_equal(etw_table_reserve(&table, ITEMS), 0);
	slots = table.slots;
	fill(&table, numbers, UINT64_MAX);
	assert_ptr_equal(table.slots, slots);
	etw_table_done(&table);
}

static void test_table__hash_of_bytes_depends_on_all_of_them(void **state)
{
	uint8_t bytes[21] = {0};
	uint64_t zeros = etw_hash_bytes(7, bytes, sizeof(bytes));

	(void)state;
	assert_int_not_equal(zeros, etw_hash_bytes(7, bytes, sizeof(bytes) - 1));
	assert_int_not_equal(zeros, etw_hash_bytes(8, bytes, sizeof(bytes)));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_int_not_equal(zeros, etw_hash_bytes(7, bytes, sizeof(bytes)));
		bytes[i] = 0;
	}
}

static void test_table__the_seed_is_drawn_once(void **state)
{
	uint64_t seed = etw_hash_seed();

	(void)state;
	assert_true(seed != 0);
	assert_true(etw_hash_seed() == seed);
	etw_hash_seed_set(77);
	assert_true(etw_hash_seed() == 77);
	etw_hash_seed_set(0);
	assert_true(etw_hash_seed() != 0);
	/* Of 64 drawn bits 63 count. */
	assert_true(etw_hash_seed() != seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__what_was_inserted_is_found),
		cmocka_unit_test(test_table__colliding_hashes_are_told_apart),
		cmocka_unit_test(test_table__reserved_room_is_not_moved),
		cmocka_unit_test(test_table__hash_of_bytes_depends_on_all_of_them),
		cmocka_unit_test(test_table__the_seed_is_drawn_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
