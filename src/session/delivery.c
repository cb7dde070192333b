/* SPDX-License-Identifier: MIT */
/* Real-time consumers of a session; see session/delivery.h. */
#include "session/delivery.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "etl/writer.h"
#include "session/file.h"
#include "session/output.h"
#include "wire/delivery_layout.h"
#include "wire/etl_buffer.h"

#define PAGE_BYTES    4096u
#define SLOT_BATCHES  4 /* so many full batches find room */
#define SLOTS_PER_CPU 4
#define MEMORY_MAX    (256u * 1024 * 1024) /* of one consumer, but for the largest buffers */

struct etw_subscriber {
	uint8_t *memory;
	size_t memory_bytes;
	uint32_t slot_count, slot_bytes, slots_at;
	uint64_t written;   /* slots filled, those of the open batch included */
	uint64_t announced; /* of these, told to the consumer */
	uint64_t released;  /* as far as its word was believed */
	uint64_t lost;
	bool lost_since; /* since the last buffer that it got */
	void (*notify)(void *context, const struct wire_batch *batch, bool is_end);
	void *context;
};

static void free_subscriber(struct etw_subscriber *subscriber)
{
	if (!subscriber)
		return;
	if (subscriber->memory)
		munmap(subscriber->memory, subscriber->memory_bytes);
	free(subscriber);
}

static void free_subscriberp(struct etw_subscriber **subscriber)
{
	free_subscriber(*subscriber);
}

static void close_fdp(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static struct wire_delivery *page_of(const struct etw_subscriber *subscriber)
{
	return (struct wire_delivery *)(void *)subscriber->memory;
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

static int make_memory(const struct etw_session *session, struct etw_subscriber *subscriber,
		       int *ret_fd)
{
	CLEANUP(close_fdp) int fd = memfd_create("etw-delivery", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct wire_delivery *page;
	void *memory;

	if (fd < 0)
		return -ENOMEM;
	subscriber->slots_at = PAGE_BYTES;
	subscriber->slot_bytes = ALIGN_UP(session->plan.buffer_bytes, PAGE_BYTES);
	subscriber->slot_count = choose_slot_count(session);
	subscriber->memory_bytes = subscriber->slots_at +
				   (size_t)subscriber->slot_count * subscriber->slot_bytes;
	if (ftruncate(fd, (off_t)subscriber->memory_bytes) < 0 ||
	    fallocate(fd, 0, 0, (off_t)subscriber->memory_bytes) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -ENOMEM;
	memory = mmap(NULL, subscriber->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	subscriber->memory = memory;
	page = page_of(subscriber);
	page->magic = WIRE_DELIVERY_MAGIC;
	page->version = 1;
	page->slot_count = subscriber->slot_count;
	page->slot_bytes = subscriber->slot_bytes;
	page->slots_at = subscriber->slots_at;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* Holding consumer_lock. */
static int add_subscriber(struct etw_session *session, struct etw_subscriber *subscriber)
{
	if (session->is_stopped)
		return -EINVAL;
	for (uint32_t i = 0; i < ETW_SESSION_SUBSCRIBERS; i++) {
		if (session->subscribers[i])
			continue;
		session->subscribers[i] = subscriber;
		store_relaxed(&session->subscriber_count, session->subscriber_count + 1);
		return 0;
	}
	return -EBUSY;
}

/* Batches that a consumer of the last host was not told of are lost to it. */
static void note_missed(const struct etw_session *session, struct etw_subscriber *subscriber,
			uint64_t last_batch)
{
	uint64_t batch = session->state.head->batch;

	if (last_batch == 0 || last_batch >= batch)
		return;
	subscriber->lost = batch - last_batch;
	subscriber->lost_since = true;
}

int etw_session_subscribe(struct etw_session *session, uint64_t last_batch,
			  void (*notify)(void *context, const struct wire_batch *batch,
					 bool is_end),
			  void *context, struct etw_subscriber **ret, int *ret_memory_fd,
			  uint8_t **ret_header_buffer, uint32_t *ret_header_bytes)
{
	CLEANUP(free_subscriberp) struct etw_subscriber *subscriber = NULL;
	CLEANUP(freep) uint8_t *header = NULL;
	CLEANUP(close_fdp) int fd = -1;
	int result;

	if (!session->plan.is_realtime)
		return -EINVAL;
	subscriber = calloc(1, sizeof(*subscriber));
	header = malloc(session->plan.buffer_bytes);
	if (!subscriber || !header)
		return -ENOMEM;
	TRY(make_memory(session, subscriber, &fd));
	subscriber->notify = notify;
	subscriber->context = context;
	memcpy(header, etw_state_header_buffer(&session->state), session->plan.buffer_bytes);
	pthread_mutex_lock(&session->consumer_lock);
	note_missed(session, subscriber, last_batch);
	result = add_subscriber(session, subscriber);
	pthread_mutex_unlock(&session->consumer_lock);
	if (result < 0)
		return result;
	*ret = TAKE(subscriber);
	*ret_header_buffer = TAKE(header);
	*ret_header_bytes = session->plan.buffer_bytes;
	*ret_memory_fd = fd;
	fd = -1;
	etw_session_kick(session); /* its timer starts */
	return 0;
}

void etw_session_unsubscribe(struct etw_session *session, struct etw_subscriber *subscriber)
{
	if (!subscriber)
		return;
	pthread_mutex_lock(&session->consumer_lock);
	for (uint32_t i = 0; i < ETW_SESSION_SUBSCRIBERS; i++) {
		if (session->subscribers[i] != subscriber)
			continue;
		session->subscribers[i] = NULL;
		store_relaxed(&session->subscriber_count, session->subscriber_count - 1);
		free_subscriber(subscriber);
	}
	pthread_mutex_unlock(&session->consumer_lock);
}

void etw_delivery_free_all(struct etw_session *session)
{
	for (uint32_t i = 0; i < ETW_SESSION_SUBSCRIBERS; i++) {
		free_subscriber(session->subscribers[i]);
		session->subscribers[i] = NULL;
	}
}

/* The consumer's word may be anything: it only ever grows, and never beyond what it was told. */
static bool has_room(struct etw_subscriber *subscriber)
{
	uint64_t released = load_acquire(&page_of(subscriber)->released);

	if (released > subscriber->announced)
		released = subscriber->announced;
	if (released > subscriber->released)
		subscriber->released = released;
	return subscriber->written - subscriber->released < subscriber->slot_count;
}

static uint8_t *slot_at(const struct etw_subscriber *subscriber, uint64_t number)
{
	return subscriber->memory + subscriber->slots_at +
	       (number & (subscriber->slot_count - 1)) * subscriber->slot_bytes;
}

static bool fill_slot(struct etw_session *session, const struct etw_session_output *output,
		      const struct etw_etl_buffer_head *head, struct etw_subscriber *subscriber)
{
	const struct etw_state_record *record = output->record;
	struct etw_etl_buffer_head own = *head;
	uint32_t bytes = record->fill - record->delivered;
	uint8_t *slot;

	if (!has_room(subscriber)) {
		subscriber->lost++;
		subscriber->lost_since = true;
		return false;
	}
	if (subscriber->lost_since)
		own.flags |= WIRE_BUFFER_BUFFER_LOST;
	subscriber->lost_since = false;
	slot = slot_at(subscriber, subscriber->written);
	memcpy(slot + WIRE_BUFFER_HEADER_BYTES, output->buffer + record->delivered, bytes);
	etw_etl_seal_buffer(&own, slot, WIRE_BUFFER_HEADER_BYTES + bytes);
	subscriber->written++;
	session->batch_bytes += bytes;
	return true;
}

/* Holding consumer_lock. */
static void hand_out(struct etw_session *session, struct etw_session_output *output, uint16_t flags)
{
	struct etw_state_head *head = session->state.head;
	struct etw_etl_buffer_head buffer_head = {
		.buffer_bytes = session->plan.buffer_bytes,
		.processor = (uint16_t)output->index,
		.logger_id = (uint16_t)head->session_id,
		.sequence = head->delivery_sequence++,
		.time_raw = etw_session_now(session),
		.flags = flags,
		.is_partial = true,
	};
	bool is_lost = false;

	if (buffer_head.time_raw < output->record->last_time_raw)
		buffer_head.time_raw = output->record->last_time_raw;
	for (uint32_t i = 0; i < ETW_SESSION_SUBSCRIBERS; i++) {
		if (session->subscribers[i] &&
		    !fill_slot(session, output, &buffer_head, session->subscribers[i]))
			is_lost = true;
	}
	head->open_pieces++;
	head->open_events += output->record->piece_events;
	if (is_lost)
		store_relaxed(&head->lost_pieces, head->lost_pieces + 1);
	output->record->delivered = output->record->fill;
	output->record->piece_events = 0;
	output->is_changed = true;
}

void etw_delivery_piece(struct etw_session *session, struct etw_session_output *output,
			uint16_t flags, bool is_sealed)
{
	struct etw_state_head *head = session->state.head;

	if (!session->plan.is_realtime || output->record->delivered == output->record->fill)
		return;
	pthread_mutex_lock(&session->consumer_lock);
	if (session->subscriber_count > 0)
		hand_out(session, output, flags);
	else if (is_sealed && !session->plan.has_file)
		store_relaxed(&head->lost_pieces, head->lost_pieces + 1);
	pthread_mutex_unlock(&session->consumer_lock);
}

static int64_t watermark_of(const struct etw_session *session)
{
	int64_t watermark = session->outputs[0].merged_raw;

	for (uint32_t i = 1; i < session->plan.output_count; i++) {
		if (session->outputs[i].merged_raw < watermark)
			watermark = session->outputs[i].merged_raw;
	}
	return watermark;
}

/* Holding consumer_lock. */
static void announce(struct etw_subscriber *subscriber, uint64_t number, int64_t watermark_raw,
		     bool is_end)
{
	struct wire_batch batch = {
		.batch = number,
		.first_buffer = subscriber->announced,
		.buffer_count = (uint32_t)(subscriber->written - subscriber->announced),
		.watermark_raw = watermark_raw,
		.buffers_lost = subscriber->lost,
	};

	if (batch.buffer_count > 0) {
		struct wire_buffer_header *last = (void *)slot_at(subscriber,
								  subscriber->written - 1);

		last->flags = le16_of((uint16_t)(le16_get(last->flags) | WIRE_BUFFER_FLUSH_MARKER));
	}
	subscriber->announced = subscriber->written;
	/* Pairs with the consumer's load. */
	store_release(&page_of(subscriber)->written, subscriber->written);
	subscriber->notify(subscriber->context, &batch, is_end);
}

void etw_delivery_close_batch(struct etw_session *session, bool is_end)
{
	struct etw_state_head *head = session->state.head;

	if (!session->plan.is_realtime || load_relaxed(&session->subscriber_count) == 0)
		return;
	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		etw_delivery_piece(session, &session->outputs[i], 0, /* is_sealed= */ false);
		if (session->outputs[i].is_changed)
			etw_output_commit(session, &session->outputs[i]);
	}
	SCHED_POINT("session.batch.committed");
	pthread_mutex_lock(&session->consumer_lock);
	store_relaxed(&head->batch, head->batch + 1);
	head->open_pieces = 0;
	head->open_events = 0;
	session->batch_bytes = 0;
	for (uint32_t i = 0; i < ETW_SESSION_SUBSCRIBERS; i++) {
		if (session->subscribers[i])
			announce(session->subscribers[i], head->batch, watermark_of(session),
				 is_end);
	}
	pthread_mutex_unlock(&session->consumer_lock);
}

void etw_delivery_recover(struct etw_session *session)
{
	struct etw_state_head *head = session->state.head;

	head->lost_pieces += head->open_pieces;
	if (!session->plan.has_file)
		store_relaxed(&head->crashed_events, head->crashed_events + head->open_events);
	head->open_pieces = 0;
	head->open_events = 0;
}
