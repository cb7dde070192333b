/* SPDX-License-Identifier: MIT */
/* The keeper dies, alone or with its host, and its standby goes on in its place. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "integration/daemon/support.h"

#define TURNS         5
#define BUSY_SESSIONS 3000

static bool is_dead(void *context)
{
	return kill(*(pid_t *)context, 0) < 0 && errno == ESRCH;
}

static bool is_keeper(void *context)
{
	return keeper_pid() == *(pid_t *)context;
}

static bool is_another_host(void *context)
{
	pid_t pid = host_pid();

	return pid && pid != *(pid_t *)context;
}

static void query(struct etw_controller *opened, uint64_t handle)
{
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_QUERY, NULL), 0);
}

/* The host does not even notice; the new keeper starts the next one, with what came before and after the change. */
static void test_standby__keeper_dies(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t before = start_session(opened, "before");
	pid_t standby = await_standby(0), host = host_pid();
	uint64_t after;

	(void)state;
	assert_int_equal(kill(keeper_pid(), SIGKILL), 0);
	assert_true(wait_until(is_keeper, &standby));
	after = start_session(opened, "after");
	assert_int_equal(host_pid(), host);
	(void)await_standby(standby);
	host_kill();
	query(opened, before);
	query(opened, after);
	assert_int_equal(control_session(opened, before, WIRE_CONTROL_STOP, NULL), 0);
	host_kill();
	assert_int_equal(control_session(opened, before, WIRE_CONTROL_QUERY, NULL), -ENOENT);
	assert_int_equal(control_session(opened, after, WIRE_CONTROL_STOP, NULL), 0);
	etw_controller_close(opened);
}

/* All that the sessions have is in the two that died and in the standby. */
static void test_standby__keeper_and_host_die(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "goes on");
	pid_t standby = 0;

	(void)state;
	for (int i = 0; i < TURNS; i++) {
		pid_t host = host_pid();

		standby = await_standby(standby);
		assert_int_equal(kill(keeper_pid(), SIGKILL), 0);
		assert_int_equal(kill(host, SIGKILL), 0);
		assert_true(wait_until(is_keeper, &standby));
		assert_true(wait_until(is_another_host, &host));
		query(opened, handle);
	}
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	etw_controller_close(opened);
}

/* A host that is told to leave by a keeper that is not its parent. */
static void test_standby__new_keeper_ends_the_host(void **state)
{
	struct etw_controller *opened = controller();
	pid_t standby = await_standby(0), host = host_pid();

	(void)state;
	(void)start_session(opened, "ends");
	assert_int_equal(kill(keeper_pid(), SIGKILL), 0);
	assert_true(wait_until(is_keeper, &standby));
	(void)await_standby(standby);
	assert_int_equal(kill(standby, SIGTERM), 0);
	assert_true(log_has("has ended: \"ends\""));
	assert_true(wait_until(is_dead, &standby));
	assert_true(wait_until(is_dead, &host));
	assert_int_equal(keeper_pid(), 0);
	etw_controller_close(opened);
}

static void test_standby__one_that_dies_is_replaced(void **state)
{
	struct etw_controller *opened = controller();
	uint64_t handle = start_session(opened, "goes on");
	pid_t standby = await_standby(0), keeper = keeper_pid(), host = host_pid();

	(void)state;
	assert_int_equal(kill(standby, SIGKILL), 0);
	standby = await_standby(standby);
	assert_int_equal(keeper_pid(), keeper);
	assert_int_equal(kill(keeper, SIGKILL), 0);
	assert_int_equal(kill(host, SIGKILL), 0);
	assert_true(wait_until(is_keeper, &standby));
	query(opened, handle);
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	etw_controller_close(opened);
}

/* The keeper waits a second for one that takes nothing, and nobody waits for the keeper. */
static void test_standby__one_that_stands_still_is_replaced(void **state)
{
	struct etw_controller *opened = controller();
	pid_t standby = await_standby(0);
	uint64_t handle = 0;

	(void)state;
	assert_int_equal(kill(standby, SIGSTOP), 0);
	for (int i = 0; i < BUSY_SESSIONS && !log_holds("the standby takes nothing"); i++) {
		handle = start_session(opened, "in between");
		assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	}
	assert_true(log_has("the standby takes nothing"));
	(void)await_standby(standby);
	assert_int_equal(kill(standby, 0), -1);
	etw_controller_close(opened);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_standby__##name, home_make, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(keeper_dies),
		TEST(keeper_and_host_die),
		TEST(new_keeper_ends_the_host),
		TEST(one_that_dies_is_replaced),
		TEST(one_that_stands_still_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
