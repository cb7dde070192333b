/* SPDX-License-Identifier: MIT */
/* The public functions of a session; see session/session.h. */
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/account.h"
#include "session/file.h"
#include "session/output.h"
#include "session/pages.h"
#include "session/ring_sets.h"
#include "session/session_internal.h"
#include "session/source_feed.h"
#include "session/subscriber.h"

#define LOOK_WAIT_NS 5000000 /* who asks waits so long for a round at most */

void etw_session_kick(struct etw_session *session)
{
	add_acq_rel(&session->wake, 1u);
	/* Shared, as futex_waitv() waits for it beside the rings' words. */
	(void)syscall(SYS_futex, &session->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void etw_session_complain(struct etw_session *session, const char *what, int error,
			  const struct etw_fault *fault)
{
	char sentence[sizeof(session->complaint)];
	size_t used;

	if (fault && fault->sentence)
		(void)snprintf(sentence, sizeof(sentence), "%s: %s%s%s", what,
			       fault->field ? fault->field : "", fault->field ? ": " : "",
			       fault->sentence);
	else if (error < 0)
		(void)snprintf(sentence, sizeof(sentence), "%s: %s", what, strerrordesc_np(-error));
	else
		(void)snprintf(sentence, sizeof(sentence), "%s", what);
	pthread_mutex_lock(&session->lock);
	used = strlen(session->complaint);
	(void)snprintf(session->complaint + used, sizeof(session->complaint) - used, "%s%s",
		       used ? "; " : "", sentence);
	pthread_mutex_unlock(&session->lock);
	if (session->host.tell && session->state.head)
		session->host.tell(session->host.context, session->state.head->session_id,
				   sentence);
}

void etw_session_name(const struct etw_session *session, char name[ETW_SESSION_NAME_BYTES],
		      const char *format, ...)
{
	int used = snprintf(name, ETW_SESSION_NAME_BYTES, "session-%u/",
			    session->state.head->session_id);
	va_list list;

	va_start(list, format);
	(void)vsnprintf(name + used, ETW_SESSION_NAME_BYTES - (size_t)used, format, list);
	va_end(list);
}

static void forget(struct etw_session *session, const char *what)
{
	char name[ETW_SESSION_NAME_BYTES];

	if (!session->host.forget_fd)
		return;
	etw_session_name(session, name, "%s", what);
	session->host.forget_fd(session->host.context, name);
}

static struct etw_session *new_session(const struct etw_session_host *host)
{
	struct etw_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->host = *host;
	session->host_uid = geteuid();
	session->state.fd = -1;
	session->file.fd = -1;
	pthread_mutex_init(&session->lock, NULL);
	pthread_mutex_init(&session->consumer_lock, NULL);
	pthread_cond_init(&session->done, NULL);
	return session;
}

static void freep_session(struct etw_session **session)
{
	etw_session_free(*session);
}

static int64_t slack_of(const struct etw_session *session)
{
	uint64_t frequency = session->host.clock->page->frequency;

	if (session->plan.clock_type == ETW_CLOCK_SYSTEM)
		frequency = ETW_FILETIME_PER_SECOND;
	return (int64_t)(frequency * (ETW_SESSION_SLACK_NS / 1000) / 1000000) + 1;
}

/* The thread has all signals blocked: they are for the host's main thread. */
static int start_thread(struct etw_session *session)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = -pthread_create(&session->thread, NULL, etw_session_thread, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result < 0)
		return result;
	pthread_mutex_lock(&session->lock);
	session->has_thread = true;
	while (!session->is_ready)
		pthread_cond_wait(&session->done, &session->lock);
	pthread_mutex_unlock(&session->lock);
	return 0;
}

static int prepare(struct etw_session *session, uint32_t session_id, uid_t uid,
		   const struct wire_session_config *config)
{
	char name[ETW_SESSION_NAME_BYTES];
	int64_t t0_raw, start_ft;

	t0_raw = etw_session_now(session);
	/* One moment in both units; where they are one unit, one number. */
	start_ft = session->plan.clock_type == ETW_CLOCK_SYSTEM ? t0_raw : etw_filetime_now();
	TRY(etw_state_create(session_id, uid, config, &session->plan, t0_raw, &session->state));
	session->state.head->start_ft = start_ft;
	session->state.head->hosts = 1;
	TRY(etw_outputs_open(session));
	TRY(etw_session_file_create(session));
	etw_session_name(session, name, "state");
	if (session->host.keep_fd &&
	    session->host.keep_fd(session->host.context, name, session->state.fd) < 0)
		etw_session_complain(
			session, "the session is not kept and would not survive its host", 0, NULL);
	return 0;
}

int etw_session_start(const struct etw_session_host *host, uint32_t session_id, uid_t uid,
		      const struct wire_session_config *config, struct etw_session **ret,
		      struct etw_fault *reterr)
{
	CLEANUP(freep_session) struct etw_session *session = new_session(host);
	CLEANUP(freep) struct wire_session_config *settled = malloc(sizeof(*settled));

	if (!session || !settled)
		return -ENOMEM;
	*settled = *config;
	TRY(etw_session_config_settle(settled, etw_session_cpu_count(), &session->plan, reterr));
	TRY(etw_source_feed_check(host, &session->plan, settled->enable_flags, reterr));
	session->slack_raw = slack_of(session);
	TRY(prepare(session, session_id, uid, settled));
	TRY(start_thread(session));
	*ret = TAKE(session);
	return 0;
}

int etw_session_adopt(const struct etw_session_host *host, int state_fd, struct etw_session **ret)
{
	CLEANUP(freep_session) struct etw_session *session = new_session(host);

	if (!session) {
		close(state_fd);
		return -ENOMEM;
	}
	TRY(etw_state_adopt(state_fd, &session->state));
	session->plan = session->state.head->plan;
	session->slack_raw = slack_of(session);
	session->state.head->hosts++;
	TRY(etw_outputs_open(session));
	etw_session_file_adopt(session);
	etw_subscribers_adopt(session);
	etw_outputs_recover(session);
	etw_session_sets_adopt(session);
	etw_pages_adopt(session);
	TRY(start_thread(session));
	*ret = TAKE(session);
	return 0;
}

static void stop_thread(struct etw_session *session)
{
	if (!session->has_thread)
		return;
	pthread_mutex_lock(&session->lock);
	session->wants_stop = true;
	pthread_mutex_unlock(&session->lock);
	etw_session_kick(session);
	pthread_join(session->thread, NULL);
	pthread_mutex_lock(&session->lock);
	session->has_thread = false;
	session->done_flush = session->wanted_flush;
	pthread_cond_broadcast(&session->done);
	pthread_mutex_unlock(&session->lock);
	/* Without a state nobody adopts it; what else of it the keeper has then is forgotten. */
	forget(session, "state");
	forget(session, "file");
}

void etw_session_stop(struct etw_session *session, struct wire_session_info *ret)
{
	stop_thread(session);
	if (ret)
		etw_account_info(session, ret);
}

void etw_session_free(struct etw_session *session)
{
	if (!session)
		return;
	stop_thread(session);
	etw_subscribers_free_all(session);
	etw_session_sets_free_all(session);
	etw_pages_free_all(session);
	etw_etl_file_writer_close(&session->file);
	etw_outputs_close(session);
	etw_state_done(&session->state);
	pthread_mutex_destroy(&session->lock);
	pthread_mutex_destroy(&session->consumer_lock);
	pthread_cond_destroy(&session->done);
	free(session);
}

/* A round that also looks into open buffers, so that the numbers are those of now; not waited for long. */
static void look_once(struct etw_session *session)
{
	/* By the clock that the condition goes by. */
	struct timespec deadline =
		etw_timespec_of_ns(etw_time_read_ns(CLOCK_REALTIME) + LOOK_WAIT_NS);
	uint64_t ticket;

	pthread_mutex_lock(&session->lock);
	ticket = ++session->wanted_look;
	pthread_mutex_unlock(&session->lock);
	etw_session_kick(session);
	pthread_mutex_lock(&session->lock);
	while (session->has_thread && !session->wants_stop && session->done_look < ticket) {
		if (pthread_cond_timedwait(&session->done, &session->lock, &deadline))
			break;
	}
	pthread_mutex_unlock(&session->lock);
}

void etw_session_info(struct etw_session *session, struct wire_session_info *ret)
{
	look_once(session);
	etw_account_info(session, ret);
}

int etw_session_flush(struct etw_session *session)
{
	uint64_t ticket;
	int result;

	pthread_mutex_lock(&session->lock);
	ticket = ++session->wanted_flush;
	pthread_mutex_unlock(&session->lock);
	etw_session_kick(session);
	pthread_mutex_lock(&session->lock);
	while (session->has_thread && session->done_flush < ticket)
		pthread_cond_wait(&session->done, &session->lock);
	result = session->done_flush >= ticket ? 0 : -ESHUTDOWN;
	pthread_mutex_unlock(&session->lock);
	return result;
}

int etw_session_ring_set(struct etw_session *session, uid_t uid, uint32_t *ret_ring_set,
			 struct etw_ring_set_fds *ret, int *ret_refusal)
{
	return etw_session_sets_get(session, uid, ret_ring_set, ret, ret_refusal);
}

void etw_session_ring_set_gone(struct etw_session *session, uint32_t ring_set)
{
	etw_session_sets_mark_gone(session, ring_set);
}

void etw_session_ring_set_left(struct etw_session *session, uint32_t ring_set, bool is_last)
{
	etw_session_sets_mark_left(session, ring_set, is_last);
}
