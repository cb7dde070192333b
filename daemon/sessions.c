/* SPDX-License-Identifier: MIT */
/* See sessions.h. */
#include "daemon/sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>
#include <wmistr.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/names.h"
#include "session/session.h"
#include "wire/system_logger.h"
#include "wire/well_known.h"

void etwd_sessions_init(struct etwd_sessions *sessions, struct etwd_budget *budget,
			const struct etwd_descriptors *security, bool is_system)
{
	memset(sessions, 0, sizeof(*sessions));
	sessions->budget = budget;
	sessions->security = security;
	sessions->is_system = is_system;
	sessions->system_logger_limit = WIRE_SYSTEM_LOGGERS_MAX;
}

struct etwd_session *etwd_sessions_find(const struct etwd_sessions *sessions, uint64_t handle)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (sessions->table[i] && sessions->table[i]->id == handle)
			return sessions->table[i];
	}
	return NULL;
}

static struct etwd_session *find_key(const struct etwd_sessions *sessions, const char *key)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (sessions->table[i] && strcmp(sessions->table[i]->key, key) == 0)
			return sessions->table[i];
	}
	return NULL;
}

static struct etwd_session *find_guid(const struct etwd_sessions *sessions, const GUID *guid)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (sessions->table[i] && etw_guid_equal(&sessions->table[i]->guid, guid))
			return sessions->table[i];
	}
	return NULL;
}

/* What of the descriptor of the session's own GUID this takes. */
static uint32_t rights_for(const struct etwd_session *session, enum etwd_act act)
{
	switch (act) {
	case ETWD_ACT_QUERY:
		return WMIGUID_QUERY;
	case ETWD_ACT_CONSUME:
		return TRACELOG_ACCESS_REALTIME;
	case ETWD_ACT_CONTROL:
	default:
		return session->control_rights;
	}
}

bool etwd_session_is_owned(const struct etwd_session *session, const struct etwd_peer *peer)
{
	return peer->is_trusted || peer->who.uid == session->uid;
}

/* Of a peer that does not own the session. */
static bool is_granted(const struct etwd_sessions *sessions, const struct etwd_session *session,
		       const struct etwd_peer *peer, const struct etwd_token *token,
		       enum etwd_act act)
{
	static const GUID kernel = WIRE_KERNEL_LOGGER_GUID;
	static const char *const names[] = {"query", "control", "consume"};

	if (etwd_token_check(token, sessions->security, peer, &session->guid,
			     rights_for(session, act), names[act]) < 0)
		return false;
	return act != ETWD_ACT_CONTROL || !(session->is_system_logger || session->has_sources) ||
	       etwd_token_check(token, sessions->security, peer, &kernel,
				TRACELOG_ACCESS_KERNEL_LOGGER, "control by") == 0;
}

bool etwd_sessions_allow(const struct etwd_sessions *sessions, const struct etwd_session *session,
			 const struct etwd_peer *peer, enum etwd_act act)
{
	CLEANUP(etwd_token_done) struct etwd_token token = {0};

	return etwd_session_is_owned(session, peer) ||
	       (etwd_token_init(&token, peer) == 0 &&
		is_granted(sessions, session, peer, &token, act));
}

void etwd_sessions_list(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
			struct wire_sessions *ret)
{
	CLEANUP(etwd_token_done) struct etwd_token token = {0};
	const bool has_token = etwd_token_init(&token, peer) == 0;

	ret->count = 0;
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = sessions->table[i];

		if (!session || session->state == ETWD_SESSION_STARTING)
			continue;
		if (etwd_session_is_owned(session, peer) ||
		    (has_token && is_granted(sessions, session, peer, &token, ETWD_ACT_QUERY)))
			ret->handles[ret->count++] = session->id;
	}
}

/* Who may do nothing with a session does not learn its name from the answer: it is as if there were none. */
static bool may_know(const struct etwd_sessions *sessions, const struct etwd_session *session,
		     const struct etwd_peer *peer)
{
	const uint32_t any = WMIGUID_QUERY | TRACELOG_CREATE_REALTIME | TRACELOG_CREATE_ONDISK |
			     TRACELOG_ACCESS_REALTIME;

	return etwd_access_rights(sessions->security, peer, &session->guid) & any;
}

static int check_act(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
		     enum etwd_act act, struct etwd_session *session, struct etwd_session **ret)
{
	if (!session || session->state == ETWD_SESSION_STARTING)
		return -ENOENT;
	if (!etwd_sessions_allow(sessions, session, peer, act))
		return may_know(sessions, session, peer) ? -EACCES : -ENOENT;
	*ret = session;
	return session->state == ETWD_SESSION_STOPPING ? -EBUSY : 0;
}

int etwd_sessions_find_for(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
			   enum etwd_act act, uint64_t handle, struct etwd_session **ret)
{
	return check_act(sessions, peer, act, etwd_sessions_find(sessions, handle), ret);
}

/* The session that a name means, or without one a guid. */
static int look_up(const struct etwd_sessions *sessions, const char *name, const GUID *guid,
		   struct etwd_session **ret)
{
	CLEANUP(freep) char *key = NULL;

	if (!*name) {
		*ret = guid && !etw_guid_is_null(guid) ? find_guid(sessions, guid) : NULL;
		return 0;
	}
	TRY(etwd_name_fold(name, &key));
	*ret = find_key(sessions, key);
	return 0;
}

int etwd_sessions_find_name_for(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
				enum etwd_act act, const char *name, const GUID *guid,
				struct etwd_session **ret)
{
	struct etwd_session *session = NULL;

	TRY(look_up(sessions, name, guid, &session));
	return check_act(sessions, peer, act, session, ret);
}

unsigned etwd_sessions_count(const struct etwd_sessions *sessions)
{
	unsigned count = 0;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++)
		count += sessions->table[i] != NULL;
	return count;
}

bool etwd_sessions_has_kernel(const struct etwd_sessions *sessions)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = sessions->table[i];

		/* One that starts counts: its rundown needs times at once. */
		if (session && (session->is_system_logger || session->has_sources))
			return true;
	}
	return false;
}

void etwd_sessions_wake(const struct etwd_sessions *sessions)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = sessions->table[i];

		if (session && session->engine && etwd_session_is_usable(session))
			etw_session_wake(session->engine);
	}
}

bool etwd_session_is_usable(const struct etwd_session *session)
{
	return session->state == ETWD_SESSION_RUNNING ||
	       (session->state == ETWD_SESSION_STOPPING && session->work.stop);
}

uint32_t etwd_sessions_pick_id(struct etwd_sessions *sessions)
{
	uint32_t first = sessions->is_system ? 1 : ETWD_USER_SESSION_ID_FIRST;
	uint32_t last = sessions->is_system ? ETWD_SYSTEM_SESSION_ID_LAST
					    : WIRE_OUTSIDE_SESSION_ID_FIRST - 1;
	uint32_t id = sessions->last_id;

	for (uint32_t i = 0; i <= last - first; i++) {
		id = id < first || id >= last ? first : id + 1;
		if (etwd_sessions_find(sessions, id))
			continue;
		sessions->last_id = id;
		return id;
	}
	return 0;
}

static struct etwd_session **find_place(struct etwd_sessions *sessions)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (!sessions->table[i])
			return &sessions->table[i];
	}
	return NULL;
}

/* The two fixed sessions always find their places, so only the others need one. */
static bool has_system_logger_place(const struct etwd_sessions *sessions)
{
	unsigned count = WIRE_SYSTEM_LOGGERS_FIXED;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = sessions->table[i];

		count += session && (session->is_system_logger || session->has_sources) &&
			 !session->is_fixed;
	}
	return count < sessions->system_logger_limit;
}

int etwd_sessions_add(struct etwd_sessions *sessions, uint32_t id,
		      const struct wire_session_config *config, uid_t uid,
		      struct etwd_session **ret)
{
	CLEANUP(freep) char *key = NULL;
	struct etwd_session **place = find_place(sessions);
	bool is_system_logger = etw_system_logger_is(config);
	bool is_fixed = etw_fixed_session_has_name(config->name);
	struct etwd_session *session;

	if (!place || id == 0)
		return -EUSERS;
	TRY(etwd_name_fold(config->name, &key));
	if (find_key(sessions, key) || find_guid(sessions, &config->guid))
		return -EEXIST;
	if (is_system_logger && !is_fixed && !has_system_logger_place(sessions))
		return -EUSERS;
	TRY(etwd_budget_take(sessions->budget, uid, ETWD_SESSIONS, 1));
	session = calloc(1, sizeof(*session));
	if (!session) {
		etwd_budget_give(sessions->budget, uid, ETWD_SESSIONS, 1);
		return -ENOMEM;
	}
	session->id = id;
	session->key = TAKE(key);
	session->guid = config->guid;
	session->uid = uid;
	session->is_system_logger = is_system_logger;
	session->is_fixed = is_fixed;
	session->has_one_stream = config->log_file_mode & EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
	session->is_secure = config->log_file_mode & EVENT_TRACE_SECURE_MODE;
	session->is_buffering = config->log_file_mode & EVENT_TRACE_BUFFERING_MODE;
	session->control_rights = etwd_access_mode_rights(config);
	*place = *ret = session;
	return 0;
}

int etwd_sessions_take_sources(const struct etwd_sessions *sessions, struct etwd_session *session)
{
	if (session->is_system_logger || session->has_sources)
		return 0;
	if (!has_system_logger_place(sessions))
		return -EUSERS;
	session->has_sources = true;
	return 0;
}

static void free_jobs(struct etwd_session_work *work)
{
	while (work->waiting) {
		struct etwd_job *job = work->waiting;

		work->waiting = job->next;
		etwd_job_free(job);
	}
	etwd_job_free(work->stop);
}

void etwd_sessions_remove(struct etwd_sessions *sessions, struct etwd_session *session)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (sessions->table[i] == session)
			sessions->table[i] = NULL;
	}
	free_jobs(&session->work);
	etwd_budget_give(sessions->budget, session->uid, ETWD_SESSIONS, 1);
	free(session->withdrawal.providers);
	free(session->settings.captured);
	free(session->settings.disallowed);
	free(session->key);
	free(session);
}
