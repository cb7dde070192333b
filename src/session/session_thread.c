/* SPDX-License-Identifier: MIT */
/* The session's thread: rounds, and the end. Source: docs/design/recording.md "The session engine". */
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/common/claims.h"
#include "session/history.h"
#include "session/outputs.h"
#include "session/rings/sets.h"
#include "session/rings/turnover.h"
#include "session/session_internal.h"

#define GAP_POLL_NS      UINT64_C(2000000)
#define RETELL_PAUSE_NS  UINT64_C(1000000000)
#define CONSUMER_POLL_NS UINT64_C(20000000)
#define COUNT_LOSS_NS    UINT64_C(100000000)

static void begin_round(struct etw_session *session)
{
	int64_t last_raw = session->round.now_raw;
	int64_t now_raw = etw_context_now(&session->context);

	/* A clock that was set back stands still here until it is past. */
	session->round = (struct etw_session_round){
		.now_raw = MAX(now_raw, last_raw),
		.now_ns = etw_monotonic_ns(),
	};
	etw_flushes_begin(&session->flushes, &session->round);
}

/*
 * Sources count in the kernel, one call for each of their programs: every round of a busy session would make more calls for
 * that than for its events. Whoever asks, flushes or stops has the account as it is; closing a source counts a last time.
 */
static void count_loss(struct etw_session *session, bool is_changed)
{
	const struct etw_session_round *round = &session->round;

	session->is_loss_open |= is_changed;
	if (!session->is_loss_open)
		return;
	if (!round->is_look && !round->is_flush &&
	    round->now_ns < session->loss_counted_ns + COUNT_LOSS_NS)
		return;
	etw_source_feeds_count_loss(&session->feeds);
	session->loss_counted_ns = round->now_ns;
	session->is_loss_open = false;
}

/* A consumer that came late has not read what sources told at first. Whoever comes again and again fills no file with it. */
static void retell(struct etw_session *session)
{
	const uint32_t joined = load_acquire(&session->consumers.joined);

	if (joined == session->joined ||
	    session->round.now_ns - session->retold_ns < RETELL_PAUSE_NS)
		return;
	etw_source_feeds_retell(&session->feeds);
	session->joined = joined;
	session->retold_ns = session->round.now_ns;
}

static void move_events(struct etw_session *session)
{
	bool is_changed;

	retell(session);
	etw_source_feeds_collect(&session->feeds, &session->round);
	if (etw_source_feeds_are_open(&session->feeds) &&
	    etw_loss_notes_are_due(&session->loss_notes, session->round.now_ns)) {
		etw_source_feeds_count_loss(&session->feeds);
		etw_loss_notes_tell(&session->loss_notes, &session->outputs, &session->sets,
				    session->round.now_ns, /* is_end= */ false);
	}
	is_changed = etw_outputs_move(&session->outputs, &session->round);
	/* Also when no output took anything: records that make no event fill the kernel's rings as well. */
	etw_source_feeds_release(&session->feeds);
	count_loss(session, is_changed);
}

static void finish_flush(struct etw_session *session)
{
	if (session->context.plan.has_file && etw_flushes_writes_file(&session->flushes)) {
		etw_outputs_flush(&session->outputs);
		etw_outputs_look_at_file(&session->outputs);
	}
	if (!session->round.is_stop)
		etw_outputs_close_batch(&session->outputs, session->round.now_ns,
					/* is_end= */ false);
	etw_flushes_finish(&session->flushes);
}

/* Returns whether the flush goes on. */
static bool go_on_flushing(struct etw_session *session)
{
	const struct etw_flush_progress progress = {
		.merged_raw = etw_outputs_merged_raw(&session->outputs),
		.has_got_on = etw_outputs_got_on(&session->outputs, session->flushes.target_raw),
		.has_source = etw_source_feeds_are_awaited(&session->feeds),
		.after_ns = etw_monotonic_ns(),
	};

	switch (etw_flushes_look(&session->flushes, &session->round, &progress)) {
	case ETW_FLUSH_REACHED:
		finish_flush(session);
		return false;
	case ETW_FLUSH_GIVES_SOURCE_UP:
		etw_source_feeds_give_up(&session->feeds);
		session->round.awaits_source = false;
		break;
	case ETW_FLUSH_GOES_ON:
		break;
	}
	if (!session->round.has_gap && !session->round.awaits_source)
		session->round.has_more = true;
	return true;
}

/* Batches are closed by their timer and by their size; a flush that ends closes one, too. */
static void tend_flush(struct etw_session *session)
{
	uint64_t now_ns = session->round.now_ns;
	bool is_due;

	if (session->flushes.reasons == 0)
		is_due = load_relaxed(&session->consumers.batch_bytes) >=
			 etw_subscriber_batch_bytes(&session->context.plan);
	else /* who asked for everything waits for it; consumers have what there is */
		is_due = go_on_flushing(session) &&
			 etw_flushes_is_batch_due(&session->flushes, now_ns);
	if (is_due)
		etw_outputs_close_batch(&session->outputs, now_ns, /* is_end= */ false);
}

static void close_set(struct etw_session *session, struct etw_session_set *set)
{
	etw_outputs_settle_set(&session->outputs, set);
	etw_session_set_close(&session->sets, set);
}

static void tend_sets(struct etw_session *session)
{
	struct etw_session_set *closable[ETW_STATE_SETS];
	uint32_t count = etw_ring_turnover_tend(&session->sets, &session->round, closable);

	for (uint32_t i = 0; i < count; i++) {
		close_set(session, closable[i]);
		session->round.has_more = true; /* what is free is counted anew */
	}
}

static void run_round(struct etw_session *session)
{
	begin_round(session);
	etw_suspend_notes_tell(&session->suspend_notes, &session->context, &session->outputs);
	move_events(session);
	if (UNLIKELY(session->round.now_ns >= session->outputs.file.looked_ns + ETW_FILE_LOOK_NS))
		etw_outputs_look_at_file(&session->outputs);
	if (session->round.is_look) {
		etw_session_sets_count_free(&session->sets); /* for who asked */
		etw_flushes_finish_look(&session->flushes, &session->round);
	}
	tend_flush(session);
	etw_flushes_set_timers(&session->flushes, &session->context.plan,
			       load_relaxed(&session->consumers.subscriber_count) > 0,
			       session->round.now_ns);
	tend_sets(session);
	if (UNLIKELY(etw_orders_carry_out(&session->orders)))
		session->round.has_more = true;
}

static void sleep_until_needed(struct etw_session *session, uint32_t wake)
{
	uint64_t now_ns = session->round.now_ns;
	uint64_t source_ns = etw_source_feeds_due_ns(&session->feeds);
	uint64_t deadline_ns = etw_flushes_due_ns(&session->flushes);

	/* What is due and cannot be done yet waits for others. */
	deadline_ns = MIN(deadline_ns,
			  MAX(etw_ring_turnover_due_ns(&session->sets), now_ns + GAP_POLL_NS));
	if (source_ns != 0)
		deadline_ns = MIN(deadline_ns, now_ns + source_ns);
	if (session->round.awaits_source || session->round.has_gap || session->flushes.reasons != 0)
		deadline_ns = MIN(deadline_ns, now_ns + GAP_POLL_NS);
	etw_wait(&session->wait, &session->sets, wake, deadline_ns);
}

static void run_until_stop(struct etw_session *session)
{
	struct etw_session_wait *wait = &session->wait;

	while (!etw_flushes_wants_stop(&session->flushes)) {
		uint32_t wake = load_acquire(&session->context.wake);

		run_round(session);
		if (session->round.has_more || session->round.has_progress) {
			etw_wait_arm(wait, &session->sets, false);
			wait->is_spurious = false;
		} else if (!wait->is_armed) {
			etw_wait_arm(wait, &session->sets, true);
			etw_session_sets_count_free(&session->sets);
		} else {
			sleep_until_needed(session, wake);
			etw_wait_arm(wait, &session->sets, false);
		}
	}
}

/* Nobody reserves any more; what is committed is taken, gaps are waited for as long as ever. */
static void drain(struct etw_session *session)
{
	etw_orders_end(&session->orders);
	etw_history_end(&session->outputs); /* whoever flushes is told of the end */
	etw_session_sets_end(&session->sets);
	etw_source_feeds_stop(&session->feeds);
	session->flushes.is_ending = true;
	while (!session->flushes.is_drained) {
		uint32_t wake = load_acquire(&session->context.wake);

		run_round(session);
		if (!session->flushes.is_drained && !session->round.has_more &&
		    !session->round.has_progress)
			etw_wait(&session->wait, &session->sets, wake,
				 session->round.now_ns + GAP_POLL_NS);
	}
}

static void close_all_sets(struct etw_session *session)
{
	struct etw_session_set *all[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(&session->sets, all);

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; !all[i]->is_broken && j < all[i]->stream_count; j++)
			etw_output_reject_rest(&all[i]->streams[j]);
		close_set(session, all[i]);
	}
}

/* A note in the trace for each user that has claimed something. */
static void tell_claims(struct etw_session *session)
{
	struct etw_state_user users[ETW_STATE_USERS + 1];
	struct wire_session_note note;

	etw_claims_gather(&session->sets, users);
	for (uint32_t i = 0; i <= ETW_STATE_USERS; i++) {
		if (etw_claims_note(&session->sets, users, i, &note))
			etw_outputs_put_note(&session->outputs, &note);
	}
}

/* Consumers that lost their host an instant ago come for the rest. */
static void await_consumers(struct etw_session *session)
{
	for (;;) {
		uint32_t wake = load_acquire(&session->context.wake);
		uint64_t now_ns = etw_monotonic_ns();

		if (!etw_consumers_are_awaited(&session->consumers, now_ns))
			return;
		etw_wait(&session->wait, &session->sets, wake, now_ns + CONSUMER_POLL_NS);
	}
}

static void end_session(struct etw_session *session)
{
	struct etw_session_outputs *outputs = &session->outputs;

	drain(session);
	close_all_sets(session);
	etw_outputs_settle_sources(outputs, session->flushes.target_raw);
	etw_outputs_put_account(outputs);
	etw_source_feeds_close(&session->feeds);
	etw_outputs_write_notes(outputs);
	tell_claims(session);
	etw_loss_notes_tell(&session->loss_notes, outputs, &session->sets, etw_monotonic_ns(),
			    /* is_end= */ true);
	etw_outputs_flush(outputs);
	await_consumers(session);
	etw_outputs_close_batch(outputs, session->round.now_ns, /* is_end= */ true);
	etw_outputs_look_at_file(outputs);
	etw_session_file_end(&outputs->file, 0);
	etw_session_file_refresh(&outputs->file, /* is_end= */ true);
	etw_session_file_close(&outputs->file);
}

void *etw_session_thread(void *context)
{
	struct etw_session *session = context;

	(void)prctl(PR_SET_NAME, "etw-session");
	store_relaxed(&session->context.thread_id, (int32_t)syscall(SYS_gettid));
	etw_suspend_notes_begin(&session->suspend_notes, &session->context,
				session->context.state.head->hosts > 1);
	etw_source_feeds_open(&session->feeds, session->context.state.head->hosts > 1);
	etw_flushes_mark_ready(&session->flushes);
	run_until_stop(session);
	end_session(session);
	return NULL;
}
