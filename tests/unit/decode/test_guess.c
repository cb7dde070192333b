/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <tdh.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "decode/guess.h"

#define NOW_FT INT64_C(129402939974768585)

static void expect(struct etw_guesser *guesser, uint16_t in_type, size_t offset, size_t bytes)
{
	struct etw_guess guess;

	assert_true(etw_guesser_next(guesser, &guess));
	assert_int_equal(guess.in_type, in_type);
	assert_int_equal(guess.offset, offset);
	assert_int_equal(guess.bytes, bytes);
}

static void expect_end(struct etw_guesser *guesser)
{
	struct etw_guess guess;

	assert_false(etw_guesser_next(guesser, &guess));
}

static void test_guess__every_kind_in_one_payload(void **state)
{
	static const uint8_t sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};
	uint8_t payload[70] = {0};
	struct etw_guesser guesser;

	(void)state;
	etw_store32(payload, 1234);
	memcpy(payload + 4, "C\0:\0\\\0a\0\0", 10); /* "C:\a" */
	memcpy(payload + 14, "name", 5);
	memcpy(payload + 19, sid, sizeof(sid));
	etw_store64(payload + 31, (uint64_t)NOW_FT - 50000000);
	etw_store64(payload + 39, UINT64_C(0xFFFFF80021561F43));
	etw_store32(payload + 47, 7);
	etw_store16(payload + 51, 3);
	payload[53] = 9;
	etw_guesser_init(&guesser, payload, 54, 0, NOW_FT);
	expect(&guesser, TDH_INTYPE_UINT32, 0, 4);
	expect(&guesser, TDH_INTYPE_UNICODESTRING, 4, 8);
	expect(&guesser, TDH_INTYPE_ANSISTRING, 14, 4);
	expect(&guesser, TDH_INTYPE_SID, 19, 12);
	expect(&guesser, TDH_INTYPE_FILETIME, 31, 8);
	expect(&guesser, TDH_INTYPE_POINTER, 39, 8);
	expect(&guesser, TDH_INTYPE_UINT32, 47, 4);
	expect(&guesser, TDH_INTYPE_UINT16, 51, 2);
	expect(&guesser, TDH_INTYPE_UINT8, 53, 1);
	expect_end(&guesser);
}

static void test_guess__what_only_looks_alike(void **state)
{
	/* Text without an end amid other bytes, too short, and -1, whose neighbours make no address. */
	static const uint8_t payload[] = {'a', 'b', 'c', 'd', 200, 0,   0,   0,   'h', 'i',
					  0,   0,   255, 255, 255, 255, 255, 255, 255, 255};
	struct etw_guesser guesser;

	(void)state;
	etw_guesser_init(&guesser, payload, sizeof(payload), 0, NOW_FT);
	for (size_t i = 0; i < sizeof(payload); i += 4)
		expect(&guesser, TDH_INTYPE_UINT32, i, 4);
	expect_end(&guesser);
}

static void test_guess__numbers_leave_the_start_of_a_text(void **state)
{
	static const uint8_t payload[] = {11, 0,   0, 0, 0, 0, 'B', 0,   'E', 0,   'G',
					  0,  'I', 0, 0, 0, 7, 'n', 'a', 'm', 'e', 0};
	struct etw_guesser guesser;

	(void)state;
	etw_guesser_init(&guesser, payload, sizeof(payload), 0, NOW_FT);
	expect(&guesser, TDH_INTYPE_UINT32, 0, 4);
	expect(&guesser, TDH_INTYPE_UINT16, 4, 2);
	expect(&guesser, TDH_INTYPE_UNICODESTRING, 6, 8);
	expect(&guesser, TDH_INTYPE_UINT8, 16, 1);
	expect(&guesser, TDH_INTYPE_ANSISTRING, 17, 4);
	expect_end(&guesser);
}

/* A header may say any start. */
static void test_guess__times_near_the_ends_of_time(void **state)
{
	static const uint8_t payload[] = {255, 255, 255, 255, 255, 255, 255, 127};
	static const int64_t starts[] = {INT64_MIN, INT64_MIN + 1, -1, 0, NOW_FT};
	struct etw_guesser guesser;

	(void)state;
	etw_guesser_init(&guesser, payload, sizeof(payload), 0, INT64_MAX);
	expect(&guesser, TDH_INTYPE_FILETIME, 0, 8);
	expect_end(&guesser);
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		struct etw_guess guess;

		etw_guesser_init(&guesser, payload, sizeof(payload), 0, starts[i]);
		assert_true(etw_guesser_next(&guesser, &guess));
		assert_int_not_equal(guess.in_type, TDH_INTYPE_FILETIME);
	}
}

static void test_guess__text_may_end_with_the_payload(void **state)
{
	struct etw_guesser guesser;

	(void)state;
	etw_guesser_init(&guesser, (const uint8_t *)"xxabc", 5, 2, NOW_FT);
	expect(&guesser, TDH_INTYPE_ANSISTRING, 2, 3);
	expect_end(&guesser);
	etw_guesser_init(&guesser, NULL, 0, 0, NOW_FT);
	expect_end(&guesser);
	etw_guesser_init(&guesser, (const uint8_t *)"abc", 3, 9, NOW_FT);
	expect_end(&guesser);
}

/* Values follow each other without overlap, and stay inside. */
static void test_guess__any_bytes(void **state)
{
	unsigned seed = 5;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t bytes = (size_t)rand_r(&seed) % 40, end = 0;
		uint8_t *payload = malloc(bytes + 1);
		struct etw_guesser guesser;
		struct etw_guess guess;

		assert_non_null(payload);
		for (size_t i = 0; i < bytes; i++)
			payload[i] = (uint8_t)(rand_r(&seed) % (round % 2 ? 256 : 3) * 32);
		etw_guesser_init(&guesser, payload, bytes, 0, NOW_FT);
		while (etw_guesser_next(&guesser, &guess)) {
			assert_in_range(guess.offset, end, end + 2);
			assert_int_not_equal(guess.bytes, 0);
			end = guess.offset + guess.bytes;
			assert_in_range(end, 1, bytes);
		}
		free(payload);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guess__every_kind_in_one_payload),
		cmocka_unit_test(test_guess__what_only_looks_alike),
		cmocka_unit_test(test_guess__numbers_leave_the_start_of_a_text),
		cmocka_unit_test(test_guess__times_near_the_ends_of_time),
		cmocka_unit_test(test_guess__text_may_end_with_the_payload),
		cmocka_unit_test(test_guess__any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
