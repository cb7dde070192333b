/* SPDX-License-Identifier: MIT */
/* Datagrams and descriptors in both directions. Nothing here knows what a message means. */
#include "ipc/connection.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macros.h"

/* Room for several of the largest messages; the kernel cuts it to its own limit. */
#define SEND_BUFFER_BYTES (4 * WIRE_MESSAGE_BYTES_MAX)

/* Control data of a datagram, aligned as struct cmsghdr wants it. */
union control {
	struct cmsghdr align;
	uint8_t bytes[CMSG_SPACE(WIRE_MESSAGE_FDS_MAX * sizeof(int))];
};

void etw_ipc_message_init(struct etw_ipc_message *message)
{
	message->head = (struct wire_message){0};
	message->datagram = (struct etw_bytes){NULL, 0};
	for (unsigned i = 0; i < WIRE_MESSAGE_FDS_MAX; i++)
		message->fds[i] = -1;
}

void etw_ipc_message_done(struct etw_ipc_message *message)
{
	for (unsigned i = 0; i < WIRE_MESSAGE_FDS_MAX; i++) {
		if (message->fds[i] >= 0)
			(void)close(message->fds[i]);
		message->fds[i] = -1;
	}
}

/* The kernel's several words for a peer that went away. */
static int send_error(int error)
{
	switch (error) {
	case ECONNRESET:
	case ECONNREFUSED:
	case ENOTCONN:
		return -EPIPE;
	default:
		return -error;
	}
}

int etw_ipc_send(int socket, const uint8_t *bytes, size_t byte_count, const int *fds,
		 unsigned fd_count)
{
	struct iovec part = {(void *)(uintptr_t)bytes, byte_count};
	union control control = {.bytes = {0}};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (!byte_count || fd_count > WIRE_MESSAGE_FDS_MAX)
		return -EINVAL;
	if (byte_count > WIRE_MESSAGE_BYTES_MAX)
		return -EMSGSIZE;
	if (fd_count) {
		struct cmsghdr *rights = &control.align;

		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(rights), fds, fd_count * sizeof(int));
	}
	while (sendmsg(socket, &header, MSG_NOSIGNAL) < 0) {
		if (errno != EINTR)
			return send_error(errno);
	}
	return 0;
}

/* Moves arrived descriptors into the message, which closes them whatever comes next. */
static void take_fds(struct etw_ipc_message *message, struct msghdr *header)
{
	unsigned taken = 0;

	for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
		size_t count;

		if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS)
			continue;
		count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(item) + i * sizeof(fd), sizeof(fd));
			if (taken < WIRE_MESSAGE_FDS_MAX)
				message->fds[taken++] = fd;
			else
				(void)close(fd);
		}
	}
}

int etw_ipc_receive(int socket, struct etw_ipc_message *message)
{
	struct iovec part = {message->room, sizeof(message->room)};
	union control control;
	struct msghdr header;
	bool was_reset = false;
	ssize_t bytes;
	int r;

	etw_ipc_message_done(message);
	message->datagram = (struct etw_bytes){NULL, 0};
	for (;;) {
		header = (struct msghdr){.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = &control,
					 .msg_controllen = sizeof(control)};
		bytes = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
		if (bytes >= 0)
			break;
		/* A reset hides datagrams that arrived before it: it is told once, then they come. */
		if (errno == ECONNRESET && !was_reset)
			was_reset = true;
		else if (errno != EINTR)
			return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
	}
	take_fds(message, &header);
	message->datagram = (struct etw_bytes){message->room, (size_t)bytes};
	if (!bytes)
		r = -EPIPE;
	else if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EPROTO;
	else
		r = wire_message_decode(message->datagram, &message->head);
	if (r < 0) {
		etw_ipc_message_done(message);
		message->datagram = (struct etw_bytes){NULL, 0};
	}
	return r;
}

int etw_ipc_peer(int socket, struct etw_peer *ret)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return -errno;
	*ret = (struct etw_peer){peer.pid, peer.uid, peer.gid};
	return 0;
}

void etw_ipc_enlarge(int socket)
{
	int bytes = SEND_BUFFER_BYTES;

	(void)setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int etw_ipc_accept(int listener, int *ret_socket)
{
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			etw_ipc_enlarge(fd);
			*ret_socket = fd;
			return 0;
		}
		if (errno != EINTR && errno != ECONNABORTED)
			return -errno;
	}
}
