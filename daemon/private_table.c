/* SPDX-License-Identifier: MIT */
/* See private_table.h. */
#include "daemon/private_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/names.h"
#include "wire/enable_request.h"

void etwd_private_table_init(struct etwd_private_table *table, bool is_system)
{
	*table = (struct etwd_private_table){
		.first_id = is_system ? WIRE_OUTSIDE_SESSION_ID_FIRST
				      : WIRE_OUTSIDE_SESSION_ID_FIRST_USER,
		.end_id = is_system ? WIRE_OUTSIDE_SESSION_ID_FIRST_USER
				    : WIRE_OUTSIDE_SESSION_ID_LAST + 1,
	};
}

static void free_session(struct etwd_private_session *session)
{
	while (session->enables) {
		struct etwd_private_enable *enable = session->enables;

		session->enables = enable->next;
		free(enable);
	}
	free(session->key);
	free(session);
}

void etwd_private_table_done(struct etwd_private_table *table)
{
	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++) {
		if (table->sessions[i])
			free_session(table->sessions[i]);
		table->sessions[i] = NULL;
	}
}

unsigned etwd_private_table_count(const struct etwd_private_table *table)
{
	unsigned count = 0;

	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++)
		count += table->sessions[i] != NULL;
	return count;
}

struct etwd_private_session *etwd_private_table_find(const struct etwd_private_table *table,
						     uint64_t handle)
{
	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++) {
		if (table->sessions[i] && table->sessions[i]->id == handle)
			return table->sessions[i];
	}
	return NULL;
}

static struct etwd_private_session *find_key(const struct etwd_private_table *table,
					     const char *key, const GUID *guid)
{
	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++) {
		struct etwd_private_session *session = table->sessions[i];

		if (session && strcmp(session->key, key) == 0 &&
		    (!guid || etw_guid_equal(&session->config.guid, guid)))
			return session;
	}
	return NULL;
}

struct etwd_private_session *etwd_private_table_find_name(const struct etwd_private_table *table,
							  const char *name, const GUID *guid)
{
	CLEANUP(freep) char *key = NULL;

	return etwd_name_fold(name, &key) < 0 ? NULL : find_key(table, key, guid);
}

static bool is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* A place for a session of @uid. */
static int find_place(struct etwd_private_table *table, uid_t uid,
		      struct etwd_private_session ***ret)
{
	unsigned own = 0, others = 0;

	*ret = NULL;
	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++) {
		const struct etwd_private_session *session = table->sessions[i];

		if (!session) {
			*ret = &table->sessions[i];
			continue;
		}
		own += session->uid == uid;
		others += !is_trusted(session->uid);
	}
	if (!is_trusted(uid) && own >= ETWD_PRIVATE_UID_MAX)
		return -ETOOMANYREFS;
	return !*ret || (!is_trusted(uid) && others >= ETWD_PRIVATE_OTHERS_MAX) ? -EUSERS : 0;
}

/* There are more numbers than sessions. */
static uint32_t pick_id(struct etwd_private_table *table)
{
	do {
		table->last_id++;
		if (table->last_id < table->first_id || table->last_id >= table->end_id)
			table->last_id = table->first_id;
	} while (etwd_private_table_find(table, table->last_id));
	return table->last_id;
}

int etwd_private_table_add(struct etwd_private_table *table, uint32_t id,
			   const struct wire_session_config *config, uid_t uid,
			   struct etwd_private_session **ret)
{
	CLEANUP(freep) char *key = NULL;
	struct etwd_private_session **place;
	struct etwd_private_session *session;

	TRY(etwd_name_fold(config->name, &key));
	if (find_key(table, key, NULL) || (id && etwd_private_table_find(table, id)))
		return -EEXIST;
	TRY(find_place(table, uid, &place));
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	session->id = id ? id : pick_id(table);
	session->uid = uid;
	session->key = TAKE(key);
	session->config = *config;
	*place = *ret = session;
	return 0;
}

void etwd_private_table_remove(struct etwd_private_table *table,
			       struct etwd_private_session *session)
{
	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++) {
		if (table->sessions[i] == session)
			table->sessions[i] = NULL;
	}
	free_session(session);
}

static struct etwd_private_enable **find_enable(struct etwd_private_session *session,
						const GUID *provider, unsigned *ret_count)
{
	struct etwd_private_enable **at = &session->enables, **found = NULL;

	*ret_count = 0;
	for (; *at; at = &(*at)->next) {
		if (etw_guid_equal(&(*at)->request.provider, provider))
			found = at;
		++*ret_count;
	}
	return found ? found : at;
}

/* As the process has it (provider/own_sessions.h): events are not filtered, and processes are not chosen. */
static int check_filters(struct etw_bytes filters)
{
	struct wire_filter filter;

	while (wire_filter_next(&filters, &filter)) {
		if (wire_filter_use_of(filter.type) != WIRE_FILTER_CALLBACK)
			return -EOPNOTSUPP;
	}
	return 0;
}

int etwd_private_note(struct etwd_private_session *session,
		      const struct wire_enable_provider *request)
{
	struct etwd_private_enable *made, **at;
	unsigned count;

	TRY(check_filters(request->filters));
	if (request->code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		return 0;
	at = find_enable(session, &request->provider, &count);
	if (request->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && !*at &&
	    count >= ETWD_PRIVATE_ENABLES_MAX)
		return -ENOSPC;
	made = malloc(sizeof(*made) + request->filters.left);
	if (!made)
		return -ENOMEM;
	if (*at) {
		struct etwd_private_enable *before = *at;

		*at = before->next;
		free(before);
	}
	if (request->code != EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		free(made);
		return 0;
	}
	while (*at)
		at = &(*at)->next;
	made->next = NULL;
	made->request = *request;
	if (request->filters.left)
		memcpy(made->filters, request->filters.at, request->filters.left);
	made->request.filters.at = made->filters;
	*at = made;
	return 0;
}
