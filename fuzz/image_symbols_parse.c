/* SPDX-License-Identifier: MIT */
/*
 * Symbols of an image of any bytes are refused, or read as sound ones, no more than the part says; what was read and
 * is written again is read as the same. Input: the payload of an event.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "wire/etl_event.h"
#include "wire/image_symbols.h"

#define READ_MAX 64

/* The schema item's data and the payload of an event that was written. */
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

static void check_again(const struct etw_image_symbols_part *part,
			const struct etw_image_symbol *symbols, uint32_t count)
{
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX] = {0};
	struct etw_image_symbols_part again = *part, read;
	struct etw_image_symbols_cursor cursor;
	struct etw_bytes schema, payload;
	struct etw_image_symbol symbol;
	uint32_t bytes;

	again.count = etw_image_symbols_fit(symbols, count, &bytes);
	CHECK(again.count <= count && (again.count || !count) && bytes <= sizeof(event));
	etw_image_symbols_encode(&again, symbols, event);
	find_parts(event, bytes, &schema, &payload);
	CHECK(etw_image_symbols_parse(schema, payload, &read, &cursor));
	CHECK(memcmp(&read, &again, sizeof(read)) == 0);
	for (uint32_t i = 0; i < again.count; i++) {
		CHECK(etw_image_symbols_next(&read, &cursor, &symbol));
		CHECK(symbol.offset == symbols[i].offset &&
		      symbol.byte_count == symbols[i].byte_count &&
		      strcmp(symbol.name, symbols[i].name) == 0);
	}
	CHECK(!etw_image_symbols_next(&read, &cursor, &symbol));
}

static void check_heir(struct etw_bytes payload)
{
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX] = {0};
	struct etw_image_symbols_heir heir = {0}, again;
	struct etw_bytes schema, own;

	etw_image_symbols_heir_encode(&heir, event);
	find_parts(event, etw_image_symbols_heir_bytes(), &schema, &own);
	if (!etw_image_symbols_heir_parse(schema, payload, &heir))
		return;
	etw_image_symbols_heir_encode(&heir, event);
	CHECK(etw_image_symbols_heir_parse(schema, own, &again));
	CHECK(memcmp(&heir, &again, sizeof(heir)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_image_symbols_part empty = {0}, part;
	uint8_t event[WIRE_IMAGE_SYMBOLS_BYTES_MAX] = {0};
	struct etw_image_symbol symbols[READ_MAX], symbol;
	struct etw_image_symbols_cursor cursor;
	struct etw_bytes schema, payload;
	uint32_t count = 0, event_bytes;

	count = etw_image_symbols_unpack((struct etw_bytes){data, bytes}, UINT64_MAX, symbols,
					 READ_MAX);
	CHECK(count == UINT32_MAX || count <= READ_MAX);
	check_heir((struct etw_bytes){data, bytes});
	count = 0;
	(void)etw_image_symbols_fit(NULL, 0, &event_bytes);
	etw_image_symbols_encode(&empty, NULL, event);
	find_parts(event, event_bytes, &schema, &payload);
	if (!etw_image_symbols_parse(schema, (struct etw_bytes){data, bytes}, &part, &cursor))
		return 0;
	while (etw_image_symbols_next(&part, &cursor, &symbol)) {
		CHECK(etw_image_symbol_is_sound(part.image_base, &symbol));
		CHECK(strlen(symbol.name) == symbol.name_bytes);
		if (count < READ_MAX)
			symbols[count] = symbol;
		count++;
	}
	CHECK(count <= part.count);
	check_again(&part, symbols, count < READ_MAX ? count : READ_MAX);
	return 0;
}
