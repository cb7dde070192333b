/* SPDX-License-Identifier: MIT */
#include "daemon/session_calls.h"

#include "unit/daemon/fixture.h"

static const struct etw_session_host *environment(void)
{
	return &fixture_host->calls.environment;
}

static void test_session_calls__reach_the_parts(void **state)
{
	const struct etw_session_host *host = environment();
	const struct etwd_grant grant = {3, STRANGER, fixture_guid(1)};
	const GUID other = fixture_guid(2);
	int64_t raw;

	(void)state;
	assert_non_null(host->kernel);
	assert_ptr_equal(host->clock, &fixture_host->clock.page.clock);
	/* Without a keeper. */
	assert_int_equal(host->keep_fd(host->context, "session-3/file", STDERR_FILENO), -EPIPE);
	assert_int_equal(host->kept_fd(host->context, "session-3/file"), -ENOENT);
	host->forget_fd(host->context, "session-3/");
	assert_false(host->may_write(host->context, 3, STRANGER, &grant.provider));
	assert_int_equal(etwd_grants_add(&fixture_host->grants, &grant), 1);
	assert_true(host->may_write(host->context, 3, STRANGER, &grant.provider));
	assert_false(host->may_write(host->context, 4, STRANGER, &grant.provider));
	assert_false(host->may_write(host->context, 3, STRANGER, &other));
	/* Nobody wants the kernel's times, so none were sampled. */
	assert_true(host->to_raw(host->context, etw_monotonic_ns(), &raw) < 0);
	host->tell(host->context, 3, "a complaint");
}

static bool is_inbox_empty(void *context)
{
	(void)context;
	return !fixture_host->inbox.first;
}

/* What a session said just before its end meets nobody. */
static void test_session_calls__a_set_of_no_session_is_nothing(void **state)
{
	const struct etw_session_host *host = environment();

	(void)state;
	host->ring_set_replaced(host->context, 9, STRANGER, 77);
	host->file_is_full(host->context, 9);
	assert_non_null(fixture_host->inbox.first);
	fixture_run_until(is_inbox_empty, NULL);
}

static bool has_no_session(void *context)
{
	return !etwd_sessions_find(&fixture_host->sessions, *(uint32_t *)context);
}

/* It is said for each buffer until the session has ended. */
static void test_session_calls__a_full_file_ends_its_session(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	const struct etw_session_host *host = environment();
	uint32_t session = (uint32_t)fake_peer_start(controller, "one");

	(void)state;
	host->file_is_full(host->context, session);
	host->file_is_full(host->context, session);
	fixture_run_until(has_no_session, &session);
	fake_peer_free(controller);
}

/* The processes are told the new set, then to give the old one back. */
static void test_session_calls__a_replaced_set_is_taken_back(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	const struct etw_session_host *host = environment();
	uint64_t handle = fake_peer_start(controller, "one");
	struct wire_enable enable;
	struct wire_ring_set_ref ref;
	uint32_t ring_set;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_enable(controller, handle, fixture_guid(1)), 0);
	assert_int_equal(fake_peer_register(provider, 1, fixture_guid(1)), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	ring_set = enable.slots[0].ring_set;
	host->ring_set_replaced(host->context, (uint32_t)handle, STRANGER, ring_set);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.has_callback, 0);
	fake_peer_expect(provider, WIRE_RING_RETIRE);
	assert_int_equal(wire_message_decode_ring_set_ref(provider->message.datagram, &ref), 0);
	assert_int_equal(ref.ring_set, ring_set);
	fake_peer_free(controller);
	fake_peer_free(provider);
}

#define TEST(name)                                                                  \
	cmocka_unit_test_setup_teardown(test_session_calls__##name, fixture_set_up, \
					fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reach_the_parts),
		TEST(a_set_of_no_session_is_nothing),
		TEST(a_full_file_ends_its_session),
		TEST(a_replaced_set_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
