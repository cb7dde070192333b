/* SPDX-License-Identifier: MIT */
/*
 * Guesses what a payload holds that nobody has a schema for. Strings, SIDs, times and kernel addresses give
 * themselves away; the rest is taken for 32-bit numbers. A guess is never mixed with what is known: whoever
 * shows one says so.
 */
#ifndef ETW_DECODE_GUESS_H
#define ETW_DECODE_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A walk over a payload; all members are private. */
struct etw_guesser {
	const uint8_t *at; /* borrowed */
	size_t bytes;
	size_t offset;
	int64_t time_ft; /* about when the event happened */
	/* Where printable text was found last: of bytes, of UTF-16 at even offsets and at odd ones. */
	struct {
		size_t first, end;
	} texts[3];
};

struct etw_guess {
	size_t offset;    /* of the value */
	size_t bytes;     /* of the value, without a terminating NUL */
	uint16_t in_type; /* TDH_INTYPE_*: what etw_format_value() should take it for */
};

/*
 * etw_guesser_init() - begins at byte @offset of a payload.
 *
 * @at:      @bytes bytes; borrowed for the walk; NULL with 0
 * @time_ft: about when the event happened: a number is a time when it is near
 */
void etw_guesser_init(struct etw_guesser *guesser, const uint8_t *at, size_t bytes, size_t offset,
		      int64_t time_ft);

/*
 * etw_guesser_next() - the next value; false behind the last one. A walk takes time in proportion to the payload.
 *
 * The values cover the payload without overlap, but for the NULs behind strings.
 */
bool etw_guesser_next(struct etw_guesser *guesser, struct etw_guess *ret);

#endif
