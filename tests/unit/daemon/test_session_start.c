/* SPDX-License-Identifier: MIT */
/* What a new host does with what the last one kept for sessions. */
#include "daemon/session_start.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/log.h"

/* A host that died between keeping a session's file and its state, or forgetting them, left the file. */
static void test_session_start__leftovers_are_forgotten(void **state)
{
	static const char *const left[] = {"session-9/file", "other", "session-9/ring-3",
					   "session-09/file", "session-12/kernel-ring"};
	struct etwd_sessions sessions;
	struct etwd_keeper_store store;
	const struct etwd_session_parts parts = {.sessions = &sessions, .store = &store};
	struct etwd_keeper_message message;
	int ends[2], fd;

	(void)state;
	etwd_sessions_init(&sessions, NULL, NULL, true);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		assert_int_equal(
			etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, left[i], STDERR_FILENO), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	etwd_session_adopt_all(&parts);
	assert_int_equal(etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, &fd), 0);
	assert_int_equal(message.op, ETWD_KEEPER_FORGET);
	assert_string_equal(message.name, "session-9/");
	assert_int_equal(etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, &fd), 0);
	assert_int_equal(message.op, ETWD_KEEPER_FORGET);
	assert_string_equal(message.name, "session-12/");
	assert_int_equal(etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, &fd), -EAGAIN);
	assert_string_equal(etwd_keeper_kept_name(&store, 0), "other");
	assert_string_equal(etwd_keeper_kept_name(&store, 1), "session-09/file");
	assert_null(etwd_keeper_kept_name(&store, 2));
	etwd_keeper_store_done(&store);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_start__leftovers_are_forgotten),
	};

	(void)etwd_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
