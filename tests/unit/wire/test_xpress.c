/* SPDX-License-Identifier: MIT */
/* Plain LZ77 XPRESS: streams by hand, round trips, and everything that can be wrong with a stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "synthetic/xpress_encode.h"
#include "wire/xpress.h"

static uint8_t *must(size_t bytes)
{
	uint8_t *memory = malloc(bytes ? bytes : 1);

	assert_non_null(memory);
	return memory;
}

static struct etw_xpress_places places;

static size_t encode(const uint8_t *input, size_t bytes, uint8_t *output)
{
	return etw_xpress_encode(&places, input, bytes, output, XPRESS_ENCODED_MAX(bytes) + 32);
}

static void assert_round_trip(const uint8_t *input, size_t bytes)
{
	size_t (*const encoders[])(const uint8_t *, size_t, uint8_t *) = {
		xpress_encode_literal, xpress_encode_greedy, encode};

	for (size_t i = 0; i < ARRAY_SIZE(encoders); i++) {
		uint8_t *packed = must(XPRESS_ENCODED_MAX(bytes) + 32);
		uint8_t *output = must(bytes);
		size_t count = encoders[i](input, bytes, packed), taken = 0;
		uint8_t *exact = must(count); /* a read behind the end shows */

		memcpy(exact, packed, count);
		assert_int_equal(etw_xpress_decode(exact, count, output, bytes, &taken), bytes);
		assert_memory_equal(output, input, bytes);
		assert_true(taken == count ||
			    (taken + 4 == count && etw_load32(exact + taken) == UINT32_MAX));
		free(exact);
		free(output);
		free(packed);
	}
}

static void test_xpress__round_trips(void **state)
{
	uint8_t *input = must(300000);
	uint32_t random = 12345;

	(void)state;
	for (size_t bytes = 0; bytes < 200; bytes++) {
		for (size_t i = 0; i < bytes; i++)
			input[i] = (uint8_t)("abcabcabd"[i % 9] + (i > 100));
		assert_round_trip(input, bytes);
	}
	for (size_t i = 0; i < 300000; i++) {
		random = random * 1664525 + 1013904223;
		input[i] = i % 7 ? (uint8_t)(random >> 30) : (uint8_t)(random >> 24);
	}
	assert_round_trip(input, 300000);
	free(input);
}

/* Runs of one byte make matches of one length each: all forms of length are met. */
static void test_xpress__every_form_of_length(void **state)
{
	static const size_t lengths[] = {3,     4,     9,     10,    11,    24,  25,
					 26,    279,   280,   281,   282,   283, 65537,
					 65538, 65539, 65540, 70000, 200000};
	uint8_t *input = must(200001);

	(void)state;
	memset(input, 'x', 200001);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		assert_round_trip(input, lengths[i] + 1);
	free(input);
}

/* Matches of all lengths and distances around those that are copied in one piece or two, with room behind them. */
static void test_xpress__every_length_and_distance(void **state)
{
	uint8_t *input = must(300000);
	size_t bytes = 0;
	uint32_t random = 1;

	(void)state;
	for (size_t distance = 1; distance <= 40; distance++) {
		for (size_t length = 3; length <= 60; length++) {
			/* What nothing before matches, and then what it matches. */
			for (size_t i = 0; i < distance; i++) {
				random = random * 1664525 + 1013904223;
				input[bytes++] = (uint8_t)(random >> 24);
			}
			for (size_t i = 0; i < length; i++, bytes++)
				input[bytes] = input[bytes - distance];
		}
	}
	assert_true(bytes < 300000);
	assert_round_trip(input, bytes);
	free(input);
}

static void test_xpress__by_hand(void **state)
{
	/* "abc" three times: flags 0001 and ones, three literals, a match 3 back of 6. */
	static const uint8_t stream[] = {0xFF, 0xFF, 0xFF, 0x1F, 'a', 'b', 'c', 0x13, 0x00};
	uint8_t output[9];
	size_t taken;

	(void)state;
	assert_int_equal(etw_xpress_decode(stream, sizeof(stream), output, 9, &taken), 9);
	assert_memory_equal(output, "abcabcabc", 9);
	assert_int_equal(taken, sizeof(stream));
}

/* Two long matches share one byte of nibbles: low half first. */
static void test_xpress__nibbles_are_shared(void **state)
{
	/* 'a'; match 1 back, 3 + 7 + 2 = 12; 'b'; match 1 back, 3 + 7 + 5 = 15 */
	static const uint8_t stream[] = {0xFF, 0xFF, 0xFF, 0x5F, 'a', 0x07,
					 0x00, 0x52, 'b',  0x07, 0x00};
	uint8_t output[29];
	size_t taken;

	(void)state;
	assert_int_equal(etw_xpress_decode(stream, sizeof(stream), output, 29, &taken), 29);
	for (size_t i = 0; i < 29; i++)
		assert_int_equal(output[i], i < 13 ? 'a' : 'b');
	assert_int_equal(taken, sizeof(stream));
}

static void test_xpress__stops_when_enough_is_there(void **state)
{
	static const uint8_t stream[] = {0xFF, 0xFF, 0xFF, 0x1F, 'a', 'b',
					 'c',  0x13, 0x00, 1,    2,   3};
	uint8_t output[10];
	size_t taken = 99;

	(void)state;
	memset(output, '.', sizeof(output));
	assert_int_equal(etw_xpress_decode(stream, sizeof(stream), output, 5, &taken), 5);
	assert_memory_equal(output, "abcab.....", 10);
	assert_int_equal(taken, 9);
	assert_int_equal(etw_xpress_decode(stream, sizeof(stream), output, 0, &taken), 0);
	assert_int_equal(taken, 0);
	assert_int_equal(etw_xpress_decode(stream, sizeof(stream), output, 3, NULL), 3);
}

static void test_xpress__every_cut_ends_early(void **state)
{
	uint8_t input[3000], packed[XPRESS_ENCODED_MAX(3000)], output[3000];
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (uint8_t)(i * i >> 7);
	count = xpress_encode_greedy(input, sizeof(input), packed);
	for (size_t cut = 0; cut < count; cut++) {
		uint8_t *exact = must(cut);
		size_t taken, got;

		memcpy(exact, packed, cut);
		got = etw_xpress_decode(exact, cut, output, sizeof(output), &taken);
		assert_true(taken <= cut);
		assert_memory_equal(output, input, got);
		assert_true(got < sizeof(input) || cut + 4 >= count);
		free(exact);
	}
}

static void test_xpress__damaged_matches_end_the_stream(void **state)
{
	static const struct {
		uint8_t stream[16];
		size_t bytes, out;
	} rows[] = {
		{{0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00}, 6, 0},      /* reaches back to nothing */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x08, 0x00}, 7, 1}, /* two back, one is there */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x00}, 6, 1},       /* half a match */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x07, 0x00}, 7, 1}, /* no nibble */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x07, 0x00, 0x0F}, 8, 1}, /* no length byte */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x07, 0x00, 0x0F, 0xFF, 0x30},
		 10,
		 1}, /* half a word */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x07, 0x00, 0x0F, 0xFF, 0, 0, 1, 0, 0},
		 14,
		 1}, /* dword */
		{{0xFF, 0xFF, 0xFF, 0x7F, 'a', 0x07, 0x00, 0x0F, 0xFF, 21, 0},
		 11,
		 1},                        /* below 22 */
		{{0xFF, 0xFF, 0xFF}, 3, 0}, /* no flags */
		{{0}, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t *exact = must(rows[i].bytes), output[100];
		size_t taken;

		memcpy(exact, rows[i].stream, rows[i].bytes);
		assert_int_equal(
			etw_xpress_decode(exact, rows[i].bytes, output, sizeof(output), &taken),
			rows[i].out);
		assert_true(taken <= rows[i].bytes);
		free(exact);
	}
}

static void test_xpress__largest_length_is_cut_to_the_room(void **state)
{
	static const uint8_t stream[] = {0xFF, 0xFF, 0xFF, 0x7F, 'a',  0x07, 0x00, 0x0F,
					 0xFF, 0,    0,    0xFF, 0xFF, 0xFF, 0xFF};
	uint8_t output[64];

	(void)state;
	assert_int_equal(etw_xpress_decode(stream, sizeof(stream), output, sizeof(output), NULL),
			 sizeof(output));
	assert_int_equal(output[63], 'a');
}

/* Like events: headers of which a few bytes differ, and payloads. */
static void make_events(uint8_t *input, size_t bytes)
{
	uint32_t random = 4711;

	for (size_t at = 0; at < bytes; at++) {
		size_t in = at % 0x60;

		random = random * 1664525 + 1013904223;
		input[at] = (uint8_t)(in < 0x10   ? in
				      : in < 0x14 ? at / 0x60 >> 8 * (in - 0x10)
						  : in * 7);
		if (in >= 0x58)
			input[at] = (uint8_t)(random >> 24);
	}
}

static void test_xpress__encoder_shrinks_events_and_repeats_itself(void **state)
{
	enum {
		BYTES = 65536 - 0x48
	};
	uint8_t *input = must(BYTES), *first = must(BYTES), *second = must(BYTES);
	size_t count;

	(void)state;
	make_events(input, BYTES);
	assert_round_trip(input, BYTES);
	count = etw_xpress_encode(&places, input, BYTES, first, BYTES);
	assert_in_range(count, 1, BYTES / 4);
	memset(&places, 0xA5, sizeof(places));
	assert_int_equal(etw_xpress_encode(&places, input, BYTES, second, BYTES), count);
	assert_memory_equal(first, second, count);
	free(input);
	free(first);
	free(second);
}

/* Whatever the room, nothing behind it is touched, and what is too small says so. */
static void test_xpress__encoder_keeps_to_its_room(void **state)
{
	enum {
		BYTES = 3000
	};
	uint8_t input[BYTES], output[2 * BYTES];
	uint32_t random = 99;
	size_t needed;

	(void)state;
	for (size_t i = 0; i < BYTES; i++) {
		random = random * 1664525 + 1013904223;
		input[i] = (uint8_t)(i % 100 < 50 ? random >> 24 : i % 7);
	}
	needed = etw_xpress_encode(&places, input, BYTES, output, sizeof(output));
	assert_in_range(needed, BYTES / 2, BYTES);
	for (size_t room = 0; room < needed + 64; room++) {
		uint8_t *exact = must(room); /* a write behind the end shows */
		size_t count = etw_xpress_encode(&places, input, BYTES, exact, room);

		assert_true(count == 0 || (count == needed && count <= room));
		if (room >= needed + 32)
			assert_int_equal(count, needed);
		free(exact);
	}
}

/* What cannot shrink does not fit in its own length. */
static void test_xpress__encoder_refuses_what_cannot_shrink(void **state)
{
	uint8_t input[4096], output[4096];
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(input); i++) {
		random = random * 1664525 + 1013904223;
		input[i] = (uint8_t)(random >> 24);
	}
	assert_int_equal(etw_xpress_encode(&places, input, sizeof(input), output, sizeof(output)),
			 0);
	assert_round_trip(input, sizeof(input));
}

/* Unused flags of the last word are ones; 32 tokens are followed by a word of ones. */
static void test_xpress__encoder_ends_as_windows_does(void **state)
{
	uint8_t input[64], output[256];

	(void)state;
	for (size_t i = 0; i < sizeof(input); i++)
		input[i] = (uint8_t)(i * 37);
	assert_int_equal(etw_xpress_encode(&places, input, 3, output, sizeof(output)), 7);
	assert_int_equal(etw_load32(output), 0x1FFFFFFF);
	assert_int_equal(etw_xpress_encode(&places, input, 32, output, sizeof(output)), 40);
	assert_int_equal(etw_load32(output), 0);
	assert_int_equal(etw_load32(output + 36), UINT32_MAX);
	assert_int_equal(etw_xpress_encode(&places, input, 0, output, sizeof(output)), 4);
	assert_int_equal(etw_load32(output), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xpress__encoder_shrinks_events_and_repeats_itself),
		cmocka_unit_test(test_xpress__encoder_keeps_to_its_room),
		cmocka_unit_test(test_xpress__encoder_refuses_what_cannot_shrink),
		cmocka_unit_test(test_xpress__encoder_ends_as_windows_does),
		cmocka_unit_test(test_xpress__round_trips),
		cmocka_unit_test(test_xpress__every_form_of_length),
		cmocka_unit_test(test_xpress__every_length_and_distance),
		cmocka_unit_test(test_xpress__by_hand),
		cmocka_unit_test(test_xpress__nibbles_are_shared),
		cmocka_unit_test(test_xpress__stops_when_enough_is_there),
		cmocka_unit_test(test_xpress__every_cut_ends_early),
		cmocka_unit_test(test_xpress__damaged_matches_end_the_stream),
		cmocka_unit_test(test_xpress__largest_length_is_cut_to_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
