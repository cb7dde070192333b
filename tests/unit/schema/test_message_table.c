/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/compiled/message_table.h"
#include "synthetic/made_wevt.h"

static struct etw_arena arena;
static struct etw_text text;
static struct made_messages made;

static int begin(void **state)
{
	static const struct made_message messages[] = {
		{1, "One\r\n", false},        {2, "", false},
		{3, "A\r\nB\nC\rD", true},    {7, "No end", false},
		{0xffffffffu, "\r\n", false},
	};

	(void)state;
	etw_arena_init(&arena);
	etw_text_init(&text);
	made_messages_init(&made, messages, ARRAY_SIZE(messages));
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	etw_text_done(&text);
	return 0;
}

static void open_table(struct etw_message_table *ret)
{
	struct etw_fault fault = {0};

	assert_int_equal(etw_message_table_open(&arena, (struct etw_bytes){made.at, made.bytes},
						ret, &fault),
			 0);
	assert_null(fault.sentence);
}

static void refuse(size_t bytes, const char *sentence)
{
	struct etw_message_table table;
	struct etw_fault fault = {0};

	assert_int_equal(
		etw_message_table_open(&arena, (struct etw_bytes){made.at, bytes}, &table, &fault),
		-EBADMSG);
	assert_string_equal(fault.structure, "message table");
	assert_string_equal(fault.sentence, sentence);
}

static const char *text_of(const struct etw_message_table *table, uint32_t id)
{
	size_t index;

	etw_text_clear(&text);
	if (!etw_message_table_find(table, id, &index))
		return NULL;
	assert_true(index < table->entry_count);
	etw_message_table_text(table, index, &text);
	return etw_text_string(&text);
}

static void test_message_table__finds_by_number(void **state)
{
	struct etw_message_table table;

	(void)state;
	open_table(&table);
	assert_int_equal(table.block_count, 3);
	assert_int_equal(table.entry_count, 5);
	assert_string_equal(text_of(&table, 1), "One");
	assert_string_equal(text_of(&table, 2), "");
	assert_string_equal(text_of(&table, 7), "No end");
	assert_string_equal(text_of(&table, UINT32_MAX), "");
	assert_null(text_of(&table, 0));
	assert_null(text_of(&table, 4));
	assert_null(text_of(&table, 8));
}

static void test_message_table__line_ends_within_are_blanks(void **state)
{
	struct etw_message_table table;

	(void)state;
	open_table(&table);
	assert_string_equal(text_of(&table, 3), "A B C D");
}

static void test_message_table__escapes_without_values_are_replaced(void **state)
{
	(void)state;
	etw_message_text(&text, "%1!s! %%%n%r%t%b%.%!%");
	assert_string_equal(etw_text_string(&text), "%1!s! %%\r\n\r\t%b%.%!%");
	etw_text_clear(&text);
	etw_message_text(&text, "before%0after");
	assert_string_equal(etw_text_string(&text), "before");
}

static void test_message_table__order_of_blocks_does_not_matter(void **state)
{
	struct etw_message_table table;
	uint8_t block[12];

	(void)state;
	memcpy(block, made.at + 4, sizeof(block));
	memmove(made.at + 4, made.at + 16, sizeof(block));
	memcpy(made.at + 16, block, sizeof(block));
	open_table(&table);
	assert_string_equal(text_of(&table, 1), "One");
	assert_string_equal(text_of(&table, 7), "No end");
}

static void test_message_table__empty_table(void **state)
{
	struct etw_message_table table;

	(void)state;
	made_messages_init(&made, NULL, 0);
	open_table(&table);
	assert_null(text_of(&table, 0));
}

static void test_message_table__refuses_damage(void **state)
{
	const struct made_messages whole = made;
	size_t first = etw_load32(made.at + 12);

	(void)state;
	refuse(3, "the table ends within its head");
	refuse(39, "the blocks go beyond the table");
	refuse(made.bytes - 1, "an entry goes beyond the table");
	etw_store32(made.at + 12, (uint32_t)made.bytes - 3);
	refuse(made.bytes, "an entry goes beyond the table");
	etw_store32(made.at + 12, UINT32_MAX);
	refuse(made.bytes, "an entry goes beyond the table");
	made = whole;
	etw_store16(made.at + first, 3);
	refuse(made.bytes, "an entry is shorter than its head");
	made = whole;
	etw_store32(made.at + 8, 0);
	refuse(made.bytes, "a block ends before it begins");
	made = whole;
	etw_store32(made.at + 16, 3);
	etw_store32(made.at + 20, 3);
	refuse(made.bytes, "two blocks have the same number");
}

/* Four thousand million entries of nothing. */
static void test_message_table__entries_share_no_bytes(void **state)
{
	(void)state;
	made_messages_init(&made, &(struct made_message){1, "", false}, 1);
	etw_store32(made.at, 2);
	memmove(made.at + 28, made.at + 16, made.bytes - 16);
	memcpy(made.at + 16, made.at + 4, 12);
	made.bytes += 12;
	etw_store32(made.at + 12, 28);
	etw_store32(made.at + 24, 28);
	etw_store32(made.at + 16, 5);
	etw_store32(made.at + 20, UINT32_MAX);
	refuse(made.bytes, "an entry goes beyond the table");
	etw_store32(made.at, 1);
	etw_store32(made.at + 4, 0);
	etw_store32(made.at + 8, UINT32_MAX);
	etw_store32(made.at + 12, 16);
	for (size_t at = 16; at < made.bytes; at += 4)
		etw_store32(made.at + at, 4);
	refuse(made.bytes, "an entry goes beyond the table");
}

static void test_message_table__overlapping_entries(void **state)
{
	(void)state;
	made_messages_init(&made, &(struct made_message){1, "A text of some length", false}, 1);
	etw_store32(made.at, 3);
	memmove(made.at + 40, made.at + 16, made.bytes - 16);
	made.bytes += 24;
	for (uint32_t i = 0; i < 3; i++) {
		etw_store32(made.at + 4 + 12 * i, i);
		etw_store32(made.at + 8 + 12 * i, i);
		etw_store32(made.at + 12 + 12 * i, 40);
	}
	refuse(made.bytes, "the entries share bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_message_table__finds_by_number, begin, end),
		cmocka_unit_test_setup_teardown(test_message_table__line_ends_within_are_blanks,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_message_table__escapes_without_values_are_replaced, begin, end),
		cmocka_unit_test_setup_teardown(test_message_table__order_of_blocks_does_not_matter,
						begin, end),
		cmocka_unit_test_setup_teardown(test_message_table__empty_table, begin, end),
		cmocka_unit_test_setup_teardown(test_message_table__refuses_damage, begin, end),
		cmocka_unit_test_setup_teardown(test_message_table__entries_share_no_bytes, begin,
						end),
		cmocka_unit_test_setup_teardown(test_message_table__overlapping_entries, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
