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
#include "daemon/wishes.h"

static_assert(sizeof(struct wire_provider_entry) == sizeof(TRACE_GUID_PROPERTIES),
	      "an entry is what the API hands out");

#define TOLD_SLOTS 8192 /* a power of two, more than GUIDs fit into a part */

static_assert(TOLD_SLOTS > WIRE_RUN_BYTES_MAX / sizeof(GUID), "there is a free one");

/* A part of the list that is being made. */
struct part {
	const struct etwd_enumerate_parts *parts;
	const struct etwd_peer *peer;
	struct etwd_token token; /* the peer's SIDs */
	const struct wire_enumerate *question;
	unsigned looks;
	uint64_t last; /* serial number of the registration looked at last */
	struct wire_enumerated answer;
	size_t bytes;
	uint8_t room[WIRE_RUN_BYTES_MAX];
	uint32_t told[TOLD_SLOTS]; /* by hash: where a record is in `room`, and 1; 0: free */
};

static bool sees_all(const struct part *part, const GUID *provider)
{
	return part->peer->is_privileged ||
	       etwd_token_rights(&part->token, part->parts->sessions->security, provider) &
		       WMIGUID_QUERY;
}

static bool is_seen(const struct part *part, const struct etwd_registration *registration)
{
	return registration->peer->who.uid == part->peer->who.uid ||
	       sees_all(part, &registration->provider->guid);
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

/* Puts a record that begins with its GUID, unless there is one of this GUID. */
static void put_once(struct part *part, const void *record, size_t bytes)
{
	uint32_t slot;
	GUID guid;

	memcpy(&guid, record, sizeof(guid));
	for (slot = etw_guid_hash(&guid) % TOLD_SLOTS; part->told[slot];
	     slot = (slot + 1) % TOLD_SLOTS) {
		if (memcmp(part->room + part->told[slot] - 1, &guid, sizeof(guid)) == 0)
			return;
	}
	part->told[slot] = (uint32_t)part->bytes + 1;
	put(part, record, bytes);
	part->answer.count++;
}

/* Whether the part ends here, behind the registration looked at last; if not, one more is looked at. */
static bool is_over(struct part *part, size_t bytes)
{
	if (part->looks >= ETWD_ENUMERATE_LOOKS_MAX || !has_room(part, bytes)) {
		part->answer.next = part->last;
		return true;
	}
	part->looks++;
	return false;
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
	return etwd_token_rights(&part->token, sessions->security, &session->guid) &
			       (TRACELOG_LOG_EVENT | WMIGUID_QUERY)
		       ? session
		       : NULL;
}

/* @kind: of enum wire_registration_kind */
static void put_provider(struct part *part, const GUID *guid, uint32_t kind,
			 const struct etwd_wishes *wishes)
{
	const struct etwd_enable *last = NULL;
	struct wire_provider_entry entry = {.guid = *guid, .guid_type = le32_of(kind)};

	for (size_t i = 0; i < wishes->count; i++) {
		const struct etwd_enable *enable = wishes->enables[i];

		if (find_session(part, enable) && (!last || enable->serial > last->serial))
			last = enable;
	}
	if (last) {
		entry.session_id = le32_of(last->session_id);
		entry.level = le32_of(last->level);
		entry.flags = le32_of((uint32_t)last->match_any);
		entry.is_enabled = le32_of(1);
	}
	put_once(part, &entry, sizeof(entry));
}

static void look_at(struct part *part, const struct etwd_registration *registration)
{
	const uint32_t code = part->question->code;
	struct etwd_wishes wishes;
	const GUID *group = registration->group ? &registration->group->guid : NULL;

	if (code != WIRE_ENUMERATE_PROVIDERS && !group)
		return;
	if (code == WIRE_ENUMERATE_MEMBERS && !etw_guid_equal(group, &part->question->guid))
		return;
	if (!is_seen(part, registration))
		return;
	if (code == WIRE_ENUMERATE_PROVIDERS) {
		etwd_wishes_read(part->parts->sessions, registration, &wishes);
		put_provider(part, &registration->provider->guid, registration->kind, &wishes);
	} else if (code == WIRE_ENUMERATE_GROUPS)
		put_once(part, group, sizeof(*group));
	else
		put_once(part, &registration->provider->guid, sizeof(GUID));
}

static void read_enables(const struct etwd_provider *provider, struct etwd_wishes *ret)
{
	ret->count = 0;
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		if (provider->enables[i].session_id)
			ret->enables[ret->count++] = &provider->enables[i];
	}
}

static bool is_sources(const struct part *part, const struct etwd_provider *provider)
{
	return !provider->is_group && provider->enable_count &&
	       etwd_enable_is_source(part->parts->enable, &provider->guid);
}

/* Providers that sources own, which no process registers: those that are enabled. In the first part. */
static void list_of_sources(struct part *part)
{
	for (size_t i = 0; i < ETWD_PROVIDERS_BUCKETS; i++) {
		const struct etwd_provider *provider = part->parts->providers->buckets[i];

		for (; provider; provider = provider->next) {
			struct etwd_wishes wishes;

			if (!is_sources(part, provider) || !sees_all(part, &provider->guid) ||
			    !has_room(part, sizeof(struct wire_provider_entry)))
				continue;
			read_enables(provider, &wishes);
			put_provider(part, &provider->guid, 0, &wishes);
		}
	}
}

/* Registrations from the newest on. The cursor is the serial number of the one that the last part looked at last. */
static void list_providers(struct part *part)
{
	const struct etwd_registered *registered = &part->parts->providers->registered;
	const uint64_t cursor = part->question->cursor;
	size_t left = etwd_registered_before(registered, cursor ? cursor : UINT64_MAX);

	if (!cursor && part->question->code == WIRE_ENUMERATE_PROVIDERS)
		list_of_sources(part);
	while (left > 0) {
		const struct etwd_registered_place *place = &registered->places[left - 1];

		if (is_over(part, sizeof(struct wire_provider_entry)))
			return;
		part->last = place->serial;
		left--;
		if (place->registration)
			look_at(part, place->registration);
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

/* Whether the peer may hear of a session; with @is_asked one that it may query. */
static bool is_told(const struct part *part, const struct etwd_enable *enable, bool is_asked)
{
	const struct etwd_session *session = find_session(part, enable);

	return session && (!is_asked || etwd_sessions_allow(part->parts->sessions, session,
							    part->peer, ETWD_ACT_QUERY));
}

/* One process that has registered the provider, or nobody: then sessions wait for one. */
static unsigned put_instance(struct part *part, const struct etwd_wishes *wishes,
			     const TRACE_PROVIDER_INSTANCE_INFO *like, bool is_session_asked)
{
	const size_t start = part->bytes;
	TRACE_PROVIDER_INSTANCE_INFO info = *like;

	put(part, &info, sizeof(info));
	for (size_t i = 0; i < wishes->count; i++) {
		if (!is_told(part, wishes->enables[i], is_session_asked))
			continue;
		put_enable(part, wishes->enables[i]);
		info.EnableCount++;
	}
	info.NextOffset = (ULONG)(part->bytes - start);
	memcpy(part->room + start, &info, sizeof(info));
	part->answer.count++;
	return info.EnableCount;
}

#define INSTANCE_BYTES_MAX \
	(sizeof(TRACE_PROVIDER_INSTANCE_INFO) + ETWD_WISHES_MAX * sizeof(TRACE_ENABLE_INFO))

/* The sessions that have enabled a group. Who does not see all of it sees those that it may query. */
static void list_group_sessions(struct part *part)
{
	const struct etwd_provider *group = etwd_providers_find_group(part->parts->providers,
								      &part->question->guid);
	struct etwd_wishes wishes = {.count = 0};

	if (group)
		read_enables(group, &wishes);
	for (size_t i = 0; i < wishes.count; i++) {
		if (!is_told(part, wishes.enables[i], !sees_all(part, &group->guid)))
			continue;
		put_enable(part, wishes.enables[i]);
		part->answer.count++;
	}
}

static int list_unregistered(struct part *part, const struct etwd_provider *provider)
{
	/* A source's is there, in no process. */
	const TRACE_PROVIDER_INSTANCE_INFO info = {
		.Flags = is_sources(part, provider) ? 0 : TRACE_PROVIDER_FLAG_PRE_ENABLE};
	const bool is_session_asked = !sees_all(part, &provider->guid);
	struct etwd_wishes wishes;

	read_enables(provider, &wishes);
	return put_instance(part, &wishes, &info, is_session_asked) ? 0 : -ENOENT;
}

/*
 * The registration of a provider behind the one that the last part looked at last. That may be gone: then the next of
 * this provider is looked for among all. NULL: there is none, or the part is over.
 */
static const struct etwd_registration *find_next(struct part *part,
						 const struct etwd_provider *provider)
{
	const struct etwd_registered *registered = &part->parts->providers->registered;
	const uint64_t cursor = part->question->cursor;
	size_t left;

	if (!cursor)
		return provider->registrations;
	for (left = etwd_registered_before(registered, cursor + 1); left > 0; left--) {
		const struct etwd_registered_place *place = &registered->places[left - 1];
		const struct etwd_registration *at = place->registration;

		if (at && at->provider == provider)
			return at->serial == cursor ? at->next_of_provider : at;
		if (is_over(part, INSTANCE_BYTES_MAX))
			return NULL;
		part->last = place->serial;
	}
	return NULL;
}

/* From the newest on. The cursor is as that of list_providers(). */
static int list_instances(struct part *part)
{
	const uint64_t cursor = part->question->cursor;
	const struct etwd_provider *provider = etwd_providers_find(part->parts->providers,
								   &part->question->guid);
	const struct etwd_registration *at;

	if (!provider)
		return cursor ? 0 : -ENOENT;
	if (!provider->registrations && !cursor)
		return list_unregistered(part, provider);
	for (at = find_next(part, provider); at && !is_over(part, INSTANCE_BYTES_MAX);
	     at = at->next_of_provider) {
		const TRACE_PROVIDER_INSTANCE_INFO info = {
			.Pid = (ULONG)at->peer->who.pid,
			.Flags = at->kind ? TRACE_PROVIDER_FLAG_LEGACY : 0,
		};
		struct etwd_wishes wishes;

		part->last = at->serial;
		if (!is_seen(part, at))
			continue;
		etwd_wishes_read(part->parts->sessions, at, &wishes);
		(void)put_instance(part, &wishes, &info, /* is_session_asked= */ false);
	}
	return part->answer.count || part->answer.next || cursor ? 0 : -ENOENT;
}

static int list(struct part *part)
{
	int r = 0;

	TRY(etwd_token_init(&part->token, part->peer));
	if (part->question->code == WIRE_ENUMERATE_INSTANCES)
		r = list_instances(part);
	else if (part->question->code == WIRE_ENUMERATE_GROUP_SESSIONS)
		list_group_sessions(part);
	else
		list_providers(part);
	etwd_token_done(&part->token);
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
		part->last = question.cursor;
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
