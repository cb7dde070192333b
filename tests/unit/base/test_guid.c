/* SPDX-License-Identifier: MIT */
/* GUIDs: bytes, both text forms, refusal of what is no GUID, hashing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"

static const uint8_t raw[16] = {0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66,
				0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};
static const char bare[] = "00112233-4455-6677-8899-aabbccddeeff";

static void test_guid__bytes(void **state)
{
	GUID guid = etw_guid_read(raw);
	uint8_t back[16];

	(void)state;
	assert_int_equal(guid.Data1, 0x00112233);
	assert_int_equal(guid.Data2, 0x4455);
	assert_int_equal(guid.Data3, 0x6677);
	assert_int_equal(guid.Data4[0], 0x88);
	etw_guid_write(back, &guid);
	assert_memory_equal(back, raw, 16);
}

static void test_guid__made(void **state)
{
	GUID first, second;

	(void)state;
	assert_int_equal(etw_guid_make(&first), 0);
	assert_int_equal(etw_guid_make(&second), 0);
	assert_false(etw_guid_equal(&first, &second));
	assert_int_equal(first.Data3 >> 12, 4);
	assert_int_equal(first.Data4[0] >> 6, 2);
}

static void test_guid__text(void **state)
{
	GUID guid = etw_guid_read(raw);
	char text[ETW_GUID_BARE_BYTES];
	char braced[ETW_GUID_BRACED_BYTES];

	(void)state;
	memset(text, 'x', sizeof(text));
	memset(braced, 'x', sizeof(braced));
	etw_guid_format(&guid, text);
	etw_guid_format_braced(&guid, braced);
	assert_string_equal(text, bare);
	assert_string_equal(braced, "{00112233-4455-6677-8899-aabbccddeeff}");
	assert_int_equal(strlen(text), ETW_GUID_BARE_BYTES - 1);
	assert_int_equal(strlen(braced), ETW_GUID_BRACED_BYTES - 1);
}

static void test_guid__parse(void **state)
{
	static const char *const good[] = {"00112233-4455-6677-8899-aabbccddeeff",
					   "{00112233-4455-6677-8899-AABBCCDDEEFF}"};
	GUID expected = etw_guid_read(raw);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		GUID guid = {0};

		assert_int_equal(etw_guid_parse(good[i], &guid), 0);
		assert_true(etw_guid_equal(&guid, &expected));
	}
}

/* Every prefix, every wrong character, and everything that follows or is unbalanced. */
static void test_guid__parse_refuses(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"{}",
		"00112233-4455-6677-8899-aabbccddeeff}",
		"{00112233-4455-6677-8899-aabbccddeeff",
		"{00112233-4455-6677-8899-aabbccddeeff} ",
		" 00112233-4455-6677-8899-aabbccddeeff",
		"00112233-4455-6677-8899-aabbccddeeff0",
		"001122334455-6677-8899-aabbccddeeff-0",
		"00112233445566778899aabbccddeeff",
		"{{00112233-4455-6677-8899-aabbccddeeff}}",
	};
	GUID guid = {.Data1 = 77};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(etw_guid_parse(bad[i], &guid), -EINVAL);
	for (size_t i = 0; i < strlen(bare); i++) {
		char text[sizeof(bare)];

		memcpy(text, bare, sizeof(bare));
		text[i] = 'g';
		assert_int_equal(etw_guid_parse(text, &guid), -EINVAL);
		text[i] = '\0';
		assert_int_equal(etw_guid_parse(text, &guid), -EINVAL);
	}
	assert_int_equal(guid.Data1, 77);
}

static void test_guid__compare_and_hash(void **state)
{
	GUID guid = etw_guid_read(raw);
	GUID null_guid = {0};

	(void)state;
	assert_true(etw_guid_is_null(&null_guid));
	assert_false(etw_guid_is_null(&guid));
	assert_true(etw_guid_hash(&guid) == etw_guid_hash(&guid));
	/* Any changed bit changes the value and its low bits, which tables use. */
	unsigned same_low_bits = 0;

	for (unsigned bit = 0; bit < 128; bit++) {
		uint8_t other[16];

		memcpy(other, raw, 16);
		other[bit / 8] ^= (uint8_t)(1u << bit % 8);
		GUID changed = etw_guid_read(other);

		assert_false(etw_guid_equal(&guid, &changed));
		assert_true(etw_guid_hash(&guid) != etw_guid_hash(&changed));
		same_low_bits += (etw_guid_hash(&guid) & 0xFF) == (etw_guid_hash(&changed) & 0xFF);
	}
	assert_in_range(same_low_bits, 0, 4);
}

static GUID guid_of(uint64_t first, uint64_t second)
{
	const uint64_t words[2] = {first, second};
	GUID guid;

	memcpy(&guid, words, sizeof(guid));
	return guid;
}

/* Without a seed, multiplying and combining two words is undone by whoever chooses the second one. */
static void test_guid__hashes_cannot_be_chosen(void **state)
{
	const GUID first = guid_of(1, UINT64_C(0x9e3779b97f4a7c15));
	const uint64_t hash = etw_guid_hash(&first);

	(void)state;
	for (uint64_t i = 2; i < 1000; i++) {
		const GUID other = guid_of(i, i * UINT64_C(0x9e3779b97f4a7c15));

		assert_true(etw_guid_hash(&other) != hash);
	}
}

static void test_guid__hashes_begin_with_the_seed(void **state)
{
	const GUID guid = etw_guid_read(raw);
	uint64_t hash;

	(void)state;
	etw_hash_seed_set(1);
	hash = etw_guid_hash(&guid);
	assert_true(etw_guid_hash(&guid) == hash);
	etw_hash_seed_set(2);
	assert_true(etw_guid_hash(&guid) != hash);
	etw_hash_seed_set(1);
	assert_true(etw_guid_hash(&guid) == hash);
	etw_hash_seed_set(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guid__bytes),
		cmocka_unit_test(test_guid__made),
		cmocka_unit_test(test_guid__text),
		cmocka_unit_test(test_guid__parse),
		cmocka_unit_test(test_guid__parse_refuses),
		cmocka_unit_test(test_guid__compare_and_hash),
		cmocka_unit_test(test_guid__hashes_cannot_be_chosen),
		cmocka_unit_test(test_guid__hashes_begin_with_the_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
