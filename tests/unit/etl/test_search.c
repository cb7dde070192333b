/* SPDX-License-Identifier: MIT */
/* Finding buffers by their bytes alone, at any byte of a file, within a budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "unit/etl/sample.h"

/* Bytes that are no buffer, then a data buffer of a preset. */
static struct sample embed(const char *preset, uint64_t offset, size_t before)
{
	struct sample whole = sample_make(preset), sample = {0};
	uint32_t stride = sample_buffer(&whole, offset).stride;

	sample.count = before + stride;
	sample.bytes = malloc(sample.count);
	assert_non_null(sample.bytes);
	memset(sample.bytes, 0x41, before);
	memcpy(sample.bytes + before, whole.bytes + offset, stride);
	etw_etl_file_memory(sample.bytes, sample.count, &sample.file);
	sample_done(&whole);
	return sample;
}

static void test_search__finds_a_buffer_at_any_byte(void **state)
{
	static const size_t places[] = {
		0, 1, 7, 1000, 262143, 262144, 262145, 262144 - 0x48, 262144 - 0x47, 600001};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (int is_packed = 0; is_packed < 2; is_packed++) {
			struct sample sample = embed(is_packed ? "compressed-small" : "plain", 1024,
						     places[i]);
			struct etw_etl_search search;
			struct etw_etl_buffer found;

			etw_etl_search_init(&search, &sample.file);
			assert_int_equal(etw_etl_search_buffer(&search, 0, sample.count, &found),
					 0);
			assert_int_equal(found.offset, places[i]);
			assert_int_equal(etw_etl_search_is_sound(&search, places[i], &found), 0);
			/* The end of the span is exclusive. */
			assert_int_equal(etw_etl_search_buffer(&search, 0, places[i], &found),
					 ETW_END);
			assert_int_equal(
				etw_etl_search_buffer(&search, places[i] + 1, sample.count, &found),
				ETW_END);
			assert_int_equal(
				etw_etl_search_buffer(&search, sample.count, sample.count, &found),
				ETW_END);
			assert_false(search.gave_up);
			sample_done(&sample);
		}
	}
}

static void test_search__what_is_not_sound(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} rows[] = {
		{0x0C, 1},    /* ReferenceCount */
		{0x01, 0x0F}, /* BufferSize beyond the file */
		{0x2C, 9},    /* State */
		{0x30, 0x49}, /* Offset no multiple of 4 */
		{0x31, 0x00}, /* Offset within an event */
		{0x35, 0x01}, /* BufferFlag */
		{0x36, 9},    /* BufferType */
		{0x36, 3},    /* a type without events */
		{0x1F, 0x80}, /* a negative SequenceNumber */
		{0x4A, 0x77}, /* the first event's type */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sample sample = embed("plain", 1024, 0);
		struct etw_etl_search search;
		struct etw_etl_buffer found;

		sample.bytes[rows[i].at] = rows[i].value;
		etw_etl_search_init(&search, &sample.file);
		assert_int_equal(etw_etl_search_is_sound(&search, 0, &found), ETW_END);
		sample_done(&sample);
	}
}

static void test_search__compressed_data_must_end_with_the_buffer(void **state)
{
	struct sample sample = embed("compressed-small", 1024, 0);
	struct etw_etl_search search;
	struct etw_etl_buffer found = sample_buffer(&sample, 0);

	(void)state;
	etw_etl_search_init(&search, &sample.file);
	assert_int_equal(etw_etl_search_body(&sample.file, &found), 0);
	found.stride -= 1;
	assert_int_equal(etw_etl_search_body(&sample.file, &found), ETW_END);
	sample_done(&sample);
}

static void test_search__budget(void **state)
{
	struct sample sample = embed("plain", 1024, 100);
	struct etw_etl_search search;
	struct etw_etl_buffer found;

	(void)state;
	etw_etl_search_init(&search, &sample.file);
	assert_true(search.budget >= sample.count);
	search.budget = 0;
	assert_int_equal(etw_etl_search_buffer(&search, 0, sample.count, &found), ETW_END);
	assert_true(search.gave_up);
	etw_etl_search_init(&search, &sample.file);
	search.budget = 1; /* sound buffers cost nothing */
	assert_int_equal(etw_etl_search_buffer(&search, 0, sample.count, &found), 0);
	assert_int_equal(search.budget, 1);
	sample.bytes[100 + 0x4A] = 0x77; /* the first event's type */
	etw_etl_search_init(&search, &sample.file);
	search.budget = 1; /* the last judgement may exceed it */
	assert_int_equal(etw_etl_search_buffer(&search, 0, sample.count, &found), ETW_END);
	assert_int_equal(search.budget, 0);
	assert_false(search.gave_up);
	sample_done(&sample);
}

/* What was searched in vain stays so: bytes that change meanwhile show that nobody looks again. */
static void test_search__nothing_is_searched_twice(void **state)
{
	struct sample sample = embed("plain", 1024, 5000);
	struct etw_etl_search search;
	struct etw_etl_buffer found;

	(void)state;
	etw_etl_search_init(&search, &sample.file);
	assert_int_equal(etw_etl_search_buffer(&search, 100, 1000, &found), ETW_END);
	memcpy(sample.bytes + 500, sample.bytes + 5000, 1024);
	assert_int_equal(etw_etl_search_buffer(&search, 100, 1000, &found), ETW_END);
	assert_int_equal(etw_etl_search_buffer(&search, 200, 900, &found), ETW_END);
	assert_int_equal(etw_etl_search_is_sound(&search, 500, &found), ETW_END);
	/* A search that goes on from there joins its span to it, and keeps what it found. */
	assert_int_equal(etw_etl_search_buffer(&search, 400, sample.count, &found), 0);
	assert_int_equal(found.offset, 5000);
	memset(sample.bytes + 5000, 0x41, 1024);
	found.offset = 0;
	assert_int_equal(etw_etl_search_buffer(&search, 100, sample.count, &found), 0);
	assert_int_equal(found.offset, 5000);
	assert_int_equal(etw_etl_search_buffer(&search, 5000, 5001, &found), 0);
	assert_int_equal(etw_etl_search_buffer(&search, 100, 5000, &found), ETW_END);
	/* A span before the one that is known is looked at. */
	assert_int_equal(etw_etl_search_buffer(&search, 99, 1000, &found), 0);
	assert_int_equal(found.offset, 500);
	sample_done(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search__finds_a_buffer_at_any_byte),
		cmocka_unit_test(test_search__what_is_not_sound),
		cmocka_unit_test(test_search__compressed_data_must_end_with_the_buffer),
		cmocka_unit_test(test_search__budget),
		cmocka_unit_test(test_search__nothing_is_searched_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
