/* SPDX-License-Identifier: MIT */
#include "daemon/session_requests.h"

#include "unit/daemon/fixture.h"

static int start(struct fake_peer *fake, const struct wire_session_config *config)
{
	struct wire_message head = fake_peer_head(fake, WIRE_START);

	fake_peer_send(fake, wire_message_encode_session_config(&head, config, fake->room));
	fake_peer_expect(fake, WIRE_SESSION);
	return fake->message.head.status;
}

static void test_session_requests__who_and_what_may_start(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	struct wire_session_config *config = fixture_config("one");

	(void)state;
	assert_int_equal(start(stranger, config), -EACCES);
	snprintf(config->log_file, sizeof(config->log_file), "relative.etl");
	assert_int_equal(start(controller, config), -EINVAL);
	assert_int_equal(start(controller, fixture_config("one")), 0);
	assert_int_equal(start(controller, fixture_config("ONE")), -EEXIST);
	fake_peer_free(controller);
	fake_peer_free(stranger);
}

static void test_session_requests__control(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");

	(void)state;
	assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_QUERY), 0);
	assert_int_equal(fake_peer_control(controller, handle + 1, WIRE_CONTROL_QUERY), -ENOENT);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_QUERY), -ENOENT);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_STOP), -ENOENT);
	fake_peer_free(controller);
	fake_peer_free(stranger);
}

static unsigned count_listed(struct fake_peer *fake)
{
	struct wire_message head = fake_peer_head(fake, WIRE_LIST);
	struct wire_sessions sessions;

	fake_peer_send(fake, wire_message_encode_plain(&head, fake->room));
	fake_peer_expect(fake, WIRE_SESSIONS);
	assert_int_equal(wire_message_decode_sessions(fake->message.datagram, &sessions), 0);
	return sessions.count;
}

static void test_session_requests__a_list_has_what_the_peer_may_control(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);

	(void)state;
	assert_int_equal(count_listed(controller), 0);
	(void)fake_peer_start(controller, "one");
	(void)fake_peer_start(controller, "two");
	assert_int_equal(count_listed(controller), 2);
	assert_int_equal(count_listed(stranger), 0);
	fake_peer_free(controller);
	fake_peer_free(stranger);
}

static int lease(struct fake_peer *fake, uint64_t handle)
{
	struct wire_message head = fake_peer_head(fake, WIRE_LEASE);
	struct wire_lease body = {.handle = handle};

	fake_peer_send(fake, wire_message_encode_lease(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_REPLY);
	return fake->message.head.status;
}

/* A session ends with the controller that has its lease. */
static void test_session_requests__a_lease(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *other = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");

	(void)state;
	assert_int_equal(lease(controller, handle), 0);
	assert_int_equal(lease(controller, handle), 0);
	assert_int_equal(lease(other, handle), -EBUSY);
	assert_int_equal(lease(other, handle + 1), -ENOENT);
	fake_peer_leave(controller);
	fixture_run_until(fixture_is_without_sessions, NULL);
	fake_peer_free(other);
}

/* A lease would end what nobody may end. */
static void test_session_requests__no_lease_of_a_nonstoppable_session(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, handle);

	(void)state;
	session->is_nonstoppable = true;
	assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_STOP), -EACCES);
	assert_int_equal(lease(controller, handle), -EACCES);
	session->is_nonstoppable = false;
	fake_peer_free(controller);
}

#define TEST(name)                                                                     \
	cmocka_unit_test_setup_teardown(test_session_requests__##name, fixture_set_up, \
					fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_and_what_may_start),
		TEST(control),
		TEST(a_list_has_what_the_peer_may_control),
		TEST(a_lease),
		TEST(no_lease_of_a_nonstoppable_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
