/* SPDX-License-Identifier: MIT */
/* See sessions.h. */
#include "daemon/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/handover.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "daemon/patient_clock.h"
#include "daemon/session_end.h"
#include "wire/well_known.h"

#define STATE_NAME "session-%u/state"

/* Of Windows' one kernel session, whose name it has alone. */
static const GUID kernel_logger_guid = WIRE_KERNEL_LOGGER_GUID;

struct etwd_session *etwd_sessions_find(const struct etwd_host *host, uint64_t handle)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (host->sessions[i] && host->sessions[i]->id == handle)
			return host->sessions[i];
	}
	return NULL;
}

static bool may_control(const struct etwd_peer *peer, const struct etwd_session *session)
{
	return peer->is_privileged || peer->who.uid == session->uid;
}

static int check_control(const struct etwd_peer *peer, struct etwd_session *session,
			 struct etwd_session **ret)
{
	if (!session || session->state == ETWD_SESSION_STARTING)
		return -ENOENT;
	/* As if there were none: who may not control a session does not learn its name from the answer. */
	if (!may_control(peer, session))
		return -ENOENT;
	*ret = session;
	return session->state == ETWD_SESSION_STOPPING ? -EBUSY : 0;
}

int etwd_sessions_find_for(struct etwd_peer *peer, uint64_t handle, struct etwd_session **ret)
{
	struct etwd_session *session = NULL;

	TRY(check_control(peer, etwd_sessions_find(etwd_host_of(peer), handle), &session));
	*ret = session;
	return 0;
}

static struct etwd_session *find_key(const struct etwd_host *host, const char *key)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (host->sessions[i] && strcmp(host->sessions[i]->key, key) == 0)
			return host->sessions[i];
	}
	return NULL;
}

static struct etwd_session *find_guid(const struct etwd_host *host, const GUID *guid)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (host->sessions[i] && etw_guid_equal(&host->sessions[i]->guid, guid))
			return host->sessions[i];
	}
	return NULL;
}

/* The session that a name means, or without one a guid. */
static int look_up(const struct etwd_host *host, const char *name, const GUID *guid,
		   struct etwd_session **ret)
{
	CLEANUP(freep) char *key = NULL;

	if (!*name) {
		*ret = guid && !etw_guid_is_null(guid) ? find_guid(host, guid) : NULL;
		return 0;
	}
	TRY(etwd_name_fold(name, &key));
	*ret = find_key(host, key);
	return 0;
}

int etwd_sessions_find_name_for(struct etwd_peer *peer, const char *name, const GUID *guid,
				struct etwd_session **ret)
{
	struct etwd_session *session = NULL;

	int r;

	TRY(look_up(etwd_host_of(peer), name, guid, &session));
	r = check_control(peer, session, &session);
	if (r == 0 || r == -EBUSY)
		*ret = session;
	return r;
}

unsigned etwd_sessions_count(const struct etwd_host *host)
{
	unsigned count = 0;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++)
		count += host->sessions[i] != NULL;
	return count;
}

bool etwd_sessions_has_kernel(const struct etwd_host *host)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = host->sessions[i];

		/* One that starts may turn out to be one: its rundown needs times at once. */
		if (session && (session->is_kernel || session->state == ETWD_SESSION_STARTING))
			return true;
	}
	return false;
}

bool etwd_session_is_usable(const struct etwd_session *session)
{
	return session->state == ETWD_SESSION_RUNNING ||
	       (session->state == ETWD_SESSION_STOPPING && session->stop);
}

/* The next number behind the last one given, so that a stale handle meets nobody for a while. */
static uint32_t pick_id(struct etwd_host *host)
{
	uint32_t first = host->options->is_system ? 1 : ETWD_USER_SESSION_ID_FIRST;
	uint32_t last = host->options->is_system ? ETWD_SYSTEM_SESSION_ID_LAST : 0xFFFE;
	uint32_t id = host->last_session_id;

	for (uint32_t i = 0; i <= last - first; i++) {
		id = id < first || id >= last ? first : id + 1;
		if (etwd_sessions_find(host, id))
			continue;
		host->last_session_id = id;
		return id;
	}
	return 0;
}

/* A version 4 GUID. */
static int make_guid(GUID *ret)
{
	GUID guid;

	if (getrandom(&guid, sizeof(guid), 0) != (ssize_t)sizeof(guid))
		return -EIO;
	guid.Data3 = (uint16_t)((guid.Data3 & 0x0FFF) | 0x4000);
	guid.Data4[0] = (uint8_t)((guid.Data4[0] & 0x3F) | 0x80);
	*ret = guid;
	return 0;
}

static struct etwd_session **find_place(struct etwd_host *host)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (!host->sessions[i])
			return &host->sessions[i];
	}
	return NULL;
}

/* Names and GUIDs that Windows ties together. */
static int check_identity(struct wire_session_config *config)
{
	CLEANUP(freep) char *key = NULL;
	CLEANUP(freep) char *kernel_key = NULL;
	bool is_kernel_name;

	if (!*config->name)
		return -EINVAL;
	TRY(etwd_name_fold(config->name, &key));
	TRY(etwd_name_fold(KERNEL_LOGGER_NAMEA, &kernel_key));
	is_kernel_name = strcmp(key, kernel_key) == 0;
	if (!is_kernel_name && etw_guid_equal(&config->guid, &kernel_logger_guid))
		return -EINVAL;
	if (is_kernel_name)
		config->guid = kernel_logger_guid;
	if (etw_guid_is_null(&config->guid))
		return make_guid(&config->guid);
	return 0;
}

static int add_session(struct etwd_host *host, uint32_t id,
		       const struct wire_session_config *config, uid_t uid,
		       struct etwd_session **ret)
{
	CLEANUP(freep) char *key = NULL;
	struct etwd_session **place = find_place(host);
	struct etwd_session *session;

	if (!place || id == 0)
		return -EUSERS;
	TRY(etwd_name_fold(config->name, &key));
	if (find_key(host, key) || find_guid(host, &config->guid))
		return -EEXIST;
	TRY(etwd_budget_take(&host->budget, uid, ETWD_SESSIONS, 1));
	session = calloc(1, sizeof(*session));
	if (!session) {
		etwd_budget_give(&host->budget, uid, ETWD_SESSIONS, 1);
		return -ENOMEM;
	}
	session->host = host;
	session->id = id;
	session->key = TAKE(key);
	session->guid = config->guid;
	session->uid = uid;
	*place = *ret = session;
	return 0;
}

/*
 * Of a session that was started with one. A controller that is gone already has no time left to come back.
 * The session's state says it too: the next host knows, whether this is handed over or not.
 */
static void take_lease(struct etwd_session *session, const struct etwd_peer *peer)
{
	session->is_leased = true;
	session->lease_peer = peer ? peer->serial : 0;
	session->lease_by_ms = 0;
	session->lease_uid = session->uid;
	(void)etwd_handover_write(session->host);
}

static void finish_start(struct etwd_inbox_item *item)
{
	struct etwd_job *job = (struct etwd_job *)(void *)item;
	struct etwd_host *host = job->host;
	struct etwd_session *session = etwd_sessions_find(host, job->session_id);
	struct etwd_peer *peer = etwd_peer_find(&host->peers, job->peer_serial);

	session->has_job = false;
	if (job->result < 0) {
		etwd_log("session \"%s\" could not be started: %s%s%s", job->config->name,
			 strerror(-job->result), job->fault.sentence ? ": " : "",
			 job->fault.sentence ? job->fault.sentence : "");
		if (peer)
			etwd_peer_answer(peer, WIRE_SESSION, job->request, job->result);
		etwd_session_forget_kept(host, session->id);
		etwd_session_remove(session);
		etwd_job_free(job);
		return;
	}
	session->engine = job->engine;
	session->state = ETWD_SESSION_RUNNING;
	session->is_kernel = job->info.is_kernel;
	if (job->config->is_leased)
		take_lease(session, peer);
	etwd_log("session %u \"%s\" of uid %u has started", (unsigned)session->id,
		 job->config->name, (unsigned)session->uid);
	if (peer)
		etwd_session_answer(session, peer, job->request, &job->info);
	etwd_job_free(job);
	if (host->is_leaving)
		(void)etwd_session_stop(session, NULL, 0);
}

/* Takes the configuration. */
static int start(struct etwd_peer *peer, struct wire_session_config *config, uint32_t request)
{
	struct etwd_job *job = calloc(1, sizeof(*job));
	struct etwd_host *host = etwd_host_of(peer);
	struct etwd_session *session = NULL;
	int r = job ? 0 : -ENOMEM;

	if (r == 0)
		r = check_identity(config);
	if (r == 0)
		r = add_session(host, pick_id(host), config, peer->who.uid, &session);
	if (r < 0) {
		free(job);
		free(config);
		return r;
	}
	job->host = host;
	job->kind = ETWD_JOB_START;
	job->session_id = session->id;
	job->uid = session->uid;
	job->peer_serial = peer->serial;
	job->request = request;
	job->config = config;
	session->has_job = true;
	r = etwd_jobs_run(job, finish_start);
	if (r < 0) {
		etwd_session_remove(session);
		etwd_job_free(job);
	}
	return r;
}

/* The user's own host serves that user; the system's serves root and its group. */
static int check_start(const struct etwd_peer *peer, const struct wire_session_config *config)
{
	if (!peer->is_privileged)
		return -EACCES;
	if (etwd_host_of(peer)->is_leaving)
		return -EBUSY;
	return *config->log_file && config->log_file[0] != '/' ? -EINVAL : 0;
}

int etwd_sessions_start(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_session_config *config = malloc(sizeof(*config));
	int r = -ENOMEM;

	if (config) {
		r = wire_message_decode_session_config(message->datagram, config);
		if (r < 0) {
			free(config);
			return r;
		}
		r = check_start(peer, config);
		if (r < 0)
			free(config);
		else
			r = start(peer, config, message->head.request);
	}
	if (r < 0)
		etwd_peer_answer(peer, WIRE_SESSION, message->head.request, r);
	return 0;
}

static void answer_query(struct etwd_session *session, struct etwd_peer *peer, uint32_t request)
{
	struct wire_session_info info;

	memset(&info, 0, sizeof(info));
	etw_session_info(session->engine, &info);
	etwd_session_answer(session, peer, request, &info);
}

static int control(struct etwd_peer *peer, const struct wire_control *body, uint32_t request)
{
	struct etwd_session *session = NULL;
	int r;

	if (body->handle)
		session = etwd_sessions_find(etwd_host_of(peer), body->handle);
	else
		TRY(look_up(etwd_host_of(peer), body->name, &body->guid, &session));
	r = check_control(peer, session, &session);
	/* What a session that ends has counted so far may be asked until the end. */
	if (r < 0 && !(r == -EBUSY && body->code == WIRE_CONTROL_QUERY))
		return r;
	switch (body->code) {
	case WIRE_CONTROL_QUERY:
		answer_query(session, peer, request);
		return 0;
	case WIRE_CONTROL_STOP:
		return etwd_session_stop(session, peer, request);
	case WIRE_CONTROL_FLUSH:
		return etwd_session_flush(session, peer, request);
	case WIRE_CONTROL_UPDATE:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

int etwd_sessions_control(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_control *body = malloc(sizeof(*body));
	int r = -ENOMEM;

	if (body) {
		r = wire_message_decode_control(message->datagram, body);
		if (r < 0) {
			free(body);
			return r;
		}
		r = control(peer, body, message->head.request);
		free(body);
	}
	if (r < 0)
		etwd_peer_answer(peer, WIRE_SESSION, message->head.request, r);
	return 0;
}

int etwd_sessions_list(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_message head = {.type = WIRE_SESSIONS, .request = message->head.request};
	struct etwd_host *host = etwd_host_of(peer);
	struct wire_sessions sessions = {0};

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = host->sessions[i];

		if (session && session->state != ETWD_SESSION_STARTING &&
		    may_control(peer, session))
			sessions.handles[sessions.count++] = session->id;
	}
	etwd_peer_send(peer, wire_message_encode_sessions(&head, &sessions, peer->peers->outgoing),
		       -1);
	return 0;
}

static int lease(struct etwd_peer *peer, uint64_t handle)
{
	struct etwd_session *session;

	TRY(etwd_sessions_find_for(peer, handle, &session));
	if (session->is_leased && session->lease_peer && session->lease_peer != peer->serial)
		return -EBUSY;
	if (session->is_leased && peer->who.uid != session->lease_uid && peer->who.uid != 0)
		return -EACCES;
	session->is_leased = true;
	session->lease_peer = peer->serial;
	session->lease_uid = peer->who.uid;
	return etwd_handover_write(etwd_host_of(peer));
}

int etwd_sessions_lease(struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_lease body;

	TRY(wire_message_decode_lease(message->datagram, &body));
	etwd_peer_answer(peer, WIRE_REPLY, message->head.request, lease(peer, body.handle));
	return 0;
}

void etwd_sessions_peer_gone(struct etwd_peer *peer)
{
	struct etwd_host *host = etwd_host_of(peer);

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = host->sessions[i];

		if (!session || !session->is_leased || session->lease_peer != peer->serial)
			continue;
		etwd_log("session %u ends with its controller, process %d", (unsigned)session->id,
			 (int)peer->who.pid);
		(void)etwd_session_stop(session, NULL, 0);
	}
}

uint64_t etwd_sessions_check_leases(struct etwd_host *host, uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = host->sessions[i];

		if (!session || !session->is_leased || session->lease_peer ||
		    session->state != ETWD_SESSION_RUNNING)
			continue;
		if (session->lease_by_ms <= now_ms) {
			etwd_log("session %u ends: its controller did not come back",
				 (unsigned)session->id);
			(void)etwd_session_stop(session, NULL, 0);
		} else if (session->lease_by_ms < next) {
			next = session->lease_by_ms;
		}
	}
	return next;
}

void etwd_sessions_stop_all(struct etwd_host *host)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (host->sessions[i] && host->sessions[i]->state == ETWD_SESSION_RUNNING)
			(void)etwd_session_stop(host->sessions[i], NULL, 0);
	}
}

/* Takes the descriptor. */
static int adopt(struct etwd_host *host, uint32_t id, int state_fd)
{
	struct wire_session_info *info = calloc(1, sizeof(*info));
	struct etw_session *engine = NULL;
	struct etwd_session *session = NULL;
	int r;

	if (!info) {
		close(state_fd);
		return -ENOMEM;
	}
	r = etw_session_adopt(&host->session_host, state_fd, &engine);
	if (r == 0) {
		etw_session_info(engine, info);
		r = add_session(host, id, &info->config, info->uid, &session);
		if (r < 0) {
			etw_session_stop(engine, info);
			etw_session_free(engine);
		}
	}
	if (r == 0) {
		session->engine = engine;
		session->state = ETWD_SESSION_RUNNING;
		session->is_kernel = info->is_kernel;
		if (info->config.is_leased) {
			session->is_leased = true;
			session->lease_uid = info->uid;
			session->lease_by_ms = etwd_now_ms() + ETWD_LEASE_GRACE_MS;
		}
		host->last_session_id = id;
		etwd_log("session %u \"%s\" goes on", (unsigned)id, info->config.name);
	}
	free(info);
	return r;
}

/*
 * What the last host kept for a session that has no state: it died while the session began or ended. A file
 * would stay locked for as long as the keeper has it.
 */
static void forget_leftovers(struct etwd_host *host)
{
	const char *name;
	size_t at = 0;

	while ((name = etwd_kept_name(&host->store, at))) {
		char prefix[ETWD_KEPT_NAME_BYTES];
		unsigned id = 0;

		at++;
		(void)sscanf(name, "session-%u/", &id);
		snprintf(prefix, sizeof(prefix), "session-%u/", id);
		if (strncmp(name, prefix, strlen(prefix)) != 0 || etwd_sessions_find(host, id))
			continue;
		etwd_log("%s of the last host is of no session", name);
		etwd_session_forget_kept(host, id);
		at = 0;
	}
}

void etwd_sessions_adopt(struct etwd_host *host)
{
	const char *name;
	size_t at = 0;

	while ((name = etwd_kept_name(&host->store, at))) {
		char exact[ETWD_KEPT_NAME_BYTES];
		unsigned id;
		int r;

		if (sscanf(name, STATE_NAME, &id) != 1)
			id = 0;
		snprintf(exact, sizeof(exact), STATE_NAME, id);
		if (id == 0 || strcmp(name, exact) != 0) {
			at++;
			continue;
		}
		r = adopt(host, id, etwd_kept(&host->store, exact));
		/* What its adoption took from the store has changed the order of the names. */
		at = 0;
		if (r == 0)
			continue;
		etwd_log("session %u of the last host is lost: %s", id, strerror(-r));
		etwd_session_forget_kept(host, id);
	}
	forget_leftovers(host);
}
