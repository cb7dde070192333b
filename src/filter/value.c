/* SPDX-License-Identifier: MIT */
/* What a value is compared with, and ranges; value_read.c has what can be written. */
#include "filter/value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/pattern.h"

#define ORDERED (ETW_FILTER_INTEGER | ETW_FILTER_REAL | ETW_FILTER_TIME | ETW_FILTER_ADDRESS)

/* Beyond all that 64 bits hold, in either direction. */
#define BEYOND ((etw_filter_integer)1 << 100)

void etw_filter_value_done(struct etw_filter_value *value)
{
	free(value->text);
	etw_regex_free(value->regex);
	value->text = NULL;
	value->regex = NULL;
}

int etw_filter_value_set_text(struct etw_filter_value *value, const void *text, size_t bytes)
{
	char *copy = malloc(bytes + 1);

	if (!copy)
		return -ENOMEM;
	if (bytes)
		memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	free(value->text);
	value->text = copy;
	value->text_bytes = bytes;
	return 0;
}

/* Letters of ASCII alone, whatever the program's locale is. */
static void fold(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] - 'A' + 'a');
	}
}

int etw_filter_value_set_how(struct etw_filter_value *value, enum etw_filter_how how, bool is_exact,
			     struct etw_regex_fault *reterr)
{
	value->how = (uint8_t)how;
	value->is_exact = is_exact;
	if (how == ETW_FILTER_MATCHES)
		return etw_regex_compile(value->text, value->text_bytes, !is_exact, &value->regex,
					 reterr);
	if (!is_exact && value->text && how != ETW_FILTER_PATTERN)
		fold(value->text, value->text_bytes);
	return 0;
}

bool etw_filter_value_extend(struct etw_filter_value *from, const struct etw_filter_value *to)
{
	uint16_t readings = from->readings & to->readings & ORDERED;

	if (from->is_relative != to->is_relative || from->from_ft > to->to_ft)
		readings &= (uint16_t)~ETW_FILTER_TIME;
	if (from->from > to->to)
		readings &= (uint16_t)~ETW_FILTER_INTEGER;
	if (!(from->from_real <= to->to_real))
		readings &= (uint16_t)~ETW_FILTER_REAL;
	if (from->address_bytes != to->address_bytes ||
	    memcmp(from->from_address, to->to_address, sizeof(to->to_address)) > 0)
		readings &= (uint16_t)~ETW_FILTER_ADDRESS;
	from->readings = readings;
	from->to = to->to;
	from->to_ft = to->to_ft;
	from->to_real = to->to_real;
	memcpy(from->to_address, to->to_address, sizeof(from->to_address));
	return readings != 0;
}

bool etw_filter_value_bound(struct etw_filter_value *value, enum etw_filter_bound bound)
{
	const bool is_open = bound == ETW_FILTER_BELOW || bound == ETW_FILTER_ABOVE;

	value->readings &= ORDERED & ~ETW_FILTER_ADDRESS;
	if (bound == ETW_FILTER_BELOW || bound == ETW_FILTER_UP_TO) {
		value->to -= is_open;
		value->to_ft -= is_open;
		value->excludes_to = is_open;
		value->from = -BEYOND;
		value->from_ft = -BEYOND;
		value->from_real = -INFINITY;
	} else {
		value->from += is_open;
		value->from_ft += is_open;
		value->excludes_from = is_open;
		value->to = BEYOND;
		value->to_ft = BEYOND;
		value->to_real = INFINITY;
	}
	return value->readings != 0;
}

bool etw_filter_value_has_integer(const struct etw_filter_value *value, etw_filter_integer number)
{
	if (!(value->readings & ETW_FILTER_INTEGER))
		return false;
	if (value->how == ETW_FILTER_MASK_ANY)
		return ((uint64_t)number & (uint64_t)value->from) != 0;
	if (value->how == ETW_FILTER_MASK_ALL)
		return ((uint64_t)number & (uint64_t)value->from) == (uint64_t)value->from;
	return number >= value->from && number <= value->to;
}

bool etw_filter_value_has_real(const struct etw_filter_value *value, double number)
{
	if (!(value->readings & ETW_FILTER_REAL))
		return false;
	return (value->excludes_from ? number > value->from_real : number >= value->from_real) &&
	       (value->excludes_to ? number < value->to_real : number <= value->to_real);
}

bool etw_filter_value_has_time(const struct etw_filter_value *value, int64_t time_ft,
			       int64_t start_ft)
{
	const etw_filter_integer start = value->is_relative ? start_ft : 0;

	return value->readings & ETW_FILTER_TIME && time_ft >= value->from_ft + start &&
	       time_ft <= value->to_ft + start;
}

bool etw_filter_value_has_guid(const struct etw_filter_value *value, const GUID *guid)
{
	return value->readings & ETW_FILTER_GUID && etw_guid_equal(&value->guid, guid);
}

bool etw_filter_value_has_address(const struct etw_filter_value *value, const uint8_t *at,
				  size_t bytes)
{
	return value->readings & ETW_FILTER_ADDRESS && bytes == value->address_bytes &&
	       memcmp(at, value->from_address, bytes) >= 0 &&
	       memcmp(at, value->to_address, bytes) <= 0;
}

/* Behind a whole character. */
static size_t skip_character(const char *text, size_t bytes, size_t at)
{
	for (at++; at < bytes && ((uint8_t)text[at] & 0xC0) == 0x80; at++)
		;
	return at;
}

bool etw_filter_like(const char *pattern, size_t pattern_bytes, const char *text, size_t bytes)
{
	size_t at = 0, in = 0, retry_at = 0, retry_in = SIZE_MAX;

	for (;;) {
		if (in < pattern_bytes && pattern[in] == '*') {
			retry_in = ++in;
			retry_at = at;
		} else if (at == bytes) {
			return in == pattern_bytes;
		} else if (in < pattern_bytes && pattern[in] == '?') {
			in++;
			at = skip_character(text, bytes, at);
		} else if (in < pattern_bytes && pattern[in] == text[at]) {
			in++;
			at++;
		} else if (retry_in != SIZE_MAX) {
			/* The last star takes one character more. */
			in = retry_in;
			retry_at = skip_character(text, bytes, retry_at);
			at = retry_at;
		} else {
			return false;
		}
	}
}

static bool compare(const struct etw_filter_value *value, const char *text, size_t bytes)
{
	const size_t wanted = value->text_bytes;

	switch (value->how) {
	case ETW_FILTER_EQUALS:
		return bytes == wanted && !memcmp(text, value->text, wanted);
	case ETW_FILTER_STARTS:
		return bytes >= wanted && !memcmp(text, value->text, wanted);
	case ETW_FILTER_ENDS:
		return bytes >= wanted && !memcmp(text + bytes - wanted, value->text, wanted);
	case ETW_FILTER_CONTAINS:
		return memmem(text, bytes, value->text, wanted) != NULL;
	case ETW_FILTER_LIKE:
		return etw_filter_like(value->text, wanted, text, bytes);
	default:
		return false;
	}
}

bool etw_filter_value_has_text(const struct etw_filter_value *value, const char *text, size_t bytes,
			       struct etw_text *room)
{
	if (!(value->readings & ETW_FILTER_TEXT))
		return false;
	if (value->how == ETW_FILTER_MATCHES)
		return etw_regex_matches(value->regex, text, bytes);
	if (value->how == ETW_FILTER_PATTERN)
		return etw_pattern_matches(value->text, text, bytes);
	if (value->is_exact)
		return compare(value, text, bytes);
	if (text != room->at) {
		etw_text_clear(room);
		etw_text_append(room, text, bytes);
	}
	if (etw_text_error(room) || !room->at)
		return !etw_text_error(room) && compare(value, "", 0);
	fold(room->at, bytes);
	return compare(value, room->at, bytes);
}
