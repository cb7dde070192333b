/* SPDX-License-Identifier: MIT */
/* The items that sessions ask for, as they lie in the rings: each session's its own. */
#include "provider/items.h"

#include "provider_test.h"

#include <errno.h>

static struct taken taken;

#define ALL_ITEMS ((uint32_t)ETW_ENABLE_ITEMS)

static const GUID related = {9, 8, 7, {6, 5, 4, 3, 2, 1, 0, 1}};
static uint8_t schema[] = {5, 0, 0, 'E', 0};

/* A provider whose events may carry a schema. */
static uint64_t register_typed(void)
{
	uint64_t handle = register_provider(NULL, NULL);

	assert_int_equal(etw_provider_set_typed(handle, true), 0);
	return handle;
}

static int write_schema(uint64_t handle, const GUID *with, bool has_schema)
{
	static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
	EVENT_DATA_DESCRIPTOR data[2];

	EventDataDescCreate(&data[0], schema, sizeof(schema));
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[1], "pay", 3);
	return etw_provider_write(handle, &(struct etw_event_request){
						  .descriptor = &descriptor,
						  .data = has_schema ? data : data + 1,
						  .data_count = has_schema ? 2 : 1,
						  .activity = &test_activity,
						  .related = with,
					  });
}

static void enable(struct fake_session *session, uint32_t property)
{
	assert_int_equal(fake_host_enable(&host, &test_provider, session,
					  (struct fake_wish){.level = 255, .property = property}),
			 0);
}

/* The types in the event, in their order, and the payload behind them. */
static void check_event(const uint16_t *types, size_t count)
{
	uint32_t at = 0x50;

	assert_int_equal(le16_get(header_of(&taken)->flags), count ? WIRE_EVENT_EXTENDED_INFO : 0);
	for (size_t i = 0; i < count; i++) {
		struct wire_extended_item item;

		memcpy(&item, taken.last.data + at, sizeof(item));
		assert_int_equal(le16_get(item.type), types[i]);
		assert_int_equal(le16_get(item.linkage), i + 1 < count);
		assert_int_equal(le16_get(item.bytes), etw_item_bytes(le16_get(item.data_bytes)));
		at += le16_get(item.bytes);
	}
	assert_int_equal(taken.last.bytes, at + 3);
	assert_int_equal(le16_get(header_of(&taken)->bytes), at + 3);
	assert_memory_equal(taken.last.data + at, "pay", 3);
}

static void test_items__each_session_has_its_own(void **state)
{
	static const uint16_t all[] = {1, 2, 3, 10, 13, 16, 6, 11}, sid[] = {1, 2, 11},
			      none[] = {1, 11};
	static const uint16_t alone[] = {2};
	struct fake_session sessions[3];
	uint64_t handle;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		open_session(&sessions[i], i + 1, 4, 0);
	handle = register_typed();
	enable(&sessions[0], EVENT_ENABLE_PROPERTY_SID);
	enable(&sessions[1], ALL_ITEMS);
	enable(&sessions[2], 0);
	assert_int_equal(write_schema(handle, &related, true), 0);
	assert_int_equal(take_all(&sessions[0], &taken), 1);
	check_event(sid, 3);
	assert_int_equal(take_all(&sessions[1], &taken), 1);
	check_event(all, 8);
	assert_int_equal(take_all(&sessions[2], &taken), 1);
	check_event(none, 2);
	/* Without any of the writer's. */
	assert_int_equal(write_schema(handle, NULL, false), 0);
	assert_int_equal(take_all(&sessions[0], &taken), 1);
	check_event(alone, 1);
	assert_int_equal(take_all(&sessions[2], &taken), 1);
	check_event(NULL, 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	for (uint32_t i = 0; i < 3; i++)
		end_session(&sessions[i]);
}

static uint64_t key_of_last(void)
{
	uint64_t key;

	assert_int_equal(etw_load16(taken.last.data + 0x52), EVENT_HEADER_EXT_TYPE_EVENT_KEY);
	memcpy(&key, taken.last.data + 0x58, sizeof(key));
	return key;
}

/* One event in two sessions, and the next one in both. */
static void test_items__keys_are_the_events(void **state)
{
	struct fake_session sessions[2];
	uint64_t handle, key, next;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		open_session(&sessions[i], i + 1, 4, 0);
	handle = register_typed();
	for (uint32_t i = 0; i < 2; i++)
		enable(&sessions[i], EVENT_ENABLE_PROPERTY_EVENT_KEY);
	assert_int_equal(write_schema(handle, NULL, false), 0);
	assert_int_equal(take_all(&sessions[0], &taken), 1);
	key = key_of_last();
	assert_int_equal(take_all(&sessions[1], &taken), 1);
	assert_int_equal(key_of_last(), key);
	assert_int_equal(write_schema(handle, NULL, false), 0);
	assert_int_equal(take_all(&sessions[0], &taken), 1);
	next = key_of_last();
	assert_int_not_equal(next, key);
	assert_int_equal(take_all(&sessions[1], &taken), 1);
	assert_int_equal(key_of_last(), next);
	assert_int_equal(etw_provider_unregister(handle), 0);
	for (uint32_t i = 0; i < 2; i++)
		end_session(&sessions[i]);
}

/* What is no more asked for is no more there, and the plain event is as it was. */
static void test_items__end_with_the_property(void **state)
{
	struct fake_session session;
	uint64_t handle;

	(void)state;
	open_session(&session, 1, 4, 0);
	handle = register_typed();
	enable(&session, 0);
	assert_int_equal(etw_handle_registration(handle)->general, 0);
	enable(&session, EVENT_ENABLE_PROPERTY_SID);
	assert_int_equal(etw_handle_registration(handle)->general, ETW_GENERAL_ENABLE);
	enable(&session, EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0);
	assert_int_equal(etw_handle_registration(handle)->general, 0);
	enable(&session, 0);
	assert_int_equal(write_schema(handle, NULL, false), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	check_event(NULL, 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
}

/* Too large with the items that a session asks for: refused as one that does not fit its buffer. */
static void test_items__too_large_with_them(void **state)
{
	static uint8_t payload[65535 - 0x50];
	static const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = 4};
	struct fake_session session;
	EVENT_DATA_DESCRIPTOR data;
	uint64_t handle;

	(void)state;
	assert_int_equal(fake_session_open(&session, 1, 4, 2 * 65536, 0), 0);
	handle = register_typed();
	enable(&session, EVENT_ENABLE_PROPERTY_SID);
	EventDataDescCreate(&data, payload, sizeof(payload));
	assert_int_equal(etw_provider_write(handle,
					    &(struct etw_event_request){
						    .descriptor = &descriptor,
						    .data = &data,
						    .data_count = 1,
						    .activity = &test_activity,
					    }),
			 -EMSGSIZE);
	assert_int_equal(take_all(&session, &taken), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items__each_session_has_its_own),
		cmocka_unit_test(test_items__keys_are_the_events),
		cmocka_unit_test(test_items__end_with_the_property),
		cmocka_unit_test(test_items__too_large_with_them),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
