/* SPDX-License-Identifier: MIT */
/* What a link sends, to a socket that the test reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "provider/link.h"
#include "provider/lock.h"

#define UNDER_WAY_MAX 32 /* requests without an answer */

static const GUID some_provider = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

static struct etw_link the_link;
static struct etw_ipc_message message;
static int host; /* the other end */

static int set_up(void **state)
{
	static const struct etw_runtime_places places = {.first = "/nonexistent/etw"};
	int ends[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -1;
	etw_ipc_message_init(&message);
	etw_provider_lock();
	etw_link_init(&the_link, 0, &places);
	the_link.state = ETW_LINK_CONNECTED;
	the_link.socket = etw_own_fd_take(ends[0]);
	host = ends[1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etw_link_abandon(&the_link);
	(void)close(host);
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		if (i->is_used)
			etw_registration_close(i);
	}
	etw_provider_unlock();
	return 0;
}

/* The type of the next message; 0: there is none. */
static uint32_t received(void)
{
	return etw_ipc_receive(host, &message) == 0 ? message.head.type : 0;
}

static struct etw_registration *register_one(void)
{
	struct etw_registration *registration = etw_registration_open(&some_provider, NULL, NULL);

	assert_non_null(registration);
	return registration;
}

static void test_link__tells_of_registrations_and_asks_for_an_answer(void **state)
{
	struct etw_registration *registration = register_one();
	struct wire_unregister end;
	struct wire_register told;

	(void)state;
	assert_true(etw_link_is_awaited(&the_link, registration));
	etw_link_pump(&the_link);
	assert_int_equal(received(), WIRE_REGISTER);
	assert_int_equal(wire_message_decode_register(message.datagram, &told), 0);
	assert_int_equal(told.registration, etw_registration_number(registration));
	assert_memory_equal(&told.provider, &some_provider, sizeof(some_provider));
	/* Its answer comes behind all that the host has to say. */
	assert_int_equal(received(), WIRE_UNREGISTER);
	assert_int_equal(wire_message_decode_unregister(message.datagram, &end), 0);
	assert_int_equal(end.registration, 0);
	assert_true(etw_link_is_awaited(&the_link, registration));
	the_link.synced = message.head.request;
	assert_false(etw_link_is_awaited(&the_link, registration));
	etw_link_pump(&the_link); /* the host knows all */
	assert_int_equal(received(), 0);
}

static void test_link__few_requests_are_under_way_at_once(void **state)
{
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * UNDER_WAY_MAX; i++)
		(void)register_one();
	etw_link_pump(&the_link);
	while (received() == WIRE_REGISTER)
		count++;
	assert_int_equal(count, UNDER_WAY_MAX);
	the_link.replied = the_link.requests;
	etw_link_pump(&the_link);
	for (count = 0; received() == WIRE_REGISTER;)
		count++;
	assert_int_equal(count, UNDER_WAY_MAX);
}

/* Two large ones would fill the socket: one at a time leaves room for whatever cannot wait. */
static void test_link__large_images_are_under_way_alone(void **state)
{
	static uint8_t symbols[WIRE_IMAGE_SYMBOL_BYTES_MAX];
	struct wire_image body = {
		.image = 1, .code = WIRE_IMAGE_MORE, .symbols = {symbols, sizeof(symbols)}};
	struct wire_message head = {.type = WIRE_IMAGE};
	unsigned count = 0;

	(void)state;
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), 0);
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), -EAGAIN);
	body.symbols.left = 2048;
	body.code = WIRE_IMAGE_LOADED;
	memset(body.path, 'p', sizeof(body.path) - 1);
	while (etw_link_send_image(&the_link, &head, &body) == 0)
		count++;
	assert_in_range(count, 1, UNDER_WAY_MAX - 1);
	body = (struct wire_image){.image = 1, .code = WIRE_IMAGE_UNLOADED};
	for (unsigned i = 0; i <= count; i++)
		assert_int_equal(received(), WIRE_IMAGE);
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), 0);
	assert_int_equal(received(), WIRE_IMAGE);
	assert_int_equal(etw_ipc_receive(host, &message), -EAGAIN); /* and no end */
	body = (struct wire_image){
		.image = 1, .code = WIRE_IMAGE_MORE, .symbols = {symbols, sizeof(symbols)}};
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), -EAGAIN);
	the_link.replied = the_link.requests;
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), 0);
}

static void fill_socket(void)
{
	const struct wire_message head = {.type = WIRE_ENABLE_DONE};
	static uint8_t bytes[WIRE_MESSAGE_BYTES_MAX];
	size_t byte_count = wire_message_encode_plain(&head, bytes);

	while (etw_ipc_send(the_link.socket.number, bytes, byte_count, NULL, 0) == 0)
		;
}

/* A full socket is no end of the connection as long as an answer is to come, which says when to go on. */
static void test_link__images_wait_for_a_slow_host(void **state)
{
	struct wire_image body = {.image = 1, .code = WIRE_IMAGE_LOADED, .path = "code"};
	struct wire_message head = {.type = WIRE_IMAGE};

	(void)state;
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), 0);
	fill_socket();
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), -EAGAIN);
	assert_int_equal(the_link.requests, 1);
	assert_int_equal(received(), WIRE_IMAGE);
	while (received())
		;
	assert_int_equal(etw_ipc_receive(host, &message), -EAGAIN);
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), 0);
	assert_int_equal(received(), WIRE_IMAGE);
	the_link.replied = the_link.requests;
	fill_socket();
	assert_int_equal(etw_link_send_image(&the_link, &head, &body), -EAGAIN);
	while (received())
		;
	assert_int_equal(etw_ipc_receive(host, &message), -EPIPE);
}

static void test_link__withdraws_what_the_host_knows(void **state)
{
	struct etw_registration *known = register_one(), *unknown;
	struct wire_unregister end;

	(void)state;
	etw_link_pump(&the_link);
	while (received())
		;
	unknown = register_one();
	etw_link_withdraw(&the_link, unknown, etw_registration_number(unknown));
	assert_int_equal(received(), 0);
	etw_link_withdraw(&the_link, known, etw_registration_number(known));
	assert_int_equal(received(), WIRE_UNREGISTER);
	assert_int_equal(wire_message_decode_unregister(message.datagram, &end), 0);
	assert_int_equal(end.registration, etw_registration_number(known));
}

static void test_link__answers_while_it_is_connected(void **state)
{
	const struct wire_message head = {.type = WIRE_ENABLE_DONE, .request = 7};

	(void)state;
	assert_int_equal(etw_link_answer(&the_link, &head), 0);
	assert_int_equal(received(), WIRE_ENABLE_DONE);
	assert_int_equal(message.head.request, 7);
	the_link.state = ETW_LINK_CONNECTING;
	assert_int_equal(etw_link_answer(&the_link, &head), -EPIPE);
	the_link.state = ETW_LINK_CONNECTED;
	/* The program has closed the socket. */
	(void)close(the_link.socket.number);
	assert_int_equal(etw_link_answer(&the_link, &head), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_link__tells_of_registrations_and_asks_for_an_answer, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_link__few_requests_are_under_way_at_once,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_link__large_images_are_under_way_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_link__images_wait_for_a_slow_host, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_link__withdraws_what_the_host_knows, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_link__answers_while_it_is_connected, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
