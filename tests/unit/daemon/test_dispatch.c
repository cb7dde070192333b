/* SPDX-License-Identifier: MIT */
#include "daemon/dispatch.h"

#include "unit/daemon/fixture.h"

static void send_plain(struct fake_peer *fake, uint32_t type)
{
	struct wire_message head = fake_peer_head(fake, type);

	fake_peer_send(fake, wire_message_encode_plain(&head, fake->room));
}

static void test_dispatch__nothing_comes_before_hello(void **state)
{
	static const uint32_t types[] = {WIRE_LIST, WIRE_REPLY, WIRE_ENABLE_DONE};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct fake_peer *fake = fake_peer_make(STRANGER);

		send_plain(fake, types[i]);
		fake_peer_expect_end(fake);
		fake_peer_free(fake);
	}
}

static void test_dispatch__welcome_says_who_the_peer_is(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct wire_welcome welcome;

	(void)state;
	assert_int_equal(wire_message_decode_welcome(fake->message.datagram, &welcome), 0);
	assert_int_equal(welcome.uid, STRANGER);
	assert_int_equal(welcome.pid, getpid());
	assert_int_equal(welcome.is_system, 1);
	assert_int_equal(welcome.incarnation, fixture_host->handover.incarnation);
	assert_int_equal(fake->peer->role, WIRE_ROLE_PROVIDER);
	fake_peer_free(fake);
}

static void test_dispatch__hello_comes_once(void **state)
{
	struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct wire_message head = fake_peer_head(fake, WIRE_HELLO);
	struct wire_hello hello = {WIRE_PROTOCOL_VERSION, WIRE_ROLE_CONTROLLER};

	(void)state;
	fake_peer_send(fake, wire_message_encode_hello(&head, &hello, fake->room));
	fake_peer_expect_end(fake);
	fake_peer_free(fake);
}

static void test_dispatch__another_protocol_is_told_so(void **state)
{
	struct fake_peer *fake = fake_peer_make(STRANGER);
	struct wire_message head = fake_peer_head(fake, WIRE_HELLO);
	struct wire_hello hello = {WIRE_PROTOCOL_VERSION + 1, WIRE_ROLE_CONTROLLER};

	(void)state;
	fake_peer_send(fake, wire_message_encode_hello(&head, &hello, fake->room));
	fake_peer_expect(fake, WIRE_WELCOME);
	assert_int_equal(fake->message.head.status, -EPROTO);
	fake_peer_expect_end(fake);
	fake_peer_free(fake);
}

/* Every type in every role: only those of the role may come, and none that the host sends. */
static void test_dispatch__a_role_has_its_messages(void **state)
{
	static const struct {
		uint32_t type, role;
	} known[] = {
		{WIRE_ENABLE_DONE, WIRE_ROLE_PROVIDER},
		{WIRE_LIST, WIRE_ROLE_CONTROLLER},
		{WIRE_REPLY, 0},
		{WIRE_SESSIONS, 0},
		{WIRE_BATCH, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		for (uint32_t role = WIRE_ROLE_PROVIDER; role <= WIRE_ROLE_CONSUMER; role++) {
			struct fake_peer *fake = fake_peer_join(STRANGER, role);

			send_plain(fake, known[i].type);
			if (known[i].role != role) {
				fake_peer_expect_end(fake);
			} else {
				fixture_step();
				assert_false(fake->peer->is_doomed);
			}
			fake_peer_free(fake);
		}
	}
}

/* A body that is cut, or has too much. */
static void test_dispatch__unsound_bodies_end_the_connection(void **state)
{
	(void)state;
	for (int more = -1; more <= 1; more += 2) {
		struct fake_peer *fake = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
		struct wire_message head = fake_peer_head(fake, WIRE_UNREGISTER);
		struct wire_unregister body = {1};
		size_t bytes = wire_message_encode_unregister(&head, &body, fake->room);

		fake_peer_send(fake, more < 0 ? bytes - 1 : bytes + 1);
		fake_peer_expect_end(fake);
		fake_peer_free(fake);
	}
}

/* All that a peer held is gone with it. */
static void test_dispatch__the_end_of_a_peer(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct wire_message head = fake_peer_head(controller, WIRE_LEASE);
	struct wire_lease lease = {handle};

	(void)state;
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	fake_peer_leave(provider);
	assert_int_equal(fixture_host->providers.registration_count, 0);
	fake_peer_send(controller, wire_message_encode_lease(&head, &lease, controller->room));
	fake_peer_expect(controller, WIRE_REPLY);
	assert_int_equal(controller->message.head.status, 0);
	fake_peer_leave(controller);
	fixture_run_until(fixture_is_without_sessions, NULL);
	assert_int_equal(fixture_host->providers.enable_count, 0);
	assert_int_equal(fixture_host->grants.count, 0);
	assert_int_equal(fixture_host->budget.account_count, 0);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_dispatch__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_comes_before_hello), TEST(welcome_says_who_the_peer_is),
		TEST(hello_comes_once),           TEST(another_protocol_is_told_so),
		TEST(a_role_has_its_messages),    TEST(unsound_bodies_end_the_connection),
		TEST(the_end_of_a_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
