/* SPDX-License-Identifier: MIT */
#include "api/tdh/payload_operand.h"

#include <errno.h>
#include <string.h>

#include "api/wide.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/types.h"

uint8_t etw_payload_kind(uint16_t in_type)
{
	switch (in_type) {
	case TDH_INTYPE_INT8:
	case TDH_INTYPE_INT16:
	case TDH_INTYPE_INT32:
	case TDH_INTYPE_INT64:
		return WIRE_PAYLOAD_SIGNED;
	case TDH_INTYPE_UINT8:
	case TDH_INTYPE_UINT16:
	case TDH_INTYPE_UINT32:
	case TDH_INTYPE_UINT64:
	case TDH_INTYPE_HEXINT32:
	case TDH_INTYPE_HEXINT64:
	case TDH_INTYPE_FILETIME:
		return WIRE_PAYLOAD_UNSIGNED;
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDSTRING:
		return WIRE_PAYLOAD_UTF16;
	case TDH_INTYPE_ANSISTRING:
	case TDH_INTYPE_MANIFEST_COUNTEDANSISTRING:
		return WIRE_PAYLOAD_ANSI;
	case TDH_INTYPE_GUID:
		return WIRE_PAYLOAD_GUID;
	default:
		return 0;
	}
}

static const WCHAR *skip_blanks(const WCHAR *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

static unsigned digit_of(WCHAR unit)
{
	if (unit >= '0' && unit <= '9')
		return (unsigned)(unit - '0');
	if (unit >= 'a' && unit <= 'f')
		return (unsigned)(unit - 'a' + 10);
	if (unit >= 'A' && unit <= 'F')
		return (unsigned)(unit - 'A' + 10);
	return 16;
}

/* Digits at *@at, which moves behind them; false: none, or too many. */
static bool read_digits(const WCHAR **at, uint64_t *ret)
{
	unsigned base = 10;
	const WCHAR *start;

	if ((*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X')) {
		base = 16;
		*at += 2;
	}
	*ret = 0;
	for (start = *at; digit_of(**at) < base; (*at)++) {
		if (__builtin_mul_overflow(*ret, base, ret) ||
		    __builtin_add_overflow(*ret, digit_of(**at), ret))
			return false;
	}
	return *at != start;
}

/* Whether a number of this sign is one of the field's type. */
static bool is_in_range(const struct etw_field *field, bool is_negative, uint64_t magnitude)
{
	unsigned bits = 8u * etw_schema_type(field->in_type)->bytes;
	uint64_t limit = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

	if (etw_payload_kind(field->in_type) == WIRE_PAYLOAD_SIGNED)
		return magnitude <= limit / 2 + is_negative;
	return magnitude <= limit && (!is_negative || !magnitude);
}

/* Whether the bounds of an interval are in order. */
static bool is_ordered(const struct etw_field *field, const uint8_t *bounds)
{
	uint64_t low = etw_load64(bounds), high = etw_load64(bounds + 8);

	if (etw_payload_kind(field->in_type) == WIRE_PAYLOAD_SIGNED)
		return (int64_t)low <= (int64_t)high;
	return low <= high;
}

/* One number at *@at, which moves behind it and the blanks that follow. */
static bool read_number(const WCHAR **at, const struct etw_field *field, uint8_t *ret)
{
	bool is_negative;
	uint64_t magnitude;

	*at = skip_blanks(*at);
	is_negative = **at == '-';
	if (is_negative || **at == '+')
		(*at)++;
	if (!read_digits(at, &magnitude) || !is_in_range(field, is_negative, magnitude))
		return false;
	etw_store64(ret, is_negative ? -magnitude : magnitude);
	*at = skip_blanks(*at);
	return true;
}

static int add_numbers(const struct etw_field *field, const PAYLOAD_FILTER_PREDICATE *predicate,
		       struct etw_payload_blob *blob)
{
	bool is_pair = predicate->CompareOp == PAYLOADFIELD_BETWEEN ||
		       predicate->CompareOp == PAYLOADFIELD_NOTBETWEEN;
	uint8_t *to = etw_payload_blob_add(blob, is_pair ? 16 : 8);
	const WCHAR *at = predicate->Value;

	if (!to)
		return -EMSGSIZE;
	if (!read_number(&at, field, to))
		return -EINVAL;
	if (is_pair && (*at++ != ',' || !read_number(&at, field, to + 8) || !is_ordered(field, to)))
		return -EINVAL;
	return *at ? -EINVAL : 0;
}

static int add_utf16(const WCHAR *value, struct etw_payload_blob *blob)
{
	size_t units = etw_wide_units(value);
	uint8_t *to = etw_payload_blob_add(blob, 2 * units);

	if (!to)
		return -EMSGSIZE;
	for (size_t i = 0; i < units; i++)
		etw_store16(to + 2 * i, wire_payload_upper16(value[i]));
	return 0;
}

/* The ANSI code page of this system is UTF-8. */
static int add_ansi(const WCHAR *value, struct etw_payload_blob *blob)
{
	CLEANUP(freep)
	char *text = etw_utf16_to_utf8((const uint8_t *)value, etw_wide_units(value));
	size_t bytes = text ? strlen(text) : 0;
	uint8_t *to;

	if (!text)
		return -ENOMEM;
	to = etw_payload_blob_add(blob, bytes);
	if (!to)
		return -EMSGSIZE;
	for (size_t i = 0; i < bytes; i++)
		to[i] = wire_payload_upper8((uint8_t)text[i]);
	return 0;
}

static int add_guid(const WCHAR *value, struct etw_payload_blob *blob)
{
	char text[ETW_GUID_BRACED_BYTES];
	size_t units = etw_wide_units(value);
	uint8_t *to;
	GUID guid;

	if (units != sizeof(text) - 1 || value[0] != '{')
		return -EINVAL;
	for (size_t i = 0; i <= units; i++)
		text[i] = value[i] < 0x80 ? (char)value[i] : '?';
	if (etw_guid_parse(text, &guid) < 0)
		return -EINVAL;
	to = etw_payload_blob_add(blob, 16);
	if (!to)
		return -EMSGSIZE;
	etw_guid_write(to, &guid);
	return 0;
}

static int add_operands(const struct etw_field *field, uint8_t kind,
			const PAYLOAD_FILTER_PREDICATE *predicate, struct etw_payload_blob *blob)
{
	switch (kind) {
	case WIRE_PAYLOAD_UTF16:
		return add_utf16(predicate->Value, blob);
	case WIRE_PAYLOAD_ANSI:
		return add_ansi(predicate->Value, blob);
	case WIRE_PAYLOAD_GUID:
		return add_guid(predicate->Value, blob);
	default:
		return add_numbers(field, predicate, blob);
	}
}

/* Whether an operator is one of this kind; divisors and the like are checked with the whole blob. */
static bool has_operator(uint8_t kind, uint16_t operation)
{
	switch (operation) {
	case PAYLOADFIELD_IS:
	case PAYLOADFIELD_ISNOT:
		return kind != WIRE_PAYLOAD_SIGNED && kind != WIRE_PAYLOAD_UNSIGNED;
	case PAYLOADFIELD_CONTAINS:
	case PAYLOADFIELD_DOESNTCONTAIN:
		return kind == WIRE_PAYLOAD_UTF16 || kind == WIRE_PAYLOAD_ANSI;
	default:
		return operation <= PAYLOADFIELD_MODULO &&
		       (kind == WIRE_PAYLOAD_SIGNED || kind == WIRE_PAYLOAD_UNSIGNED);
	}
}

int etw_payload_operand_write(const struct etw_field *field, uint8_t step,
			      const PAYLOAD_FILTER_PREDICATE *predicate,
			      struct etw_payload_blob *blob)
{
	struct wire_payload_predicate *head = etw_payload_blob_add(blob, sizeof(*head));
	uint8_t kind = etw_payload_kind(field->in_type);
	size_t start = blob->bytes, operand_bytes;

	if (!predicate->Value || !has_operator(kind, predicate->CompareOp))
		return -EINVAL;
	if (!head)
		return -EMSGSIZE;
	TRY(add_operands(field, kind, predicate, blob));
	operand_bytes = blob->bytes - start;
	if (!etw_payload_blob_add(blob, (4 - operand_bytes % 4) % 4))
		return -EMSGSIZE;
	head->bytes = le16_of((uint16_t)(sizeof(*head) + blob->bytes - start));
	head->operation = (uint8_t)predicate->CompareOp;
	head->kind = kind;
	head->step = step;
	head->operand_bytes = le16_of((uint16_t)operand_bytes);
	return 0;
}
