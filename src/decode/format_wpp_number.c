/* SPDX-License-Identifier: MIT */
/*
 * printf's conversions as Windows has them: its length prefixes (I64, I32, I, w) beside C's, and "%p" as
 * upper-case digits of the pointer's full width. Widths and precisions are bounded.
 */
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "decode/format_wpp_internal.h"

#define FLOAT_PRECISION_MAX 64
#define FLOAT_BYTES         512 /* 309 digits of the largest double, point and precision */
#define SIGN_MAX            2
#define DIGITS_MAX          24 /* 22 octal ones of 64 bits; not less than ETW_DIGITS_BYTES_MAX */

static uint32_t read_number(const char **at)
{
	uint32_t value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++) {
		value = value * 10 + (uint32_t)(**at - '0');
		if (value > ETW_WPP_WIDTH_MAX)
			value = ETW_WPP_WIDTH_MAX;
	}
	return value;
}

static void read_flags(const char **at, struct wpp_conversion *ret)
{
	for (; **at && strchr("-0#+ ", **at); (*at)++) {
		ret->is_left |= **at == '-';
		ret->is_zero_filled |= **at == '0';
		ret->has_prefix |= **at == '#';
		ret->has_plus |= **at == '+';
		ret->has_blank |= **at == ' ';
	}
}

/* "h", "l", "I64" and their like; what matters is whether they ask for less than there is. */
static void read_length(const char **at, struct wpp_conversion *ret)
{
	if (!strncmp(*at, "I64", 3)) {
		*at += 3;
		ret->bytes = 8;
	} else if (!strncmp(*at, "I32", 3)) {
		*at += 3;
		ret->bytes = 4;
	} else {
		for (; **at && strchr("hlwILzjt", **at); (*at)++) {
			if (**at == 'h')
				ret->bytes = ret->bytes == 2 ? 1 : 2;
		}
	}
}

bool etw_wpp_conversion(const char **at, struct wpp_conversion *ret)
{
	struct wpp_conversion conversion = {.precision = -1};
	const char *from = *at;

	if (*from++ != '!')
		return false;
	read_flags(&from, &conversion);
	conversion.width = (uint16_t)read_number(&from);
	if (*from == '.') {
		from++;
		conversion.precision = (int32_t)read_number(&from);
	}
	read_length(&from, &conversion);
	if (!*from || *from == '!' || from[1] != '!')
		return false;
	conversion.type = *from;
	*at = from + 2;
	*ret = conversion;
	return true;
}

static size_t make_octal(uint64_t value, char digits[DIGITS_MAX])
{
	const size_t count = (66u - (unsigned)__builtin_clzll(value | 1)) / 3;

	for (size_t i = count; i > 0; i--, value >>= 3)
		digits[i - 1] = (char)('0' + (value & 7));
	return count;
}

/* The digits of a number by the type of its conversion. Returns how many. */
static size_t make_digits(char type, uint64_t value, char digits[DIGITS_MAX])
{
	size_t count;

	if (type == 'o')
		return make_octal(value, digits);
	if (type != 'x' && type != 'X' && type != 'p')
		return (size_t)(etw_write_unsigned(digits, value) - digits);
	count = (size_t)(etw_write_hex(digits, value) - digits);
	for (size_t i = 0; i < count && type == 'x'; i++)
		digits[i] |= 0x20; /* digits have this bit, small letters too */
	return count;
}

static void put_many(char c, size_t count, struct etw_text *text)
{
	char *to = etw_text_begin(text, count);

	if (!to)
		return;
	memset(to, c, count);
	etw_text_end(text, to + count);
}

static void put_number(char type, const char *sign, uint64_t value, struct etw_text *text)
{
	char *to = etw_text_begin(text, SIGN_MAX + DIGITS_MAX);

	if (!to)
		return;
	while (*sign)
		*to++ = *sign++;
	etw_text_end(text, to + make_digits(type, value, to));
}

/* Sign or "0x", zeros, digits, and blanks around them. */
static void put_filled(const struct wpp_conversion *conversion, char type, int32_t precision,
		       const char *sign, uint64_t value, struct etw_text *text)
{
	char digits[DIGITS_MAX];
	size_t count = make_digits(type, value, digits);
	size_t zeros = 0, blanks = 0, sign_bytes = strlen(sign);

	if (precision == 0 && !value)
		count = 0;
	if (precision > (int32_t)count)
		zeros = (size_t)precision - count;
	if (conversion->width > sign_bytes + zeros + count)
		blanks = conversion->width - sign_bytes - zeros - count;
	if (conversion->is_zero_filled && !conversion->is_left && precision < 0) {
		zeros += blanks;
		blanks = 0;
	}
	if (!conversion->is_left)
		put_many(' ', blanks, text);
	etw_text_puts(text, sign);
	put_many('0', zeros, text);
	etw_text_append(text, digits, count);
	if (conversion->is_left)
		put_many(' ', blanks, text);
}

/* The sign of a signed number, whose amount is left. */
static const char *take_sign(const struct wpp_conversion *conversion, uint64_t *value, size_t bytes)
{
	const unsigned shift = (unsigned)(64 - 8 * bytes);
	const int64_t number = (int64_t)(*value << shift) >> shift;

	*value = number < 0 ? -(uint64_t)number : (uint64_t)number;
	if (number < 0)
		return "-";
	if (conversion->has_plus)
		return "+";
	return conversion->has_blank ? " " : "";
}

static void put_character(const struct wpp_conversion *conversion, uint64_t value, size_t bytes,
			  struct etw_text *text)
{
	size_t start = text->bytes;
	const uint8_t unit[2] = {(uint8_t)value, (uint8_t)(value >> 8)};

	/* Two bytes are a UTF-16 unit, one is a character of the code page. */
	if (bytes == 1)
		etw_text_ansi(text, unit, unit[0] != 0);
	else
		etw_text_utf16(text, unit, unit[0] || unit[1] ? 1 : 0);
	etw_wpp_pad(conversion, start, text);
}

static bool is_number(enum etw_wpp_item item)
{
	switch (item) {
	case ETW_WPP_UNKNOWN:
	case ETW_WPP_FLOAT:
	case ETW_WPP_DOUBLE:
	case ETW_WPP_STRING:
	case ETW_WPP_WSTRING:
	case ETW_WPP_COUNTED_STRING:
	case ETW_WPP_COUNTED_WSTRING:
	case ETW_WPP_SID:
	case ETW_WPP_GUID:
	case ETW_WPP_IPV6:
	case ETW_WPP_MAC:
	case ETW_WPP_HEX_DUMP:
		return false;
	default:
		return true;
	}
}

/* Numbers that "%s" shows in decimal, hexadecimal or octal: those without a form of their own. */
static char plain_type(enum etw_wpp_item item)
{
	switch (item) {
	case ETW_WPP_SHORT:
	case ETW_WPP_LONG:
	case ETW_WPP_LONGLONG:
		return 'd';
	case ETW_WPP_USHORT:
	case ETW_WPP_ULONG:
	case ETW_WPP_ULONGLONG:
		return 'u';
	case ETW_WPP_LONGLONG_HEX:
		return 'X';
	case ETW_WPP_LONGLONG_OCTAL:
		return 'o';
	case ETW_WPP_POINTER:
		return 'p';
	default:
		return 0;
	}
}

bool etw_wpp_is_integer(char type)
{
	return type && strchr("diuoxXpcC", type);
}

char etw_wpp_integer(const struct etw_wpp_argument *argument,
		     const struct wpp_conversion *conversion)
{
	if (!is_number(argument->item))
		return 0;
	return etw_wpp_is_integer(conversion->type) ? conversion->type : plain_type(argument->item);
}

void etw_wpp_number(const struct wpp_conversion *conversion, char type, uint64_t value,
		    size_t bytes, unsigned pointer_bytes, struct etw_text *text)
{
	const char *sign = "";

	if (conversion->bytes && conversion->bytes < bytes)
		bytes = conversion->bytes;
	if (bytes < 8)
		value &= (UINT64_C(1) << 8 * bytes) - 1;
	switch (type) {
	case 'd':
	case 'i':
		sign = take_sign(conversion, &value, bytes);
		break;
	case 'o':
		sign = conversion->has_prefix && value ? "0" : "";
		break;
	case 'x':
		sign = conversion->has_prefix && value ? "0x" : "";
		break;
	case 'X':
		sign = conversion->has_prefix && value ? "0X" : "";
		break;
	case 'c':
	case 'C':
		put_character(conversion, value, bytes, text);
		return;
	default:
		break;
	}
	if (type == 'p')
		put_filled(conversion, type, (int32_t)(2 * pointer_bytes), sign, value, text);
	else if (conversion->width || conversion->precision >= 0)
		put_filled(conversion, type, conversion->precision, sign, value, text);
	else
		put_number(type, sign, value, text);
}

bool etw_wpp_float(const struct wpp_conversion *conversion, double value, struct etw_text *text)
{
	char format[16] = "%", digits[FLOAT_BYTES], *to = format + 1;
	int precision = conversion->precision;
	size_t start = text->bytes;

	if (!strchr("eEfFgGaA", conversion->type))
		return false;
	if (precision > FLOAT_PRECISION_MAX)
		precision = FLOAT_PRECISION_MAX;
	if (conversion->has_plus)
		*to++ = '+';
	if (conversion->has_blank)
		*to++ = ' ';
	if (conversion->has_prefix)
		*to++ = '#';
	memcpy(to, ".*", 2);
	to[2] = conversion->type;
	/* A negative precision counts as none. */
	(void)snprintf(digits, sizeof(digits), format, precision, value);
	etw_form_point(digits);
	etw_text_puts(text, digits);

	struct wpp_conversion padding = *conversion;

	padding.precision = -1;
	etw_wpp_pad(&padding, start, text);
	return true;
}

static bool is_lead(char c)
{
	return ((unsigned char)c & 0xC0) != 0x80;
}

/* Cuts what stands behind @start to @points characters. */
static void cut(size_t start, size_t points, struct etw_text *text)
{
	for (size_t i = start; i < text->bytes; i++) {
		if (is_lead(text->at[i]) && points-- == 0) {
			etw_text_end(text, text->at + i);
			return;
		}
	}
}

void etw_wpp_pad(const struct wpp_conversion *conversion, size_t start, struct etw_text *text)
{
	size_t points = 0, missing, bytes;
	bool has_digits;
	char *from;

	if (!conversion->width && conversion->precision < 0)
		return;
	has_digits = strchr("eEfFgGaA", conversion->type) != NULL;
	if (etw_text_error(text) || text->bytes == start)
		has_digits = false;
	if (!etw_text_error(text) && conversion->precision >= 0)
		cut(start, (size_t)conversion->precision, text);
	for (size_t i = start; i < text->bytes; i++)
		points += is_lead(text->at[i]);
	missing = conversion->width > points ? conversion->width - points : 0;
	if (!missing || etw_text_reserve(text, missing))
		return;
	from = text->at + start;
	bytes = text->bytes - start;
	if (conversion->is_left) {
		memset(from + bytes, ' ', missing);
	} else {
		bool is_zero = conversion->is_zero_filled && has_digits;

		if (is_zero && bytes && memchr("+- ", *from, 3)) {
			from++;
			bytes--;
		}
		memmove(from + missing, from, bytes);
		memset(from, is_zero ? '0' : ' ', missing);
	}
	etw_text_end(text, text->at + text->bytes + missing);
}

void etw_wpp_pad_text(const struct wpp_conversion *conversion, size_t start, struct etw_text *text)
{
	struct wpp_conversion padding = *conversion;

	if (padding.type != 's' && padding.type != 'S') {
		padding.precision = -1;
		padding.type = 's';
	}
	etw_wpp_pad(&padding, start, text);
}
