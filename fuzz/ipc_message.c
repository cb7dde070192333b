/* SPDX-License-Identifier: MIT */
/*
 * A datagram of any bytes is refused, or is a message whose struct holds to all limits: it can be encoded
 * again, and gives the same bytes. Input: the datagram. A body is tried as its type says, and a struct that
 * several types share under each of them.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "wire/message.h"

static uint8_t room[WIRE_MESSAGE_BYTES_MAX];

#define TRY_BODY(name)                                                                     \
	static void try_##name(struct etw_bytes datagram, const struct wire_message *head) \
	{                                                                                  \
		static struct wire_##name body;                                            \
		int r = wire_message_decode_##name(datagram, &body);                       \
                                                                                           \
		CHECK(!r || r == -EPROTO);                                                 \
		if (r)                                                                     \
			return;                                                            \
		CHECK(wire_message_encode_##name(head, &body, room) == datagram.left);     \
		CHECK(!memcmp(room, datagram.at, datagram.left));                          \
	}

TRY_BODY(hello)
TRY_BODY(welcome)
TRY_BODY(register)
TRY_BODY(unregister)
TRY_BODY(enable)
TRY_BODY(ring_set_ref)
TRY_BODY(undelivered)
TRY_BODY(image)
TRY_BODY(session_config)
TRY_BODY(session_info)
TRY_BODY(control)
TRY_BODY(enable_provider)
TRY_BODY(sessions)
TRY_BODY(lease)
TRY_BODY(subscribe)
TRY_BODY(subscribed)
TRY_BODY(batch)
TRY_BODY(statistics_query)
TRY_BODY(statistics)

static void try_plain(struct etw_bytes datagram, const struct wire_message *head)
{
	CHECK(wire_message_encode_plain(head, room) == datagram.left);
	CHECK(!memcmp(room, datagram.at, datagram.left));
}

static const struct {
	uint32_t type;
	void (*attempt)(struct etw_bytes datagram, const struct wire_message *head);
} bodies[] = {
	{WIRE_HELLO, try_hello},
	{WIRE_WELCOME, try_welcome},
	{WIRE_REPLY, try_plain},
	{WIRE_REGISTER, try_register},
	{WIRE_UNREGISTER, try_unregister},
	{WIRE_ENABLE, try_enable},
	{WIRE_ENABLE_DONE, try_plain},
	{WIRE_RING_SET, try_ring_set_ref},
	{WIRE_RING_RETIRE, try_ring_set_ref},
	{WIRE_RING_RETIRED, try_ring_set_ref},
	{WIRE_UNDELIVERED, try_undelivered},
	{WIRE_IMAGE, try_image},
	{WIRE_START, try_session_config},
	{WIRE_SESSION, try_session_info},
	{WIRE_CONTROL, try_control},
	{WIRE_ENABLE_PROVIDER, try_enable_provider},
	{WIRE_LIST, try_plain},
	{WIRE_SESSIONS, try_sessions},
	{WIRE_LEASE, try_lease},
	{WIRE_SUBSCRIBE, try_subscribe},
	{WIRE_SUBSCRIBED, try_subscribed},
	{WIRE_BATCH, try_batch},
	{WIRE_SESSION_END, try_batch},
	{WIRE_STATISTICS_QUERY, try_statistics_query},
	{WIRE_STATISTICS, try_statistics},
	{WIRE_PRIVATE_START, try_session_info},
	{WIRE_PRIVATE_CONTROL, try_control},
	{WIRE_PRIVATE_ENABLE, try_enable_provider},
	{WIRE_PRIVATE_WISH, try_enable_provider},
	{WIRE_PRIVATE_DONE, try_session_info},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_bytes datagram = {data, bytes};
	struct wire_message head;
	int r = wire_message_decode(datagram, &head);

	CHECK(!r || r == -EPROTO);
	if (r)
		return 0;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		if (bodies[i].type == head.type)
			bodies[i].attempt(datagram, &head);
	}
	return 0;
}
