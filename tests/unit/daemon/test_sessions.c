/* SPDX-License-Identifier: MIT */
#include "daemon/sessions.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/guid.h"

#define OWNER    1000
#define STRANGER 70000
#define FILES    1024

static struct etwd_budget budget;
static struct etwd_descriptors security;
static int ends[2]; /* the peers' groups are those of this process */
static struct etwd_sessions sessions;

static int set_up(void **state)
{
	(void)state;
	etwd_budget_init(&budget, OWNER, FILES);
	etwd_descriptors_init(&security, "");
	etwd_sessions_init(&sessions, &budget, &security, true);
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (sessions.table[i])
			etwd_sessions_remove(&sessions, sessions.table[i]);
	}
	assert_int_equal(budget.account_count, 0);
	etwd_budget_done(&budget);
	return 0;
}

/* Its GUID says the number. */
static int add(uint32_t id, const char *name, uint32_t number, uid_t uid, struct etwd_session **ret)
{
	static struct wire_session_config config;

	snprintf(config.name, sizeof(config.name), "%s", name);
	config.guid = (GUID){.Data1 = number};
	return etwd_sessions_add(&sessions, id, &config, uid, ret);
}

static struct etwd_peer peer_of(uid_t uid, bool is_privileged)
{
	return (struct etwd_peer){.fd = ends[0], .who.uid = uid, .is_privileged = is_privileged};
}

static void test_sessions__names_and_guids_are_unique(void **state)
{
	struct etwd_session *one, *other;

	(void)state;
	assert_int_equal(add(1, "One", 1, OWNER, &one), 0);
	assert_int_equal(add(2, "oNE", 2, OWNER, &other), -EEXIST);
	assert_int_equal(add(2, "two", 1, OWNER, &other), -EEXIST);
	assert_int_equal(add(0, "two", 2, OWNER, &other), -EUSERS); /* no number was left */
	assert_int_equal(add(2, "\xFF", 2, OWNER, &other), -EINVAL);
	assert_int_equal(etwd_sessions_count(&sessions), 1);
	assert_ptr_equal(etwd_sessions_find(&sessions, 1), one);
	assert_null(etwd_sessions_find(&sessions, 2));
	etwd_sessions_remove(&sessions, one);
	assert_int_equal(etwd_sessions_count(&sessions), 0);
	assert_int_equal(add(1, "one", 1, OWNER, &one), 0);
}

static void test_sessions__the_budget_and_the_table_end(void **state)
{
	struct etwd_session *session;
	char name[32];
	int r = 0;

	(void)state;
	for (uint32_t i = 1; r == 0; i++) {
		snprintf(name, sizeof(name), "s%u", (unsigned)i);
		r = add(i, name, i, STRANGER, &session);
	}
	assert_int_equal(r, -ETOOMANYREFS);
	for (uint32_t i = 1000; (r = add(i, name, i, OWNER, &session)) == 0 || r == -EEXIST; i++)
		snprintf(name, sizeof(name), "t%u", (unsigned)i);
	assert_int_equal(r, -EUSERS);
	assert_int_equal(etwd_sessions_count(&sessions), ETWD_SESSIONS_DEFAULT);
	etwd_budget_set_sessions(&budget, ETWD_SESSIONS_MAX);
	for (uint32_t i = 2000; (r = add(i, name, i, OWNER, &session)) == 0 || r == -EEXIST; i++)
		snprintf(name, sizeof(name), "u%u", (unsigned)i);
	assert_int_equal(r, -EUSERS);
	assert_int_equal(etwd_sessions_count(&sessions), ETWD_SESSIONS_MAX);
}

static int add_logger(uint32_t id, const char *name)
{
	static struct wire_session_config config = {
		.log_file_mode = EVENT_TRACE_SYSTEM_LOGGER_MODE};
	struct etwd_session *session;

	snprintf(config.name, sizeof(config.name), "%s", name);
	config.guid = (GUID){.Data1 = id};
	return etwd_sessions_add(&sessions, id, &config, OWNER, &session);
}

/* Of eight places two are for the sessions with fixed names; they are free whatever the others do. */
static void test_sessions__system_loggers_have_places_of_their_own(void **state)
{
	struct etwd_session *session;
	char name[32];

	(void)state;
	for (uint32_t i = 1; i <= 6; i++) {
		snprintf(name, sizeof(name), "s%u", (unsigned)i);
		assert_int_equal(add_logger(i, name), 0);
	}
	assert_int_equal(add_logger(7, "s7"), -EUSERS);
	assert_int_equal(add(8, "no logger", 8, OWNER, &session), 0);
	assert_int_equal(add_logger(9, KERNEL_LOGGER_NAMEA), 0);
	assert_int_equal(add_logger(10, "circular kernel context logger"), 0);
	assert_int_equal(add_logger(11, "nt kernel logger"), -EEXIST);
	etwd_sessions_remove(&sessions, etwd_sessions_find(&sessions, 3));
	assert_int_equal(add_logger(7, "s7"), 0);
	sessions.system_logger_limit = 9;
	assert_int_equal(add_logger(12, "s12"), 0);
	assert_int_equal(add_logger(13, "s13"), -EUSERS);
}

/* A number is not given again before all others were. */
static void test_sessions__numbers_go_round(void **state)
{
	struct etwd_session *session;

	(void)state;
	for (uint32_t i = 1; i <= ETWD_SYSTEM_SESSION_ID_LAST; i++)
		assert_int_equal(etwd_sessions_pick_id(&sessions), i);
	assert_int_equal(add(1, "one", 1, OWNER, &session), 0);
	assert_int_equal(etwd_sessions_pick_id(&sessions), 2);
	sessions.is_system = false;
	assert_int_equal(etwd_sessions_pick_id(&sessions), ETWD_USER_SESSION_ID_FIRST);
}

static void test_sessions__who_may_control(void **state)
{
	const struct etwd_peer owner = peer_of(OWNER, false);
	const struct etwd_peer stranger = peer_of(STRANGER, false);
	const struct etwd_peer privileged = peer_of(STRANGER, true);
	const GUID guid = {.Data1 = 1};
	struct etwd_session *session, *found = NULL;

	(void)state;
	assert_int_equal(add(7, "one", 1, OWNER, &session), 0);
	assert_int_equal(etwd_sessions_find_for(&sessions, &owner, ETWD_ACT_CONTROL, 7, &found),
			 -ENOENT);
	session->state = ETWD_SESSION_RUNNING; /* until then nobody sees it */
	assert_int_equal(etwd_sessions_find_for(&sessions, &stranger, ETWD_ACT_CONTROL, 7, &found),
			 -ENOENT);
	assert_null(found);
	assert_int_equal(etwd_sessions_find_for(&sessions, &owner, ETWD_ACT_CONTROL, 7, &found), 0);
	assert_ptr_equal(found, session);
	assert_int_equal(
		etwd_sessions_find_for(&sessions, &privileged, ETWD_ACT_CONTROL, 7, &found), 0);
	assert_int_equal(
		etwd_sessions_find_for(&sessions, &privileged, ETWD_ACT_CONTROL, 8, &found),
		-ENOENT);
	assert_int_equal(etwd_sessions_find_name_for(&sessions, &stranger, ETWD_ACT_CONTROL, "one",
						     NULL, &found),
			 -ENOENT);
	assert_int_equal(etwd_sessions_find_name_for(&sessions, &owner, ETWD_ACT_CONTROL, "ONE",
						     NULL, &found),
			 0);
	assert_int_equal(
		etwd_sessions_find_name_for(&sessions, &owner, ETWD_ACT_CONTROL, "", NULL, &found),
		-ENOENT);
	assert_int_equal(
		etwd_sessions_find_name_for(&sessions, &owner, ETWD_ACT_CONTROL, "", &guid, &found),
		0);
	session->state = ETWD_SESSION_STOPPING;
	found = NULL;
	assert_int_equal(etwd_sessions_find_for(&sessions, &owner, ETWD_ACT_CONTROL, 7, &found),
			 -EBUSY);
	assert_ptr_equal(found, session);
	assert_false(etwd_sessions_allow(&sessions, session, &stranger, ETWD_ACT_CONTROL));
}

static void test_sessions__what_may_be_called(void **state)
{
	static struct etwd_job stop;
	struct etwd_session *session;

	(void)state;
	assert_false(etwd_sessions_has_kernel(&sessions));
	assert_int_equal(add(1, "one", 1, OWNER, &session), 0);
	assert_false(etwd_session_is_usable(session));
	session->state = ETWD_SESSION_RUNNING;
	assert_false(etwd_sessions_has_kernel(&sessions));
	assert_true(etwd_session_is_usable(session));
	session->is_system_logger = true;
	assert_true(etwd_sessions_has_kernel(&sessions));
	session->state = ETWD_SESSION_STOPPING;
	session->work.stop = &stop; /* its job has not begun */
	assert_true(etwd_session_is_usable(session));
	session->work.stop = NULL;
	assert_false(etwd_session_is_usable(session));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_sessions__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_and_guids_are_unique), TEST(the_budget_and_the_table_end),
		TEST(numbers_go_round),           TEST(who_may_control),
		TEST(what_may_be_called),         TEST(system_loggers_have_places_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
