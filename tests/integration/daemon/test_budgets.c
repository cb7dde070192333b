/* SPDX-License-Identifier: MIT */
/*
 * Root's host and other uids that take as much of it as they can: each meets a limit and is told so, and root
 * is served. Needs root, to become somebody else.
 */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

#define STRANGER 54321
#define GREEDY   4
#define MANY     5000 /* more than a host has connections */
#define SKIPPED  77

/* What a greedy process tells; shared with this one. */
struct report {
	int count;  /* connections or registrations that it got */
	int status; /* that of the one that it did not get */
};

static struct report *reports;
static pid_t greedy[GREEDY];
static struct etw_controller *witness;
static uint64_t witness_handle;

static void become(unsigned number)
{
	if (setgroups(0, NULL) || setgid(STRANGER + number) || setuid(STRANGER + number))
		_exit(99);
}

/* Connects until it is refused, and keeps what it has. */
static void take_connections(struct report *report)
{
	struct wire_welcome welcome;
	int fd, r = 0;

	while (r == 0 && report->count < MANY) {
		r = etw_runtime_connect(runtime_path(), WIRE_ROLE_CONTROLLER, &fd, &welcome, NULL);
		report->count += r == 0;
	}
	report->status = r;
}

/* Registers until a connection that is new gets nothing. */
static void take_registrations(struct report *report)
{
	struct talk *talk = NULL;
	int of_connection = 0;

	while (report->count < 100 * MANY) {
		GUID provider = guid_of((uint32_t)report->count);

		if (!talk)
			talk = talk_open(WIRE_ROLE_PROVIDER);
		report->status = talk_register(talk, (uint32_t)report->count, &provider);
		if (report->status == 0) {
			report->count++;
			of_connection++;
			continue;
		}
		if (of_connection == 0)
			return;
		talk = NULL; /* stays connected; the next one shows whose limit it was */
		of_connection = 0;
	}
}

static void start_greedy(unsigned number, void (*take)(struct report *report))
{
	int ends[2];
	char byte;

	assert_int_equal(pipe(ends), 0);
	greedy[number] = fork();
	if (greedy[number] == 0) {
		struct rlimit files;

		if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
			files.rlim_cur = files.rlim_max;
			(void)setrlimit(RLIMIT_NOFILE, &files);
		}
		become(number);
		take(&reports[number]);
		close(ends[1]);
		pause();
		_exit(0);
	}
	assert_true(greedy[number] > 0);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* its end: it has all that it can get */
	close(ends[0]);
}

static int set_up(void **state)
{
	if (home_make(state))
		return -1;
	reports = mmap(NULL, sizeof(*reports) * GREEDY, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	witness = controller();
	witness_handle = start_session(witness, "witness");
	return 0;
}

static int tear_down(void **state)
{
	for (int i = 0; i < GREEDY; i++) {
		if (greedy[i] > 0) {
			(void)kill(greedy[i], SIGKILL);
			(void)waitpid(greedy[i], NULL, 0);
		}
		greedy[i] = 0;
	}
	etw_controller_close(witness);
	(void)munmap(reports, sizeof(*reports) * GREEDY);
	return home_remove(state);
}

/* Who comes new is served, and who was there. */
static void check_root(void)
{
	struct etw_controller *opened = controller();
	struct wire_sessions sessions;

	assert_int_equal(etw_control_list(opened, &sessions), 0);
	assert_int_equal(sessions.count, 1);
	assert_int_equal(control_session(opened, witness_handle, WIRE_CONTROL_QUERY, NULL), 0);
	assert_int_equal(control_session(witness, witness_handle, WIRE_CONTROL_QUERY, NULL), 0);
	etw_controller_close(opened);
}

/* `etw sessions` of a uid that is refused: what it says and how it ends. */
static void check_tool(unsigned number)
{
	char command[600], text[600] = "";
	const char *etwd = getenv("ETW_ETWD");
	int ends[2], status = 0;
	size_t count = 0;
	ssize_t bytes;
	pid_t pid;

	snprintf(command, sizeof(command), "%.*s/etw", (int)(strrchr(etwd, '/') - etwd), etwd);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)dup2(ends[1], STDERR_FILENO);
		become(number);
		execl(command, "etw", "sessions", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (count < sizeof(text) - 1 &&
	       (bytes = read(ends[0], text + count, sizeof(text) - 1 - count)) > 0)
		count += (size_t)bytes;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 127) {
		print_message("another user cannot run the etw of this build\n");
		return;
	}
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(text, "refuses this connection"));
	assert_null(strstr(text, "No session runs"));
}

static void test_budgets__connections(void **state)
{
	(void)state;
	for (unsigned i = 0; i < GREEDY; i++) {
		start_greedy(i, take_connections);
		assert_true(reports[i].count < MANY);
		assert_true(reports[i].status == -ETOOMANYREFS || reports[i].status == -EUSERS);
	}
	assert_int_equal(reports[0].status, -ETOOMANYREFS);
	assert_int_equal(reports[GREEDY - 1].status, -EUSERS);
	assert_true(log_has("is refused: the uid has as many as one may have"));
	check_root();
	check_tool(0);
	/* One that lets go lets others in. */
	(void)kill(greedy[0], SIGKILL);
	assert_int_equal(waitpid(greedy[0], NULL, 0), greedy[0]);
	greedy[0] = 0;
	reports[GREEDY - 1].count = 0;
	check_root();
}

static void test_budgets__registrations(void **state)
{
	struct talk *talk;
	GUID provider = guid_of(1);

	(void)state;
	start_greedy(0, take_registrations);
	assert_int_equal(reports[0].status, -ENOSPC);
	assert_true(reports[0].count >= 4096);
	assert_true(log_has("does not get a registration"));
	check_root();
	talk = talk_open(WIRE_ROLE_PROVIDER);
	assert_int_equal(talk_register(talk, 1, &provider), 0);
	talk_close(talk);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_budgets__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connections),
		TEST(registrations),
	};

	if (geteuid() != 0) {
		printf("SKIP: only root can become another user\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
