/* SPDX-License-Identifier: MIT */
/*
 * Floating-point numbers: the fewest digits that read back as the same value. Values that are a
 * short decimal, as most in traces are, are found by scaling with powers of ten that a double holds
 * exactly; the rest goes through printf with growing precision.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/float.h"
#include "base/macros.h"
#include "decode/format_internal.h"

#define DECIMALS_MAX 9

static const double powers[DECIMALS_MAX + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* @scaled / 10^@decimals with its trailing zeros gone by construction. */
static void write_scaled(uint64_t scaled, unsigned decimals, struct etw_text *text)
{
	uint64_t power = (uint64_t)powers[decimals];
	uint64_t fraction = scaled % power;

	etw_text_unsigned(text, scaled / power);
	if (decimals == 0)
		return;
	char *to = etw_text_begin(text, decimals + 1u);

	if (!to)
		return;
	*to++ = '.';
	for (unsigned i = decimals; i > 0; i--, fraction /= 10)
		to[i - 1] = (char)('0' + fraction % 10);
	etw_text_end(text, to + decimals);
}

/*
 * Division of two exact doubles is rounded correctly, so a quotient that equals the value proves that
 * the decimal reads back as it. Floats are proven in single precision.
 */
static bool write_short(double value, bool is_single, struct etw_text *text)
{
	double magnitude = fabs(value);
	double limit = is_single ? 1e7 : 1e15;

	if (magnitude >= limit || (magnitude < 1e-4 && magnitude != 0))
		return false;
	for (unsigned i = 0; i <= DECIMALS_MAX; i++) {
		double scaled = (double)(uint64_t)(magnitude * powers[i] + 0.5);

		if (scaled >= limit * 10)
			return false;
		double back = scaled / powers[i];

		if (is_single ? (float)back != (float)magnitude : back != magnitude)
			continue;
		if (signbit(value))
			etw_text_putc(text, '-');
		write_scaled((uint64_t)scaled, i, text);
		return true;
	}
	return false;
}

void etw_form_point(char *number)
{
	static const char own[] = "0123456789+-abcdefinpxABCDEFINPX ";
	char *point = number + strspn(number, own);
	const char *behind = point + strcspn(point, own);

	if (!*point)
		return;
	*point++ = '.';
	memmove(point, behind, strlen(behind) + 1);
}

static void write_long(double value, bool is_single, struct etw_text *text)
{
	int most = is_single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	char digits[32];

	for (int precision = is_single ? FLT_DIG : DBL_DIG; precision <= most; precision++) {
		(void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (is_single ? strtof(digits, NULL) == (float)value
			      : strtod(digits, NULL) == value)
			break;
	}
	etw_form_point(digits);
	etw_text_puts(text, digits);
}

bool etw_form_float(const uint8_t *at, size_t bytes, struct etw_text *text)
{
	const bool is_single = bytes == 4;
	const double value = etw_load_float(at, bytes);

	if (!isfinite(value)) {
		etw_text_puts(text, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
		return false;
	}
	if (!write_short(value, is_single, text))
		write_long(value, is_single, text);
	return true;
}
