/* SPDX-License-Identifier: MIT */
/* See session_end.h. */
#include "daemon/session_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/macros.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"

/* Of a session that runs. */
struct session_job {
	struct etwd_job job; /* first */
	const struct etwd_session_parts *parts;
};

static void run_next_job(const struct etwd_session_parts *parts, struct etwd_session *session);

void etwd_session_answer(const struct etwd_session *session, struct etwd_peer *peer,
			 uint32_t request, struct wire_session_info *info)
{
	struct wire_message head = {.type = WIRE_SESSION, .request = request};

	info->handle = session->id;
	info->is_leased = session->lease.is_held;
	info->uid = session->uid;
	info->config.guid = session->guid;
	etwd_unable_describe(&session->unable, info->complaint, sizeof(info->complaint));
	etwd_peer_send(peer, wire_message_encode_session_info(&head, info, peer->peers->outgoing),
		       -1);
}

static void answer_error(const struct etwd_session_parts *parts, const struct etwd_job *job,
			 int status)
{
	struct etwd_peer *peer = etwd_peer_find(parts->peers, job->peer_serial);

	if (peer)
		etwd_peer_answer(peer, job->is_plain ? WIRE_REPLY : WIRE_SESSION, job->request,
				 status);
}

void etwd_session_forget_kept(struct etwd_keeper_store *store, uint32_t id)
{
	char prefix[ETWD_KEPT_NAME_BYTES];

	snprintf(prefix, sizeof(prefix), "session-%u/", (unsigned)id);
	etwd_keeper_forget(store, prefix);
}

static void finish_stop(struct etwd_inbox_item *item)
{
	struct etwd_job *job = (struct etwd_job *)(void *)item;
	const struct etwd_session_parts *parts = ((struct session_job *)(void *)job)->parts;
	struct etwd_session *session = etwd_sessions_find(parts->sessions, job->session_id);
	struct etwd_peer *peer = etwd_peer_find(parts->peers, job->peer_serial);

	etwd_realtime_session_ended(parts->realtime, session);
	etwd_ring_holders_session_ended(parts->ring_holders, session->id);
	etwd_enable_call_back(parts->enable, session);
	etw_session_free(session->engine);
	etwd_session_forget_kept(parts->store, session->id);
	etwd_grants_end_session(parts->grants, session->id);
	(void)etwd_handover_write_grants(parts->handover);
	etwd_log("session %u has ended: \"%s\"", (unsigned)session->id, job->info.config.name);
	/* One that is full must not begin anew in the same boot, either. */
	if ((job->peer_serial || job->info.file_status == -EFBIG) && session->stopped)
		session->stopped(session);
	if (peer)
		etwd_session_answer(session, peer, job->request, &job->info);
	etwd_sessions_remove(parts->sessions, session);
	(void)etwd_handover_write(parts->handover);
	etwd_job_free(job);
}

static void log_refusal(const struct etwd_job *job)
{
	const struct etw_fault *fault = &job->fault;

	etwd_log("session %u could not be changed: %s%s%s%s%s", (unsigned)job->session_id,
		 strerror(-job->result), fault->field ? ": " : "", fault->field ? fault->field : "",
		 fault->sentence ? ": " : "", fault->sentence ? fault->sentence : "");
}

/* What the session did not take is not to be read in lists. */
static void withdraw_note(const struct etwd_session_parts *parts,
			  const struct etwd_session *session, const struct etwd_job *job)
{
	const struct wire_enable_provider body = {.provider = job->provider->wanted.guid,
						  .code = EVENT_CONTROL_CODE_DISABLE_PROVIDER};

	if (job->provider->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		(void)etwd_enable_note(parts->enable, session, &body);
}

static void finish_request(struct etwd_inbox_item *item)
{
	struct etwd_job *job = (struct etwd_job *)(void *)item;
	const struct etwd_session_parts *parts = ((struct session_job *)(void *)job)->parts;
	struct etwd_session *session = etwd_sessions_find(parts->sessions, job->session_id);
	struct etwd_peer *peer = etwd_peer_find(parts->peers, job->peer_serial);

	session->work.has_job = false;
	if (job->result < 0 && (job->kind == ETWD_JOB_UPDATE || job->fault.sentence))
		log_refusal(job);
	if (job->result < 0 && job->kind == ETWD_JOB_PROVIDER)
		withdraw_note(parts, session, job);
	if (peer && (job->result < 0 || job->is_plain))
		etwd_peer_answer(peer, job->is_plain ? WIRE_REPLY : WIRE_SESSION, job->request,
				 job->result);
	else if (peer)
		etwd_session_answer(session, peer, job->request, &job->info);
	etwd_job_free(job);
	run_next_job(parts, session);
}

/* Takes the job in every case. */
static int run_job(const struct etwd_session_parts *parts, struct etwd_session *session,
		   struct etwd_job *job)
{
	int r = etwd_jobs_run(parts->jobs, job,
			      job->kind == ETWD_JOB_STOP ? finish_stop : finish_request);

	if (r == 0) {
		session->work.has_job = true;
		return 0;
	}
	answer_error(parts, job, r);
	etwd_job_free(job);
	return r;
}

/* The next thing to do with a session that has no job. */
static void run_next_job(const struct etwd_session_parts *parts, struct etwd_session *session)
{
	struct etwd_session_work *work = &session->work;

	while (!work->has_job && work->waiting) {
		struct etwd_job *job = work->waiting;

		work->waiting = job->next;
		work->waiting_count--;
		(void)run_job(parts, session, job);
	}
	if (work->has_job || !work->stop || !session->withdrawal.is_over)
		return;
	etwd_unable_tell(&session->unable, session->engine);
	if (run_job(parts, session, TAKE(work->stop)) == 0)
		return;
	/* It runs on, with nothing enabled; whoever stops it again has better luck. */
	session->state = ETWD_SESSION_RUNNING;
	session->withdrawal.is_over = false;
	etwd_log("session %u could not be stopped for lack of memory or threads",
		 (unsigned)session->id);
}

/* NULL: no memory. @peer: to be answered; NULL: nobody is */
static struct etwd_job *new_job(const struct etwd_session_parts *parts,
				const struct etwd_session *session, const struct etwd_peer *peer,
				uint32_t request, enum etwd_job_kind kind)
{
	struct session_job *own = calloc(1, sizeof(*own));

	if (!own)
		return NULL;
	own->parts = parts;
	own->job.kind = kind;
	own->job.session_id = session->id;
	own->job.engine = session->engine;
	if (peer) {
		own->job.peer_serial = peer->serial;
		own->job.uid = peer->who.uid;
		own->job.request = request;
	}
	return &own->job;
}

static int add_config(struct etwd_job *job, const struct wire_session_config *config)
{
	job->config = malloc(sizeof(*job->config));
	if (!job->config)
		return -ENOMEM;
	*job->config = *config;
	return 0;
}

/* Behind what others wanted before. */
static void line_up(const struct etwd_session_parts *parts, struct etwd_session *session,
		    struct etwd_job *job)
{
	struct etwd_job **last = &session->work.waiting;

	while (*last)
		last = &(*last)->next;
	*last = job;
	session->work.waiting_count++;
	run_next_job(parts, session);
}

int etwd_session_ask(const struct etwd_session_parts *parts, struct etwd_session *session,
		     struct etwd_peer *peer, uint32_t request, enum etwd_job_kind kind,
		     const struct wire_session_config *config)
{
	struct etwd_job *job;

	if (session->work.waiting_count >= ETWD_SESSION_WAITS_MAX)
		return -EBUSY;
	job = new_job(parts, session, peer, request, kind);
	if (!job || (config && add_config(job, config) < 0)) {
		etwd_job_free(job);
		return -ENOMEM;
	}
	line_up(parts, session, job);
	return 0;
}

int etwd_session_ask_kernel(const struct etwd_session_parts *parts, struct etwd_session *session,
			    struct etwd_peer *peer, uint32_t request, bool is_plain,
			    const struct etw_session_kernel_change *change)
{
	struct etwd_job *job;

	if (session->work.waiting_count >= ETWD_SESSION_WAITS_MAX)
		return -EBUSY;
	job = new_job(parts, session, peer, request, ETWD_JOB_KERNEL);
	if (job)
		job->change = malloc(sizeof(*job->change));
	if (!job || !job->change) {
		etwd_job_free(job);
		return -ENOMEM;
	}
	*job->change = *change;
	job->is_plain = is_plain;
	line_up(parts, session, job);
	return 0;
}

int etwd_session_ask_provider(const struct etwd_session_parts *parts, struct etwd_session *session,
			      struct etwd_peer *peer, uint32_t request,
			      struct etw_session_provider_change *change)
{
	struct etwd_job *job = NULL;

	if (session->work.waiting_count < ETWD_SESSION_WAITS_MAX)
		job = new_job(parts, session, peer, request, ETWD_JOB_PROVIDER);
	if (!job) {
		free(change);
		return session->work.waiting_count < ETWD_SESSION_WAITS_MAX ? -ENOMEM : -EBUSY;
	}
	job->provider = change;
	job->is_plain = true;
	line_up(parts, session, job);
	return 0;
}

/* Of a session that ends, for the processes to stop writing. */
struct withdrawal_wait {
	struct etwd_wait wait; /* first */
	const struct etwd_session_parts *parts;
	struct etwd_session *session;
};

static void end_withdrawal(struct etwd_wait *wait, int status)
{
	struct withdrawal_wait *of = (struct withdrawal_wait *)(void *)wait;
	const struct etwd_session_parts *parts = of->parts;
	struct etwd_session *session = of->session;

	free(of);
	if (status < 0)
		etwd_log("session %u ends although a process has not answered in %d ms",
			 (unsigned)session->id, ETWD_WITHDRAW_MS);
	session->withdrawal.is_over = true;
	run_next_job(parts, session);
}

int etwd_session_stop(const struct etwd_session_parts *parts, struct etwd_session *session,
		      struct etwd_peer *peer, uint32_t request)
{
	struct withdrawal_wait *wait;

	if (session->state != ETWD_SESSION_RUNNING)
		return -EBUSY;
	session->work.stop = new_job(parts, session, peer, request, ETWD_JOB_STOP);
	if (!session->work.stop)
		return -ENOMEM;
	wait = calloc(1, sizeof(*wait));
	if (!wait) {
		etwd_job_free(TAKE(session->work.stop));
		return -ENOMEM;
	}
	wait->parts = parts;
	wait->session = session;
	etwd_waits_add(parts->waits, &wait->wait, etwd_patient_now_ms() + ETWD_WITHDRAW_MS,
		       end_withdrawal);
	session->state = ETWD_SESSION_STOPPING;
	etwd_enable_withdraw(parts->enable, session, &wait->wait);
	etwd_waits_begin(parts->waits, &wait->wait);
	return 0;
}

void etwd_session_stop_all(const struct etwd_session_parts *parts)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = parts->sessions->table[i];

		if (session && session->state == ETWD_SESSION_RUNNING)
			(void)etwd_session_stop(parts, session, NULL, 0);
	}
}

void etwd_session_controller_gone(const struct etwd_session_parts *parts,
				  const struct etwd_peer *peer)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = parts->sessions->table[i];

		if (!session || !etwd_lease_is_of(&session->lease, peer->serial))
			continue;
		etwd_log("session %u ends with its controller, process %d", (unsigned)session->id,
			 (int)peer->who.pid);
		(void)etwd_session_stop(parts, session, NULL, 0);
	}
}

uint64_t etwd_session_check_leases(const struct etwd_session_parts *parts, uint64_t now_ms)
{
	uint64_t next_ms = UINT64_MAX;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		struct etwd_session *session = parts->sessions->table[i];

		if (!session || !etwd_lease_is_awaited(&session->lease) ||
		    session->state != ETWD_SESSION_RUNNING)
			continue;
		if (session->lease.by_ms > now_ms) {
			next_ms = MIN(next_ms, session->lease.by_ms);
			continue;
		}
		etwd_log("session %u ends: its controller did not come back",
			 (unsigned)session->id);
		(void)etwd_session_stop(parts, session, NULL, 0);
	}
	return next_ms;
}

void etwd_session_end_unkept(const struct etwd_session_parts *parts, struct etwd_session *session)
{
	if (!session->is_unkept || session->state != ETWD_SESSION_RUNNING)
		return;
	etwd_log("session %u ends: the keeper cannot keep it", (unsigned)session->id);
	(void)etwd_session_stop(parts, session, NULL, 0);
}

/* Returns what stands behind the session's number in a name of the keeper's store; NULL: it is no session's. */
static const char *parse_kept(const char *name, uint32_t *ret_id)
{
	static const char prefix[] = "session-";
	char *end;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return NULL;
	*ret_id = (uint32_t)strtoul(name + sizeof(prefix) - 1, &end, 10);
	return *end == '/' ? end + 1 : NULL;
}

void etwd_session_not_kept(const struct etwd_session_parts *parts, const char *name)
{
	uint32_t id = 0;
	const char *what = parse_kept(name, &id);
	struct etwd_session *session = what ? etwd_sessions_find(parts->sessions, id) : NULL;

	if (!session)
		return;
	if (strncmp(what, "page-", 5) == 0 || strncmp(what, "ring-", 5) == 0) {
		if (etwd_session_is_usable(session))
			etw_session_ring_set_unkept(session->engine,
						    (uint32_t)strtoul(what + 5, NULL, 10));
	} else if (strcmp(what, "state") == 0 || strncmp(what, "file-", 5) == 0) {
		session->is_unkept = true;
		etwd_session_end_unkept(parts, session);
	}
}
