/* SPDX-License-Identifier: MIT */
/*
 * tdh.h: one value as text. Where the value lies and what it looks like is src/decode's business, with three
 * differences that TDH's contract asks for: a value without a name in its map is an error, so is one whose size
 * is not its type's, and UTF-16 is handed on as it is, unpaired surrogates included (docs/format/tdh-text.md).
 */
#include <tdh.h>
#include <winerror.h>

#include <errno.h>
#include <string.h>

#include "api/tdh/format_map.h"
#include "api/tdh/give.h"
#include "api/tdh/scratch.h"
#include "base/bytes.h"
#include "base/macros.h"
#include "base/utf.h"
#include "decode/format.h"
#include "decode/value.h"
#include "schema/types.h"

static bool is_pointer(USHORT in_type)
{
	return in_type == TDH_INTYPE_POINTER || in_type == TDH_INTYPE_SIZET;
}

/* Values that hold UTF-16 go out as they are. */
static bool is_utf16(USHORT in_type)
{
	switch (in_type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
	case TDH_INTYPE_COUNTEDSTRING:
	case TDH_INTYPE_REVERSEDCOUNTEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_UNICODECHAR:
		return true;
	default:
		return false;
	}
}

/*
 * The property's length says something of strings and binary data. Of types of one size it may repeat that,
 * but for pointers, where TDH itself tells those of the machine that decodes.
 */
static ULONG make_field(USHORT in_type, USHORT out_type, USHORT length, ULONG pointer_bytes,
			struct etw_field *ret)
{
	uint16_t natural = is_pointer(in_type) ? 0 : etw_schema_length(in_type);

	*ret = (struct etw_field){
		.name = "",
		.count = 1,
		.in_type = in_type,
		.out_type = out_type,
		.length = length,
	};
	if (in_type == TDH_INTYPE_NULL)
		return ERROR_INVALID_PARAMETER;
	if ((is_pointer(in_type) || in_type == TDH_INTYPE_WBEMSID) && pointer_bytes != 4 &&
	    pointer_bytes != 8)
		return ERROR_INVALID_PARAMETER;
	if (natural && length && length != natural)
		return ERROR_EVT_INVALID_EVENT_DATA;
	/* Binary data that nothing is said of is empty, unless it is an address. */
	if (in_type == TDH_INTYPE_BINARY && !length && out_type != TDH_OUTTYPE_IPV6)
		ret->flags = PropertyParamFixedLength;
	return ERROR_SUCCESS;
}

/* Gives out @units units and a NUL, by the protocol of buffers. */
static ULONG put_units(size_t units, const uint8_t *at, WCHAR *buffer, ULONG *size)
{
	ULONG error = etw_tdh_claim(2 * (units + 1), *size, size);

	if (error)
		return error;
	if (units)
		memcpy(buffer, at, 2 * units);
	buffer[units] = 0;
	return ERROR_SUCCESS;
}

static ULONG put_text(const struct etw_text *text, WCHAR *buffer, ULONG *size)
{
	const char *at = etw_text_string(text);
	size_t units;
	ULONG error;

	if (etw_text_error(text))
		return ERROR_NOT_ENOUGH_MEMORY;
	units = etw_utf8_put_utf16(at, text->bytes, NULL);
	error = etw_tdh_claim(2 * (units + 1), *size, size);
	if (error)
		return error;
	(void)etw_utf8_put_utf16(at, text->bytes, (uint8_t *)buffer);
	buffer[units] = 0;
	return ERROR_SUCCESS;
}

static uint32_t load_small(const uint8_t *at, uint32_t bytes)
{
	if (bytes == 1)
		return at[0];
	return bytes == 2 ? etw_load16(at) : etw_load32(at);
}

static ULONG put_value(const EVENT_MAP_INFO *map, const struct etw_field *field, const uint8_t *at,
		       uint32_t bytes, WCHAR *buffer, ULONG *size)
{
	struct etw_tdh_scratch *scratch;

	if (is_utf16(field->in_type))
		return put_units(etw_utf16_length(at, bytes / 2), at, buffer, size);
	scratch = etw_tdh_scratch();
	if (!scratch)
		return ERROR_NOT_ENOUGH_MEMORY;
	if (!etw_tdh_map_applies(map, field->in_type))
		etw_format_value(field->in_type, field->out_type, NULL, at, bytes, &scratch->text);
	else if (!etw_tdh_map_write(map, load_small(at, bytes), &scratch->names, &scratch->text))
		return etw_text_error(&scratch->names) ? ERROR_NOT_ENOUGH_MEMORY
						       : ERROR_EVT_INVALID_EVENT_DATA;
	return put_text(&scratch->text, buffer, size);
}

TDHSTATUS TdhFormatProperty(PTRACE_EVENT_INFO EventInfo, PEVENT_MAP_INFO MapInfo, ULONG PointerSize,
			    USHORT PropertyInType, USHORT PropertyOutType, USHORT PropertyLength,
			    USHORT UserDataLength, PBYTE UserData, PULONG BufferSize, PWCHAR Buffer,
			    PUSHORT UserDataConsumed)
{
	static const uint8_t no_data[1];
	const uint8_t *at = UserData ? UserData : no_data;
	struct etw_value_span span;
	struct etw_field field;
	ULONG error;

	if (!EventInfo || !BufferSize || !UserDataConsumed || (!UserData && UserDataLength) ||
	    (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	error = make_field(PropertyInType, PropertyOutType, PropertyLength, PointerSize, &field);
	if (error)
		return error;
	switch (etw_value_measure(&field, PointerSize, at, UserDataLength, &span)) {
	case 0:
		break;
	case -EINVAL:
		return ERROR_INVALID_PARAMETER;
	default:
		return ERROR_EVT_INVALID_EVENT_DATA;
	}
	error = put_value(MapInfo, &field, at + span.prefix, span.bytes, Buffer, BufferSize);
	if (!error)
		*UserDataConsumed = (USHORT)span.taken;
	return error;
}
