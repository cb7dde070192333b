/* SPDX-License-Identifier: MIT */
/*
 * What a tool says of a host that does not answer: which process to look at, and what it left as its reason. The keeper is
 * this process, or one that was made for it; the host is its child.
 */
#include "tools/etw/host_wait.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "ipc/failure.h"
#include "ipc/runtime.h"

#define TEXT_ROOM 1024

static char folder[64];
static struct wire_discovery_page *page;

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/etw-host-wait-XXXXXX");
	if (!mkdtemp(folder) || setenv("ETW_RUNTIME_DIR", folder, 1))
		return -1;
	return etw_runtime_prepare(folder, &page);
}

static int tear_down(void **state)
{
	char path[128];

	(void)state;
	etw_runtime_page_unmap(page);
	etw_failure_clear(folder);
	snprintf(path, sizeof(path), "%s/" ETW_RUNTIME_PAGE, folder);
	(void)unlink(path);
	return rmdir(folder);
}

static int stderr_fd;
static FILE *caught;

static void begin_catching(void)
{
	caught = tmpfile();
	assert_non_null(caught);
	(void)fflush(stderr);
	stderr_fd = dup(STDERR_FILENO);
	assert_true(dup2(fileno(caught), STDERR_FILENO) >= 0);
}

/* What was said since, without the name of the program. */
static const char *end_catching(void)
{
	static char text[TEXT_ROOM];
	const char *said;
	size_t bytes;

	(void)fflush(stderr);
	assert_true(dup2(stderr_fd, STDERR_FILENO) >= 0);
	(void)close(stderr_fd);
	rewind(caught);
	bytes = fread(text, 1, sizeof(text) - 1, caught);
	text[bytes] = '\0';
	(void)fclose(caught);
	said = strstr(text, ": ");
	return said ? said + 2 : text;
}

static void expect_wait(const char *expected)
{
	begin_catching();
	host_wait_tell(NULL, folder);
	assert_string_equal(end_catching(), expected);
}

static void expect_error(int error, const char *expected)
{
	begin_catching();
	host_error_tell(ETW_INSTANCE_USER, error);
	assert_string_equal(end_catching(), expected);
}

static void expect_wait_for(uint32_t process)
{
	char expected[128];

	snprintf(expected, sizeof(expected),
		 "waiting for the session host (etwd, process %u), which does not answer\n",
		 (unsigned)process);
	expect_wait(expected);
}

static void expect_silence(void)
{
	expect_error(-ETIMEDOUT, "etwd, the host of sessions, does not answer; with ETWD_LOG=FILE "
				 "set, it writes why to FILE\n");
}

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	assert_true(child > 0);
	return child;
}

/* Waits until the child has changed to that state, and leaves it there to be seen. */
static void await_state(pid_t child, int state)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)child, &info, state | WNOWAIT), 0);
}

static void test_host_wait__nobody_is_known(void **state)
{
	(void)state;
	store_relaxed(&page->keeper_pid, 0u);
	expect_wait("waiting for the session host (etwd), which does not answer\n");
	expect_silence();
	begin_catching();
	host_wait_tell(NULL, "/tmp/no/such/folder");
	assert_string_equal(end_catching(),
			    "waiting for the session host (etwd), which does not answer\n");
}

static void test_host_wait__the_host_and_its_keeper(void **state)
{
	char expected[128];
	pid_t host;

	(void)state;
	store_relaxed(&page->keeper_pid, (uint32_t)getpid());
	expect_wait_for((uint32_t)getpid()); /* there is none yet */
	host = start_child();
	store_relaxed(&page->host_pid, (uint32_t)host);
	expect_wait_for((uint32_t)host);
	expect_silence();
	assert_int_equal(kill(host, SIGSTOP), 0);
	await_state(host, WSTOPPED);
	expect_wait_for((uint32_t)host);
	snprintf(expected, sizeof(expected),
		 "etwd, the host of sessions, is stopped, as by SIGSTOP: kill -CONT %d lets it go "
		 "on\n",
		 (int)host);
	expect_error(-ETIMEDOUT, expected);
	/* Dead, and the keeper has not noticed. */
	assert_int_equal(kill(host, SIGKILL), 0);
	await_state(host, WEXITED);
	expect_wait_for((uint32_t)getpid());
	expect_silence();
	assert_int_equal(waitpid(host, NULL, 0), host);
	store_relaxed(&page->host_pid, 0u);
}

static void test_host_wait__a_keeper_that_is_stopped(void **state)
{
	char expected[128];
	pid_t keeper = start_child();

	(void)state;
	store_relaxed(&page->keeper_pid, (uint32_t)keeper);
	assert_int_equal(kill(keeper, SIGSTOP), 0);
	await_state(keeper, WSTOPPED);
	snprintf(expected, sizeof(expected),
		 "etwd, the host of sessions, is stopped, as by SIGSTOP: kill -CONT %d lets it go "
		 "on\n",
		 (int)keeper);
	expect_error(-ETIMEDOUT, expected);
	assert_int_equal(kill(keeper, SIGKILL), 0);
	assert_int_equal(waitpid(keeper, NULL, 0), keeper);
}

static void test_host_wait__errors(void **state)
{
	(void)state;
	expect_error(-ECANCELED, "interrupted while etwd, the host of sessions, did not answer\n");
	expect_error(-ECHILD, "etwd, the host of sessions, was killed while it started\n");
	expect_error(-ECONNREFUSED, "etwd, the host of sessions, has ended\n");
	expect_error(-ECONNRESET, "etwd, the host of sessions, hangs up instead of answering\n");
	expect_error(-EPIPE, "etwd, the host of sessions, hangs up instead of answering\n");
}

/* The reason that a host left is told where it fits the error. */
static void test_host_wait__a_reason_was_left(void **state)
{
	(void)state;
	store_relaxed(&page->keeper_pid, 0u);
	assert_false(host_failure_tell(ETW_INSTANCE_USER));
	assert_int_equal(etw_failure_write(folder, EMFILE, "it had no files left"), 0);
	expect_wait("waiting for the session host (etwd), which does not answer: it had no files "
		    "left\n");
	expect_error(-ECONNREFUSED,
		     "etwd, the host of sessions, has ended: it had no files left\n");
	expect_error(-EMFILE, "etwd, the host of sessions, cannot be started or reached: it had no "
			      "files left\n");
	begin_catching();
	host_error_tell(ETW_INSTANCE_USER, -ENOMEM); /* another one */
	assert_null(strstr(end_catching(), "no files left"));
	begin_catching();
	assert_true(host_failure_tell(ETW_INSTANCE_USER));
	assert_string_equal(end_catching(),
			    "etwd, the host of sessions, is not there: it had no files left\n");
}

/* A start that does not find something says -ENOTDIR, since -ENOENT means that there is no host. */
static void test_host_wait__a_folder_is_missing(void **state)
{
	char expected[160], missing[96];

	(void)state;
	expect_error(-ENOTDIR, "etwd, the host of sessions, cannot be started: No such file or "
			       "directory\n");
	assert_int_equal(etw_failure_write(folder, ENOENT, "its log has no folder"), 0);
	expect_error(-ENOTDIR, "etwd, the host of sessions, cannot be started: its log has no "
			       "folder\n");
	etw_failure_clear(folder);
	snprintf(missing, sizeof(missing), "%s/a/b", folder);
	assert_int_equal(setenv("ETW_RUNTIME_DIR", missing, 1), 0);
	snprintf(expected, sizeof(expected),
		 "etwd, the host of sessions, cannot be started: there is no folder %s/a\n",
		 folder);
	expect_error(-ENOTDIR, expected);
	assert_int_equal(setenv("ETW_RUNTIME_DIR", folder, 1), 0);
}

static void test_host_wait__the_time_out_is_no_number(void **state)
{
	(void)state;
	(void)unsetenv("ETW_HOST_TIMEOUT_MS");
	begin_catching();
	host_timeout_check();
	assert_int_equal(setenv("ETW_HOST_TIMEOUT_MS", "500", 1), 0);
	host_timeout_check();
	assert_string_equal(end_catching(), "");
	assert_int_equal(setenv("ETW_HOST_TIMEOUT_MS", "5s", 1), 0);
	begin_catching();
	host_timeout_check();
	assert_string_equal(end_catching(),
			    "warning: ETW_HOST_TIMEOUT_MS is \"5s\", which is no number of "
			    "milliseconds: 30000 are used\n");
	(void)unsetenv("ETW_HOST_TIMEOUT_MS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_wait__nobody_is_known),
		cmocka_unit_test(test_host_wait__the_host_and_its_keeper),
		cmocka_unit_test(test_host_wait__a_keeper_that_is_stopped),
		cmocka_unit_test(test_host_wait__errors),
		cmocka_unit_test(test_host_wait__a_reason_was_left),
		cmocka_unit_test(test_host_wait__a_folder_is_missing),
		cmocka_unit_test(test_host_wait__the_time_out_is_no_number),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
