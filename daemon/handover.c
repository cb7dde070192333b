/* SPDX-License-Identifier: MIT */
/*
 * See handover.h. The record is a head, the leases, the enables, each of which has its filters behind it, settings, and
 * private sessions.
 * Grants are entries beside it: every uid that is told of a provider makes one, and writing all anew for each
 * would let 65,536 uids keep the loop busy; native byte order, as the snapshot is read by this program alone.
 */
#include "daemon/handover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"

#define SNAPSHOT_NAME  "host"
#define RECORD_VERSION 7
#define SESSION_IDS    65536 /* all that there can be */

struct record_head {
	uint32_t version;
	uint32_t lease_count, enable_count, settings_count;
	uint32_t private_count; /* private sessions in other processes */
	uint64_t incarnation;
};

struct record_lease {
	uint32_t session_id;
	uint32_t uid;
};

struct record_enable {
	GUID provider, source;
	uint32_t session_id, property;
	uint64_t match_any, match_all;
	uint32_t level, filter_bytes;
	struct etwd_scope scope;
};

/* The providers whose state is captured follow, and those that are disallowed. */
struct record_settings {
	uint32_t session_id;
	uint32_t capture_s;
	uint32_t captured_count;
	uint32_t disallowed_count;
};

/* What START said as a message of @bytes bytes, and ENABLE_PROVIDER for each provider as such a record. */
struct record_private {
	uint32_t session_id, uid;
	uint32_t bytes;
	uint32_t enable_count;
};

void etwd_handover_init(struct etwd_handover *handover)
{
	memset(handover, 0, sizeof(*handover));
	handover->snapshot.fd = -1;
}

void etwd_handover_done(struct etwd_handover *handover)
{
	etwd_snapshot_done(&handover->snapshot);
}

/* Bytes that grow; -ENOMEM sticks. */
struct record_bytes {
	uint8_t *at; /* owned */
	size_t count, room;
	bool is_broken;
};

static void append(struct record_bytes *bytes, const void *from, size_t count)
{
	if (bytes->is_broken || count == 0)
		return;
	if (bytes->room - bytes->count < count) {
		size_t room = (bytes->count + count) * 2 + 4096;
		uint8_t *at = realloc(bytes->at, room);

		if (!at) {
			bytes->is_broken = true;
			return;
		}
		bytes->at = at;
		bytes->room = room;
	}
	memcpy(bytes->at + bytes->count, from, count);
	bytes->count += count;
}

static int append_grant(void *context, const struct etwd_grant *grant)
{
	append(context, grant, sizeof(*grant));
	return 0;
}

static uint32_t append_leases(const struct etwd_handover *handover, struct record_bytes *bytes)
{
	uint32_t count = 0;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = handover->sessions->table[i];
		struct record_lease lease;

		if (!session || !session->lease.is_held)
			continue;
		lease = (struct record_lease){session->id, session->lease.uid};
		append(bytes, &lease, sizeof(lease));
		count++;
	}
	return count;
}

static void append_enable(struct record_bytes *bytes, const GUID *provider,
			  const struct etwd_enable *enable)
{
	struct record_enable record = {
		.provider = *provider,
		.source = enable->source,
		.session_id = enable->session_id,
		.property = enable->property,
		.match_any = enable->match_any,
		.match_all = enable->match_all,
		.level = enable->level,
		.filter_bytes = enable->filter_bytes,
		.scope = enable->scope,
	};

	append(bytes, &record, sizeof(record));
	append(bytes, enable->filters, enable->filter_bytes);
}

static void append_enables(const struct etwd_handover *handover, struct record_bytes *bytes)
{
	for (size_t i = 0; i < ETWD_PROVIDERS_BUCKETS; i++) {
		const struct etwd_provider *provider = handover->providers->buckets[i];

		for (; provider; provider = provider->next) {
			for (unsigned k = 0; k < WIRE_ENABLE_SLOTS; k++) {
				if (provider->enables[k].session_id)
					append_enable(bytes, &provider->guid,
						      &provider->enables[k]);
			}
		}
	}
}

static uint32_t append_settings(const struct etwd_handover *handover, struct record_bytes *bytes)
{
	uint32_t count = 0;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = handover->sessions->table[i];
		const struct etwd_session_settings *settings;
		struct record_settings record;

		if (!session ||
		    (!session->settings.captured_count && !session->settings.disallowed_count))
			continue;
		settings = &session->settings;
		record = (struct record_settings){session->id, settings->capture_s,
						  (uint32_t)settings->captured_count,
						  (uint32_t)settings->disallowed_count};
		append(bytes, &record, sizeof(record));
		append(bytes, settings->captured, settings->captured_count * sizeof(GUID));
		append(bytes, settings->disallowed, settings->disallowed_count * sizeof(GUID));
		count++;
	}
	return count;
}

static void append_private_enables(struct record_bytes *bytes,
				   const struct etwd_private_session *session, uint8_t *room)
{
	const struct wire_message head = {.type = WIRE_ENABLE_PROVIDER};

	for (const struct etwd_private_enable *i = session->enables; i; i = i->next) {
		const uint32_t count =
			(uint32_t)wire_message_encode_enable_provider(&head, &i->request, room);

		append(bytes, &count, sizeof(count));
		append(bytes, room, count);
	}
}

/* A session that ends is over for the next host, whose processes then end it. */
static uint32_t append_private(const struct etwd_handover *handover, struct record_bytes *bytes)
{
	const struct wire_message head = {.type = WIRE_START};
	CLEANUP(freep) uint8_t *room = malloc(WIRE_MESSAGE_BYTES_MAX);
	uint32_t count = 0;

	bytes->is_broken |= !room;
	for (size_t i = 0; room && handover->private_table && i < ETWD_PRIVATE_MAX; i++) {
		const struct etwd_private_session *session = handover->private_table->sessions[i];
		struct record_private record;

		if (!session || session->state != ETWD_PRIVATE_RUNNING)
			continue;
		record = (struct record_private){.session_id = session->id, .uid = session->uid};
		for (const struct etwd_private_enable *k = session->enables; k; k = k->next)
			record.enable_count++;
		record.bytes = (uint32_t)wire_message_encode_session_config(&head, &session->config,
									    room);
		append(bytes, &record, sizeof(record));
		append(bytes, room, record.bytes);
		append_private_enables(bytes, session, room);
		count++;
	}
	return count;
}

int etwd_handover_write(struct etwd_handover *handover)
{
	struct record_head head = {
		.version = RECORD_VERSION,
		.incarnation = handover->incarnation,
		.enable_count = (uint32_t)handover->providers->enable_count,
	};
	struct record_bytes bytes = {0};
	int r;

	append(&bytes, &head, sizeof(head));
	head.lease_count = append_leases(handover, &bytes);
	append_enables(handover, &bytes);
	head.settings_count = append_settings(handover, &bytes);
	head.private_count = append_private(handover, &bytes);
	if (bytes.is_broken) {
		free(bytes.at);
		return -ENOMEM;
	}
	memcpy(bytes.at, &head, sizeof(head));
	r = etwd_snapshot_store(&handover->snapshot, bytes.at, bytes.count);
	free(bytes.at);
	return r;
}

static_assert(sizeof(struct etwd_grant) == ETWD_SNAPSHOT_ENTRY_BYTES, "grants are entries");

int etwd_handover_add_grant(struct etwd_handover *handover, const struct etwd_grant *grant)
{
	int r = etwd_snapshot_append(&handover->snapshot, grant);

	return r == -ENOSPC ? etwd_handover_write_grants(handover) : r;
}

int etwd_handover_write_grants(struct etwd_handover *handover)
{
	struct record_bytes bytes = {0};
	int r = -ENOMEM;

	(void)etwd_grants_each(handover->grants, append_grant, &bytes);
	if (!bytes.is_broken)
		r = etwd_snapshot_replace(&handover->snapshot, bytes.at,
					  bytes.count / sizeof(struct etwd_grant));
	free(bytes.at);
	return r;
}

static bool take(struct etw_bytes *bytes, void *to, size_t count)
{
	const uint8_t *at = etw_bytes_take(bytes, count);

	if (at)
		memcpy(to, at, count);
	return at;
}

/* Returns false when there is no record, or none that is sound. */
static bool open_record(struct etwd_handover *handover, struct record_head *ret_head,
			struct etw_bytes *ret_rest)
{
	struct etw_bytes bytes = {NULL, 0};

	return etwd_snapshot_load(&handover->snapshot, &bytes.at, &bytes.left) == 0 &&
	       take(&bytes, ret_head, sizeof(*ret_head)) && ret_head->version == RECORD_VERSION &&
	       (*ret_rest = bytes, true);
}

int etwd_handover_open(struct etwd_handover *handover)
{
	int fd = etwd_keeper_take(handover->store, SNAPSHOT_NAME);
	struct record_head head;
	struct etw_bytes rest;
	int r = fd < 0 ? fd : etwd_snapshot_adopt(fd, &handover->snapshot);

	if (r < 0 && fd >= 0)
		etwd_log("what the last host handed over is lost: %s", strerror(-r));
	if (r < 0) {
		TRY(etwd_snapshot_create(&handover->snapshot));
		r = etwd_keeper_keep(handover->store, SNAPSHOT_NAME, handover->snapshot.fd);
		if (r < 0 && r != -EPIPE && r != -EINPROGRESS)
			return r;
	}
	handover->incarnation = etw_time_read_ns(CLOCK_BOOTTIME);
	if (open_record(handover, &head, &rest) && handover->incarnation <= head.incarnation)
		handover->incarnation = head.incarnation + 1;
	return 0;
}

void etwd_handover_recall_grants(struct etwd_handover *handover)
{
	const uint8_t *entries;
	size_t count = etwd_snapshot_entries(&handover->snapshot, &entries);
	struct etwd_grant grant;

	for (size_t i = 0; i < count; i++) {
		memcpy(&grant, entries + i * sizeof(grant), sizeof(grant));
		(void)etwd_grants_add(handover->grants, &grant);
	}
}

static void recall_lease(struct etwd_handover *handover, const struct record_lease *lease)
{
	struct etwd_session *session = etwd_sessions_find(handover->sessions, lease->session_id);

	if (!session)
		return;
	etwd_lease_await(&session->lease, lease->uid, etwd_patient_now_ms() + ETWD_LEASE_GRACE_MS);
}

static bool recall_enable(struct etwd_handover *handover, struct etw_bytes *rest)
{
	struct record_enable record;
	struct etwd_enable enable;
	const struct etwd_session *session;
	const uint8_t *filters;
	int r = 0;

	if (!take(rest, &record, sizeof(record)))
		return false;
	filters = etw_bytes_take(rest, record.filter_bytes);
	if (!filters)
		return false;
	session = etwd_sessions_find(handover->sessions, record.session_id);
	enable = (struct etwd_enable){
		.session_id = record.session_id,
		.uid = session ? session->uid : 0,
		.property = record.property,
		.match_any = record.match_any,
		.match_all = record.match_all,
		.source = record.source,
		.filter_bytes = record.filter_bytes,
		.filters = (uint8_t *)(uintptr_t)filters,
		.scope = record.scope,
		.level = (uint8_t)record.level,
	};
	if (session)
		r = etwd_providers_enable(handover->providers, &record.provider, &enable);
	if (r < 0)
		etwd_log("a provider of session %u is no longer enabled: %s",
			 (unsigned)record.session_id, strerror(-r));
	return true;
}

static bool recall_guids(struct etw_bytes *rest, uint32_t count, GUID **ret, size_t *ret_count)
{
	const uint8_t *at = etw_bytes_take(rest, (size_t)count * sizeof(GUID));
	GUID *guids = at && count ? malloc(count * sizeof(GUID)) : NULL;

	if (!at)
		return false;
	if (guids)
		memcpy(guids, at, count * sizeof(GUID));
	free(*ret);
	*ret = guids;
	*ret_count = guids ? count : 0;
	return true;
}

static bool recall_settings(struct etwd_handover *handover, struct etw_bytes *rest)
{
	struct etwd_session_settings unknown = {0}, *settings = &unknown;
	struct etwd_session *session;
	struct record_settings record;
	bool is_sound;

	if (!take(rest, &record, sizeof(record)))
		return false;
	session = etwd_sessions_find(handover->sessions, record.session_id);
	if (session)
		settings = &session->settings;
	settings->capture_s = record.capture_s;
	settings->capture_next_ms = etwd_patient_now_ms() + (uint64_t)record.capture_s * 1000;
	is_sound = recall_guids(rest, record.captured_count, &settings->captured,
				&settings->captured_count) &&
		   recall_guids(rest, record.disallowed_count, &settings->disallowed,
				&settings->disallowed_count);
	free(unknown.captured);
	free(unknown.disallowed);
	return is_sound;
}

static bool recall_private_enable(struct etwd_private_session *session, struct etw_bytes *rest)
{
	struct wire_enable_provider request;
	const uint8_t *at;
	uint32_t count;

	if (!take(rest, &count, sizeof(count)))
		return false;
	at = etw_bytes_take(rest, count);
	if (at && session &&
	    wire_message_decode_enable_provider((struct etw_bytes){at, count}, &request) == 0 &&
	    etwd_private_note(session, &request) < 0)
		etwd_log("a provider of private session %u is no longer enabled",
			 (unsigned)session->id);
	return at;
}

static bool recall_private(struct etwd_handover *handover, struct etw_bytes *rest)
{
	CLEANUP(freep) struct wire_session_config *config = malloc(sizeof(*config));
	struct etwd_private_session *session = NULL;
	struct record_private record;
	bool is_sound = true;
	const uint8_t *at;
	int r = -ENOMEM;

	if (!take(rest, &record, sizeof(record)))
		return false;
	at = etw_bytes_take(rest, record.bytes);
	if (!at)
		return false;
	if (config)
		r = wire_message_decode_session_config((struct etw_bytes){at, record.bytes},
						       config);
	if (r == 0)
		r = etwd_private_table_add(handover->private_table, record.session_id, config,
					   record.uid, &session);
	if (r < 0)
		etwd_log("private session %u of the last host is lost: %s",
			 (unsigned)record.session_id, strerror(-r));
	else
		session->state = ETWD_PRIVATE_RUNNING;
	for (uint32_t i = 0; i < record.enable_count && is_sound; i++)
		is_sound = recall_private_enable(session, rest);
	return is_sound;
}

/* Grants of sessions that did not come back. */
static void drop_old_grants(struct etwd_handover *handover)
{
	const uint8_t *entries;
	size_t count = etwd_snapshot_entries(&handover->snapshot, &entries);
	uint8_t is_dropped[SESSION_IDS / 8] = {0};
	struct etwd_grant grant;

	for (size_t i = 0; i < count; i++) {
		uint32_t id;

		memcpy(&grant, entries + i * sizeof(grant), sizeof(grant));
		id = grant.session_id % SESSION_IDS;
		if (is_dropped[id / 8] & 1 << id % 8 ||
		    etwd_sessions_find(handover->sessions, grant.session_id))
			continue;
		is_dropped[id / 8] |= (uint8_t)(1 << id % 8);
		etwd_grants_end_session(handover->grants, grant.session_id);
	}
}

void etwd_handover_recall(struct etwd_handover *handover)
{
	struct record_head head;
	struct etw_bytes rest;

	if (open_record(handover, &head, &rest)) {
		bool is_sound = true;
		struct record_lease lease;

		for (uint32_t i = 0; i < head.lease_count && take(&rest, &lease, sizeof(lease));
		     i++)
			recall_lease(handover, &lease);
		for (uint32_t i = 0; i < head.enable_count && is_sound; i++)
			is_sound = recall_enable(handover, &rest);
		for (uint32_t i = 0; i < head.settings_count && is_sound; i++)
			is_sound = recall_settings(handover, &rest);
		for (uint32_t i = 0; i < head.private_count && is_sound; i++)
			is_sound = recall_private(handover, &rest);
	}
	drop_old_grants(handover);
	(void)etwd_handover_write_grants(handover);
	(void)etwd_handover_write(handover);
}
