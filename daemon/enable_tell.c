/* SPDX-License-Identifier: MIT */
/* What processes are told: enable_internal.h. */
#include "daemon/enable_internal.h"

#include <errno.h>
#include <string.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"
#include "daemon/pids.h"
#include "daemon/wishes.h"
#include "wire/enable_request.h"
#include "wire/filter_header.h"

/* Before an event can be written: the next host must believe it, too. */
static int grant_once(const struct etwd_enable_parts *parts, uint32_t session_id, uid_t uid,
		      const GUID *provider)
{
	const struct etwd_grant grant = {session_id, uid, *provider};
	const int r = etwd_grants_add(parts->grants, &grant);

	return r > 0 ? etwd_handover_add_grant(parts->handover, &grant) : r;
}

/* Gives the client's uid the right, and the client the rings, to write to a slot's session. */
static int open_slot(const struct etwd_enable_parts *parts,
		     const struct etwd_registration *registration, struct wire_enable_slot *slot)
{
	static const GUID classic = ETWD_GRANT_CLASSIC;
	struct etwd_client *client = etwd_client_of(registration->peer);
	struct etwd_session *session = etwd_sessions_find(parts->sessions, slot->session_id);
	const uid_t uid = client->peer.who.uid;

	if (!session || session->state != ETWD_SESSION_RUNNING)
		return -ENOENT;
	/* To who may not write to a secure session it is as if the session did not want the provider. */
	if (session->is_secure &&
	    etwd_access_check(parts->sessions->security, &client->peer, &session->guid,
			      TRACELOG_LOG_EVENT, "log events to") < 0)
		return -ENOENT;
	TRY(grant_once(parts, slot->session_id, uid, &registration->provider->guid));
	if (registration->kind == WIRE_REGISTRATION_CLASSIC)
		TRY(grant_once(parts, slot->session_id, uid, &classic));
	return etwd_ring_holders_announce(parts->ring_holders, &client->holder, &client->peer,
					  session, &slot->ring_set);
}

void etwd_enable_tell_unable(const struct etwd_peer *peer, struct etwd_session *session, int status,
			     uint64_t events, uint64_t late_ms)
{
	const struct etwd_unable_word word = {
		.uid = peer->who.uid,
		.pid = (uint32_t)peer->who.pid,
		.status = status,
		.events = events,
		.late_ms = late_ms,
		.is_trusted = peer->who.uid == 0 || peer->who.uid == session->uid,
	};

	if (!etwd_unable_note(&session->unable, &word))
		return;
	etwd_unable_tell(&session->unable, session->engine);
	if (etwd_budget_may_tell(peer->peers->budget, peer->who.uid, etw_monotonic_ms()))
		etwd_log("process %d of uid %u cannot write to session %u, or could not before: %s",
			 (int)peer->who.pid, (unsigned)peer->who.uid, (unsigned)session->id,
			 strerror(-status));
}

/* Of this host, which passes: of descriptors, of memory. */
static bool is_shortage(int result)
{
	return result == -EMFILE || result == -ENFILE || result == -ENOMEM;
}

/* Not even a set that refuses could be made, of which the session would know: nobody else looks at the process again. */
static void try_again(const struct etwd_enable_parts *parts, struct etwd_client *client)
{
	client->is_without_rings = true;
	if (!parts->ring_holders->again_ms)
		parts->ring_holders->again_ms = etwd_patient_now_ms() + ETWD_RINGS_AGAIN_MS;
}

/*
 * What an ENABLE says of a slot, as far as the process can write to it. One that cannot knows that the session wants
 * its events, and refuses them.
 */
static void fill_slot(const struct etwd_enable_parts *parts,
		      const struct etwd_registration *registration, struct wire_enable_slot *slot)
{
	struct etwd_client *client = etwd_client_of(registration->peer);
	struct etwd_session *session;
	int r = open_slot(parts, registration, slot);

	if (r == -ENOENT) {
		*slot = (struct wire_enable_slot){0};
		return;
	}
	session = etwd_sessions_find(parts->sessions, slot->session_id);
	if (r == 0 && client->late_ms)
		etwd_enable_tell_unable(&client->peer, session, client->late_status, 0,
					client->late_ms);
	if (r == 0)
		return;
	slot->ring_set = 0;
	if (is_shortage(r))
		try_again(parts, client);
	if (session)
		etwd_enable_tell_unable(&client->peer, session, r, 0, 0);
}

/* A session that has enabled the group of a provider that others fill up: the process cannot be told. */
static void note_left_out(const struct etwd_enable_parts *parts, const struct etwd_peer *peer,
			  const struct etwd_wishes *left_out)
{
	for (size_t i = 0; i < left_out->count; i++) {
		struct etwd_session *session = etwd_sessions_find(parts->sessions,
								  left_out->enables[i]->session_id);

		if (session && session->state == ETWD_SESSION_RUNNING)
			etwd_enable_tell_unable(peer, session, -ENOSPC, 0, 0);
	}
}

static struct wire_filter filter_of(const struct etwd_enable *enable)
{
	if (!enable)
		return (struct wire_filter){0};
	return wire_filter_of_callback((struct etw_bytes){enable->filters, enable->filter_bytes});
}

static bool is_block(const struct wire_filter *filter)
{
	return filter->type == EVENT_FILTER_TYPE_SCHEMATIZED &&
	       wire_filter_header_is_sound(filter->data);
}

/*
 * What the callback gets as FilterData: the blocks of all sessions' SCHEMATIZED filters, each with the bit of its
 * session's slot, and of a request for the state that of the request. Data of any other form goes as it came.
 */
static void put_callback_filter(const struct etwd_described *described,
				const struct etwd_telling *telling, struct wire_filter_blocks *room,
				struct wire_enable *enable)
{
	const struct wire_enable_provider *request = telling->request;
	const bool is_capture = request && request->code == EVENT_CONTROL_CODE_CAPTURE_STATE;
	struct wire_filter chosen = request ? wire_filter_of_callback(request->filters)
					    : filter_of(described->last);

	enable->filter_type = chosen.type;
	enable->filter = chosen.data;
	if (chosen.data.left && !is_block(&chosen))
		return;
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		struct wire_filter filter = filter_of(described->enables[i]);

		if (is_capture && enable->slots[i].session_id == telling->session_id)
			filter = chosen;
		else if (is_capture)
			continue;
		if (enable->slots[i].is_used && is_block(&filter))
			(void)wire_filter_blocks_add(room, filter.data, UINT64_C(1) << i);
	}
	if (!room->bytes)
		return;
	enable->filter_type = EVENT_FILTER_TYPE_SCHEMATIZED;
	enable->filter = (struct etw_bytes){room->at, room->bytes};
}

static uint8_t used_slots(const struct wire_enable *enable)
{
	uint8_t used = 0;

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable->slots[i].is_used)
			used |= (uint8_t)(1u << i);
	}
	return used;
}

/*
 * Whether a process has to hear of it: one that was never in a session's scope neither hears of the session nor of its
 * end.
 */
static bool is_concerned(struct etwd_registration *registration, const struct etwd_telling *telling,
			 const struct wire_enable *enable)
{
	const uint8_t used = used_slots(enable);
	const bool has_left = registration->told & ~used;

	if (telling->is_owed) {
		if (!registration->owed)
			return false;
		registration->owed--;
		return true;
	}
	if (telling->is_withdrawal && has_left)
		registration->owed++;
	if (!telling->request)
		return has_left || used;
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable->slots[i].is_used && enable->slots[i].session_id == telling->session_id)
			return true;
	}
	return has_left;
}

/* What a process is told of a registration, but for its rings. */
static void describe(const struct etwd_enable_parts *parts,
		     const struct etwd_registration *registration, struct wire_enable *ret,
		     struct etwd_described *ret_enables)
{
	struct etwd_wishes left_out;

	if (registration->kind == WIRE_REGISTRATION_CLASSIC) {
		etwd_provider_describe_classic(registration, ret, ret_enables);
		return;
	}
	etwd_wishes_describe(parts->sessions, registration, ret, ret_enables, &left_out);
	note_left_out(parts, registration->peer, &left_out);
}

/*
 * A session may ask whose the events are: the process is looked at now, as it may have ended when they are taken. One that
 * is in no container has nothing to tell of one.
 */
static void describe_process(const struct etwd_peer *peer, struct wire_enable *enable)
{
	const uint32_t described = EVENT_ENABLE_PROPERTY_TS_ID |
				   EVENT_ENABLE_PROPERTY_PROCESS_START_KEY |
				   EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING;
	struct etw_process_facts facts;
	uint32_t property = 0;

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		property |= enable->slots[i].property;
	if (!(property & described))
		return;
	etwd_pids_describe(peer->peers->pids, peer->who.uid, (uint32_t)peer->who.pid, &facts);
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		enable->slots[i].property = etw_enable_property_of(enable->slots[i].property,
								   &facts.container);
}

void etwd_enable_tell(const struct etwd_enable_parts *parts, struct etwd_registration *registration,
		      const struct etwd_telling *telling)
{
	struct etwd_client *client = etwd_client_of(registration->peer);
	struct etwd_peer *peer = &client->peer;
	const struct wire_enable_provider *request = telling->request;
	struct wire_message head = {.type = WIRE_ENABLE};
	uint8_t bytes[WIRE_CALLBACK_DATA_MAX];
	struct wire_filter_blocks blocks = {.at = bytes, .room = sizeof(bytes)};
	struct etwd_described described;
	struct wire_enable enable;

	if (peer->is_doomed)
		return;
	describe(parts, registration, &enable, &described);
	if (!is_concerned(registration, telling, &enable))
		return;
	registration->told = used_slots(&enable);
	enable.registration = registration->number;
	enable.has_callback = telling->has_callback;
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (enable.slots[i].is_used)
			fill_slot(parts, registration, &enable.slots[i]);
	}
	describe_process(peer, &enable);
	put_callback_filter(&described, telling, &blocks, &enable);
	if (request)
		enable.source = request->source;
	if (request && request->code == EVENT_CONTROL_CODE_CAPTURE_STATE) {
		enable.control_code = request->code;
		enable.level = request->level;
		enable.match_any = request->match_any;
		enable.match_all = request->match_all;
	}
	if (!peer->is_doomed)
		head.request = etwd_waits_expect(parts->waits, telling->wait, &client->answers);
	etwd_peer_send(peer, wire_message_encode_enable(&head, &enable, peer->peers->outgoing), -1);
}

/* The members of a group hear what a session says of it, but for those that it does not allow. */
static void tell_members(const struct etwd_enable_parts *parts, const GUID *group,
			 uint32_t session_id, const struct etwd_telling *telling)
{
	struct etwd_provider *provider = etwd_providers_find_group(parts->providers, group);
	struct etwd_registration *registration = provider ? provider->members : NULL;

	for (; registration; registration = registration->next_of_group) {
		if (!etwd_wishes_disallow(parts->sessions, session_id,
					  &registration->provider->guid))
			etwd_enable_tell(parts, registration, telling);
	}
}

void etwd_enable_tell_all(const struct etwd_enable_parts *parts, const struct etwd_enabled *what,
			  uint32_t session_id, const struct etwd_telling *telling)
{
	struct etwd_provider *provider;
	struct etwd_registration *registration;

	if (what->is_group) {
		tell_members(parts, &what->guid, session_id, telling);
		return;
	}
	provider = etwd_providers_find(parts->providers, &what->guid);
	registration = provider ? provider->registrations : NULL;
	for (; registration; registration = registration->next_of_provider)
		etwd_enable_tell(parts, registration, telling);
}
