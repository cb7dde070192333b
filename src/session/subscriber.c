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
#define SLOT_BATCHES  4 /* so many full batches find room */
#define SLOTS_PER_CPU 4
#define MEMORY_MAX    (256u * 1024 * 1024) /* of one consumer, but for the largest buffers */

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
					     uint32_t slot_count)
{
	struct etw_subscriber *subscriber = calloc(1, sizeof(*subscriber));

	if (!subscriber)
		return NULL;
	subscriber->fd = -1;
	subscriber->place = place;
	subscriber->slots_at = PAGE_BYTES;
	subscriber->slot_bytes = ALIGN_UP(plan->buffer_bytes, PAGE_BYTES);
	subscriber->slot_count = slot_count;
	subscriber->memory_bytes = subscriber->slots_at +
				   (size_t)slot_count * subscriber->slot_bytes;
	return subscriber;
}

/* @asked_bytes: of a consumer that wants so much, where it is more than the session's own buffers; 0: no wish */
static uint32_t choose_slot_count(const struct etw_session_plan *plan, uint64_t asked_bytes)
{
	uint32_t wanted = SLOT_BATCHES * (ETW_SUBSCRIBER_BATCH_BYTES / plan->buffer_bytes + 1);
	uint32_t least = SLOTS_PER_CPU * plan->output_count;
	uint32_t as_rings = load_relaxed(&plan->ring_buffers) * plan->output_count;
	uint32_t count = 8;

	if (asked_bytes > MEMORY_MAX)
		asked_bytes = MEMORY_MAX;
	if (asked_bytes)
		wanted = (uint32_t)(asked_bytes / plan->buffer_bytes);
	if (wanted < least)
		wanted = least;
	/* Whoever asked for room for the writers' bursts wants it on the way to the consumer too. */
	if (wanted < as_rings)
		wanted = as_rings;
	while (count < wanted && 2 * (uint64_t)count * plan->buffer_bytes <= MEMORY_MAX)
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
	    fallocate(fd, 0, 0, subscriber->slots_at) < 0 ||
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

int etw_subscriber_create(const struct etw_session_plan *plan, uint32_t place, uint64_t bytes,
			  struct etw_subscriber **ret)
{
	CLEANUP(free_subscriberp)
	struct etw_subscriber *subscriber = new_subscriber(plan, place,
							   choose_slot_count(plan, bytes));

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

struct etw_subscriber *etw_subscriber_adopt(const struct etw_session_plan *plan, uint32_t place,
					    uint32_t slot_count, int fd, uint64_t written)
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
	subscriber->written = written;
	subscriber->announced = written;
	/* Whatever the page says, no more than the slots can be unread. */
	if (written > subscriber->slot_count)
		subscriber->released = written - subscriber->slot_count;
	(void)etw_subscriber_has_room(subscriber);
	return TAKE(subscriber);
}
