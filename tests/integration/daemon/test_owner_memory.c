/* SPDX-License-Identifier: MIT */
/*
 * Another user who may start sessions of root's host gets no more of the machine's memory than its budget for the
 * buffers that its sessions keep. Root goes on starting sessions; what is given back can be had again; the next
 * host counts what the last one had given. Needs root, to become somebody else.
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntrace.h>
#include <wmistr.h>

#include "base/bytes.h"
#include "integration/daemon/support.h"
#include "wire/security.h"
#include "wire/well_known.h"

#define USER    54321
#define SKIPPED 77
/* Of 64 MiB for the rings of others follow 128 for owners together, and half of that for each. */
#define RING_MIB      "64"
#define FIRST_BUFFERS 40 /* of 1 MiB */
#define LATER_BUFFERS 30

/* All that has to do with sessions whose GUID nobody has said anything about. */
static void allow_user(struct etw_controller *from)
{
	static struct etw_control_answer answer;
	static const GUID all = WIRE_DEFAULT_SECURITY_GUID;
	const struct wire_sid sid = etw_sid_of_uid(USER);
	const struct wire_access access = {
		.code = WIRE_ACCESS_CHANGE,
		.guid = all,
		.operation = WIRE_SECURITY_ADD_DACL,
		.rights = WMIGUID_ALL_ACCESS,
		.is_allowed = 1,
		.sid = {sid.bytes, sid.byte_count},
	};

	assert_int_equal(etw_control_access(from, &access, &answer), 0);
}

static int set_up(void **state)
{
	int r;

	setenv("ETWD_RING_MIB", RING_MIB, 1);
	r = home_make(state);
	if (r == 0) {
		struct etw_controller *from = controller();

		allow_user(from);
		(void)start_session(from, "root's");
		etw_controller_close(from);
	}
	return r;
}

static int keep_buffers(struct etw_controller *from, const char *name, uint32_t count,
			uint64_t *ret_handle)
{
	static struct wire_session_info info;
	struct wire_session_config *config = config_of(name);
	int r;

	config->log_file_mode = EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	config->buffer_kib = 1024;
	config->minimum_buffers = config->maximum_buffers = count;
	r = etw_control_start(from, config, &info);
	*ret_handle = info.handle;
	return r;
}

/* Runs @act as the user, in a process of its own; it returns the number of its failed step, or 0. */
static int as_user(int (*act)(struct etw_controller *from))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct etw_controller *from = NULL;

		if (setgroups(0, NULL) || setgid(USER) || setuid(USER) ||
		    etw_controller_open(ETW_INSTANCE_USER, false, NULL, &from) < 0)
			_exit(99);
		_exit(act(from));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int take_all(struct etw_controller *from)
{
	uint64_t first, later;

	if (keep_buffers(from, "first", FIRST_BUFFERS, &first) != 0)
		return 1;
	if (keep_buffers(from, "later", LATER_BUFFERS, &later) != -ENOMEM)
		return 2;
	if (control_session(from, first, WIRE_CONTROL_STOP, NULL) != 0)
		return 3;
	if (keep_buffers(from, "later", LATER_BUFFERS, &later) != 0)
		return 4;
	return keep_buffers(from, "first", FIRST_BUFFERS, &first) == -ENOMEM ? 0 : 5;
}

static int take_more(struct etw_controller *from)
{
	uint64_t handle;

	return keep_buffers(from, "first", FIRST_BUFFERS, &handle) == -ENOMEM ? 0 : 1;
}

static void test_owner_memory__buffers_that_are_kept(void **state)
{
	struct etw_controller *from;
	uint64_t handle;

	(void)state;
	assert_int_equal(as_user(take_all), 0);
	from = controller();
	assert_int_equal(keep_buffers(from, "root's own", 2 * FIRST_BUFFERS, &handle), 0);
	host_kill();
	assert_int_equal(as_user(take_more), 0);
	etw_controller_close(from);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_owner_memory__##name, set_up, home_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(buffers_that_are_kept),
	};

	if (geteuid() != 0)
		return SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
