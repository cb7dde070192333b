/* SPDX-License-Identifier: MIT */
/* Consumers' memory; see session/subscriber.h. */
#include "session/subscriber.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"

#define PAGE_BYTES    4096u
#define EXTRA_BYTES   (2u * 1024 * 1024) /* beside what the rings' size makes, for small sessions */
#define EXTRA_PART    5                  /* of what the rings take, beside it */
#define MEMORY_MAX    (256u * 1024 * 1024) /* of one consumer, but for the largest buffers */
#define BUFFERS_LEAST 4
#define BATCHES       8 /* so many find room */

void etw_subscriber_free(struct etw_subscriber *subscriber)
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
	etw_subscriber_free(*subscriber);
}

static struct etw_subscriber *new_subscriber(const struct etw_session_plan *plan, uint32_t place,
					     uint64_t slot_count)
{
	struct etw_subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (!subscriber)
		return NULL;
	subscriber->fd = -1;
	subscriber->place = place;
	subscriber->slots_at = PAGE_BYTES;
	subscriber->slot_bytes = PAGE_BYTES;
	subscriber->slot_count = (uint32_t)slot_count;
	subscriber->buffer_slots = ALIGN_UP(plan->buffer_bytes, PAGE_BYTES) / PAGE_BYTES;
	subscriber->memory_bytes = subscriber->slots_at +
				   (size_t)slot_count * subscriber->slot_bytes;
	return subscriber;
}

/*
 * Whoever asked for room for the writers' bursts wants it on the way to the consumer too: as much as the rings have, and
 * a fifth more, as a piece does not begin everywhere and what is being read is not free yet.
 *
 * @asked_bytes: of a consumer that wants so much, where it is more than the rings have; 0: no wish
 */
static uint64_t choose_bytes(const struct etw_session_plan *plan, uint64_t asked_bytes)
{
	uint64_t ring_bytes = (uint64_t)load_relaxed(&plan->ring_buffers) * plan->output_count *
			      plan->buffer_bytes;
	uint64_t least = (uint64_t)BUFFERS_LEAST * plan->buffer_bytes;
	uint64_t wanted = asked_bytes;

	if (!asked_bytes)
		wanted = ring_bytes + ring_bytes / EXTRA_PART + EXTRA_BYTES;
	else if (wanted < ring_bytes)
		wanted = ring_bytes;
	if (wanted > MEMORY_MAX)
		wanted = MEMORY_MAX;
	return wanted < least ? least : wanted;
}

uint64_t etw_subscriber_batch_bytes(const struct etw_session_plan *plan)
{
	uint64_t part = choose_bytes(plan, 0) / BATCHES;

	return part < ETW_SUBSCRIBER_BATCH_BYTES_MAX ? part : ETW_SUBSCRIBER_BATCH_BYTES_MAX;
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
	    fallocate(fd, 0, 0, subscriber->slots_at) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -ENOMEM;
	TRY(map_memory(subscriber));
	page = etw_subscriber_page(subscriber);
	page->magic = WIRE_DELIVERY_MAGIC;
	page->version = WIRE_DELIVERY_VERSION;
	page->buffer_slots = subscriber->buffer_slots;
	page->slot_count = subscriber->slot_count;
	page->slot_bytes = subscriber->slot_bytes;
	page->slots_at = subscriber->slots_at;
	return 0;
}

int etw_subscriber_create(const struct etw_session_plan *plan, uint32_t place, uint64_t bytes,
			  struct etw_subscriber **ret)
{
	CLEANUP(free_subscriberp)
	struct etw_subscriber *subscriber = new_subscriber(
		plan, place, ALIGN_UP(choose_bytes(plan, bytes), PAGE_BYTES) / PAGE_BYTES);

	if (!subscriber)
		return -ENOMEM;
	TRY(make_memory(subscriber));
	*ret = TAKE(subscriber);
	return 0;
}

/* A store where there is no memory would end the host. */
int etw_subscriber_grow(struct etw_subscriber *subscriber, uint32_t slots)
{
	off_t at = subscriber->slots_at + (off_t)subscriber->grown * subscriber->slot_bytes;

	if (slots <= subscriber->grown)
		return 0;
	if (fallocate(subscriber->fd, 0, at,
		      (off_t)(slots - subscriber->grown) * subscriber->slot_bytes) < 0)
		return -ENOMEM;
	subscriber->grown = slots;
	return 0;
}

/* The consumer's word may be anything: it only ever grows, and never beyond what there is. */
static void believe(uint64_t *value, const uint64_t *word, uint64_t limit)
{
	uint64_t said = load_acquire(word);

	if (said > limit)
		said = limit;
	if (said > *value)
		*value = said;
}

void etw_subscriber_look(struct etw_subscriber *subscriber)
{
	const struct wire_delivery *page = etw_subscriber_page(subscriber);

	believe(&subscriber->released.slots, &page->released, subscriber->announced.slots);
	believe(&subscriber->released.pieces, &page->released_pieces, subscriber->announced.pieces);
}

void etw_subscriber_rewind(struct etw_subscriber *subscriber)
{
	const struct wire_delivery *page = etw_subscriber_page(subscriber);

	etw_subscriber_look(subscriber);
	subscriber->announced = subscriber->released;
	believe(&subscriber->announced.slots, &page->taken, subscriber->written.slots);
	believe(&subscriber->announced.pieces, &page->taken_pieces, subscriber->written.pieces);
}

static uint8_t *slot_at(const struct etw_subscriber *subscriber, uint64_t number)
{
	return subscriber->memory + subscriber->slots_at +
	       number % subscriber->slot_count * subscriber->slot_bytes;
}

uint8_t *etw_subscriber_reserve(struct etw_subscriber *subscriber, uint32_t bytes,
				uint32_t *ret_slots)
{
	uint64_t from = wire_delivery_begin(subscriber->written.slots, subscriber->slot_count,
					    subscriber->buffer_slots);
	uint64_t to = from + ALIGN_UP(bytes, PAGE_BYTES) / PAGE_BYTES;

	etw_subscriber_look(subscriber);
	if (to - subscriber->released.slots > subscriber->slot_count)
		return NULL;
	/* What is kept for the next consumer grows by what there is; it is never given back, so it does not begin anew. */
	if (UNLIKELY(subscriber->grown < subscriber->slot_count) &&
	    etw_subscriber_grow(subscriber, (uint32_t)to) < 0)
		return NULL;
	*ret_slots = (uint32_t)(to - subscriber->written.slots);
	store_relaxed(&etw_subscriber_page(subscriber)->last, from);
	return slot_at(subscriber, from);
}

/* Whatever the page says, it is a slot. */
uint8_t *etw_subscriber_last(const struct etw_subscriber *subscriber)
{
	return slot_at(subscriber, load_relaxed(&etw_subscriber_page(subscriber)->last));
}

struct etw_subscriber *etw_subscriber_adopt(const struct etw_session_plan *plan, uint32_t place,
					    uint32_t slot_count, int fd,
					    const struct etw_delivered *written)
{
	CLEANUP(free_subscriberp)
	struct etw_subscriber *subscriber = new_subscriber(plan, place, slot_count);
	struct stat stat;

	if (!subscriber) {
		close(fd);
		return NULL;
	}
	subscriber->fd = fd;
	if (fstat(fd, &stat) < 0 || (uint64_t)stat.st_size != subscriber->memory_bytes ||
	    map_memory(subscriber) < 0)
		return NULL;
	subscriber->grown = slot_count;
	subscriber->written = *written;
	subscriber->announced = *written;
	/* Whatever the page says, no more than the slots can be unread. */
	if (written->slots > subscriber->slot_count)
		subscriber->released.slots = written->slots - subscriber->slot_count;
	if (written->pieces > subscriber->slot_count)
		subscriber->released.pieces = written->pieces - subscriber->slot_count;
	etw_subscriber_look(subscriber);
	return TAKE(subscriber);
}
