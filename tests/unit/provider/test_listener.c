/* SPDX-License-Identifier: MIT */
/* Hosts that come, die, come back, leave, or stand still. */
#include "provider_test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <evntrace.h>

/* Longer than the five seconds after which providers once gave a host up. */
#define AWAY_US 6000000

static struct taken taken;

struct told {
	uint32_t calls; /* atomic */
	uint32_t code;
	uint64_t blocked_signals;
};

static void on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG match_any,
		      ULONGLONG match_all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct told *told = context;
	sigset_t blocked;

	(void)source;
	(void)level;
	(void)match_any;
	(void)match_all;
	(void)filter;
	told->code = code;
	(void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	told->blocked_signals = (uint64_t)sigismember(&blocked, SIGUSR1) +
				(uint64_t)sigismember(&blocked, SIGTERM) +
				(uint64_t)sigismember(&blocked, SIGPROF);
	(void)add_acq_rel(&told->calls, 1u);
}

/* Until *@counter is @target; fails after FAKE_WAIT_MS. */
static void wait_until(const uint32_t *counter, uint32_t target)
{
	for (int i = 0; i < FAKE_WAIT_MS && load_acquire(counter) != target; i++)
		(void)usleep(1000);
	assert_int_equal(load_acquire(counter), target);
}

static void enable(struct fake_session *session)
{
	assert_int_equal(
		fake_host_enable(&host, &test_provider, session, (struct fake_wish){.level = 5}),
		0);
}

static int init_only(void **state)
{
	(void)state;
	return fake_host_init(&host);
}

static int done_only(void **state)
{
	(void)state;
	fake_host_done(&host);
	return 0;
}

static void test_listener__a_host_that_comes_later_finds_the_provider(void **state)
{
	struct fake_session session;
	struct told told = {0};
	REGHANDLE handle;

	(void)state;
	open_session(&session, 1, 4, WIRE_RING_ONE_STREAM);
	register_into(on_enable, &told, &handle);
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	assert_int_equal(fake_host_start(&host), 0);
	assert_int_equal(fake_host_wait_registered(&host, 1), 0);
	enable(&session);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.blocked_signals, 3);
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
	fake_host_leave(&host);
}

static void test_listener__a_new_host_finds_everything_as_it_was(void **state)
{
	struct fake_session session;
	struct told told = {0};
	REGHANDLE handle;
	uint32_t registered;

	(void)state;
	open_session(&session, 1, 4, WIRE_RING_ONE_STREAM);
	assert_int_equal(fake_host_start(&host), 0);
	register_into(on_enable, &told, &handle);
	enable(&session);
	registered = fake_host_registered(&host);
	fake_host_die(&host);
	/* Without a host events go on into the rings, which the next one reads. */
	assert_int_equal(write_number(handle, 1, 0, 1), 0);
	(void)usleep(50000);
	assert_int_equal(write_number(handle, 1, 0, 2), 0);
	assert_int_equal(fake_host_start(&host), 0);
	assert_int_equal(fake_host_wait_registered(&host, registered + 1), 0);
	assert_int_equal(write_number(handle, 1, 0, 3), 0);
	enable(&session); /* an answer behind the first state, so that all is done */
	assert_int_equal(write_number(handle, 1, 0, 4), 0);
	assert_int_equal(take_all(&session, &taken), 4);
	assert_int_equal(etw_load64(taken.last.data + 0x50), 4);
	assert_int_equal(told.calls,
			 2); /* the controller's two; the host's repetition is no news */
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
	fake_host_leave(&host);
}

static void test_listener__a_new_host_that_knows_nothing_disables(void **state)
{
	struct fake_session session;
	struct told told = {0};
	REGHANDLE handle;

	(void)state;
	open_session(&session, 1, 4, WIRE_RING_ONE_STREAM);
	assert_int_equal(fake_host_start(&host), 0);
	register_into(on_enable, &told, &handle);
	enable(&session);
	fake_host_die(&host);
	memset(host.enables, 0, sizeof(host.enables));
	assert_int_equal(fake_host_start(&host), 0);
	wait_until(&told.calls, 2);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(etw_provider_gate(handle), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	fake_host_leave(&host);
	fake_session_close(&session);
}

/* The listener has called: its call lies in the queue of the socket that the keeper holds. */
static void wait_for_call(void)
{
	struct pollfd wait = {.fd = host.listener, .events = POLLIN};

	assert_int_equal(poll(&wait, 1, FAKE_WAIT_MS), 1);
}

/* As long as somebody may bring the host back, it is waited for without a limit. */
static void test_listener__rings_are_kept_as_long_as_the_keeper_lives(void **state)
{
	struct fake_session session;
	struct told told = {0};
	REGHANDLE handle;

	(void)state;
	open_session(&session, 1, 4, WIRE_RING_ONE_STREAM);
	assert_int_equal(fake_host_start(&host), 0);
	register_into(on_enable, &told, &handle);
	enable(&session);
	fake_host_die(&host);
	wait_for_call();
	(void)usleep(AWAY_US);
	assert_int_equal(etw_provider_gate(handle), 1);
	assert_int_equal(write_number(handle, 1, 0, 1), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	/* Now the call breaks, and nobody answers another one. */
	fake_host_lose_keeper(&host);
	memset(host.enables, 0, sizeof(host.enables));
	wait_until(&told.calls, 2);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(etw_provider_gate(handle), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	fake_session_close(&session);
}

static void test_listener__a_host_that_leaves_takes_its_sessions_along(void **state)
{
	struct fake_session session;
	struct told told = {0};
	REGHANDLE handle;

	(void)state;
	open_session(&session, 1, 4, WIRE_RING_ONE_STREAM);
	assert_int_equal(fake_host_start(&host), 0);
	register_into(on_enable, &told, &handle);
	enable(&session);
	fake_host_leave(&host);
	memset(host.enables, 0, sizeof(host.enables));
	wait_until(&told.calls, 2);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(etw_provider_gate(handle), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	fake_session_close(&session);
}

static void test_listener__a_host_that_stands_still_holds_nobody_for_long(void **state)
{
	REGHANDLE handles[20];
	uint64_t start_ms;
	int slow = 0;

	(void)state;
	assert_int_equal(fake_host_start(&host), 0);
	handles[0] = register_provider(NULL, NULL);
	(void)pthread_mutex_lock(&host.lock);
	host.is_mute = true;
	(void)pthread_mutex_unlock(&host.lock);
	for (int i = 1; i < 20; i++) {
		start_ms = etw_monotonic_ms();
		assert_int_equal(etw_provider_register(&test_provider, NULL, NULL, &handles[i]), 0);
		slow += etw_monotonic_ms() - start_ms >= REGISTER_WAIT_MS;
	}
	/* Not a test of speed: only the first of them waits, and some may be held up by the machine. */
	assert_true(slow < 19);
	for (int i = 0; i < 20; i++)
		assert_int_equal(etw_provider_unregister(handles[i]), 0);
	fake_host_leave(&host);
	host.is_mute = false;
}

static void test_listener__a_peer_that_talks_nonsense_is_left(void **state)
{
	static const uint8_t nonsense[] = {99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	REGHANDLE handle;
	uint32_t registered;

	(void)state;
	assert_int_equal(fake_host_start(&host), 0);
	handle = register_provider(NULL, NULL);
	(void)pthread_mutex_lock(&host.lock);
	registered = host.registered;
	for (unsigned i = 0; i < FAKE_PEERS; i++) {
		if (host.peers[i].fd >= 0)
			(void)!write(host.peers[i].fd, nonsense, sizeof(nonsense));
	}
	(void)pthread_mutex_unlock(&host.lock);
	/* It comes back and registers again. */
	assert_int_equal(fake_host_wait_registered(&host, registered + 1), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	fake_host_leave(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listener__a_host_that_comes_later_finds_the_provider),
		cmocka_unit_test(test_listener__a_new_host_finds_everything_as_it_was),
		cmocka_unit_test(test_listener__a_new_host_that_knows_nothing_disables),
		cmocka_unit_test(test_listener__rings_are_kept_as_long_as_the_keeper_lives),
		cmocka_unit_test(test_listener__a_host_that_leaves_takes_its_sessions_along),
		cmocka_unit_test(test_listener__a_host_that_stands_still_holds_nobody_for_long),
		cmocka_unit_test(test_listener__a_peer_that_talks_nonsense_is_left),
	};

	return cmocka_run_group_tests(tests, init_only, done_only);
}
