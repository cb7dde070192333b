/* SPDX-License-Identifier: MIT */
#include "base/sha1.h"

#include <string.h>

#define CHUNK_BYTES 64

static uint32_t rotate(uint32_t value, unsigned bits)
{
	return value << bits | value >> (32 - bits);
}

static uint32_t load_big(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_big(uint8_t *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void mix_chunk(uint32_t state[5], const uint8_t *chunk)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
	uint32_t words[80];

	for (unsigned i = 0; i < 16; i++)
		words[i] = load_big(chunk + 4 * i);
	for (unsigned i = 16; i < 80; i++)
		words[i] = rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t mixed, constant;

		if (i < 20) {
			mixed = (b & c) | (~b & d);
			constant = 0x5A827999;
		} else if (i < 40) {
			mixed = b ^ c ^ d;
			constant = 0x6ED9EBA1;
		} else if (i < 60) {
			mixed = (b & c) | (b & d) | (c & d);
			constant = 0x8F1BBCDC;
		} else {
			mixed = b ^ c ^ d;
			constant = 0xCA62C1D6;
		}
		uint32_t next = rotate(a, 5) + mixed + e + constant + words[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void etw_sha1(const uint8_t *at, size_t bytes, uint8_t ret[ETW_SHA1_BYTES])
{
	uint32_t state[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
	uint8_t tail[2 * CHUNK_BYTES] = {0};
	size_t left = bytes % CHUNK_BYTES;
	size_t tail_bytes = left + 9 <= CHUNK_BYTES ? CHUNK_BYTES : 2 * CHUNK_BYTES;

	for (size_t i = 0; i + CHUNK_BYTES <= bytes; i += CHUNK_BYTES)
		mix_chunk(state, at + i);
	if (left)
		memcpy(tail, at + bytes - left, left);
	tail[left] = 0x80;
	store_big(tail + tail_bytes - 8, (uint32_t)((uint64_t)bytes >> 29));
	store_big(tail + tail_bytes - 4, (uint32_t)(bytes << 3));
	for (size_t i = 0; i < tail_bytes; i += CHUNK_BYTES)
		mix_chunk(state, tail + i);
	for (unsigned i = 0; i < 5; i++)
		store_big(ret + 4 * i, state[i]);
}
