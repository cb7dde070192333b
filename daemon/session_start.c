/* SPDX-License-Identifier: MIT */
/* See session_start.h. */
#include "daemon/session_start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"
#include "wire/system_logger.h"

#define STATE_NAME "session-%u/state"

/* Names and GUIDs that Windows ties together. */
static int check_identity(struct wire_session_config *config)
{
	if (!*config->name)
		return -EINVAL;
	TRY(etw_fixed_session_bind(config->name, &config->guid));
	if (etw_guid_is_null(&config->guid))
		return etw_guid_make(&config->guid);
	return 0;
}

/*
 * Of a session that was started with one. A controller that is gone already has no time left to come back.
 * The session's state says it too: the next host knows, whether this is handed over or not.
 */
static void take_lease(const struct etwd_session_parts *parts, struct etwd_session *session,
		       const struct etwd_peer *peer)
{
	etwd_lease_await(&session->lease, session->uid, 0);
	if (peer)
		(void)etwd_lease_take(&session->lease, peer->serial, session->uid);
	(void)etwd_handover_write(parts->handover);
}

struct start_job {
	struct etwd_job job; /* first */
	const struct etwd_session_parts *parts;
	struct etwd_start_watch *watch; /* borrowed; NULL: a peer's */
};

static void tell_watch(struct etwd_start_watch *watch, struct etwd_session *session,
		       const struct etwd_job *job)
{
	if (watch)
		watch->started(watch, session, job->result, job->fault.sentence);
}

static void fail_start(const struct etwd_session_parts *parts, struct etwd_session *session,
		       struct etwd_peer *peer, const struct etwd_job *job)
{
	const char *sentence = job->fault.sentence;

	/* Names have any length, and a line ends somewhere: what the host says comes first. */
	etwd_log("a session of uid %u could not be started: %s%s%s: \"%s\"", (unsigned)session->uid,
		 strerror(-job->result), sentence ? ": " : "", sentence ? sentence : "",
		 job->config->name);
	if (peer)
		etwd_peer_answer(peer, WIRE_SESSION, job->request, job->result);
	etwd_session_forget_kept(parts->store, session->id);
	etwd_sessions_remove(parts->sessions, session);
}

static bool is_nonstoppable(const struct wire_session_config *config)
{
	return config->log_file_mode & EVENT_TRACE_NONSTOPPABLE_MODE;
}

static void begin(const struct etwd_session_parts *parts, struct etwd_session *session,
		  struct etwd_peer *peer, struct etwd_job *job)
{
	session->engine = job->engine;
	session->state = ETWD_SESSION_RUNNING;
	session->is_nonstoppable = is_nonstoppable(job->config);
	if (job->config->is_leased)
		take_lease(parts, session, peer);
	etwd_log("session %u of uid %u has started: \"%s\"", (unsigned)session->id,
		 (unsigned)session->uid, job->config->name);
	if (peer)
		etwd_session_answer(session, peer, job->request, &job->info);
	etwd_images_meet(parts->images, session);
	if (parts->sessions->is_closed)
		(void)etwd_session_stop(parts, session, NULL, 0);
	else
		etwd_session_end_unkept(parts, session);
}

static void finish_start(struct etwd_inbox_item *item)
{
	struct etwd_job *job = (struct etwd_job *)(void *)item;
	const struct etwd_session_parts *parts = ((struct start_job *)(void *)job)->parts;
	struct etwd_session *session = etwd_sessions_find(parts->sessions, job->session_id);
	struct etwd_peer *peer = etwd_peer_find(parts->peers, job->peer_serial);

	session->work.has_job = false;
	if (job->result < 0) {
		fail_start(parts, session, peer, job);
		session = NULL;
	} else {
		begin(parts, session, peer, job);
	}
	tell_watch(((struct start_job *)(void *)job)->watch, session, job);
	etwd_job_free(job);
}

/* Who starts a session: a peer, or the host itself. */
struct starter {
	uid_t uid;
	uint64_t peer_serial; /* 0: none */
	uint32_t request;
	struct etwd_start_watch *watch; /* NULL: none */
};

static int start(const struct etwd_session_parts *parts, const struct starter *starter,
		 struct wire_session_config *config)
{
	struct start_job *own = calloc(1, sizeof(*own));
	struct etwd_session *session = NULL;
	int r = own ? 0 : -ENOMEM;

	if (r == 0)
		r = check_identity(config);
	if (r == 0)
		r = etwd_sessions_add(parts->sessions, etwd_sessions_pick_id(parts->sessions),
				      config, starter->uid, &session);
	if (r < 0) {
		free(own);
		free(config);
		return r;
	}
	own->parts = parts;
	own->watch = starter->watch;
	own->job.kind = ETWD_JOB_START;
	own->job.session_id = session->id;
	own->job.uid = session->uid;
	own->job.peer_serial = starter->peer_serial;
	own->job.request = starter->request;
	own->job.config = config;
	session->work.has_job = true;
	r = etwd_jobs_run(parts->jobs, &own->job, finish_start);
	if (r < 0) {
		etwd_sessions_remove(parts->sessions, session);
		etwd_job_free(&own->job);
	}
	return r;
}

int etwd_session_start(const struct etwd_session_parts *parts, struct etwd_peer *peer,
		       struct wire_session_config *config, uint32_t request)
{
	const struct starter starter = {
		.uid = peer->who.uid, .peer_serial = peer->serial, .request = request};

	return start(parts, &starter, config);
}

int etwd_session_start_own(const struct etwd_session_parts *parts,
			   struct wire_session_config *config, struct etwd_start_watch *watch)
{
	const struct starter starter = {.uid = geteuid(), .watch = watch};

	return start(parts, &starter, config);
}

/* Takes the descriptor. */
static int adopt(const struct etwd_session_parts *parts, uint32_t id, int state_fd)
{
	struct wire_session_info *info = calloc(1, sizeof(*info));
	struct etw_session *engine = NULL;
	struct etwd_session *session = NULL;
	int r;

	if (!info) {
		close(state_fd);
		return -ENOMEM;
	}
	r = etw_session_adopt(parts->jobs->environment, state_fd, &engine);
	if (r == 0) {
		etw_session_info(engine, info);
		r = etwd_sessions_add(parts->sessions, id, &info->config, info->uid, &session);
		if (r < 0) {
			etw_session_stop(engine, info);
			etw_session_free(engine);
		}
	}
	if (r == 0) {
		session->engine = engine;
		session->state = ETWD_SESSION_RUNNING;
		session->has_sources = !session->is_system_logger &&
				       etw_session_wants_sources(engine);
		session->is_nonstoppable = is_nonstoppable(&info->config);
		if (info->config.is_leased)
			etwd_lease_await(&session->lease, info->uid,
					 etwd_patient_now_ms() + ETWD_LEASE_GRACE_MS);
		parts->sessions->last_id = id;
		etwd_log("session %u goes on: \"%s\"", (unsigned)id, info->config.name);
	}
	free(info);
	return r;
}

/*
 * What the last host kept for a session that has no state: it died while the session began or ended. A file
 * would stay locked for as long as the keeper has it.
 */
static void forget_leftovers(const struct etwd_session_parts *parts)
{
	const char *name;
	size_t at = 0;

	while ((name = etwd_keeper_kept_name(parts->store, at))) {
		char prefix[ETWD_KEPT_NAME_BYTES];
		unsigned id = 0;

		at++;
		(void)sscanf(name, "session-%u/", &id);
		snprintf(prefix, sizeof(prefix), "session-%u/", id);
		if (strncmp(name, prefix, strlen(prefix)) != 0 ||
		    etwd_sessions_find(parts->sessions, id))
			continue;
		etwd_log("%s of the last host is of no session", name);
		etwd_session_forget_kept(parts->store, id);
		at = 0;
	}
}

void etwd_session_adopt_all(const struct etwd_session_parts *parts)
{
	const char *name;
	size_t at = 0;

	while ((name = etwd_keeper_kept_name(parts->store, at))) {
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
		r = adopt(parts, id, etwd_keeper_take(parts->store, exact));
		/* What its adoption took from the store has changed the order of the names. */
		at = 0;
		if (r == 0)
			continue;
		etwd_log("session %u of the last host is lost: %s", id, strerror(-r));
		etwd_session_forget_kept(parts->store, id);
	}
	forget_leftovers(parts);
}
