/* SPDX-License-Identifier: MIT */
#include "compat/crt/format_spec.h"

#include <limits.h>
#include <string.h>

struct cursor {
	const void *format;
	bool is_wide;
	size_t at;
};

static uint32_t peek(const struct cursor *cursor)
{
	return etw_format_unit(cursor->format, cursor->is_wide, cursor->at);
}

static bool take(struct cursor *cursor, char character)
{
	if (peek(cursor) != (uint8_t)character)
		return false;
	cursor->at++;
	return true;
}

static bool is_digit(uint32_t unit)
{
	return unit >= '0' && unit <= '9';
}

static int parse_number(struct cursor *cursor)
{
	int value = 0;

	while (is_digit(peek(cursor))) {
		int digit = (int)(peek(cursor) - '0');

		value = value > (INT_MAX - digit) / 10 ? INT_MAX : value * 10 + digit;
		cursor->at++;
	}
	return value;
}

/* `12$`; gives 0 and stays where it was for anything else. */
static unsigned parse_position(struct cursor *cursor)
{
	size_t start = cursor->at;
	int value = parse_number(cursor);

	if (value && take(cursor, '$'))
		return (unsigned)value;
	cursor->at = start;
	return 0;
}

static void parse_flags(struct cursor *cursor, struct etw_spec *spec)
{
	for (;; cursor->at++) {
		switch (peek(cursor)) {
		case '-':
			spec->left = true;
			break;
		case '+':
			spec->plus = true;
			break;
		case ' ':
			spec->blank = true;
			break;
		case '#':
			spec->alternate = true;
			break;
		case '0':
			spec->zeros = true;
			break;
		default:
			return;
		}
	}
}

static void parse_widths(struct cursor *cursor, struct etw_spec *spec)
{
	if (take(cursor, '*')) {
		spec->width_given = true;
		spec->position[1] = parse_position(cursor);
	} else {
		spec->width = parse_number(cursor);
	}
	spec->precision = -1;
	if (!take(cursor, '.'))
		return;
	if (take(cursor, '*')) {
		spec->precision_given = true;
		spec->position[2] = parse_position(cursor);
	} else {
		spec->precision = parse_number(cursor);
	}
}

/* `I64`, `I32`, or `I` alone for what is as wide as a pointer. */
static enum etw_spec_size parse_integer_size(struct cursor *cursor)
{
	uint32_t first = peek(cursor);
	uint32_t second = first ? etw_format_unit(cursor->format, cursor->is_wide, cursor->at + 1)
				: 0;

	if (first == '6' && second == '4') {
		cursor->at += 2;
		return ETW_SIZE_64;
	}
	if (first == '3' && second == '2') {
		cursor->at += 2;
		return ETW_SIZE_LONG;
	}
	return ETW_SIZE_POINTER;
}

static enum etw_spec_size parse_size(struct cursor *cursor)
{
	if (take(cursor, 'h'))
		return take(cursor, 'h') ? ETW_SIZE_CHAR : ETW_SIZE_SHORT;
	if (take(cursor, 'l'))
		return take(cursor, 'l') ? ETW_SIZE_64 : ETW_SIZE_LONG;
	if (take(cursor, 'I'))
		return parse_integer_size(cursor);
	if (take(cursor, 'j'))
		return ETW_SIZE_64;
	if (take(cursor, 'z') || take(cursor, 't'))
		return ETW_SIZE_POINTER;
	if (take(cursor, 'L'))
		return ETW_SIZE_LONG_DOUBLE;
	if (take(cursor, 'w'))
		return ETW_SIZE_WIDE;
	return ETW_SIZE_DEFAULT;
}

size_t etw_spec_parse(const void *format, bool is_wide, size_t at, struct etw_spec *ret,
		      size_t *ret_units)
{
	struct cursor cursor = {format, is_wide, at + 1};
	uint32_t conversion;

	*ret = (struct etw_spec){0};
	ret->position[0] = parse_position(&cursor);
	parse_flags(&cursor, ret);
	parse_widths(&cursor, ret);
	ret->size = parse_size(&cursor);
	conversion = peek(&cursor);
	*ret_units = cursor.at - at + (conversion != 0);
	if (!conversion || conversion > 0x7F || !strchr("diouxXcCsSpnaAeEfFgGZ%", (int)conversion))
		return 0;
	ret->conversion = (char)conversion;
	return *ret_units;
}

bool etw_spec_is_wide(const struct etw_spec *spec, bool is_wide)
{
	switch (spec->size) {
	case ETW_SIZE_CHAR:
	case ETW_SIZE_SHORT:
		return false;
	case ETW_SIZE_LONG:
	case ETW_SIZE_64:
	case ETW_SIZE_WIDE:
		return true;
	default:
		return spec->conversion == 'S' || spec->conversion == 'C' ? !is_wide : is_wide;
	}
}
