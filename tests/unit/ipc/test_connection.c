/* SPDX-License-Identifier: MIT */
/* Datagrams and descriptors over a pair of sockets, and every way in which the other end can misbehave. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ipc/connection.h"

static struct etw_ipc_message message;
static uint8_t room[WIRE_MESSAGE_BYTES_MAX];
static int ends[2];

static int setup(void **state)
{
	(void)state;
	etw_ipc_message_init(&message);
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
}

static void close_end(int which)
{
	if (ends[which] >= 0)
		(void)close(ends[which]);
	ends[which] = -1;
}

static int teardown(void **state)
{
	(void)state;
	etw_ipc_message_done(&message);
	close_end(0);
	close_end(1);
	return 0;
}

static size_t plain(uint32_t request)
{
	return wire_message_encode_plain(&(struct wire_message){WIRE_REPLY, request, -ENOENT},
					 room);
}

static int count_fds(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* A datagram as only another implementation would send it. */
static void send_raw(const void *bytes, size_t byte_count, const int *fds, unsigned fd_count)
{
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(16 * sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {(void *)(uintptr_t)bytes, byte_count};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd_count) {
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, fd_count * sizeof(int));
	}
	assert_int_equal(sendmsg(ends[0], &header, MSG_NOSIGNAL), byte_count);
}

static void test_connection__a_datagram_arrives(void **state)
{
	(void)state;
	assert_int_equal(etw_ipc_send(ends[0], room, plain(77), NULL, 0), 0);
	assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
	assert_int_equal(message.head.type, WIRE_REPLY);
	assert_int_equal(message.head.request, 77);
	assert_int_equal(message.head.status, -ENOENT);
	assert_int_equal(message.datagram.left, 12);
	assert_ptr_equal(message.datagram.at, message.bytes);
	assert_int_equal(message.fds[0], -1);
	assert_int_equal(message.fds[1], -1);
}

static void test_connection__descriptors_arrive_close_on_exec(void **state)
{
	struct stat sent, got;
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(1), pipes, 2), 0);
	assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(message.fds[i] >= 0);
		assert_int_equal(fcntl(message.fds[i], F_GETFD), FD_CLOEXEC);
		assert_int_equal(fstat(pipes[i], &sent), 0);
		assert_int_equal(fstat(message.fds[i], &got), 0);
		assert_int_equal(sent.st_ino, got.st_ino);
		(void)close(pipes[i]);
	}
}

static void test_connection__descriptors_nobody_took_are_closed(void **state)
{
	int before = count_fds();
	int taken;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(etw_ipc_send(ends[0], room, plain(1), ends, 2), 0);
		assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
	}
	assert_int_equal(count_fds(), before + 2);
	taken = message.fds[0];
	message.fds[0] = -1;
	etw_ipc_message_done(&message);
	etw_ipc_message_done(&message);
	assert_int_equal(count_fds(), before + 1);
	(void)close(taken);
}

static void test_connection__the_largest_message_fits(void **state)
{
	static uint8_t header[WIRE_MESSAGE_BYTES_MAX - 56]; /* what else there is */
	struct wire_message head = {WIRE_SUBSCRIBED, 1, 0};
	struct wire_subscribed body = {1, 2, 3, 4, 5, 6, {header, sizeof(header)}}, got;
	size_t bytes = wire_message_encode_subscribed(&head, &body, room);

	(void)state;
	header[sizeof(header) - 1] = 0xAB;
	bytes = wire_message_encode_subscribed(&head, &body, room);
	assert_int_equal(bytes, WIRE_MESSAGE_BYTES_MAX);
	assert_int_equal(etw_ipc_send(ends[0], room, bytes, NULL, 0), 0);
	assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
	assert_int_equal(wire_message_decode_subscribed(message.datagram, &got), 0);
	assert_int_equal(got.header_buffer.left, sizeof(header));
	assert_memory_equal(got.header_buffer.at, header, sizeof(header));
}

static void test_connection__an_enlarged_socket_takes_several_of_them(void **state)
{
	struct wire_message head = {WIRE_ENABLE_PROVIDER, 1, 0};
	static uint8_t filters[WIRE_FILTER_BYTES_MAX];
	struct wire_enable_provider body = {.filters = {filters, sizeof(filters)}};
	size_t bytes = wire_message_encode_enable_provider(&head, &body, room);

	(void)state;
	etw_ipc_enlarge(ends[0]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(etw_ipc_send(ends[0], room, bytes, NULL, 0), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
}

static void test_connection__a_full_queue_is_eagain(void **state)
{
	int sent = 0, r;

	(void)state;
	while ((r = etw_ipc_send(ends[0], room, plain(1), NULL, 0)) == 0)
		assert_true(++sent < 1000000);
	assert_int_equal(r, -EAGAIN);
	for (int i = 0; i < sent; i++)
		assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EAGAIN);
}

static void test_connection__an_empty_queue_is_eagain(void **state)
{
	(void)state;
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EAGAIN);
	assert_int_equal(message.datagram.left, 0);
}

static void test_connection__a_peer_that_went_away_is_epipe(void **state)
{
	(void)state;
	close_end(1);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(1), NULL, 0), -EPIPE);
	assert_int_equal(etw_ipc_receive(ends[0], &message), -EPIPE);
}

static void test_connection__what_a_peer_said_before_it_went_arrives(void **state)
{
	(void)state;
	assert_int_equal(etw_ipc_send(ends[1], room, plain(5), NULL, 0), 0);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(6), NULL, 0), 0);
	close_end(1); /* with our message unread: a reset */
	assert_int_equal(etw_ipc_receive(ends[0], &message), 0);
	assert_int_equal(message.head.request, 5);
	assert_int_equal(etw_ipc_receive(ends[0], &message), -EPIPE);
}

static void test_connection__what_cannot_be_sent(void **state)
{
	static uint8_t many[WIRE_MESSAGE_BYTES_MAX + 1];
	int fds[WIRE_MESSAGE_FDS_MAX + 1] = {0};

	(void)state;
	assert_int_equal(etw_ipc_send(ends[0], many, sizeof(many), NULL, 0), -EMSGSIZE);
	assert_int_equal(etw_ipc_send(ends[0], many, 0, NULL, 0), -EINVAL);
	assert_int_equal(etw_ipc_send(ends[0], many, 1, fds, WIRE_MESSAGE_FDS_MAX + 1), -EINVAL);
	fds[0] = -1;
	assert_int_equal(etw_ipc_send(ends[0], many, 1, fds, 1), -EBADF);
	assert_int_equal(etw_ipc_send(-1, many, 1, NULL, 0), -EBADF);
}

static void test_connection__what_is_no_message_is_eproto(void **state)
{
	static uint8_t many[WIRE_MESSAGE_BYTES_MAX + 1];
	int before = count_fds();

	(void)state;
	(void)plain(1);
	memcpy(many, room, 12);
	send_raw(many, 11, ends, 1);
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EPROTO);
	assert_int_equal(message.fds[0], -1);
	/* Cut by the size of our room: the head alone would have been good. */
	etw_store32(many, WIRE_START);
	send_raw(many, sizeof(many), ends, 2);
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EPROTO);
	assert_int_equal(count_fds(), before);
	assert_int_equal(message.datagram.left, 0);
}

static void test_connection__too_many_descriptors_are_eproto_and_closed(void **state)
{
	int fds[16];
	int before = count_fds();

	(void)state;
	for (size_t i = 0; i < 16; i++)
		fds[i] = ends[0];
	send_raw(room, plain(1), fds, 3);
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EPROTO);
	send_raw(room, plain(1), fds, 16);
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EPROTO);
	assert_int_equal(count_fds(), before);
	send_raw(room, plain(1), fds, 2);
	assert_int_equal(etw_ipc_receive(ends[1], &message), 0);
}

static void test_connection__an_empty_datagram_is_a_peer_that_went(void **state)
{
	int before = count_fds();

	(void)state;
	send_raw(room, 0, ends, 1);
	assert_int_equal(etw_ipc_receive(ends[1], &message), -EPIPE);
	assert_int_equal(count_fds(), before);
}

static void test_connection__the_peer_is_this_process(void **state)
{
	struct etw_peer peer;

	(void)state;
	assert_int_equal(etw_ipc_peer(ends[0], &peer), 0);
	assert_int_equal(peer.pid, getpid());
	assert_int_equal(peer.uid, geteuid());
	assert_int_equal(peer.gid, getegid());
	assert_int_equal(etw_ipc_peer(-1, &peer), -EBADF);
}

/* As on a kernel that cannot refuse: the datagram stays where it is, and no descriptor is made or closed. */
static void test_connection__a_guarded_socket_leaves_descriptors_alone(void **state)
{
	int before = count_fds();
	int kept[2];
	uint8_t byte;

	(void)state;
	assert_int_equal(pipe(kept), 0);
	assert_true(etw_ipc_guard(ends[1]));
	assert_int_equal(etw_ipc_send(ends[0], room, plain(1), NULL, 0), 0);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(2), &kept[1], 1), 0);
	(void)close(kept[1]);
	assert_int_equal(etw_ipc_receive_bare(ends[1], true, &message), 0);
	assert_int_equal(message.head.request, 1);
	assert_int_equal(message.fds[0], -1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(etw_ipc_receive_bare(ends[1], true, &message), -EPROTO);
	assert_false(etw_ipc_is_closable(ends[1]));
	assert_int_equal(fcntl(kept[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(read(kept[0], &byte, 1), -1); /* its other end is still open somewhere */
	close_end(1);
	assert_int_equal(read(kept[0], &byte, 1), 0);
	(void)close(kept[0]);
	assert_int_equal(count_fds(), before - 1);
}

static void test_connection__a_guarded_socket_is_closable_without_descriptors(void **state)
{
	(void)state;
	assert_true(etw_ipc_guard(ends[1]));
	assert_int_equal(etw_ipc_receive_bare(ends[1], true, &message), -EAGAIN);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(1), NULL, 0), 0);
	send_raw(room, 0, NULL, 0);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(2), NULL, 0), 0);
	assert_true(etw_ipc_is_closable(ends[1]));
	assert_int_equal(etw_ipc_send(ends[0], room, plain(3), NULL, 0), -EPIPE);
	assert_true(etw_ipc_is_closable(ends[1]));
}

/* Behind datagrams of no bytes, which look like an end, and behind a peer that has gone. */
static void test_connection__a_guarded_socket_finds_hidden_descriptors(void **state)
{
	(void)state;
	assert_true(etw_ipc_guard(ends[1]));
	send_raw(room, 0, NULL, 0);
	assert_int_equal(etw_ipc_send(ends[0], room, plain(1), NULL, 0), 0);
	send_raw(room, 0, ends, 1);
	assert_int_equal(etw_ipc_send(ends[1], room, plain(1), NULL, 0), 0);
	close_end(0); /* a reset */
	assert_false(etw_ipc_is_closable(ends[1]));
}

static void test_connection__too_long_a_queue_counts_as_one_with_descriptors(void **state)
{
	(void)state;
	assert_true(etw_ipc_guard(ends[1]));
	for (int i = 0; i < 400 && etw_ipc_send(ends[0], room, plain(1), NULL, 0) == 0; i++)
		;
	if (etw_ipc_is_closable(ends[1])) {
		print_message("this kernel's queues are short\n");
		return;
	}
	assert_true(etw_ipc_is_closable(ends[1])); /* the rest */
}

static void test_connection__a_refusing_listener_is_inherited(void **state)
{
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_storage address = {.ss_family = AF_UNIX};
	socklen_t bytes = sizeof(sa_family_t);
	int accepted = -1, r;

	(void)state;
	r = etw_ipc_refuse_fds(listener);
	assert_true(r == 0 || r == -ENOPROTOOPT);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, bytes), 0);
	assert_int_equal(listen(listener, 1), 0);
	bytes = sizeof(address);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &bytes), 0);
	assert_int_equal(connect(client, (const struct sockaddr *)&address, bytes), 0);
	assert_int_equal(etw_ipc_accept(listener, &accepted), 0);
	if (r == 0) {
		assert_false(etw_ipc_guard(accepted));
		assert_int_equal(etw_ipc_send(client, room, plain(1), ends, 1), -EPERM);
		assert_int_equal(etw_ipc_send(accepted, room, plain(1), ends, 1), 0);
		assert_int_equal(etw_ipc_receive(client, &message), 0);
		assert_true(message.fds[0] >= 0);
	} else {
		assert_true(etw_ipc_guard(accepted));
	}
	assert_int_equal(etw_ipc_send(client, room, plain(9), NULL, 0), 0);
	assert_int_equal(etw_ipc_receive_bare(accepted, r != 0, &message), 0);
	assert_int_equal(message.head.request, 9);
	(void)close(listener);
	(void)close(client);
	(void)close(accepted);
	assert_int_equal(etw_ipc_refuse_fds(-1), -EBADF);
}

static void test_connection__nobody_to_accept_is_eagain(void **state)
{
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	sa_family_t family = AF_UNIX; /* the kernel makes up an abstract name */
	int fd = -1;

	(void)state;
	assert_int_equal(bind(listener, (const struct sockaddr *)&family, sizeof(family)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(etw_ipc_accept(listener, &fd), -EAGAIN);
	assert_int_equal(etw_ipc_accept(-1, &fd), -EBADF);
	assert_int_equal(fd, -1);
	(void)close(listener);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_connection__a_datagram_arrives),
		CASE(test_connection__descriptors_arrive_close_on_exec),
		CASE(test_connection__descriptors_nobody_took_are_closed),
		CASE(test_connection__the_largest_message_fits),
		CASE(test_connection__an_enlarged_socket_takes_several_of_them),
		CASE(test_connection__a_full_queue_is_eagain),
		CASE(test_connection__an_empty_queue_is_eagain),
		CASE(test_connection__a_peer_that_went_away_is_epipe),
		CASE(test_connection__what_a_peer_said_before_it_went_arrives),
		CASE(test_connection__what_cannot_be_sent),
		CASE(test_connection__what_is_no_message_is_eproto),
		CASE(test_connection__too_many_descriptors_are_eproto_and_closed),
		CASE(test_connection__an_empty_datagram_is_a_peer_that_went),
		CASE(test_connection__the_peer_is_this_process),
		CASE(test_connection__a_guarded_socket_leaves_descriptors_alone),
		CASE(test_connection__a_guarded_socket_is_closable_without_descriptors),
		CASE(test_connection__a_guarded_socket_finds_hidden_descriptors),
		CASE(test_connection__too_long_a_queue_counts_as_one_with_descriptors),
		CASE(test_connection__a_refusing_listener_is_inherited),
		CASE(test_connection__nobody_to_accept_is_eagain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
