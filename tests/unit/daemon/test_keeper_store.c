/* SPDX-License-Identifier: MIT */
/* The host's side against a keeper of the test's own. */
#include "daemon/keeper_store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

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
	assert_string_equal(etwd_keeper_kept_name(&store, 0), "session-1/state");
	assert_string_equal(etwd_keeper_kept_name(&store, 2), "session-12/state");
	assert_null(etwd_keeper_kept_name(&store, 3));
	fd = etwd_keeper_take(&store, "session-1/state");
	assert_true(fd >= 0 && holds(fd, "one"));
	close(fd);
	assert_int_equal(etwd_keeper_take(&store, "session-1/state"), -ENOENT);
	assert_int_equal(etwd_keeper_take(&store, "never"), -ENOENT);
	etwd_keeper_forget(&store, "session-1/");
	assert_int_equal(etwd_keeper_take(&store, "session-1/file"), -ENOENT);
	assert_string_equal(etwd_keeper_kept_name(&store, 0), "session-12/state");
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
	assert_int_equal(etwd_keeper_keep(&store, "a name", fd), 0);
	assert_int_equal(etwd_keeper_receive(ends[0], 0, &message, &got), 0);
	assert_int_equal(message.op, ETWD_KEEPER_KEEP);
	assert_string_equal(message.name, "a name");
	assert_true(got >= 0 && holds(got, "kept"));
	assert_int_equal(fcntl(got, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(got);
	etwd_keeper_forget(&store, "a name");
	assert_int_equal(etwd_keeper_receive(ends[0], 0, &message, &got), 0);
	assert_int_equal(message.op, ETWD_KEEPER_FORGET);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(etwd_keeper_keep(&store, name, fd), -ENAMETOOLONG);
	etwd_keeper_ready(&store);
	assert_int_equal(etwd_keeper_receive(ends[0], 0, &message, &got), 0);
	assert_int_equal(message.op, ETWD_KEEPER_READY);
	/* Without a keeper it says so, and goes on. */
	close(ends[0]);
	assert_int_equal(etwd_keeper_keep(&store, "a name", fd), -EPIPE);
	assert_int_equal(etwd_keeper_keep(&store, "a name", fd), -EPIPE);
	etwd_keeper_forget(&store, "a name");
	close(fd);
	etwd_keeper_store_done(&store);
	assert_int_equal(etwd_keeper_store_init(&store, -1), 0);
	assert_int_equal(etwd_keeper_keep(&store, "a name", 0), -EPIPE);
	etwd_keeper_store_done(&store);
	ends[0] = dup(STDERR_FILENO);
}

/* Until the socket takes no more; returns how many it took. */
static unsigned fill_socket(int fd)
{
	unsigned count = 0;
	char name[16];
	int r;

	do
		(void)snprintf(name, sizeof(name), "%u", count++);
	while ((r = etwd_keeper_keep(&store, name, fd)) == 0);
	assert_int_equal(r, -EINPROGRESS);
	return count - 1;
}

static uint32_t receive(char name[ETWD_KEPT_NAME_BYTES])
{
	struct etwd_keeper_message message;
	int fd;

	if (etwd_keeper_receive(ends[0], MSG_DONTWAIT, &message, &fd))
		return 0;
	if (fd >= 0)
		close(fd);
	memcpy(name, message.name, sizeof(message.name));
	return message.op;
}

/* A keeper that is stopped must stop nobody; what it missed it gets in order. */
static void test_keeper_store__stopped_keeper(void **state)
{
	char name[ETWD_KEPT_NAME_BYTES];
	int fd = make_file("kept");
	int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unsigned taken, received = 0;
	eventfd_t count;

	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	store.wake_fd = wake;
	assert_true(etwd_keeper_retry(&store, 5) == UINT64_MAX);
	taken = fill_socket(fd);
	assert_true(taken > 10);
	assert_int_equal(eventfd_read(wake, &count), 0);
	assert_true(etwd_keeper_retry(&store, 5) > 5);
	assert_true(etwd_keeper_retry(&store, 5) != UINT64_MAX);
	/* What was to be kept and is to be forgotten never reaches it. */
	assert_int_equal(etwd_keeper_keep(&store, "session-1/state", fd), -EINPROGRESS);
	assert_int_equal(etwd_keeper_keep(&store, "session-2/state", fd), -EINPROGRESS);
	etwd_keeper_forget(&store, "session-1/");
	etwd_keeper_ready(&store);
	while (receive(name) == ETWD_KEEPER_KEEP)
		received++;
	assert_int_equal(received, taken);
	assert_true(etwd_keeper_retry(&store, 5) == UINT64_MAX);
	assert_int_equal(receive(name), ETWD_KEEPER_KEEP); /* the one that began the queue */
	assert_int_equal(receive(name), ETWD_KEEPER_KEEP);
	assert_string_equal(name, "session-2/state");
	assert_int_equal(receive(name), ETWD_KEEPER_FORGET);
	assert_string_equal(name, "session-1/");
	assert_int_equal(receive(name), ETWD_KEEPER_READY);
	assert_int_equal(receive(name), 0);
	assert_int_equal(etwd_keeper_keep(&store, "another", fd), 0);
	close(fd);
	close(wake);
	etwd_keeper_store_done(&store);
}

static void test_keeper_store__queue_has_an_end(void **state)
{
	int fd = make_file("kept");
	unsigned count = 1;
	char name[32];
	int r;

	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	(void)fill_socket(fd);
	do
		(void)snprintf(name, sizeof(name), "queued %u", count++);
	while ((r = etwd_keeper_keep(&store, name, STDERR_FILENO)) == -EINPROGRESS);
	/* Or the process has no more descriptors. */
	assert_true((r == -ENOBUFS && count == ETWD_KEEPER_QUEUE_MAX + 1) || r == -EMFILE);
	/* It dies: nothing waits any more. */
	close(ends[0]);
	assert_true(etwd_keeper_retry(&store, 5) == UINT64_MAX);
	assert_int_equal(etwd_keeper_keep(&store, "a name", fd), -EPIPE);
	close(fd);
	etwd_keeper_store_done(&store);
	ends[0] = dup(STDERR_FILENO);
}

static void test_keeper_store__what_the_keeper_refuses(void **state)
{
	char name[ETWD_KEPT_NAME_BYTES];
	int fd = make_file("kept");

	(void)state;
	give("session-1/state", "one");
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), 0);
	store.limit = 3;
	assert_int_equal(etwd_keeper_room(&store, 2), 0);
	assert_int_equal(etwd_keeper_room(&store, 3), -EMFILE);
	assert_int_equal(etwd_keeper_keep(&store, "session-2/state", fd), 0);
	assert_int_equal(etwd_keeper_keep(&store, "session-2/state", fd), 0); /* the same place */
	assert_int_equal(etwd_keeper_room(&store, 1), 0);
	assert_int_equal(etwd_keeper_room(&store, 2), -EMFILE);
	etwd_keeper_forget(&store, "session-1/");
	assert_int_equal(etwd_keeper_room(&store, 2), 0);
	/* The keeper knows better: for a while nothing new begins. */
	assert_int_equal(etwd_keeper_hear(&store, name), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_REFUSED, "session-2/state", -1), 0);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN_ALL, "", -1), 0);
	assert_int_equal(etwd_keeper_hear(&store, name), 1);
	assert_string_equal(name, "session-2/state");
	assert_int_equal(etwd_keeper_hear(&store, name), 0);
	store.full_until_ms = UINT64_MAX;
	assert_int_equal(etwd_keeper_room(&store, 1), -EMFILE);
	store.full_until_ms = 0;
	assert_int_equal(etwd_keeper_room(&store, 3), 0);
	/* Without a keeper nothing is refused, and nothing is heard. */
	close(ends[0]);
	assert_int_equal(etwd_keeper_hear(&store, name), 0);
	assert_int_equal(etwd_keeper_room(&store, 100), 0);
	close(fd);
	etwd_keeper_store_done(&store);
	ends[0] = dup(STDERR_FILENO);
}

static void test_keeper_store__broken_keepers(void **state)
{
	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, "without one", -1), 0);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), -EPROTO);
	etwd_keeper_store_done(&store);
	close(ends[0]);
	assert_int_equal(set_up(state), 0);
	assert_int_equal(send(ends[0], "short", 5, 0), 5);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), -EPROTO);
	etwd_keeper_store_done(&store);
	close(ends[0]);
	assert_int_equal(set_up(state), 0);
	shutdown(ends[0], SHUT_RDWR);
	assert_int_equal(etwd_keeper_store_init(&store, ends[1]), -EPIPE);
	etwd_keeper_store_done(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_keeper_store__takes_over_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__keeps_and_forgets, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__stopped_keeper, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__queue_has_an_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__what_the_keeper_refuses, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_keeper_store__broken_keepers, set_up,
						tear_down),
	};

	(void)etwd_log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
