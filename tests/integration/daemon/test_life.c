/* SPDX-License-Identifier: MIT */
/* A host's life: started on demand, alone in its directory, gone when nobody needs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"
#include "ipc/failure.h"

#define RACERS 8

static void test_life__options_that_say_something(void **state)
{
	(void)state;
	assert_int_equal(etwd_run("--help", NULL), 0);
	assert_int_equal(etwd_run("--version", NULL), 0);
	assert_int_equal(etwd_run("--no-such-option", NULL), 2);
	assert_int_equal(etwd_run("word", NULL), 2);
	assert_int_equal(keeper_pid(), 0);
}

static void test_life__bad_environment_is_refused(void **state)
{
	(void)state;
	setenv("ETWD_IDLE_MS", "soon", 1);
	assert_int_equal(etwd_run(NULL, NULL), 1);
	setenv("ETWD_IDLE_MS", "1000", 1);
	setenv("ETWD_MAX_SESSIONS", "63", 1);
	assert_int_equal(etwd_run(NULL, NULL), 1);
	setenv("ETWD_MAX_SESSIONS", "257", 1);
	assert_int_equal(etwd_run(NULL, NULL), 1);
	unsetenv("ETWD_MAX_SESSIONS");
	setenv("ETW_RUNTIME_DIR", "/proc/self/etw", 1);
	assert_int_equal(etwd_run(NULL, NULL), 1);
	setenv("ETW_RUNTIME_DIR", runtime_path(), 1);
	setenv("ETWD_LOG", "/nowhere/at/all", 1);
	assert_int_equal(etwd_run(NULL, NULL), 1);
}

/* Whoever has started it gets the reason, not a time-out. */
static void test_life__host_that_cannot_start_says_why(void **state)
{
	const struct rlimit few = {9, 9};
	struct etw_failure failure;
	struct etw_controller *opened;
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		if (setrlimit(RLIMIT_NOFILE, &few) == 0)
			execl(getenv("ETW_ETWD"), "etwd", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_int_equal(etw_failure_read(runtime_path(), &failure), 0);
	assert_int_equal(failure.error, EMFILE);
	assert_non_null(strstr(failure.text, strerror(EMFILE)));
	/* The next one works, and nothing is said any more. */
	opened = controller();
	assert_int_equal(etw_failure_read(runtime_path(), &failure), -ENOENT);
	etw_controller_close(opened);
}

static void test_life__starts_on_demand(void **state)
{
	struct etw_controller *opened = NULL;

	(void)state;
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, NULL, &opened), -ENOENT);
	opened = controller();
	assert_int_not_equal(keeper_pid(), 0);
	assert_int_not_equal(host_pid(), 0);
	etw_controller_close(opened);
}

static void test_life__leaves_when_idle(void **state)
{
	const struct wire_discovery_page *page;
	struct etw_controller *opened;
	uint64_t handle;

	(void)state;
	setenv("ETWD_IDLE_MS", "300", 1);
	opened = controller();
	handle = start_session(opened, "alone");
	assert_int_equal(etw_runtime_page(runtime_path(), &page), 0);
	etw_controller_close(opened);
	/* The session holds it, although its controller is gone. */
	usleep(900 * 1000);
	assert_int_not_equal(keeper_pid(), 0);
	opened = controller();
	assert_int_equal(control_session(opened, handle, WIRE_CONTROL_STOP, NULL), 0);
	usleep(900 * 1000);
	assert_int_equal(load_acquire(&page->epoch) & 1, 1);
	etw_controller_close(opened);
	assert_true(wait_until(is_unhosted, NULL));
	assert_int_equal(load_acquire(&page->epoch) & 1, 0);
	etw_runtime_page_unmap(page);
	assert_true(log_has("it leaves"));
	/* And comes back. */
	opened = controller();
	(void)start_session(opened, "alone");
	etw_controller_close(opened);
}

static void test_life__one_host_for_a_directory(void **state)
{
	pid_t racers[RACERS];
	struct etw_controller *opened;

	(void)state;
	for (int i = 0; i < RACERS; i++) {
		racers[i] = fork();
		if (racers[i] == 0) {
			execl(getenv("ETW_ETWD"), "etwd", (char *)NULL);
			_exit(127);
		}
	}
	/* All of them end when there is a host, and one has made it. */
	for (int i = 0; i < RACERS; i++) {
		int status;

		assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	assert_int_not_equal(keeper_pid(), 0);
	assert_true(log_has("another host serves"));
	opened = controller();
	(void)start_session(opened, "after the race");
	etw_controller_close(opened);
}

/* As systemd does it: the socket is there first, and outlives the host. */
static int serve_passed_socket(int listener)
{
	char self[16];

	if (dup2(listener, 3) != 3 || fcntl(3, F_SETFD, 0))
		return 126;
	snprintf(self, sizeof(self), "%d", (int)getpid());
	setenv("LISTEN_PID", self, 1);
	setenv("LISTEN_FDS", "1", 1);
	execl(getenv("ETW_ETWD"), "etwd", "--foreground", (char *)NULL);
	return 127;
}

static void test_life__socket_may_be_passed(void **state)
{
	struct wire_discovery_page *page;
	struct etw_controller *opened;
	int listener, status;
	pid_t pid;

	(void)state;
	setenv("ETWD_IDLE_MS", "200", 1);
	assert_int_equal(etw_runtime_prepare(runtime_path(), &page), 0);
	assert_int_equal(etw_runtime_listen(runtime_path(), &listener), 0);
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0)
			_exit(serve_passed_socket(listener));
		assert_true(pid > 0);
		opened = NULL;
		assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, NULL, &opened), 0);
		assert_int_equal(control_session(opened, start_session(opened, "passed"),
						 WIRE_CONTROL_STOP, NULL),
				 0);
		etw_controller_close(opened);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		assert_int_equal(load_acquire(&page->epoch) & 1, 0);
	}
	close(listener);
	etw_runtime_page_unmap(page);
}

static void test_life__term_ends_sessions_and_host(void **state)
{
	struct etw_controller *opened = controller();

	(void)state;
	(void)start_session(opened, "to be ended");
	assert_int_equal(kill(keeper_pid(), SIGTERM), 0);
	assert_true(wait_until(is_unhosted, NULL));
	assert_true(log_has("has ended: \"to be ended\""));
	etw_controller_close(opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life__options_that_say_something, home_make,
						home_remove),
		cmocka_unit_test_setup_teardown(test_life__bad_environment_is_refused, home_make,
						home_remove),
		cmocka_unit_test_setup_teardown(test_life__host_that_cannot_start_says_why,
						home_make, home_remove),
		cmocka_unit_test_setup_teardown(test_life__starts_on_demand, home_make,
						home_remove),
		cmocka_unit_test_setup_teardown(test_life__leaves_when_idle, home_make,
						home_remove),
		cmocka_unit_test_setup_teardown(test_life__one_host_for_a_directory, home_make,
						home_remove),
		cmocka_unit_test_setup_teardown(test_life__socket_may_be_passed, home_make,
						home_remove),
		cmocka_unit_test_setup_teardown(test_life__term_ends_sessions_and_host, home_make,
						home_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
