/* SPDX-License-Identifier: MIT */
/*
 * A host that lies about private sessions: it starts, controls and enables with handles that are not its own, with names
 * and sizes that are none, too early, too late and again. Each request is answered, nothing is done to the sessions of the
 * process and of another host, and the process does not die.
 */
#include "private/private.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>

#include "provider/link.h"
#include "provider/link_message.h"
#include "provider/lock.h"
#include "provider/outside.h"
#include "provider/provider.h"

#define ROUNDS  600
#define SEED    0x9E3779B97F4A7C15
#define FOREIGN WIRE_OUTSIDE_SESSION_ID_FIRST_USER /* of the other host */
#define OURS    WIRE_OUTSIDE_SESSION_ID_FIRST      /* of the host that lies */

/* A conversation; its other end is the host. */
struct conversation {
	struct etw_link link;
	int host;
};

static const GUID provider = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static struct conversation liar, honest;
static struct etw_ipc_message message;
static struct wire_session_info info;
static struct wire_control control;
static uint8_t room[WIRE_MESSAGE_BYTES_MAX];
static char folder[] = "/tmp/etw-hostile-XXXXXX";
static uint64_t own_handle;
static uint64_t state_of_random = SEED;

static uint64_t any(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)(any() >> 16) % limit;
}

static void connect_link(struct conversation *with, unsigned index)
{
	static const struct etw_runtime_places places = {.first = "/nonexistent/etw"};
	const uint32_t round = with->link.private_round;
	const bool has_private = with->link.has_private;
	int ends[2];

	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	etw_provider_lock();
	etw_link_init(&with->link, index, &places);
	with->link.state = ETW_LINK_CONNECTED;
	with->link.socket = etw_own_fd_take(ends[0]);
	with->link.private_round = round + 1;
	with->link.has_private = has_private;
	etw_provider_unlock();
	with->host = ends[1];
}

/* As the listener does it when the host is gone: no session of the host's is left. */
static void end_conversation(struct conversation *with)
{
	etw_provider_lock();
	etw_link_abandon(&with->link);
	with->link.state = ETW_LINK_ABSENT;
	etw_outside_end(&with->link);
	etw_provider_unlock();
	(void)close(with->host);
}

/* Returns what the process answers to @bytes of the room; 1: nothing; -EPROTO: it ends the conversation. */
static int say(struct conversation *with, size_t bytes)
{
	int r;

	assert_int_equal(etw_ipc_send(with->host, room, bytes, NULL, 0), 0);
	r = etw_ipc_receive(with->link.socket.number, &message);
	if (r == 0)
		r = etw_link_handle(&with->link, &message);
	if (r < 0) {
		assert_int_equal(r, -EPROTO);
		return r;
	}
	r = etw_ipc_receive(with->host, &message);
	if (r == -EAGAIN)
		return 1;
	assert_int_equal(r, 0);
	assert_int_equal(message.head.type, WIRE_PRIVATE_DONE);
	return message.head.status;
}

static struct wire_session_info *info_of(uint64_t handle, const char *file)
{
	memset(&info, 0, sizeof(info));
	info.handle = handle;
	info.config.guid = provider;
	info.config.log_file_mode = EVENT_TRACE_PRIVATE_LOGGER_MODE;
	info.config.buffer_kib = 4;
	info.config.minimum_buffers = info.config.maximum_buffers = 4;
	(void)snprintf(info.config.name, sizeof(info.config.name), "%s", file);
	(void)snprintf(info.config.log_file, sizeof(info.config.log_file), "%s/%s", folder, file);
	return &info;
}

static size_t put_start(uint64_t handle, const char *file)
{
	const struct wire_message head = {.type = WIRE_PRIVATE_START, .request = 1};

	return wire_message_encode_session_info(&head, info_of(handle, file), room);
}

static size_t put_control(uint64_t handle, uint32_t code)
{
	const struct wire_message head = {.type = WIRE_PRIVATE_CONTROL, .request = 1};

	memset(&control, 0, sizeof(control));
	control.handle = handle;
	control.code = code;
	return wire_message_encode_control(&head, &control, room);
}

static size_t put_enable(uint64_t handle, uint32_t type, uint32_t code)
{
	const struct wire_message head = {.type = type, .request = 1};
	const struct wire_enable_provider enable = {
		.handle = handle, .provider = provider, .code = code, .level = 5};

	return wire_message_encode_enable_provider(&head, &enable, room);
}

/* The sessions that are none of the liar's are there, as they were. */
static void check_others(void)
{
	static struct wire_control query;
	static struct wire_session_info ret;

	query.handle = own_handle;
	assert_int_equal(etw_private_control(&query, &ret), 0);
	assert_string_equal(ret.config.name, "own");
	assert_int_equal(say(&honest, put_control(FOREIGN, WIRE_CONTROL_QUERY)), 0);
	assert_int_equal(wire_message_decode_session_info(message.datagram, &ret), 0);
	assert_string_equal(ret.config.name, "honest");
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || setenv("ETW_RUNTIME_DIR", folder, 1))
		return -1;
	etw_ipc_message_init(&message);
	etw_private_serve_hosts();
	connect_link(&liar, 0);
	connect_link(&honest, 1);
	return 0;
}

/* After what may come before any session. */
static void start_others(void)
{
	static struct wire_session_info ret;
	struct wire_session_config *config = &info_of(0, "own")->config;

	config->log_file_mode |= EVENT_TRACE_PRIVATE_IN_PROC;
	assert_int_equal(etw_private_start(config, &ret), 0);
	own_handle = ret.handle;
	assert_int_equal(say(&honest, put_start(FOREIGN, "honest")), 0);
	check_others();
}

static void test_hostile_host__speaks_too_early(void **state)
{
	(void)state;
	assert_int_equal(say(&liar, put_control(OURS, WIRE_CONTROL_STOP)), -ENOENT);
	assert_int_equal(say(&liar, put_enable(OURS, WIRE_PRIVATE_ENABLE, 1)), -ENOENT);
	assert_int_equal(say(&liar, put_enable(OURS, WIRE_PRIVATE_WISH, 1)), -ENOENT);
	/* No provider is registered: the session is made, and is the host's to end. */
	assert_int_equal(say(&liar, put_start(OURS, "early")), 0);
	assert_int_equal(say(&liar, put_control(OURS, WIRE_CONTROL_STOP)), 0);
	start_others();
}

static void test_hostile_host__names_sessions_that_are_not_its_own(void **state)
{
	const uint64_t handles[] = {
		0,
		1,
		FOREIGN,
		own_handle,
		WIRE_PRIVATE_SESSION_ID_FIRST,
		WIRE_PRIVATE_SESSION_ID_LAST,
		WIRE_OUTSIDE_SESSION_ID_LAST,
		UINT64_C(1) << 32 | FOREIGN,
		UINT64_C(1) << 32 | own_handle,
		UINT64_MAX,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		for (uint32_t code = 0; code <= WIRE_CONTROL_INCREMENT_FILE; code++)
			assert_int_equal(say(&liar, put_control(handles[i], code)), -ENOENT);
		for (uint32_t code = 0; code < 3; code++) {
			assert_int_equal(
				say(&liar, put_enable(handles[i], WIRE_PRIVATE_ENABLE, code)),
				-ENOENT);
			assert_int_equal(
				say(&liar, put_enable(handles[i], WIRE_PRIVATE_WISH, code)),
				-ENOENT);
		}
		if (handles[i] < OURS || handles[i] > WIRE_OUTSIDE_SESSION_ID_LAST)
			assert_int_equal(say(&liar, put_start(handles[i], "foreign")), -EPROTO);
		check_others();
	}
	/* Not by starting it anew, either; nor by its name, which is another session's. */
	assert_int_equal(say(&liar, put_start(FOREIGN, "foreign")), -EEXIST);
	check_others();
	assert_int_equal(say(&liar, put_start(OURS, "own")), 0);
	check_others();
	assert_int_equal(say(&liar, put_control(OURS, WIRE_CONTROL_STOP)), 0);
	check_others();
}

static void test_hostile_host__speaks_again_and_too_late(void **state)
{
	char path[128];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(say(&liar, put_start(OURS, "again")), 0); /* it has it already */
	assert_int_equal(say(&liar, put_enable(OURS, WIRE_PRIVATE_ENABLE, 1)), 0);
	assert_int_equal(say(&liar, put_enable(OURS, WIRE_PRIVATE_WISH, 1)), 0);
	/* Another session under its number: the former one is over. */
	info_of(OURS, "other")->config.guid.Data1++;
	assert_int_equal(
		say(&liar, wire_message_encode_session_info(
				   &(struct wire_message){WIRE_PRIVATE_START, 1, 0}, &info, room)),
		0);
	(void)snprintf(path, sizeof(path), "%s/other_%d", folder, (int)getpid());
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(say(&liar, put_control(OURS, WIRE_CONTROL_STOP)), 0);
	for (uint32_t code = 0; code <= WIRE_CONTROL_INCREMENT_FILE; code++)
		assert_int_equal(say(&liar, put_control(OURS, code)), -ENOENT);
	assert_int_equal(say(&liar, put_enable(OURS, WIRE_PRIVATE_WISH, 1)), -ENOENT);
	/* With the conversation all of its sessions end. */
	for (unsigned i = 0; i < ETW_PRIVATE_OTHERS_MAX; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "many%u", i);
		assert_int_equal(say(&liar, put_start(OURS + i, name)),
				 i == ETW_PRIVATE_OTHERS_MAX - 1 ? -EUSERS : 0);
	}
	end_conversation(&liar);
	connect_link(&liar, 0);
	for (unsigned i = 0; i < ETW_PRIVATE_OTHERS_MAX; i++)
		assert_int_equal(say(&liar, put_control(OURS + i, WIRE_CONTROL_QUERY)), -ENOENT);
	check_others();
}

static uint64_t some_handle(void)
{
	switch (below(8)) {
	case 0:
		return any();
	case 1:
		return FOREIGN;
	case 2:
		return own_handle;
	case 3:
		return below(3);
	default:
		return OURS + below(4);
	}
}

static size_t put_something(void)
{
	static const uint32_t sizes[] = {0, 4, 64, UINT32_MAX / 2, UINT32_MAX};
	char file[32];
	struct wire_message head = {.type = WIRE_PRIVATE_START, .request = below(3)};

	switch (below(4)) {
	case 0:
		(void)snprintf(file, sizeof(file), "f%u", below(6));
		info_of(some_handle(), below(8) ? file : "../../../nonexistent/f");
		if (!below(8))
			memset(info.config.log_file, '/', WIRE_MESSAGE_NAME_MAX);
		if (!below(8))
			memset(info.config.name, 'x', WIRE_MESSAGE_NAME_MAX);
		info.config.buffer_kib = sizes[below(5)];
		info.config.flush_timer = sizes[below(5)];
		info.config.clock_type = below(5);
		info.config.maximum_file_size = sizes[below(5)];
		info.config.log_file_mode |= below(4) ? 0 : (uint32_t)any();
		return wire_message_encode_session_info(&head, &info, room);
	case 1:
		(void)put_control(some_handle(), below(8));
		head.type = WIRE_PRIVATE_CONTROL;
		control.config.flush_timer = sizes[below(5)];
		if (!below(4))
			memset(control.config.log_file, 'x', WIRE_MESSAGE_NAME_MAX);
		return wire_message_encode_control(&head, &control, room);
	case 2:
		return put_enable(some_handle(), WIRE_PRIVATE_WISH, below(4));
	default:
		return put_enable(some_handle(), WIRE_PRIVATE_ENABLE, below(4));
	}
}

static void test_hostile_host__says_anything(void **state)
{
	REGHANDLE handle = 0;

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		size_t bytes = put_something();

		if (i == ROUNDS / 3)
			assert_int_equal(etw_provider_register(&provider, NULL, NULL, &handle), 0);
		if (!bytes) /* what cannot be sent */
			continue;
		/* Cut off, or lengths of names that are not theirs. */
		if (!below(6))
			bytes = 13 + below((uint32_t)bytes - 13);
		if (!below(6))
			room[12 + below((uint32_t)bytes - 12)] = (uint8_t)any();
		if (say(&liar, bytes) == -EPROTO && below(2)) {
			end_conversation(&liar);
			connect_link(&liar, 0);
		}
		if (i % 16 == 0)
			check_others();
	}
	check_others();
	assert_int_equal(etw_provider_unregister(handle), 0);
}

static int tear_down(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	end_conversation(&liar);
	end_conversation(&honest);
	etw_ipc_message_done(&message);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_host__speaks_too_early),
		cmocka_unit_test(test_hostile_host__names_sessions_that_are_not_its_own),
		cmocka_unit_test(test_hostile_host__speaks_again_and_too_late),
		cmocka_unit_test(test_hostile_host__says_anything),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
