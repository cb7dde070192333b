/* SPDX-License-Identifier: MIT */
/* Numbers from wide text. `long` has 32 bits on Windows, so wcstol and wcstoul end there. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#include "compat/crt/checked.h"
#include "compat/crt/invalid.h"

#define MOST_DIGITS 1100 /* of a floating point number: more say nothing */

struct number {
	uint64_t value;
	bool is_negative;
	bool overflows;
	const wchar_t *end;
};

static bool is_blank(wchar_t unit)
{
	return unit == L' ' || (unit >= L'\t' && unit <= L'\r');
}

static unsigned digit_of(wchar_t unit)
{
	if (unit >= L'0' && unit <= L'9')
		return (unsigned)(unit - L'0');
	if (unit >= L'a' && unit <= L'z')
		return (unsigned)(unit - L'a') + 10;
	if (unit >= L'A' && unit <= L'Z')
		return (unsigned)(unit - L'A') + 10;
	return UINT_MAX;
}

static struct number parse(const wchar_t *text, int base)
{
	struct number number = {.end = text};
	const wchar_t *at = text;

	if (!text || base < 0 || base == 1 || base > 36) {
		(void)etw_invalid_parameter(EINVAL, "wcstol");
		return number;
	}
	while (is_blank(*at))
		at++;
	if (*at == L'-' || *at == L'+')
		number.is_negative = *at++ == L'-';
	if ((base == 0 || base == 16) && at[0] == L'0' && (at[1] == L'x' || at[1] == L'X') &&
	    digit_of(at[2]) < 16) {
		at += 2;
		base = 16;
	}
	if (!base)
		base = *at == L'0' ? 8 : 10;
	for (unsigned digit; (digit = digit_of(*at)) < (unsigned)base; number.end = ++at)
		number.overflows |= __builtin_mul_overflow(number.value, (uint64_t)base,
							   &number.value) ||
				    __builtin_add_overflow(number.value, digit, &number.value);
	return number;
}

static int64_t parse_signed(const wchar_t *text, wchar_t **ret_end, int base, int64_t most)
{
	struct number number = parse(text, base);
	uint64_t limit = (uint64_t)most + number.is_negative;

	if (ret_end)
		*ret_end = (wchar_t *)(uintptr_t)number.end;
	if (number.overflows || number.value > limit) {
		errno = ERANGE;
		number.value = limit;
	}
	return (int64_t)(number.is_negative ? -number.value : number.value);
}

static uint64_t parse_unsigned(const wchar_t *text, wchar_t **ret_end, int base, uint64_t most)
{
	struct number number = parse(text, base);

	if (ret_end)
		*ret_end = (wchar_t *)(uintptr_t)number.end;
	if (number.overflows || number.value > most) {
		errno = ERANGE;
		return most;
	}
	return (number.is_negative ? -number.value : number.value) & most;
}

long wcstol(const wchar_t *text, wchar_t **end, int base)
{
	return parse_signed(text, end, base, INT32_MAX);
}

unsigned long wcstoul(const wchar_t *text, wchar_t **end, int base)
{
	return parse_unsigned(text, end, base, UINT32_MAX);
}

long long wcstoll(const wchar_t *text, wchar_t **end, int base)
{
	return parse_signed(text, end, base, INT64_MAX);
}

unsigned long long wcstoull(const wchar_t *text, wchar_t **end, int base)
{
	return parse_unsigned(text, end, base, UINT64_MAX);
}

intmax_t wcstoimax(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoll(text, end, base);
}

uintmax_t wcstoumax(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoull(text, end, base);
}

long long _wcstoi64(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoll(text, end, base);
}

unsigned long long _wcstoui64(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoull(text, end, base);
}

/* The characters that may be of a floating point number, as bytes for the C library. */
static size_t narrow_number(const wchar_t *text, char to[MOST_DIGITS + 1])
{
	size_t count = 0;

	while (count < MOST_DIGITS && text[count] && (unsigned)text[count] < 0x80) {
		to[count] = (char)text[count];
		count++;
	}
	to[count] = '\0';
	return count;
}

#define FLOATING(type, name, by)                                                     \
	type name(const wchar_t *text, wchar_t **end)                                \
	{                                                                            \
		char narrow[MOST_DIGITS + 1], *narrow_end;                           \
		type value;                                                          \
                                                                                     \
		(void)narrow_number(text, narrow);                                   \
		value = by(narrow, &narrow_end);                                     \
		if (end)                                                             \
			*end = (wchar_t *)(uintptr_t)(text + (narrow_end - narrow)); \
		return value;                                                        \
	}

FLOATING(float, wcstof, strtof)
FLOATING(double, wcstod, strtod)
FLOATING(long double, wcstold, strtold)

int _wtoi(const wchar_t *text)
{
	return (int)wcstol(text, NULL, 10);
}

long _wtol(const wchar_t *text)
{
	return wcstol(text, NULL, 10);
}

long long _wtoi64(const wchar_t *text)
{
	return wcstoll(text, NULL, 10);
}

long long _wtoll(const wchar_t *text)
{
	return wcstoll(text, NULL, 10);
}

double _wtof(const wchar_t *text)
{
	return wcstod(text, NULL);
}

/* Newer C libraries' headers call these where they accept binary numbers. */

long __isoc23_wcstol(const wchar_t *text, wchar_t **end, int base)
{
	return wcstol(text, end, base);
}

unsigned long __isoc23_wcstoul(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoul(text, end, base);
}

long long __isoc23_wcstoll(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoll(text, end, base);
}

unsigned long long __isoc23_wcstoull(const wchar_t *text, wchar_t **end, int base)
{
	return wcstoull(text, end, base);
}
