/* SPDX-License-Identifier: MIT */
/*
 * known_decode INDEX <EVENTS - decodes payloads by the layouts of the index: for round_trip.py.
 *
 * An event of the input: u8 0 manifest or 1 classic, 16 bytes GUID, u16 id or type, u16 version, u16 number of the
 * candidate, u8 bytes of a pointer, u16 bytes of the payload, the payload. For each a line of the output: the status,
 * the bytes that belong to fields, and each value, strings and what else is no integer as hexadecimal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "decode/format.h"
#include "decode/program.h"
#include "schema/known/known_schema.h"
#include "schema/types.h"

#define HEAD_BYTES 26

struct input {
	bool is_classic;
	GUID guid;
	uint16_t id, version, candidate;
	unsigned pointer_bytes;
	uint16_t bytes;
	uint8_t payload[UINT16_MAX];
};

static void require(int result, const char *what)
{
	if (result >= 0)
		return;
	(void)fprintf(stderr, "known_decode: %s: %s\n", what, strerror(-result));
	exit(EXIT_FAILURE);
}

static bool read_input(struct input *input)
{
	uint8_t head[HEAD_BYTES];
	size_t count = fread(head, 1, sizeof(head), stdin);

	if (!count)
		return false;
	require(count == sizeof(head) ? 0 : -EINVAL, "the input ends within an event");
	input->is_classic = head[0];
	input->guid = etw_guid_read(head + 1);
	input->id = etw_load16(head + 17);
	input->version = etw_load16(head + 19);
	input->candidate = etw_load16(head + 21);
	input->pointer_bytes = head[23];
	input->bytes = etw_load16(head + 24);
	count = fread(input->payload, 1, input->bytes, stdin);
	require(count == input->bytes ? 0 : -EINVAL, "the input ends within a payload");
	return true;
}

static void put_value(const struct etw_decoding *decoding, const struct etw_item *item,
		      struct etw_text *text)
{
	const uint8_t *at = (const uint8_t *)decoding->record->UserData + item->offset;
	uint16_t in_type = decoding->schema->fields[item->field].in_type;
	uint8_t kind = etw_schema_type(in_type)->kind;
	uint64_t value;

	if (kind == ETW_TYPE_SIGNED && etw_decoding_u64(decoding, item, &value)) {
		etw_text_signed(text, (int64_t)value);
	} else if ((kind == ETW_TYPE_UNSIGNED || kind == ETW_TYPE_HEX || kind == ETW_TYPE_BOOLEAN ||
		    kind == ETW_TYPE_FILETIME) &&
		   etw_decoding_u64(decoding, item, &value)) {
		etw_text_unsigned(text, value);
	} else {
		etw_text_putc(text, 'x');
		for (uint32_t i = 0; i < item->bytes; i++) {
			etw_text_putc(text, "0123456789abcdef"[at[i] >> 4]);
			etw_text_putc(text, "0123456789abcdef"[at[i] & 15]);
		}
	}
}

static void put_item(const struct etw_decoding *decoding, size_t index, struct etw_text *text)
{
	const struct etw_item *item = &decoding->items[index];
	size_t child = index + 1;

	if (item->kind == ETW_ITEM_VALUE) {
		put_value(decoding, item, text);
		return;
	}
	etw_text_putc(text, item->kind == ETW_ITEM_ARRAY ? '[' : '{');
	while (child < item->end) {
		if (item->kind == ETW_ITEM_STRUCT) {
			etw_text_puts(text,
				      decoding->schema->fields[decoding->items[child].field].name);
			etw_text_putc(text, '=');
		}
		put_item(decoding, child, text);
		etw_text_putc(text, ';');
		child = decoding->items[child].end;
	}
	etw_text_putc(text, item->kind == ETW_ITEM_ARRAY ? ']' : '}');
}

static void decode(const struct etw_schema *schema, struct input *input, struct etw_text *text)
{
	static struct etw_walk walk;
	EVENT_RECORD record = {.UserData = input->payload, .UserDataLength = input->bytes};
	struct etw_decoding decoding = {.record = &record, .schema = schema};
	CLEANUP(etw_program_freep) struct etw_program *program = NULL;
	struct etw_text json;

	require(etw_program_compile(schema, input->pointer_bytes, &program), "compile");
	require(etw_program_run(program, &walk, input->payload, input->bytes, &decoding), "run");
	etw_text_printf(text, "%d %u ", decoding.status, decoding.consumed);
	etw_text_init(&json);
	for (size_t i = 0; i < decoding.item_count; i = decoding.items[i].end) {
		etw_text_puts(text, schema->fields[decoding.items[i].field].name);
		etw_text_putc(text, '=');
		put_item(&decoding, i, text);
		etw_text_putc(text, ';');
		/* Whatever its out-type and map: it can be shown. */
		etw_format_item_json(&decoding, &decoding.items[i], &json);
	}
	require(etw_text_error(&json), "text");
	etw_text_done(&json);
}

int main(int argc, char **argv)
{
	static struct input input;
	struct etw_known *known;
	struct etw_text text;

	if (argc != 2)
		require(-EINVAL, "usage: known_decode INDEX <EVENTS");
	require(etw_known_open(argv[1], &known, NULL), argv[1]);
	etw_text_init(&text);
	while (read_input(&input)) {
		struct etw_known_candidate *candidates;
		struct etw_arena arena;
		size_t count;

		etw_arena_init(&arena);
		require(input.is_classic ? etw_known_class_candidates(known, &input.guid, input.id,
								      input.version, &arena,
								      &candidates, &count)
					 : etw_known_candidates(known, &input.guid, input.id,
								(uint8_t)input.version, &arena,
								&candidates, &count),
			"candidates");
		/* Of a classic event the one of this version is meant, whatever is preferred to it. */
		while (input.is_classic &&
		       candidates[input.candidate].schema->descriptor.Version !=
			       (input.version == UINT16_MAX ? 0 : input.version))
			input.candidate++;
		require(input.candidate < count ? 0 : -ENOENT, "candidate");
		etw_text_clear(&text);
		decode(candidates[input.candidate].schema, &input, &text);
		require(etw_text_error(&text), "text");
		(void)puts(etw_text_string(&text));
		etw_arena_done(&arena);
	}
	etw_text_done(&text);
	etw_known_close(known);
	return EXIT_SUCCESS;
}
