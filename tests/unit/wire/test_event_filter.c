/* SPDX-License-Identifier: MIT */
/* Which events pass which filters, and which of them take a stack: one row for each rule of wire/event_filter.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <evntprov.h>
#include <tdh.h>

#include "base/macros.h"
#include "wire/event_filter.h"
#include "wire/payload_filter.h"

static const GUID provider = {1, 2, 3, {4}};
static uint8_t list[WIRE_FILTER_LIST_BYTES_MAX];
static size_t list_bytes;

static void begin(void)
{
	list_bytes = 0;
}

static void add(uint32_t type, const void *data, size_t bytes)
{
	const struct wire_filter filter = {type, {data, bytes}};
	const size_t taken = wire_filter_put(list + list_bytes, sizeof(list) - list_bytes, &filter);

	assert_true(taken > 0);
	list_bytes += taken;
}

static void add_ids(uint32_t type, uint8_t is_in, uint16_t first, uint16_t second)
{
	const uint16_t data[] = {is_in, 2, first, second};

	add(type, data, sizeof(data));
}

/* @names: @bytes with a NUL behind each */
static void add_names(uint32_t type, uint8_t is_in, uint8_t level, uint64_t any, const char *names,
		      size_t bytes)
{
	uint8_t data[200] = {0};
	uint16_t count = 0;

	for (size_t i = 0; i < bytes; i++)
		count = (uint16_t)(count + !names[i]);
	etw_store64(data, any);
	etw_store64(data + 8, any);
	data[16] = level;
	data[17] = is_in;
	etw_store16(data + 18, count);
	memcpy(data + 20, names, bytes);
	add(type, data, 20 + bytes);
}

#define NAMES(text) text, sizeof(text)

static void add_level(uint8_t is_in, uint8_t level, uint64_t any)
{
	EVENT_FILTER_LEVEL_KW data = {.MatchAnyKeyword = any, .Level = level, .FilterIn = is_in};

	add(EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, &data, sizeof(data));
}

/* Event 7, version 0: a u32 at its beginning is @wanted. */
static void add_payload(uint64_t wanted)
{
	struct {
		struct wire_payload_filter head;
		struct wire_payload_event event;
		struct wire_payload_step step;
		struct wire_payload_predicate predicate;
		uint8_t operand[8];
	} blob = {
		.event = {.id = le16_of(7), .step_count = 1, .predicate_count = 1},
		.step = {.extent = WIRE_PAYLOAD_FIXED, .unit = le16_of(4), .count = le16_of(1)},
		.predicate = {.operation = PAYLOADFIELD_EQ, .kind = WIRE_PAYLOAD_UNSIGNED},
	};

	memcpy(blob.head.magic, WIRE_PAYLOAD_FILTER_MAGIC, sizeof(blob.head.magic));
	memcpy(blob.head.provider, &provider, sizeof(blob.head.provider));
	blob.head.version = le16_of(WIRE_PAYLOAD_FILTER_VERSION);
	blob.head.filter_count = le16_of(1);
	blob.head.bytes = le32_of(sizeof(blob));
	blob.event.bytes = le32_of(sizeof(blob) - sizeof(blob.head));
	blob.predicate.bytes = le16_of(sizeof(blob.predicate) + sizeof(blob.operand));
	blob.predicate.operand_bytes = le16_of(sizeof(blob.operand));
	etw_store64(blob.operand, wanted);
	add(EVENT_FILTER_TYPE_PAYLOAD, &blob, sizeof(blob));
}

struct event {
	uint16_t id;
	const char *name; /* of TraceLogging; NULL: another event */
	uint8_t level;
	uint64_t keyword;
	uint32_t value;
	uint32_t process_id;
};

static bool ask(const struct event *event, bool (*question)(const struct wire_event_filter *,
							    const struct wire_event_subject *))
{
	const EVENT_DESCRIPTOR descriptor = {
		.Id = event->id, .Level = event->level, .Keyword = event->keyword};
	EVENT_DATA_DESCRIPTOR data[2];
	struct wire_event_filter filter;
	struct wire_event_subject subject = {
		.provider = &provider,
		.descriptor = &descriptor,
		.data = data,
		.data_count = 1,
		.is_typed = true,
		.process_id = event->process_id,
	};
	uint8_t metadata[100] = {0, 0, 0x80,
				 1}; /* the size, which nobody needs, and tags of two bytes */

	EventDataDescCreate(&data[0], &event->value, sizeof(event->value));
	if (event->name) {
		memcpy(metadata + 4, event->name, strlen(event->name) + 1);
		EventDataDescCreate(&data[1], metadata, (ULONG)(4 + strlen(event->name) + 1));
		data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
		subject.data_count = 2;
	}
	assert_int_equal(wire_event_filter_read((struct etw_bytes){list, list_bytes}, &filter), 0);
	return question(&filter, &subject);
}

#define PASSES(...) ask(&(struct event){__VA_ARGS__}, wire_event_filter_passes)
#define STACKS(...) ask(&(struct event){__VA_ARGS__}, wire_event_filter_takes_stack)

static void test_event_filter__ids(void **state)
{
	(void)state;
	begin();
	add_ids(EVENT_FILTER_TYPE_EVENT_ID, 1, 7, 0xFFFF);
	assert_true(PASSES(.id = 7));
	assert_true(PASSES(.id = 0xFFFF));
	assert_false(PASSES(.id = 7 + 64)); /* the same bit of the digest */
	assert_false(PASSES(.id = 0));
	assert_true(PASSES(.id = 0, .name = "Named"));
	assert_true(STACKS(.id = 0));
	begin();
	add_ids(EVENT_FILTER_TYPE_EVENT_ID, 0, 7, 8);
	assert_false(PASSES(.id = 8));
	assert_true(PASSES(.id = 9));
	assert_true(PASSES(.id = 8, .name = "Named"));
}

static void test_event_filter__names(void **state)
{
	(void)state;
	begin();
	add_names(EVENT_FILTER_TYPE_EVENT_NAME, 1, 4, 2, NAMES("One\0Two"));
	assert_true(PASSES(.name = "One", .level = 4, .keyword = 2));
	assert_true(PASSES(.name = "Two", .level = 1, .keyword = 3));
	assert_true(PASSES(.name = "Two", .level = 1)); /* keyword 0 is of every kind */
	assert_false(PASSES(.name = "One", .level = 5, .keyword = 2));
	assert_false(PASSES(.name = "One", .level = 4, .keyword = 1));
	assert_false(PASSES(.name = "one", .level = 4, .keyword = 2));
	assert_false(PASSES(.name = "On", .level = 4, .keyword = 2));
	assert_false(PASSES(.name = "Tw", .level = 4, .keyword = 2));
	assert_true(PASSES(.id = 7, .level = 5));
	begin();
	add_names(EVENT_FILTER_TYPE_EVENT_NAME, 0, 0, 0, NAMES("One"));
	assert_false(PASSES(.name = "One", .level = 255, .keyword = 1));
	assert_true(PASSES(.name = "Two"));
}

static void test_event_filter__all_kinds_must_agree(void **state)
{
	(void)state;
	begin();
	add_ids(EVENT_FILTER_TYPE_EVENT_ID, 1, 7, 8);
	add_payload(5);
	add(EVENT_FILTER_TYPE_PID, &(uint32_t){33}, sizeof(uint32_t));
	assert_true(PASSES(.id = 7, .value = 5, .process_id = 33));
	assert_false(PASSES(.id = 7, .value = 6, .process_id = 33));
	assert_false(PASSES(.id = 7, .value = 5, .process_id = 34));
	assert_true(
		PASSES(.id = 8, .value = 6, .process_id = 33)); /* no payload filter is about it */
	assert_false(PASSES(.id = 9, .value = 5, .process_id = 33));
	assert_true(PASSES(.name = "Named", .value = 6, .process_id = 33));
	assert_false(PASSES(.name = "Named", .value = 5, .process_id = 34));
}

static void test_event_filter__stacks(void **state)
{
	(void)state;
	begin();
	add_ids(EVENT_FILTER_TYPE_STACKWALK, 1, 7, 8);
	add_names(EVENT_FILTER_TYPE_STACKWALK_NAME, 0, 0, 0, NAMES("Quiet"));
	assert_true(STACKS(.id = 7));
	assert_false(STACKS(.id = 9));
	assert_true(PASSES(.id = 9));
	assert_false(STACKS(.name = "Quiet"));
	assert_true(STACKS(.name = "Loud"));
	add_level(1, 3, 0);
	assert_true(STACKS(.id = 7, .level = 3));
	assert_false(STACKS(.id = 7, .level = 4));
	assert_false(STACKS(.name = "Loud", .level = 4));
	begin();
	add_level(0, 3, 1);
	assert_false(STACKS(.level = 3, .keyword = 1));
	assert_true(STACKS(.level = 3, .keyword = 2));
}

static void test_event_filter__cut_off_lists_are_refused(void **state)
{
	struct wire_event_filter filter;

	(void)state;
	begin();
	add_ids(EVENT_FILTER_TYPE_EVENT_ID, 1, 7, 8);
	for (size_t bytes = 1; bytes < list_bytes; bytes++)
		assert_int_equal(wire_event_filter_read((struct etw_bytes){list, bytes}, &filter),
				 -EINVAL);
	add_ids(EVENT_FILTER_TYPE_EVENT_ID, 1, 9, 10);
	assert_int_equal(wire_event_filter_read((struct etw_bytes){list, list_bytes}, &filter),
			 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_filter__ids),
		cmocka_unit_test(test_event_filter__names),
		cmocka_unit_test(test_event_filter__all_kinds_must_agree),
		cmocka_unit_test(test_event_filter__stacks),
		cmocka_unit_test(test_event_filter__cut_off_lists_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
