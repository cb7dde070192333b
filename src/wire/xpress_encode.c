/* SPDX-License-Identifier: MIT */
/*
 * Makes a stream of the form that wire/xpress.c takes apart. Greedy: at each place the longest match with the last place
 * that began with the same four bytes is taken, if there is one. A stream ends as that of Windows' encoder does: unused
 * flags of its last word are ones, and a multiple of 32 tokens is followed by one more word of ones.
 */
#include "wire/xpress.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"

#define DISTANCE_MAX 8191 /* 13 bits would reach one further; Windows' encoder never does */
#define MATCH_MIN    3
#define PROBE_BYTES  4 /* that have to be equal for a match to be looked at */

/* Where nothing matches for long, places are skipped: one more for each so many literals in a row. */
#define SKIP_SHIFT 6

/* The most that one token takes: flags and a match of the longest form. */
#define TOKEN_BYTES_MAX (4 + 2 + 1 + 1 + 2 + 4)

struct encoder {
	uint8_t *output;
	size_t written;
	size_t room;
	size_t flags_at; /* of the word whose bits are being filled */
	uint32_t flags;
	unsigned flags_used;
	size_t nibble_at; /* the byte whose high nibble is free; 0: there is none */
};

static void open_flags(struct encoder *encoder)
{
	encoder->flags_at = encoder->written;
	encoder->written += 4;
	encoder->flags = 0;
	encoder->flags_used = 0;
}

/* A word of flags comes before its first token. */
static inline void put_flag(struct encoder *encoder, bool is_match)
{
	if (UNLIKELY(encoder->flags_used == 32)) {
		etw_store32(encoder->output + encoder->flags_at, encoder->flags);
		open_flags(encoder);
	}
	encoder->flags |= (uint32_t)is_match << (31 - encoder->flags_used++);
}

static void put_nibble(struct encoder *encoder, unsigned nibble)
{
	if (encoder->nibble_at) {
		encoder->output[encoder->nibble_at] |= (uint8_t)(nibble << 4);
		encoder->nibble_at = 0;
	} else {
		encoder->nibble_at = encoder->written;
		encoder->output[encoder->written++] = (uint8_t)nibble;
	}
}

/* What of a length does not fit three bits. @rest: length less MATCH_MIN */
static void put_long_length(struct encoder *encoder, size_t rest)
{
	put_nibble(encoder, rest - 7 < 15 ? (unsigned)(rest - 7) : 15);
	if (rest - 7 < 15)
		return;
	encoder->output[encoder->written++] = (uint8_t)(rest - 22 < 255 ? rest - 22 : 255);
	if (rest - 22 < 255)
		return;
	etw_store16(encoder->output + encoder->written, (uint16_t)(rest <= UINT16_MAX ? rest : 0));
	encoder->written += 2;
	if (rest <= UINT16_MAX)
		return;
	etw_store32(encoder->output + encoder->written, (uint32_t)rest);
	encoder->written += 4;
}

static void put_match(struct encoder *encoder, size_t distance, size_t length)
{
	size_t rest = length - MATCH_MIN;

	put_flag(encoder, true);
	etw_store16(encoder->output + encoder->written,
		    (uint16_t)((distance - 1) << 3 | (rest < 7 ? rest : 7)));
	encoder->written += 2;
	if (rest >= 7)
		put_long_length(encoder, rest);
}

static bool has_room(const struct encoder *encoder, size_t tokens)
{
	return encoder->room - encoder->written >= tokens * TOKEN_BYTES_MAX;
}

static inline uint32_t slot_of(const uint8_t *at)
{
	return etw_load32(at) * UINT32_C(2654435761) >> (32 - ETW_XPRESS_HASH_BITS);
}

/* How many bytes at @at are those at @from, up to @end. */
static size_t match_length(const uint8_t *at, const uint8_t *from, const uint8_t *end)
{
	const uint8_t *begin = at;

	while (end - at >= 8) {
		uint64_t difference = etw_load64(at) ^ etw_load64(from);

		if (difference)
			return (size_t)(at - begin) + (size_t)__builtin_ctzll(difference) / 8;
		at += 8;
		from += 8;
	}
	while (at < end && *at == *from) {
		at++;
		from++;
	}
	return (size_t)(at - begin);
}

/* Where the last place with these four bytes is, if it is near enough; else NULL. */
static const uint8_t *find(struct etw_xpress_places *places, const uint8_t *input,
			   const uint8_t *at)
{
	uint32_t *slot = &places->last[slot_of(at)];
	uint32_t before = *slot;
	uint32_t now = (uint32_t)(at - input) + 1;

	*slot = now;
	if (before == 0 || now - before > DISTANCE_MAX ||
	    etw_load32(input + before - 1) != etw_load32(at))
		return NULL;
	return input + before - 1;
}

static bool put_literals(struct encoder *encoder, const uint8_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		/* A literal takes a byte, and each 32nd one four more. */
		if (UNLIKELY(encoder->room - encoder->written < 8))
			return false;
		put_flag(encoder, false);
		encoder->output[encoder->written++] = from[i];
	}
	return true;
}

/* Returns whether everything found room. */
static bool encode_tokens(struct encoder *encoder, struct etw_xpress_places *places,
			  const uint8_t *input, size_t bytes)
{
	const uint8_t *end = input + bytes, *at = input, *pending = input;

	while (end - at >= PROBE_BYTES) {
		const uint8_t *from = find(places, input, at);
		size_t length;

		if (!from) {
			size_t step = 1 + ((size_t)(at - pending) >> SKIP_SHIFT);

			if (step > (size_t)(end - at))
				break;
			at += step;
			continue;
		}
		length = PROBE_BYTES + match_length(at + PROBE_BYTES, from + PROBE_BYTES, end);
		if (!put_literals(encoder, pending, (size_t)(at - pending)) ||
		    !has_room(encoder, 1))
			return false;
		put_match(encoder, (size_t)(at - from), length);
		at += length;
		pending = at;
		if (end - at >= PROBE_BYTES - 2)
			places->last[slot_of(at - 2)] = (uint32_t)(at - 2 - input) + 1;
	}
	return put_literals(encoder, pending, (size_t)(end - pending));
}

size_t etw_xpress_encode(struct etw_xpress_places *places, const uint8_t *input, size_t bytes,
			 uint8_t *output, size_t room)
{
	struct encoder encoder = {.output = output, .room = room};

	if (room < 2 * TOKEN_BYTES_MAX || bytes > UINT32_MAX - 1)
		return 0;
	memset(places, 0, sizeof(*places));
	open_flags(&encoder);
	if (!encode_tokens(&encoder, places, input, bytes))
		return 0;
	if (encoder.flags_used == 32) {
		if (encoder.room - encoder.written < 4)
			return 0;
		etw_store32(output + encoder.flags_at, encoder.flags);
		open_flags(&encoder);
	}
	etw_store32(output + encoder.flags_at,
		    encoder.flags | (uint32_t)(UINT64_C(0xFFFFFFFF) >> encoder.flags_used));
	return encoder.written;
}
