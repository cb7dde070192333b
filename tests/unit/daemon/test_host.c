/* SPDX-License-Identifier: MIT */
#include "daemon/host.h"

#include <signal.h>
#include <sys/epoll.h>

#include "unit/daemon/fixture.h"

static int step_until_it_leaves(void)
{
	uint64_t end_ms = etw_monotonic_ms() + FIXTURE_WAIT_MS;
	int r;

	do
		r = etwd_host_step(fixture_host, FIXTURE_STEP_MS);
	while (r == 0 && etw_monotonic_ms() < end_ms);
	return r;
}

/* Through the real listener. */
static void test_host__takes_connections(void **state)
{
	struct wire_message head = {.type = WIRE_HELLO, .request = 1};
	struct wire_hello hello = {WIRE_PROTOCOL_VERSION, WIRE_ROLE_CONTROLLER};
	struct fake_peer *fake = calloc(1, sizeof(*fake));

	(void)state;
	assert_non_null(fake);
	etw_ipc_message_init(&fake->message);
	assert_int_equal(
		etw_runtime_call(fixture_options.directory, WIRE_ROLE_CONTROLLER, &fake->fd), 0);
	fake_peer_expect(fake, WIRE_WELCOME);
	assert_int_equal(fake->message.head.status, 0);
	assert_int_equal(fixture_host->peers.count, 1);
	/* A second HELLO is none. */
	fake_peer_send(fake, wire_message_encode_hello(&head, &hello, fake->room));
	fake_peer_expect_end(fake);
	fake_peer_free(fake);
}

static void test_host__leaves_when_nobody_needs_it(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);

	(void)state;
	fixture_options.idle_ms = 0;
	for (int i = 0; i < 5; i++)
		fixture_step();
	fake_peer_free(controller);
	/* Who may control nothing does not keep it. */
	assert_int_equal(step_until_it_leaves(), 1);
	fake_peer_free(stranger);
	fixture_options.idle_ms = 60000;
}

static void test_host__is_told_to_leave(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct wire_message head;

	(void)state;
	(void)fake_peer_start(controller, "one");
	assert_int_equal(kill(getpid(), SIGTERM), 0); /* blocked: it comes by signalfd */
	assert_int_equal(step_until_it_leaves(), 1);
	assert_true(fixture_is_without_sessions(NULL));
	/* No new ones begin. */
	fixture_host->leave_by_ms = UINT64_MAX;
	head = fake_peer_head(controller, WIRE_START);
	fake_peer_send(controller, wire_message_encode_session_config(&head, fixture_config("two"),
								      controller->room));
	etwd_peer_ready(etwd_peer_find(&fixture_host->peers, controller->peer->serial), EPOLLIN);
	assert_int_equal(etw_ipc_receive(controller->fd, &controller->message), 0);
	assert_int_equal(controller->message.head.status, -EBUSY);
	fixture_host->sessions.is_closed = false;
	fake_peer_free(controller);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_host__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_connections),
		TEST(leaves_when_nobody_needs_it),
		TEST(is_told_to_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
