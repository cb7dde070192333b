/* SPDX-License-Identifier: MIT */
/* See realtime.h. */
#include "daemon/realtime.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/macros.h"
#include "daemon/log.h"

/* Of a header buffer larger than a message can be: all behind its companion events is filling. */
#define HEADER_BYTES_MAX (64 * 1024)

/* Of a session's places for consumers: of one uid that is not trusted, and of all such. Its owner's have no limit. */
#define PLACES_EACH   4
#define PLACES_OTHERS 6

struct batch_item {
	struct etwd_inbox_item item; /* first */
	struct etwd_peers *peers;
	uint64_t peer_serial;
	struct etwd_consumer *consumer; /* of that peer's client */
	bool is_end;
	struct wire_batch batch;
};

/* Batches are contiguous, and each says all that the ones before it said. */
static void merge_held(struct etwd_subscription *subscription, struct wire_batch *batch)
{
	if (!subscription->has_held)
		return;
	batch->first_slot = subscription->held.first_slot;
	batch->slot_count += subscription->held.slot_count;
	batch->buffer_count += subscription->held.buffer_count;
	subscription->has_held = false;
}

/*
 * A consumer that was stopped is told one batch, however many there were: its queue must not grow until it
 * is disconnected for that. The next batch, which the timer makes, takes what is held along.
 */
static bool must_hold(const struct etwd_peer *peer, struct batch_item *item)
{
	struct etwd_subscription *subscription = item->consumer->subscription;

	if (!subscription)
		return false;
	merge_held(subscription, &item->batch);
	if (item->is_end || !peer->first)
		return false;
	subscription->held = item->batch;
	subscription->has_held = true;
	return true;
}

static void send_batch(struct etwd_inbox_item *item)
{
	struct batch_item *batch = (struct batch_item *)(void *)item;
	struct etwd_peer *peer = etwd_peer_find(batch->peers, batch->peer_serial);
	struct wire_message head = {.type = batch->is_end ? WIRE_SESSION_END : WIRE_BATCH};

	if (peer && !must_hold(peer, batch))
		etwd_peer_send(
			peer,
			wire_message_encode_batch(&head, &batch->batch, batch->peers->outgoing),
			-1);
	free(batch);
}

/* The session's thread. */
static void notify(void *context, const struct wire_batch *batch, bool is_end)
{
	const struct etwd_subscription *subscription = context;
	struct batch_item *item = malloc(sizeof(*item));

	if (!item) {
		etwd_log("a batch of session %u is lost: no memory",
			 (unsigned)subscription->session->id);
		return;
	}
	item->item.handle = send_batch;
	item->peers = subscription->realtime->peers;
	item->peer_serial = subscription->peer_serial;
	item->consumer = subscription->consumer;
	item->is_end = is_end;
	item->batch = *batch;
	etwd_inbox_post(subscription->realtime->inbox, &item->item);
}

static void answer_subscribed(struct etwd_peer *peer, const struct etwd_session *session,
			      uint32_t request, const struct etw_session_subscribed *subscribed)
{
	struct wire_message head = {.type = WIRE_SUBSCRIBED, .request = request};
	struct wire_subscribed body = {
		.handle = session->id,
		.session_id = session->id,
		.next_slot = subscribed->next_slot,
		.pieces = subscribed->pieces,
		.events = subscribed->events,
		.header_buffer = {subscribed->header_buffer, subscribed->header_bytes},
	};
	off_t bytes = lseek(subscribed->memory_fd, 0, SEEK_END);

	body.delivery_bytes = bytes > 0 ? (uint32_t)bytes : 0;
	if (body.header_buffer.left > HEADER_BYTES_MAX)
		body.header_buffer.left = HEADER_BYTES_MAX;
	etwd_peer_send(peer, wire_message_encode_subscribed(&head, &body, peer->peers->outgoing),
		       subscribed->memory_fd);
}

static bool is_limited(const struct etwd_subscription *subscription)
{
	return subscription->uid != subscription->session->uid &&
	       !etwd_budget_trusts(subscription->realtime->peers->budget, subscription->uid);
}

/* One user leaves places to others, and all others one to those who are trusted. */
static int check_places(const struct etwd_subscription *wanted)
{
	unsigned each = 0, others = 0;

	if (!is_limited(wanted))
		return 0;
	for (const struct etwd_subscription *at = wanted->realtime->first; at; at = at->next) {
		if (at->session != wanted->session || !is_limited(at))
			continue;
		others++;
		each += at->uid == wanted->uid;
	}
	if (each >= PLACES_EACH)
		return -ETOOMANYREFS;
	return others >= PLACES_OTHERS ? -EUSERS : 0;
}

/* A wish for more memory than the uid may have is a wish for what it may. */
static uint64_t wish_within(const struct etwd_subscription *subscription, uint64_t bytes)
{
	const struct etwd_budget *budget = subscription->realtime->peers->budget;
	uint64_t each = budget->limits[ETWD_DELIVERY_BYTES].each;
	uint64_t used = etwd_budget_used(budget, subscription->uid, ETWD_DELIVERY_BYTES);

	if (etwd_budget_trusts(budget, subscription->uid))
		return bytes;
	return MIN(bytes, each > used ? each - used : 0);
}

/* What it takes is known when it is there. On an error it is gone again. */
static int charge(struct etwd_subscription *subscription, struct etw_session_subscribed *subscribed)
{
	off_t bytes = lseek(subscribed->memory_fd, 0, SEEK_END);
	int r = bytes < 0
			? -errno
			: etwd_budget_take(subscription->realtime->peers->budget, subscription->uid,
					   ETWD_DELIVERY_BYTES, (uint64_t)bytes);

	if (r == 0) {
		subscription->charged_bytes = (uint64_t)bytes;
		return 0;
	}
	etw_session_unsubscribe(subscription->session->engine, subscribed->subscriber);
	free(subscribed->header_buffer);
	close(subscribed->memory_fd);
	return r;
}

/* Takes the subscription on success. */
static int subscribe(struct etwd_subscription *subscription, struct etwd_peer *peer,
		     const struct wire_subscribe *body, uint32_t request)
{
	const struct etw_session_subscribe wanted = {
		.consumer = body->consumer,
		.last_batch = body->last_batch,
		.pieces = body->pieces,
		.memory_bytes = wish_within(subscription, body->memory_bytes),
		.notify = notify,
		.context = subscription,
	};
	struct etwd_session *session = subscription->session;
	struct etwd_realtime *realtime = subscription->realtime;
	struct etw_session_subscribed subscribed;

	TRY(check_places(subscription));
	TRY(etw_session_subscribe(session->engine, &wanted, &subscribed));
	TRY(charge(subscription, &subscribed));
	subscription->subscriber = subscribed.subscriber;
	subscription->next = realtime->first;
	realtime->first = subscription;
	subscription->consumer->subscription = subscription;
	answer_subscribed(peer, session, request, &subscribed);
	free(subscribed.header_buffer);
	close(subscribed.memory_fd);
	return 0;
}

/* A session that is being stopped still takes the consumers of a host that died just before. */
static int find_and_subscribe(struct etwd_realtime *realtime, struct etwd_consumer *consumer,
			      struct etwd_peer *peer, const struct wire_subscribe *body,
			      uint32_t request)
{
	CLEANUP(freep) struct etwd_subscription *subscription = NULL;
	struct etwd_session *session = NULL;
	int r;

	if (consumer->subscription)
		return -EBUSY;
	r = etwd_sessions_find_name_for(realtime->sessions, peer, ETWD_ACT_CONSUME, body->name,
					NULL, &session);
	if (r < 0 && r != -EBUSY)
		return r;
	subscription = calloc(1, sizeof(*subscription));
	if (!subscription)
		return -ENOMEM;
	subscription->realtime = realtime;
	subscription->session = session;
	subscription->consumer = consumer;
	subscription->peer_serial = peer->serial;
	subscription->uid = peer->who.uid;
	r = subscribe(subscription, peer, body, request);
	if (r == -ETOOMANYREFS || r == -EUSERS)
		etwd_peer_refuse(peer, "a session's events", r);
	if (r < 0)
		return r == -ESHUTDOWN ? -ENOENT : r;
	(void)TAKE(subscription);
	return 0;
}

int etwd_realtime_subscribe(struct etwd_realtime *realtime, struct etwd_consumer *consumer,
			    struct etwd_peer *peer, const struct etw_ipc_message *message)
{
	struct wire_subscribe body;
	int r;

	TRY(wire_message_decode_subscribe(message->datagram, &body));
	r = find_and_subscribe(realtime, consumer, peer, &body, message->head.request);
	if (r < 0)
		etwd_peer_answer(peer, WIRE_SUBSCRIBED, message->head.request, r);
	return 0;
}

/* Ends it, wherever it is in the list. */
static void end_subscription(struct etwd_subscription **at)
{
	struct etwd_subscription *subscription = *at;

	*at = subscription->next;
	etwd_budget_give(subscription->realtime->peers->budget, subscription->uid,
			 ETWD_DELIVERY_BYTES, subscription->charged_bytes);
	etw_session_unsubscribe(subscription->session->engine, subscription->subscriber);
	free(subscription);
}

void etwd_realtime_gone(struct etwd_realtime *realtime, struct etwd_consumer *consumer)
{
	struct etwd_subscription *subscription = consumer->subscription;
	struct etwd_subscription **at = &realtime->first;

	if (!subscription)
		return;
	consumer->subscription = NULL;
	subscription->is_abandoned = true;
	/* A session that is being stopped in a job is left alone; its end frees this. */
	if (!etwd_session_is_usable(subscription->session))
		return;
	while (*at != subscription)
		at = &(*at)->next;
	end_subscription(at);
}

void etwd_realtime_session_ended(struct etwd_realtime *realtime, const struct etwd_session *session)
{
	struct etwd_subscription **at = &realtime->first;

	while (*at) {
		if ((*at)->session != session) {
			at = &(*at)->next;
			continue;
		}
		if (!(*at)->is_abandoned)
			(*at)->consumer->subscription = NULL;
		end_subscription(at);
	}
}
