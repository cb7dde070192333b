/* SPDX-License-Identifier: MIT */
/* Numbers, times, GUIDs and addresses as they are written. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/time.h"
#include "filter/value.h"

#define SECONDS_MAX INT64_C(900000000000) /* nearly the range of FILETIME */

struct unit {
	const char *name;
	int64_t worth;
};

static const struct unit sizes[] = {
	{"", 1},
	{"KB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"TB", INT64_C(1000000000000)},
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", INT64_C(1) << 40},
};

/* In 100 ns; "ns" is told apart. */
static const struct unit durations[] = {
	{"", ETW_FILETIME_PER_SECOND},
	{"us", 10},
	{"ms", 10000},
	{"s", ETW_FILETIME_PER_SECOND},
	{"min", 60 * ETW_FILETIME_PER_SECOND},
	{"h", 3600 * ETW_FILETIME_PER_SECOND},
	{"d", 86400 * ETW_FILETIME_PER_SECOND},
};

static const struct unit *find_unit(const struct unit *units, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(units[i].name, name))
			return &units[i];
	}
	return NULL;
}

/* Digits up to what 64 bits hold; returns how many there are, 0 also when they are too many. */
static size_t read_digits(const char *at, int base, uint64_t *ret)
{
	uint64_t value = 0;
	size_t count = 0;

	for (int digit; (digit = etw_hex_digit(at[count])) >= 0 && digit < base; count++) {
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return 0;
	}
	*ret = value;
	return count;
}

static void set_integer(struct etw_filter_value *value, etw_filter_integer number)
{
	value->readings |= ETW_FILTER_INTEGER | ETW_FILTER_REAL;
	value->from = value->to = number;
	value->from_real = value->to_real = (double)number;
}

/* Digits, perhaps a fraction; whether it was read, and up to where. Digits beyond the fifteenth do not count. */
static bool read_decimal(const char *at, uint64_t *ret_whole, double *ret_real,
			 const char **ret_end)
{
	size_t count = read_digits(at, 10, ret_whole);
	uint64_t digits = *ret_whole;
	double divisor = 1;

	if (!count)
		return false;
	at += count;
	if (*at == '.' && at[1] >= '0' && at[1] <= '9') {
		for (at++; *at >= '0' && *at <= '9'; at++) {
			if (digits < UINT64_C(100000000000000)) {
				digits = 10 * digits + (uint64_t)(*at - '0');
				divisor *= 10;
			}
		}
	}
	*ret_real = (double)digits / divisor;
	*ret_end = at;
	return true;
}

/* "12", "-5", "0x1F", "1.5", "64KiB". */
static void read_number(const char *word, struct etw_filter_value *value)
{
	const bool is_negative = *word == '-';
	const char *at = word + is_negative, *end;
	const struct unit *unit;
	uint64_t number = 0;
	double real;

	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		size_t count = read_digits(at + 2, 16, &number);

		if (count && !at[2 + count])
			set_integer(value, is_negative ? -(etw_filter_integer)number
						       : (etw_filter_integer)number);
		return;
	}
	if (!read_decimal(at, &number, &real, &end))
		return;
	unit = find_unit(sizes, ARRAY_SIZE(sizes), end);
	if (!unit)
		return;
	if (!memchr(at, '.', (size_t)(end - at))) {
		const etw_filter_integer product = (etw_filter_integer)number * unit->worth;

		set_integer(value, is_negative ? -product : product);
		return;
	}
	real *= (double)unit->worth;
	value->readings |= ETW_FILTER_REAL;
	value->from_real = value->to_real = is_negative ? -real : real;
}

/* "+1.5s": from the start of the trace; "-2s" is before it. */
static bool read_offset(const char *word, int64_t *ret)
{
	const bool is_negative = *word == '-';
	const struct unit *unit;
	uint64_t whole, digits = 0;
	int64_t ticks, scale = 1;
	size_t count;

	if (*word != '+' && !is_negative)
		return false;
	count = read_digits(++word, 10, &whole);
	if (!count || whole > (uint64_t)SECONDS_MAX)
		return false;
	word += count;
	if (*word == '.') {
		for (word++; *word >= '0' && *word <= '9'; word++) {
			if (scale < 1000000000) {
				digits = 10 * digits + (uint64_t)(*word - '0');
				scale *= 10;
			}
		}
		if (scale == 1)
			return false;
	}
	if (!strcmp(word, "ns")) {
		ticks = (int64_t)whole / ETW_NS_PER_FT;
	} else {
		unit = find_unit(durations, ARRAY_SIZE(durations), word);
		if (!unit || __builtin_mul_overflow((int64_t)whole, unit->worth, &ticks) ||
		    __builtin_add_overflow(
			    ticks, (int64_t)((etw_filter_integer)digits * unit->worth / scale),
			    &ticks))
			return false;
	}
	*ret = is_negative ? -ticks : ticks;
	return true;
}

static void read_time(const char *word, struct etw_filter_value *value)
{
	int64_t time_ft;

	if (read_offset(word, &time_ft))
		value->is_relative = true;
	else if (strlen(word) < 8 || etw_filetime_parse(word, &time_ft) < 0)
		return;
	value->readings |= ETW_FILTER_TIME;
	value->from_ft = value->to_ft = time_ft;
}

/* All of a network: the bits behind the first @bits ones may be any. */
static void widen(struct etw_filter_value *value, unsigned bits)
{
	for (unsigned i = 0; i < value->address_bytes; i++) {
		const unsigned before = 8 * i;
		const unsigned kept = bits > before ? bits - before : 0;
		const uint8_t mask = kept >= 8 ? 0xFF : (uint8_t)(0xFF00u >> kept);

		value->from_address[i] &= mask;
		value->to_address[i] |= (uint8_t)~mask;
	}
}

static void read_address(const char *word, struct etw_filter_value *value)
{
	const char *slash = strchr(word, '/');
	const size_t length = slash ? (size_t)(slash - word) : strlen(word);
	char address[INET6_ADDRSTRLEN];
	uint64_t bits = UINT64_MAX;

	if (length >= sizeof(address))
		return;
	memcpy(address, word, length);
	address[length] = '\0';
	if (inet_pton(AF_INET, address, value->from_address) == 1)
		value->address_bytes = 4;
	else if (inet_pton(AF_INET6, address, value->from_address) == 1)
		value->address_bytes = 16;
	else
		return;
	memcpy(value->to_address, value->from_address, sizeof(value->to_address));
	if (slash) {
		size_t count = read_digits(slash + 1, 10, &bits);

		if (!count || slash[1 + count] || bits > 8u * value->address_bytes)
			return;
		widen(value, (unsigned)bits);
	}
	value->readings |= ETW_FILTER_ADDRESS;
}

int etw_filter_value_read(const char *word, size_t bytes, bool is_quoted,
			  struct etw_filter_value *ret)
{
	struct etw_filter_value value = {.readings = ETW_FILTER_TEXT};

	TRY(etw_filter_value_set_text(&value, word, bytes));
	if (strlen(value.text) == bytes) {
		if (!is_quoted)
			read_number(value.text, &value);
		read_time(value.text, &value);
		read_address(value.text, &value);
		if (!etw_guid_parse(value.text, &value.guid))
			value.readings |= ETW_FILTER_GUID;
		value.truth = !strcmp(value.text, "true");
		if (!is_quoted && (value.truth || !strcmp(value.text, "false")))
			value.readings |= ETW_FILTER_TRUTH;
	}
	*ret = value;
	return 0;
}
