/* SPDX-License-Identifier: MIT */
/* The bytes of an image's symbols: what is written is read, and nothing else is taken for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "wire/etl_event.h"
#include "wire/image_symbols.h"

#define MANY 1000

static const struct etw_image_symbol three[] = {
	{0, 16, 4, "main"},
	{0x10, 0, 5, "caf\xC3\xA9"},
	{0xFFFFFFFF0, 1, 1, "f"},
};

/* The event's last item, which is the schema, and what is behind it. */
static void find_parts(const uint8_t *event, uint32_t bytes, struct etw_bytes *ret_schema,
		       struct etw_bytes *ret_payload)
{
	const uint8_t *item = event + sizeof(struct wire_event_header);

	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	*ret_schema = (struct etw_bytes){item + 8, etw_load16(item + 6)};
	item += etw_load16(item);
	*ret_payload = (struct etw_bytes){item, bytes - (size_t)(item - event)};
}

static uint32_t encode_three(uint8_t *event)
{
	const struct etw_image_symbols_part part = {0x7f0000000000, 42, 7, 10, 5, 3};
	uint32_t bytes;

	memset(event, 0, WIRE_IMAGE_SYMBOLS_BYTES_MAX);
	assert_int_equal(etw_image_symbols_fit(three, 3, &bytes), 3);
	etw_image_symbols_encode(&part, three, event);
	return bytes;
}

static void test_image_symbols__are_read_as_they_were_written(void **state)
{
	static const GUID provider = WIRE_IMAGE_SYMBOLS_PROVIDER;
	struct etw_image_symbols_cursor cursor;
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX];
	uint32_t bytes = encode_three(event);
	struct etw_bytes schema, payload;
	struct etw_image_symbols_part part;
	struct etw_image_symbol symbol;
	GUID found;

	(void)state;
	assert_int_equal(etw_load16(event), bytes);
	assert_int_equal(etw_load32(event + 12), 42);
	found = etw_guid_read(event + 0x18);
	assert_true(etw_guid_equal(&found, &provider));
	find_parts(event, bytes, &schema, &payload);
	assert_true(etw_image_symbols_parse(schema, payload, &part, &cursor));
	assert_int_equal(part.image_base, 0x7f0000000000);
	assert_int_equal(part.process_id, 42);
	assert_int_equal(part.table, 7);
	assert_int_equal(part.total, 10);
	assert_int_equal(part.first, 5);
	assert_int_equal(part.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(etw_image_symbols_next(&part, &cursor, &symbol));
		assert_int_equal(symbol.offset, three[i].offset);
		assert_int_equal(symbol.byte_count, three[i].byte_count);
		assert_string_equal(symbol.name, three[i].name);
		assert_int_equal(symbol.name_bytes, three[i].name_bytes);
	}
	assert_false(etw_image_symbols_next(&part, &cursor, &symbol));
	assert_int_equal(cursor.left.left, 0);
}

static void test_image_symbols__cut_ones_end_early(void **state)
{
	struct etw_image_symbols_cursor cursor;
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX];
	uint32_t bytes = encode_three(event);
	struct etw_bytes schema, payload;
	struct etw_image_symbols_part part;
	struct etw_image_symbol symbol;

	(void)state;
	find_parts(event, bytes, &schema, &payload);
	for (size_t cut = 0; cut < payload.left; cut++) {
		const struct etw_bytes left = {payload.at, cut};
		unsigned count = 0;

		if (!etw_image_symbols_parse(schema, left, &part, &cursor)) {
			assert_true(cut < 26);
			continue;
		}
		while (etw_image_symbols_next(&part, &cursor, &symbol))
			count++;
		assert_true(count < 3);
	}
	for (size_t cut = 0; cut < schema.left; cut++)
		assert_false(etw_image_symbols_parse((struct etw_bytes){schema.at, cut}, payload,
						     &part, &cursor));
}

static void test_image_symbols__parts_beyond_their_table_are_refused(void **state)
{
	static const uint32_t wrong[][2] = {
		{7, 5}, {0, 0}, {4, 5}, {WIRE_IMAGE_SYMBOLS_MAX + 1, 0}, {UINT32_MAX, UINT32_MAX}};
	struct etw_image_symbols_cursor cursor;
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX];
	uint32_t bytes = encode_three(event);
	struct etw_bytes schema, payload;
	struct etw_image_symbols_part part;

	(void)state;
	find_parts(event, bytes, &schema, &payload);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t *at = event + (payload.at - event);

		etw_store32(at + 16, wrong[i][0]);
		etw_store32(at + 20, wrong[i][1]);
		assert_false(etw_image_symbols_parse(schema, payload, &part, &cursor));
	}
}

static void test_image_symbols__unsound_ones(void **state)
{
	static const struct etw_image_symbol wrong[] = {
		{UINT64_MAX, 1, 1, "f"},
		{UINT64_MAX - 0x1000, 2, 1, "f"},
		{0, 1, 0, ""},
		{0, 1, 1, "\xFF"},
	};
	static char long_name[WIRE_IMAGE_SYMBOL_NAME_MAX + 2];
	struct etw_image_symbol symbol = {0, 1, WIRE_IMAGE_SYMBOL_NAME_MAX, long_name};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(etw_image_symbol_is_sound(0x1000, &wrong[i]));
	memset(long_name, 'x', sizeof(long_name) - 1);
	assert_true(etw_image_symbol_is_sound(0x1000, &symbol));
	symbol.name_bytes++;
	assert_false(etw_image_symbol_is_sound(0x1000, &symbol));
}

/* However long the names are, the parts of a table follow each other without a gap and are no longer than they may be. */
static void test_image_symbols__a_table_in_parts(void **state)
{
	static struct etw_image_symbol symbols[MANY];
	static char name[WIRE_IMAGE_SYMBOL_NAME_MAX + 1];
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX];
	uint32_t parts = 0, found = 0;

	(void)state;
	memset(name, 'n', WIRE_IMAGE_SYMBOL_NAME_MAX);
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t bytes = 1 + i * 7919 % WIRE_IMAGE_SYMBOL_NAME_MAX;

		symbols[i] = (struct etw_image_symbol){i, 1, bytes,
						       name + WIRE_IMAGE_SYMBOL_NAME_MAX - bytes};
	}
	for (uint32_t first = 0, bytes; first < MANY; parts++) {
		struct etw_image_symbols_part part = {0x1000, 1, 1, MANY, first, 0};
		struct etw_image_symbols_cursor cursor;
		struct etw_bytes schema, payload;
		struct etw_image_symbol symbol;

		part.count = etw_image_symbols_fit(symbols + first, MANY - first, &bytes);
		assert_true(part.count > 0 && bytes <= sizeof(event));
		memset(event, 0, sizeof(event));
		etw_image_symbols_encode(&part, symbols + first, event);
		find_parts(event, bytes, &schema, &payload);
		assert_true(etw_image_symbols_parse(schema, payload, &part, &cursor));
		while (etw_image_symbols_next(&part, &cursor, &symbol)) {
			assert_int_equal(symbol.offset, found);
			assert_int_equal(symbol.name_bytes, symbols[found].name_bytes);
			found++;
		}
		first += part.count;
	}
	assert_int_equal(found, MANY);
	assert_true(parts > 100);
}

static void test_image_symbols__packed_ones(void **state)
{
	uint8_t room[128];
	struct etw_image_symbol back[3];
	uint32_t bytes;

	(void)state;
	assert_int_equal(etw_image_symbols_pack(three, 3, room, sizeof(room), &bytes), 3);
	assert_int_equal(bytes, 3 * 13 + 10);
	assert_int_equal(
		etw_image_symbols_unpack((struct etw_bytes){room, bytes}, UINT64_MAX, back, 3), 3);
	assert_string_equal(back[1].name, three[1].name);
	assert_int_equal(back[2].offset, three[2].offset);
	assert_int_equal(
		etw_image_symbols_unpack((struct etw_bytes){room, bytes}, UINT64_MAX, NULL, 0), 3);
	/* Too few places; one that reaches out of the image; one that is cut. */
	assert_int_equal(
		etw_image_symbols_unpack((struct etw_bytes){room, bytes}, UINT64_MAX, back, 2),
		UINT32_MAX);
	assert_int_equal(
		etw_image_symbols_unpack((struct etw_bytes){room, bytes}, 0xFFFFFFFF0, NULL, 0),
		UINT32_MAX);
	for (uint32_t cut = 1; cut < 17; cut++)
		assert_int_equal(etw_image_symbols_unpack((struct etw_bytes){room, cut}, UINT64_MAX,
							  NULL, 0),
				 cut == 17 ? 1 : UINT32_MAX);
	assert_int_equal(etw_image_symbols_unpack((struct etw_bytes){NULL, 0}, 0, NULL, 0), 0);
	/* What does not fit is left for the next run. */
	assert_int_equal(etw_image_symbols_pack(three, 3, room, 20, &bytes), 1);
	assert_int_equal(bytes, 17);
}

static void test_image_symbols__of_another_process(void **state)
{
	const struct etw_image_symbols_heir heir = {0x7f0000000000, 43, 42};
	uint8_t event[256] = {0}, others[WIRE_IMAGE_SYMBOLS_BYTES_MAX];
	struct etw_image_symbols_cursor cursor;
	struct etw_image_symbols_part part;
	struct etw_image_symbols_heir read;
	struct etw_bytes schema, payload;

	(void)state;
	assert_in_range(etw_image_symbols_heir_bytes(), 100, sizeof(event));
	etw_image_symbols_heir_encode(&heir, event);
	assert_int_equal(etw_load16(event), etw_image_symbols_heir_bytes());
	assert_int_equal(etw_load32(event + 12), 43);
	find_parts(event, etw_image_symbols_heir_bytes(), &schema, &payload);
	assert_true(etw_image_symbols_heir_parse(schema, payload, &read));
	assert_memory_equal(&read, &heir, sizeof(heir));
	/* Neither is taken for the other, nor what is cut. */
	assert_false(etw_image_symbols_parse(schema, payload, &part, &cursor));
	payload.left--;
	assert_false(etw_image_symbols_heir_parse(schema, payload, &read));
	find_parts(others, encode_three(others), &schema, &payload);
	assert_false(etw_image_symbols_heir_parse(schema, payload, &read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image_symbols__are_read_as_they_were_written),
		cmocka_unit_test(test_image_symbols__cut_ones_end_early),
		cmocka_unit_test(test_image_symbols__parts_beyond_their_table_are_refused),
		cmocka_unit_test(test_image_symbols__unsound_ones),
		cmocka_unit_test(test_image_symbols__a_table_in_parts),
		cmocka_unit_test(test_image_symbols__packed_ones),
		cmocka_unit_test(test_image_symbols__of_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
