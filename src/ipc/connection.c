/* SPDX-License-Identifier: MIT */
/* Datagrams and descriptors in both directions. Nothing here knows what a message means. */
#include "ipc/connection.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for several of the largest messages; the kernel cuts it to its own limit. */
#define SEND_BUFFER_BYTES (4 * WIRE_MESSAGE_BYTES_MAX)

/* Of Linux 6.16; older headers lack it. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* A queue is looked through for so many datagrams, then it counts as one with descriptors. */
#define QUEUE_LOOKS_MAX 256

/* Control data of a datagram, aligned as struct cmsghdr wants it. */
union control {
	struct cmsghdr align;
	uint8_t bytes[CMSG_SPACE(WIRE_MESSAGE_FDS_MAX * sizeof(int))];
};

void etw_ipc_message_init(struct etw_ipc_message *message)
{
	message->head = (struct wire_message){0};
	message->datagram = (struct etw_bytes){NULL, 0};
	message->is_cut = false;
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

/* recvmsg() until there is a datagram, an end or an error. @control_bytes 0: none is wanted. */
static ssize_t receive_datagram(int socket, struct etw_ipc_message *message, union control *control,
				struct msghdr *ret)
{
	struct iovec part = {message->bytes, sizeof(message->bytes)};
	bool was_reset = false;

	for (;;) {
		struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
		ssize_t bytes;

		if (control) {
			header.msg_control = control;
			header.msg_controllen = sizeof(*control);
		}
		bytes = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
		*ret = header;
		if (bytes >= 0)
			return bytes;
		/* A reset hides datagrams that arrived before it: it is told once, then they come. */
		if (errno == ECONNRESET && !was_reset)
			was_reset = true;
		else if (errno != EINTR)
			return errno == ECONNRESET || errno == ENOTCONN ? -EPIPE : -errno;
	}
}

/* What a datagram says, or that it is none. @bad_flags: of msg_flags */
static int take_datagram(struct etw_ipc_message *message, ssize_t bytes, int bad_flags)
{
	int r;

	message->datagram = (struct etw_bytes){message->bytes, (size_t)bytes};
	if (!bytes)
		r = -EPIPE;
	else if (bad_flags)
		r = -EPROTO;
	else
		r = wire_message_decode(message->datagram, &message->head);
	if (r < 0) {
		etw_ipc_message_done(message);
		message->datagram = (struct etw_bytes){NULL, 0};
	}
	return r;
}

int etw_ipc_receive(int socket, struct etw_ipc_message *message)
{
	union control control;
	struct msghdr header;
	ssize_t bytes;

	etw_ipc_message_done(message);
	message->datagram = (struct etw_bytes){NULL, 0};
	bytes = receive_datagram(socket, message, &control, &header);
	if (bytes < 0)
		return (int)bytes;
	take_fds(message, &header);
	message->is_cut = header.msg_flags & MSG_CTRUNC &&
			  message->fds[WIRE_MESSAGE_FDS_MAX - 1] < 0;
	if (!message->is_cut) /* else more came than any message has */
		return take_datagram(message, bytes, header.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
	etw_ipc_message_done(message);
	return take_datagram(message, bytes, header.msg_flags & MSG_TRUNC);
}

int etw_ipc_refuse_fds(int listener)
{
	const int off = 0;

	return setsockopt(listener, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) < 0 ? -errno : 0;
}

bool etw_ipc_guard(int socket)
{
	const int on = 1;
	int is_passing = 1;
	socklen_t bytes = sizeof(is_passing);

	if (getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &is_passing, &bytes) == 0 && !is_passing)
		return false;
	/* With its sender's credentials a datagram of no bytes differs from an end: see look(). */
	(void)setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	return true;
}

enum look {
	LOOK_NOTHING, /* no datagram: an empty queue, an end, an error */
	LOOK_BARE,
	LOOK_FDS, /* the next datagram has descriptors */
};

/*
 * Looks at the next datagram of a guarded socket and leaves it there. There is room for the credentials alone,
 * so that the kernel makes no descriptor and says MSG_CTRUNC; the references that it drops are not the last.
 */
static enum look look(int socket)
{
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	bool was_reset = false;
	uint8_t byte;

	for (;;) {
		struct iovec part = {&byte, sizeof(byte)};
		struct msghdr header = {.msg_iov = &part,
					.msg_iovlen = 1,
					.msg_control = &control,
					.msg_controllen = sizeof(control)};

		if (recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT) >= 0) {
			if (header.msg_flags & MSG_CTRUNC)
				return LOOK_FDS;
			return header.msg_controllen ? LOOK_BARE : LOOK_NOTHING;
		}
		if (errno == ECONNRESET && !was_reset)
			was_reset = true;
		else if (errno != EINTR)
			return LOOK_NOTHING;
	}
}

int etw_ipc_receive_bare(int socket, bool is_guarded, struct etw_ipc_message *message)
{
	struct msghdr header;
	ssize_t bytes;

	etw_ipc_message_done(message);
	message->datagram = (struct etw_bytes){NULL, 0};
	if (is_guarded && look(socket) == LOOK_FDS)
		return -EPROTO;
	bytes = receive_datagram(socket, message, NULL, &header);
	if (bytes < 0)
		return (int)bytes;
	/* No room for control data: a guarded socket's credentials are cut off, which is no fault. */
	return take_datagram(message, bytes,
			     header.msg_flags & (is_guarded ? MSG_TRUNC : MSG_TRUNC | MSG_CTRUNC));
}

bool etw_ipc_is_closable(int socket)
{
	uint8_t byte;

	(void)shutdown(socket, SHUT_RDWR);
	for (int i = 0; i < QUEUE_LOOKS_MAX; i++) {
		switch (look(socket)) {
		case LOOK_NOTHING:
			return true;
		case LOOK_BARE:
			(void)recv(socket, &byte, sizeof(byte), MSG_DONTWAIT);
			break;
		case LOOK_FDS:
			return false;
		}
	}
	return false;
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
