/* SPDX-License-Identifier: MIT */
/* Registering and enabling, in either order, message by message. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/guid.h"
#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

static const struct wire_enable_slot *slot_of(const struct wire_enable *enable, uint64_t session)
{
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable->slots[i].is_used && enable->slots[i].session_id == session)
			return &enable->slots[i];
	}
	return NULL;
}

static void test_enable__before_registering(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "early");
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle, &provider);
	uint8_t filter[] = "which events";
	struct wire_enable enable;
	struct talk *talk;
	unsigned sets;

	(void)state;
	wanted.match_any = 0x30;
	wanted.match_all = 0x10;
	wanted.property = EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0;
	wanted.source = guid_of(99);
	add_filter(&wanted, EVENT_FILTER_TYPE_SCHEMATIZED, filter, sizeof(filter));
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk = talk_open(WIRE_ROLE_PROVIDER);
	assert_int_equal(talk_register(talk, 5, &provider), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_equal(enable.registration, 5);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_true(enable.has_callback);
	assert_int_equal(enable.level, 5);
	assert_true(enable.match_any == 0x30 && enable.match_all == 0x10);
	/* [MSD] EnableTraceEx2: the source is for those who were registered before. */
	assert_true(etw_guid_is_null(&enable.source));
	assert_int_equal(enable.filter_type, 0x80000000);
	assert_int_equal(enable.filter.left, sizeof(filter));
	assert_memory_equal(enable.filter.at, filter, sizeof(filter));
	assert_non_null(slot_of(&enable, handle));
	assert_int_equal(slot_of(&enable, handle)->level, 5);
	assert_int_equal(slot_of(&enable, handle)->property,
			 EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0);
	assert_int_not_equal(slot_of(&enable, handle)->ring_set, 0);
	talk_close(talk);
	etw_controller_close(opened);
}

static void test_enable__after_registering(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t first = start_session(opened, "first"), second = start_session(opened, "second");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(first, &provider);
	struct wire_enable enable;
	unsigned sets, slot;

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	assert_true(talk_is_silent(talk));
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(sets, 1);
	/* Zero means everything. */
	assert_true(enable.match_any == UINT64_MAX && enable.match_all == 0);
	slot = (unsigned)(slot_of(&enable, first) - enable.slots);
	/* A second session: the sum is told, and each keeps its slot. */
	wanted = enable_of(second, &provider);
	wanted.level = 0;
	wanted.match_any = 2;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_equal(enable.level, 0xFF);
	assert_ptr_equal(slot_of(&enable, first), &enable.slots[slot]);
	assert_int_equal(slot_of(&enable, second)->level, 0xFF);
	assert_true(slot_of(&enable, second)->match_any == 2);
	/* Back to one, then to none. */
	wanted.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(sets, 0);
	assert_null(slot_of(&enable, second));
	assert_ptr_equal(slot_of(&enable, first), &enable.slots[slot]);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	wanted.handle = first;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_null(slot_of(&enable, first));
	talk_close(talk);
	etw_controller_close(opened);
}

static void test_enable__capture_state_changes_nothing(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle, &provider);
	struct wire_enable enable;

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, NULL);
	wanted.code = EVENT_CONTROL_CODE_CAPTURE_STATE;
	wanted.level = 3;
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, NULL);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_CAPTURE_STATE);
	assert_int_equal(enable.level, 3);
	assert_int_equal(slot_of(&enable, handle)->level, 5);
	talk_close(talk);
	etw_controller_close(opened);
}

static void test_enable__errors(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle + 1, &provider);

	(void)state;
	assert_int_equal(etw_control_enable(opened, &wanted), -ENOENT);
	wanted.handle = handle;
	wanted.code = 3;
	assert_int_equal(etw_control_enable(opened, &wanted), -EINVAL);
	wanted.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER; /* it was not enabled */
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	etw_controller_close(opened);
}

static void test_enable__ninth_session_is_refused(void **state)
{
	struct etw_controller *opened = controller();
	GUID provider = guid_of(1);
	uint64_t last = 0;
	char name[32];

	(void)state;
	for (int i = 0; i < WIRE_ENABLE_SLOTS + 1; i++) {
		struct wire_enable_provider wanted;

		snprintf(name, sizeof(name), "session %d", i);
		last = start_session(opened, name);
		wanted = enable_of(last, &provider);
		assert_int_equal(etw_control_enable(opened, &wanted),
				 i < WIRE_ENABLE_SLOTS ? 0 : -ENOSPC);
	}
	/* A session that ends makes room. */
	assert_int_equal(control_session(opened, last - 1, WIRE_CONTROL_STOP, NULL), 0);
	assert_int_equal(
		etw_control_enable(opened, &(struct wire_enable_provider){.handle = last,
									  .provider = provider,
									  .code = 1}),
		0);
	etw_controller_close(opened);
}

/* A controller's request, without waiting for the answer. */
static void ask_enable(struct talk *asker, const struct wire_enable_provider *wanted)
{
	const struct wire_message head = {.type = WIRE_ENABLE_PROVIDER, .request = 77};

	assert_int_equal(
		talk_send(asker, wire_message_encode_enable_provider(&head, wanted, asker->room)),
		0);
}

static void test_enable__waits_for_callbacks(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	struct talk *second = talk_open(WIRE_ROLE_PROVIDER);
	struct talk *asker = talk_open(WIRE_ROLE_CONTROLLER);
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle, &provider);
	struct wire_enable enable;

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	assert_int_equal(talk_register(second, 0, &provider), 0);
	wanted.timeout_ms = WAIT_MS;
	ask_enable(asker, &wanted);
	talk_take_enable(talk, &enable, NULL);
	assert_int_not_equal(talk->message.head.request, 0);
	talk_take_enable(second, &enable, NULL);
	talk_enable_done(talk);
	assert_true(talk_is_silent(asker));
	/* The loop serves others meanwhile; a process that ends is not waited for. */
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, NULL), 0);
	talk_close(second);
	talk_expect(asker, WIRE_REPLY);
	assert_int_equal(asker->message.head.status, 0);
	assert_int_equal(asker->message.head.request, 77);
	/* Nobody answers. */
	wanted.timeout_ms = 50;
	ask_enable(asker, &wanted);
	talk_expect(asker, WIRE_REPLY);
	assert_int_equal(asker->message.head.status, -ETIMEDOUT);
	/* An answer that comes too late, or was never asked for, is nothing. */
	talk_take_enable(talk, &enable, NULL);
	talk_enable_done(talk);
	talk_enable_done(talk);
	assert_int_equal(talk_register(talk, 1, &provider), 0);
	talk_close(talk);
	talk_close(asker);
	etw_controller_close(opened);
}

static void test_enable__stop_takes_everything_back(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	struct talk *asker = talk_open(WIRE_ROLE_CONTROLLER);
	const struct wire_message head = {.type = WIRE_CONTROL, .request = 8};
	static struct wire_control control;
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle, &provider);
	struct wire_ring_set_ref ref;
	struct wire_enable enable;
	uint32_t ring_set;

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	talk_take_enable(talk, &enable, NULL);
	ring_set = slot_of(&enable, handle)->ring_set;
	memset(&control, 0, sizeof(control));
	control.code = WIRE_CONTROL_STOP;
	control.handle = handle;
	assert_int_equal(
		talk_send(asker, wire_message_encode_control(&head, &control, asker->room)), 0);
	/* First it stops writing, then the session ends, then the callback and the rings. */
	talk_take_enable(talk, &enable, NULL);
	assert_null(slot_of(&enable, handle));
	assert_false(enable.has_callback);
	talk_enable_done(talk);
	talk_expect(asker, WIRE_SESSION);
	assert_int_equal(asker->message.head.status, 0);
	talk_expect(talk, WIRE_RING_RETIRE);
	assert_int_equal(wire_message_decode_ring_set_ref(talk->message.datagram, &ref), 0);
	assert_int_equal(ref.ring_set, ring_set);
	talk_take_enable(talk, &enable, NULL);
	assert_true(enable.has_callback);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	talk_close(talk);
	talk_close(asker);
	etw_controller_close(opened);
}

static void test_enable__unregistered_hears_no_more(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "one");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	const struct wire_message head = {.type = WIRE_UNREGISTER, .request = 3};
	const struct wire_unregister body = {0};
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle, &provider);

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	assert_int_equal(talk_register(talk, 0, &provider), -EEXIST);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			talk_send(talk, wire_message_encode_unregister(&head, &body, talk->room)),
			0);
		talk_expect(talk, WIRE_REPLY);
		assert_int_equal(talk->message.head.status, i == 0 ? 0 : -ENOENT);
	}
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	assert_true(talk_is_silent(talk));
	talk_close(talk);
	etw_controller_close(opened);
}

/* A client that does not use the API, or one of another version, is refused by the host itself. */
static void test_enable__what_is_not_built_is_refused(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "refusing");
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	GUID provider = guid_of(1);
	struct wire_enable_provider wanted = enable_of(handle, &provider);
	uint8_t name[8] = {1};

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	wanted.property = UINT32_C(0x80000000) | EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0;
	assert_int_equal(etw_control_enable(opened, &wanted), -EOPNOTSUPP);
	wanted.property = 0;
	add_filter(&wanted, EVENT_FILTER_TYPE_CONTAINER, name, sizeof(name));
	assert_int_equal(etw_control_enable(opened, &wanted), -EOPNOTSUPP);
	assert_true(talk_is_silent(talk));
	talk_close(talk);
	etw_controller_close(opened);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_enable__##name, home_make, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(before_registering),
		TEST(after_registering),
		TEST(capture_state_changes_nothing),
		TEST(errors),
		TEST(ninth_session_is_refused),
		TEST(waits_for_callbacks),
		TEST(stop_takes_everything_back),
		TEST(unregistered_hears_no_more),
		TEST(what_is_not_built_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
