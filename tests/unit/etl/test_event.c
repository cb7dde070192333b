/* SPDX-License-Identifier: MIT */
/* Recognising one event: every header type, and every reason to refuse one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/event.h"
#include "synthetic/made_event.h"

static struct made_event made;
static const struct made_ids ids = {1, 2, 3, 4};
static const GUID guid = {1, 2, 3, {4}};

static void assert_peeks(enum wire_header_type type)
{
	struct etw_etl_event event = {0};

	memset(made.bytes + made.count, 0, 8);
	assert_null(etw_etl_event_peek(made.bytes, made.count, &event));
	assert_ptr_equal(event.at, made.bytes);
	assert_int_equal(event.bytes, made.count);
	assert_int_equal(event.header_type, type);
	assert_true(event.has_time);
	assert_int_equal(event.time_raw, 0x123456789A);
	/* One byte less than the event needs. */
	assert_string_equal(etw_etl_event_peek(made.bytes, made.count - 1, &event),
			    type == WIRE_HEADER_MESSAGE ? "the message reaches beyond its buffer"
							: "the event reaches beyond its buffer");
}

static void assert_header_is_needed(size_t header_bytes, const char *sentence)
{
	struct etw_etl_event event;

	etw_store16(made.bytes + made.size_at, (uint16_t)(header_bytes - 1));
	assert_string_equal(etw_etl_event_peek(made.bytes, made.count, &event), sentence);
	etw_store16(made.bytes + made.size_at, (uint16_t)header_bytes);
	assert_null(etw_etl_event_peek(made.bytes, made.count, &event));
}

#define TOO_SHORT "the event is shorter than its header"

static void test_event__system_and_compact(void **state)
{
	(void)state;
	for (enum wire_header_type type = WIRE_HEADER_SYSTEM32; type <= WIRE_HEADER_COMPACT64;
	     type++) {
		made_system(&made, type, 0x0501, 3, 0x123456789A, &ids);
		made_fill(&made, 7, 5);
		assert_peeks(type);
		assert_header_is_needed(type <= WIRE_HEADER_SYSTEM64 ? 0x20 : 0x18, TOO_SHORT);
	}
}

static void test_event__perfinfo_with_all_words(void **state)
{
	static const uint64_t words[8] = {1};

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		unsigned count = (i & 7) + (i >> 3);
		uint16_t version = (uint16_t)(2 | (i & 7) << 8 | (i & 8) << 12);

		assert_int_equal(wire_perfinfo_words(version), count);
		made_perfinfo(&made, WIRE_HEADER_PERFINFO64, 0x0F2E, version, 0x123456789A, words,
			      count);
		made_fill(&made, 7, 3);
		assert_peeks(WIRE_HEADER_PERFINFO64);
		assert_header_is_needed(0x10 + 8 * count, TOO_SHORT);
	}
	made_perfinfo(&made, WIRE_HEADER_PERFINFO32, 0x0F2E, 2, 0x123456789A, NULL, 0);
	assert_peeks(WIRE_HEADER_PERFINFO32);
}

static void test_event__full_and_instance(void **state)
{
	(void)state;
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		made_full(&made, is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32, &guid, 1, 2, 3,
			  0x123456789A, &ids);
		assert_peeks(is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32);
		made_instance(&made, 5, 6, &guid);
		assert_peeks(is_64 ? WIRE_HEADER_INSTANCE64 : WIRE_HEADER_INSTANCE32);
		assert_header_is_needed(0x48, TOO_SHORT);
	}
}

static void test_event__modern(void **state)
{
	static const struct made_descriptor descriptor = {.provider = &guid};

	(void)state;
	for (enum wire_header_type type = WIRE_HEADER_EVENT32; type <= WIRE_HEADER_EVENT64;
	     type++) {
		made_modern(&made, type, &descriptor, 0x123456789A, &ids);
		made_fill(&made, 1, 1);
		assert_peeks(type);
		assert_header_is_needed(0x50, TOO_SHORT);
	}
}

static void test_event__message_of_every_option(void **state)
{
	struct made_message message = {.guid = &guid};

	(void)state;
	for (unsigned options = 0; options < 0x200; options++) {
		struct wire_message_layout layout = wire_message_layout((uint16_t)options);
		struct etw_etl_event event;
		size_t header_bytes;

		message.options = (uint16_t)options;
		made_wpp(&made, &message, 0x123456789A);
		header_bytes = made.count;
		assert_int_equal(layout.header_bytes, header_bytes);
		assert_int_equal(layout.sequence, options & 1 ? 8 : 0);
		assert_int_equal(layout.component != 0, (options & 4) != 0);
		assert_int_equal(layout.guid != 0, (options & 6) == 2);
		assert_int_equal(layout.time != 0, (options & 0x18) != 0);
		assert_int_equal(layout.system_info != 0, (options & 0x20) != 0);
		made_fill(&made, 9, options % 5);
		if (layout.time) {
			assert_peeks(WIRE_HEADER_MESSAGE);
		} else {
			assert_null(etw_etl_event_peek(made.bytes, made.count, &event));
			assert_false(event.has_time);
			assert_int_equal(event.header_type, WIRE_HEADER_MESSAGE);
		}
		assert_header_is_needed(header_bytes, "the message is shorter than its header");
	}
}

static void test_event__what_is_none(void **state)
{
	struct etw_etl_event event;
	uint8_t bytes[0x80] = {0};

	(void)state;
	for (unsigned flag = 0; flag < 0x100; flag++) {
		for (unsigned type = 0; type < 0x100; type++) {
			bool is_known = flag == WIRE_EVENT_FLAG_TRACE && type < WIRE_HEADER_TYPES &&
					wire_event_shapes[type].header_bytes;
			const char *sentence;

			etw_store16(bytes, 0x60);
			bytes[2] = (uint8_t)type;
			bytes[3] = (uint8_t)flag;
			etw_store16(bytes + 4, 0x60);
			sentence = etw_etl_event_peek(bytes, sizeof(bytes), &event);
			if (is_known || flag == WIRE_EVENT_FLAG_MESSAGE)
				assert_null(sentence);
			else if (flag == WIRE_EVENT_FLAG_TRACE)
				assert_string_equal(sentence,
						    "the header type is not one that files hold");
			else
				assert_string_equal(sentence,
						    "the marker is that of no event header");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event__system_and_compact),
		cmocka_unit_test(test_event__perfinfo_with_all_words),
		cmocka_unit_test(test_event__full_and_instance),
		cmocka_unit_test(test_event__modern),
		cmocka_unit_test(test_event__message_of_every_option),
		cmocka_unit_test(test_event__what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
