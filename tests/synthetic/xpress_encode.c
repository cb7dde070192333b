/* SPDX-License-Identifier: MIT */
#include "synthetic/xpress_encode.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define DISTANCE_MAX 8191
#define MATCH_MIN    3
#define HASH_BITS    13

struct encoder {
	uint8_t *output;
	size_t written;
	size_t flags_at; /* of the word whose bits are being filled */
	uint32_t flags;
	unsigned flags_used;
	size_t nibble_at; /* of the byte whose high nibble is free; 0 when there is none */
};

static void open_flags(struct encoder *encoder)
{
	encoder->flags_at = encoder->written;
	encoder->written += 4;
	encoder->flags = 0;
	encoder->flags_used = 0;
}

/* Every flag word is reserved before its first token. */
static void put_flag(struct encoder *encoder, bool is_match)
{
	if (encoder->flags_used == 32) {
		etw_store32(encoder->output + encoder->flags_at, encoder->flags);
		open_flags(encoder);
	}
	encoder->flags |= (uint32_t)is_match << (31 - encoder->flags_used++);
}

static void finish(struct encoder *encoder)
{
	if (encoder->flags_used == 32) {
		etw_store32(encoder->output + encoder->flags_at, encoder->flags);
		open_flags(encoder);
	}
	etw_store32(encoder->output + encoder->flags_at,
		    encoder->flags | (uint32_t)(UINT64_C(0xFFFFFFFF) >> encoder->flags_used));
}

static void put_literal(struct encoder *encoder, uint8_t byte)
{
	put_flag(encoder, false);
	encoder->output[encoder->written++] = byte;
}

static void put_nibble(struct encoder *encoder, uint8_t nibble)
{
	if (encoder->nibble_at) {
		encoder->output[encoder->nibble_at] |= (uint8_t)(nibble << 4);
		encoder->nibble_at = 0;
	} else {
		encoder->nibble_at = encoder->written;
		encoder->output[encoder->written++] = nibble;
	}
}

static void put_match(struct encoder *encoder, size_t distance, size_t length)
{
	size_t rest = length - MATCH_MIN;

	put_flag(encoder, true);
	etw_store16(encoder->output + encoder->written,
		    (uint16_t)((distance - 1) << 3 | (rest < 7 ? rest : 7)));
	encoder->written += 2;
	if (rest < 7)
		return;
	put_nibble(encoder, (uint8_t)(rest - 7 < 15 ? rest - 7 : 15));
	if (rest - 7 < 15)
		return;
	if (rest - 22 < 255) {
		encoder->output[encoder->written++] = (uint8_t)(rest - 22);
		return;
	}
	encoder->output[encoder->written++] = 255;
	if (rest <= UINT16_MAX) {
		etw_store16(encoder->output + encoder->written, (uint16_t)rest);
		encoder->written += 2;
		return;
	}
	etw_store16(encoder->output + encoder->written, 0);
	etw_store32(encoder->output + encoder->written + 2, (uint32_t)rest);
	encoder->written += 6;
}

size_t xpress_encode_literal(const uint8_t *input, size_t bytes, uint8_t *output)
{
	struct encoder encoder = {.output = output};

	open_flags(&encoder);
	for (size_t i = 0; i < bytes; i++)
		put_literal(&encoder, input[i]);
	finish(&encoder);
	return encoder.written;
}

static uint32_t hash_of(const uint8_t *at)
{
	uint32_t value = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;

	return value * 2654435761u >> (32 - HASH_BITS);
}

size_t xpress_encode_greedy(const uint8_t *input, size_t bytes, uint8_t *output)
{
	struct encoder encoder = {.output = output};
	size_t *last = calloc((size_t)1 << HASH_BITS, sizeof(*last)); /* position + 1 */
	size_t at = 0;

	if (!last)
		abort();
	open_flags(&encoder);
	while (at < bytes) {
		size_t length = 0, from = 0;

		if (bytes - at >= MATCH_MIN) {
			size_t *slot = &last[hash_of(input + at)];

			from = *slot;
			*slot = at + 1;
		}
		if (from && at - (from - 1) <= DISTANCE_MAX) {
			while (at + length < bytes &&
			       input[from - 1 + length] == input[at + length])
				length++;
		}
		if (length < MATCH_MIN) {
			put_literal(&encoder, input[at++]);
			continue;
		}
		put_match(&encoder, at - (from - 1), length);
		at += length;
	}
	finish(&encoder);
	free(last);
	return encoder.written;
}
