/* SPDX-License-Identifier: MIT */
/* Whose process a number was: while it is connected, after it left, and when another uid has it now. */
#include "daemon/pids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time.h"

#define SECOND UINT64_C(1000000000)
#define NOBODY 4000000000u /* a uid that no process here has */

/* Above every pid: procfs knows none. */
#define FREE_PID 2000000000u

static uint64_t boot_ns(void)
{
	return etw_time_read_ns(CLOCK_BOOTTIME);
}

static enum etwd_pid_answer ask(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns)
{
	uint64_t left_ns = 0;

	return etwd_pids_ask(pids, uid, pid, now_ns, &left_ns);
}

static void test_pids__come_and_go(void **state)
{
	struct etwd_pids pids;

	(void)state;
	etwd_pids_init(&pids);
	assert_int_equal(ask(&pids, 1, 7, SECOND), ETWD_PID_UNKNOWN);
	etwd_pids_came(&pids, 1, 7, boot_ns());
	etwd_pids_came(&pids, 1, 7, boot_ns());
	assert_int_equal(ask(&pids, 1, 7, SECOND), ETWD_PID_HERE);
	assert_int_equal(ask(&pids, 2, 7, SECOND), ETWD_PID_ANOTHER);
	etwd_pids_went(&pids, 1, 7, SECOND);
	assert_int_equal(ask(&pids, 1, 7, SECOND), ETWD_PID_HERE);
	etwd_pids_went(&pids, 1, 7, SECOND);
	assert_int_equal(ask(&pids, 1, 7, 2 * SECOND), ETWD_PID_LEFT);
	assert_int_equal(ask(&pids, 2, 7, 2 * SECOND), ETWD_PID_WAS_ANOTHERS);
	assert_int_equal(ask(&pids, 2, 7, SECOND + ETWD_PIDS_LEFT_NS + 1), ETWD_PID_UNKNOWN);
	etwd_pids_came(&pids, 2, 7, boot_ns()); /* the number is another's now */
	assert_int_equal(ask(&pids, 1, 7, 2 * SECOND), ETWD_PID_LEFT);
	assert_int_equal(ask(&pids, 2, 7, 2 * SECOND), ETWD_PID_HERE);
	assert_int_equal(ask(&pids, 3, 7, 2 * SECOND), ETWD_PID_ANOTHER);
	assert_int_equal(ask(&pids, 1, 7, SECOND + ETWD_PIDS_LEFT_NS + 1), ETWD_PID_ANOTHER);
	etwd_pids_went(&pids, 9, 9, SECOND); /* nobody */
	etwd_pids_done(&pids);
}

/* One uid that ends processes without end is remembered up to its part; others are not forgotten for it. */
static void test_pids__what_is_remembered_is_bounded_by_uid(void **state)
{
	struct etwd_pids pids;
	uint32_t remembered = 0;

	(void)state;
	etwd_pids_init(&pids);
	etwd_pids_came(&pids, 1, 1, boot_ns());
	etwd_pids_went(&pids, 1, 1, SECOND);
	for (uint32_t pid = 100; pid < 100 + 3 * ETWD_PIDS_LEFT_MAX; pid++) {
		etwd_pids_came(&pids, 2, pid, boot_ns());
		etwd_pids_went(&pids, 2, pid, SECOND);
		etwd_pids_seen(&pids, 2, pid, SECOND);
	}
	assert_int_equal(pids.left_count, ETWD_PIDS_LEFT_MAX);
	assert_int_equal(ask(&pids, 1, 1, 2 * SECOND), ETWD_PID_LEFT);
	for (uint32_t pid = 100; pid < 100 + 3 * ETWD_PIDS_LEFT_MAX; pid++)
		remembered += ask(&pids, 2, pid, SECOND) == ETWD_PID_LEFT;
	assert_int_equal(remembered, ETWD_PIDS_LEFT_MAX - 1);
	/* A minute later the next one that leaves clears them away. */
	etwd_pids_seen(&pids, 3, 5, 2 * SECOND + ETWD_PIDS_LEFT_NS);
	assert_int_equal(pids.left_count, 1);
	etwd_pids_done(&pids);
}

static bool may_be(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
		   struct etw_session_pid_span *ret)
{
	*ret = (struct etw_session_pid_span){0, UINT64_MAX};
	return etwd_pids_may_be(pids, uid, pid, now_ns, ret);
}

static void test_pids__who_may_have_written(void **state)
{
	struct etwd_pids pids;
	uint32_t own = (uint32_t)getpid();
	struct etw_session_pid_span span;

	(void)state;
	etwd_pids_init(&pids);
	/* What procfs says of a process that is there, and nobody told of. */
	assert_true(may_be(&pids, getuid(), own, SECOND, &span));
	assert_int_equal(span.until_ns, UINT64_MAX);
	assert_int_equal(ask(&pids, getuid(), own, SECOND), ETWD_PID_LEFT); /* remembered */
	assert_false(may_be(&pids, NOBODY, own, SECOND, &span));
	/* A process that ended, and was nobody's that is known. */
	assert_true(may_be(&pids, NOBODY, FREE_PID, SECOND, &span));
	/* The number is a connected process of another uid. */
	etwd_pids_came(&pids, 5, FREE_PID, boot_ns());
	assert_false(may_be(&pids, NOBODY, FREE_PID, SECOND, &span));
	/* A process that connected and gave its uid up is who it was. */
	etwd_pids_came(&pids, NOBODY, own, boot_ns());
	assert_true(may_be(&pids, NOBODY, own, SECOND, &span));
	/* Just left: not looked at, and no doubt. Later: what it wrote before. */
	etwd_pids_went(&pids, NOBODY, own, SECOND);
	assert_true(may_be(&pids, NOBODY, own, SECOND + 1, &span));
	assert_int_equal(span.until_ns, UINT64_MAX);
	assert_true(may_be(&pids, NOBODY, own, 3 * SECOND, &span));
	assert_int_equal(span.until_ns, SECOND + ETWD_PIDS_SLACK_NS);
	etwd_pids_done(&pids);
}

/*
 * A process connected, left the connection to a child and ended; its number is another's now. Neither may its uid sign
 * as that one, nor does it keep that one from what it writes.
 */
static void test_pids__a_number_that_is_used_again(void **state)
{
	struct etwd_pids pids;
	uint32_t own = (uint32_t)getpid();
	uint64_t now_ns = etw_monotonic_ns();
	struct etw_session_pid_span span;

	(void)state;
	etwd_pids_init(&pids);
	etwd_pids_came(&pids, NOBODY, own,
		       1); /* just after the machine had started: before this process */
	assert_true(may_be(&pids, NOBODY, own, now_ns, &span));
	assert_true(span.until_ns <= now_ns); /* what was written before this process started */
	assert_true(may_be(&pids, getuid(), own, now_ns, &span));
	assert_int_equal(span.until_ns, UINT64_MAX);
	assert_true(span.since_ns > 0 && span.since_ns <= now_ns); /* when it started */
	/* Connected again by that uid, as a daemon does that gives up its own later. */
	etwd_pids_came(&pids, NOBODY, own, boot_ns());
	assert_true(may_be(&pids, NOBODY, own, now_ns, &span));
	assert_int_equal(span.until_ns, UINT64_MAX);
	etwd_pids_done(&pids);
}

/*
 * Who writes with the number of another uid's process, and makes the host look at that when the process has ended, is
 * not believed; who got the number later is.
 */
static void regress_pids__nobody_signs_as_one_that_has_ended(void **state)
{
	uint32_t own = (uint32_t)getpid();
	struct etw_session_pid_span span;
	struct etwd_pids pids;

	(void)state;
	etwd_pids_init(&pids);
	etwd_pids_came(&pids, 5, FREE_PID, boot_ns());
	etwd_pids_went(&pids, 5, FREE_PID, 7 * SECOND);
	/* Another thread's look at the clock, some time ago. */
	etwd_pids_came(&pids, 6, FREE_PID, boot_ns());
	etwd_pids_went(&pids, 6, FREE_PID, 3 * SECOND);
	assert_int_equal(pids.left_count, 2);
	assert_true(may_be(&pids, NOBODY, FREE_PID, 8 * SECOND, &span));
	assert_int_equal(span.since_ns, 7 * SECOND + ETWD_PIDS_SLACK_NS);
	assert_int_equal(span.until_ns, UINT64_MAX);
	assert_int_equal(ask(&pids, NOBODY, FREE_PID, 8 * SECOND), ETWD_PID_WAS_ANOTHERS);
	/* It is somebody's now: nobody else's, and this one's from when the other had left. */
	etwd_pids_came(&pids, 5, own, boot_ns());
	etwd_pids_went(&pids, 5, own, 7 * SECOND);
	assert_false(may_be(&pids, NOBODY, own, 8 * SECOND, &span));
	assert_true(may_be(&pids, getuid(), own, 8 * SECOND, &span));
	assert_int_equal(span.since_ns, 7 * SECOND);
	etwd_pids_done(&pids);
}

/* A thousand uids together must not make it forgotten which processes were root's. */
static void regress_pids__roots_are_remembered(void **state)
{
	struct etwd_pids pids;

	(void)state;
	etwd_pids_init(&pids);
	etwd_pids_came(&pids, 0, 1, boot_ns());
	etwd_pids_went(&pids, 0, 1, SECOND);
	for (uint32_t i = 0; i < 2 * ETWD_PIDS_LEFT_MAX; i++)
		etwd_pids_seen(&pids, 1000 + i % 1000, 100 + i, SECOND);
	assert_int_equal(pids.left_count, ETWD_PIDS_LEFT_MAX);
	assert_int_equal(ask(&pids, 1000, 1, 2 * SECOND), ETWD_PID_WAS_ANOTHERS);
	for (uint32_t i = 0; i < 2 * ETWD_PIDS_LEFT_MAX; i++)
		etwd_pids_seen(&pids, 0, 100000 + i, SECOND);
	assert_int_equal(pids.left_count, ETWD_PIDS_LEFT_MAX);
	etwd_pids_done(&pids);
}

/* Root alone may have filled the table: then one of its own makes room. */
static void regress_pids__a_table_full_of_roots_has_room(void **state)
{
	struct etwd_pids pids;

	(void)state;
	etwd_pids_init(&pids);
	for (uint32_t i = 0; i < ETWD_PIDS_LEFT_MAX; i++)
		etwd_pids_seen(&pids, 0, 100 + i, SECOND);
	assert_int_equal(pids.left_count, ETWD_PIDS_LEFT_MAX);
	etwd_pids_seen(&pids, 1000, 7, SECOND);
	assert_int_equal(pids.left_count, ETWD_PIDS_LEFT_MAX);
	assert_int_equal(ask(&pids, 1000, 7, SECOND), ETWD_PID_LEFT);
	assert_int_equal(ask(&pids, 0, 101, SECOND), ETWD_PID_LEFT);
	etwd_pids_done(&pids);
}

/* Whoever makes the host use up its descriptors may not sign as a process that cannot be looked at then. */
static void regress_pids__without_descriptors_nobody_is_believed(void **state)
{
	struct etwd_pids pids;
	struct rlimit before, none;
	struct etw_session_pid_span span;
	bool is_believed, is_known;

	(void)state;
	etwd_pids_init(&pids);
	etwd_pids_came(&pids, NOBODY, FREE_PID, boot_ns());
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	is_believed = may_be(&pids, NOBODY, (uint32_t)getppid(), SECOND, &span);
	is_known = may_be(&pids, NOBODY, FREE_PID, SECOND, &span);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(is_believed);
	assert_true(is_known);
	etwd_pids_done(&pids);
}

/* A host with nothing but a keeper's end that the test has. @kept: what the last one left; -1: nothing */
static void open_pids(struct etwd_pids *pids, int kept, uint64_t now_ns, int *ret_kept)
{
	struct etwd_keeper_store store;
	struct etwd_keeper_message message;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	if (kept >= 0)
		assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, "pids", kept), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	etwd_pids_init(pids);
	assert_int_equal(etwd_pids_open(pids, &store, now_ns), 0);
	if (ret_kept) {
		assert_int_equal(etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, ret_kept), 0);
		assert_string_equal(message.name, "pids");
	}
	etwd_keeper_store_done(&store);
	close(ends[0]);
}

static void test_pids__the_next_host_knows(void **state)
{
	struct etw_session_pid_span span;
	struct etwd_pids pids;
	uint64_t ns = 0;
	int kept;

	(void)state;
	open_pids(&pids, -1, SECOND, &kept);
	etwd_pids_came(&pids, NOBODY, FREE_PID, boot_ns());
	etwd_pids_came(&pids, NOBODY, FREE_PID, boot_ns());
	etwd_pids_came(&pids, NOBODY, FREE_PID + 1, boot_ns());
	etwd_pids_went(&pids, NOBODY, FREE_PID + 1, 3 * SECOND);
	etwd_pids_seen(&pids, NOBODY, FREE_PID + 2, 4 * SECOND);
	etwd_pids_came(&pids, NOBODY, FREE_PID + 3, boot_ns());
	etwd_pids_went(&pids, NOBODY, FREE_PID + 3, 4 * SECOND);
	etwd_pids_came(&pids, NOBODY, FREE_PID + 3, boot_ns());
	etwd_pids_done(&pids);

	open_pids(&pids, kept, 9 * SECOND, NULL);
	/* Those that were connected have left when this host began; nobody signs for them what is older. */
	assert_int_equal(etwd_pids_ask(&pids, 5, FREE_PID, 9 * SECOND, &ns), ETWD_PID_WAS_ANOTHERS);
	assert_int_equal(ns, 9 * SECOND);
	assert_int_equal(etwd_pids_ask(&pids, 5, FREE_PID + 3, 9 * SECOND, &ns),
			 ETWD_PID_WAS_ANOTHERS);
	assert_int_equal(ns, 9 * SECOND);
	assert_int_equal(etwd_pids_ask(&pids, NOBODY, FREE_PID + 1, 9 * SECOND, &ns),
			 ETWD_PID_LEFT);
	assert_int_equal(ns, 3 * SECOND);
	assert_int_equal(etwd_pids_ask(&pids, NOBODY, FREE_PID + 2, 9 * SECOND, &ns),
			 ETWD_PID_LEFT);
	assert_int_equal(ns, 4 * SECOND);
	assert_true(may_be(&pids, 5, FREE_PID, 11 * SECOND, &span));
	assert_int_equal(span.since_ns, 9 * SECOND + ETWD_PIDS_SLACK_NS);
	/* One that comes back is here again, and is the third host's too. */
	etwd_pids_came(&pids, NOBODY, FREE_PID, boot_ns());
	assert_int_equal(ask(&pids, NOBODY, FREE_PID, 11 * SECOND), ETWD_PID_HERE);
	etwd_pids_done(&pids);
	close(kept);
}

/* Words on what is past make room, and a process that stays is not forgotten for them. */
static void test_pids__many_changes(void **state)
{
	struct etwd_pids pids;
	uint64_t ns;
	int kept;

	(void)state;
	open_pids(&pids, -1, SECOND, &kept);
	etwd_pids_came(&pids, 0, 1, boot_ns());
	for (uint32_t i = 0; i < ETWD_SNAPSHOT_ENTRIES_MAX; i++) {
		etwd_pids_came(&pids, NOBODY, FREE_PID + i % 8, boot_ns());
		etwd_pids_went(&pids, NOBODY, FREE_PID + i % 8, SECOND + i);
	}
	assert_false(pids.is_snapshot_stale);
	etwd_pids_done(&pids);
	open_pids(&pids, kept, 9 * SECOND, NULL);
	assert_int_equal(etwd_pids_ask(&pids, NOBODY, 1, 9 * SECOND, &ns), ETWD_PID_WAS_ANOTHERS);
	assert_int_equal(etwd_pids_ask(&pids, NOBODY, FREE_PID + 7, 9 * SECOND, &ns),
			 ETWD_PID_LEFT);
	assert_int_equal(ns, SECOND + ETWD_SNAPSHOT_ENTRIES_MAX - 1);
	etwd_pids_done(&pids);
	close(kept);
}

/* One change that could not be written, as for lack of memory, is made up for by the next one. */
static void test_pids__a_stale_snapshot_is_written_anew(void **state)
{
	struct etwd_pids pids;
	int kept;

	(void)state;
	open_pids(&pids, -1, SECOND, &kept);
	etwd_pids_came(&pids, NOBODY, FREE_PID, boot_ns());
	etwd_pids_went(&pids, NOBODY, FREE_PID, 2 * SECOND);
	assert_int_equal(etwd_snapshot_replace(&pids.snapshot, NULL, 0), 0);
	pids.is_snapshot_stale = true;
	etwd_pids_came(&pids, 5, FREE_PID + 1, boot_ns());
	assert_false(pids.is_snapshot_stale);
	etwd_pids_went(&pids, 5, FREE_PID + 1, 3 * SECOND);
	etwd_pids_done(&pids);
	open_pids(&pids, kept, 9 * SECOND, NULL);
	assert_int_equal(ask(&pids, NOBODY, FREE_PID, 9 * SECOND), ETWD_PID_LEFT);
	assert_int_equal(ask(&pids, 5, FREE_PID + 1, 9 * SECOND), ETWD_PID_LEFT);
	etwd_pids_done(&pids);
	close(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pids__come_and_go),
		cmocka_unit_test(test_pids__what_is_remembered_is_bounded_by_uid),
		cmocka_unit_test(test_pids__who_may_have_written),
		cmocka_unit_test(test_pids__a_number_that_is_used_again),
		cmocka_unit_test(test_pids__the_next_host_knows),
		cmocka_unit_test(test_pids__many_changes),
		cmocka_unit_test(test_pids__a_stale_snapshot_is_written_anew),
		cmocka_unit_test(regress_pids__nobody_signs_as_one_that_has_ended),
		cmocka_unit_test(regress_pids__roots_are_remembered),
		cmocka_unit_test(regress_pids__a_table_full_of_roots_has_room),
		cmocka_unit_test(regress_pids__without_descriptors_nobody_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
