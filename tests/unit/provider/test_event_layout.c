/* SPDX-License-Identifier: MIT */
/* The bytes of an event, in plain memory. Events that went through a ring: test_event.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "provider/event_layout.h"

#define LENGTH_MAX 40
#define GUARD      0xEE

static void test_event_layout__fields_of_any_length_are_copied_and_no_more(void **state)
{
	uint8_t from[LENGTH_MAX], to[LENGTH_MAX + 1];

	(void)state;
	for (unsigned i = 0; i < LENGTH_MAX; i++)
		from[i] = (uint8_t)(i + 1);
	for (size_t length = 0; length <= LENGTH_MAX; length++) {
		memset(to, GUARD, sizeof(to));
		etw_event_copy_field(to, from, length);
		assert_memory_equal(to, from, length);
		assert_int_equal(to[length], GUARD);
	}
}

/* From and to memory of exactly this size, for the sanitizers. */
static void test_event_layout__a_field_is_read_within_its_bounds(void **state)
{
	(void)state;
	for (size_t length = 1; length <= LENGTH_MAX; length++) {
		uint8_t *from = malloc(length), *to = malloc(length);

		assert_true(from && to);
		memset(from, (int)length, length);
		etw_event_copy_field(to, from, length);
		assert_memory_equal(to, from, length);
		free(from);
		free(to);
	}
}

static void test_event_layout__fields_are_chosen_by_their_type(void **state)
{
	static const char payload[] = "pay", schema[] = "schema";
	EVENT_DATA_DESCRIPTOR data[3];
	uint8_t to[16] = {0};

	(void)state;
	EventDataDescCreate(&data[0], payload, 3);
	EventDataDescCreate(&data[1], schema, 6);
	EventDataDescCreate(&data[2], "load", 4);
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	assert_true(etw_event_copy_fields(data, 3, /* is_mixed= */ true,
					  EVENT_DATA_DESCRIPTOR_TYPE_NONE, to, 7));
	assert_memory_equal(to, "payload\0", 8);
	memset(to, 0, sizeof(to));
	assert_true(etw_event_copy_fields(data, 3, /* is_mixed= */ true,
					  EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA, to, 6));
	assert_memory_equal(to, "schema\0", 7);
}

/* A program that changes a descriptor while it is written spoils its event, and nothing behind it. */
static void test_event_layout__no_more_is_copied_than_was_measured(void **state)
{
	EVENT_DATA_DESCRIPTOR data[2];
	uint8_t to[16];

	(void)state;
	memset(to, GUARD, sizeof(to));
	EventDataDescCreate(&data[0], "0123456789", 10);
	EventDataDescCreate(&data[1], "0123456789", 10);
	assert_true(etw_event_copy_fields(data, 2, /* is_mixed= */ false,
					  EVENT_DATA_DESCRIPTOR_TYPE_NONE, to, 12));
	assert_memory_equal(to, "012345678901", 12);
	assert_int_equal(to[12], GUARD);
}

static void test_event_layout__nothing_is_read_at_null(void **state)
{
	EVENT_DATA_DESCRIPTOR data[2];
	uint8_t to[16];

	(void)state;
	EventDataDescCreate(&data[0], NULL, 0);
	EventDataDescCreate(&data[1], "0123", 4);
	assert_true(etw_event_copy_fields(data, 2, /* is_mixed= */ false,
					  EVENT_DATA_DESCRIPTOR_TYPE_NONE, to, 4));
	EventDataDescCreate(&data[0], NULL, 1);
	assert_false(etw_event_copy_fields(data, 2, /* is_mixed= */ false,
					   EVENT_DATA_DESCRIPTOR_TYPE_NONE, to, 5));
}

static void test_event_layout__the_header_is_that_of_the_format(void **state)
{
	static const EVENT_DESCRIPTOR descriptor = {.Id = 0x1234, .Level = 4, .Keyword = 0x80};
	static const GUID activity = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
	static const GUID provider = {5, 6, 7, {8, 9, 10, 11, 12, 13, 14, 15}};
	struct wire_event_header header;
	uint8_t at[sizeof(header)];

	(void)state;
	memset(at, GUARD, sizeof(at));
	etw_event_put_start(at, 100, WIRE_EVENT_EXTENDED_INFO);
	etw_event_put_origin(at, 21, 22, 23);
	etw_event_put_provider(at, &provider);
	etw_event_put_rest(at, &descriptor, &activity);
	memcpy(&header, at, sizeof(header));
	assert_int_equal(le16_get(header.bytes), 100);
	assert_int_equal(at[2], ETW_EVENT_HEADER_TYPE);
	assert_int_equal(le32_get(header.thread_id), 21);
	assert_int_equal(le32_get(header.process_id), 22);
	assert_int_equal(le64_get(header.time_raw), 23);
	assert_int_equal(le32_get(header.kernel_ticks), 0);
	assert_int_equal(le32_get(header.user_ticks), 0);
	assert_memory_equal(at + offsetof(struct wire_event_header, provider), &provider, 16);
	assert_memory_equal(at + offsetof(struct wire_event_header, activity), &activity, 16);
	assert_memory_equal(at + offsetof(struct wire_event_header, id), &descriptor,
			    sizeof(descriptor));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_layout__fields_of_any_length_are_copied_and_no_more),
		cmocka_unit_test(test_event_layout__a_field_is_read_within_its_bounds),
		cmocka_unit_test(test_event_layout__fields_are_chosen_by_their_type),
		cmocka_unit_test(test_event_layout__no_more_is_copied_than_was_measured),
		cmocka_unit_test(test_event_layout__nothing_is_read_at_null),
		cmocka_unit_test(test_event_layout__the_header_is_that_of_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
