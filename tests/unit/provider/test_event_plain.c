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
	open_session(&session, 1, 4, WIRE_RING_ONE_STREAM);
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
	return etw_provider_write_plain(handle, &descriptor, data, count, &test_activity);
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

static void test_event_plain__what_nobody_wants_is_not_written(void **state)
{
	static const EVENT_DESCRIPTOR verbose = {.Id = 1, .Level = 5, .Keyword = 6};
	static const EVENT_DESCRIPTOR other = {.Id = 1, .Level = 4, .Keyword = 8};

	(void)state;
	assert_int_equal(etw_provider_write_plain(handle, &verbose, NULL, 0, &test_activity), 0);
	assert_int_equal(etw_provider_write_plain(handle, &other, NULL, 0, &test_activity), 0);
	assert_int_equal(take_all(&session, &taken), 0);
}

static void test_event_plain__leaves_the_rest_to_the_general_path(void **state)
{
	static uint8_t large[ETW_EVENT_BYTES_MAX];
	EVENT_DATA_DESCRIPTOR data;
	struct fake_session second;

	(void)state;
	/* An item of metadata; more than an event may have; no handle; two sessions. */
	EventDataDescCreate(&data, "schema", 6);
	data.Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	assert_int_equal(etw_provider_set_typed(handle, true), 0);
	assert_int_equal(write_plain(&data, 1), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_true(taken.last.bytes > sizeof(struct wire_event_header) + 6);
	EventDataDescCreate(&data, large, sizeof(large));
	assert_int_equal(write_plain(&data, 1), -EOVERFLOW);
	assert_int_equal(etw_provider_write_plain(UINT64_MAX, &descriptor, NULL, 0, &test_activity),
			 -EBADF);
	open_session(&second, 2, 4, WIRE_RING_ONE_STREAM);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &second, (struct fake_wish){.level = 5}),
		0);
	assert_int_equal(write_plain(NULL, 0), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(take_all(&second, &taken), 1);
	end_session(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_event_plain__writes_the_same_event, begin,
						end),
		cmocka_unit_test_setup_teardown(test_event_plain__what_nobody_wants_is_not_written,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_event_plain__leaves_the_rest_to_the_general_path, begin, end),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
