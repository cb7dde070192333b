/* SPDX-License-Identifier: MIT */
/* Whom a process makes files for: not for a user who may do less than the process may. */
#include "provider/outside.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define USER 65534

enum answer {
	STARTED = 10,
	DENIED = 11,
	OTHERWISE = 12,
	UNABLE = 13
};

static unsigned starts;

static int start(unsigned link, uint32_t round, const struct wire_session_info *wanted,
		 struct wire_session_info *ret)
{
	(void)link;
	(void)round;
	*ret = *wanted;
	starts++;
	return 0;
}

/* A process, in the order of what happens. */
struct row {
	int (*become)(void); /* NULL: it stays what it is */
	uid_t host;          /* whose the host is */
	uid_t session;       /* as the host says */
	enum answer expected;
};

/* The socket's other end is of who makes it. */
static int make_host(uid_t uid, int ends[2])
{
	int r;

	if (seteuid(uid) < 0)
		return -1;
	r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
	return seteuid(0) < 0 ? -1 : r;
}

static enum answer ask(const struct row *row)
{
	static const struct etw_runtime_places places = {.first = "/nonexistent/etw"};
	static const struct etw_outside_handler handler = {.start = start};
	static struct wire_session_info info = {.config.name = "some", .config.log_file = "/some"};
	static uint8_t bytes[WIRE_MESSAGE_BYTES_MAX];
	static struct etw_ipc_message message;
	static struct etw_link link;
	struct wire_message head = {.type = WIRE_PRIVATE_START, .request = 1};
	int ends[2];

	if (make_host(row->host, ends) < 0 || (row->become && row->become() < 0))
		return UNABLE;
	etw_outside_set_handler(&handler);
	etw_link_init(&link, 0, &places);
	link.state = ETW_LINK_CONNECTED;
	link.socket = etw_own_fd_take(ends[0]);
	info.handle = WIRE_OUTSIDE_SESSION_ID_FIRST;
	info.uid = row->session;
	etw_ipc_message_init(&message);
	if (etw_ipc_send(ends[1], bytes, wire_message_encode_session_info(&head, &info, bytes),
			 NULL, 0) < 0 ||
	    etw_ipc_receive(ends[0], &message) < 0 || etw_outside_handle(&link, &message) < 0 ||
	    etw_ipc_receive(ends[1], &message) < 0 || message.head.type != WIRE_PRIVATE_DONE)
		return OTHERWISE;
	if (message.head.status == -EACCES && !starts)
		return DENIED;
	return message.head.status == 0 && starts == 1 ? STARTED : OTHERWISE;
}

static int become_user(void)
{
	return setresgid(USER, USER, USER) < 0 ? -1 : setresuid(USER, USER, USER);
}

/* As a server that does something for a user, and is root again afterwards. */
static int become_user_for_now(void)
{
	return setresgid(USER, USER, USER) < 0 ? -1 : setresuid(USER, USER, 0);
}

static int keep_capabilities(void)
{
	return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ? -1 : become_user();
}

static void test_outside__who_may_make_files_here(void **state)
{
	static const struct row rows[] = {
		{NULL, 0, 0, STARTED},
		{NULL, 0, USER, DENIED},
		{NULL, USER, 0, DENIED},
		{become_user, 0, 0, STARTED},
		{become_user, 0, USER, STARTED},
		{become_user, USER, USER, STARTED},
		{become_user_for_now, 0, 0, STARTED},
		{become_user_for_now, 0, USER, DENIED},
		{become_user_for_now, USER, USER, DENIED},
		{become_user_for_now, USER, 0, DENIED}, /* the host lies */
		{keep_capabilities, 0, 0, STARTED},
		{keep_capabilities, USER, USER, DENIED},
		{keep_capabilities, USER, 0, DENIED},
	};

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const pid_t child = fork();
		int status = -1;

		assert_true(child >= 0);
		if (child == 0)
			_exit((int)ask(&rows[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == UNABLE) /* root of a container may have no right to */
			skip();
		if (WEXITSTATUS(status) != (int)rows[i].expected)
			fail_msg("row %zu: %d", i, WEXITSTATUS(status));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outside__who_may_make_files_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
