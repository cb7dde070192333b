/* SPDX-License-Identifier: MIT */
/*
 * Decodes a payload by a schema that comes from the input, too: nothing outside the payload may be
 * read, the items must form a tree in it, and text and JSON must come out of every item.
 *
 * Input: u8 number of fields (1..32), u8 top-level fields and pointer size (bit 7), then per field
 * 8 bytes {in-type index, out-type index, flags, count, length, first member, members, map}; the
 * rest is the payload.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "decode/format.h"
#include "decode/format_message.h"
#include "decode/program.h"
#include "target.h"

#define FIELDS_MAX  32
#define FIELD_BYTES 8
#define TEXT_ITEMS  2048 /* events with more are not written, for speed */

static const struct etw_map_entry entries[] = {{0, "zero"}, {1, "one"}, {2, "two"}, {40, "forty"}};

static const uint16_t in_types[] = {0,  1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,
				    13, 14,  15,  16,  17,  18,  19,  20,  21,  22,  23,  24,  25,
				    26, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310, 311};

static void make_field(const uint8_t *at, struct etw_field *ret, struct etw_map *map)
{
	uint16_t out_type = at[1] % 41;

	*map = (struct etw_map){"map", at[7], ARRAY_SIZE(entries), entries};
	*ret = (struct etw_field){
		.name = "field",
		.map = at[7] ? map : NULL,
		.flags = at[2] & 0x3F,
		.in_type = in_types[at[0] % ARRAY_SIZE(in_types)],
		.out_type = out_type < 39 ? out_type : (uint16_t)(out_type + 261),
		.count = at[3],
		.length = at[4],
		.struct_first = at[5],
		.struct_count = at[6],
	};
	if (at[2] & 0x40)
		ret->flags |= ETW_FIELD_OPTIONAL;
	if (at[2] & 0x80)
		ret->flags |= ETW_FIELD_TO_END;
}

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check_items(const struct etw_decoding *decoding, uint32_t bytes)
{
	require(decoding->consumed <= bytes);
	require((decoding->reason == NULL) == (decoding->status == ETW_DECODE_COMPLETE));
	for (size_t i = 0; i < decoding->item_count; i++) {
		const struct etw_item *item = &decoding->items[i];

		require(item->field < decoding->schema->field_count);
		require(item->end > i && item->end <= decoding->item_count);
		require(item->offset <= bytes && item->bytes <= bytes - item->offset);
		require(item->taken >= item->bytes);
		for (size_t k = i + 1; k < item->end && k < i + 2; k++)
			require(decoding->items[k].depth == item->depth + 1);
	}
}

static void write_all(const struct etw_decoding *decoding)
{
	struct etw_text text;
	size_t count = decoding->item_count < TEXT_ITEMS ? decoding->item_count : 0;

	etw_text_init(&text);
	for (size_t i = 0; i < count; i = decoding->items[i].end) {
		uint64_t value;

		etw_text_clear(&text);
		etw_format_item(decoding, &decoding->items[i], &text);
		etw_format_item_json(decoding, &decoding->items[i], &text);
		(void)etw_decoding_u64(decoding, &decoding->items[i], &value);
		require(etw_text_error(&text) == 0);
		require(strlen(etw_text_string(&text)) == text.bytes);
	}
	(void)etw_decoding_find(decoding, "other");
	etw_text_clear(&text);
	(void)etw_format_message(decoding, &text);
	etw_text_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etw_field fields[FIELDS_MAX];
	struct etw_map maps[FIELDS_MAX];
	struct etw_schema schema = {.fields = fields, .message = "%1!-8s! %2!08x! %3!.2s! %n%4%%"};
	struct etw_program *program;
	struct etw_walk walk;

	if (size < 2)
		return 0;
	schema.field_count = data[0] % FIELDS_MAX + 1;
	schema.top_count = (uint16_t)((data[1] & 0x7F) % schema.field_count + 1);
	size_t head = 2 + (size_t)schema.field_count * FIELD_BYTES;

	if (size < head || size - head > UINT16_MAX)
		return 0;
	for (size_t i = 0; i < schema.field_count; i++)
		make_field(data + 2 + i * FIELD_BYTES, &fields[i], &maps[i]);

	/* Memory of exactly the payload's size, so that a read beyond it is seen. */
	size_t bytes = size - head;
	uint8_t *payload = malloc(bytes);

	if (bytes)
		memcpy(payload, data + head, bytes);
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = (USHORT)bytes};
	struct etw_decoding decoding = {.record = &record, .schema = &schema};

	etw_walk_init(&walk);
	require(etw_program_compile(&schema, data[1] & 0x80 ? 4 : 8, &program) == 0);
	require(etw_program_run(program, &walk, payload, (uint32_t)bytes, &decoding) == 0);
	check_items(&decoding, (uint32_t)bytes);
	write_all(&decoding);
	etw_walk_done(&walk);
	etw_program_free(program);
	free(payload);
	return 0;
}
