/* SPDX-License-Identifier: MIT */
#include "daemon/keeper_message.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int ends[2];

static int set_up(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static void test_keeper_message__names_and_descriptors(void **state)
{
	struct etwd_keeper_message message;
	char name[ETWD_KEPT_NAME_BYTES + 1];
	int fd = -1;

	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_KEEP, "a name", STDERR_FILENO), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), 0);
	assert_int_equal(message.op, ETWD_KEEPER_KEEP);
	assert_string_equal(message.name, "a name");
	assert_true(fd > STDERR_FILENO);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_READY, "", -1), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), 0);
	assert_int_equal(message.op, ETWD_KEEPER_READY);
	assert_int_equal(fd, -1);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_KEEP, name, -1), -ENAMETOOLONG);
	name[sizeof(name) - 2] = '\0';
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_KEEP, name, -1), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), 0);
	assert_string_equal(message.name, name);
	assert_int_equal(etwd_keeper_receive(ends[1], MSG_DONTWAIT, &message, &fd), -EAGAIN);
}

static void test_keeper_message__failures(void **state)
{
	struct etwd_keeper_message message;
	char sentence[2 * ETWD_KEPT_NAME_BYTES];
	int fd;

	(void)state;
	assert_int_equal(etwd_keeper_send_failure(ends[0], ENOMEM, "no memory"), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), 0);
	assert_int_equal(message.op, ETWD_KEEPER_FAILED);
	assert_int_equal(message.number, ENOMEM);
	assert_string_equal(message.name, "no memory");
	memset(sentence, 'x', sizeof(sentence) - 1);
	sentence[sizeof(sentence) - 1] = '\0';
	assert_int_equal(etwd_keeper_send_failure(ends[0], EIO, sentence), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), 0);
	assert_int_equal(strlen(message.name), ETWD_KEPT_NAME_BYTES - 1);
}

static void test_keeper_message__broken_ones(void **state)
{
	struct etwd_keeper_message message;
	int fd;

	(void)state;
	assert_int_equal(send(ends[0], "short", 5, 0), 5);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), -EPROTO);
	memset(&message, 'x', sizeof(message));
	assert_int_equal(send(ends[0], &message, sizeof(message), 0), sizeof(message));
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), -EPROTO);
	assert_int_equal(shutdown(ends[0], SHUT_RDWR), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), -EPIPE);
	assert_int_equal(etwd_keeper_send(ends[1], ETWD_KEEPER_READY, "", -1), -EPIPE);
}

/* The descriptor is lost then: what it was must not be taken for a message without one. */
static void test_keeper_message__no_room_for_the_descriptor(void **state)
{
	struct etwd_keeper_message message;
	struct rlimit before, limit;
	int fd = -1, first_free = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(etwd_keeper_send(ends[0], ETWD_KEEPER_GIVEN, "a name", STDERR_FILENO), 0);
	close(first_free);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){(rlim_t)first_free, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(etwd_keeper_receive(ends[1], 0, &message, &fd), -EMFILE);
	assert_string_equal(message.name, "a name"); /* so that whoever sent it can be told */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_keeper_message__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_and_descriptors),
		TEST(failures),
		TEST(broken_ones),
		TEST(no_room_for_the_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
