/* SPDX-License-Identifier: MIT */
#include "compat/crt/format_float.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEX_DIGITS     13  /* of a double's fraction: what %a has without a precision */
#define MOST_INTEGER   320 /* digits before the point, at most, and what else is around */
#define QUIET_NAN      0x0008000000000000u
#define FRACTION       0x000FFFFFFFFFFFFFu
#define MOST_PRECISION 100000

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static const char *special_name(double value, bool upper)
{
	uint64_t bits = bits_of(value);

	if (isinf(value))
		return upper ? "INF" : "inf";
	if (!(bits & QUIET_NAN))
		return upper ? "NAN(SNAN)" : "nan(snan)";
	if (bits >> 63 && (bits & FRACTION) == QUIET_NAN)
		return upper ? "NAN(IND)" : "nan(ind)";
	return upper ? "NAN" : "nan";
}

static void digits_by(char *to, size_t room, char conversion, int precision, double value)
{
	char format[24];
	char digits[12];
	size_t at = sizeof(digits);

	digits[--at] = '\0';
	do {
		digits[--at] = (char)('0' + precision % 10);
		precision /= 10;
	} while (precision);
	memcpy(format, "%.", 2);
	memcpy(format + 2, digits + at, sizeof(digits) - at);
	at = strlen(format);
	format[at] = conversion;
	format[at + 1] = '\0';
	(void)strfromd(to, room, format, value);
}

/* %#g keeps zeros, which the C library's function cannot: by %e's exponent it is %e or %f. */
static void alternate_g(char *to, size_t room, char conversion, int precision, double value)
{
	const char *exponent_at;
	int exponent = 0;

	precision = precision ? precision : 1;
	digits_by(to, room, conversion == 'g' ? 'e' : 'E', precision - 1, value);
	exponent_at = strpbrk(to, "eE");
	if (exponent_at)
		exponent = (int)strtoll(exponent_at + 1, NULL, 10);
	if (exponent >= -4 && exponent < precision)
		digits_by(to, room, 'f', precision - 1 - exponent, value);
}

/* Sees to it that there is a point, as # asks. */
static void add_point(char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (!strncasecmp(text, "0x", 2))
		digits = 2 + strspn(text + 2, "0123456789abcdefABCDEF");
	if (text[digits] == '.' || text[digits] == ',')
		return;
	memmove(text + digits + 1, text + digits, strlen(text + digits) + 1);
	text[digits] = '.';
}

void etw_put_float(struct etw_format_sink *sink, const struct etw_spec *spec, double value)
{
	char conversion = spec->conversion;
	bool upper = conversion < 'a';
	bool is_hex = conversion == 'a' || conversion == 'A';
	int precision = spec->precision >= 0 ? spec->precision : is_hex ? HEX_DIGITS : 6;
	char sign[4] = "";
	char *text, *digits;
	size_t room;

	if (signbit(value))
		sign[0] = '-';
	else if (spec->plus)
		sign[0] = '+';
	else if (spec->blank)
		sign[0] = ' ';
	if (!isfinite(value)) {
		const char *name = special_name(value, upper);

		etw_put_number(sink, spec, sign, 0, name, strlen(name), false);
		return;
	}
	/* Nothing but zeros is behind so many digits; they are not worth memory. */
	if (precision > MOST_PRECISION)
		precision = MOST_PRECISION;
	room = (size_t)precision + MOST_INTEGER;
	text = malloc(room);
	if (!text) {
		sink->error = ENOMEM;
		return;
	}
	if (spec->alternate && (conversion == 'g' || conversion == 'G'))
		alternate_g(text, room - 1, conversion, precision, __builtin_fabs(value));
	else
		digits_by(text, room - 1, conversion, precision, __builtin_fabs(value));
	if (spec->alternate)
		add_point(text);
	digits = text;
	if (is_hex) { /* zeros stand between 0x and the digits */
		size_t length = strlen(sign);

		memcpy(sign + length, text, 2);
		sign[length + 2] = '\0';
		digits += 2;
	}
	etw_put_number(sink, spec, sign, 0, digits, strlen(digits), true);
	free(text);
}
