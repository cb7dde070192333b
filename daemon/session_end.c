/* SPDX-License-Identifier: MIT */
/* See session_end.h. */
#include "daemon/session_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "daemon/enable.h"
#include "daemon/handover.h"
#include "daemon/log.h"
#include "daemon/patient_clock.h"
#include "daemon/realtime.h"
#include "daemon/ring_holders.h"
#include "daemon/waits.h"

static void go_on(struct etwd_session *session);

void etwd_session_answer(struct etwd_session *session, struct etwd_peer *peer, uint32_t request,
			 struct wire_session_info *info)
{
	struct wire_message head = {.type = WIRE_SESSION, .request = request};

	info->handle = session->id;
	info->is_leased = session->is_leased;
	info->uid = session->uid;
	info->config.guid = session->guid;
	etwd_unable_describe(&session->unable, info->complaint, sizeof(info->complaint));
	etwd_peer_send(peer, wire_message_encode_session_info(&head, info, peer->peers->outgoing),
		       -1);
}

void etwd_session_remove(struct etwd_session *session)
{
	struct etwd_host *host = session->host;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (host->sessions[i] == session)
			host->sessions[i] = NULL;
	}
	while (session->flushes) {
		struct etwd_session_request *request = session->flushes;

		session->flushes = request->next;
		free(request);
	}
	etwd_budget_give(&host->budget, session->uid, ETWD_SESSIONS, 1);
	free(session->stop);
	free(session->withdrawn);
	free(session->key);
	free(session);
}

static void answer_error(struct etwd_host *host, const struct etwd_session_request *request,
			 int status)
{
	struct etwd_peer *peer = etwd_peer_find(&host->peers, request->peer_serial);

	if (peer)
		etwd_peer_answer(peer, WIRE_SESSION, request->request, status);
}

void etwd_session_forget_kept(struct etwd_host *host, uint32_t id)
{
	char prefix[ETWD_KEPT_NAME_BYTES];

	snprintf(prefix, sizeof(prefix), "session-%u/", (unsigned)id);
	etwd_forget(&host->store, prefix);
}

static void finish_stop(struct etwd_inbox_item *item)
{
	struct etwd_job *job = (struct etwd_job *)(void *)item;
	struct etwd_host *host = job->host;
	struct etwd_session *session = etwd_sessions_find(host, job->session_id);
	struct etwd_peer *peer = etwd_peer_find(&host->peers, job->peer_serial);

	etwd_realtime_session_ended(session);
	etwd_ring_holders_session_ended(host, session->id);
	etwd_enable_call_back(session);
	etw_session_free(session->engine);
	etwd_session_forget_kept(host, session->id);
	etwd_grants_end_session(&host->grants, session->id);
	(void)etwd_handover_write_grants(host);
	etwd_log("session %u \"%s\" has ended", (unsigned)session->id, job->info.config.name);
	if (peer)
		etwd_session_answer(session, peer, job->request, &job->info);
	etwd_session_remove(session);
	(void)etwd_handover_write(host);
	etwd_job_free(job);
}

static void finish_flush(struct etwd_inbox_item *item)
{
	struct etwd_job *job = (struct etwd_job *)(void *)item;
	struct etwd_host *host = job->host;
	struct etwd_session *session = etwd_sessions_find(host, job->session_id);
	struct etwd_peer *peer = etwd_peer_find(&host->peers, job->peer_serial);

	session->has_job = false;
	if (peer && job->result < 0)
		etwd_peer_answer(peer, WIRE_SESSION, job->request, job->result);
	else if (peer)
		etwd_session_answer(session, peer, job->request, &job->info);
	etwd_job_free(job);
	go_on(session);
}

/* Takes the request in every case. */
static int run_job(struct etwd_session *session, enum etwd_job_kind kind,
		   struct etwd_session_request *request)
{
	struct etwd_job *job = calloc(1, sizeof(*job));
	int r = -ENOMEM;

	if (job) {
		job->host = session->host;
		job->kind = kind;
		job->session_id = session->id;
		job->engine = session->engine;
		job->peer_serial = request->peer_serial;
		job->request = request->request;
		r = etwd_jobs_run(job, kind == ETWD_JOB_STOP ? finish_stop : finish_flush);
	}
	if (r == 0) {
		session->has_job = true;
	} else {
		answer_error(session->host, request, r);
		etwd_job_free(job);
	}
	free(request);
	return r;
}

/* The next thing to do with a session that has no job. */
static void go_on(struct etwd_session *session)
{
	while (!session->has_job && session->flushes) {
		struct etwd_session_request *request = session->flushes;

		session->flushes = request->next;
		session->flush_count--;
		(void)run_job(session, ETWD_JOB_FLUSH, request);
	}
	if (session->has_job || !session->stop || !session->is_withdrawn)
		return;
	etwd_unable_tell(&session->unable, session->engine);
	if (run_job(session, ETWD_JOB_STOP, TAKE(session->stop)) == 0)
		return;
	/* It runs on, with nothing enabled; whoever stops it again has better luck. */
	session->state = ETWD_SESSION_RUNNING;
	session->is_withdrawn = false;
	etwd_log("session %u could not be stopped for lack of memory or threads",
		 (unsigned)session->id);
}

static struct etwd_session_request *new_request(const struct etwd_peer *peer, uint32_t number)
{
	struct etwd_session_request *request = calloc(1, sizeof(*request));

	if (request && peer) {
		request->peer_serial = peer->serial;
		request->request = number;
	}
	return request;
}

int etwd_session_flush(struct etwd_session *session, struct etwd_peer *peer, uint32_t request)
{
	struct etwd_session_request **last = &session->flushes;

	if (session->flush_count >= ETWD_SESSION_WAITS_MAX)
		return -EBUSY;
	while (*last)
		last = &(*last)->next;
	*last = new_request(peer, request);
	if (!*last)
		return -ENOMEM;
	session->flush_count++;
	go_on(session);
	return 0;
}

/* Of a session that ends, for the processes to stop writing. */
struct withdrawal {
	struct etwd_wait wait; /* first */
	struct etwd_session *session;
};

static void end_withdrawal(struct etwd_wait *wait, int status)
{
	struct etwd_session *session = ((struct withdrawal *)(void *)wait)->session;

	free(wait);
	if (status < 0)
		etwd_log("session %u ends although a process has not answered in %d ms",
			 (unsigned)session->id, ETWD_WITHDRAW_MS);
	session->is_withdrawn = true;
	go_on(session);
}

int etwd_session_stop(struct etwd_session *session, struct etwd_peer *peer, uint32_t request)
{
	struct etwd_host *host = session->host;
	struct withdrawal *withdrawal;

	if (session->state != ETWD_SESSION_RUNNING)
		return -EBUSY;
	session->stop = new_request(peer, request);
	if (!session->stop)
		return -ENOMEM;
	withdrawal = calloc(1, sizeof(*withdrawal));
	if (!withdrawal) {
		free(TAKE(session->stop));
		return -ENOMEM;
	}
	withdrawal->session = session;
	etwd_waits_add(&host->waits, &withdrawal->wait, etwd_now_ms() + ETWD_WITHDRAW_MS,
		       end_withdrawal);
	session->state = ETWD_SESSION_STOPPING;
	free(session->withdrawn);
	session->withdrawn = NULL;
	session->withdrawn_count = 0;
	etwd_enable_withdraw(session, &withdrawal->wait);
	etwd_waits_begin(&host->waits, &withdrawal->wait);
	return 0;
}
