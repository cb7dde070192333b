/* SPDX-License-Identifier: MIT */
/* See enable.h. */
#include "daemon/enable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <evntrace.h>
#include <wmistr.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/enable_internal.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"
#include "daemon/wishes.h"
#include "session/session.h"
#include "wire/enable_request.h"
#include "wire/hook.h"
#include "wire/system_providers.h"
#include "wire/well_known.h"

static const GUID kernel_logger = WIRE_KERNEL_LOGGER_GUID;

static struct etwd_enabled what_of(const struct wire_enable_provider *request)
{
	return (struct etwd_enabled){
		.guid = request->provider,
		.is_group = request->property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
	};
}

static int may_register(const struct etwd_enable_parts *parts, const struct etwd_peer *peer,
			const GUID *provider)
{
	/* Of nobody, not even of root: its events are believed to be the kernel's, or a source's. */
	if (etw_hook_is_kernels(provider) || etwd_enable_is_source(parts, provider))
		return -EACCES;
	return etwd_access_check(parts->sessions->security, peer, provider, TRACELOG_REGISTER_GUIDS,
				 "register");
}

/*
 * A registration joins the group that its traits name. Returns 0; -EACCES: it may not, and is a member of none; -ENOMEM.
 */
static int join(const struct etwd_enable_parts *parts, struct etwd_registration *registration,
		struct etw_bytes traits)
{
	static const GUID none;
	const GUID group = etwd_traits_group(traits);
	int r = 0;

	if (!etw_guid_is_null(&group))
		r = etwd_access_check(parts->sessions->security, registration->peer, &group,
				      TRACELOG_JOIN_GROUP, "join");
	if (r < 0) {
		(void)etwd_providers_join(parts->providers, registration, &none);
		return r;
	}
	return etwd_providers_join(parts->providers, registration, &group);
}

/* A controller that waits for callbacks of processes that have just come waits for this one's. */
static struct etwd_wait *find_settling(const struct etwd_enable_parts *parts,
				       const struct etwd_registration *registration)
{
	struct etwd_wait *wait = etwd_waits_settling(parts->waits, &registration->provider->guid);

	if (!wait && registration->group)
		wait = etwd_waits_settling(parts->waits, &registration->group->guid);
	return wait;
}

int etwd_enable_register(const struct etwd_enable_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message)
{
	struct etwd_telling telling = {.has_callback = true};
	struct etwd_registration *registration = NULL;
	struct wire_register body;
	int r;

	TRY(wire_message_decode_register(message->datagram, &body));
	r = may_register(parts, &client->peer, &body.provider);
	if (r == 0)
		r = etwd_providers_register(parts->providers, &client->peer, &client->registrations,
					    &body, &registration);
	if (r == -ENOSPC)
		etwd_peer_refuse(&client->peer, "a registration", r);
	etwd_peer_answer(&client->peer, WIRE_REPLY, message->head.request, r);
	if (r < 0)
		return 0;
	client->process.pid = client->peer.who.pid;
	registration->process = &client->process;
	/* Who may not join is registered all the same. */
	(void)join(parts, registration, body.traits);
	if (!etwd_wishes_exist(registration))
		return 0;
	telling.wait = find_settling(parts, registration);
	etwd_enable_tell(parts, registration, &telling);
	return 0;
}

int etwd_enable_traits(const struct etwd_enable_parts *parts, struct etwd_client *client,
		       const struct etw_ipc_message *message)
{
	struct etwd_telling telling = {.has_callback = true};
	struct etwd_registration *registration;
	const struct etwd_provider *before;
	struct wire_register body;
	bool is_news;
	int r;

	TRY(wire_message_decode_register(message->datagram, &body));
	/* It may have been unregistered, or refused, meanwhile. */
	registration = etwd_registrations_find(&client->registrations, body.registration);
	if (!registration) {
		etwd_peer_answer(&client->peer, WIRE_REPLY, message->head.request, -ENOENT);
		return 0;
	}
	before = registration->group;
	is_news = before && before->enable_count;
	r = join(parts, registration, body.traits);
	etwd_peer_answer(&client->peer, WIRE_REPLY, message->head.request, r);
	is_news |= registration->group && registration->group->enable_count;
	if (registration->group == before || !(is_news || registration->owed))
		return 0;
	/* Of sessions that ended: as a member of the group that it left nobody will call it back any more. */
	if (registration->owed) {
		telling.is_owed = true;
		registration->owed = 1;
	}
	telling.wait = find_settling(parts, registration);
	etwd_enable_tell(parts, registration, &telling);
	return 0;
}

/* Whether the session may have told the client that it wants events; its right to write outlives the wish. */
static bool is_told_of(const struct etwd_enable_parts *parts, const struct etwd_client *client,
		       uint32_t session_id)
{
	const struct etwd_registration *registration = client->registrations.first;

	for (; registration; registration = registration->next_of_peer) {
		const struct etwd_grant grant = {session_id, client->peer.who.uid,
						 registration->provider->guid};

		if (etwd_grants_has(parts->grants, &grant))
			return true;
	}
	return false;
}

int etwd_enable_undelivered(const struct etwd_enable_parts *parts, struct etwd_client *client,
			    const struct etw_ipc_message *message)
{
	struct wire_undelivered body;
	struct etwd_session *session;

	TRY(wire_message_decode_undelivered(message->datagram, &body));
	if (body.session_id == 0) {
		client->late_ms = body.late_ms;
		client->late_status = message->head.status;
		return 0;
	}
	session = etwd_sessions_find(parts->sessions, body.session_id);
	if (session && is_told_of(parts, client, body.session_id))
		etwd_enable_tell_unable(&client->peer, session, message->head.status, body.events,
					0);
	return 0;
}

int etwd_enable_unregister(const struct etwd_enable_parts *parts, struct etwd_client *client,
			   const struct etw_ipc_message *message)
{
	struct wire_unregister body;
	int r;

	TRY(wire_message_decode_unregister(message->datagram, &body));
	r = etwd_providers_unregister(parts->providers, &client->registrations, body.registration);
	etwd_peer_answer(&client->peer, WIRE_REPLY, message->head.request, r);
	return 0;
}

bool etwd_enable_is_source(const struct etwd_enable_parts *parts, const GUID *provider)
{
	return parts->environment && etw_session_has_provider(parts->environment, provider);
}

int etwd_enable_note(const struct etwd_enable_parts *parts, const struct etwd_session *session,
		     const struct wire_enable_provider *body)
{
	struct etwd_enable wanted = {
		.session_id = session->id,
		.uid = session->uid,
		.property = body->property,
		.match_any = body->match_any,
		.match_all = body->match_all,
		.source = body->source,
		.filters = (uint8_t *)(uintptr_t)body->filters.at,
		.filter_bytes = (uint32_t)body->filters.left,
		.level = body->level,
	};
	const struct etwd_enabled what = what_of(body);

	switch (body->code) {
	case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
		etwd_scope_begin(body->filters, &wanted.scope);
		TRY(etwd_providers_enable(parts->providers, &body->provider, &wanted));
		return etwd_handover_write(parts->handover);
	case EVENT_CONTROL_CODE_DISABLE_PROVIDER:
		/* What is not enabled need not be disabled: that is no error. */
		if (etwd_providers_disable(parts->providers, &what, session->id) < 0)
			return 0;
		return etwd_handover_write(parts->handover);
	case EVENT_CONTROL_CODE_CAPTURE_STATE:
		return 0;
	default:
		return -EINVAL;
	}
}

/* Of a controller that waits for the callbacks of what it enabled. */
struct enable_wait {
	struct etwd_wait wait; /* first */
	struct etwd_peers *peers;
	uint64_t peer_serial;
	uint32_t request;
};

static void answer_wait(struct etwd_wait *wait, int status)
{
	struct enable_wait *of = (struct enable_wait *)(void *)wait;
	struct etwd_peer *peer = etwd_peer_find(of->peers, of->peer_serial);

	if (peer)
		etwd_peer_answer(peer, WIRE_REPLY, of->request, status);
	free(of);
}

static int start_wait(const struct etwd_enable_parts *parts, const struct etwd_peer *peer,
		      const struct wire_enable_provider *body, uint32_t request,
		      struct etwd_wait **ret)
{
	uint64_t deadline_ms = etwd_patient_now_ms() + body->timeout_ms;
	struct enable_wait *of;

	if (!body->timeout_ms)
		return 0;
	if (body->timeout_ms == UINT32_MAX)
		deadline_ms = UINT64_MAX;
	of = calloc(1, sizeof(*of));
	if (!of)
		return -ENOMEM;
	of->peers = parts->peers;
	of->peer_serial = peer->serial;
	of->request = request;
	of->wait.settle_ms = parts->waits->settle_ms;
	of->wait.provider = body->provider;
	etwd_waits_add(parts->waits, &of->wait, deadline_ms, answer_wait);
	*ret = &of->wait;
	return 0;
}

/*
 * Whether this is the kernel's GUID, for which there is nothing to do: its events come by EnableFlags. Programs that
 * enable it nevertheless are told that a system logger has them, which is so.
 *
 * Returns 1; 0: another provider; -EINVAL: a session that does not have the kernel's events.
 */
static int check_kernel(const struct etwd_session *session, const GUID *provider)
{
	/* Those that a file of configuration enables are in its session's kernel events from the start. */
	if (!etw_guid_equal(provider, &kernel_logger) && !etw_system_provider_is(provider))
		return 0;
	return session->is_system_logger ? 1 : -EINVAL;
}

/* Returns 0 when the answer was given or will be; else what is to be answered. */
static int enable(const struct etwd_enable_parts *parts, struct etwd_peer *peer,
		  const struct wire_enable_provider *body, uint32_t request)
{
	struct etwd_telling telling = {.has_callback = true, .request = body};
	const struct etwd_enabled what = what_of(body);
	struct etwd_session *session;
	int r;

	/* First what is known of the request alone, as the API has it. */
	TRY(etw_enable_request_check(body));
	TRY(etwd_sessions_find_for(parts->sessions, peer, ETWD_ACT_CONTROL, body->handle,
				   &session));
	r = check_kernel(session, &body->provider);
	if (r > 0)
		etwd_peer_answer(peer, WIRE_REPLY, request, 0);
	if (r != 0)
		return r < 0 ? r : 0;
	TRY(etwd_access_check(parts->sessions->security, peer, &body->provider,
			      TRACELOG_GUID_ENABLE, "enable"));
	telling.session_id = session->id;
	TRY(etwd_enable_note(parts, session, body));
	TRY(start_wait(parts, peer, body, request, &telling.wait));
	etwd_enable_tell_all(parts, &what, session->id, &telling);
	if (telling.wait)
		etwd_waits_begin(parts->waits, telling.wait);
	else
		etwd_peer_answer(peer, WIRE_REPLY, request, 0);
	return 0;
}

int etwd_enable_provider(const struct etwd_enable_parts *parts, struct etwd_client *client,
			 const struct etw_ipc_message *message)
{
	struct wire_enable_provider body;
	int r;

	TRY(wire_message_decode_enable_provider(message->datagram, &body));
	r = enable(parts, &client->peer, &body, message->head.request);
	if (r < 0)
		etwd_peer_answer(&client->peer, WIRE_REPLY, message->head.request, r);
	return 0;
}

int etwd_enable_own(const struct etwd_enable_parts *parts, const struct etwd_session *session,
		    const struct wire_enable_provider *body)
{
	const struct etwd_telling telling = {
		.has_callback = true, .session_id = session->id, .request = body};
	const struct etwd_enabled what = what_of(body);
	int r;

	TRY(etw_enable_request_check(body));
	r = check_kernel(session, &body->provider);
	if (r != 0)
		return r < 0 ? r : 0;
	TRY(etwd_enable_note(parts, session, body));
	etwd_enable_tell_all(parts, &what, session->id, &telling);
	return 0;
}

void etwd_enable_withdraw(const struct etwd_enable_parts *parts, struct etwd_session *session,
			  struct etwd_wait *wait)
{
	const struct etwd_telling telling = {.is_withdrawal = true, .wait = wait};
	struct etwd_session_withdrawal *withdrawal = &session->withdrawal;
	size_t count = etwd_providers_enabled(parts->providers, session->id, NULL, 0);

	free(withdrawal->providers); /* of an end that failed */
	withdrawal->provider_count = 0;
	withdrawal->providers = calloc(count ? count : 1, sizeof(struct etwd_enabled));
	if (!withdrawal->providers) {
		etwd_log("session %u ends without telling its providers: no memory",
			 (unsigned)session->id);
		return;
	}
	withdrawal->provider_count = count;
	(void)etwd_providers_enabled(parts->providers, session->id, withdrawal->providers, count);
	for (size_t i = 0; i < count; i++) {
		const struct etwd_enabled *what = &withdrawal->providers[i];

		(void)etwd_providers_disable(parts->providers, what, session->id);
		etwd_enable_tell_all(parts, what, session->id, &telling);
	}
	(void)etwd_handover_write(parts->handover);
}

void etwd_enable_call_back(const struct etwd_enable_parts *parts,
			   const struct etwd_session *session)
{
	const struct etwd_telling telling = {.has_callback = true, .is_owed = true};

	for (size_t i = 0; i < session->withdrawal.provider_count; i++)
		etwd_enable_tell_all(parts, &session->withdrawal.providers[i], session->id,
				     &telling);
}

void etwd_enable_capture(const struct etwd_enable_parts *parts, const struct etwd_session *session,
			 const GUID *guid)
{
	const struct etwd_provider *provider = etwd_providers_find(parts->providers, guid);
	struct etwd_registration *registration = provider ? provider->registrations : NULL;
	struct wire_enable_provider request = {.code = EVENT_CONTROL_CODE_CAPTURE_STATE,
					       .provider = *guid};
	const struct etwd_telling telling = {
		.has_callback = true, .session_id = session->id, .request = &request};

	for (; registration; registration = registration->next_of_provider) {
		const struct etwd_enable *enable = etwd_wishes_of(parts->sessions, registration,
								  session->id);

		if (!enable)
			continue;
		request.level = enable->level;
		request.match_any = enable->match_any;
		request.match_all = enable->match_all;
		request.source = enable->source;
		etwd_enable_tell(parts, registration, &telling);
	}
}

/* Whether a list of a session's has the provider. */
static bool has_guid(const GUID *guids, size_t count, const GUID *guid)
{
	for (size_t i = 0; i < count; i++) {
		if (etw_guid_equal(&guids[i], guid))
			return true;
	}
	return false;
}

void etwd_enable_disallow(const struct etwd_enable_parts *parts, struct etwd_session *session,
			  GUID *guids, size_t count)
{
	const struct etwd_telling telling = {.has_callback = true};
	struct etwd_session_settings *settings = &session->settings;
	CLEANUP(freep) GUID *before = settings->disallowed;
	const size_t before_count = settings->disallowed_count;
	const struct etwd_registered *registered = &parts->providers->registered;

	settings->disallowed = guids;
	settings->disallowed_count = count;
	for (size_t i = 0; i < registered->count; i++) {
		struct etwd_registration *registration = registered->places[i].registration;
		const GUID *guid = registration ? &registration->provider->guid : NULL;

		if (registration && registration->group &&
		    etwd_provider_enable_in(registration->group, session->id) &&
		    has_guid(before, before_count, guid) != has_guid(guids, count, guid))
			etwd_enable_tell(parts, registration, &telling);
	}
}

static bool has_peer(const struct etwd_peers *peers, uid_t uid)
{
	const struct etwd_peer *peer = peers->first;

	while (peer && peer->who.uid != uid)
		peer = peer->next;
	return peer != NULL;
}

int etwd_enable_ring_replaced(const struct etwd_enable_parts *parts, uint32_t session_id, uid_t uid)
{
	const struct etwd_telling telling = {.has_callback = false};
	struct etwd_session *session = etwd_sessions_find(parts->sessions, session_id);
	uint32_t ring_set;
	int r, refusal;

	if (!session || session->state != ETWD_SESSION_RUNNING)
		return -ENOENT;
	if (!has_peer(parts->peers, uid))
		return 0;
	r = etw_session_ring_set(session->engine, uid, &ring_set, NULL, &refusal);
	if (r < 0) {
		etwd_log("the rings of session %u for uid %u are not replaced: %s",
			 (unsigned)session_id, (unsigned)uid, strerror(-r));
		return r;
	}
	for (struct etwd_peer *peer = parts->peers->first; peer; peer = peer->next) {
		struct etwd_registration *registration = etwd_client_of(peer)->registrations.first;

		if (peer->who.uid != uid)
			continue;
		for (; registration; registration = registration->next_of_peer) {
			if (etwd_wishes_of(parts->sessions, registration, session_id))
				etwd_enable_tell(parts, registration, &telling);
		}
	}
	return 0;
}

uint64_t etwd_enable_check(const struct etwd_enable_parts *parts, uint64_t now_ms)
{
	const struct etwd_telling telling = {.has_callback = false};

	if (!parts->ring_holders->again_ms || now_ms < parts->ring_holders->again_ms)
		return parts->ring_holders->again_ms;
	parts->ring_holders->again_ms = 0;
	for (struct etwd_peer *peer = parts->peers->first; peer; peer = peer->next) {
		struct etwd_client *client = etwd_client_of(peer);
		struct etwd_registration *registration = client->registrations.first;

		if (!client->is_without_rings)
			continue;
		client->is_without_rings = false;
		for (; registration; registration = registration->next_of_peer) {
			if (etwd_wishes_exist(registration))
				etwd_enable_tell(parts, registration, &telling);
		}
	}
	return parts->ring_holders->again_ms;
}
