/* SPDX-License-Identifier: MIT */
/* The socket of a runtime directory: calling the host there, and being it. */
#include "ipc/runtime.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/patience.h"
#include "base/time.h"
#include "ipc/connection.h"
#include "ipc/runtime_internal.h"

#define LOCK_FILE        "lock" /* held while a host looks whether another one listens */
#define HELLO_TIMEOUT_MS 5000
#define TURN_MS          20 /* how long to wait for a place in the queue of those who connect */

static int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/*
 * The address of the socket. A directory whose name is too long for one is reached through its
 * descriptor, which stays open until the address was used.
 */
static int socket_address(const char *directory, int folder, struct sockaddr_un *ret)
{
	int chars;

	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	chars = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/" ETW_RUNTIME_SOCKET, directory);
	if (chars > 0 && (size_t)chars < sizeof(ret->sun_path))
		return 0;
	chars = snprintf(ret->sun_path, sizeof(ret->sun_path),
			 "/proc/self/fd/%d/" ETW_RUNTIME_SOCKET, folder);
	return chars > 0 && (size_t)chars < sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

static int connect_to(int fd, const struct sockaddr_un *address)
{
	while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int say_hello(int fd, enum wire_role role)
{
	const struct wire_message head = {.type = WIRE_HELLO, .request = 1};
	const struct wire_hello hello = {WIRE_PROTOCOL_VERSION, role};
	CLEANUP(freep) uint8_t *encoded = malloc(WIRE_MESSAGE_BYTES_MAX);
	size_t bytes;
	int r;

	if (!encoded)
		return -ENOMEM;
	bytes = wire_message_encode_hello(&head, &hello, encoded);
	assert(bytes);
	r = etw_ipc_send(fd, encoded, bytes, NULL, 0);
	/* A host that refuses the connection says why, and ends it without waiting for this. */
	return r == -EPIPE ? 0 : r;
}

int etw_runtime_answered(int fd, struct etw_ipc_message *message, struct wire_welcome *ret)
{
	TRY(etw_ipc_receive(fd, message));
	if (message->head.status < 0)
		return message->head.status;
	if (message->head.type != WIRE_WELCOME)
		return -EPROTO;
	TRY(wire_message_decode_welcome(message->datagram, ret));
	if (message->is_cut)
		return -EMFILE;
	return ret->protocol == WIRE_PROTOCOL_VERSION && message->fds[0] >= 0 ? 0 : -EPROTO;
}

static void message_freep(struct etw_ipc_message **message)
{
	if (*message)
		etw_ipc_message_done(*message);
	free(*message);
}

/*
 * In a full queue the kernel lets those in who wait there, in the order of their coming; one that only looks now
 * and then finds it full each time, where others connect as fast as they can.
 */
static int connect_in_turn(int fd, const struct sockaddr_un *address)
{
	const struct timeval turn = {.tv_usec = TURN_MS * 1000}, none = {0};
	int r = 0;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof(turn));
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		r = errno == EINTR ? -EAGAIN : -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
	if (r == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		r = -errno;
	return r;
}

static int milliseconds_until(uint64_t ns)
{
	uint64_t now_ns = etw_monotonic_ns();

	return ns > now_ns ? (int)((ns - now_ns) / ETW_NS_PER_MS) + 1 : 0;
}

/* The first message has been sent. */
static int await_welcome(int fd, struct etw_patience *patience, struct wire_welcome *ret_welcome,
			 int *ret_clock_fd)
{
	CLEANUP(message_freep) struct etw_ipc_message *message = malloc(sizeof(*message));
	struct wire_welcome welcome;
	int r;

	if (!message)
		return -ENOMEM;
	etw_ipc_message_init(message);
	while ((r = etw_runtime_answered(fd, message, &welcome)) == -EAGAIN) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};

		if (etw_patience_look(patience, etw_monotonic_ns()))
			return -ETIMEDOUT;
		(void)poll(&wait, 1, milliseconds_until(etw_patience_next_ns(patience)));
	}
	if (r == -EPIPE) /* it went away while it was asked: as if it had not been there */
		return -ECONNREFUSED;
	if (r < 0)
		return r;
	if (ret_clock_fd)
		*ret_clock_fd = take_fd(&message->fds[0]);
	*ret_welcome = welcome;
	return 0;
}

int etw_runtime_call(const char *directory, enum wire_role role, int *ret_socket)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int fd = -1;
	struct sockaddr_un address;
	struct etw_peer peer;
	struct stat info;
	int r;

	r = etw_runtime_open_directory(directory, &folder, &info);
	if (r < 0)
		return r == -EPERM ? -EACCES : r;
	if (info.st_uid != 0 && info.st_uid != geteuid())
		return -EACCES;
	TRY(socket_address(directory, folder, &address));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	etw_ipc_enlarge(fd);
	TRY(connect_in_turn(fd, &address));
	TRY(etw_ipc_peer(fd, &peer));
	if (peer.uid != 0 && peer.uid != geteuid())
		return -EACCES;
	TRY(say_hello(fd, role));
	*ret_socket = take_fd(&fd);
	return 0;
}

int etw_runtime_connect(const char *directory, enum wire_role role, int *ret_socket,
			struct wire_welcome *ret_welcome, int *ret_clock_fd)
{
	struct etw_patience patience = etw_patience_begin(HELLO_TIMEOUT_MS, etw_monotonic_ns());
	CLEANUP(etw_file_closep) int fd = -1;
	int r;

	while ((r = etw_runtime_call(directory, role, &fd)) == -EAGAIN) {
		if (etw_patience_look(&patience, etw_monotonic_ns()))
			return -ETIMEDOUT;
		(void)poll(NULL, 0, milliseconds_until(etw_patience_next_ns(&patience)));
	}
	if (r < 0)
		return r == -EPIPE ? -ECONNREFUSED : r;
	TRY(await_welcome(fd, &patience, ret_welcome, ret_clock_fd));
	if (fcntl(fd, F_SETFL, 0) < 0)
		return -errno;
	*ret_socket = take_fd(&fd);
	return 0;
}

const char *etw_runtime_sentence(int result)
{
	switch (result) {
	case -ETOOMANYREFS:
		return "it refuses this connection, because this user has as many as one may have";
	case -EUSERS:
		return "it refuses this connection, because all users together have as many as "
		       "they may";
	default:
		return strerror(-result);
	}
}

/* Whether somebody listens there. A socket that a dead host left is taken away. */
static int clear_socket(int folder, const struct sockaddr_un *address)
{
	CLEANUP(etw_file_closep) int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = 1};

	if (probe < 0)
		return -errno;
	(void)setsockopt(probe, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	switch (connect_to(probe, address)) {
	case -ENOENT:
		return 0;
	case -ECONNREFUSED:
		return unlinkat(folder, ETW_RUNTIME_SOCKET, 0) < 0 && errno != ENOENT ? -errno : 0;
	default:
		return -EADDRINUSE;
	}
}

static int bind_and_listen(int folder, int fd, const struct sockaddr_un *address)
{
	TRY(clear_socket(folder, address));
	/* Where the kernel cannot, etw_ipc_guard() knows it. */
	(void)etw_ipc_refuse_fds(fd);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		return -errno;
	/* Nobody can connect before listen(), so that the mask of the caller cannot be seen. */
	if (fchmodat(folder, ETW_RUNTIME_SOCKET, 0666, 0) < 0 || listen(fd, SOMAXCONN) < 0)
		return -errno;
	return 0;
}

int etw_runtime_listen(const char *directory, int *ret_socket)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int lock = -1;
	CLEANUP(etw_file_closep) int fd = -1;
	struct sockaddr_un address;
	struct stat info;

	TRY(etw_runtime_open_directory(directory, &folder, &info));
	if (info.st_uid != geteuid() || (info.st_mode & ETW_RUNTIME_OTHERS_WRITE))
		return -EPERM;
	TRY(socket_address(directory, folder, &address));
	lock = openat(folder, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		      0600);
	/* The mask of the caller must not lock the next host out of it. */
	if (lock < 0 || fchmod(lock, 0600) < 0)
		return errno == ELOOP ? -EPERM : -errno;
	while (flock(lock, LOCK_EX) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	TRY(bind_and_listen(folder, fd, &address));
	*ret_socket = take_fd(&fd);
	return 0;
}
