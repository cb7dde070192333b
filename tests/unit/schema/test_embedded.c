/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/manifest/embedded.h"

static struct etw_embedded embedded;
static struct etw_text text;

static int begin(void **state)
{
	(void)state;
	embedded = (struct etw_embedded){0};
	etw_text_init(&text);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_embedded_done(&embedded);
	etw_text_done(&text);
	return 0;
}

/* One chunk with the given envelope bytes and data, of a process. */
static int add_raw(uint32_t process_id, const void *payload, size_t bytes, struct etw_fault *fault)
{
	const EVENT_RECORD record = {
		.EventHeader = {.ProcessId = process_id, .ThreadId = 1},
		.UserData = (void *)(uintptr_t)payload,
		.UserDataLength = (USHORT)bytes,
	};

	return etw_embedded_add(&embedded, &record, &text, fault);
}

static int add(uint32_t process_id, unsigned number, unsigned total, const char *data)
{
	uint8_t payload[64] = {1, 4, 0, 0x5b, (uint8_t)total, 0, (uint8_t)number, 0};
	struct etw_fault fault;

	memcpy(payload + 8, data, strlen(data));
	return add_raw(process_id, payload, 8 + strlen(data), &fault);
}

static void test_embedded__one_chunk(void **state)
{
	(void)state;
	assert_int_equal(add(1, 0, 1, "<xml/>"), ETW_EMBEDDED_COMPLETE);
	assert_string_equal(etw_text_string(&text), "<xml/>");
	assert_int_equal(embedded.count, 0);
}

static void test_embedded__chunks_in_any_order(void **state)
{
	(void)state;
	assert_int_equal(add(1, 2, 3, "c"), 0);
	assert_int_equal(add(1, 0, 3, "a"), 0);
	assert_int_equal(add(1, 0, 3, "a"), 0);
	assert_int_equal(add(1, 1, 3, "b"), ETW_EMBEDDED_COMPLETE);
	assert_string_equal(etw_text_string(&text), "abc");
}

static void test_embedded__writers_are_kept_apart(void **state)
{
	(void)state;
	assert_int_equal(add(1, 0, 2, "a"), 0);
	assert_int_equal(add(2, 0, 2, "x"), 0);
	assert_int_equal(embedded.count, 2);
	assert_int_equal(add(1, 1, 2, "b"), ETW_EMBEDDED_COMPLETE);
	assert_string_equal(etw_text_string(&text), "ab");
	etw_text_clear(&text);
	assert_int_equal(add(2, 1, 2, ""), ETW_EMBEDDED_COMPLETE);
	assert_string_equal(etw_text_string(&text), "x");
}

static void test_embedded__a_chunk_that_does_not_continue_begins_anew(void **state)
{
	(void)state;
	assert_int_equal(add(1, 0, 2, "old"), 0);
	assert_int_equal(add(1, 0, 2, "new"), 0);
	assert_int_equal(embedded.count, 1);
	assert_int_equal(add(1, 1, 2, "!"), ETW_EMBEDDED_COMPLETE);
	assert_string_equal(etw_text_string(&text), "new!");
	etw_text_clear(&text);
	assert_int_equal(add(1, 0, 3, "other"), 0);
	assert_int_equal(add(1, 0, 1, "whole"), ETW_EMBEDDED_COMPLETE);
	assert_string_equal(etw_text_string(&text), "whole");
}

static void test_embedded__too_many_assemblies(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ETW_EMBEDDED_OPEN_MAX + 1; i++)
		assert_int_equal(add(i, 0, 2, "a"), 0);
	assert_int_equal(embedded.count, ETW_EMBEDDED_OPEN_MAX);
	/* The oldest gave way: what comes now is a new beginning. */
	assert_int_equal(add(0, 1, 2, "b"), 0);
	assert_int_equal(add(ETW_EMBEDDED_OPEN_MAX, 1, 2, "b"), ETW_EMBEDDED_COMPLETE);
}

static void test_embedded__refusals(void **state)
{
	static const struct {
		const char *bytes;
		size_t count;
		const char *sentence;
	} rows[] = {
		{"\x01\x04\x00\x5b\x01\x00\x00", 7, "a chunk ends within its envelope"},
		{"\x02\x04\x00\x5b\x01\x00\x00\x00", 8, "the format of a chunk is unknown"},
		{"\x01\x04\x00\x5c\x01\x00\x00\x00", 8, "a chunk lacks the magic byte"},
		{"\x01\x04\x00\x5b\x00\x00\x00\x00", 8, "a manifest has no chunks"},
		{"\x01\x04\x00\x5b\x01\x04\x00\x00", 8,
		 "a manifest claims more chunks than any has"},
		{"\x01\x04\x00\x5b\x02\x00\x02\x00", 8, "a chunk has a number beyond the last"},
	};
	struct etw_fault fault;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(add_raw(1, rows[i].bytes, rows[i].count, &fault), -EBADMSG);
		assert_string_equal(fault.structure, "embedded manifest");
		assert_string_equal(fault.sentence, rows[i].sentence);
	}
	assert_int_equal(embedded.count, 0);
}

static void test_embedded__a_manifest_has_a_limit(void **state)
{
	static uint8_t payload[UINT16_MAX] = {1, 4, 0, 0x5b, 0x00, 0x04};
	struct etw_fault fault;
	int r = 0;

	(void)state;
	for (uint16_t i = 0; r == 0 && i < 1000; i++) {
		payload[6] = (uint8_t)i;
		payload[7] = (uint8_t)(i >> 8);
		r = add_raw(1, payload, sizeof(payload), &fault);
	}
	assert_int_equal(r, -EBADMSG);
	assert_string_equal(fault.sentence, "a manifest is larger than the limit");
	assert_int_equal(embedded.count, 0);
}

/* Sixty-four manifests just below their limit would take a gibibyte. */
static void test_embedded__all_assemblies_together_have_a_limit(void **state)
{
	static uint8_t payload[UINT16_MAX] = {1, 4, 0, 0x5b, 0x00, 0x04};
	const size_t chunk_bytes = sizeof(payload) - 8;
	struct etw_fault fault;

	(void)state;
	for (uint32_t process_id = 1; process_id < 8; process_id++) {
		for (size_t i = 0; i < ETW_EMBEDDED_MANIFEST_BYTES / chunk_bytes; i++) {
			payload[6] = (uint8_t)i;
			payload[7] = (uint8_t)(i >> 8);
			assert_int_equal(add_raw(process_id, payload, sizeof(payload), &fault), 0);
			assert_true(embedded.bytes <= ETW_EMBEDDED_OPEN_BYTES);
		}
	}
	/* The last four are there. */
	assert_int_equal(embedded.count, 4);
	etw_embedded_done(&embedded);
	assert_int_equal(embedded.bytes, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_embedded__one_chunk),
		TEST(test_embedded__chunks_in_any_order),
		TEST(test_embedded__writers_are_kept_apart),
		TEST(test_embedded__a_chunk_that_does_not_continue_begins_anew),
		TEST(test_embedded__too_many_assemblies),
		TEST(test_embedded__refusals),
		TEST(test_embedded__a_manifest_has_a_limit),
		TEST(test_embedded__all_assemblies_together_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
