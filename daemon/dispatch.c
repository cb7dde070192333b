/* SPDX-License-Identifier: MIT */
/* See dispatch.h. */
#include "daemon/dispatch.h"

#include <errno.h>

#include "base/macros.h"
#include "daemon/client.h"
#include "daemon/enable.h"
#include "daemon/realtime.h"
#include "daemon/ring_holders.h"
#include "daemon/sessions.h"
#include "daemon/waits.h"

/* What may be sent in which role. A handler returns 0, or -EPROTO when the body is not sound. */
struct handler {
	uint32_t type;
	uint32_t role;
	int (*handle)(struct etwd_peer *peer, const struct etw_ipc_message *message);
};

static int handle_ring_retired(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_ring_set_ref ref;

	TRY(wire_message_decode_ring_set_ref(message->datagram, &ref));
	etwd_ring_holders_peer_retired(peer, ref.ring_set);
	return 0;
}

static int handle_enable_done(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	etwd_waits_answered(&etwd_host_of(peer)->waits, &etwd_client_of(peer)->answers,
			    message->head.request);
	return 0;
}

static const struct handler handlers[] = {
	{WIRE_REGISTER, WIRE_ROLE_PROVIDER, etwd_enable_register},
	{WIRE_UNREGISTER, WIRE_ROLE_PROVIDER, etwd_enable_unregister},
	{WIRE_ENABLE_DONE, WIRE_ROLE_PROVIDER, handle_enable_done},
	{WIRE_UNDELIVERED, WIRE_ROLE_PROVIDER, etwd_enable_undelivered},
	{WIRE_RING_RETIRED, WIRE_ROLE_PROVIDER, handle_ring_retired},
	{WIRE_START, WIRE_ROLE_CONTROLLER, etwd_sessions_start},
	{WIRE_CONTROL, WIRE_ROLE_CONTROLLER, etwd_sessions_control},
	{WIRE_LIST, WIRE_ROLE_CONTROLLER, etwd_sessions_list},
	{WIRE_LEASE, WIRE_ROLE_CONTROLLER, etwd_sessions_lease},
	{WIRE_ENABLE_PROVIDER, WIRE_ROLE_CONTROLLER, etwd_enable_provider},
	{WIRE_SUBSCRIBE, WIRE_ROLE_CONSUMER, etwd_realtime_subscribe},
};

static int say_welcome(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct etwd_host *host = etwd_host_of(peer);
	struct wire_message head = {.type = WIRE_WELCOME, .request = message->head.request};
	struct wire_welcome welcome = {
		.protocol = WIRE_PROTOCOL_VERSION,
		.is_system = host->options->is_system,
		.pid = (uint32_t)peer->who.pid,
		.uid = peer->who.uid,
		.incarnation = host->incarnation,
	};
	struct wire_hello hello;

	TRY(wire_message_decode_hello(message->datagram, &hello));
	if (hello.role < WIRE_ROLE_PROVIDER || hello.role > WIRE_ROLE_CONSUMER)
		return -EPROTO;
	if (hello.protocol != WIRE_PROTOCOL_VERSION) {
		etwd_peer_answer(peer, WIRE_WELCOME, message->head.request, -EPROTO);
		return -EPROTO;
	}
	etwd_peer_greeted(peer, hello.role);
	etwd_peer_send(peer, wire_message_encode_welcome(&head, &welcome, peer->peers->outgoing),
		       host->clock.page.fd);
	return 0;
}

static int dispatch(struct etwd_peer *peer, struct etw_ipc_message *message)
{
	if (!peer->role)
		return message->head.type == WIRE_HELLO ? say_welcome(peer, message) : -EPROTO;
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		if (handlers[i].type == message->head.type)
			return handlers[i].role == peer->role ? handlers[i].handle(peer, message)
							      : -EPROTO;
	}
	return -EPROTO;
}

static void undo(struct etwd_peer *peer)
{
	etwd_realtime_peer_gone(peer);
	etwd_ring_holders_peer_gone(peer);
	etwd_waits_gone(&etwd_host_of(peer)->waits, &etwd_client_of(peer)->answers);
	if (peer->role == WIRE_ROLE_CONTROLLER)
		etwd_sessions_peer_gone(peer);
}

static bool release(struct etwd_peer *peer, size_t *left)
{
	struct etwd_registrations *registrations = &etwd_client_of(peer)->registrations;

	*left -= etwd_providers_unregister_some(&etwd_host_of(peer)->providers, registrations,
						*left);
	return registrations->count == 0;
}

const struct etwd_peer_callbacks etwd_dispatch_callbacks = {sizeof(struct etwd_client), dispatch,
							    release, undo};
