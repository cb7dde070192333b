/* SPDX-License-Identifier: MIT */
/* See dispatch.h. */
#include "daemon/dispatch.h"

#include <errno.h>

#include <evntrace.h>

#include "base/macros.h"
#include "daemon/access_requests.h"
#include "daemon/client.h"
#include "daemon/enumerate.h"
#include "daemon/information.h"
#include "daemon/profile_interval.h"
#include "daemon/session_requests.h"
#include "daemon/source_providers.h"
#include "daemon/system_providers.h"
#include "wire/system_providers.h"

/* A handler returns 0, or -EPROTO when the body is not sound. */
typedef int handle_function(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			    const struct etw_ipc_message *message);

static int handle_register(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			   const struct etw_ipc_message *message)
{
	const unsigned before = client->registrations.count;

	TRY(etwd_enable_register(parts->enable, client, message));
	if (client->registrations.count != before)
		etwd_private_meet(parts->private_parts, client);
	return 0;
}

static int handle_traits(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message)
{
	return etwd_enable_traits(parts->enable, client, message);
}

static int handle_unregister(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			     const struct etw_ipc_message *message)
{
	return etwd_enable_unregister(parts->enable, client, message);
}

static int handle_enable_done(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			      const struct etw_ipc_message *message)
{
	etwd_waits_answered(parts->enable->waits, &client->answers, message->head.request);
	return 0;
}

static int handle_undelivered(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			      const struct etw_ipc_message *message)
{
	return etwd_enable_undelivered(parts->enable, client, message);
}

static int handle_image(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			const struct etw_ipc_message *message)
{
	return etwd_images_handle(parts->session->images, &client->images, &client->peer, message);
}

static int handle_ring_retired(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			       const struct etw_ipc_message *message)
{
	struct wire_ring_set_ref ref;

	TRY(wire_message_decode_ring_set_ref(message->datagram, &ref));
	etwd_ring_holders_returned(parts->enable->ring_holders, &client->holder, ref.ring_set);
	return 0;
}

static int handle_start(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			const struct etw_ipc_message *message)
{
	return etwd_session_handle_start(parts->session, &client->peer, message);
}

static int handle_control(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			  const struct etw_ipc_message *message)
{
	return etwd_session_handle_control(parts->session, &client->peer, message);
}

static int handle_list(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
		       const struct etw_ipc_message *message)
{
	return etwd_session_handle_list(parts->session, &client->peer, message);
}

static int handle_statistics(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			     const struct etw_ipc_message *message)
{
	return etwd_session_handle_statistics(parts->session, &client->peer, message);
}

static int handle_lease(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			const struct etw_ipc_message *message)
{
	return etwd_session_handle_lease(parts->session, &client->peer, message);
}

static int handle_enable_provider(const struct etwd_dispatch_parts *parts,
				  struct etwd_client *client, const struct etw_ipc_message *message)
{
	struct wire_enable_provider body;

	TRY(wire_message_decode_enable_provider(message->datagram, &body));
	if (etwd_private_is_handle(body.handle))
		return etwd_private_enable(parts->private_parts, client, message);
	if (etwd_source_provider_is(parts->session, &body)) {
		etwd_source_provider_enable(parts->session, &client->peer, &body,
					    message->head.request);
		return 0;
	}
	if (!etw_system_provider_is(&body.provider))
		return etwd_enable_provider(parts->enable, client, message);
	etwd_system_provider_enable(parts->session, &client->peer, &body, message->head.request);
	return 0;
}

static int handle_private_done(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			       const struct etw_ipc_message *message)
{
	return etwd_private_answered(parts->private_parts, client, message);
}

static int handle_subscribe(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			    const struct etw_ipc_message *message)
{
	return etwd_realtime_subscribe(parts->session->realtime, &client->consumer, &client->peer,
				       message);
}

static int handle_access(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message)
{
	return etwd_access_request_handle(parts->security, &client->peer, message);
}

static int handle_enumerate(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			    const struct etw_ipc_message *message)
{
	const struct etwd_enumerate_parts own = {parts->enable->providers, parts->enable->sessions,
						 parts->enable};

	return etwd_enumerate_handle(&own, &client->peer, message);
}

static int handle_inform(const struct etwd_dispatch_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message)
{
	struct wire_inform body;

	TRY(wire_message_decode_inform(message->datagram, &body));
	if (body.handle || body.class_ != TraceSampledProfileIntervalInfo)
		return etwd_information_handle(parts->enable, &client->peer, message);
	etwd_profile_interval_handle(parts->profile_interval, parts->session, &client->peer, &body,
				     message->head.request);
	return 0;
}

/* What may be sent in which role. */
static const struct handler {
	uint32_t type;
	uint32_t role;
	handle_function *handle;
} handlers[] = {
	{WIRE_REGISTER, WIRE_ROLE_PROVIDER, handle_register},
	{WIRE_TRAITS, WIRE_ROLE_PROVIDER, handle_traits},
	{WIRE_UNREGISTER, WIRE_ROLE_PROVIDER, handle_unregister},
	{WIRE_ENABLE_DONE, WIRE_ROLE_PROVIDER, handle_enable_done},
	{WIRE_UNDELIVERED, WIRE_ROLE_PROVIDER, handle_undelivered},
	{WIRE_RING_RETIRED, WIRE_ROLE_PROVIDER, handle_ring_retired},
	{WIRE_IMAGE, WIRE_ROLE_PROVIDER, handle_image},
	{WIRE_PRIVATE_DONE, WIRE_ROLE_PROVIDER, handle_private_done},
	{WIRE_START, WIRE_ROLE_CONTROLLER, handle_start},
	{WIRE_CONTROL, WIRE_ROLE_CONTROLLER, handle_control},
	{WIRE_LIST, WIRE_ROLE_CONTROLLER, handle_list},
	{WIRE_STATISTICS_QUERY, WIRE_ROLE_CONTROLLER, handle_statistics},
	{WIRE_LEASE, WIRE_ROLE_CONTROLLER, handle_lease},
	{WIRE_ENABLE_PROVIDER, WIRE_ROLE_CONTROLLER, handle_enable_provider},
	{WIRE_SUBSCRIBE, WIRE_ROLE_CONSUMER, handle_subscribe},
	{WIRE_ACCESS, WIRE_ROLE_CONTROLLER, handle_access},
	{WIRE_ENUMERATE, WIRE_ROLE_CONTROLLER, handle_enumerate},
	{WIRE_INFORM, WIRE_ROLE_CONTROLLER, handle_inform},
};

static int say_welcome(const struct etwd_dispatch_parts *parts, struct etwd_peer *peer,
		       const struct etw_ipc_message *message)
{
	struct wire_message head = {.type = WIRE_WELCOME, .request = message->head.request};
	struct wire_welcome welcome = {
		.protocol = WIRE_PROTOCOL_VERSION,
		.is_system = parts->is_system,
		.pid = (uint32_t)peer->who.pid,
		.uid = peer->who.uid,
		.incarnation = parts->session->handover->incarnation,
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
		       parts->clock->page.fd);
	return 0;
}

static int dispatch(struct etwd_peer *peer, struct etw_ipc_message *message)
{
	const struct etwd_dispatch_parts *parts = peer->peers->context;
	struct etwd_client *client = etwd_client_of(peer);

	if (!peer->role)
		return message->head.type == WIRE_HELLO ? say_welcome(parts, peer, message)
							: -EPROTO;
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		if (handlers[i].type == message->head.type)
			return handlers[i].role == peer->role
				       ? handlers[i].handle(parts, client, message)
				       : -EPROTO;
	}
	return -EPROTO;
}

static bool release(struct etwd_peer *peer, size_t *left)
{
	const struct etwd_dispatch_parts *parts = peer->peers->context;
	struct etwd_registrations *registrations = &etwd_client_of(peer)->registrations;

	*left -= etwd_providers_unregister_some(parts->enable->providers, registrations, *left);
	return registrations->count == 0;
}

static void undo(struct etwd_peer *peer)
{
	const struct etwd_dispatch_parts *parts = peer->peers->context;
	struct etwd_client *client = etwd_client_of(peer);

	etwd_images_gone(parts->session->images, &client->images);
	etwd_realtime_gone(parts->session->realtime, &client->consumer);
	etwd_ring_holders_gone(parts->session->ring_holders, &client->holder);
	etwd_waits_gone(parts->session->waits, &client->answers);
	etwd_scope_process_done(&client->process);
	if (peer->role == WIRE_ROLE_CONTROLLER)
		etwd_session_controller_gone(parts->session, peer);
}

const struct etwd_peer_callbacks etwd_dispatch_callbacks = {sizeof(struct etwd_client), dispatch,
							    release, undo};
