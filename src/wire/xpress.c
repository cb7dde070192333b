/* SPDX-License-Identifier: MIT */
/*
 * A stream is 32-bit words of flags, highest bit first, each flag telling whether the token that follows
 * is a literal byte (0) or a match (1). Long match lengths spill into nibbles, of which two matches share
 * one byte, then a byte, then a word, then a dword.
 */
#include "wire/xpress.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

/* Below this, an overlapping match is copied byte by byte. */
#define SHORT_MATCH 48

/* Bytes of a match that are copied where there is room for all, though less is wanted: of one without and with a nibble. */
#define SHORT_BYTES 16
#define WIDE_BYTES  32

/* What the tokens of one word of flags take and give at most, none of them longer than with a nibble. */
#define EASY_INPUT  (4 + 32 * 3)
#define EASY_OUTPUT (32 * 24 + WIDE_BYTES)

struct decoder {
	const uint8_t *input;
	size_t bytes;
	size_t at;
	size_t nibble_at; /* the byte whose high nibble is still unused; 0 when there is none */
	uint32_t flags;   /* of the tokens that come, from the highest bit on */
	unsigned flags_left;
};

/* The length of a match whose low three bits were all ones; false when the stream ends in it. */
static bool read_long_length(struct decoder *decoder, size_t *ret)
{
	uint32_t nibble;

	if (decoder->nibble_at) {
		nibble = decoder->input[decoder->nibble_at] >> 4;
		decoder->nibble_at = 0;
	} else {
		if (decoder->at >= decoder->bytes)
			return false;
		nibble = decoder->input[decoder->at] & 15u;
		decoder->nibble_at = decoder->at++;
	}
	if (nibble < 15) {
		*ret = nibble + 10;
		return true;
	}
	if (decoder->at >= decoder->bytes)
		return false;

	uint32_t byte = decoder->input[decoder->at++];

	if (byte < 255) {
		*ret = (size_t)byte + 25;
		return true;
	}
	if (decoder->bytes - decoder->at < 2)
		return false;

	uint32_t length = etw_load16(decoder->input + decoder->at);

	decoder->at += 2;
	if (!length) {
		if (decoder->bytes - decoder->at < 4)
			return false;
		length = etw_load32(decoder->input + decoder->at);
		decoder->at += 4;
	}
	if (length < 22) /* shorter forms exist; no encoder may use this one */
		return false;
	*ret = (size_t)length + 3;
	return true;
}

/* Copies a match that may overlap itself; the caller has checked both bounds. @room: behind @to */
static void copy_match(uint8_t *to, size_t distance, size_t length, size_t room)
{
	const uint8_t *from = to - distance;

	if (length <= WIDE_BYTES && distance >= WIDE_BYTES / 2 && room >= WIDE_BYTES) {
		memcpy(to, from, WIDE_BYTES / 2);
		memcpy(to + WIDE_BYTES / 2, from + WIDE_BYTES / 2, WIDE_BYTES / 2);
		return;
	}
	if (distance < length && length < SHORT_MATCH) {
		for (size_t i = 0; i < length; i++)
			to[i] = from[i];
		return;
	}
	/* What was copied is a longer pattern to copy from: a long run costs what a plain copy does. */
	for (size_t there = distance; length; there *= 2) {
		size_t count = there < length ? there : length;

		memcpy(to, from, count);
		to += count;
		length -= count;
	}
}

/* One match token at the decoder's place; false when it is damaged. */
static bool decode_match(struct decoder *decoder, uint8_t *output, size_t *written, size_t room)
{
	if (decoder->bytes - decoder->at < 2)
		return false;

	uint32_t token = etw_load16(decoder->input + decoder->at);
	size_t distance = (token >> 3) + 1;
	size_t length = (token & 7) + 3;

	decoder->at += 2;
	if ((token & 7) == 7 && !read_long_length(decoder, &length))
		return false;
	if (distance > *written)
		return false;
	if (length > room - *written)
		length = room - *written;
	copy_match(output + *written, distance, length, room - *written);
	*written += length;
	return true;
}

static void read_flags(struct decoder *decoder)
{
	decoder->flags = etw_load32(decoder->input + decoder->at);
	decoder->at += 4;
	decoder->flags_left = 32;
}

/* Copies up to 24 bytes from half as many as are copied, or more, before. */
static inline void copy_wide(uint8_t *to, size_t distance, size_t half)
{
	memcpy(to, to - distance, half);
	/* What this one reads the first one may have written. */
	memcpy(to + half, to + half - distance, half);
}

/*
 * A match up to the length that a nibble tells, and far enough back to be copied in two pieces. Returns where the next
 * token is, or NULL with nothing done for any other match.
 */
static inline const uint8_t *decode_easy_match(struct decoder *decoder, const uint8_t *from,
					       const uint8_t *output, uint8_t **to)
{
	uint32_t token = etw_load16(from);
	size_t distance = (token >> 3) + 1;
	const uint8_t *nibbles;
	unsigned nibble;

	if (distance > (size_t)(*to - output))
		return NULL;
	from += 2;
	if ((token & 7) != 7) {
		if (distance < SHORT_BYTES / 2)
			return NULL;
		copy_wide(*to, distance, SHORT_BYTES / 2);
		*to += (token & 7) + 3;
		return from;
	}
	nibbles = decoder->nibble_at ? decoder->input + decoder->nibble_at : from;
	nibble = decoder->nibble_at ? *nibbles >> 4 : *nibbles & 15u;
	if (nibble == 15 || distance < WIDE_BYTES / 2)
		return NULL;
	copy_wide(*to, distance, WIDE_BYTES / 2);
	*to += nibble + 10;
	decoder->nibble_at = decoder->nibble_at ? 0 : (size_t)(from - decoder->input);
	return from + (nibbles == from);
}

/*
 * Decodes while all tokens of a word of flags have room for what is copied too much, so that they need no checks of their
 * own. Returns false when the data is damaged.
 */
static bool decode_easy(struct decoder *decoder, uint8_t *output, size_t *written, size_t room)
{
	while (decoder->bytes - decoder->at >= EASY_INPUT && room - *written >= EASY_OUTPUT) {
		const uint8_t *from, *next;
		uint8_t *to = output + *written;
		uint32_t flags;
		unsigned left;

		if (!decoder->flags_left)
			read_flags(decoder);
		from = decoder->input + decoder->at;
		flags = decoder->flags;
		for (left = decoder->flags_left; left; left--, flags <<= 1) {
			if (!(flags >> 31)) {
				*to++ = *from++;
				continue;
			}
			next = decode_easy_match(decoder, from, output, &to);
			if (!next)
				break;
			from = next;
		}
		*written = (size_t)(to - output);
		decoder->at = (size_t)(from - decoder->input);
		decoder->flags = flags << 1;
		decoder->flags_left = left ? left - 1 : 0;
		if (left && !decode_match(decoder, output, written, room))
			return false;
	}
	return true;
}

size_t etw_xpress_decode(const uint8_t *input, size_t bytes, uint8_t *output, size_t room,
			 size_t *ret_taken)
{
	struct decoder decoder = {.input = input, .bytes = bytes};
	size_t written = 0;
	bool is_sound = decode_easy(&decoder, output, &written, room);

	while (is_sound && written < room) {
		if (!decoder.flags_left) {
			if (decoder.bytes - decoder.at < 4)
				break;
			read_flags(&decoder);
		}
		bool is_match = decoder.flags >> 31;

		decoder.flags <<= 1;
		decoder.flags_left--;
		if (is_match) {
			is_sound = decode_match(&decoder, output, &written, room);
		} else {
			if (decoder.at >= bytes)
				break;
			output[written++] = input[decoder.at++];
		}
	}
	if (ret_taken)
		*ret_taken = decoder.at;
	return written;
}
