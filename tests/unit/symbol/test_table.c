/* SPDX-License-Identifier: MIT */
#include "symbol/table.h"

#include "fixture.h"

static void add(struct etw_symbol_table *table, uint64_t start, uint64_t bytes, const char *name,
		uint32_t rank)
{
	const struct etw_symbol_entry entry = {
		.start = start, .bytes = bytes, .name = name, .rank = rank};

	assert_int_equal(etw_symbol_table_add(table, &entry, strlen(name)), 0);
}

static void assert_name(struct etw_symbol_table *table, uint64_t address, const char *name)
{
	const struct etw_symbol_entry *entry = etw_symbol_table_find(table, address);

	if (name)
		assert_string_equal(entry ? entry->name : "nothing", name);
	else
		assert_null(entry);
}

static void test_table__finds_what_covers_an_address(UNUSED_STATE)
{
	struct etw_symbol_table table;

	etw_symbol_table_init(&table, NULL);
	assert_name(&table, 0, NULL);
	add(&table, 200, 50, "second", 0);
	add(&table, 100, 50, "first", 0);
	assert_name(&table, 99, NULL);
	assert_name(&table, 100, "first");
	assert_name(&table, 149, "first");
	assert_name(&table, 150, NULL);
	assert_name(&table, 249, "second");
	add(&table, 150, 10, "later", 0);
	assert_name(&table, 155, "later");
	add(&table, UINT64_MAX - 10, UINT64_MAX, "last", 0);
	assert_name(&table, UINT64_MAX - 1, "last");
	etw_symbol_table_done(&table);
}

static void test_table__prefers_what_lies_within(UNUSED_STATE)
{
	struct etw_symbol_table table;

	etw_symbol_table_init(&table, NULL);
	add(&table, 100, 100, "around", 0);
	add(&table, 120, 10, "within", 0);
	add(&table, 140, 0, "mark", 0);
	assert_name(&table, 119, "around");
	assert_name(&table, 125, "within");
	assert_name(&table, 135, "around");
	/* A mark without a size is no function of its own there. */
	assert_name(&table, 141, "around");
	etw_symbol_table_done(&table);
}

static void test_table__chooses_one_of_several_names(UNUSED_STATE)
{
	static const char *const names[] = {"__libc_open", "open", "__open", "open64"};
	struct etw_symbol_table table;

	/* In whatever order they come. */
	for (size_t first = 0; first < 4; first++) {
		etw_symbol_table_init(&table, NULL);
		for (size_t i = 0; i < 4; i++)
			add(&table, 100, 10, names[(first + i) % 4], ETW_SYMBOL_WEAK);
		assert_name(&table, 105, "open");
		etw_symbol_table_done(&table);
	}
	etw_symbol_table_init(&table, NULL);
	add(&table, 100, 10, "a", ETW_SYMBOL_LOCAL);
	add(&table, 100, 10, "weak", ETW_SYMBOL_WEAK);
	add(&table, 100, 10, "global", ETW_SYMBOL_GLOBAL);
	add(&table, 100, 0, "x", ETW_SYMBOL_GLOBAL);
	assert_name(&table, 100, "global");
	etw_symbol_table_done(&table);
}

static void test_table__lets_symbols_without_size_reach_to_the_next(UNUSED_STATE)
{
	const struct etw_symbol_entry of_module = {
		.start = 0x9000, .name = "of_module", .module = "[module]"};
	struct etw_symbol_table table;

	etw_symbol_table_init(&table, NULL);
	add(&table, 0x1000, 0, "first", 0);
	add(&table, 0x1800, 0, "second", 0);
	assert_int_equal(etw_symbol_table_add(&table, &of_module, 9), 0);
	assert_name(&table, 0x17ff, "first");
	/* Not into another module, and not beyond its page at the end. */
	assert_name(&table, 0x1fff, "second");
	assert_name(&table, 0x2000, NULL);
	assert_name(&table, 0x9fff, "of_module");
	assert_name(&table, 0xa000, NULL);
	etw_symbol_table_done(&table);
}

static void test_table__holds_its_limit(UNUSED_STATE)
{
	const struct etw_symbol_entry more = {.start = 1, .bytes = 1, .name = "more"};
	struct etw_symbol_table table, other;
	size_t left = 3;

	etw_symbol_table_init(&table, &left);
	etw_symbol_table_init(&other, &left);
	add(&table, 100, 10, "one", 0);
	add(&table, 100, 10, "same", 0);
	add(&other, 200, 10, "two", 0);
	assert_int_equal(etw_symbol_table_add(&other, &more, 4), -E2BIG);
	/* What turns out to be superfluous is room again. */
	assert_name(&table, 100, "one");
	assert_int_equal(left, 1);
	assert_int_equal(etw_symbol_table_merge(&table, &other), 0);
	assert_name(&table, 205, "two");
	assert_int_equal(left, 1);
	etw_symbol_table_done(&table);
	etw_symbol_table_done(&other);
	assert_int_equal(left, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table__finds_what_covers_an_address),
		cmocka_unit_test(test_table__prefers_what_lies_within),
		cmocka_unit_test(test_table__chooses_one_of_several_names),
		cmocka_unit_test(test_table__lets_symbols_without_size_reach_to_the_next),
		cmocka_unit_test(test_table__holds_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
