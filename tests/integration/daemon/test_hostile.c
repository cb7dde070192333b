/* SPDX-License-Identifier: MIT */
/* Peers that are broken or mean it: they lose their connection, and nobody else notices. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

#define GARBAGE_ROUNDS 2000
#define FLOOD_ROUNDS   200000

static struct etw_controller *witness;
static uint64_t witness_handle;
static pid_t first_host;

/* A host with a session that everything must leave alone. */
static int set_up(void **state)
{
	if (home_make(state))
		return -1;
	witness = controller();
	witness_handle = start_session(witness, "witness");
	first_host = host_pid();
	return 0;
}

static int tear_down(void **state)
{
	etw_controller_close(witness);
	return home_remove(state);
}

static void check_witness(void)
{
	assert_int_equal(control_session(witness, witness_handle, WIRE_CONTROL_QUERY, NULL), 0);
	assert_int_equal(host_pid(), first_host);
}

static int connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", runtime_path());
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static bool is_raw_closed(int fd)
{
	struct pollfd wait = {fd, POLLIN, 0};
	uint8_t bytes[4096];

	while (poll(&wait, 1, WAIT_MS) > 0) {
		if (recv(fd, bytes, sizeof(bytes), 0) <= 0)
			return true;
	}
	return false;
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void test_hostile__garbage_before_hello(void **state)
{
	uint8_t bytes[600];
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < GARBAGE_ROUNDS / 10; i++) {
		int fd = connect_raw();
		size_t count = next_random(&seed) % sizeof(bytes);

		for (size_t k = 0; k < count; k++)
			bytes[k] = (uint8_t)next_random(&seed);
		(void)send(fd, bytes, count, MSG_NOSIGNAL);
		assert_true(is_raw_closed(fd));
		close(fd);
	}
	check_witness();
}

/* Every kind of message with a body of noise, in every role; some of them are sound by chance. */
static void test_hostile__garbage_bodies(void **state)
{
	static const uint32_t types[] = {1,  2,  3,  10, 11, 12, 13, 14, 15, 16, 20,
					 21, 22, 23, 24, 25, 26, 30, 31, 32, 33, 99};
	uint32_t seed = 2;

	(void)state;
	for (int i = 0; i < GARBAGE_ROUNDS; i++) {
		struct talk *talk = talk_open(1 + next_random(&seed) % 3);
		struct wire_message head = {
			.type = types[next_random(&seed) % (sizeof(types) / sizeof(types[0]))],
			.request = next_random(&seed)};
		size_t bytes = wire_message_encode_plain(&head, talk->room);
		size_t count = next_random(&seed) % 8192;

		for (size_t k = 0; k < count; k++)
			talk->room[bytes + k] = next_random(&seed) % 3
							? 0
							: (uint8_t)next_random(&seed);
		(void)talk_send(talk, bytes + count);
		talk_close(talk);
	}
	check_witness();
}

static void test_hostile__wrong_role_is_disconnected(void **state)
{
	const struct wire_message list = {.type = WIRE_LIST, .request = 1};
	struct talk *provider = talk_open(WIRE_ROLE_PROVIDER);
	struct talk *consumer = talk_open(WIRE_ROLE_CONSUMER);
	struct talk *twice = talk_open(WIRE_ROLE_CONTROLLER);
	const struct wire_message hello = {.type = WIRE_HELLO, .request = 2};
	const struct wire_hello body = {WIRE_PROTOCOL_VERSION, WIRE_ROLE_PROVIDER};

	(void)state;
	assert_int_equal(talk_send(provider, wire_message_encode_plain(&list, provider->room)), 0);
	assert_int_equal(talk_send(consumer, wire_message_encode_plain(&list, consumer->room)), 0);
	assert_int_equal(talk_send(twice, wire_message_encode_hello(&hello, &body, twice->room)),
			 0);
	assert_true(talk_is_closed(provider));
	assert_true(talk_is_closed(consumer));
	assert_true(talk_is_closed(twice));
	talk_close(provider);
	talk_close(consumer);
	talk_close(twice);
	check_witness();
}

static void test_hostile__another_protocol_is_refused(void **state)
{
	const struct wire_message hello = {.type = WIRE_HELLO, .request = 2};
	struct wire_hello body = {WIRE_PROTOCOL_VERSION + 1, WIRE_ROLE_PROVIDER};
	struct talk talk = {.fd = connect_raw()};
	size_t bytes;

	(void)state;
	etw_ipc_message_init(&talk.message);
	assert_int_equal(talk_send(&talk, wire_message_encode_hello(&hello, &body, talk.room)), 0);
	talk_expect(&talk, WIRE_WELCOME);
	assert_int_equal(talk.message.head.status, -EPROTO);
	assert_true(talk_is_closed(&talk));
	close(talk.fd);
	body.protocol = WIRE_PROTOCOL_VERSION;
	talk.fd = connect_raw();
	bytes = wire_message_encode_hello(&hello, &body, talk.room);
	talk.room[bytes - sizeof(uint32_t)] = 77; /* the role, which the codec would not write */
	assert_int_equal(talk_send(&talk, bytes), 0);
	assert_true(talk_is_closed(&talk));
	close(talk.fd);
	etw_ipc_message_done(&talk.message);
	check_witness();
}

/* It asks and asks, and never reads. */
static void test_hostile__who_does_not_read_is_disconnected(void **state)
{
	struct talk *talk = talk_open(WIRE_ROLE_CONTROLLER);
	static struct wire_control control;
	const struct wire_message head = {.type = WIRE_CONTROL, .request = 5};
	size_t bytes;
	int r = 0;

	(void)state;
	control.handle = witness_handle;
	control.code = WIRE_CONTROL_QUERY;
	bytes = wire_message_encode_control(&head, &control, talk->room);
	for (int i = 0; i < FLOOD_ROUNDS && r == 0; i++)
		r = talk_send(talk, bytes);
	assert_int_equal(r, -EPIPE);
	assert_true(log_has("does not read its messages"));
	talk_close(talk);
	check_witness();
}

static void test_hostile__registrations_are_limited(void **state)
{
	struct talk *talk = talk_open(WIRE_ROLE_PROVIDER);
	uint32_t count = 0;
	int r = 0;

	(void)state;
	while (r == 0 && count < 100000) {
		GUID provider = guid_of(count);

		r = talk_register(talk, count, &provider);
		count += r == 0;
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(count, 4096);
	talk_close(talk);
	check_witness();
}

static void test_hostile__enables_are_limited(void **state)
{
	uint8_t *filter = calloc(1, MAX_EVENT_FILTER_DATA_SIZE);
	int r = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000 && r == 0; i++) {
		GUID provider = guid_of(i);
		struct wire_enable_provider wanted = enable_of(witness_handle, &provider);

		add_filter(&wanted, 1, filter, MAX_EVENT_FILTER_DATA_SIZE);
		r = etw_control_enable(witness, &wanted);
	}
	assert_int_equal(r, -ENOSPC);
	free(filter);
	check_witness();
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_hostile__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(garbage_before_hello),
		TEST(garbage_bodies),
		TEST(wrong_role_is_disconnected),
		TEST(another_protocol_is_refused),
		TEST(who_does_not_read_is_disconnected),
		TEST(registrations_are_limited),
		TEST(enables_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
