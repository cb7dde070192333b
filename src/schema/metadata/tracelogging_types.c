/* SPDX-License-Identifier: MIT */
/* Out-types of TraceLogging fields, which have numbers of their own and serve in-types of every width. */
#include "schema/metadata/tracelogging_internal.h"
#include "schema/types.h"

enum tl_out_type {
	TL_OUT_NOPRINT = 1,
	TL_OUT_STRING = 2,
	TL_OUT_BOOLEAN = 3,
	TL_OUT_HEX = 4,
	TL_OUT_PID = 5,
	TL_OUT_TID = 6,
	TL_OUT_PORT = 7,
	TL_OUT_IPV4 = 8,
	TL_OUT_IPV6 = 9,
	TL_OUT_SOCKETADDRESS = 10,
	TL_OUT_XML = 11,
	TL_OUT_JSON = 12,
	TL_OUT_WIN32ERROR = 13,
	TL_OUT_NTSTATUS = 14,
	TL_OUT_HRESULT = 15,
	TL_OUT_FILETIME = 16,
	TL_OUT_SIGNED = 17,
	TL_OUT_UNSIGNED = 18,
	TL_OUT_DATETIME_CULTURE_INSENSITIVE = 33,
	TL_OUT_UTF8 = 35,
	TL_OUT_PKCS7 = 36,
	TL_OUT_CODE_POINTER = 37,
	TL_OUT_DATETIME_UTC = 38,
};

static bool is_integer(uint8_t in_type)
{
	const struct etw_type *type = etw_schema_type(in_type);

	return type->extent == ETW_EXTENT_FIXED &&
	       (type->kind == ETW_TYPE_SIGNED || type->kind == ETW_TYPE_UNSIGNED ||
		type->kind == ETW_TYPE_HEX);
}

static bool is_text(uint8_t in_type)
{
	const struct etw_type *type = etw_schema_type(in_type);

	return type->kind == ETW_TYPE_UTF16 || type->kind == ETW_TYPE_ANSI;
}

static bool is_bytes(uint8_t in_type)
{
	const struct etw_type *type = etw_schema_type(in_type);

	return type->kind == ETW_TYPE_BYTES && type->extent != ETW_EXTENT_UNKNOWN;
}

static bool is_time(uint8_t in_type)
{
	return in_type == TDH_INTYPE_FILETIME || in_type == TDH_INTYPE_SYSTEMTIME ||
	       in_type == TDH_INTYPE_INT64 || in_type == TDH_INTYPE_UINT64;
}

/* The out-type of @first for 1-byte integers and the ones that follow it by width. */
static uint16_t by_width(uint16_t first, uint16_t step, uint16_t length)
{
	switch (length) {
	case 1:
		return first;
	case 2:
		return (uint16_t)(first + step);
	case 4:
		return (uint16_t)(first + 2 * step);
	default:
		return (uint16_t)(first + 3 * step);
	}
}

/* A pair of types that means nothing gives 0, the in-type's default. */
static uint16_t integer_out_type(uint8_t out, uint16_t length)
{
	switch (out) {
	case TL_OUT_STRING:
		return length <= 2 ? TDH_OUTTYPE_STRING : 0;
	case TL_OUT_BOOLEAN:
		return TDH_OUTTYPE_BOOLEAN;
	case TL_OUT_HEX:
		return by_width(TDH_OUTTYPE_HEXINT8, 1, length);
	case TL_OUT_SIGNED:
		return by_width(TDH_OUTTYPE_BYTE, 2, length);
	case TL_OUT_UNSIGNED:
		return by_width(TDH_OUTTYPE_UNSIGNEDBYTE, 2, length);
	case TL_OUT_PORT:
		return length == 2 ? TDH_OUTTYPE_PORT : 0;
	case TL_OUT_PID:
		return length >= 4 ? TDH_OUTTYPE_PID : 0;
	case TL_OUT_TID:
		return length >= 4 ? TDH_OUTTYPE_TID : 0;
	case TL_OUT_IPV4:
		return length == 4 ? TDH_OUTTYPE_IPV4 : 0;
	case TL_OUT_WIN32ERROR:
		return length == 4 ? TDH_OUTTYPE_WIN32ERROR : 0;
	case TL_OUT_NTSTATUS:
		return length == 4 ? TDH_OUTTYPE_NTSTATUS : 0;
	case TL_OUT_HRESULT:
		return length == 4 ? TDH_OUTTYPE_HRESULT : 0;
	case TL_OUT_CODE_POINTER:
		return length >= 4 ? TDH_OUTTYPE_CODE_POINTER : 0;
	default:
		return 0;
	}
}

static uint16_t text_out_type(uint8_t out)
{
	switch (out) {
	case TL_OUT_XML:
		return TDH_OUTTYPE_XML;
	case TL_OUT_JSON:
		return TDH_OUTTYPE_JSON;
	case TL_OUT_UTF8:
		return TDH_OUTTYPE_UTF8;
	default:
		return 0;
	}
}

static uint16_t bytes_out_type(uint8_t out)
{
	switch (out) {
	case TL_OUT_IPV6:
		return TDH_OUTTYPE_IPV6;
	case TL_OUT_SOCKETADDRESS:
		return TDH_OUTTYPE_SOCKETADDRESS;
	case TL_OUT_PKCS7:
		return TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO;
	case TL_OUT_STRING:
		return TDH_OUTTYPE_STRING;
	default:
		return text_out_type(out);
	}
}

static uint16_t time_out_type(uint8_t out)
{
	switch (out) {
	case TL_OUT_FILETIME:
		return TDH_OUTTYPE_DATETIME;
	case TL_OUT_DATETIME_CULTURE_INSENSITIVE:
		return TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME;
	case TL_OUT_DATETIME_UTC:
		return TDH_OUTTYPE_DATETIME_UTC;
	default:
		return 0;
	}
}

uint16_t etw_tracelogging_out_type(uint8_t in_type, uint8_t out)
{
	uint16_t out_type = 0;

	if (out == TL_OUT_NOPRINT)
		return TDH_OUTTYPE_NOPRINT;
	if (is_integer(in_type))
		out_type = integer_out_type(out, etw_schema_length(in_type));
	else if (is_text(in_type))
		out_type = text_out_type(out);
	else if (is_bytes(in_type))
		out_type = bytes_out_type(out);
	else if (in_type == TDH_INTYPE_POINTER && out == TL_OUT_CODE_POINTER)
		out_type = TDH_OUTTYPE_CODE_POINTER;
	if (!out_type && is_time(in_type))
		out_type = time_out_type(out);
	return out_type ? out_type : etw_schema_out_type(in_type);
}
