/* SPDX-License-Identifier: MIT */
/* The keeper with hosts of the test's own: how long it goes on, and what it says why. */
#include "daemon/keeper.h"

#include <errno.h>
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

#include "base/atomic.h"
#include "base/time.h"
#include "daemon/keeper_store.h"
#include "daemon/log.h"

/* What the hosts below do, one after another; each counts itself in a kept file. */
struct life {
	int deaths;    /* so many die before one ends well */
	int signal;    /* of what they die; 0: they exit with 1 */
	bool is_ready; /* they had become ready before */
};

#define FOR_EVER_MS (3600u * 1000u)

static int live(void *context, int socket)
{
	const struct life *life = context;
	struct etwd_keeper_store own;
	char count[16] = "0";
	int fd, number;

	if (etwd_keeper_store_init(&own, socket))
		return 1;
	fd = etwd_keeper_take(&own, "count");
	if (fd < 0) {
		fd = memfd_create("count", MFD_CLOEXEC);
		if (etwd_keeper_keep(&own, "count", fd) ||
		    etwd_keeper_keep(&own, "dropped/1", fd) ||
		    etwd_keeper_keep(&own, "dropped/2", fd))
			return 1;
		etwd_keeper_forget(&own, "dropped/");
	} else if (etwd_keeper_kept_name(&own, 0)) {
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
	etwd_keeper_failed(&own, EDOM, "the host has failed");
	return 1;
}

static bool lives_ready;

/* A host that is killed as soon as it is there. */
static int live_shortly(void *context, int socket)
{
	uint32_t *lives = context;
	struct etwd_keeper_store own;

	if (etwd_keeper_store_init(&own, socket))
		return 1;
	if (lives_ready)
		etwd_keeper_ready(&own);
	add_relaxed(lives, 1u);
	(void)kill(getpid(), SIGKILL);
	return 1;
}

struct shared_facts {
	uint32_t lives;
	uint32_t explained;
};

static struct shared_facts *shared_facts;

static void explain_shared(void *context, int error, const char *text)
{
	(void)context;
	(void)text;
	store_relaxed(&shared_facts->explained, (uint32_t)error);
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

static int explained;       /* the last error; 0: there is a host */
static int explained_count; /* of errors */
static char sentence[400];

static void explain(void *context, int error, const char *text)
{
	(void)context;
	explained = error;
	explained_count += error != 0;
	if (text)
		snprintf(sentence, sizeof(sentence), "%s", text);
}

static int keep_alive(struct life life)
{
	const struct etwd_keeper_callbacks callbacks = {
		&life, live, report_ready, clean_up, explain, NULL, 0};

	reported = cleaned = explained = explained_count = 0;
	sentence[0] = '\0';
	return etwd_keeper_run(&callbacks);
}

static void test_keeper__hosts_follow_each_other(void **state)
{
	(void)state;
	assert_int_equal(keep_alive((struct life){3, SIGKILL, true}), 0);
	assert_int_equal(reported, 1);
	assert_int_equal(cleaned, 0);
	assert_int_equal(keep_alive((struct life){3, SIGUSR1, true}), 0);
	/* Somebody who kills hosts that have served for a while does not make them bad. */
	assert_int_equal(keep_alive((struct life){40, SIGKILL, true}), 0);
	assert_int_equal(explained_count, 0);
}

/* Without an end to it a cgroup that is too small for the host would keep the machine busy. */
static void test_keeper__hosts_that_are_killed_at_once_end(void **state)
{
	uint32_t *lives = mmap(NULL, sizeof(*lives), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct etwd_keeper_callbacks callbacks = {
		lives, live_shortly, report_ready, clean_up, explain, NULL, FOR_EVER_MS};

	(void)state;
	assert_true(lives != MAP_FAILED);
	/* The first ones never become ready: nothing is lost, and whoever started it waits. */
	lives_ready = false;
	assert_int_equal(etwd_keeper_run(&callbacks), 1);
	assert_int_equal(*lives, ETWD_FIRST_LIVES_MAX);
	assert_int_equal(explained, ENOMEM);
	assert_non_null(strstr(sentence, "signal 9"));
	munmap(lives, sizeof(*lives));
}

static pid_t start_keeper(struct etwd_keeper_callbacks *callbacks)
{
	pid_t keeper = fork();

	assert_true(keeper >= 0);
	if (keeper == 0)
		_exit(etwd_keeper_run(callbacks));
	return keeper;
}

/* The pauses grow: the ninth host is not there before the eight pauses of 10 ms to 1280 ms are over. */
static void test_keeper__pauses_grow_and_can_be_ended(void **state)
{
	struct shared_facts *facts = mmap(NULL, sizeof(*facts), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct etwd_keeper_callbacks callbacks = {&facts->lives, live_shortly,   report_ready,
						  clean_up,      explain_shared, NULL,
						  FOR_EVER_MS};
	uint64_t begin = etw_monotonic_ms();
	int status;
	pid_t keeper;

	(void)state;
	assert_true(facts != MAP_FAILED);
	shared_facts = facts;
	lives_ready = true;
	keeper = start_keeper(&callbacks);
	while (load_relaxed(&facts->lives) < 9)
		(void)usleep(1000);
	assert_true(etw_monotonic_ms() - begin >= 2500);
	while (load_relaxed(&facts->explained) != ENOMEM)
		(void)usleep(1000);
	assert_int_equal(kill(keeper, SIGTERM), 0);
	assert_int_equal(waitpid(keeper, &status, 0), keeper);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_true(load_relaxed(&facts->lives) < ETWD_SHORT_LIVES_MAX);
	munmap(facts, sizeof(*facts));
}

static void test_keeper__bad_hosts_end(void **state)
{
	(void)state;
	assert_int_equal(keep_alive((struct life){1000, SIGUSR1, true}), 1);
	assert_int_equal(reported, 1);
	assert_int_equal(cleaned, 1);
	assert_int_equal(explained, ENOTRECOVERABLE);
	assert_non_null(strstr(sentence, "too often"));
	assert_int_equal(keep_alive((struct life){1000, 0, true}), 1);
	assert_int_equal(explained, EDOM);
	assert_non_null(strstr(sentence, "the host has failed"));
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

	(void)alarm(600);
	if (++*number == 2) {
		(void)shutdown(socket, SHUT_RD);
		for (;;)
			(void)pause();
	}
	if (etwd_keeper_store_init(&own, socket))
		return 1;
	if (*number == 3)
		return etwd_keeper_kept_name(&own, MANY - 1) ? 0 : 1;
	for (int i = 0; i < MANY; i++) {
		int r;

		(void)snprintf(name, sizeof(name), "%d", i);
		while ((r = etwd_keeper_keep(&own, name, STDERR_FILENO)) == -ENOBUFS)
			(void)etwd_keeper_retry(&own, 0);
		if (r && r != -EINPROGRESS)
			return 1;
	}
	while (etwd_keeper_retry(&own, 0) != UINT64_MAX)
		(void)usleep(1000);
	etwd_keeper_ready(&own);
	(void)kill(getpid(), SIGKILL);
	return 1;
}

/* A host that waits for descriptors that never come would hold the whole instance up. */
static void test_keeper__hand_over_that_fails(void **state)
{
	uint32_t *number = mmap(NULL, sizeof(*number), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct etwd_keeper_callbacks callbacks = {
		number, live_on_deafly, report_ready, clean_up, explain, NULL, 0};
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
		cmocka_unit_test(test_keeper__hosts_follow_each_other),
		cmocka_unit_test(test_keeper__hosts_that_are_killed_at_once_end),
		cmocka_unit_test(test_keeper__pauses_grow_and_can_be_ended),
		cmocka_unit_test(test_keeper__bad_hosts_end),
		cmocka_unit_test(test_keeper__hand_over_that_fails),
	};

	(void)etwd_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
