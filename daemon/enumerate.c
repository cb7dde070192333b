/* SPDX-License-Identifier: MIT */
/* See enumerate.h. */
#include "daemon/enumerate.h"

#include <errno.h>
#include <string.h>

#include <evntrace.h>
#include <wmistr.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/access.h"

static_assert(sizeof(struct wire_provider_entry) == sizeof(TRACE_GUID_PROPERTIES),
	      "an entry is what the API hands out");

/* A part of the list that is being made. */
struct part {
	const struct etwd_enumerate_parts *parts;
	const struct etwd_peer *peer;
	struct etwd_somebody somebody; /* the peer's SIDs */
	const struct wire_enumerate *question;
	unsigned looks;
	struct wire_enumerated answer;
	size_t bytes;
	uint8_t room[WIRE_RUN_BYTES_MAX];
};

static bool sees_all(const struct part *part, const struct etwd_provider *provider)
{
	return part->peer->is_privileged ||
	       etwd_somebody_rights(&part->somebody, part->parts->sessions->security,
				    &provider->guid) &
		       WMIGUID_QUERY;
}

static bool is_own(const struct part *part, const struct etwd_registration *registration)
{
	return registration->peer->who.uid == part->peer->who.uid;
}

/* The first registration that the peer sees, from @at on; NULL: none. */
static const struct etwd_registration *find_seen(struct part *part,
						 const struct etwd_registration *at, bool is_all)
{
	while (at && !is_all && !is_own(part, at)) {
		part->looks++;
		at = at->next_of_provider;
	}
	return at;
}

static bool has_room(const struct part *part, size_t bytes)
{
	return bytes <= sizeof(part->room) - part->bytes;
}

static void put(struct part *part, const void *at, size_t bytes)
{
	memcpy(part->room + part->bytes, at, bytes);
	part->bytes += bytes;
}

/*
 * The session of a provider's place; NULL: none. To who may not write to a secure session it is as if the session did
 * not want the provider, here as when it is enabled.
 */
static const struct etwd_session *find_session(const struct part *part,
					       const struct etwd_enable *enable)
{
	const struct etwd_sessions *sessions = part->parts->sessions;
	const struct etwd_session *session =
		enable->session_id ? etwd_sessions_find(sessions, enable->session_id) : NULL;

	if (!session || !session->is_secure || part->peer->is_privileged ||
	    etwd_session_is_owned(session, part->peer))
		return session;
	return etwd_somebody_rights(&part->somebody, sessions->security, &session->guid) &
			       (TRACELOG_LOG_EVENT | WMIGUID_QUERY)
		       ? session
		       : NULL;
}

static void put_provider(struct part *part, const struct etwd_provider *provider,
			 const struct etwd_registration *registration)
{
	const struct etwd_enable *last = NULL;
	struct wire_provider_entry entry = {.guid = provider->guid,
					    .guid_type = le32_of(registration->kind)};

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		const struct etwd_enable *enable = &provider->enables[i];

		if (find_session(part, enable) && (!last || enable->serial > last->serial))
			last = enable;
	}
	if (last) {
		entry.session_id = le32_of(last->session_id);
		entry.level = le32_of(last->level);
		entry.flags = le32_of((uint32_t)last->match_any);
		entry.is_enabled = le32_of(1);
	}
	put(part, &entry, sizeof(entry));
	part->answer.count++;
}

/* The groups, or whether a group has the provider. Each group of a provider's once, as they stand next to each other. */
static void put_groups(struct part *part, const struct etwd_provider *provider,
		       const struct etwd_registration *registration, bool is_all)
{
	const bool is_members = part->question->code == WIRE_ENUMERATE_MEMBERS;
	GUID last = {0};

	for (; registration;
	     registration = find_seen(part, registration->next_of_provider, is_all)) {
		const GUID *group = &registration->group;

		part->looks++;
		if (etw_guid_is_null(group) || etw_guid_equal(group, &last) ||
		    (is_members && !etw_guid_equal(group, &part->question->guid)) ||
		    !has_room(part, sizeof(GUID)))
			continue;
		put(part, is_members ? &provider->guid : group, sizeof(GUID));
		part->answer.count++;
		last = *group;
		if (is_members)
			return;
	}
}

/* Whether the part has room for all that a provider may add. */
static bool is_full(const struct part *part)
{
	return part->looks >= ETWD_ENUMERATE_LOOKS_MAX ||
	       !has_room(part, sizeof(struct wire_provider_entry));
}

static void look_at(struct part *part, const struct etwd_provider *provider)
{
	const bool is_all = sees_all(part, provider);
	const struct etwd_registration *registration = find_seen(part, provider->registrations,
								 is_all);

	part->looks++;
	if (!registration)
		return;
	if (part->question->code == WIRE_ENUMERATE_PROVIDERS)
		put_provider(part, provider, registration);
	else
		put_groups(part, provider, registration, is_all);
}

/* The cursor is a bucket, and how many of its providers were told already. */
static void list_providers(struct part *part)
{
	uint64_t bucket = part->question->cursor >> 32;
	uint32_t skip = (uint32_t)part->question->cursor;

	for (; bucket < ETWD_PROVIDERS_BUCKETS; bucket++, skip = 0) {
		const struct etwd_provider *provider = part->parts->providers->buckets[bucket];
		uint32_t at = 0;

		for (; provider; provider = provider->next, at++) {
			if (at < skip)
				continue;
			if (is_full(part)) {
				part->answer.next = bucket << 32 | at;
				return;
			}
			look_at(part, provider);
		}
	}
}

static void put_enable(struct part *part, const struct etwd_enable *enable)
{
	const TRACE_ENABLE_INFO info = {
		.IsEnabled = TRUE,
		.Level = enable->level,
		.LoggerId = (USHORT)enable->session_id,
		.EnableProperty = enable->property,
		.MatchAnyKeyword = enable->match_any,
		.MatchAllKeyword = enable->match_all,
	};

	put(part, &info, sizeof(info));
}

/* One process that has registered the provider, or nobody: then sessions wait for one. */
static unsigned put_instance(struct part *part, const struct etwd_provider *provider,
			     const TRACE_PROVIDER_INSTANCE_INFO *like, bool is_session_asked)
{
	const size_t start = part->bytes;
	TRACE_PROVIDER_INSTANCE_INFO info = *like;

	put(part, &info, sizeof(info));
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		const struct etwd_enable *enable = &provider->enables[i];
		const struct etwd_session *session = find_session(part, enable);

		if (!session ||
		    (is_session_asked && !etwd_sessions_allow(part->parts->sessions, session,
							      part->peer, ETWD_ACT_QUERY)))
			continue;
		put_enable(part, enable);
		info.EnableCount++;
	}
	info.NextOffset = (ULONG)(part->bytes - start);
	memcpy(part->room + start, &info, sizeof(info));
	part->answer.count++;
	return info.EnableCount;
}

#define INSTANCE_BYTES_MAX \
	(sizeof(TRACE_PROVIDER_INSTANCE_INFO) + WIRE_ENABLE_SLOTS * sizeof(TRACE_ENABLE_INFO))

static int list_unregistered(struct part *part, const struct etwd_provider *provider, bool is_all)
{
	const TRACE_PROVIDER_INSTANCE_INFO info = {.Flags = TRACE_PROVIDER_FLAG_PRE_ENABLE};

	return put_instance(part, provider, &info, /* is_session_asked= */ !is_all) ? 0 : -ENOENT;
}

/* The cursor is the serial number of the last registration told; they stand in falling order. */
static int list_instances(struct part *part)
{
	const uint64_t cursor = part->question->cursor;
	const struct etwd_provider *provider = etwd_providers_find(part->parts->providers,
								   &part->question->guid);
	const struct etwd_registration *at = provider ? provider->registrations : NULL;
	uint64_t last = 0;
	bool is_all;

	if (!provider)
		return cursor ? 0 : -ENOENT;
	is_all = sees_all(part, provider);
	if (!at && !cursor)
		return list_unregistered(part, provider, is_all);
	for (at = find_seen(part, at, is_all); at;
	     at = find_seen(part, at->next_of_provider, is_all)) {
		const TRACE_PROVIDER_INSTANCE_INFO info = {
			.Pid = (ULONG)at->peer->who.pid,
			.Flags = at->kind ? TRACE_PROVIDER_FLAG_LEGACY : 0,
		};

		if (cursor && at->serial >= cursor)
			continue;
		if (!has_room(part, INSTANCE_BYTES_MAX)) {
			part->answer.next = last;
			return 0;
		}
		(void)put_instance(part, provider, &info, /* is_session_asked= */ false);
		last = at->serial;
	}
	return part->answer.count || cursor ? 0 : -ENOENT;
}

static int list(struct part *part)
{
	int r = 0;

	TRY(etwd_somebody_init(&part->somebody, part->peer));
	if (part->question->code == WIRE_ENUMERATE_INSTANCES)
		r = list_instances(part);
	else
		list_providers(part);
	etwd_somebody_done(&part->somebody);
	part->answer.bytes = (struct etw_bytes){part->room, part->bytes};
	return r;
}

int etwd_enumerate_handle(const struct etwd_enumerate_parts *parts, struct etwd_peer *peer,
			  const struct etw_ipc_message *message)
{
	const struct wire_message head = {.type = WIRE_ENUMERATED,
					  .request = message->head.request};
	CLEANUP(freep) struct part *part = NULL;
	struct wire_enumerate question;
	int r = -ENOMEM;

	TRY(wire_message_decode_enumerate(message->datagram, &question));
	part = calloc(1, sizeof(*part));
	if (part) {
		part->parts = parts;
		part->peer = peer;
		part->question = &question;
		r = list(part);
	}
	if (r < 0)
		etwd_peer_answer(peer, WIRE_ENUMERATED, message->head.request, r);
	else
		etwd_peer_send(
			peer,
			wire_message_encode_enumerated(&head, &part->answer, peer->peers->outgoing),
			-1);
	return 0;
}
