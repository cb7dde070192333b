/* SPDX-License-Identifier: MIT */
#include "decode/decoding.h"

#include <string.h>

#include "base/bytes.h"
#include "schema/types.h"

const struct etw_item *etw_decoding_find(const struct etw_decoding *decoding, const char *name)
{
	if (!decoding->schema)
		return NULL;
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end) {
		const struct etw_item *item = &decoding->items[i];
		const char *field = decoding->schema->fields[item->field].name;

		/* Most names differ at once, which is cheaper to see than to ask. */
		if (*field == *name && strcmp(field, name) == 0)
			return item;
	}
	return NULL;
}

enum sign {
	NO_INTEGER,
	SIGNED,
	UNSIGNED
};

static enum sign sign_of(uint16_t in_type)
{
	switch (etw_schema_type(in_type)->kind) {
	case ETW_TYPE_SIGNED:
		return SIGNED;
	case ETW_TYPE_UNSIGNED:
	case ETW_TYPE_HEX:
	case ETW_TYPE_BOOLEAN:
	case ETW_TYPE_CHARACTER:
	case ETW_TYPE_FILETIME:
		return UNSIGNED;
	default:
		return NO_INTEGER;
	}
}

bool etw_decoding_u64(const struct etw_decoding *decoding, const struct etw_item *item,
		      uint64_t *ret)
{
	const uint8_t *at = decoding->record->UserData;
	const struct etw_field *field = &decoding->schema->fields[item->field];
	enum sign sign = sign_of(field->in_type);

	if (item->kind != ETW_ITEM_VALUE || sign == NO_INTEGER || !at)
		return false;
	at += item->offset;
	if (item->bytes != 1 && item->bytes != 2 && item->bytes != 4 && item->bytes != 8)
		return false;
	*ret = sign == SIGNED ? (uint64_t)etw_load_signed(at, item->bytes)
			      : etw_load_unsigned(at, item->bytes);
	return true;
}

bool etw_decoding_i64(const struct etw_decoding *decoding, const struct etw_item *item,
		      int64_t *ret)
{
	uint64_t value;

	if (!etw_decoding_u64(decoding, item, &value))
		return false;
	*ret = (int64_t)value;
	return true;
}

const char *etw_decode_status_name(enum etw_decode_status status)
{
	switch (status) {
	case ETW_DECODE_COMPLETE:
		return "complete";
	case ETW_DECODE_EXTRA:
		return "extra";
	case ETW_DECODE_TRUNCATED:
		return "truncated";
	case ETW_DECODE_MALFORMED:
		return "malformed";
	case ETW_DECODE_NO_SCHEMA:
		break;
	}
	return "no-schema";
}
