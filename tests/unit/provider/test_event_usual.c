/* SPDX-License-Identifier: MIT */
/* The quick path for all that is not plain writes what the general one writes, and leaves to it what it cannot do. */
#include "provider_test.h"

#include <errno.h>

#include "provider/event_plain.h"
#include "provider/event_usual.h"

#define SESSIONS 3

static const EVENT_DESCRIPTOR descriptor = {.Id = 0x1234, .Level = 4, .Keyword = 6};
static const uint8_t traits[] = {8, 0, 'T', 'r', 'a', 'i', 't', 0};
static const uint8_t schema[] = {7, 0, 0, 'E', 'v', 't', 0};

static struct fake_session sessions[SESSIONS];
static struct taken taken, general;
static uint64_t handle;

static int begin(void **state)
{
	(void)state;
	handle = register_provider(NULL, NULL);
	assert_int_equal(etw_provider_set_typed(handle, true), 0);
	for (unsigned i = 0; i < SESSIONS; i++) {
		open_session(&sessions[i], i + 1, 4, 0);
		assert_int_equal(fake_host_enable(&host, &test_provider, &sessions[i],
						  (struct fake_wish){.level = 4}),
				 0);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_unregister(handle), 0);
	for (unsigned i = 0; i < SESSIONS; i++)
		end_session(&sessions[i]);
	return 0;
}

/* All sessions have this one event, and at one time. */
static void take_same(struct taken *ret)
{
	static struct taken other;

	assert_int_equal(take_all(&sessions[0], ret), 1);
	for (unsigned i = 1; i < SESSIONS; i++) {
		assert_int_equal(take_all(&sessions[i], &other), 1);
		memset(other.last.data + offsetof(struct wire_event_header, time_raw), 0, 8);
		if (i == 1)
			memset(ret->last.data + offsetof(struct wire_event_header, time_raw), 0, 8);
		assert_int_equal(other.last.bytes, ret->last.bytes);
		assert_memory_equal(other.last.data, ret->last.data, ret->last.bytes);
	}
}

static void expect_same(const struct etw_event_request *request)
{
	assert_int_equal(etw_provider_write(handle, request), 0);
	take_same(&general);
	assert_int_equal(etw_provider_write_usual(handle, request), 0);
	take_same(&taken);
	assert_int_equal(taken.last.bytes, general.last.bytes);
	assert_memory_equal(taken.last.data, general.last.data, general.last.bytes);
}

/* With and without each of: related activity, typed descriptors, fields of all sizes, flags. */
static void expect_all_kinds_same(void)
{
	static const uint8_t text[600] = "a field";
	EVENT_DATA_DESCRIPTOR data[5];
	struct etw_event_request request = {
		.descriptor = &descriptor, .data = data, .activity = &test_activity};

	for (uint32_t bytes = 0; bytes < sizeof(text); bytes += bytes < 70 ? 1 : 37) {
		EventDataDescCreate(&data[0], traits, sizeof(traits));
		data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
		EventDataDescCreate(&data[1], schema, sizeof(schema));
		data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
		EventDataDescCreate(&data[2], text, bytes);
		EventDataDescCreate(&data[3], "tail", 4);
		for (unsigned kind = 0; kind < 8; kind++) {
			request.related = kind & 1 ? &test_activity : NULL;
			request.data = kind & 2 ? data : data + 2;
			request.data_count = kind & 2 ? 4 : 2;
			request.header_flags = kind & 4 ? 0x4 : 0;
			expect_same(&request);
		}
	}
}

static void test_event_usual__writes_the_same_events(void **state)
{
	(void)state;
	expect_all_kinds_same();
}

static void test_event_usual__writes_the_same_events_with_traits(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_set_traits(handle, traits, sizeof(traits)), 0);
	expect_all_kinds_same();
}

static void test_event_usual__descriptors_without_types_are_payload(void **state)
{
	EVENT_DATA_DESCRIPTOR data[2];

	(void)state;
	assert_int_equal(etw_provider_set_typed(handle, false), 0);
	EventDataDescCreate(&data[0], traits, sizeof(traits));
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
	EventDataDescCreate(&data[1], schema, sizeof(schema));
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	expect_same(&(struct etw_event_request){.descriptor = &descriptor,
						.data = data,
						.data_count = 2,
						.activity = &test_activity});
	assert_int_equal(taken.last.bytes,
			 sizeof(struct wire_event_header) + sizeof(traits) + sizeof(schema));
}

/* In order on both sides: the event that has no room in one ring goes the general way, and no other is lost by that. */
static void test_event_usual__goes_on_in_the_next_buffer(void **state)
{
	static const uint8_t text[400];
	const uint32_t count = 2 * TEST_BUFFER_BYTES / (sizeof(text) + 80);
	EVENT_DATA_DESCRIPTOR data;

	(void)state;
	EventDataDescCreate(&data, text, sizeof(text));
	for (uint32_t i = 0; i < count; i++) {
		if (i % 2)
			assert_int_equal(
				etw_provider_write_usual(handle,
							 &(struct etw_event_request){
								 .descriptor = &descriptor,
								 .data = &data,
								 .data_count = 1,
								 .activity = &test_activity,
							 }),
				0);
		else
			assert_int_equal(etw_provider_write(handle,
							    &(struct etw_event_request){
								    .descriptor = &descriptor,
								    .data = &data,
								    .data_count = 1,
								    .activity = &test_activity,
							    }),
					 0);
	}
	for (unsigned i = 0; i < SESSIONS; i++) {
		assert_int_equal(take_all(&sessions[i], &taken), count);
		assert_int_equal(fake_session_lost(&sessions[i]), 0);
	}
}

static void test_event_usual__says_what_is_wrong(void **state)
{
	static uint8_t large[ETW_EVENT_BYTES_MAX];
	EVENT_DATA_DESCRIPTOR data;
	struct etw_event_request request = {.descriptor = &descriptor,
					    .data = &data,
					    .data_count = 1,
					    .activity = &test_activity};

	(void)state;
	EventDataDescCreate(&data, large, sizeof(large));
	assert_int_equal(etw_provider_write_usual(handle, &request), -EOVERFLOW);
	data.Type = 7;
	assert_int_equal(etw_provider_write_usual(handle, &request), -EINVAL);
	EventDataDescCreate(&data, NULL, 8);
	assert_int_equal(etw_provider_write_usual(handle, &request), -EFAULT);
	EventDataDescCreate(&data, large, 8);
	assert_int_equal(etw_provider_write_usual(UINT64_MAX, &request), -EBADF);
	assert_int_equal(etw_provider_write_usual(0, &request), -EBADF);
	for (unsigned i = 0; i < SESSIONS; i++)
		assert_int_equal(take_all(&sessions[i], &taken), 0);
}

static void test_event_usual__what_nobody_wants_is_not_written(void **state)
{
	static const EVENT_DESCRIPTOR verbose = {.Id = 1, .Level = 5, .Keyword = 6};

	(void)state;
	assert_int_equal(etw_provider_write_usual(handle,
						  &(struct etw_event_request){
							  .descriptor = &verbose,
							  .activity = &test_activity,
						  }),
			 0);
	for (unsigned i = 0; i < SESSIONS; i++)
		assert_int_equal(take_all(&sessions[i], &taken), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_event_usual__##name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_the_same_events),
		TEST(writes_the_same_events_with_traits),
		TEST(descriptors_without_types_are_payload),
		TEST(goes_on_in_the_next_buffer),
		TEST(says_what_is_wrong),
		TEST(what_nobody_wants_is_not_written),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
