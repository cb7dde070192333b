/* SPDX-License-Identifier: MIT */
/* See talk.h. */
#include "integration/daemon/talk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "integration/daemon/support.h"

#define SILENCE_MS 150

struct talk *talk_open(enum wire_role role)
{
	struct talk *talk = calloc(1, sizeof(*talk));

	assert_non_null(talk);
	etw_ipc_message_init(&talk->message);
	assert_int_equal(etw_runtime_connect(runtime_path(), role, &talk->fd, &talk->welcome, NULL),
			 0);
	return talk;
}

void talk_close(struct talk *talk)
{
	if (!talk)
		return;
	etw_ipc_message_done(&talk->message);
	close(talk->fd);
	free(talk);
}

int talk_send(struct talk *talk, size_t bytes)
{
	return etw_ipc_send(talk->fd, talk->room, bytes, NULL, 0);
}

static int receive_within(struct talk *talk, int timeout_ms)
{
	struct pollfd wait = {talk->fd, POLLIN, 0};

	if (poll(&wait, 1, timeout_ms) <= 0)
		return -ETIMEDOUT;
	return etw_ipc_receive(talk->fd, &talk->message);
}

int talk_receive(struct talk *talk)
{
	return receive_within(talk, WAIT_MS);
}

void talk_expect(struct talk *talk, uint32_t type)
{
	assert_int_equal(talk_receive(talk), 0);
	assert_int_equal(talk->message.head.type, type);
}

bool talk_is_silent(struct talk *talk)
{
	return receive_within(talk, SILENCE_MS) == -ETIMEDOUT;
}

bool talk_is_closed(struct talk *talk)
{
	int r;

	do
		r = talk_receive(talk);
	while (r == 0);
	return r == -EPIPE;
}

int talk_register(struct talk *talk, uint32_t number, const GUID *provider)
{
	const struct wire_message head = {.type = WIRE_REGISTER, .request = number + 1};
	const struct wire_register body = {.registration = number, .provider = *provider};

	assert_int_equal(talk_send(talk, wire_message_encode_register(&head, &body, talk->room)),
			 0);
	talk_expect(talk, WIRE_REPLY);
	assert_int_equal(talk->message.head.request, number + 1);
	return talk->message.head.status;
}

int talk_lease(struct talk *talk, uint64_t handle)
{
	const struct wire_message head = {.type = WIRE_LEASE, .request = 1};
	const struct wire_lease body = {handle};

	assert_int_equal(talk_send(talk, wire_message_encode_lease(&head, &body, talk->room)), 0);
	talk_expect(talk, WIRE_REPLY);
	return talk->message.head.status;
}

void talk_take_enable(struct talk *talk, struct wire_enable *ret, unsigned *ret_sets)
{
	unsigned sets = 0;

	assert_int_equal(talk_receive(talk), 0);
	while (talk->message.head.type == WIRE_RING_SET) {
		assert_true(talk->message.fds[0] >= 0);
		sets++;
		assert_int_equal(talk_receive(talk), 0);
	}
	assert_int_equal(talk->message.head.type, WIRE_ENABLE);
	assert_int_equal(wire_message_decode_enable(talk->message.datagram, ret), 0);
	if (ret_sets)
		*ret_sets = sets;
}

void talk_enable_done(struct talk *talk)
{
	const struct wire_message head = {.type = WIRE_ENABLE_DONE,
					  .request = talk->message.head.request};

	if (!head.request)
		return;
	assert_int_equal(talk_send(talk, wire_message_encode_plain(&head, talk->room)), 0);
}
