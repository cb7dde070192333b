/* SPDX-License-Identifier: MIT */
/* Consumers' places and memory; see session/subscriber.h. */
#include "session/subscriber.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/patience.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "etl/writer.h"
#include "session/account.h"
#include "session/delivery.h"
#include "wire/delivery_layout.h"

#define MEMORY_NAME   "delivery-%u" /* by its place */
#define PAGE_BYTES    4096u
#define SLOT_BATCHES  4 /* so many full batches find room */
#define SLOTS_PER_CPU 4
#define MEMORY_MAX    (256u * 1024 * 1024) /* of one consumer, but for the largest buffers */
/* A session that is stopped so soon after its host died waits for consumers to come for the rest. */
#define LAST_WAIT_MS  2000
#define LEAST_WAIT_NS UINT64_C(5000000000) /* by each host, for a consumer to come */

static void free_subscriber(struct etw_subscriber *subscriber)
{
	if (!subscriber)
		return;
	if (subscriber->memory)
		munmap(subscriber->memory, subscriber->memory_bytes);
	if (subscriber->fd >= 0)
		close(subscriber->fd);
	free(subscriber);
}

static void free_subscriberp(struct etw_subscriber **subscriber)
{
	free_subscriber(*subscriber);
}

static struct etw_subscriber *new_subscriber(const struct etw_session *session, uint32_t place,
					     uint32_t slot_count)
{
	struct etw_subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (!subscriber)
		return NULL;
	subscriber->fd = -1;
	subscriber->place = place;
	subscriber->slots_at = PAGE_BYTES;
	subscriber->slot_bytes = ALIGN_UP(session->plan.buffer_bytes, PAGE_BYTES);
	subscriber->slot_count = slot_count;
	subscriber->memory_bytes = subscriber->slots_at +
				   (size_t)slot_count * subscriber->slot_bytes;
	return subscriber;
}

static uint32_t choose_slot_count(const struct etw_session *session)
{
	uint32_t wanted = SLOT_BATCHES *
			  (ETW_DELIVERY_BATCH_BYTES / session->plan.buffer_bytes + 1);
	uint32_t least = SLOTS_PER_CPU * session->plan.output_count;
	uint32_t as_rings = session->plan.ring_buffers * session->plan.output_count;
	uint32_t count = 8;

	if (wanted < least)
		wanted = least;
	/* Whoever asked for room for the writers' bursts wants it on the way to the consumer too. */
	if (wanted < as_rings)
		wanted = as_rings;
	while (count < wanted && 2 * (uint64_t)count * session->plan.buffer_bytes <= MEMORY_MAX)
		count *= 2;
	return count;
}

static int map_memory(struct etw_subscriber *subscriber)
{
	void *memory = mmap(NULL, subscriber->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			    subscriber->fd, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	subscriber->memory = memory;
	return 0;
}

static int make_memory(struct etw_subscriber *subscriber)
{
	struct wire_delivery *page;
	int fd = memfd_create("etw-delivery", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -ENOMEM;
	subscriber->fd = fd;
	if (ftruncate(fd, (off_t)subscriber->memory_bytes) < 0 ||
	    fallocate(fd, 0, 0, (off_t)subscriber->memory_bytes) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -ENOMEM;
	TRY(map_memory(subscriber));
	page = etw_subscriber_page(subscriber);
	page->magic = WIRE_DELIVERY_MAGIC;
	page->version = 1;
	page->slot_count = subscriber->slot_count;
	page->slot_bytes = subscriber->slot_bytes;
	page->slots_at = subscriber->slots_at;
	return 0;
}

/* Pieces ever put into memories of this place. Holding consumer_lock. */
static uint64_t written_at(const struct etw_session *session, uint32_t place)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < session->plan.output_count; i++)
		sum += session->outputs[i].record->written[place];
	return sum;
}

/* Holding consumer_lock. */
static void add(struct etw_session *session, struct etw_subscriber *subscriber)
{
	session->subscribers[subscriber->place] = subscriber;
	session->is_place_taken[subscriber->place] = true;
	store_relaxed(&session->subscriber_count, session->subscriber_count + 1);
}

/* The place is free from now on; what its consumers missed stays in the account. */
static void free_place(struct etw_session *session, uint32_t place)
{
	struct etw_state_consumer *entry = &session->state.head->consumers[place];
	char name[ETW_SESSION_NAME_BYTES];

	if (entry->status == ETW_STATE_CONSUMER_LIVE) {
		store_relaxed(&entry->missed, entry->missed_next);
		store_release(&entry->status, (uint32_t)ETW_STATE_CONSUMER_FREE);
	}
	etw_session_name(session, name, MEMORY_NAME, place);
	if (session->host.forget_fd)
		session->host.forget_fd(session->host.context, name);
	session->is_place_taken[place] = false;
}

/* Holding consumer_lock. Takes the subscriber. */
static void drop(struct etw_session *session, struct etw_subscriber *subscriber)
{
	session->subscribers[subscriber->place] = NULL;
	store_relaxed(&session->subscriber_count, session->subscriber_count - 1);
	free_place(session, subscriber->place);
	free_subscriber(subscriber);
}

static int reserve_place(struct etw_session *session, uint32_t *ret)
{
	int result = -EBUSY;

	pthread_mutex_lock(&session->consumer_lock);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS && result < 0; i++) {
		if (session->is_place_taken[i])
			continue;
		session->is_place_taken[i] = true;
		*ret = i;
		result = 0;
	}
	pthread_mutex_unlock(&session->consumer_lock);
	return result;
}

/*
 * Makes the place hold. One that comes back without its memory has lost what was handed out since its last
 * batch. Holding consumer_lock.
 */
static void settle_entry(struct etw_session *session, const struct etw_subscriber *subscriber,
			 const struct etw_session_subscribe *request)
{
	struct etw_state_consumer *entry = &session->state.head->consumers[subscriber->place];

	entry->slot_count = subscriber->slot_count;
	entry->consumer = request->consumer;
	entry->written_base = written_at(session, subscriber->place);
	entry->pieces_was = session->pieces;
	entry->events_was = session->piece_events;
	entry->pieces_base = session->pieces;
	if (request->last_batch != 0 && request->pieces < session->pieces)
		entry->pieces_base = request->pieces;
	entry->flagged = 0;
	entry->awaited_until_ns = 0;
	store_relaxed(&entry->missed_next, entry->missed + session->pieces - entry->pieces_base);
	SCHED_POINT("session.consumer.settled");
	store_release(&entry->status, (uint32_t)ETW_STATE_CONSUMER_LIVE);
	SCHED_POINT("session.consumer.live");
}

/* What the consumer is to know. Holding consumer_lock. */
static void answer(const struct etw_session *session, struct etw_subscriber *subscriber,
		   struct etw_session_subscribed *ret)
{
	const struct etw_state_consumer *entry = &session->state.head->consumers[subscriber->place];

	ret->subscriber = subscriber;
	ret->next_buffer = subscriber->released;
	ret->pieces = entry->pieces_was;
	ret->events = entry->events_was;
}

/* With a new memory, at a place that is reserved for it. */
static int add_new(struct etw_session *session, const struct etw_session_subscribe *request,
		   uint32_t place, struct etw_session_subscribed *ret)
{
	CLEANUP(free_subscriberp)
	struct etw_subscriber *subscriber = new_subscriber(session, place,
							   choose_slot_count(session));
	char name[ETW_SESSION_NAME_BYTES];
	int result = -ESHUTDOWN;

	if (!subscriber)
		return -ENOMEM;
	TRY(make_memory(subscriber));
	subscriber->notify = request->notify;
	subscriber->context = request->context;
	etw_session_name(session, name, MEMORY_NAME, place);
	/* Where it is not kept, what a host that dies leaves in it counts as lost. */
	if (session->host.keep_fd)
		(void)session->host.keep_fd(session->host.context, name, subscriber->fd);
	pthread_mutex_lock(&session->consumer_lock);
	if (!session->is_over) {
		settle_entry(session, subscriber, request);
		add(session, subscriber);
		answer(session, TAKE(subscriber), ret);
		result = 0;
	}
	pthread_mutex_unlock(&session->consumer_lock);
	return result;
}

/* Holding consumer_lock. */
static struct etw_subscriber *find(const struct etw_session *session, uint64_t consumer)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		if (consumer != 0 && session->subscribers[i] &&
		    session->state.head->consumers[i].consumer == consumer)
			return session->subscribers[i];
	}
	return NULL;
}

/*
 * Gives a consumer of the last host its memory back: it goes on behind what it has given back. Returns
 * -ENOENT when there is none of it.
 */
static int claim(struct etw_session *session, const struct etw_session_subscribe *request,
		 struct etw_session_subscribed *ret)
{
	struct etw_subscriber *subscriber;
	int result = 0;

	pthread_mutex_lock(&session->consumer_lock);
	subscriber = find(session, request->consumer);
	if (session->is_over) {
		result = -ESHUTDOWN;
	} else if (!subscriber) {
		result = -ENOENT;
	} else if (subscriber->awaited_until_ns == 0) {
		result = -EBUSY;
	} else {
		(void)etw_subscriber_has_room(subscriber);
		subscriber->announced = subscriber->released;
		subscriber->awaited_until_ns = 0;
		session->state.head->consumers[subscriber->place].awaited_until_ns = 0;
		subscriber->notify = request->notify;
		subscriber->context = request->context;
		answer(session, subscriber, ret);
	}
	pthread_mutex_unlock(&session->consumer_lock);
	return result;
}

/* A copy of the header buffer, with what was lost so far. */
static int copy_header(struct etw_session *session, uint8_t **ret)
{
	const struct etw_state_head *head = session->state.head;
	uint8_t *header = malloc(session->plan.buffer_bytes);
	uint64_t buffers = load_relaxed(&head->file_next_offset) / session->plan.buffer_bytes;
	struct wire_session_loss loss;
	uint64_t lost;

	if (!header)
		return -ENOMEM;
	memcpy(header, etw_state_header_buffer(&session->state), session->plan.buffer_bytes);
	etw_account_loss(session, &loss);
	lost = etw_account_lost_on_the_way(&loss);
	(void)etw_etl_rewrite_header_buffer(header, session->plan.buffer_bytes, 0,
					    buffers > 0 ? (uint32_t)buffers : 1,
					    lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX, 0);
	*ret = header;
	return 0;
}

static int find_or_add(struct etw_session *session, const struct etw_session_subscribe *request,
		       struct etw_session_subscribed *ret)
{
	uint32_t place;
	int result = claim(session, request, ret);

	if (result != -ENOENT)
		return result;
	TRY(reserve_place(session, &place));
	result = add_new(session, request, place, ret);
	if (result < 0) {
		pthread_mutex_lock(&session->consumer_lock);
		free_place(session, place);
		pthread_mutex_unlock(&session->consumer_lock);
	}
	return result;
}

int etw_session_subscribe(struct etw_session *session, const struct etw_session_subscribe *request,
			  struct etw_session_subscribed *ret)
{
	CLEANUP(freep) uint8_t *header = NULL;
	struct etw_session_subscribed subscribed = {0};

	if (!session->plan.is_realtime)
		return -EINVAL;
	TRY(copy_header(session, &header));
	TRY(find_or_add(session, request, &subscribed));
	subscribed.memory_fd = fcntl(subscribed.subscriber->fd, F_DUPFD_CLOEXEC, 0);
	if (subscribed.memory_fd < 0) {
		etw_session_unsubscribe(session, subscribed.subscriber);
		return -ENOMEM;
	}
	subscribed.header_buffer = TAKE(header);
	subscribed.header_bytes = session->plan.buffer_bytes;
	*ret = subscribed;
	etw_session_kick(session); /* its timer starts */
	return 0;
}

void etw_session_unsubscribe(struct etw_session *session, struct etw_subscriber *subscriber)
{
	if (!subscriber)
		return;
	pthread_mutex_lock(&session->consumer_lock);
	drop(session, subscriber);
	pthread_mutex_unlock(&session->consumer_lock);
}

/* The consumer's word may be anything: it only ever grows, and never beyond what it was told. */
bool etw_subscriber_has_room(struct etw_subscriber *subscriber)
{
	uint64_t released = load_acquire(&etw_subscriber_page(subscriber)->released);

	if (released > subscriber->announced)
		released = subscriber->announced;
	if (released > subscriber->released)
		subscriber->released = released;
	return subscriber->written - subscriber->released < subscriber->slot_count;
}

uint8_t *etw_subscriber_slot(const struct etw_subscriber *subscriber, uint64_t number)
{
	return subscriber->memory + subscriber->slots_at +
	       (number & (subscriber->slot_count - 1)) * subscriber->slot_bytes;
}

uint64_t etw_subscriber_lost(const struct etw_session *session,
			     const struct etw_subscriber *subscriber)
{
	const struct etw_state_consumer *entry = &session->state.head->consumers[subscriber->place];

	return session->pieces - entry->pieces_base - subscriber->written;
}

/* Takes the descriptor. NULL: the memory cannot be had, or is another one. */
static struct etw_subscriber *adopt(struct etw_session *session, uint32_t place, int fd)
{
	CLEANUP(free_subscriberp) struct etw_subscriber *subscriber = NULL;
	struct etw_state_consumer *entry = &session->state.head->consumers[place];
	struct stat stat;

	subscriber = new_subscriber(session, place, entry->slot_count);
	if (!subscriber) {
		close(fd);
		return NULL;
	}
	subscriber->fd = fd;
	if (fstat(fd, &stat) < 0 || (uint64_t)stat.st_size != subscriber->memory_bytes ||
	    map_memory(subscriber) < 0)
		return NULL;
	subscriber->written = written_at(session, place) - entry->written_base;
	subscriber->announced = subscriber->written;
	/* Whatever the page says, no more than the slots can be unread. */
	if (subscriber->written > subscriber->slot_count)
		subscriber->released = subscriber->written - subscriber->slot_count;
	(void)etw_subscriber_has_room(subscriber);
	subscriber->flagged = entry->flagged;
	/* However many hosts die meanwhile; but this one may have been started long after the last. */
	if (entry->awaited_until_ns == 0)
		entry->awaited_until_ns = session->adopted_ns + ETW_SUBSCRIBER_WAIT_NS;
	if (entry->awaited_until_ns < session->adopted_ns + LEAST_WAIT_NS)
		entry->awaited_until_ns = session->adopted_ns + LEAST_WAIT_NS;
	subscriber->awaited_until_ns = entry->awaited_until_ns;
	subscriber->patience = etw_patience_begin(
		(subscriber->awaited_until_ns - session->adopted_ns) / ETW_NS_PER_MS,
		session->adopted_ns);
	return TAKE(subscriber);
}

void etw_subscribers_adopt(struct etw_session *session)
{
	session->adopted_ns = etw_monotonic_ns();
	session->last_wait = etw_patience_begin(LAST_WAIT_MS, session->adopted_ns);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		bool is_live = session->state.head->consumers[i].status == ETW_STATE_CONSUMER_LIVE;
		struct etw_subscriber *subscriber = NULL;
		char name[ETW_SESSION_NAME_BYTES];
		int fd = -ENOENT;

		etw_session_name(session, name, MEMORY_NAME, i);
		if (session->host.kept_fd)
			fd = session->host.kept_fd(session->host.context, name);
		if (fd >= 0 && is_live)
			subscriber = adopt(session, i, fd);
		else if (fd >= 0)
			close(fd);
		if (subscriber)
			add(session, subscriber);
		else if (fd >= 0 || is_live)
			free_place(session, i);
	}
}

void etw_subscribers_expire(struct etw_session *session, uint64_t now_ns)
{
	if (session->adopted_ns != 0)
		(void)etw_patience_look(&session->last_wait, now_ns);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = session->subscribers[i];

		if (subscriber && subscriber->awaited_until_ns != 0 &&
		    etw_patience_look(&subscriber->patience, now_ns))
			drop(session, subscriber);
	}
}

bool etw_subscribers_are_awaited(struct etw_session *session, uint64_t now_ns)
{
	bool result = false;

	if (session->adopted_ns == 0 || etw_patience_look(&session->last_wait, now_ns))
		return false;
	pthread_mutex_lock(&session->consumer_lock);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++)
		result |= session->subscribers[i] && session->subscribers[i]->awaited_until_ns != 0;
	pthread_mutex_unlock(&session->consumer_lock);
	return result;
}

void etw_subscribers_abandon(struct etw_session *session)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = session->subscribers[i];
		struct etw_state_consumer *entry = &session->state.head->consumers[i];

		if (!subscriber || subscriber->awaited_until_ns == 0)
			continue;
		(void)etw_subscriber_has_room(subscriber);
		store_relaxed(&entry->missed_next,
			      entry->missed_next + subscriber->written - subscriber->released);
		drop(session, subscriber);
	}
}

void etw_subscribers_free_all(struct etw_session *session)
{
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		free_subscriber(session->subscribers[i]);
		session->subscribers[i] = NULL;
	}
}
