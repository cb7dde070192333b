/* SPDX-License-Identifier: MIT */
#include "daemon/session_end.h"

#include "unit/daemon/fixture.h"

static void send_control(struct fake_peer *fake, uint64_t handle, uint32_t code)
{
	static struct wire_control control;
	struct wire_message head = fake_peer_head(fake, WIRE_CONTROL);

	control.handle = handle;
	control.code = code;
	fake_peer_send(fake, wire_message_encode_control(&head, &control, fake->room));
}

/* Flushes wait for their turn, and each is answered; then the end, which all of them come before. */
static void test_session_end__flushes_then_the_end(void **state)
{
	enum {
		FLUSHES = 10
	};
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");
	uint32_t first = controller->last_request + 1;

	(void)state;
	for (int i = 0; i < FLUSHES; i++)
		send_control(controller, handle, WIRE_CONTROL_FLUSH);
	send_control(controller, handle, WIRE_CONTROL_STOP);
	for (uint32_t i = 0; i <= FLUSHES; i++) {
		fake_peer_expect(controller, WIRE_SESSION);
		assert_int_equal(controller->message.head.status, 0);
		assert_int_equal(controller->message.head.request, first + i);
	}
	assert_null(etwd_sessions_find(&fixture_host->sessions, handle));
	assert_int_equal(fake_peer_control(controller, handle, WIRE_CONTROL_STOP), -ENOENT);
	fake_peer_free(controller);
}

static void test_session_end__too_many_flushes(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, handle);

	(void)state;
	session->work.waiting_count = ETWD_SESSION_WAITS_MAX;
	assert_int_equal(etwd_session_ask(&fixture_host->session_parts, session, controller->peer,
					  1, ETWD_JOB_FLUSH, fixture_config("one")),
			 -EBUSY);
	session->work.waiting_count = 0;
	fake_peer_free(controller);
}

/* A session that ends can be asked about and not be used. */
static void test_session_end__a_session_that_ends(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, handle);
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(etwd_session_stop(&fixture_host->session_parts, session, NULL, 0), 0);
	/* The provider is asked, and has not answered. */
	assert_int_equal(session->state, ETWD_SESSION_STOPPING);
	assert_int_equal(etwd_session_stop(&fixture_host->session_parts, session, NULL, 0), -EBUSY);
	assert_int_equal(fixture_host->providers.enable_count, 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.has_callback, 0);
	fake_peer_leave(provider);
	fixture_run_until(fixture_is_without_sessions, NULL);
	assert_int_equal(fixture_host->budget.used[ETWD_SESSIONS], 0);
	fake_peer_free(controller);
}

static void test_session_end__a_controller_that_left(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");

	(void)state;
	send_control(controller, handle, WIRE_CONTROL_STOP);
	fake_peer_free(controller);
	fixture_run_until(fixture_is_without_sessions, NULL);
}

static void test_session_end__what_is_not_kept_ends(void **state)
{
	const struct etwd_session_parts *parts = &fixture_host->session_parts;
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, handle);
	char name[64];

	(void)state;
	etwd_session_not_kept(parts, "clock");
	etwd_session_not_kept(parts, "session-9999/state");
	snprintf(name, sizeof(name), "session-%u/delivery-0", (unsigned)handle);
	etwd_session_not_kept(parts, name);
	snprintf(name, sizeof(name), "session-%u/ring-77", (unsigned)handle);
	etwd_session_not_kept(parts, name);
	assert_int_equal(session->state, ETWD_SESSION_RUNNING);
	snprintf(name, sizeof(name), "session-%u/state", (unsigned)handle);
	/* One that starts yet ends when it has. */
	session->state = ETWD_SESSION_STARTING;
	etwd_session_not_kept(parts, name);
	assert_int_equal(session->state, ETWD_SESSION_STARTING);
	session->state = ETWD_SESSION_RUNNING;
	etwd_session_end_unkept(parts, session);
	fixture_run_until(fixture_is_without_sessions, NULL);
	fake_peer_free(controller);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_session_end__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(flushes_then_the_end),  TEST(too_many_flushes),
		TEST(a_session_that_ends),   TEST(a_controller_that_left),
		TEST(what_is_not_kept_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
