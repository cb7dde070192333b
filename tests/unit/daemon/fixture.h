/* SPDX-License-Identifier: MIT */
/*
 * A host in this process, without a keeper and without a thread of its own: the test runs its rounds. Fake
 * peers are one end of a socket pair each; who is at it, the test says.
 */
#ifndef ETW_TESTS_UNIT_DAEMON_FIXTURE_H
#define ETW_TESTS_UNIT_DAEMON_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntrace.h>

#include "base/time.h"
#include "daemon/client.h"
#include "daemon/host.h"
#include "daemon/log.h"
#include "daemon/peer.h"
#include "daemon/sessions.h"
#include "ipc/runtime.h"

#define FIXTURE_WAIT_MS 120000
#define FIXTURE_STEP_MS 5
#define STRANGER        70000 /* a uid that is not trusted */

static struct etwd_options fixture_options;
static struct etwd_host *fixture_host;

struct fake_peer {
	int fd; /* the process' end */
	struct etwd_peer *peer;
	uint32_t last_request;
	struct etw_ipc_message message; /* received last */
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
};

static int __attribute__((unused)) fixture_set_up(void **state)
{
	(void)state;
	(void)etwd_log_open("/dev/null");
	fixture_options = (struct etwd_options){.is_system = true, .idle_ms = 60000};
	snprintf(fixture_options.directory, sizeof(fixture_options.directory),
		 "/tmp/etwd-unit-XXXXXX");
	if (!mkdtemp(fixture_options.directory) ||
	    etw_runtime_prepare(fixture_options.directory, &fixture_options.page) < 0 ||
	    etw_runtime_listen(fixture_options.directory, &fixture_options.listener) < 0)
		return -1;
	fixture_host = etwd_host_make(&fixture_options);
	return fixture_host ? etwd_host_open(fixture_host, -1) : -1;
}

static void __attribute__((unused)) fixture_step(void)
{
	assert_true(etwd_host_step(fixture_host, FIXTURE_STEP_MS) >= 0);
}

static bool __attribute__((unused)) fixture_is_without_sessions(void *context)
{
	(void)context;
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (fixture_host->sessions.table[i])
			return false;
	}
	return true;
}

/* Runs rounds until it is so. */
static void __attribute__((unused)) fixture_run_until(bool (*is_so)(void *context), void *context)
{
	uint64_t end_ms = etw_monotonic_ms() + FIXTURE_WAIT_MS;

	while (!is_so(context)) {
		assert_true(etw_monotonic_ms() < end_ms);
		fixture_step();
	}
}

static int __attribute__((unused)) fixture_tear_down(void **state)
{
	static const char *const files[] = {"control", "epoch", "lock", "failure"};
	char path[PATH_MAX + 16];

	(void)state;
	etwd_session_stop_all(&fixture_host->session_parts);
	fixture_run_until(fixture_is_without_sessions, NULL);
	etwd_host_close(fixture_host);
	etw_runtime_page_unmap(fixture_options.page);
	close(fixture_options.listener);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", fixture_options.directory, files[i]);
		(void)unlink(path);
	}
	(void)rmdir(fixture_options.directory);
	return 0;
}

static __attribute__((unused)) struct fake_peer *fake_peer_make(uid_t uid)
{
	const struct etw_peer who = {getpid(), uid, (gid_t)uid};
	struct fake_peer *fake = calloc(1, sizeof(*fake));
	int ends[2];
	int r;

	assert_non_null(fake);
	etw_ipc_message_init(&fake->message);
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	fake->fd = ends[0];
	/* As the listener's sockets; where the kernel cannot, these are guarded. */
	(void)etw_ipc_refuse_fds(ends[1]);
	r = etwd_peers_add(&fixture_host->peers, ends[1], &who, &fake->peer);
	if (r < 0)
		fake->peer = NULL;
	return fake;
}

static void __attribute__((unused)) fake_peer_free(struct fake_peer *fake)
{
	if (!fake)
		return;
	etw_ipc_message_done(&fake->message);
	close(fake->fd);
	free(fake);
}

static bool __attribute__((unused)) fake_peer_has_message(void *context)
{
	struct fake_peer *fake = context;
	int r = etw_ipc_receive(fake->fd, &fake->message);

	assert_true(r == 0 || r == -EAGAIN);
	return r == 0;
}

/* Runs rounds until a message comes. */
static void __attribute__((unused)) fake_peer_expect(struct fake_peer *fake, uint32_t type)
{
	fixture_run_until(fake_peer_has_message, fake);
	assert_int_equal(fake->message.head.type, type);
}

static bool __attribute__((unused)) fake_peer_has_ended(void *context)
{
	struct fake_peer *fake = context;

	return etw_ipc_receive(fake->fd, &fake->message) == -EPIPE;
}

/* Runs rounds until the host ends the connection. */
static void __attribute__((unused)) fake_peer_expect_end(struct fake_peer *fake)
{
	fixture_run_until(fake_peer_has_ended, fake);
}

/* Whether the process has a message now. */
static bool __attribute__((unused)) fake_peer_is_silent(struct fake_peer *fake)
{
	return etw_ipc_receive(fake->fd, &fake->message) == -EAGAIN;
}

static struct wire_message __attribute__((unused))
fake_peer_head(struct fake_peer *fake, uint32_t type)
{
	return (struct wire_message){.type = type, .request = ++fake->last_request};
}

static void __attribute__((unused)) fake_peer_send(struct fake_peer *fake, size_t bytes)
{
	assert_int_not_equal(bytes, 0);
	assert_int_equal(etw_ipc_send(fake->fd, fake->room, bytes, NULL, 0), 0);
}

static void __attribute__((unused)) fake_peer_greet(struct fake_peer *fake, uint32_t role)
{
	struct wire_message head = fake_peer_head(fake, WIRE_HELLO);
	struct wire_hello hello = {WIRE_PROTOCOL_VERSION, role};

	fake_peer_send(fake, wire_message_encode_hello(&head, &hello, fake->room));
	fake_peer_expect(fake, WIRE_WELCOME);
	assert_int_equal(fake->message.head.status, 0);
	assert_true(fake->message.fds[0] >= 0);
}

static __attribute__((unused)) struct fake_peer *fake_peer_join(uid_t uid, uint32_t role)
{
	struct fake_peer *fake = fake_peer_make(uid);

	assert_non_null(fake->peer);
	fake_peer_greet(fake, role);
	return fake;
}

static bool __attribute__((unused)) fixture_is_down_to(void *context)
{
	return fixture_host->peers.count <= *(unsigned *)context;
}

/* Ends the process' side and runs rounds until the host has seen it. */
static void __attribute__((unused)) fake_peer_leave(struct fake_peer *fake)
{
	unsigned left = fixture_host->peers.count ? fixture_host->peers.count - 1 : 0;

	fake_peer_free(fake);
	fixture_run_until(fixture_is_down_to, &left);
}

/* A small real-time session. */
static __attribute__((unused)) struct wire_session_config *fixture_config(const char *name)
{
	static struct wire_session_config config;

	memset(&config, 0, sizeof(config));
	snprintf(config.name, sizeof(config.name), "%s", name);
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	config.buffer_kib = 4;
	config.minimum_buffers = config.maximum_buffers = 8;
	return &config;
}

/* Starts it as this controller; returns its handle. */
static uint64_t __attribute__((unused)) fake_peer_start(struct fake_peer *fake, const char *name)
{
	static struct wire_session_info info;
	struct wire_message head = fake_peer_head(fake, WIRE_START);

	fake_peer_send(fake,
		       wire_message_encode_session_config(&head, fixture_config(name), fake->room));
	fake_peer_expect(fake, WIRE_SESSION);
	assert_int_equal(fake->message.head.status, 0);
	assert_int_equal(wire_message_decode_session_info(fake->message.datagram, &info), 0);
	return info.handle;
}

/* Asks one of WIRE_CONTROL_* and returns the answer's status. */
static int __attribute__((unused))
fake_peer_control(struct fake_peer *fake, uint64_t handle, uint32_t code)
{
	static struct wire_control control;
	struct wire_message head = fake_peer_head(fake, WIRE_CONTROL);

	control.handle = handle;
	control.code = code;
	fake_peer_send(fake, wire_message_encode_control(&head, &control, fake->room));
	fake_peer_expect(fake, WIRE_SESSION);
	return fake->message.head.status;
}

static GUID __attribute__((unused)) fixture_guid(uint32_t number)
{
	return (GUID){number, 0x1234, 0x4567, {1, 2, 3, 4, 5, 6, 7, 8}};
}

/* Registers without waiting for the answer. */
static void __attribute__((unused))
fake_peer_send_register(struct fake_peer *fake, uint32_t number, GUID provider)
{
	struct wire_message head = fake_peer_head(fake, WIRE_REGISTER);
	struct wire_register body = {.registration = number, .provider = provider};

	fake_peer_send(fake, wire_message_encode_register(&head, &body, fake->room));
}

static int __attribute__((unused))
fake_peer_register(struct fake_peer *fake, uint32_t number, GUID provider)
{
	fake_peer_send_register(fake, number, provider);
	fake_peer_expect(fake, WIRE_REPLY);
	return fake->message.head.status;
}

/* Enables (or with @code disables) a provider without waiting for the answer. */
static void __attribute__((unused))
fake_peer_send_enable(struct fake_peer *fake, uint64_t handle, GUID provider, uint32_t code,
		      uint32_t timeout_ms)
{
	struct wire_message head = fake_peer_head(fake, WIRE_ENABLE_PROVIDER);
	struct wire_enable_provider body = {.handle = handle,
					    .provider = provider,
					    .code = code,
					    .level = 5,
					    .timeout_ms = timeout_ms};

	fake_peer_send(fake, wire_message_encode_enable_provider(&head, &body, fake->room));
}

static int __attribute__((unused))
fake_peer_enable(struct fake_peer *fake, uint64_t handle, GUID provider)
{
	fake_peer_send_enable(fake, handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0);
	fake_peer_expect(fake, WIRE_REPLY);
	return fake->message.head.status;
}

/* The next ENABLE, and how many RING_SETs came before it. */
static void __attribute__((unused))
fake_peer_take_enable(struct fake_peer *fake, struct wire_enable *ret, unsigned *ret_sets)
{
	*ret_sets = 0;
	for (;;) {
		fixture_run_until(fake_peer_has_message, fake);
		if (fake->message.head.type != WIRE_RING_SET)
			break;
		assert_true(fake->message.fds[0] >= 0);
		(*ret_sets)++;
	}
	assert_int_equal(fake->message.head.type, WIRE_ENABLE);
	assert_int_equal(wire_message_decode_enable(fake->message.datagram, ret), 0);
}

#endif
