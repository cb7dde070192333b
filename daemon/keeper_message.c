/* SPDX-License-Identifier: MIT */
/* See keeper_message.h. */
#include "daemon/keeper_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How often a send waits a millisecond because too many descriptors are in flight. */
#define IN_FLIGHT_TRIES 2000

union fd_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_message(int socket, const struct etwd_keeper_message *message, int fd, int flags)
{
	struct iovec part = {(void *)(uintptr_t)message, sizeof(*message)};
	union fd_room room;
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
	const struct timespec pause = {0, 1000000};

	if (fd >= 0) {
		memset(&room, 0, sizeof(room));
		packet.msg_control = room.bytes;
		packet.msg_controllen = sizeof(room.bytes);
		room.align.cmsg_level = SOL_SOCKET;
		room.align.cmsg_type = SCM_RIGHTS;
		room.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&room.align), &fd, sizeof(fd));
	}
	for (int try = 0;; try++) {
		if (sendmsg(socket, &packet, MSG_NOSIGNAL | flags) >= 0)
			return 0;
		if (errno == EINTR)
			continue;
		if (errno != ETOOMANYREFS || (flags & MSG_DONTWAIT) || try >= IN_FLIGHT_TRIES)
			return -errno;
		(void)nanosleep(&pause, NULL);
	}
}

static int send_name(int socket, uint32_t op, const char *name, int fd, int flags)
{
	struct etwd_keeper_message message = {.op = op};
	size_t bytes = strlen(name);

	if (bytes >= sizeof(message.name))
		return -ENAMETOOLONG;
	memcpy(message.name, name, bytes);
	return send_message(socket, &message, fd, flags);
}

int etwd_keeper_send(int socket, uint32_t op, const char *name, int fd)
{
	return send_name(socket, op, name, fd, 0);
}

int etwd_keeper_try(int socket, uint32_t op, const char *name, int fd)
{
	return send_name(socket, op, name, fd, MSG_DONTWAIT);
}

int etwd_keeper_pass_on(int socket, const struct etwd_keeper_message *message, int fd)
{
	return send_message(socket, message, fd, MSG_DONTWAIT);
}

int etwd_keeper_send_failure(int socket, int error, const char *sentence)
{
	struct etwd_keeper_message message = {.op = ETWD_KEEPER_FAILED, .number = error};

	memcpy(message.name, sentence, strnlen(sentence, sizeof(message.name) - 1));
	return send_message(socket, &message, -1, MSG_DONTWAIT);
}

static int take_fd(struct msghdr *packet)
{
	int fd = -1;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(packet); part; part = CMSG_NXTHDR(packet, part)) {
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
		    part->cmsg_len >= CMSG_LEN(sizeof(int)))
			memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	}
	return fd;
}

int etwd_keeper_receive(int socket, int flags, struct etwd_keeper_message *ret, int *ret_fd)
{
	struct etwd_keeper_message message;
	struct iovec part = {&message, sizeof(message)};
	union fd_room room;
	struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t bytes;
	int fd;

	packet.msg_control = room.bytes;
	packet.msg_controllen = sizeof(room.bytes);
	do
		bytes = recvmsg(socket, &packet, flags | MSG_CMSG_CLOEXEC);
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (bytes == 0)
		return -EPIPE;
	fd = take_fd(&packet);
	if (bytes != sizeof(message) || (packet.msg_flags & MSG_TRUNC) ||
	    !memchr(message.name, '\0', sizeof(message.name))) {
		if (fd >= 0)
			close(fd);
		return -EPROTO;
	}
	*ret = message;
	/* There was room for it: this process may have no more descriptors. */
	if (packet.msg_flags & MSG_CTRUNC) {
		if (fd >= 0)
			close(fd);
		return -EMFILE;
	}
	*ret_fd = fd;
	return 0;
}

int etwd_keeper_look(int socket, struct etwd_keeper_message *ret, int *ret_fd)
{
	return etwd_keeper_receive(socket, MSG_PEEK | MSG_DONTWAIT, ret, ret_fd);
}

void etwd_keeper_drop(int socket)
{
	char byte;

	/* Without room for descriptors the kernel closes those of the message. */
	while (recv(socket, &byte, 1, MSG_DONTWAIT) < 0 && errno == EINTR)
		;
}
