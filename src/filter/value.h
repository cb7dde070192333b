/* SPDX-License-Identifier: MIT */
/*
 * What something is compared with. What is written in an expression can be read in several ways ("10" is a number
 * and a text), and which one counts is only known when a field is at hand: a value holds all readings that it has,
 * each with both ends of a range, which are the same where there is none.
 */
#ifndef ETW_FILTER_VALUE_H
#define ETW_FILTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/text.h"
#include "filter/regex.h"

/* Wide enough for every integer of C and one more at either end. */
__extension__ typedef __int128 etw_filter_integer;

enum etw_filter_reading {
	ETW_FILTER_INTEGER = 1,
	ETW_FILTER_REAL = 2,
	ETW_FILTER_TIME = 4, /* FILETIME */
	ETW_FILTER_GUID = 8,
	ETW_FILTER_ADDRESS = 16,
	ETW_FILTER_TRUTH = 32,
	ETW_FILTER_TEXT = 64,
	ETW_FILTER_SID = 128,   /* the text counts for SIDs only */
	ETW_FILTER_BYTES = 256, /* what the text holds, compared with bytes as they lie there */
};

/* How texts are compared. */
enum etw_filter_how {
	ETW_FILTER_EQUALS,
	ETW_FILTER_CONTAINS,
	ETW_FILTER_STARTS,
	ETW_FILTER_ENDS,
	ETW_FILTER_LIKE,    /* `*` for any characters, `?` for one */
	ETW_FILTER_PATTERN, /* `*` only (base/pattern.h) */
	ETW_FILTER_MATCHES, /* a regular expression */
	ETW_FILTER_MASK_ANY,
	ETW_FILTER_MASK_ALL,
};

struct etw_filter_value {
	uint16_t readings; /* enum etw_filter_reading */
	bool is_relative;  /* TIME: from the start of the trace */
	bool is_exact; /* TEXT: upper and lower case differ; else the text is in small letters */
	bool truth;
	bool excludes_from, excludes_to; /* REAL */
	uint8_t how;                     /* enum etw_filter_how */
	uint8_t address_bytes;           /* 4 or 16 */
	etw_filter_integer from, to;
	etw_filter_integer from_ft, to_ft;
	double from_real, to_real;
	GUID guid;
	uint8_t from_address[16], to_address[16];
	char *text; /* owned; NULL without TEXT, SID and BYTES */
	size_t text_bytes;
	struct etw_regex *regex; /* owned; with MATCHES */
};

/* etw_filter_value_done() - frees what it owns. */
void etw_filter_value_done(struct etw_filter_value *value);

/*
 * etw_filter_value_read() - all readings of a word as it is written.
 *
 * @is_quoted: it stood in quotes, so that it is no number and no truth
 *
 * "12", "-5", "0x1F", "1.5", "64KiB"; "2011-01-23T22:06:37.5Z", "+1.5s"; a GUID with or without braces; an IPv4 or
 * IPv6 address, with "/24" all of its network; "true", "false". A text it is always. Returns 0 or -ENOMEM.
 */
int etw_filter_value_read(const char *word, size_t bytes, bool is_quoted,
			  struct etw_filter_value *ret);

/* etw_filter_value_set_text() - gives a value a copy of a text. Returns 0 or -ENOMEM. */
int etw_filter_value_set_text(struct etw_filter_value *value, const void *text, size_t bytes);

/*
 * etw_filter_value_set_how() - how the value's text is compared from now on.
 *
 * Returns 0; -EINVAL with @reterr for a regular expression that is none; -ENOMEM.
 */
int etw_filter_value_set_how(struct etw_filter_value *value, enum etw_filter_how how, bool is_exact,
			     struct etw_regex_fault *reterr);

/*
 * etw_filter_value_extend() - makes the range that reaches from one value to another.
 *
 * Only readings that both have and that have an order remain. Returns whether there is one, and the second end is
 * not below the first.
 */
bool etw_filter_value_extend(struct etw_filter_value *from, const struct etw_filter_value *to);

/* How a value bounds a range. */
enum etw_filter_bound {
	ETW_FILTER_BELOW,
	ETW_FILTER_UP_TO,
	ETW_FILTER_ABOVE,
	ETW_FILTER_FROM,
};

/* etw_filter_value_bound() - all that is below or above. Returns whether it has a reading that has an order. */
bool etw_filter_value_bound(struct etw_filter_value *value, enum etw_filter_bound bound);

/* Comparisons with what an event holds; each is false where the value has no such reading. */
bool etw_filter_value_has_integer(const struct etw_filter_value *value, etw_filter_integer number);
bool etw_filter_value_has_real(const struct etw_filter_value *value, double number);
bool etw_filter_value_has_time(const struct etw_filter_value *value, int64_t time_ft,
			       int64_t start_ft);
bool etw_filter_value_has_guid(const struct etw_filter_value *value, const GUID *guid);
bool etw_filter_value_has_address(const struct etw_filter_value *value, const uint8_t *at,
				  size_t bytes);

/*
 * etw_filter_value_has_text() - whether a text is, begins with, holds ... this one.
 *
 * @room: where the text may be changed to small letters
 *
 * Takes time in proportion to both texts but for LIKE and PATTERN, which take the product of them, and MATCHES.
 */
bool etw_filter_value_has_text(const struct etw_filter_value *value, const char *text, size_t bytes,
			       struct etw_text *room);

/* etw_filter_like() - whether a text fits a pattern with `*` for any characters and `?` for one of UTF-8. */
bool etw_filter_like(const char *pattern, size_t pattern_bytes, const char *text, size_t bytes);

#endif
