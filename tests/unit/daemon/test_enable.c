/* SPDX-License-Identifier: MIT */
#include "daemon/enable.h"

#include <sys/resource.h>

#include "unit/daemon/fixture.h"

static struct fake_peer *controller, *provider;
static uint64_t handle;

static int set_up(void **state)
{
	if (fixture_set_up(state))
		return -1;
	controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	handle = fake_peer_start(controller, "one");
	return 0;
}

static int tear_down(void **state)
{
	fake_peer_free(controller);
	fake_peer_free(provider);
	return fixture_tear_down(state);
}

static void test_enable__register_then_enable(void **state)
{
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 3, fixture_guid(1)), 0);
	assert_true(fake_peer_is_silent(provider));
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_equal(enable.registration, 3);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(enable.level, 5);
	assert_int_equal(enable.slots[0].is_used, 1);
	assert_int_equal(enable.slots[0].session_id, handle);
	assert_int_not_equal(enable.slots[0].ring_set, 0);
	assert_int_equal(provider->message.head.request, 0); /* nobody waits */
}

static void test_enable__enable_then_register(void **state)
{
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(sets, 1);
	/* The second one writes to the same rings. */
	assert_int_equal(fake_peer_register(provider, 2, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(sets, 0);
	assert_int_equal(enable.registration, 2);
}

/* Who may not write has no grant: the session would refuse the events. */
static void test_enable__grants(void **state)
{
	struct etwd_grant grant = {(uint32_t)handle, STRANGER, fixture_guid(1)};
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	assert_false(etwd_grants_has(&fixture_host->grants, &grant));
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_true(etwd_grants_has(&fixture_host->grants, &grant));
	grant.uid++;
	assert_false(etwd_grants_has(&fixture_host->grants, &grant));
	assert_int_equal(etwd_budget_used(&fixture_host->budget, STRANGER, ETWD_GRANTS), 1);
}

/* Over its budget of grants a uid is enabled nowhere, and others are. */
static void test_enable__without_a_grant_there_are_no_rings(void **state)
{
	struct fake_peer *other = fake_peer_join(STRANGER + 1, WIRE_ROLE_PROVIDER);
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	fixture_host->budget.limits[ETWD_GRANTS].each = 1;
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(fake_peer_register(provider, i, fixture_guid(i)), 0);
		assert_int_equal(fake_peer_register(other, i, fixture_guid(2)), 0);
		assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(i)), 0);
		fake_peer_take_enable(provider, &enable, &sets);
		/* The other process is told that the session wants what it cannot write. */
		assert_int_equal(enable.slots[0].is_used, 1);
		assert_int_equal(enable.slots[0].ring_set != 0, i == 1);
	}
	for (int i = 0; i < 2; i++) {
		fake_peer_take_enable(other, &enable, &sets);
		assert_int_equal(enable.slots[0].is_used, 1);
	}
	fake_peer_free(other);
}

/* A host without descriptors has not even rings that refuse; it looks again, and nobody has to ask. */
static void test_enable__rings_come_when_there_is_room(void **state)
{
	struct etwd_ring_holders *holders = &fixture_host->ring_holders;
	struct rlimit before, none;
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){STDERR_FILENO + 1, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(sets, 0);
	assert_int_equal(enable.slots[0].is_used, 1);
	assert_int_equal(enable.slots[0].ring_set, 0);
	assert_int_not_equal(holders->again_ms, 0);
	/* Still none: it is not given up. */
	holders->again_ms = 1;
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.slots[0].ring_set, 0);
	assert_int_not_equal(holders->again_ms, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	holders->again_ms = 1;
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_not_equal(enable.slots[0].ring_set, 0);
	assert_false(enable.has_callback);
	assert_int_equal(holders->again_ms, 0);
}

static void test_enable__registrations_are_limited(void **state)
{
	(void)state;
	fixture_host->budget.limits[ETWD_REGISTRATIONS].each = 2;
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), -EEXIST);
	assert_int_equal(fake_peer_register(provider, 2, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(provider, 3, fixture_guid(1)), -ENOSPC);
}

static int unregister(struct fake_peer *fake, uint32_t number)
{
	struct wire_message head = fake_peer_head(fake, WIRE_UNREGISTER);
	struct wire_unregister body = {number};

	fake_peer_send(fake, wire_message_encode_unregister(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_REPLY);
	return fake->message.head.status;
}

static void test_enable__unregister(void **state)
{
	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	assert_int_equal(unregister(provider, 0), -ENOENT);
	assert_int_equal(unregister(provider, 1), 0);
	assert_int_equal(unregister(provider, 1), -ENOENT);
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	fixture_step();
	assert_true(fake_peer_is_silent(provider));
}

static void test_enable__disable(void **state)
{
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	for (int i = 0; i < 2; i++) { /* the second time there is nothing to disable: no error */
		fake_peer_send_enable(controller, handle, fixture_guid(1),
				      EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0);
		fake_peer_expect(controller, WIRE_REPLY);
		assert_int_equal(controller->message.head.status, 0);
	}
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(enable.slots[0].is_used, 0);
}

/* The controller's answer comes behind the provider's. */
static void test_enable__a_controller_that_waits(void **state)
{
	struct wire_message head = {.type = WIRE_ENABLE_DONE};
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	fake_peer_send_enable(controller, handle, fixture_guid(1),
			      EVENT_CONTROL_CODE_ENABLE_PROVIDER, UINT32_MAX);
	fake_peer_take_enable(provider, &enable, &sets);
	head.request = provider->message.head.request;
	assert_int_not_equal(head.request, 0);
	assert_true(fake_peer_is_silent(controller));
	fake_peer_send(provider, wire_message_encode_plain(&head, provider->room));
	fake_peer_expect(controller, WIRE_REPLY);
	assert_int_equal(controller->message.head.status, 0);
	/* One that does not answer in time. */
	fake_peer_send_enable(controller, handle, fixture_guid(1),
			      EVENT_CONTROL_CODE_ENABLE_PROVIDER, 1);
	fake_peer_expect(controller, WIRE_REPLY);
	assert_int_equal(controller->message.head.status, -ETIMEDOUT);
}

static void test_enable__who_may(void **state)
{
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);

	(void)state;
	assert_int_equal(fake_peer_enable(stranger, handle, fixture_guid(1)), -ENOENT);
	assert_int_equal(fake_peer_enable(stranger, handle + 1, fixture_guid(1)), -ENOENT);
	assert_int_equal(fake_peer_enable(controller, handle + 1, fixture_guid(1)), -ENOENT);
	assert_int_equal(fixture_host->providers.enable_count, 0);
	fake_peer_free(stranger);
}

/* @type: WIRE_REGISTER or WIRE_TRAITS; a null group is none */
static void send_traits(struct fake_peer *fake, uint32_t type, GUID guid, GUID group)
{
	struct wire_message head = fake_peer_head(fake, type);
	uint8_t traits[2 + 1 + 3 + sizeof(group)] = {
		sizeof(traits), 0, 0, 3 + sizeof(group), 0, EtwProviderTraitTypeGroup};
	const struct wire_register body = {
		.registration = 1, .provider = guid, .traits = {traits, sizeof(traits)}};

	memcpy(traits + 6, &group, sizeof(group));
	fake_peer_send(fake, wire_message_encode_register(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_REPLY);
	assert_int_equal(fake->message.head.status, 0);
}

/* Gives the rings back that it is asked for. Returns false: the session is over, and no callback was asked for. */
static bool take_callback(struct fake_peer *fake, struct wire_enable *ret)
{
	struct wire_message head = {.type = WIRE_RING_RETIRED};
	struct wire_ring_set_ref ref;

	fixture_run_until(fake_peer_has_message, fake);
	if (fake->message.head.type == WIRE_RING_RETIRE) {
		assert_int_equal(wire_message_decode_ring_set_ref(fake->message.datagram, &ref), 0);
		fake_peer_send(fake, wire_message_encode_ring_set_ref(&head, &ref, fake->room));
		fake_peer_expect(controller, WIRE_SESSION);
		if (fake_peer_is_silent(fake))
			return false;
	}
	assert_int_equal(fake->message.head.type, WIRE_ENABLE);
	assert_int_equal(wire_message_decode_enable(fake->message.datagram, ret), 0);
	return true;
}

/* Between the withdrawal of a session and its callback: nobody finds the registration by its group then. */
static void test_enable__a_member_that_leaves_while_the_session_ends(void **state)
{
	struct wire_message enable_head = fake_peer_head(controller, WIRE_ENABLE_PROVIDER);
	struct wire_message stop_head = fake_peer_head(controller, WIRE_CONTROL);
	struct wire_message done_head = {.type = WIRE_ENABLE_DONE};
	const struct wire_control stop = {.code = WIRE_CONTROL_STOP, .handle = handle};
	const struct wire_enable_provider body = {
		.handle = handle,
		.provider = fixture_guid(9),
		.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
		.level = 5,
		.property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
	};
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	send_traits(provider, WIRE_REGISTER, fixture_guid(1), fixture_guid(9));
	fake_peer_send(controller,
		       wire_message_encode_enable_provider(&enable_head, &body, controller->room));
	fake_peer_expect(controller, WIRE_REPLY);
	assert_int_equal(controller->message.head.status, 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.slots[0].is_used, 1);
	fake_peer_send(controller,
		       wire_message_encode_control(&stop_head, &stop, controller->room));
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.slots[0].is_used, 0);
	assert_int_equal(enable.has_callback, 0);
	done_head.request = provider->message.head.request;
	send_traits(provider, WIRE_TRAITS, fixture_guid(1), (GUID){0});
	fake_peer_send(provider, wire_message_encode_plain(&done_head, provider->room));
	assert_true(take_callback(provider, &enable));
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(enable.has_callback, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_enable__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(register_then_enable),
		TEST(enable_then_register),
		TEST(grants),
		TEST(without_a_grant_there_are_no_rings),
		TEST(rings_come_when_there_is_room),
		TEST(registrations_are_limited),
		TEST(unregister),
		TEST(disable),
		TEST(a_controller_that_waits),
		TEST(who_may),
		TEST(a_member_that_leaves_while_the_session_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
