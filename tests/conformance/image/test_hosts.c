/* SPDX-License-Identifier: MIT */
/* Errors of etw/image.h that a host gives: what it keeps of a user is full, and it does not see the process. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <etw/image.h>
#include <winerror.h>

#include "conformance/evntrace/host.h"

#define LIMIT_S    900
#define PLACE      UINT64_C(0x100000000)
#define NAME_BYTES 1024
#define SYMBOLS    256
#define IMAGES     2000 /* of 256 KiB each: many times what a host keeps of one user */
#define LOOK_US    10000
#define NO_SPACE   200 /* of pid namespaces, as an exit status */

static const void *place(uint64_t address)
{
	const void *ret;

	memcpy(&ret, &address, sizeof(ret));
	return ret;
}

/*
 * Announces until something is refused. A host that a loaded machine keeps from answering is not waited for, and its answer
 * comes with a later call.
 */
static ULONG announce_many(void *context)
{
	static struct libetw_symbol symbols[SYMBOLS];
	static char name[NAME_BYTES + 1];
	struct libetw_image image = {.size = 4096, .path = "a.plugin", .symbols = symbols};
	int r = 0;

	(void)context;
	memset(name, 'f', NAME_BYTES);
	for (unsigned i = 0; i < SYMBOLS; i++)
		symbols[i] = (struct libetw_symbol){.offset = i, .size = 1, .name = name};
	image.symbol_count = SYMBOLS;
	for (unsigned i = 0; i < IMAGES && !r; i++) {
		uint64_t number;

		image.base = place(PLACE + UINT64_C(4096) * i);
		r = libetw_image_announce(&image, &number);
		if (i > IMAGES / 10)
			usleep(LOOK_US);
	}
	return (ULONG)-r;
}

static ULONG announce_one(void *context)
{
	const struct libetw_image image = {.base = place(PLACE), .size = 4096, .path = "a.plugin"};
	uint64_t number;

	(void)context;
	return (ULONG)-libetw_image_announce(&image, &number);
}

/* One user at the limit, with -ENOSPC, takes nothing from another. */
static void test_hosts__keep_so_much_of_a_user(void **state)
{
	TRACEHANDLE session;

	(void)state;
	if (!host_is_root())
		skip();
	/* A host is there as long as this is. */
	assert_int_equal(host_start("images", NULL, 0, &session), ERROR_SUCCESS);
	assert_int_equal(host_as_stranger(announce_many, NULL), ENOSPC);
	assert_int_equal(host_as_stranger(announce_one, NULL), 0);
	assert_int_equal(host_stop(session), ERROR_SUCCESS);
}

/* Runs a host that sees no process but its own, until its parent ends. */
static _Noreturn void be_host_within(const char *etwd)
{
	pid_t host;

	if (unshare(CLONE_NEWPID))
		_exit(NO_SPACE);
	host = fork();
	if (host == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execl(etwd, "etwd", "--foreground", (char *)NULL);
		_exit(1);
	}
	if (host > 0)
		(void)waitpid(host, NULL, 0);
	_exit(1);
}

/* In a process of its own: what the first host that is there says of this process. */
static int announce_outside(void)
{
	const pid_t parent = fork();
	ULONG error = 0;
	int status;

	if (parent == 0)
		be_host_within(getenv("ETW_ETWD"));
	while (parent > 0 && !error) {
		error = announce_one(NULL);
		if (waitpid(parent, &status, WNOHANG) == parent)
			return WEXITSTATUS(status);
		usleep(LOOK_US);
	}
	(void)kill(parent, SIGKILL);
	(void)waitpid(parent, &status, 0);
	return (int)error;
}

static void test_hosts__do_not_see_a_process(void **state)
{
	int status = 0;
	pid_t pid;

	(void)state;
	if (!host_is_root())
		skip();
	assert_int_equal(mkdir(host_path("within"), 0700), 0);
	pid = fork();
	if (pid == 0) {
		(void)setenv("ETW_RUNTIME_DIR", host_path("within"), 1);
		(void)setenv("ETWD_IDLE_MS", "1000000", 1);
		_exit(announce_outside());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_SPACE) {
		print_message("skipped: no namespace of pids can be made here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), EPERM);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts__keep_so_much_of_a_user),
		cmocka_unit_test(test_hosts__do_not_see_a_process),
	};

	return cmocka_run_group_tests_name("etw/image.h with hosts", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run, LIMIT_S);
}
