/* SPDX-License-Identifier: MIT */
/*
 * Items as text, in TDH's formats. What a value looks like is decided in format_form.c; this file
 * walks arrays and structs around the values.
 */
#include "decode/format.h"

#include "decode/format_internal.h"
#include "schema/types.h"

static void write_value(enum form form, uint16_t in_type, const struct etw_map *map,
			const uint8_t *at, size_t bytes, struct etw_text *text)
{
	if (UNLIKELY(map != NULL) && form != FORM_BYTES) {
		map = etw_form_map(map, in_type, bytes);
		if (map && etw_map_write(map, (uint32_t)etw_load_unsigned(at, bytes), text))
			return;
	}
	etw_form_write(form, at, bytes, text);
}

void etw_format_value(uint16_t in_type, uint16_t out_type, const struct etw_map *map,
		      const uint8_t *at, size_t bytes, struct etw_text *text)
{
	enum form form = etw_form_choose(in_type, out_type, bytes);

	write_value(form, in_type, map, at, etw_form_shown_bytes(form, at, bytes), text);
}

static void write_item(const struct etw_field *field, const uint8_t *at, size_t bytes,
		       struct etw_text *text)
{
	enum form form = etw_form_choose(field->in_type, field->out_type, bytes);

	if (!etw_form_is_cut(field->in_type))
		bytes = etw_form_shown_bytes(form, at, bytes);
	write_value(form, field->in_type, field->map, at, bytes, text);
}

/* An array of characters as one string, up to a NUL. */
static void write_characters(const struct etw_decoding *decoding, const struct etw_item *item,
			     struct etw_text *text)
{
	const uint8_t *at = etw_form_item(decoding, item);
	uint16_t in_type = decoding->schema->fields[item->field].in_type;

	if (etw_schema_type(in_type)->bytes == 2)
		etw_text_utf16(text, at, etw_form_utf16_units(at, item->bytes));
	else
		etw_text_ansi(text, at, etw_form_ansi_bytes(at, item->bytes));
}

/* Depth is bounded by the program: ETW_SCHEMA_DEPTH_MAX structs and as many arrays. */
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
			etw_text_append(text, ", ", 2);
		is_first = false;
		if (is_struct) {
			etw_text_puts(text, decoding->schema->fields[child->field].name);
			etw_text_putc(text, '=');
		}
		etw_format_item(decoding, child, text);
	}
	etw_text_putc(text, is_struct ? '}' : ']');
}

bool etw_format_is_string(const struct etw_field *field)
{
	switch (field->in_type) {
	case TDH_INTYPE_UNICODECHAR:
	case TDH_INTYPE_ANSICHAR:
		return !(field->flags & PropertyStruct);
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_UINT16:
		return !(field->flags & PropertyStruct) && field->out_type == TDH_OUTTYPE_STRING;
	default:
		return false;
	}
}

void etw_format_item(const struct etw_decoding *decoding, const struct etw_item *item,
		     struct etw_text *text)
{
	const struct etw_field *field = &decoding->schema->fields[item->field];

	if (item->kind == ETW_ITEM_VALUE)
		write_item(field, etw_form_item(decoding, item), item->bytes, text);
	else if (item->kind == ETW_ITEM_ARRAY && etw_format_is_string(field))
		write_characters(decoding, item, text);
	else
		write_container(decoding, item, text);
}
