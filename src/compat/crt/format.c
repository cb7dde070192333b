/* SPDX-License-Identifier: MIT */
#include "compat/crt/format.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "compat/crt/format_float.h"
#include "compat/crt/format_sink.h"
#include "compat/crt/format_spec.h"
#include "compat/crt/format_text.h"
#include "compat/crt/invalid.h"

#define MOST_POSITIONS 64 /* arguments of a _p function */

union value {
	uint64_t number;
	const void *pointer;
	double real;
};

enum kind {
	KIND_NONE,
	KIND_INT,
	KIND_INT64,
	KIND_POINTER,
	KIND_DOUBLE,
	KIND_LONG_DOUBLE,
};

/* One call of etw_format(). */
struct call {
	struct etw_format_sink *sink;
	const void *format;
	struct etw_format_arguments *arguments;
	unsigned options;
	union value positions[MOST_POSITIONS]; /* all arguments, in a _p function with positions */
	bool has_positions;
};

static bool prints_count;

int _set_printf_count_output(int enable)
{
	bool old = prints_count;

	prints_count = enable;
	return old;
}

int _get_printf_count_output(void)
{
	return prints_count;
}

static enum kind kind_of(const struct etw_spec *spec)
{
	switch (spec->conversion) {
	case 'c':
	case 'C':
		return KIND_INT;
	case 's':
	case 'S':
	case 'Z':
	case 'p':
	case 'n':
		return KIND_POINTER;
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		return spec->size == ETW_SIZE_64 || spec->size == ETW_SIZE_POINTER ? KIND_INT64
										   : KIND_INT;
	case '%':
		return KIND_NONE;
	default:
		return spec->size == ETW_SIZE_LONG_DOUBLE ? KIND_LONG_DOUBLE : KIND_DOUBLE;
	}
}

static union value fetch(struct etw_format_arguments *from, enum kind kind)
{
	union value value = {0};

	if (from->slots) {
		value.number = kind == KIND_NONE ? 0 : *from->slots++;
		return value;
	}
	switch (kind) {
	case KIND_INT:
		value.number = va_arg(from->list, unsigned);
		break;
	case KIND_INT64:
		value.number = va_arg(from->list, uint64_t);
		break;
	case KIND_POINTER:
		value.pointer = va_arg(from->list, void *);
		break;
	case KIND_DOUBLE:
		value.real = va_arg(from->list, double);
		break;
	case KIND_LONG_DOUBLE:
		value.real = (double)va_arg(from->list, long double);
		break;
	case KIND_NONE:
		break;
	}
	return value;
}

static union value value_of(struct call *call, unsigned position, enum kind kind)
{
	if (position && call->has_positions)
		return call->positions[position - 1];
	return fetch(call->arguments, kind);
}

static size_t digits_of(uint64_t number, unsigned base, bool upper, char *end)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *at = end;

	for (; number; number /= base)
		*--at = digits[number % base];
	return (size_t)(end - at);
}

static uint64_t narrowed(const struct etw_spec *spec, uint64_t number, bool is_signed)
{
	switch (spec->size) {
	case ETW_SIZE_CHAR:
		return is_signed ? (uint64_t)(int8_t)number : (uint8_t)number;
	case ETW_SIZE_SHORT:
		return is_signed ? (uint64_t)(int16_t)number : (uint16_t)number;
	case ETW_SIZE_64:
	case ETW_SIZE_POINTER:
		return number;
	default:
		return is_signed ? (uint64_t)(int32_t)number : (uint32_t)number;
	}
}

static void put_integer(struct etw_format_sink *sink, const struct etw_spec *spec, uint64_t number)
{
	bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
	bool is_hex = spec->conversion == 'x' || spec->conversion == 'X';
	unsigned base = is_hex ? 16 : spec->conversion == 'o' ? 8 : 10;
	const char *prefix = "";
	size_t count, least, zeros;
	char digits[24];

	number = narrowed(spec, number, is_signed);
	if (is_signed && (int64_t)number < 0) {
		prefix = "-";
		number = -number;
	} else if (is_signed && spec->plus) {
		prefix = "+";
	} else if (is_signed && spec->blank) {
		prefix = " ";
	} else if (is_hex && spec->alternate && number) {
		prefix = spec->conversion == 'x' ? "0x" : "0X";
	}
	count = digits_of(number, base, spec->conversion == 'X', digits + sizeof(digits));
	least = spec->precision < 0 ? 1 : (size_t)spec->precision;
	zeros = least > count ? least - count : 0;
	if (base == 8 && spec->alternate && !zeros)
		zeros = 1;
	etw_put_number(sink, spec, prefix, zeros, digits + sizeof(digits) - count, count,
		       spec->precision < 0);
}

static void put_pointer(struct etw_format_sink *sink, const struct etw_spec *spec, uint64_t pointer)
{
	char digits[24];
	size_t count = digits_of(pointer, 16, true, digits + sizeof(digits));
	struct etw_spec plain = *spec;

	plain.zeros = false;
	etw_put_number(sink, &plain, spec->alternate ? "0X" : "", 2 * sizeof(void *) - count,
		       digits + sizeof(digits) - count, count, false);
}

static void put_character(struct etw_format_sink *sink, const struct etw_spec *spec, uint64_t value)
{
	struct etw_spec plain = *spec;
	uint16_t unit = (uint16_t)value;
	char byte = (char)value;

	plain.precision = -1;
	if (etw_spec_is_wide(spec, sink->is_wide)) {
		etw_put_text(sink, &plain, &unit, 1, true);
	} else if (sink->is_wide) {
		unit = (uint8_t)value;
		etw_put_text(sink, &plain, &unit, 1, true);
	} else {
		etw_put_text(sink, &plain, &byte, 1, false);
	}
}

/* What %Z points to: a UNICODE_STRING or an ANSI_STRING. */
struct counted_string {
	uint16_t bytes;
	uint16_t most_bytes;
	const void *at;
};

static void put_string(struct etw_format_sink *sink, const struct etw_spec *spec, const void *text)
{
	const struct counted_string *counted = text;
	bool is_wide = etw_spec_is_wide(spec, sink->is_wide);
	size_t units = SIZE_MAX;

	if (spec->conversion == 'Z') {
		text = counted ? counted->at : NULL;
		units = counted ? counted->bytes / (is_wide ? 2u : 1u) : 0;
	}
	if (!text)
		etw_put_text(sink, spec, "(null)", SIZE_MAX, false);
	else
		etw_put_text(sink, spec, text, units, is_wide);
}

static int store_count(const struct call *call, const struct etw_spec *spec, const void *at)
{
	size_t count = call->sink->count;

	if (!prints_count || !at)
		return -etw_invalid_parameter(EINVAL, "printf");
	switch (spec->size) {
	case ETW_SIZE_CHAR:
		*(int8_t *)(uintptr_t)at = (int8_t)count;
		break;
	case ETW_SIZE_SHORT:
		*(int16_t *)(uintptr_t)at = (int16_t)count;
		break;
	case ETW_SIZE_64:
	case ETW_SIZE_POINTER:
		*(int64_t *)(uintptr_t)at = (int64_t)count;
		break;
	default:
		*(int32_t *)(uintptr_t)at = (int32_t)count;
		break;
	}
	return 0;
}

/* Width and precision that are arguments come before the value. */
static void fetch_widths(struct call *call, struct etw_spec *spec)
{
	if (spec->width_given) {
		int width = (int)value_of(call, spec->position[1], KIND_INT).number;

		spec->left |= width < 0;
		spec->width = width == INT_MIN ? INT_MAX : abs(width);
	}
	if (spec->precision_given) {
		int precision = (int)value_of(call, spec->position[2], KIND_INT).number;

		spec->precision = precision < 0 ? -1 : precision;
	}
}

static int put_conversion(struct call *call, struct etw_spec *spec)
{
	union value value;

	if (spec->conversion == '%') {
		etw_sink_ascii(call->sink, "%", 1);
		return 0;
	}
	fetch_widths(call, spec);
	value = value_of(call, spec->position[0], kind_of(spec));
	switch (spec->conversion) {
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		put_integer(call->sink, spec, value.number);
		return 0;
	case 'c':
	case 'C':
		put_character(call->sink, spec, value.number);
		return 0;
	case 's':
	case 'S':
	case 'Z':
		put_string(call->sink, spec, value.pointer);
		return 0;
	case 'p':
		put_pointer(call->sink, spec, value.number);
		return 0;
	case 'n':
		return store_count(call, spec, value.pointer);
	default:
		etw_put_float(call->sink, spec, value.real);
		return 0;
	}
}

static bool is_refused(const struct call *call, const struct etw_spec *spec)
{
	return (call->options & ETW_FORMAT_NO_FLOATS && strchr("aAeEfFgG", spec->conversion)) ||
	       (!(call->options & ETW_FORMAT_POSITIONAL) && spec->position[0]);
}

static bool note_kind(enum kind kinds[MOST_POSITIONS], unsigned position, enum kind kind)
{
	if (!position || position > MOST_POSITIONS ||
	    (kinds[position - 1] && kinds[position - 1] != kind))
		return false;
	kinds[position - 1] = kind;
	return true;
}

static bool note_spec(enum kind kinds[MOST_POSITIONS], const struct etw_spec *spec)
{
	return (!spec->width_given || note_kind(kinds, spec->position[1], KIND_INT)) &&
	       (!spec->precision_given || note_kind(kinds, spec->position[2], KIND_INT)) &&
	       note_kind(kinds, spec->position[0], kind_of(spec));
}

/* Reads all arguments in their order, which their positions in the format tell. Returns 0 or -EINVAL. */
static int fetch_positions(struct call *call)
{
	bool is_wide = call->sink->is_wide;
	enum kind kinds[MOST_POSITIONS] = {KIND_NONE};
	struct etw_spec spec;
	bool any = false, ended = false;
	uint32_t unit;

	for (size_t at = 0, units; (unit = etw_format_unit(call->format, is_wide, at));
	     at += units) {
		units = 1;
		if (unit != '%' || !etw_spec_parse(call->format, is_wide, at, &spec, &units) ||
		    spec.conversion == '%')
			continue;
		if (!any && !spec.position[0])
			return 0; /* an ordinary format */
		any = true;
		if (!note_spec(kinds, &spec))
			return -EINVAL;
	}
	for (unsigned i = 0; i < MOST_POSITIONS; i++) {
		if (kinds[i] && ended)
			return -EINVAL; /* the kind of one before is not known */
		ended |= !kinds[i];
		call->positions[i] = fetch(call->arguments, kinds[i]);
	}
	call->has_positions = any;
	return 0;
}

static int put_all(struct call *call)
{
	bool is_wide = call->sink->is_wide;
	const char *units_at = call->format;
	size_t unit_bytes = is_wide ? 2 : 1;
	struct etw_spec spec;
	uint32_t unit;
	size_t at = 0;

	while ((unit = etw_format_unit(call->format, is_wide, at))) {
		size_t units = 0, length;

		while (unit && unit != '%')
			unit = etw_format_unit(call->format, is_wide, at + ++units);
		etw_sink_put(call->sink, units_at + at * unit_bytes, units);
		at += units;
		if (!unit)
			break;
		length = etw_spec_parse(call->format, is_wide, at, &spec, &units);
		if (length && !is_refused(call, &spec))
			TRY(put_conversion(call, &spec));
		else if (call->options & ETW_FORMAT_STRICT)
			return -etw_invalid_parameter(EINVAL, "printf_s");
		else
			etw_sink_put(call->sink, units_at + at * unit_bytes, units);
		at += units;
		if (call->sink->error)
			return -call->sink->error;
	}
	return call->sink->error ? -call->sink->error : 0;
}

int etw_format(struct etw_format_sink *sink, const void *format,
	       struct etw_format_arguments *arguments, unsigned options)
{
	struct call call = {
		.sink = sink, .format = format, .arguments = arguments, .options = options};
	int result = 0;

	if (options & ETW_FORMAT_POSITIONAL)
		result = fetch_positions(&call);
	if (result == -EINVAL)
		(void)etw_invalid_parameter(EINVAL, "printf_p");
	if (!result)
		result = put_all(&call);
	if (!result && sink->count > INT_MAX)
		result = -EOVERFLOW;
	if (result) {
		errno = -result;
		return -1;
	}
	return (int)sink->count;
}
