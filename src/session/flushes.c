/* SPDX-License-Identifier: MIT */
/* Flushes, looks and timers; see session/flushes.h. */
#include "session/flushes.h"

#include <errno.h>
#include <time.h>

#include "base/time.h"

#define LOOK_WAIT_NS 5000000 /* who asks waits so long for a round at most */

/* For these everything is promised. */
#define PROMISED (ETW_FLUSH_REQUEST | ETW_FLUSH_STOP)

void etw_flushes_open(struct etw_session_flushes *ret)
{
	pthread_condattr_t attributes;

	*ret = (struct etw_session_flushes){0};
	pthread_mutex_init(&ret->lock, NULL);
	/* A clock that is set must neither hold who waits, nor let it go. */
	pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&ret->done, &attributes);
	pthread_condattr_destroy(&attributes);
}

void etw_flushes_close(struct etw_session_flushes *flushes)
{
	pthread_mutex_destroy(&flushes->lock);
	pthread_cond_destroy(&flushes->done);
}

uint64_t etw_flushes_ask(struct etw_session_flushes *flushes)
{
	uint64_t ticket;

	pthread_mutex_lock(&flushes->lock);
	ticket = ++flushes->wanted_flush;
	pthread_mutex_unlock(&flushes->lock);
	return ticket;
}

int etw_flushes_await(struct etw_session_flushes *flushes, uint64_t ticket)
{
	int result;

	pthread_mutex_lock(&flushes->lock);
	while (flushes->has_thread && flushes->done_flush < ticket)
		pthread_cond_wait(&flushes->done, &flushes->lock);
	result = flushes->done_flush >= ticket ? 0 : -ESHUTDOWN;
	pthread_mutex_unlock(&flushes->lock);
	return result;
}

uint64_t etw_flushes_ask_look(struct etw_session_flushes *flushes)
{
	uint64_t ticket;

	pthread_mutex_lock(&flushes->lock);
	ticket = ++flushes->wanted_look;
	pthread_mutex_unlock(&flushes->lock);
	return ticket;
}

void etw_flushes_await_look(struct etw_session_flushes *flushes, uint64_t ticket)
{
	/* By the clock that the condition goes by. */
	struct timespec deadline = etw_timespec_of_ns(etw_monotonic_ns() + LOOK_WAIT_NS);

	pthread_mutex_lock(&flushes->lock);
	while (flushes->has_thread && !flushes->wants_stop && flushes->done_look < ticket) {
		if (pthread_cond_timedwait(&flushes->done, &flushes->lock, &deadline))
			break;
	}
	pthread_mutex_unlock(&flushes->lock);
}

void etw_flushes_await_ready(struct etw_session_flushes *flushes)
{
	pthread_mutex_lock(&flushes->lock);
	flushes->has_thread = true;
	while (!flushes->is_ready)
		pthread_cond_wait(&flushes->done, &flushes->lock);
	pthread_mutex_unlock(&flushes->lock);
}

void etw_flushes_mark_ready(struct etw_session_flushes *flushes)
{
	pthread_mutex_lock(&flushes->lock);
	flushes->is_ready = true;
	pthread_cond_broadcast(&flushes->done);
	pthread_mutex_unlock(&flushes->lock);
}

bool etw_flushes_ask_stop(struct etw_session_flushes *flushes)
{
	bool result;

	pthread_mutex_lock(&flushes->lock);
	result = flushes->has_thread;
	flushes->wants_stop |= result;
	pthread_mutex_unlock(&flushes->lock);
	return result;
}

bool etw_flushes_wants_stop(struct etw_session_flushes *flushes)
{
	bool result;

	pthread_mutex_lock(&flushes->lock);
	result = flushes->wants_stop;
	pthread_mutex_unlock(&flushes->lock);
	return result;
}

void etw_flushes_mark_stopped(struct etw_session_flushes *flushes)
{
	pthread_mutex_lock(&flushes->lock);
	flushes->has_thread = false;
	flushes->done_flush = flushes->wanted_flush;
	pthread_cond_broadcast(&flushes->done);
	pthread_mutex_unlock(&flushes->lock);
}

static bool is_due(uint64_t timer_ns, uint64_t now_ns)
{
	return timer_ns != 0 && now_ns >= timer_ns;
}

/* Everything that asks for a flush now, but for requests: enum etw_flush_reason. */
static uint32_t own_reasons(const struct etw_session_flushes *flushes, uint64_t now_ns)
{
	uint32_t reasons = 0;

	/* Not before the end has begun: nobody may write, and no source describe, behind the target. */
	if (flushes->is_ending)
		reasons |= ETW_FLUSH_STOP;
	if (is_due(flushes->next_file_flush_ns, now_ns))
		reasons |= ETW_FLUSH_FILE_TIMER;
	if (is_due(flushes->next_batch_ns, now_ns))
		reasons |= ETW_FLUSH_BATCH_TIMER;
	return reasons;
}

void etw_flushes_begin(struct etw_session_flushes *flushes, struct etw_session_round *round)
{
	uint32_t reasons = own_reasons(flushes, round->now_ns);
	uint64_t ticket;

	pthread_mutex_lock(&flushes->lock);
	ticket = flushes->wanted_flush;
	if (ticket != flushes->done_flush)
		reasons |= ETW_FLUSH_REQUEST;
	round->look_ticket = flushes->wanted_look;
	round->is_look = flushes->wanted_look != flushes->done_look;
	pthread_mutex_unlock(&flushes->lock);
	if (flushes->reasons == 0 && reasons != 0) {
		flushes->reasons = reasons;
		flushes->ticket = ticket;
		flushes->target_raw = round->now_raw;
		flushes->deadline_ns = round->now_ns + ETW_FLUSH_DEADLINE_NS;
		flushes->most_ns = round->now_ns + ETW_FLUSH_MOST_NS;
	}
	round->is_flush = flushes->reasons != 0;
	round->is_stop = (flushes->reasons & ETW_FLUSH_STOP) != 0;
}

enum etw_flush_state etw_flushes_look(struct etw_session_flushes *flushes,
				      const struct etw_session_round *round,
				      const struct etw_flush_progress *progress)
{
	/* A slow disk is no standstill, so the time that this round took does not count. */
	if (flushes->reasons & PROMISED && progress->has_got_on &&
	    progress->after_ns < flushes->most_ns)
		flushes->deadline_ns = progress->after_ns + ETW_FLUSH_DEADLINE_NS;
	if (round->now_ns >= flushes->deadline_ns) {
		if (!round->is_stop || !progress->has_source)
			return ETW_FLUSH_REACHED;
		flushes->deadline_ns = round->now_ns + ETW_FLUSH_DEADLINE_NS;
		return ETW_FLUSH_GIVES_SOURCE_UP;
	}
	/*
	 * A timer promises nobody anything: what stands behind a gap comes next time. Else an event that has
	 * just come out of one would have to wait for those that were made since.
	 */
	if (round->has_gap && !(flushes->reasons & PROMISED))
		return ETW_FLUSH_REACHED;
	return progress->merged_raw < flushes->target_raw ? ETW_FLUSH_GOES_ON : ETW_FLUSH_REACHED;
}

void etw_flushes_finish(struct etw_session_flushes *flushes)
{
	flushes->is_drained = (flushes->reasons & ETW_FLUSH_STOP) != 0;
	flushes->reasons = 0;
	pthread_mutex_lock(&flushes->lock);
	flushes->done_flush = flushes->ticket;
	pthread_cond_broadcast(&flushes->done);
	pthread_mutex_unlock(&flushes->lock);
}

void etw_flushes_finish_look(struct etw_session_flushes *flushes,
			     const struct etw_session_round *round)
{
	pthread_mutex_lock(&flushes->lock);
	flushes->done_look = round->look_ticket;
	pthread_cond_broadcast(&flushes->done);
	pthread_mutex_unlock(&flushes->lock);
}

bool etw_flushes_is_batch_due(const struct etw_session_flushes *flushes, uint64_t now_ns)
{
	return is_due(flushes->next_batch_ns, now_ns);
}

void etw_flushes_set_timers(struct etw_session_flushes *flushes,
			    const struct etw_session_plan *plan, bool has_consumers,
			    uint64_t now_ns)
{
	if (plan->file_flush_ns == 0)
		flushes->next_file_flush_ns = 0;
	else if (flushes->next_file_flush_ns == 0 || is_due(flushes->next_file_flush_ns, now_ns))
		flushes->next_file_flush_ns = now_ns + plan->file_flush_ns;
	if (!has_consumers)
		flushes->next_batch_ns = 0;
	else if (flushes->next_batch_ns == 0 || is_due(flushes->next_batch_ns, now_ns))
		flushes->next_batch_ns = now_ns + plan->batch_flush_ns;
}

uint64_t etw_flushes_due_ns(const struct etw_session_flushes *flushes)
{
	return etw_earlier_zero_is_none(
		etw_earlier_zero_is_none(UINT64_MAX, flushes->next_file_flush_ns),
		flushes->next_batch_ns);
}
