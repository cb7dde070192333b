/* SPDX-License-Identifier: MIT */
/* The host's side against a keeper of the test's own, and the keeper with hosts of the test's own. */
#include "daemon/keeper_store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/keeper.h"
#include "daemon/log.h"

static int ends[2]; /* the keeper's, the store's */
static struct etwd_keeper_store store;

static int make_file(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static bool holds(int fd, const char *text)
{
	char bytes[64] = {0};

	return pread(fd, bytes, sizeof(bytes) - 1, 0) >= 0 && strcmp(bytes, text) == 0;
}

static void give(const char *name, const char *text)
{
	int fd = make_file(text);

	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, name, fd), 0);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	close(ends[0]);
	return 0;
}

static void test_keeper_store__takes_over_once(void **state)
{
	int fd;

	(void)state;
	give("session-1/state", "one");
	give("session-1/file", "two");
	give("session-12/state", "three");
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	assert_string_equal(etwd_kept_name(&store, 0), "session-1/state");
	assert_string_equal(etwd_kept_name(&store, 2), "session-12/state");
	assert_null(etwd_kept_name(&store, 3));
	fd = etwd_kept(&store, "session-1/state");
	assert_true(fd >= 0 && holds(fd, "one"));
	close(fd);
	assert_int_equal(etwd_kept(&store, "session-1/state"), -ENOENT);
	assert_int_equal(etwd_kept(&store, "never"), -ENOENT);
	etwd_forget(&store, "session-1/");
	assert_int_equal(etwd_kept(&store, "session-1/file"), -ENOENT);
	assert_string_equal(etwd_kept_name(&store, 0), "session-12/state");
	etwd_keeper_store_done(&store);
}

static void test_keeper_store__keeps_and_forgets(void **state)
{
	struct etwd_keeper_message message;
	int fd = make_file("kept"), got = -1;
	char name[ETWD_KEPT_NAME_BYTES + 1];

	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	assert_int_equal(etwd_keep(&store, "a name", fd), 0);
	assert_int_equal(etwd_keeper_receive(ends[0], 0, &message, &got), 0);
	assert_int_equal(message.op, ETWD_KEEPER_KEEP);
	assert_string_equal(message.name, "a name");
	assert_true(got >= 0 && holds(got, "kept"));
	assert_int_equal(fcntl(got, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(got);
	etwd_forget(&store, "a name");
	assert_int_equal(etwd_keeper_receive(ends[0], 0, &message, &got), 0);
	assert_int_equal(message.op, ETWD_KEEPER_FORGET);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(etwd_keep(&store, name, fd), -ENAMETOOLONG);
	etwd_keeper_ready(&store);
	assert_int_equal(etwd_keeper_receive(ends[0], 0, &message, &got), 0);
	assert_int_equal(message.op, ETWD_KEEPER_READY);
	/* Without a keeper it says so, and goes on. */
	close(ends[0]);
	assert_int_equal(etwd_keep(&store, "a name", fd), -EPIPE);
	assert_int_equal(etwd_keep(&store, "a name", fd), -EPIPE);
	etwd_forget(&store, "a name");
	close(fd);
	etwd_keeper_store_done(&store);
	assert_int_equal(etwd_keeper_store_init(&store, -1), 0);
	assert_int_equal(etwd_keep(&store, "a name", 0), -EPIPE);
	etwd_keeper_store_done(&store);
	ends[0] = dup(STDERR_FILENO);
}

static void test_keeper_store__broken_keepers(void **state)
{
	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, "without one", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), -EPROTO);
	close(ends[0]);
	assert_int_equal(set_up(state), 0);
	assert_int_equal(send(ends[0], "short", 5, 0), 5);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), -EPROTO);
	close(ends[0]);
	assert_int_equal(set_up(state), 0);
	shutdown(ends[0], SHUT_RDWR);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), -EPIPE);
}

/* What the hosts below do, one after another; each counts itself in a kept file. */
struct life {
	int deaths;    /* so many die before one ends well */
	int signal;    /* of what they die; 0: they exit with 1 */
	bool is_ready; /* they had become ready before */
};

static int live(void *context, int socket)
{
	const struct life *life = context;
	struct etwd_keeper_store own;
	char count[16] = "0";
	int fd, number;

	if (etwd_keeper_store_init(&own, socket))
		return 1;
	fd = etwd_kept(&own, "count");
	if (fd < 0) {
		fd = memfd_create("count", MFD_CLOEXEC);
		if (etwd_keep(&own, "count", fd) || etwd_keep(&own, "dropped/1", fd) ||
		    etwd_keep(&own, "dropped/2", fd))
			return 1;
		etwd_forget(&own, "dropped/");
	} else if (etwd_kept_name(&own, 0)) {
		return 1; /* a dropped one came back */
	}
	(void)pread(fd, count, sizeof(count) - 1, 0);
	number = (int)strtol(count, NULL, 10) + 1;
	snprintf(count, sizeof(count), "%d", number);
	if (pwrite(fd, count, strlen(count), 0) < 0)
		return 1;
	if (life->is_ready)
		etwd_keeper_ready(&own);
	if (number > life->deaths)
		return 0;
	if (life->signal)
		kill(getpid(), life->signal);
	return 1;
}

static int reported, cleaned;

static void report_ready(void *context, int status)
{
	(void)context;
	reported = status ? -1 : 1;
}

static void clean_up(void *context)
{
	(void)context;
	cleaned++;
}

static int keep_alive(struct life life)
{
	const struct etwd_keeper_callbacks callbacks = {&life, live, report_ready, clean_up};

	reported = cleaned = 0;
	return etwd_keeper_run(&callbacks);
}

static void test_keeper_store__hosts_follow_each_other(void **state)
{
	(void)state;
	assert_int_equal(keep_alive((struct life){3, SIGKILL, true}), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(cleaned, 0);
	assert_int_equal(keep_alive((struct life){3, SIGUSR1, true}), 0);
	/* Somebody who kills hosts does not make them bad. */
	assert_int_equal(keep_alive((struct life){40, SIGKILL, true}), 0);
}

static void test_keeper_store__bad_hosts_end(void **state)
{
	(void)state;
	assert_int_equal(keep_alive((struct life){1000, SIGUSR1, true}), 1);
	assert_int_equal(reported, 1);
	assert_int_equal(cleaned, 1);
	assert_int_equal(keep_alive((struct life){1000, 0, true}), 1);
	/* The first one fails to start: that is the user's to mend. */
	assert_int_equal(keep_alive((struct life){1000, 0, false}), 1);
	assert_int_equal(reported, -1);
	assert_int_equal(keep_alive((struct life){1000, SIGKILL, false}), 1);
	assert_int_equal(reported, -1);
}

/* More than a socket holds, so that the keeper is still at it when the host turns away. */
#define MANY 2000

/* The first host keeps much, the second does not take it over and does not die, the third does. */
static int live_on_deafly(void *context, int socket)
{
	uint32_t *number = context;
	struct etwd_keeper_store own;
	char name[16];

	(void)alarm(60);
	if (++*number == 2) {
		(void)shutdown(socket, SHUT_RD);
		for (;;)
			(void)pause();
	}
	if (etwd_keeper_store_init(&own, socket))
		return 1;
	if (*number == 3)
		return etwd_kept_name(&own, MANY - 1) ? 0 : 1;
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		if (etwd_keep(&own, name, STDERR_FILENO))
			return 1;
	}
	etwd_keeper_ready(&own);
	(void)kill(getpid(), SIGKILL);
	return 1;
}

/* A host that waits for descriptors that never come would hold the whole instance up. */
static void test_keeper_store__hand_over_that_fails(void **state)
{
	uint32_t *number = mmap(NULL, sizeof(*number), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct etwd_keeper_callbacks callbacks = {number, live_on_deafly, report_ready,
							clean_up};
	struct rlimit limit;

	(void)state;
	assert_true(number != MAP_FAILED);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	reported = cleaned = 0;
	assert_int_equal(etwd_keeper_run(&callbacks), 0);
	assert_int_equal(*number, 3);
	munmap(number, sizeof(*number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_keeper_store__takes_over_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__keeps_and_forgets, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__broken_keepers, set_up,
						tear_down),
		cmocka_unit_test(test_keeper_store__hosts_follow_each_other),
		cmocka_unit_test(test_keeper_store__bad_hosts_end),
		cmocka_unit_test(test_keeper_store__hand_over_that_fails),
	};

	(void)etwd_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
