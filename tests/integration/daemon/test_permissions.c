/* SPDX-License-Identifier: MIT */
/*
 * Root's host and processes of another uid: they may register providers and write events, and that is all.
 * Needs root, to become somebody else.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntrace.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

#define STRANGER     54321
#define NOT_EXECUTED 127 /* by etwd_run() */
#define SKIPPED      77

static uint64_t handle;
static GUID provider;

/* Runs @act as somebody else, in a process of its own; it returns the number of its failed step, or 0. */
static int as_stranger(int (*act)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (setgroups(0, NULL) || setgid(STRANGER) || setuid(STRANGER))
			_exit(99);
		_exit(act());
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct etw_controller *open_existing(void)
{
	struct etw_controller *opened = NULL;

	return etw_controller_open(ETW_INSTANCE_USER, false, NULL, &opened) ? NULL : opened;
}

static int control_name(struct etw_controller *from, const char *name, uint32_t code)
{
	static struct wire_control control;
	static struct wire_session_info info;

	memset(&control, 0, sizeof(control));
	control.code = code;
	memcpy(control.name, name, strlen(name));
	return etw_control(from, &control, &info);
}

static int control_as_stranger(void)
{
	static struct wire_session_info info;
	struct etw_controller *opened = open_existing();
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);
	struct wire_enable_provider wanted = enable_of(handle, &provider);
	struct wire_sessions sessions;

	if (!opened)
		return 1;
	if (etw_control_start(opened, config_of("a stranger's"), &info) != -EACCES ||
	    etw_control_start(opened, config_of("root's"), &info) != -EACCES)
		return 2;
	for (uint32_t code = WIRE_CONTROL_QUERY; code <= WIRE_CONTROL_FLUSH; code++) {
		/* What there is not: a session that is there answers no differently. */
		if (control_session(opened, handle, code, NULL) != -ENOENT ||
		    control_session(opened, handle + 1, code, NULL) != -ENOENT ||
		    control_name(opened, "root's", code) != -ENOENT ||
		    control_name(opened, "nobody's", code) != -ENOENT)
			return 3;
	}
	if (etw_control_enable(opened, &wanted) != -ENOENT)
		return 4;
	if (talk_lease(talk, handle) != -ENOENT)
		return 5;
	if (etw_control_list(opened, &sessions) || sessions.count)
		return 6;
	talk_close(talk);
	etw_controller_close(opened);
	return 0;
}

static int subscribe_to(struct talk *talk, const char *name)
{
	static struct wire_subscribe body;
	const struct wire_message head = {.type = WIRE_SUBSCRIBE, .request = 1};

	memset(&body, 0, sizeof(body));
	memcpy(body.name, name, strlen(name));
	if (talk_send(talk, wire_message_encode_subscribe(&head, &body, talk->room)) ||
	    talk_receive(talk))
		return -EPIPE;
	return talk->message.head.status;
}

static int subscribe_as_stranger(void)
{
	struct talk *talk = talk_open(WIRE_ROLE_CONSUMER);

	if (subscribe_to(talk, "root's") != -ENOENT || subscribe_to(talk, "nobody's") != -ENOENT)
		return 1;
	talk_close(talk);
	return 0;
}

static int register_as_stranger(void)
{
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	struct wire_enable enable;
	unsigned sets;

	if (talk->welcome.uid != STRANGER || talk->welcome.pid != (uint32_t)getpid())
		return 1;
	if (talk_register(talk, 0, &provider))
		return 2;
	talk_take_enable(talk, &enable, &sets);
	if (sets != 1 || !enable.slots[0].is_used)
		return 3;
	talk_close(talk);
	return 0;
}

static int host_as_stranger(void)
{
	return etwd_run(NULL, NULL);
}

static int set_up(void **state)
{
	struct etw_controller *opened;
	struct wire_enable_provider wanted;

	if (home_make(state))
		return -1;
	provider = guid_of(1);
	opened = controller();
	handle = start_session(opened, "root's");
	wanted = enable_of(handle, &provider);
	assert_int_equal(etw_control_enable(opened, &wanted), 0);
	etw_controller_close(opened);
	return 0;
}

static void test_permissions__strangers_control_nothing(void **state)
{
	(void)state;
	assert_int_equal(as_stranger(control_as_stranger), 0);
	assert_int_equal(as_stranger(subscribe_as_stranger), 0);
}

/* Everybody has rings of their own: two uids are given two sets. */
static void test_permissions__strangers_are_traced(void **state)
{
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	struct wire_enable enable;
	uint32_t own;

	(void)state;
	assert_int_equal(talk_register(talk, 0, &provider), 0);
	talk_take_enable(talk, &enable, NULL);
	own = enable.slots[0].ring_set;
	assert_int_equal(as_stranger(register_as_stranger), 0);
	assert_int_equal(talk_register(talk, 1, &provider), 0);
	talk_take_enable(talk, &enable, NULL);
	assert_int_equal(enable.slots[0].ring_set, own);
	talk_close(talk);
}

static void test_permissions__strangers_host_nothing_here(void **state)
{
	int r;

	(void)state;
	unsetenv("ETWD_LOG");
	r = as_stranger(host_as_stranger);
	if (r == NOT_EXECUTED) {
		print_message("skipped: another user cannot run the etwd of this build\n");
		skip();
	}
	assert_int_equal(r, 1);
	assert_int_not_equal(keeper_pid(), 0);
}

static int stay_as_stranger(void)
{
	struct etw_controller *opened = open_existing();

	return opened && pause() ? 0 : 1; /* until it is killed */
}

/* Who may control nothing cannot keep the host from leaving. */
static void test_permissions__strangers_do_not_keep_the_host(void **state)
{
	struct etw_controller *opened;
	bool is_left;
	pid_t pid;

	(void)state;
	assert_int_equal(home_remove(state), 0);
	assert_int_equal(home_make(state), 0);
	setenv("ETWD_IDLE_MS", "300", 1);
	opened = controller();
	pid = fork();
	if (pid == 0) {
		etw_controller_close(opened);
		if (setgroups(0, NULL) || setgid(STRANGER) || setuid(STRANGER))
			_exit(99);
		_exit(stay_as_stranger());
	}
	assert_true(pid > 0);
	usleep(200 * 1000); /* connected; if not yet, the test shows nothing, and holds */
	etw_controller_close(opened);
	is_left = wait_until(is_unhosted, NULL);
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(is_left);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_permissions__##name, set_up, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(strangers_control_nothing),
		TEST(strangers_are_traced),
		TEST(strangers_host_nothing_here),
		TEST(strangers_do_not_keep_the_host),
	};

	if (geteuid() != 0) {
		printf("skipped: only root can become another user\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
