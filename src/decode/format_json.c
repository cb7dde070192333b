/* SPDX-License-Identifier: MIT */
/*
 * Items as JSON. Numbers, booleans and strings are JSON's own; everything that TDH shows in a form of
 * its own becomes a string in that form. Those forms are ASCII without characters that need an escape.
 */
#include "base/bytes.h"
#include "decode/format.h"
#include "decode/format_internal.h"
#include "schema/types.h"

/* Integers beyond 2^53 do not survive in a double. */
#define EXACT_MAX (INT64_C(1) << 53)

static void write_quoted(enum form form, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	etw_text_putc(text, '"');
	etw_form_write(form, at, bytes, text);
	etw_text_putc(text, '"');
}

static void write_float(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	/* The exponent bits, all set: infinity or no number. */
	bool is_finite = bytes == 4 ? (etw_load32(at) >> 23 & 0xFF) != 0xFF
				    : (etw_load64(at) >> 52 & 0x7FF) != 0x7FF;

	if (is_finite)
		(void)etw_form_float(at, bytes, text);
	else
		write_quoted(FORM_FLOAT, at, bytes, text);
}

static void write_integer(enum form form, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	bool is_exact = true;

	if (bytes == 8 && form == FORM_SIGNED) {
		int64_t value = etw_load_signed(at, bytes);

		is_exact = value <= EXACT_MAX && value >= -EXACT_MAX;
	} else if (bytes == 8) {
		is_exact = etw_load_unsigned(at, bytes) <= (uint64_t)EXACT_MAX;
	}
	if (is_exact)
		etw_form_write(form, at, bytes, text);
	else
		write_quoted(form, at, bytes, text);
}

static void write_form(enum form form, const uint8_t *at, size_t bytes, struct etw_text *text)
{
	switch (form) {
	case FORM_NONE:
		etw_text_append(text, "null", 4);
		return;
	case FORM_SIGNED:
	case FORM_UNSIGNED:
		write_integer(form, at, bytes, text);
		return;
	case FORM_PORT:
	case FORM_BOOLEAN:
		etw_form_write(form, at, bytes, text);
		return;
	case FORM_FLOAT:
		write_float(at, bytes, text);
		return;
	case FORM_UTF16:
		etw_text_json_utf16(text, at, bytes / 2);
		return;
	case FORM_ANSI:
		etw_text_json_ansi(text, at, bytes);
		return;
	case FORM_CHARACTER:
		if (bytes == 2)
			etw_text_json_utf16(text, at, etw_form_utf16_units(at, bytes));
		else
			etw_text_json_ansi(text, at, etw_form_ansi_bytes(at, bytes));
		return;
	default:
		write_quoted(form, at, bytes, text);
	}
}

/* Names of a map; false when none fits. */
static bool write_map(const struct etw_map *map, uint32_t value, struct etw_text *text)
{
	const char *name = etw_map_name(map, value);
	struct etw_text joined;

	if (name) {
		etw_text_json_string(text, name, strlen(name));
		return true;
	}
	etw_text_init(&joined);
	bool is_named = etw_map_write(map, value, &joined);

	if (is_named)
		etw_text_json_string(text, etw_text_string(&joined), joined.bytes);
	if (etw_text_error(&joined))
		text->error = etw_text_error(&joined);
	etw_text_done(&joined);
	return is_named;
}

static void write_value(const struct etw_field *field, const uint8_t *at, size_t bytes,
			struct etw_text *text)
{
	enum form form = etw_form_choose(field->in_type, field->out_type, bytes);

	if (field->map && form != FORM_BYTES) {
		const struct etw_map *map = etw_form_map(field->map, field->in_type, bytes);

		if (map && write_map(map, (uint32_t)etw_load_unsigned(at, bytes), text))
			return;
	}
	if (!etw_form_is_cut(field->in_type))
		bytes = etw_form_shown_bytes(form, at, bytes);
	write_form(form, at, bytes, text);
}

void etw_format_value_json(uint16_t in_type, uint16_t out_type, const struct etw_map *map,
			   const uint8_t *at, size_t bytes, struct etw_text *text)
{
	const struct etw_field field = {
		.in_type = in_type, .out_type = out_type, .map = map, .count = 1};

	write_value(&field, at, bytes, text);
}

static void write_characters(const struct etw_field *field, const uint8_t *at, size_t bytes,
			     struct etw_text *text)
{
	if (etw_schema_type(field->in_type)->bytes == 2)
		etw_text_json_utf16(text, at, etw_form_utf16_units(at, bytes));
	else
		etw_text_json_ansi(text, at, etw_form_ansi_bytes(at, bytes));
}

static void write_container(const struct etw_decoding *decoding, const struct etw_item *item,
			    struct etw_text *text)
{
	bool is_struct = item->kind == ETW_ITEM_STRUCT;
	const struct etw_item *end = decoding->items + item->end;
	bool is_first = true;

	etw_text_putc(text, is_struct ? '{' : '[');
	for (const struct etw_item *child = item + 1; child < end;
	     child = decoding->items + child->end) {
		if (!is_first)
			etw_text_putc(text, ',');
		is_first = false;
		if (is_struct) {
			const char *name = decoding->schema->fields[child->field].name;

			etw_text_json_string(text, name, strlen(name));
			etw_text_putc(text, ':');
		}
		etw_format_item_json(decoding, child, text);
	}
	etw_text_putc(text, is_struct ? '}' : ']');
}

enum etw_json_shape etw_format_json_shape(const struct etw_field *field, uint8_t *ret_bytes)
{
	const uint16_t length = etw_schema_length(field->in_type);

	*ret_bytes = (uint8_t)length;
	/* A map that is only named may arrive with a later event. */
	if (field->map || field->map_name || field->flags & PropertyStruct ||
	    etw_field_is_array(field))
		return ETW_JSON_OTHER;
	if (field->in_type == TDH_INTYPE_UNICODESTRING)
		return ETW_JSON_UTF16;
	if (length != 1 && length != 2 && length != 4 && length != 8)
		return ETW_JSON_OTHER;
	switch (etw_form_choose(field->in_type, field->out_type, length)) {
	case FORM_UNSIGNED:
		return ETW_JSON_UNSIGNED;
	case FORM_SIGNED:
		return ETW_JSON_SIGNED;
	case FORM_HEX:
		return ETW_JSON_HEX;
	default:
		return ETW_JSON_OTHER;
	}
}

void etw_format_item_json(const struct etw_decoding *decoding, const struct etw_item *item,
			  struct etw_text *text)
{
	const struct etw_field *field = &decoding->schema->fields[item->field];
	const uint8_t *at = etw_form_item(decoding, item);

	if (item->kind == ETW_ITEM_VALUE)
		write_value(field, at, item->bytes, text);
	else if (item->kind == ETW_ITEM_ARRAY && etw_format_is_string(field))
		write_characters(field, at, item->bytes, text);
	else
		write_container(decoding, item, text);
}
