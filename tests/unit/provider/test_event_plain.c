/* SPDX-License-Identifier: MIT */
/* The fast path writes what the general one writes, and leaves to it what is not so simple. */
#include "provider_test.h"

#include <errno.h>

#include "provider/event_plain.h"

static const EVENT_DESCRIPTOR descriptor = {.Id = 0x1234, .Level = 4, .Keyword = 6};

static struct fake_session session;
static struct taken taken;
static uint64_t handle;

static int begin(void **state)
{
	const struct fake_wish wish = {.level = 4, .match_any = 2};

	(void)state;
	open_session(&session, 1, 4, 0);
	handle = register_provider(NULL, NULL);
	return fake_host_enable(&host, &test_provider, &session, wish);
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
	return 0;
}

static int write_plain(EVENT_DATA_DESCRIPTOR *data, uint32_t count)
{
	return etw_provider_write_plain(etw_handle_place(handle), handle, &descriptor, data, count,
					&test_activity);
}

static void test_event_plain__writes_the_same_event(void **state)
{
	EVENT_DATA_DESCRIPTOR data[2];
	struct taken general;

	(void)state;
	EventDataDescCreate(&data[0], "head", 4);
	EventDataDescCreate(&data[1], "and tail", 8);
	assert_int_equal(etw_provider_write(handle,
					    &(struct etw_event_request){
						    .descriptor = &descriptor,
						    .data = data,
						    .data_count = 2,
						    .activity = &test_activity,
					    }),
			 0);
	assert_int_equal(take_all(&session, &general), 1);
	assert_int_equal(write_plain(data, 2), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(taken.last.bytes, general.last.bytes);
	/* But for the time. */
	memset(taken.last.data + offsetof(struct wire_event_header, time_raw), 0, 8);
	memset(general.last.data + offsetof(struct wire_event_header, time_raw), 0, 8);
	assert_memory_equal(taken.last.data, general.last.data, general.last.bytes);
}

static void describe(EVENT_DATA_DESCRIPTOR data[3], const uint8_t *bytes, uint32_t traits_bytes,
		     uint32_t schema_bytes)
{
	EventDataDescCreate(&data[0], bytes, traits_bytes);
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
	EventDataDescCreate(&data[1], bytes + 1, schema_bytes);
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[2], bytes + 2, 5);
}

static int write_described(const EVENT_DATA_DESCRIPTOR *data, uint32_t count)
{
	return etw_provider_write_described(etw_handle_place(handle), handle, &descriptor, data,
					    count, &test_activity);
}

static void test_event_plain__writes_the_same_described_event(void **state)
{
	static uint8_t bytes[ETW_EVENT_PIECES_MAX + 1];
	EVENT_DATA_DESCRIPTOR data[3];
	struct taken general;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	assert_int_equal(etw_provider_set_typed(handle, true), 0);
	for (uint32_t size = 1; size <= ETW_EVENT_PIECES_MAX; size += size < 70 ? 1 : 17) {
		const uint32_t count = size % 5 ? 3 : 2; /* without payload, too */
		const struct etw_event_request request = {
			.descriptor = &descriptor,
			.data = data,
			.data_count = count,
			.activity = &test_activity,
		};

		describe(data, bytes, size, size % 50 + 1);
		assert_int_equal(etw_provider_write(handle, &request), 0);
		assert_int_equal(take_all(&session, &general), 1);
		assert_int_equal(write_described(data, count), 0);
		assert_int_equal(take_all(&session, &taken), 1);
		assert_int_equal(taken.last.bytes, general.last.bytes);
		memset(taken.last.data + offsetof(struct wire_event_header, time_raw), 0, 8);
		memset(general.last.data + offsetof(struct wire_event_header, time_raw), 0, 8);
		assert_memory_equal(taken.last.data, general.last.data, general.last.bytes);
	}
}

static void test_event_plain__leaves_strange_descriptions_to_others(void **state)
{
	static const uint8_t bytes[ETW_EVENT_PIECES_MAX + 2] = {1};
	EVENT_DATA_DESCRIPTOR data[3];

	(void)state;
	describe(data, bytes, 8, 8);
	assert_int_equal(write_described(data, 3), -EAGAIN); /* types mean nothing yet */
	assert_int_equal(etw_provider_set_typed(handle, true), 0);
	describe(data, bytes, 0, 8);
	assert_int_equal(write_described(data, 3), -EAGAIN);
	describe(data, bytes, 8, 0);
	assert_int_equal(write_described(data, 3), -EAGAIN);
	describe(data, bytes, ETW_EVENT_PIECES_MAX + 1, 8);
	assert_int_equal(write_described(data, 3), -EAGAIN);
	describe(data, bytes, 8, UINT32_MAX);
	assert_int_equal(write_described(data, 3), -EAGAIN);
	describe(data, bytes, 8, 8);
	data[0].Ptr = 8;
	assert_int_equal(write_described(data, 3), -EAGAIN);
	describe(data, bytes, 8, 8);
	data[2].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	assert_int_equal(write_described(data, 3), -EAGAIN);
	describe(data, bytes, 8, 8);
	data[2].Ptr = 8; /* found when it is to be copied: the place is given up */
	assert_int_equal(write_described(data, 3), -EAGAIN);
	assert_int_equal(take_all(&session, &taken), 0);
}

static void test_event_plain__what_nobody_wants_is_not_written(void **state)
{
	static const EVENT_DESCRIPTOR verbose = {.Id = 1, .Level = 5, .Keyword = 6};
	static const EVENT_DESCRIPTOR other = {.Id = 1, .Level = 4, .Keyword = 8};

	(void)state;
	assert_int_equal(etw_provider_write_plain(etw_handle_place(handle), handle, &verbose, NULL,
						  0, &test_activity),
			 0);
	assert_int_equal(etw_provider_write_plain(etw_handle_place(handle), handle, &other, NULL, 0,
						  &test_activity),
			 0);
	assert_int_equal(take_all(&session, &taken), 0);
}

/* Handles that are none find nothing that is plain: an event without level and keyword would pass what is all zero. */
static void test_event_plain__no_handle_is_plain(void **state)
{
	static const EVENT_DESCRIPTOR everything = {.Id = 1};
	const uint64_t step = sizeof(struct etw_registration) / 64;
	const uint64_t wrong[] = {0,
				  1,
				  step,
				  handle + 1,
				  handle + step,
				  UINT64_MAX,
				  handle ^ UINT64_C(1) << 63,
				  handle | ETW_HANDLE_CLASSIC};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(etw_provider_write_plain(etw_handle_place(wrong[i]), wrong[i],
							  &everything, NULL, 0, &test_activity),
				 -EAGAIN);
	assert_int_equal(take_all(&session, &taken), 0);
}

static void test_event_plain__leaves_the_rest_to_others(void **state)
{
	static const uint64_t wrong[] = {0, 1, UINT64_MAX, UINT64_C(0xFFFFFFFF00000000)};
	static uint8_t large[ETW_EVENT_BYTES_MAX];
	EVENT_DATA_DESCRIPTOR data;
	struct fake_session second;

	(void)state;
	/* An item of metadata; a large field; no handle; a retired session; two sessions. */
	EventDataDescCreate(&data, "schema", 6);
	data.Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	assert_int_equal(write_plain(&data, 1), -EAGAIN);
	EventDataDescCreate(&data, large, ETW_EVENT_PIECES_MAX + 1);
	assert_int_equal(write_plain(&data, 1), -EAGAIN);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(etw_provider_write_plain(etw_handle_place(wrong[i]), wrong[i],
							  &descriptor, NULL, 0, &test_activity),
				 -EAGAIN);
	store_release(&etw_ring_set_page(&session.set)->is_retired, 1u);
	assert_int_equal(write_plain(NULL, 0), -EAGAIN);
	store_release(&etw_ring_set_page(&session.set)->is_retired, 0u);
	open_session(&second, 2, 4, 0);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &second, (struct fake_wish){.level = 5}),
		0);
	assert_int_equal(write_plain(NULL, 0), -EAGAIN);
	assert_int_equal(take_all(&session, &taken), 0);
	assert_int_equal(take_all(&second, &taken), 0);
	end_session(&second);
}

/* A descriptor that is larger when it is copied than when it was summed up leaves what lies behind the event alone. */
static void test_event_plain__goes_by_the_sum(void **state)
{
	static const uint8_t long_text[64] = {1, 2, 3};
	EVENT_DATA_DESCRIPTOR data[2];
	uint8_t room[64];

	(void)state;
	memset(room, 0xEE, sizeof(room));
	EventDataDescCreate(&data[0], long_text, 64);
	EventDataDescCreate(&data[1], long_text, 8);
	assert_true(etw_event_copy_payload(data, 2, room, 24));
	assert_memory_equal(room, long_text, 24);
	assert_int_equal(room[24], 0xEE);
	EventDataDescCreate(&data[0], NULL, 8);
	assert_false(etw_event_copy_payload(data, 1, room, 24));
	EventDataDescCreate(&data[0], NULL, 0);
	assert_true(etw_event_copy_payload(data, 1, room, 24));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_event_plain__writes_the_same_event, begin,
						end),
		cmocka_unit_test_setup_teardown(test_event_plain__writes_the_same_described_event,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_event_plain__leaves_strange_descriptions_to_others, begin, end),
		cmocka_unit_test_setup_teardown(test_event_plain__no_handle_is_plain, begin, end),
		cmocka_unit_test_setup_teardown(test_event_plain__what_nobody_wants_is_not_written,
						begin, end),
		cmocka_unit_test_setup_teardown(test_event_plain__leaves_the_rest_to_others, begin,
						end),
		cmocka_unit_test(test_event_plain__goes_by_the_sum),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
