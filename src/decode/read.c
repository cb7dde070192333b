/* SPDX-License-Identifier: MIT */
#include "decode/read.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/float.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/time.h"
#include "decode/format.h"
#include "decode/format_internal.h"
#include "schema/types.h"

/* Of a single value; ETW_TYPE_NONE for all else. */
static uint8_t kind_of(const struct etw_decoding *decoding, const struct etw_item *item)
{
	if (item->kind != ETW_ITEM_VALUE)
		return ETW_TYPE_NONE;
	return etw_schema_type(decoding->schema->fields[item->field].in_type)->kind;
}

const uint8_t *etw_read_at(const struct etw_decoding *decoding, const struct etw_item *item)
{
	static const uint8_t nothing[1];
	const uint8_t *payload = decoding->record->UserData;

	return payload ? payload + item->offset : nothing;
}

bool etw_read_integer(const struct etw_decoding *decoding, const struct etw_item *item,
		      uint64_t *ret, bool *ret_is_negative)
{
	if (UNLIKELY(!etw_decoding_u64(decoding, item, ret)))
		return false;
	*ret_is_negative = kind_of(decoding, item) == ETW_TYPE_SIGNED && (int64_t)*ret < 0;
	return true;
}

bool etw_read_real(const struct etw_decoding *decoding, const struct etw_item *item, double *ret)
{
	if (kind_of(decoding, item) != ETW_TYPE_FLOAT ||
	    (item->bytes != sizeof(float) && item->bytes != sizeof(*ret)))
		return false;
	*ret = etw_load_float(etw_read_at(decoding, item), item->bytes);
	return true;
}

bool etw_read_guid(const struct etw_decoding *decoding, const struct etw_item *item, GUID *ret)
{
	if (kind_of(decoding, item) != ETW_TYPE_GUID || item->bytes != sizeof(*ret))
		return false;
	*ret = etw_guid_read(etw_read_at(decoding, item));
	return true;
}

/* SYSTEMTIME: year, month, day of week, day, hour, minute, second, ms, 16 bits each. */
static bool read_systemtime(const uint8_t *at, int64_t *ret)
{
	uint16_t word[8];
	struct etw_date date;

	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		word[i] = etw_load16(at + 2 * i);
	/* Nobody asks for the day of the week. */
	word[2] = 0;
	for (size_t i = 1; i < ARRAY_SIZE(word) - 1; i++) {
		if (word[i] > UINT8_MAX)
			return false;
	}
	date = (struct etw_date){
		.year = word[0],
		.month = (uint8_t)word[1],
		.day = (uint8_t)word[3],
		.hour = (uint8_t)word[4],
		.minute = (uint8_t)word[5],
		.second = (uint8_t)word[6],
		.ticks = word[7] * UINT32_C(10000),
	};
	return etw_filetime_of_date(&date, ret);
}

int etw_read_filetime(const struct etw_decoding *decoding, const struct etw_item *item,
		      int64_t *ret)
{
	const uint8_t kind = kind_of(decoding, item);
	const uint8_t *at = etw_read_at(decoding, item);

	if (kind == ETW_TYPE_FILETIME && item->bytes == 8) {
		*ret = (int64_t)etw_load64(at);
		return 0;
	}
	if (kind == ETW_TYPE_SYSTEMTIME && item->bytes == 16)
		return read_systemtime(at, ret) ? 0 : -ERANGE;
	return -EINVAL;
}

/* The families of a SOCKADDR. */
#define FAMILY_IPV4 2
#define FAMILY_IPV6 23

static enum form form_of(const struct etw_decoding *decoding, const struct etw_item *item)
{
	const struct etw_field *field = &decoding->schema->fields[item->field];

	if (item->kind != ETW_ITEM_VALUE)
		return FORM_NONE;
	return etw_form_choose(field->in_type, field->out_type, item->bytes);
}

/* Of a SOCKADDR, NULL when it has no address or one of another kind. */
static const uint8_t *address_of_socket(const uint8_t *at, size_t bytes, size_t *ret_bytes)
{
	if (bytes >= 8 && etw_load16(at) == FAMILY_IPV4) {
		*ret_bytes = 4;
		return at + 4;
	}
	if (bytes >= 24 && etw_load16(at) == FAMILY_IPV6) {
		*ret_bytes = 16;
		return at + 8;
	}
	return NULL;
}

enum etw_read_shape etw_read_shape(const struct etw_decoding *decoding, const struct etw_item *item)
{
	size_t bytes;

	switch (form_of(decoding, item)) {
	case FORM_SIGNED:
	case FORM_UNSIGNED:
	case FORM_HEX:
	case FORM_PORT:
	case FORM_WIN32_ERROR:
	case FORM_NTSTATUS:
	case FORM_HRESULT:
		return ETW_READ_INTEGER;
	case FORM_BOOLEAN:
		return ETW_READ_BOOLEAN;
	case FORM_FLOAT:
		return ETW_READ_REAL;
	case FORM_FILETIME:
	case FORM_SYSTEMTIME:
		return ETW_READ_TIME;
	case FORM_GUID:
		return ETW_READ_GUID;
	case FORM_IPV4:
	case FORM_IPV6:
		return ETW_READ_ADDRESS;
	case FORM_SOCKET_ADDRESS:
		return address_of_socket(etw_read_at(decoding, item), item->bytes, &bytes)
			       ? ETW_READ_ADDRESS
			       : ETW_READ_TEXT;
	default:
		return ETW_READ_TEXT;
	}
}

bool etw_read_shown_integer(const struct etw_decoding *decoding, const struct etw_item *item,
			    uint64_t *ret, bool *ret_is_negative)
{
	const uint8_t *at = etw_read_at(decoding, item);
	const enum form form = form_of(decoding, item);

	if (!decoding->record->UserData ||
	    (item->bytes != 1 && item->bytes != 2 && item->bytes != 4 && item->bytes != 8))
		return false;
	*ret_is_negative = form == FORM_SIGNED && etw_load_signed(at, item->bytes) < 0;
	if (form == FORM_PORT)
		*ret = (uint64_t)at[0] << 8 | at[1];
	else
		*ret = *ret_is_negative ? (uint64_t)etw_load_signed(at, item->bytes)
					: etw_load_unsigned(at, item->bytes);
	return true;
}

bool etw_read_shown_time(const struct etw_decoding *decoding, const struct etw_item *item,
			 int64_t *ret)
{
	if (form_of(decoding, item) == FORM_SYSTEMTIME)
		return etw_read_filetime(decoding, item, ret) == 0;
	if (item->bytes != 8)
		return false;
	*ret = (int64_t)etw_load64(etw_read_at(decoding, item));
	return true;
}

const uint8_t *etw_read_address(const struct etw_decoding *decoding, const struct etw_item *item,
				size_t *ret_bytes)
{
	const uint8_t *at = etw_read_at(decoding, item);

	if (form_of(decoding, item) == FORM_SOCKET_ADDRESS)
		return address_of_socket(at, item->bytes, ret_bytes);
	*ret_bytes = item->bytes;
	return at;
}

bool etw_read_is_string(const struct etw_decoding *decoding, const struct etw_item *item)
{
	const uint8_t kind = kind_of(decoding, item);

	if (item->kind == ETW_ITEM_ARRAY)
		return etw_format_is_string(&decoding->schema->fields[item->field]);
	return kind == ETW_TYPE_UTF16 || kind == ETW_TYPE_ANSI;
}

bool etw_read_is_sid(const struct etw_decoding *decoding, const struct etw_item *item)
{
	return kind_of(decoding, item) == ETW_TYPE_SID;
}
