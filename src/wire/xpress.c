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

struct decoder {
	const uint8_t *input;
	size_t bytes;
	size_t at;
	size_t nibble_at; /* the byte whose high nibble is still unused; 0 when there is none */
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

/* Copies a match that may overlap itself; the caller has checked both bounds. */
static void copy_match(uint8_t *to, size_t distance, size_t length)
{
	const uint8_t *from = to - distance;

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
	copy_match(output + *written, distance, length);
	*written += length;
	return true;
}

size_t etw_xpress_decode(const uint8_t *input, size_t bytes, uint8_t *output, size_t room,
			 size_t *ret_taken)
{
	struct decoder decoder = {.input = input, .bytes = bytes};
	size_t written = 0;
	uint32_t flags = 0;
	unsigned flags_left = 0;

	while (written < room) {
		if (!flags_left) {
			if (decoder.bytes - decoder.at < 4)
				break;
			flags = etw_load32(input + decoder.at);
			decoder.at += 4;
			flags_left = 32;
		}
		flags_left--;
		if (!(flags >> flags_left & 1)) {
			if (decoder.at >= bytes)
				break;
			output[written++] = input[decoder.at++];
		} else if (!decode_match(&decoder, output, &written, room)) {
			break;
		}
	}
	if (ret_taken)
		*ret_taken = decoder.at;
	return written;
}
