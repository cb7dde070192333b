/* SPDX-License-Identifier: MIT */
/*
 * A host that is made up, for the tests of the controller's side: it listens in a directory of the test's
 * own, answers as it is told to, and notes what came. For one program: all of it is static.
 */
#ifndef ETW_TEST_FAKE_HOST_H
#define ETW_TEST_FAKE_HOST_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "ipc/connection.h"

#define CONNECTIONS 16
#define HANDLE      0x1234

enum manner {
	ANSWER,
	ANSWER_STATUS,       /* the answer's own type, with `status` */
	ANSWER_REPLY_STATUS, /* a plain REPLY with `status` */
	ANSWER_OTHER_TYPE,
	ANSWER_OTHER_TYPE_STATUS,
	ANSWER_NUMBER_OF_NOBODY_FIRST,
	ANSWER_CUT,     /* a body that is too short */
	ANSWER_GARBAGE, /* no message at all */
	HANG_UP,        /* instead of an answer */
	HOLD,           /* until another request comes, which is answered first */
	SILENT,         /* nothing is answered, as by a host that stands still */
	LISTS_ONLY,     /* what takes long is not answered, and the host is there */
};

struct host {
	pthread_t thread;
	int listener, kick[2];
	enum manner manner; /* atomic */
	int32_t status;
	uint64_t handle;              /* of the next session; 0: HANDLE */
	uint64_t gone;                /* of a session that has ended; 0: none */
	unsigned hang_ups;            /* 1: before anything else, once; atomic */
	unsigned connections, hellos; /* atomic */
	unsigned requests[64];        /* by type; atomic */
	uint64_t leases[8];
	unsigned lease_count;
	struct wire_message held;
	unsigned held_count;  /* atomic */
	int fds[CONNECTIONS]; /* -1: free */
	struct etw_ipc_message message;
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	/* What came last. */
	struct wire_session_config config;
	struct wire_control control;
	struct wire_enable_provider enable;
	/* What ENUMERATE is answered with. */
	struct wire_enumerated enumerated;
	struct wire_run information; /* INFORM */
};

static char directory[64];
static struct host host;

static inline uint32_t answer_type(uint32_t type)
{
	if (type == WIRE_START || type == WIRE_CONTROL)
		return WIRE_SESSION;
	if (type == WIRE_ENUMERATE)
		return WIRE_ENUMERATED;
	if (type == WIRE_INFORM)
		return WIRE_INFORMATION;
	return type == WIRE_LIST ? WIRE_SESSIONS : WIRE_REPLY;
}

static inline void send_to(int fd, size_t bytes)
{
	if (bytes)
		(void)etw_ipc_send(fd, host.room, bytes, NULL, 0);
}

static inline void send_answer(int fd, uint32_t type, uint32_t request, int32_t status)
{
	struct wire_message head = {type, request, status};
	static struct wire_session_info answer;
	struct wire_sessions list = {.count = 2, .handles = {HANDLE, HANDLE + 1}};

	if (type == WIRE_SESSION) {
		answer.handle = host.handle ? host.handle : HANDLE;
		memcpy(answer.config.name, host.config.name, sizeof(answer.config.name));
		send_to(fd, wire_message_encode_session_info(&head, &answer, host.room));
	} else if (type == WIRE_SESSIONS) {
		send_to(fd, wire_message_encode_sessions(&head, &list, host.room));
	} else if (type == WIRE_INFORMATION) {
		send_to(fd, wire_message_encode_run(&head, &host.information, host.room));
	} else if (type == WIRE_ENUMERATED) {
		send_to(fd, wire_message_encode_enumerated(&head, &host.enumerated, host.room));
	} else {
		send_to(fd, wire_message_encode_plain(&head, host.room));
	}
}

/* Returns false to hang up. */
static inline bool answer(int fd, const struct wire_message *head)
{
	uint32_t type = answer_type(head->type);
	uint32_t other = type == WIRE_REPLY ? WIRE_SESSIONS : WIRE_REPLY;

	if (exchange_acq_rel(&host.hang_ups, 0U))
		return false;
	if (head->type == WIRE_CONTROL && host.gone && host.control.handle == host.gone) {
		send_answer(fd, WIRE_REPLY, head->request, -ENOENT);
		return true;
	}
	switch (load_relaxed(&host.manner)) {
	case ANSWER_STATUS:
		send_answer(fd, type, head->request, host.status);
		return true;
	case ANSWER_REPLY_STATUS:
		send_answer(fd, WIRE_REPLY, head->request, host.status);
		return true;
	case ANSWER_OTHER_TYPE:
		send_answer(fd, other, head->request, 0);
		return true;
	case ANSWER_OTHER_TYPE_STATUS:
		send_answer(fd, WIRE_ENABLE_DONE, head->request, -EACCES);
		return true;
	case ANSWER_CUT:
		memset(host.room, 0, 64);
		etw_store32(host.room, type);
		etw_store32(host.room + 4, head->request);
		(void)etw_ipc_send(fd, host.room, 14, NULL, 0);
		return true;
	case ANSWER_GARBAGE:
		(void)etw_ipc_send(fd, (const uint8_t *)"garbage", 7, NULL, 0);
		return true;
	case HANG_UP:
		return false;
	case SILENT:
		return true;
	case LISTS_ONLY:
		if (head->type != WIRE_LIST)
			return true;
		break;
	case HOLD:
		if (!host.held.type) {
			host.held = *head;
			(void)add_relaxed(&host.held_count, 1U);
			return true;
		}
		send_answer(fd, type, head->request, 0);
		send_answer(fd, answer_type(host.held.type), host.held.request, 0);
		host.held.type = 0;
		return true;
	case ANSWER_NUMBER_OF_NOBODY_FIRST:
		send_answer(fd, type, head->request + 77, -EIO);
		break;
	case ANSWER:
		break;
	}
	send_answer(fd, type, head->request, 0);
	return true;
}

static inline void welcome(int fd)
{
	struct wire_message head = {WIRE_WELCOME, host.message.head.request, 0};
	struct wire_welcome body = {.protocol = WIRE_PROTOCOL_VERSION};
	size_t bytes = wire_message_encode_welcome(&head, &body, host.room);
	int clock = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* Before the answer: who has it may look at the count at once. */
	(void)add_relaxed(&host.hellos, 1);
	(void)etw_ipc_send(fd, host.room, bytes, &clock, 1);
	(void)close(clock);
}

static inline void note(const struct etw_ipc_message *message)
{
	struct wire_lease lease;

	switch (message->head.type) {
	case WIRE_START:
		(void)wire_message_decode_session_config(message->datagram, &host.config);
		break;
	case WIRE_CONTROL:
		(void)wire_message_decode_control(message->datagram, &host.control);
		break;
	case WIRE_ENABLE_PROVIDER:
		(void)wire_message_decode_enable_provider(message->datagram, &host.enable);
		break;
	case WIRE_LEASE:
		if (!wire_message_decode_lease(message->datagram, &lease) && host.lease_count < 8)
			host.leases[host.lease_count++] = lease.handle;
		break;
	default:
		break;
	}
	(void)add_relaxed(&host.requests[message->head.type], 1);
}

/* Returns false when the connection is over. */
static inline bool serve_one(int fd)
{
	int r = etw_ipc_receive(fd, &host.message);

	if (r == -EAGAIN)
		return true;
	if (r < 0)
		return false;
	if (host.message.head.type == WIRE_HELLO) {
		welcome(fd);
		return true;
	}
	note(&host.message);
	return answer(fd, &host.message.head);
}

static inline void hang_up(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

static inline void accept_one(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (host.fds[i] >= 0)
			continue;
		if (etw_ipc_accept(host.listener, &host.fds[i]) < 0)
			host.fds[i] = -1;
		else
			(void)add_relaxed(&host.connections, 1);
		return;
	}
}

/* Waits for something and does it. Returns false when the test kicked. */
static inline bool serve_round(void)
{
	struct pollfd polled[CONNECTIONS + 2];

	polled[0] = (struct pollfd){.fd = host.listener, .events = POLLIN};
	polled[1] = (struct pollfd){.fd = host.kick[0], .events = POLLIN};
	for (int i = 0; i < CONNECTIONS; i++)
		polled[2 + i] = (struct pollfd){.fd = host.fds[i], .events = POLLIN};
	if (poll(polled, CONNECTIONS + 2, -1) < 0)
		return true;
	if (polled[1].revents)
		return false;
	if (polled[0].revents)
		accept_one();
	for (int i = 0; i < CONNECTIONS; i++) {
		if (polled[2 + i].revents && host.fds[i] >= 0 && !serve_one(host.fds[i]))
			hang_up(&host.fds[i]);
	}
	return true;
}

static inline void *serve(void *context)
{
	(void)context;
	while (serve_round())
		;
	for (int i = 0; i < CONNECTIONS; i++)
		hang_up(&host.fds[i]);
	return NULL;
}

static inline void host_reset(void)
{
	host.held.type = 0;
	for (int i = 0; i < CONNECTIONS; i++)
		host.fds[i] = -1;
	etw_ipc_message_init(&host.message);
}

static inline void host_start(void)
{
	host_reset();
	assert_int_equal(etw_runtime_listen(directory, &host.listener), 0);
	assert_int_equal(pipe2(host.kick, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&host.thread, NULL, serve, NULL), 0);
}

static inline void host_stop(void)
{
	if (host.listener < 0)
		return;
	assert_int_equal(write(host.kick[1], "x", 1), 1);
	assert_int_equal(pthread_join(host.thread, NULL), 0);
	etw_ipc_message_done(&host.message);
	hang_up(&host.kick[0]);
	hang_up(&host.kick[1]);
	hang_up(&host.listener);
}

static inline int setup(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	host.listener = -1;
	strcpy(directory, "/tmp/etw-test-control-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	return setenv("ETW_RUNTIME_DIR", directory, 1);
}

static inline int setup_host(void **state)
{
	if (setup(state) < 0)
		return -1;
	host_start();
	return 0;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	host_stop();
	(void)unsetenv("ETW_ETWD");
	(void)unsetenv("ETWD_LOG");
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

#endif
