/* SPDX-License-Identifier: MIT */
/*
 * Who a session's consumers are: how they come, get their place and leave; see session/consumers.h. Those of the last host
 * are in consumers_awaited.c.
 */
#include "session/consumers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/param.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "session/consumers_internal.h"

static void free_subscriberp(struct etw_subscriber **subscriber)
{
	etw_subscriber_free(*subscriber);
}

void etw_consumers_open(struct etw_session_context *context, struct etw_session_consumers *ret)
{
	*ret = (struct etw_session_consumers){.context = context};
	pthread_mutex_init(&ret->lock, NULL);
}

void etw_consumers_resume(struct etw_session_consumers *consumers)
{
	const struct etw_state *state = &consumers->context->state;

	for (uint32_t i = 0; i < state->head->output_count; i++) {
		const struct etw_state_record *record = etw_state_holding(state, i);

		consumers->pieces += record->counts.pieces;
		consumers->piece_events += record->counts.piece_events;
		for (uint32_t j = 0; j < ETW_STATE_CONSUMERS; j++) {
			consumers->written[j] += record->written[j];
			consumers->slots[j] += record->slots[j];
		}
	}
}

void etw_consumers_add_locked(struct etw_session_consumers *consumers,
			      struct etw_subscriber *subscriber)
{
	consumers->subscribers[subscriber->place] = subscriber;
	consumers->is_place_taken[subscriber->place] = true;
	store_relaxed(&consumers->subscriber_count, consumers->subscriber_count + 1);
}

void etw_consumers_free_place_at_locked(struct etw_session_consumers *consumers, uint32_t place,
					uint64_t unread, uint64_t settled)
{
	struct etw_state_consumer *entry = etw_consumers_entry(consumers, place);

	if (entry->status == ETW_STATE_CONSUMER_LIVE) {
		store_relaxed(&entry->unread_next, entry->unread + unread);
		store_relaxed(&entry->pieces_base, settled);
		store_release(&entry->status, (uint32_t)ETW_STATE_CONSUMER_LEAVING);
		SCHED_POINT("session.consumer.leaving");
	}
	if (entry->status == ETW_STATE_CONSUMER_LEAVING) {
		store_relaxed(&entry->missed, entry->missed_next);
		store_relaxed(&entry->unread, entry->unread_next);
		store_release(&entry->status, (uint32_t)ETW_STATE_CONSUMER_FREE);
	}
	etw_context_forget(consumers->context, ETW_CONSUMERS_MEMORY_NAME, place);
	consumers->is_place_taken[place] = false;
}

void etw_consumers_free_place_locked(struct etw_session_consumers *consumers, uint32_t place,
				     uint64_t unread)
{
	etw_consumers_free_place_at_locked(consumers, place, unread, consumers->pieces);
}

/* Holding the lock. */
static void leave(struct etw_session_consumers *consumers, const struct etw_subscriber *subscriber,
		  uint64_t unread)
{
	consumers->subscribers[subscriber->place] = NULL;
	store_relaxed(&consumers->subscriber_count, consumers->subscriber_count - 1);
	etw_consumers_free_place_locked(consumers, subscriber->place, unread);
}

void etw_consumers_drop_locked(struct etw_session_consumers *consumers,
			       struct etw_subscriber *subscriber, uint64_t unread)
{
	leave(consumers, subscriber, unread);
	etw_subscriber_free(subscriber);
}

/* What it was told of and has not given back. One that leaves in good order gives everything back first. */
static uint64_t unread_of(struct etw_subscriber *subscriber)
{
	etw_subscriber_look(subscriber);
	return subscriber->announced.pieces - subscriber->released.pieces;
}

/* Whose last consumer has been gone for the longest: one that has just left may come back. Holding the lock. */
static int reserve_place(struct etw_session_consumers *consumers, uint32_t *ret)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		const struct etw_state_consumer *entry = etw_consumers_entry(consumers, i);
		uint64_t left = entry->consumer ? entry->pieces_base + 1 : 0;

		if (consumers->is_place_taken[i] || left >= least)
			continue;
		least = left;
		*ret = i;
	}
	if (least == UINT64_MAX)
		return -EBUSY;
	consumers->is_place_taken[*ret] = true;
	return 0;
}

/*
 * How much had been handed out when what this consumer is to have begins. One that comes back without its memory says
 * how far it had got. That is a claim, which can be true of a consumer that this session had, once, and only of
 * what went by since its place became free. Holding the lock.
 */
static uint64_t take_claim(struct etw_session_consumers *consumers,
			   const struct etw_session_subscribe *request)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_state_consumer *entry = etw_consumers_entry(consumers, i);
		uint64_t claimed = MAX(request->pieces, entry->pieces_base);

		if (request->consumer == 0 || request->last_batch == 0 ||
		    entry->consumer != request->consumer ||
		    entry->status != ETW_STATE_CONSUMER_FREE)
			continue;
		entry->consumer = 0;
		return MIN(claimed, consumers->pieces);
	}
	return consumers->pieces;
}

/* Makes the place hold. Holding the lock. */
static void settle_entry(struct etw_session_consumers *consumers,
			 const struct etw_subscriber *subscriber,
			 const struct etw_session_subscribe *request)
{
	struct etw_state_consumer *entry = etw_consumers_entry(consumers, subscriber->place);

	entry->pieces_base = take_claim(consumers, request);
	entry->slot_count = subscriber->slot_count;
	entry->consumer = request->consumer;
	entry->written_base = consumers->written[subscriber->place];
	entry->slots_base = consumers->slots[subscriber->place];
	entry->pieces_was = consumers->pieces;
	entry->events_was = consumers->piece_events;
	entry->flagged = 0;
	entry->awaited_until_ns = 0;
	entry->is_backlog = request->notify == NULL;
	store_relaxed(&entry->missed_next, entry->missed + consumers->pieces - entry->pieces_base);
	SCHED_POINT("session.consumer.settled");
	store_release(&entry->status, (uint32_t)ETW_STATE_CONSUMER_LIVE);
	SCHED_POINT("session.consumer.live");
}

/* What the consumer is to know. Holding the lock. */
static void answer(const struct etw_session_consumers *consumers, struct etw_subscriber *subscriber,
		   struct etw_session_subscribed *ret)
{
	const struct etw_state_consumer *entry = etw_consumers_entry(consumers, subscriber->place);

	ret->subscriber = subscriber;
	ret->next_slot = subscriber->announced.slots;
	ret->pieces = entry->pieces_was;
	ret->events = entry->events_was;
}

/* Where it is not kept, what a host that dies leaves in it counts as lost. */
static void keep_memory(const struct etw_session_consumers *consumers,
			const struct etw_subscriber *subscriber, uint32_t place)
{
	if (etw_context_room(consumers->context, 1) == 0)
		(void)etw_context_keep(consumers->context, subscriber->fd,
				       ETW_CONSUMERS_MEMORY_NAME, place);
}

/* With a new memory, at a place that is reserved for it. */
static int add_new(struct etw_session_consumers *consumers,
		   const struct etw_session_subscribe *request, uint32_t place,
		   struct etw_session_subscribed *ret)
{
	CLEANUP(free_subscriberp) struct etw_subscriber *subscriber = NULL;
	int result = -ESHUTDOWN;

	TRY(etw_subscriber_create(&consumers->context->plan, place, request->memory_bytes,
				  &subscriber));
	TRY(etw_subscriber_grow(subscriber, subscriber->slot_count));
	subscriber->notify = request->notify;
	subscriber->context = request->context;
	keep_memory(consumers, subscriber, place);
	pthread_mutex_lock(&consumers->lock);
	if (consumers->backlog) {
		result = -EAGAIN;
	} else if (!consumers->is_over) {
		settle_entry(consumers, subscriber, request);
		etw_consumers_add_locked(consumers, subscriber);
		answer(consumers, TAKE(subscriber), ret);
		result = 0;
	}
	pthread_mutex_unlock(&consumers->lock);
	return result;
}

struct etw_subscriber *etw_consumers_backlog(struct etw_session_consumers *consumers)
{
	static const struct etw_session_subscribe nobody = {0};
	CLEANUP(free_subscriberp) struct etw_subscriber *backlog = NULL;
	uint32_t place;

	if (consumers->backlog)
		return consumers->backlog;
	if (reserve_place(consumers, &place) < 0)
		return NULL;
	if (etw_subscriber_create(&consumers->context->plan, place, 0, &backlog) < 0) {
		etw_consumers_free_place_locked(consumers, place, 0);
		return NULL;
	}
	keep_memory(consumers, backlog, place);
	settle_entry(consumers, backlog, &nobody);
	consumers->backlog = TAKE(backlog);
	return consumers->backlog;
}

/* Gives what is kept to the first consumer that comes. Holding the lock. A host may die anywhere in here. */
static void hand_over(struct etw_session_consumers *consumers,
		      const struct etw_session_subscribe *request)
{
	struct etw_subscriber *subscriber = consumers->backlog;
	struct etw_state_consumer *entry = etw_consumers_entry(consumers, subscriber->place);
	uint64_t claimed = take_claim(consumers, request);

	/* It was here before, and came back too late for what it had: that is lost, up to what was kept. */
	if (claimed < entry->pieces_base) {
		store_relaxed(&entry->missed_next, entry->missed + entry->pieces_was - claimed);
		entry->pieces_base = claimed;
	}
	subscriber->notify = request->notify;
	subscriber->context = request->context;
	entry->consumer = request->consumer;
	SCHED_POINT("session.backlog.given");
	store_release(&entry->is_backlog, 0u);
	consumers->backlog = NULL;
	etw_consumers_add_locked(consumers, subscriber);
	/* It has waited for long enough: the batch is due. */
	store_relaxed(&consumers->batch_bytes, (uint64_t)ETW_SUBSCRIBER_BATCH_BYTES_MAX);
}

/* Returns -ENOENT when nothing is kept. */
static int take_backlog(struct etw_session_consumers *consumers,
			const struct etw_session_subscribe *request,
			struct etw_session_subscribed *ret)
{
	struct etw_subscriber *backlog;
	int result = -ENOENT;

	pthread_mutex_lock(&consumers->lock);
	backlog = consumers->backlog;
	if (consumers->is_over)
		result = -ESHUTDOWN;
	else if (backlog)
		result = etw_subscriber_grow(backlog, backlog->slot_count);
	if (backlog && result == 0) {
		hand_over(consumers, request);
		answer(consumers, backlog, ret);
	}
	pthread_mutex_unlock(&consumers->lock);
	return result;
}

/* Holding the lock. */
static struct etw_subscriber *find(const struct etw_session_consumers *consumers, uint64_t consumer)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		if (consumer != 0 && consumers->subscribers[i] &&
		    etw_consumers_entry(consumers, i)->consumer == consumer)
			return consumers->subscribers[i];
	}
	return NULL;
}

/*
 * Gives a consumer of the last host its memory back: it goes on behind what it has given back. Returns
 * -ENOENT when there is none of it.
 */
static int take_back(struct etw_session_consumers *consumers,
		     const struct etw_session_subscribe *request,
		     struct etw_session_subscribed *ret)
{
	struct etw_subscriber *subscriber;
	int result = 0;

	pthread_mutex_lock(&consumers->lock);
	subscriber = find(consumers, request->consumer);
	if (consumers->is_over) {
		result = -ESHUTDOWN;
	} else if (!subscriber) {
		result = -ENOENT;
	} else if (subscriber->awaited_until_ns == 0) {
		result = -EBUSY;
	} else {
		etw_subscriber_rewind(subscriber);
		subscriber->awaited_until_ns = 0;
		etw_consumers_entry(consumers, subscriber->place)->awaited_until_ns = 0;
		subscriber->notify = request->notify;
		subscriber->context = request->context;
		answer(consumers, subscriber, ret);
	}
	pthread_mutex_unlock(&consumers->lock);
	return result;
}

/* Returns -EAGAIN when buffers began to be kept meanwhile: those come first. */
static int add_at_free_place(struct etw_session_consumers *consumers,
			     const struct etw_session_subscribe *request,
			     struct etw_session_subscribed *ret)
{
	uint32_t place;
	int result;

	pthread_mutex_lock(&consumers->lock);
	result = reserve_place(consumers, &place);
	pthread_mutex_unlock(&consumers->lock);
	if (result < 0)
		return result;
	result = add_new(consumers, request, place, ret);
	if (result < 0) {
		pthread_mutex_lock(&consumers->lock);
		etw_consumers_free_place_locked(consumers, place, 0);
		pthread_mutex_unlock(&consumers->lock);
		SCHED_POINT("session.subscribe.place_given_back");
	}
	return result;
}

/* A backlog that is met may be another's by the time that it is asked for: then all is as at first. */
static int find_or_add(struct etw_session_consumers *consumers,
		       const struct etw_session_subscribe *request,
		       struct etw_session_subscribed *ret)
{
	int result;

	do {
		result = take_back(consumers, request, ret);
		if (result == -ENOENT)
			result = take_backlog(consumers, request, ret);
		if (result == -ENOENT)
			result = add_at_free_place(consumers, request, ret);
	} while (result == -EAGAIN);
	return result;
}

int etw_consumers_subscribe(struct etw_session_consumers *consumers,
			    const struct etw_session_subscribe *request,
			    struct etw_session_subscribed *ret)
{
	struct etw_session_subscribed subscribed = {0};

	TRY(find_or_add(consumers, request, &subscribed));
	subscribed.memory_fd = fcntl(subscribed.subscriber->fd, F_DUPFD_CLOEXEC, 0);
	if (subscribed.memory_fd < 0) {
		etw_consumers_unsubscribe(consumers, subscribed.subscriber);
		return -ENOMEM;
	}
	*ret = subscribed;
	(void)add_acq_rel(&consumers->joined, 1);
	etw_context_kick(consumers->context); /* its timer starts */
	return 0;
}

void etw_consumers_unsubscribe(struct etw_session_consumers *consumers,
			       struct etw_subscriber *subscriber)
{
	if (!subscriber)
		return;
	pthread_mutex_lock(&consumers->lock);
	/* A session that is over has told its numbers, and its consumers read on. */
	if (subscriber->is_dismissed)
		etw_subscriber_free(subscriber);
	else
		etw_consumers_drop_locked(consumers, subscriber,
					  consumers->is_over ? 0 : unread_of(subscriber));
	pthread_mutex_unlock(&consumers->lock);
}

void etw_consumers_dismiss(struct etw_session_consumers *consumers)
{
	pthread_mutex_lock(&consumers->lock);
	consumers->is_over = true;
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = consumers->subscribers[i];

		if (!subscriber)
			continue;
		leave(consumers, subscriber, 0);
		subscriber->is_dismissed = true;
	}
	pthread_mutex_unlock(&consumers->lock);
}

void etw_consumers_readmit(struct etw_session_consumers *consumers)
{
	pthread_mutex_lock(&consumers->lock);
	consumers->is_over = false;
	pthread_mutex_unlock(&consumers->lock);
}

static void tell(const struct etw_session_consumers *consumers, struct etw_subscriber *subscriber,
		 struct wire_consumer_statistics *ret)
{
	etw_subscriber_look(subscriber);
	ret->state = subscriber->awaited_until_ns != 0 ? WIRE_CONSUMER_AWAITED : WIRE_CONSUMER_HERE;
	if (subscriber == consumers->backlog)
		ret->state = WIRE_CONSUMER_FUTURE;
	ret->buffers = subscriber->written.pieces;
	ret->lost = etw_consumers_lost(consumers, subscriber);
	ret->waiting = subscriber->written.pieces - subscriber->released.pieces;
}

void etw_consumers_tell(struct etw_session_consumers *consumers,
			struct wire_consumer_statistics ret[WIRE_STATISTICS_CONSUMERS])
{
	static_assert(WIRE_STATISTICS_CONSUMERS >= ETW_STATE_CONSUMERS, "all are told of");
	memset(ret, 0, WIRE_STATISTICS_CONSUMERS * sizeof(*ret));
	pthread_mutex_lock(&consumers->lock);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		if (consumers->subscribers[i])
			tell(consumers, consumers->subscribers[i], &ret[i]);
	}
	if (consumers->backlog)
		tell(consumers, consumers->backlog, &ret[consumers->backlog->place]);
	pthread_mutex_unlock(&consumers->lock);
}

uint64_t etw_consumers_lost(const struct etw_session_consumers *consumers,
			    const struct etw_subscriber *subscriber)
{
	return consumers->pieces - etw_consumers_entry(consumers, subscriber->place)->pieces_base -
	       subscriber->written.pieces;
}

void etw_consumers_close(struct etw_session_consumers *consumers)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		etw_subscriber_free(consumers->subscribers[i]);
		consumers->subscribers[i] = NULL;
	}
	etw_subscriber_free(consumers->backlog);
	consumers->backlog = NULL;
	pthread_mutex_destroy(&consumers->lock);
}
