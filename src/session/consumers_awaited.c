/* SPDX-License-Identifier: MIT */
/*
 * The consumers of the last host: their memories are taken over, and they are waited for until they come back, have not
 * come in time, or the session is over; see session/consumers.h.
 */
#include <sys/param.h>
#include <unistd.h>

#include "base/time.h"
#include "session/consumers_internal.h"

/* A session that is stopped so soon after its host died waits for consumers to come for the rest. */
#define LAST_WAIT_MS  2000
#define LEAST_WAIT_NS UINT64_C(5000000000) /* by each host, for a consumer to come */

/* How long a consumer is waited for. */
static void begin_wait(struct etw_session_consumers *consumers, struct etw_subscriber *subscriber)
{
	struct etw_state_consumer *entry = etw_consumers_entry(consumers, subscriber->place);
	uint64_t adopted_ns = consumers->adopted_ns;

	/* However many hosts die meanwhile; but this one may have been started long after the last. */
	if (entry->awaited_until_ns == 0)
		entry->awaited_until_ns = adopted_ns + ETW_CONSUMERS_WAIT_NS;
	if (entry->awaited_until_ns < adopted_ns + LEAST_WAIT_NS)
		entry->awaited_until_ns = adopted_ns + LEAST_WAIT_NS;
	subscriber->awaited_until_ns = entry->awaited_until_ns;
	subscriber->patience = etw_patience_begin(
		(subscriber->awaited_until_ns - adopted_ns) / ETW_NS_PER_MS, adopted_ns);
}

/* Takes the descriptor. NULL: the memory cannot be had, or is another one. */
static struct etw_subscriber *adopt(struct etw_session_consumers *consumers, uint32_t place, int fd)
{
	const struct etw_state_consumer *entry = etw_consumers_entry(consumers, place);
	const struct etw_delivered written = {
		.slots = consumers->slots[place] - entry->slots_base,
		.pieces = consumers->written[place] - entry->written_base,
	};
	struct etw_subscriber *subscriber = etw_subscriber_adopt(&consumers->context->plan, place,
								 entry->slot_count, fd, &written);

	if (!subscriber)
		return NULL;
	subscriber->flagged = entry->flagged;
	if (entry->is_backlog) { /* nobody was told of it */
		subscriber->announced = subscriber->released = (struct etw_delivered){0};
		subscriber->grown = (uint32_t)subscriber->written.slots;
	} else {
		begin_wait(consumers, subscriber);
	}
	return subscriber;
}

/*
 * What was kept for nobody in particular is lost with its memory; others say themselves how far they had got. No more
 * than the memory had room for can be unread.
 */
static void free_without_memory(struct etw_session_consumers *consumers, uint32_t place)
{
	const struct etw_state_consumer *entry = etw_consumers_entry(consumers, place);
	uint64_t room = MIN(consumers->pieces, (uint64_t)entry->slot_count);

	if (entry->is_backlog)
		etw_consumers_free_place_locked(consumers, place,
						consumers->written[place] - entry->written_base);
	else
		etw_consumers_free_place_at_locked(
			consumers, place, 0, MAX(entry->pieces_base, consumers->pieces - room));
}

void etw_consumers_adopt(struct etw_session_consumers *consumers)
{
	consumers->adopted_ns = etw_monotonic_ns();
	consumers->last_wait = etw_patience_begin(LAST_WAIT_MS, consumers->adopted_ns);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		bool is_live = etw_consumers_entry(consumers, i)->status == ETW_STATE_CONSUMER_LIVE;
		struct etw_subscriber *subscriber = NULL;
		int fd = etw_context_kept(consumers->context, ETW_CONSUMERS_MEMORY_NAME, i);

		if (fd >= 0 && is_live)
			subscriber = adopt(consumers, i, fd);
		else if (fd >= 0)
			close(fd);
		if (subscriber && etw_consumers_entry(consumers, i)->is_backlog) {
			consumers->backlog = subscriber;
			consumers->is_place_taken[i] = true;
		} else if (subscriber) {
			etw_consumers_add_locked(consumers, subscriber);
		} else if (fd >= 0 ||
			   etw_consumers_entry(consumers, i)->status != ETW_STATE_CONSUMER_FREE) {
			free_without_memory(consumers, i);
		}
	}
}

/* All that lies in the memory was for it, announced or not. */
static void drop_awaited(struct etw_session_consumers *consumers, struct etw_subscriber *subscriber)
{
	etw_subscriber_look(subscriber);
	etw_consumers_drop_locked(consumers, subscriber,
				  subscriber->written.pieces - subscriber->released.pieces);
}

void etw_consumers_expire(struct etw_session_consumers *consumers, uint64_t now_ns)
{
	if (consumers->adopted_ns != 0)
		(void)etw_patience_look(&consumers->last_wait, now_ns);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = consumers->subscribers[i];

		if (subscriber && subscriber->awaited_until_ns != 0 &&
		    etw_patience_look(&subscriber->patience, now_ns))
			drop_awaited(consumers, subscriber);
	}
}

bool etw_consumers_are_awaited(struct etw_session_consumers *consumers, uint64_t now_ns)
{
	bool result = false;

	if (consumers->adopted_ns == 0 || etw_patience_look(&consumers->last_wait, now_ns))
		return false;
	pthread_mutex_lock(&consumers->lock);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++)
		result |= consumers->subscribers[i] &&
			  consumers->subscribers[i]->awaited_until_ns != 0;
	pthread_mutex_unlock(&consumers->lock);
	return result;
}

/* Holding the lock: what is kept for nobody is lost. */
static void drop_backlog(struct etw_session_consumers *consumers)
{
	struct etw_subscriber *backlog = consumers->backlog;

	if (!backlog)
		return;
	consumers->backlog = NULL;
	etw_consumers_free_place_locked(consumers, backlog->place, backlog->written.pieces);
	etw_subscriber_free(backlog);
}

void etw_consumers_abandon(struct etw_session_consumers *consumers)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = consumers->subscribers[i];

		if (subscriber && subscriber->awaited_until_ns != 0)
			drop_awaited(consumers, subscriber);
	}
	drop_backlog(consumers);
}
