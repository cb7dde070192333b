/* SPDX-License-Identifier: MIT */
#include "decode/legible.h"

#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/types.h"

#define PRIVATE_FIRST    0xE000
#define PRIVATE_LAST     0xF8FF
#define HIGH_PLANE_FIRST 0xF0000 /* planes 15 and 16 are for private use too */

static bool is_control(uint32_t unit)
{
	return unit < 0x20 && unit != '\t' && unit != '\n' && unit != '\r';
}

/* Four units that are all from 0x20 to 0x7FFF, as most are. */
static bool are_plain(uint64_t units)
{
	return !(((units - UINT64_C(0x0020002000200020)) | units) & UINT64_C(0x8000800080008000));
}

/* @at: text without a NUL */
static bool judge_units(const uint8_t *at, size_t units)
{
	for (size_t i = 0, used; i < units; i += used) {
		uint32_t code = etw_utf16_decode(at + 2 * i, units - i, &used);
		uint16_t unit = etw_load16(at + 2 * i);
		bool is_half = unit >= 0xD800 && unit <= 0xDFFF && used == 1;

		if (is_half && i + 1 < units)
			return false;
		if (is_half)
			continue;
		if (is_control(code) || (code >= PRIVATE_FIRST && code <= PRIVATE_LAST) ||
		    code >= HIGH_PLANE_FIRST || (code & 0xFFFE) == 0xFFFE)
			return false;
	}
	return true;
}

bool etw_legible_utf16(const uint8_t *at, uint32_t bytes)
{
	size_t units = bytes / 2, i = 0;

	if (!units)
		return true;
	for (; i + 4 <= units; i += 4) {
		uint64_t four = etw_load64(at + 2 * i);

		if (UNLIKELY(!are_plain(four)))
			return judge_units(at + 2 * i, etw_utf16_length(at + 2 * i, units - i));
	}
	return judge_units(at + 2 * i, etw_utf16_length(at + 2 * i, units - i));
}

bool etw_legible_ansi(const uint8_t *at, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes && at[i]; i++) {
		if (is_control(at[i]))
			return false;
	}
	return true;
}

static bool is_text(const struct etw_field *field)
{
	uint8_t kind = etw_schema_type(field->in_type)->kind;

	return !(field->flags & PropertyStruct) &&
	       (kind == ETW_TYPE_UTF16 || kind == ETW_TYPE_ANSI);
}

bool etw_legible_schema(const struct etw_schema *schema)
{
	if (schema->source != DecodingSourceXMLFile && schema->source != DecodingSourceWbem)
		return false;
	for (uint16_t i = 0; i < schema->field_count; i++) {
		if (is_text(&schema->fields[i]))
			return true;
	}
	return false;
}

bool etw_legible_decoding(const struct etw_decoding *decoding, uint16_t *ret_field)
{
	const uint8_t *payload = decoding->record->UserData;

	for (size_t i = 0; i < decoding->item_count; i++) {
		const struct etw_item *item = &decoding->items[i];
		const struct etw_field *field = &decoding->schema->fields[item->field];
		bool is_legible;

		if (item->kind != ETW_ITEM_VALUE || !item->bytes || !is_text(field))
			continue;
		is_legible = etw_schema_type(field->in_type)->kind == ETW_TYPE_UTF16
				     ? etw_legible_utf16(payload + item->offset, item->bytes)
				     : etw_legible_ansi(payload + item->offset, item->bytes);
		if (!is_legible) {
			*ret_field = item->field;
			return false;
		}
	}
	return true;
}
