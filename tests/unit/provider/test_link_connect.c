/* SPDX-License-Identifier: MIT */
/* How a link finds its host, and loses it. The test's only thread does what the listener does. */
#include "provider_test.h"

#include <poll.h>
#include <stdio.h>

#include "provider/link_connect.h"
#include "provider/lock.h"

static struct etw_link the_link;
static struct etw_ipc_message message;

static void open_link(const char *directory)
{
	struct etw_runtime_places places = {.second = ""};

	(void)snprintf(places.first, sizeof(places.first), "%s", directory);
	etw_ipc_message_init(&message);
	etw_provider_lock();
	assert_int_equal(etw_fork_prepare(), 0);
	assert_int_equal(etw_provider_wait_init(), 0);
	etw_link_init(&the_link, 0, &places);
	etw_provider_unlock();
}

static void close_link(void)
{
	etw_provider_lock();
	etw_link_abandon(&the_link);
	etw_provider_unlock();
	etw_runtime_page_unmap(the_link.page);
	etw_ipc_message_done(&message);
}

/* Receives until the link is in this state. */
static void receive_until(enum etw_link_state state)
{
	const uint64_t end_ms = etw_monotonic_ms() + FAKE_WAIT_MS;
	struct pollfd polled = {.fd = the_link.socket.number, .events = POLLIN};

	while (the_link.state != state && etw_monotonic_ms() < end_ms) {
		if (poll(&polled, 1, 100) > 0)
			etw_link_receive(&the_link, &message);
	}
	assert_int_equal(the_link.state, state);
}

static void test_link_connect__without_a_place_it_looks_later(void **state)
{
	const uint64_t now_ns = etw_monotonic_ns();

	(void)state;
	open_link("/nonexistent/etw");
	etw_link_advance(&the_link, now_ns);
	assert_int_equal(the_link.state, ETW_LINK_ABSENT);
	assert_null(the_link.page);
	assert_true(the_link.retry_ns > now_ns);
	assert_false(etw_link_has_new_host(&the_link));
	close_link();
}

static void test_link_connect__meets_the_host_that_is_there(void **state)
{
	(void)state;
	open_link(host.directory);
	etw_link_advance(&the_link, etw_monotonic_ns());
	assert_int_equal(the_link.state, ETW_LINK_CONNECTING); /* has called, and waits */
	assert_non_null(the_link.page);
	receive_until(ETW_LINK_CONNECTED);
	assert_non_null(the_link.clock);
	etw_link_advance(&the_link, etw_monotonic_ns()); /* nothing to do */
	assert_int_equal(the_link.state, ETW_LINK_CONNECTED);
	close_link();
}

static void test_link_connect__who_has_gone_is_called_less_and_less_often(void **state)
{
	uint64_t now_ns;

	(void)state;
	open_link(host.directory);
	etw_link_advance(&the_link, etw_monotonic_ns());
	receive_until(ETW_LINK_CONNECTED);
	fake_host_die(&host);
	receive_until(ETW_LINK_ABSENT);
	fake_host_lose_keeper(&host);
	now_ns = etw_monotonic_ns();
	etw_link_advance(&the_link, now_ns);
	assert_int_equal(the_link.state, ETW_LINK_ABSENT);
	assert_int_equal(the_link.tried_epoch, the_link.seen_epoch);
	assert_int_equal(the_link.retry_ns - now_ns, 10 * ETW_NS_PER_MS);
	/* Not before it is time again. */
	etw_link_advance(&the_link, now_ns + 1);
	assert_int_equal(the_link.backoff_ms, 10);
	etw_link_advance(&the_link, the_link.retry_ns);
	assert_int_equal(the_link.backoff_ms, 20);
	for (unsigned i = 0; i < 20; i++)
		etw_link_advance(&the_link, the_link.retry_ns);
	assert_int_equal(the_link.backoff_ms, 2000);
	close_link();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_connect__without_a_place_it_looks_later),
		cmocka_unit_test_setup_teardown(test_link_connect__meets_the_host_that_is_there,
						start_host, end_host),
		cmocka_unit_test_setup_teardown(
			test_link_connect__who_has_gone_is_called_less_and_less_often, start_host,
			end_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
