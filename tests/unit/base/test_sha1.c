/* SPDX-License-Identifier: MIT */
/* SHA-1 against the examples of RFC 3174 and FIPS 180, and every length around a chunk's end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sha1.h"

static void assert_digest(const void *at, size_t bytes, const char *hex)
{
	uint8_t digest[ETW_SHA1_BYTES];
	char text[2 * ETW_SHA1_BYTES + 1];

	etw_sha1(at, bytes, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		(void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(text, hex);
}

static void test_sha1__known_digests(void **state)
{
	(void)state;
	assert_digest("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	assert_digest("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
	assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		      "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	assert_digest("The quick brown fox jumps over the lazy dog", 43,
		      "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12");
}

static void test_sha1__million_letters(void **state)
{
	char *text = malloc(1000000);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 1000000);
	assert_digest(text, 1000000, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	free(text);
}

/* The padding needs a second chunk from 56 bytes on. Digests by an independent implementation. */
static void test_sha1__lengths_around_a_chunk(void **state)
{
	static const struct {
		size_t bytes;
		const char *hex;
	} rows[] = {
		{55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"},
		{56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"},
		{63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"},
		{64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"},
		{65, "11655326c708d70319be2610e8a57d9a5b959d3b"},
		{119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"},
		{120, "f34c1488385346a55709ba056ddd08280dd4c6d6"},
	};
	char text[128];

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_digest(text, rows[i].bytes, rows[i].hex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha1__known_digests),
		cmocka_unit_test(test_sha1__million_letters),
		cmocka_unit_test(test_sha1__lengths_around_a_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
