/* SPDX-License-Identifier: MIT */
/* One value against one predicate of a payload filter. */
#include <string.h>

#include <tdh.h>

#include "base/macros.h"
#include "wire/payload_filter_internal.h"

#define SEARCH_UNITS 256
#define GUID_BYTES   16

/* Letters of one script: how far the capital is. */
struct case_range {
	uint16_t first, last;
	int16_t distance; /* 0: small letters are the odd ones of pairs; 1: the even ones */
};

/* Scripts with simple pairs; other letters are compared as they are. */
static const struct case_range ranges[] = {
	{'a', 'z', -0x20},       {0x00E0, 0x00F6, -0x20}, {0x00F8, 0x00FE, -0x20},
	{0x00FF, 0x00FF, 0x79},  {0x0100, 0x012F, 0},     {0x0132, 0x0137, 0},
	{0x0139, 0x0148, 1},     {0x014A, 0x0177, 0},     {0x0179, 0x017E, 1},
	{0x03AC, 0x03AC, -0x26}, {0x03AD, 0x03AF, -0x25}, {0x03B1, 0x03C1, -0x20},
	{0x03C3, 0x03CB, -0x20}, {0x03CC, 0x03CC, -0x40}, {0x03CD, 0x03CE, -0x3F},
	{0x0430, 0x044F, -0x20}, {0x0450, 0x045F, -0x50}, {0x0460, 0x0481, 0},
	{0x0561, 0x0586, -0x30}, {0x1E00, 0x1E95, 0},     {0x1EA0, 0x1EFF, 0},
	{0x24D0, 0x24E9, -0x1A}, {0xFF41, 0xFF5A, -0x20},
};

uint16_t wire_payload_upper16(uint16_t unit)
{
	if (unit < 'a')
		return unit;
	for (size_t i = 0; i < ARRAY_SIZE(ranges) && unit >= ranges[i].first; i++) {
		if (unit > ranges[i].last)
			continue;
		if (ranges[i].distance == 0)
			return unit & 0xFFFE;
		if (ranges[i].distance == 1)
			return unit & 1 ? unit : (uint16_t)(unit - 1);
		return (uint16_t)(unit + ranges[i].distance);
	}
	return unit;
}

uint8_t wire_payload_upper8(uint8_t byte)
{
	return byte >= 'a' && byte <= 'z' ? (uint8_t)(byte - 0x20) : byte;
}

static bool is_number_kind(uint8_t kind)
{
	return kind == WIRE_PAYLOAD_SIGNED || kind == WIRE_PAYLOAD_UNSIGNED;
}

static const char *number_problem(const struct wire_payload_predicate *predicate,
				  const uint8_t *operand)
{
	bool is_pair = predicate->operation == PAYLOADFIELD_BETWEEN ||
		       predicate->operation == PAYLOADFIELD_NOTBETWEEN;

	if (predicate->operation > PAYLOADFIELD_MODULO)
		return "the operator is not one of numbers";
	if (le16_get(predicate->operand_bytes) != (is_pair ? 16 : 8))
		return "a number's operands have another size";
	if (predicate->operation == PAYLOADFIELD_MODULO && !etw_load64(operand))
		return "a divisor is 0";
	return NULL;
}

const char *wire_payload_operator_problem(const struct wire_payload_predicate *predicate,
					  const uint8_t *operand)
{
	uint16_t bytes = le16_get(predicate->operand_bytes);
	bool is_identity = predicate->operation == PAYLOADFIELD_IS ||
			   predicate->operation == PAYLOADFIELD_ISNOT;
	bool is_part = predicate->operation == PAYLOADFIELD_CONTAINS ||
		       predicate->operation == PAYLOADFIELD_DOESNTCONTAIN;

	switch (predicate->kind) {
	case WIRE_PAYLOAD_SIGNED:
	case WIRE_PAYLOAD_UNSIGNED:
		return number_problem(predicate, operand);
	case WIRE_PAYLOAD_UTF16:
		if (bytes % 2)
			return "UTF-16 text has half a character";
		return is_identity || is_part ? NULL : "the operator is not one of strings";
	case WIRE_PAYLOAD_ANSI:
		return is_identity || is_part ? NULL : "the operator is not one of strings";
	case WIRE_PAYLOAD_GUID:
		if (bytes != 16)
			return "a GUID has another size than 16 bytes";
		return is_identity ? NULL : "the operator is not one of GUIDs";
	default:
		return "the kind is unknown";
	}
}

/* Numbers in order: signed ones move up, so that all compare as unsigned. */
static uint64_t order_of(uint8_t kind, uint64_t value)
{
	return kind == WIRE_PAYLOAD_SIGNED ? value ^ (UINT64_C(1) << 63) : value;
}

static uint64_t magnitude_of(uint8_t kind, uint64_t value)
{
	return kind == WIRE_PAYLOAD_SIGNED && value >> 63 ? -value : value;
}

static uint64_t load_number(uint8_t kind, const uint8_t *at, size_t bytes)
{
	return kind == WIRE_PAYLOAD_SIGNED ? (uint64_t)etw_load_signed(at, bytes)
					   : etw_load_unsigned(at, bytes);
}

static bool number_holds(const struct wire_payload_predicate *predicate, uint64_t raw)
{
	const uint8_t *operand = (const uint8_t *)(predicate + 1);
	uint64_t raw_first = etw_load64(operand);
	uint64_t value = order_of(predicate->kind, raw);
	uint64_t first = order_of(predicate->kind, raw_first);
	uint64_t second = first;

	if (le16_get(predicate->operand_bytes) == 16)
		second = order_of(predicate->kind, etw_load64(operand + 8));
	switch (predicate->operation) {
	case PAYLOADFIELD_EQ:
		return value == first;
	case PAYLOADFIELD_NE:
		return value != first;
	case PAYLOADFIELD_LE:
		return value <= first;
	case PAYLOADFIELD_GT:
		return value > first;
	case PAYLOADFIELD_LT:
		return value < first;
	case PAYLOADFIELD_GE:
		return value >= first;
	case PAYLOADFIELD_BETWEEN:
		return value >= first && value <= second;
	case PAYLOADFIELD_NOTBETWEEN:
		return value < first || value > second;
	default: /* PAYLOADFIELD_MODULO: every nth value is wanted */
		return magnitude_of(predicate->kind, raw) %
			       magnitude_of(predicate->kind, raw_first) ==
		       0;
	}
}

/* Text of a payload, read once from its beginning, without case. */
struct text {
	struct wire_payload_place place;
	size_t units;
	bool is_wide;
};

static uint16_t next_unit(struct text *text)
{
	uint8_t bytes[2];

	bytes[0] = wire_payload_byte(&text->place);
	if (!text->is_wide)
		return wire_payload_upper8(bytes[0]);
	bytes[1] = wire_payload_byte(&text->place);
	return wire_payload_upper16(etw_load16(bytes));
}

/* Text that is asked for. */
struct wanted {
	const uint8_t *at;
	size_t units;
	bool is_wide;
};

static uint16_t unit_of(const struct wanted *wanted, size_t index)
{
	if (wanted->is_wide)
		return wire_payload_upper16(etw_load16(wanted->at + 2 * index));
	return wire_payload_upper8(wanted->at[index]);
}

static bool is_same(struct text text, const struct wanted *wanted)
{
	if (text.units != wanted->units)
		return false;
	for (size_t i = 0; i < wanted->units; i++) {
		if (next_unit(&text) != unit_of(wanted, i))
			return false;
	}
	return true;
}

/* Whether what is wanted behind its first @begun units follows in the text. */
static bool goes_on(struct text text, size_t left, const struct wanted *wanted, size_t begun)
{
	if (wanted->units - begun > left)
		return false;
	for (size_t i = begun; i < wanted->units; i++) {
		if (next_unit(&text) != unit_of(wanted, i))
			return false;
	}
	return true;
}

/*
 * Knuth, Morris, Pratt: whoever writes events could make a plain search slow. `fallback` says how much of the
 * wanted text is still matched when the next character is another one; of a long one it is about the beginning, as
 * it lies on the stack of a signal handler, perhaps.
 */
static bool is_within(struct text text, const struct wanted *wanted)
{
	const size_t begin = wanted->units < SEARCH_UNITS ? wanted->units : SEARCH_UNITS;
	uint16_t fallback[SEARCH_UNITS];
	size_t matched = 0;

	if (wanted->units > text.units)
		return false;
	if (!wanted->units)
		return true;
	fallback[0] = 0;
	for (size_t i = 1; i < begin; i++) {
		while (matched && unit_of(wanted, i) != unit_of(wanted, matched))
			matched = fallback[matched - 1];
		if (unit_of(wanted, i) == unit_of(wanted, matched))
			matched++;
		fallback[i] = (uint16_t)matched;
	}
	matched = 0;
	for (size_t i = 0; i < text.units; i++) {
		const uint16_t unit = next_unit(&text);

		while (matched && unit != unit_of(wanted, matched))
			matched = fallback[matched - 1];
		if (unit == unit_of(wanted, matched))
			matched++;
		if (matched < begin)
			continue;
		if (goes_on(text, text.units - i - 1, wanted, begin))
			return true;
		matched = fallback[begin - 1];
	}
	return false;
}

/* A value ends at its first NUL, if it has one. */
static void cut(struct text *text)
{
	struct text rest = *text;
	size_t units = 0;

	while (units < rest.units && next_unit(&rest))
		units++;
	text->units = units;
}

static bool text_holds(const struct wire_payload_predicate *predicate,
		       const struct wire_payload_value *value)
{
	bool is_wide = predicate->kind == WIRE_PAYLOAD_UTF16;
	size_t unit = is_wide ? 2 : 1;
	const struct wanted wanted = {(const uint8_t *)(predicate + 1),
				      le16_get(predicate->operand_bytes) / unit, is_wide};
	struct text text = {value->place, value->bytes / unit, is_wide};

	cut(&text);
	switch (predicate->operation) {
	case PAYLOADFIELD_IS:
		return is_same(text, &wanted);
	case PAYLOADFIELD_ISNOT:
		return !is_same(text, &wanted);
	case PAYLOADFIELD_CONTAINS:
		return is_within(text, &wanted);
	default:
		return !is_within(text, &wanted);
	}
}

bool wire_payload_holds(const struct wire_payload_predicate *predicate,
			const struct wire_payload_value *value)
{
	uint8_t bytes[GUID_BYTES];

	if (is_number_kind(predicate->kind)) {
		wire_payload_load(value, bytes, value->bytes);
		return number_holds(predicate, load_number(predicate->kind, bytes, value->bytes));
	}
	if (predicate->kind == WIRE_PAYLOAD_GUID) {
		wire_payload_load(value, bytes, value->bytes);
		return (memcmp(bytes, predicate + 1, GUID_BYTES) == 0) ==
		       (predicate->operation == PAYLOADFIELD_IS);
	}
	return text_holds(predicate, value);
}
