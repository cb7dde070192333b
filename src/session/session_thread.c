/* SPDX-License-Identifier: MIT */
/* The session's thread: rounds, timers, flushes, the end. Source: docs/design/recording.md. */
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/claims.h"
#include "session/delivery.h"
#include "session/file.h"
#include "session/notes.h"
#include "session/output.h"
#include "session/ring_sets.h"
#include "session/ring_turnover.h"
#include "session/session_internal.h"
#include "session/source_feed.h"
#include "session/stream.h"
#include "session/subscriber.h"
#include "session/wait.h"

#define GAP_POLL_NS      UINT64_C(2000000)
#define CONSUMER_POLL_NS UINT64_C(20000000)
#define FLUSH_DEADLINE_NS \
	UINT64_C(1000000000) /* a source whose clock stands still holds no flush up */
#define FLUSH_MOST_NS UINT64_C(60000000000) /* a process that writes the past without end neither */

static bool is_due(uint64_t timer_ns, uint64_t now_ns)
{
	return timer_ns != 0 && now_ns >= timer_ns;
}

/* What asks for a flush now. A flush under way takes new reasons along only when it begins anew. */
static void note_flush(struct etw_session *session)
{
	uint64_t now_ns = session->round.now_ns;
	uint32_t reasons = 0;
	uint64_t ticket;

	pthread_mutex_lock(&session->lock);
	ticket = session->wanted_flush;
	if (ticket != session->done_flush)
		reasons |= ETW_FLUSH_REQUEST;
	/* Not before the end has begun: nobody may write, and no source describe, behind the target. */
	if (session->is_ending)
		reasons |= ETW_FLUSH_STOP;
	session->round.look_ticket = session->wanted_look;
	session->round.is_look = session->wanted_look != session->done_look;
	pthread_mutex_unlock(&session->lock);
	if (is_due(session->next_file_flush_ns, now_ns))
		reasons |= ETW_FLUSH_FILE_TIMER;
	if (is_due(session->next_batch_ns, now_ns))
		reasons |= ETW_FLUSH_BATCH_TIMER;
	if (session->flush_reasons != 0 || reasons == 0)
		return;
	session->flush_reasons = reasons;
	session->flush_ticket = ticket;
	session->flush_target_raw = session->round.now_raw;
	session->flush_deadline_ns = now_ns + FLUSH_DEADLINE_NS;
	session->flush_most_ns = now_ns + FLUSH_MOST_NS;
}

static void begin_round(struct etw_session *session)
{
	int64_t last_raw = session->round.now_raw;
	int64_t now_raw = etw_session_now(session);

	/* A clock that was set back stands still here until it is past. */
	session->round = (struct etw_session_round){
		.now_raw = now_raw > last_raw ? now_raw : last_raw,
		.now_ns = etw_monotonic_ns(),
	};
	note_flush(session);
	session->round.is_flush = session->flush_reasons != 0;
	session->round.is_stop = (session->flush_reasons & ETW_FLUSH_STOP) != 0;
}

static void move_events(struct etw_session *session)
{
	bool is_changed = false;

	etw_source_feed_collect(session);
	etw_streams_gather(session);
	etw_streams_look(session);
	for (uint32_t i = 0; i < session->plan.output_count; i++)
		etw_output_merge(session, &session->outputs[i]);
	etw_notes_write(session);
	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		if (!etw_output_must_commit(&session->outputs[i]))
			continue;
		etw_output_commit(session, &session->outputs[i]);
		is_changed = true;
	}
	/* Also when no output took anything: records that make no event fill the kernel's rings as well. */
	etw_source_feed_release(session);
	if (is_changed)
		etw_source_feed_count_loss(session);
	if (session->has_source_more)
		session->round.has_more = true;
}

/* Whether an output has just taken something of what the flush is for. */
static bool is_getting_on(const struct etw_session *session)
{
	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		const struct etw_session_output *output = &session->outputs[i];

		if (output->has_progress && output->merged_raw < session->flush_target_raw)
			return true;
	}
	return false;
}

/*
 * Who waits for a flush, or for the end, is promised everything: the deadline is for a standstill. A slow
 * disk is none, so the time that this round took does not count.
 */
static void extend_deadline(struct etw_session *session)
{
	uint64_t now_ns = etw_monotonic_ns();

	if (session->flush_reasons & (ETW_FLUSH_REQUEST | ETW_FLUSH_STOP) &&
	    now_ns < session->flush_most_ns && is_getting_on(session))
		session->flush_deadline_ns = now_ns + FLUSH_DEADLINE_NS;
}

/*
 * A flush ends at its deadline, whatever a source keeps to itself. The last one must not leave behind what
 * stands in the rings, so it goes on without the source.
 */
static bool is_flush_reached(struct etw_session *session)
{
	extend_deadline(session);
	if (session->round.now_ns >= session->flush_deadline_ns) {
		if (!session->round.is_stop || !session->source || session->is_source_given_up)
			return true;
		session->is_source_given_up = true;
		session->needs_source_retry = false;
		session->flush_deadline_ns = session->round.now_ns + FLUSH_DEADLINE_NS;
		return false;
	}
	/*
	 * A timer promises nobody anything: what stands behind a gap comes next time. Else an event that has
	 * just come out of one would have to wait for those that were made since.
	 */
	if (session->round.has_gap &&
	    !(session->flush_reasons & (ETW_FLUSH_REQUEST | ETW_FLUSH_STOP)))
		return true;
	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		if (session->outputs[i].merged_raw < session->flush_target_raw)
			return false;
	}
	return true;
}

static void set_timers(struct etw_session *session)
{
	uint64_t now_ns = session->round.now_ns;
	bool has_consumers = load_relaxed(&session->subscriber_count) > 0;

	if (session->plan.file_flush_ns == 0)
		session->next_file_flush_ns = 0;
	else if (session->next_file_flush_ns == 0 || is_due(session->next_file_flush_ns, now_ns))
		session->next_file_flush_ns = now_ns + session->plan.file_flush_ns;
	if (!has_consumers)
		session->next_batch_ns = 0;
	else if (session->next_batch_ns == 0 || is_due(session->next_batch_ns, now_ns))
		session->next_batch_ns = now_ns + session->plan.batch_flush_ns;
}

static void finish_flush(struct etw_session *session)
{
	uint32_t reasons = session->flush_reasons;

	if (session->plan.has_file &&
	    reasons & (ETW_FLUSH_REQUEST | ETW_FLUSH_FILE_TIMER | ETW_FLUSH_STOP)) {
		etw_outputs_flush(session);
		etw_session_file_look(session);
	}
	if (!(reasons & ETW_FLUSH_STOP))
		etw_delivery_close_batch(session, /* is_end= */ false);
	session->flush_reasons = 0;
	session->is_drained = (reasons & ETW_FLUSH_STOP) != 0;
	pthread_mutex_lock(&session->lock);
	session->done_flush = session->flush_ticket;
	pthread_cond_broadcast(&session->done);
	pthread_mutex_unlock(&session->lock);
}

static void finish_look(struct etw_session *session)
{
	pthread_mutex_lock(&session->lock);
	session->done_look = session->round.look_ticket;
	pthread_cond_broadcast(&session->done);
	pthread_mutex_unlock(&session->lock);
}

static void run_round(struct etw_session *session)
{
	begin_round(session);
	move_events(session);
	if (UNLIKELY(session->round.now_ns >= session->file_looked_ns + ETW_FILE_LOOK_NS))
		etw_session_file_look(session);
	if (session->round.is_look)
		finish_look(session);
	if (session->flush_reasons != 0) {
		if (is_flush_reached(session))
			finish_flush(session);
		else if (!session->round.has_gap && !session->needs_source_retry)
			session->round.has_more = true;
		/* Who asked for everything waits for it; consumers have what there is. */
		if (session->flush_reasons != 0 &&
		    is_due(session->next_batch_ns, session->round.now_ns))
			etw_delivery_close_batch(session, /* is_end= */ false);
	} else if (session->batch_bytes >= ETW_DELIVERY_BATCH_BYTES) {
		etw_delivery_close_batch(session, /* is_end= */ false);
	}
	set_timers(session);
	etw_ring_turnover_tend(session, /* is_stop= */ false);
}

static void count_free_buffers(struct etw_session *session)
{
	uint64_t free_buffers = 0;

	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		const struct etw_session_output *output = &session->outputs[i];

		for (uint32_t j = 0; j < output->stream_count; j++) {
			struct etw_ring_counts counts;

			if (!output->streams[j]->set)
				continue;
			etw_ring_reader_counts(output->streams[j]->reader, &counts);
			free_buffers += counts.free_buffers + counts.idle_buffers;
		}
	}
	store_relaxed(&session->free_buffers, free_buffers);
}

static void sleep_until_needed(struct etw_session *session, uint32_t wake)
{
	uint64_t now_ns = session->round.now_ns;
	uint64_t deadline_ns = UINT64_MAX;
	uint64_t source_ns = etw_source_feed_due_ns(session);
	uint64_t rings_ns = etw_ring_turnover_due_ns(session);

	deadline_ns = etw_earlier_zero_is_none(deadline_ns, session->next_file_flush_ns);
	deadline_ns = etw_earlier_zero_is_none(deadline_ns, session->next_batch_ns);
	/* What is due and cannot be done yet waits for others. */
	if (rings_ns < now_ns + GAP_POLL_NS)
		rings_ns = now_ns + GAP_POLL_NS;
	deadline_ns = MIN(deadline_ns, rings_ns);
	if (source_ns != 0)
		deadline_ns = MIN(deadline_ns, now_ns + source_ns);
	if (session->needs_source_retry || session->round.has_gap)
		deadline_ns = MIN(deadline_ns, now_ns + GAP_POLL_NS);
	if (session->flush_reasons != 0)
		deadline_ns = MIN(deadline_ns, now_ns + GAP_POLL_NS);
	etw_wait(session, wake, deadline_ns);
}

static bool wants_stop(struct etw_session *session)
{
	bool result;

	pthread_mutex_lock(&session->lock);
	result = session->wants_stop;
	pthread_mutex_unlock(&session->lock);
	return result;
}

static void run_until_stop(struct etw_session *session)
{
	while (!wants_stop(session)) {
		uint32_t wake = load_acquire(&session->wake);

		run_round(session);
		if (session->round.has_more || session->round.has_progress) {
			etw_wait_arm(session, false);
			session->is_spurious = false;
		} else if (!session->is_armed) {
			etw_wait_arm(session, true);
			count_free_buffers(session);
		} else {
			sleep_until_needed(session, wake);
			etw_wait_arm(session, false);
		}
	}
}

/* Nobody reserves any more; what is committed is taken, gaps are waited for as long as ever. */
static void drain(struct etw_session *session)
{
	etw_session_sets_end(session);
	etw_source_feed_stop(session);
	session->is_ending = true;
	while (!session->is_drained) {
		uint32_t wake = load_acquire(&session->wake);

		run_round(session);
		if (!session->is_drained && !session->round.has_more &&
		    !session->round.has_progress)
			etw_wait(session, wake, session->round.now_ns + GAP_POLL_NS);
	}
}

/* Consumers that lost their host an instant ago come for the rest. */
static void await_consumers(struct etw_session *session)
{
	for (;;) {
		uint32_t wake = load_acquire(&session->wake);
		uint64_t now_ns = etw_monotonic_ns();

		if (!etw_subscribers_are_awaited(session, now_ns))
			return;
		etw_wait(session, wake, now_ns + CONSUMER_POLL_NS);
	}
}

static void end_session(struct etw_session *session)
{
	drain(session);
	etw_ring_turnover_tend(session, /* is_stop= */ true);
	etw_source_feed_close(session);
	etw_claims_tell(session);
	etw_notes_write(session);
	etw_outputs_flush(session);
	await_consumers(session);
	etw_delivery_close_batch(session, /* is_end= */ true);
	etw_session_file_look(session);
	etw_session_file_end(session, 0);
	etw_session_file_refresh(session, /* is_end= */ true);
	etw_etl_file_writer_close(&session->file);
}

static void tell_ready(struct etw_session *session)
{
	pthread_mutex_lock(&session->lock);
	session->thread_id = (int32_t)syscall(SYS_gettid);
	session->is_ready = true;
	pthread_cond_broadcast(&session->done);
	pthread_mutex_unlock(&session->lock);
}

void *etw_session_thread(void *context)
{
	struct etw_session *session = context;

	(void)prctl(PR_SET_NAME, "etw-session");
	etw_source_feed_open(session, session->state.head->hosts > 1);
	tell_ready(session);
	run_until_stop(session);
	end_session(session);
	return NULL;
}
