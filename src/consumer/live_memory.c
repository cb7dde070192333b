/* SPDX-License-Identifier: MIT */
/* A consumer's delivery memory; see consumer/live_memory.h. */
#include "consumer/live_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "wire/etl_buffer.h"

#define SLOTS_MAX  (1u << 20)
#define SLOT_ALIGN 4096

/* Whether the layout leads nowhere outside @bytes. */
static bool is_sound(const struct wire_delivery *layout, uint64_t bytes)
{
	uint64_t count = layout->slot_count, slot = layout->slot_bytes;

	return layout->magic == WIRE_DELIVERY_MAGIC && layout->version == WIRE_DELIVERY_VERSION &&
	       count && count <= SLOTS_MAX && slot && slot % SLOT_ALIGN == 0 &&
	       slot <= WIRE_BUFFER_BYTES_MAX && layout->buffer_slots &&
	       layout->buffer_slots <= count && layout->slots_at >= sizeof(*layout) &&
	       layout->slots_at + count * slot <= bytes;
}

static int map(struct etw_live_memory *memory, int fd)
{
	struct stat status;
	void *at;

	if (fd < 0)
		return -EPROTO;
	if (fstat(fd, &status))
		return -errno;
	if (status.st_size < (off_t)sizeof(*memory->page))
		return -EPROTO;
	memory->bytes = (size_t)status.st_size;
	memory->device = status.st_dev;
	memory->inode = status.st_ino;
	at = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	memory->page = at;
	memcpy(&memory->layout, at, sizeof(memory->layout));
	return is_sound(&memory->layout, memory->bytes) ? 0 : -EPROTO;
}

int etw_live_memory_map(int fd, uint64_t from, uint32_t number, struct etw_live_memory **ret)
{
	struct etw_live_memory *memory = calloc(1, sizeof(*memory));
	int result;

	if (!memory)
		return -ENOMEM;
	result = map(memory, fd);
	if (result) {
		etw_live_memory_free(memory);
		return result;
	}
	memory->next = memory->taken = from;
	memory->taken_pieces = load_relaxed(&memory->page->taken_pieces);
	memory->first = number;
	*ret = memory;
	return 0;
}

void etw_live_memory_free(struct etw_live_memory *memory)
{
	while (memory) {
		struct etw_live_memory *older = memory->older;

		if (memory->page)
			(void)munmap(memory->page, memory->bytes);
		free(memory->pieces);
		free(memory);
		memory = older;
	}
}

bool etw_live_memory_is(const struct etw_live_memory *memory, int fd)
{
	struct stat status;

	return !fstat(fd, &status) && status.st_dev == memory->device &&
	       status.st_ino == memory->inode;
}

static struct etw_live_held *piece_at(const struct etw_live_memory *memory, uint32_t number)
{
	return &memory->pieces[number & (memory->room - 1)];
}

static int reserve(struct etw_live_memory *memory)
{
	struct etw_live_memory grown = *memory;

	if (memory->count < memory->room)
		return 0;
	grown.room = memory->room ? 2 * memory->room : 64;
	grown.pieces = malloc(grown.room * sizeof(*grown.pieces));
	if (!grown.pieces)
		return -ENOMEM;
	for (uint32_t i = 0; i < memory->count; i++)
		*piece_at(&grown, memory->first + i) = *piece_at(memory, memory->first + i);
	free(memory->pieces);
	*memory = grown;
	return 0;
}

int etw_live_memory_take(struct etw_live_memory *memory, uint64_t end, const uint8_t **ret,
			 uint32_t *ret_bytes)
{
	const struct wire_delivery *layout = &memory->layout;
	uint64_t from = wire_delivery_begin(memory->next, layout->slot_count, layout->buffer_slots);
	uint64_t buffer_bytes = (uint64_t)layout->buffer_slots * layout->slot_bytes;
	const struct wire_buffer_header *header;
	uint32_t bytes;

	*ret = NULL;
	if (from >= end)
		return 0;
	header = (const void *)((const uint8_t *)memory->page + layout->slots_at +
				from % layout->slot_count * layout->slot_bytes);
	bytes = le32_get(header->valid_bytes);
	if (bytes < sizeof(*header) || bytes > buffer_bytes)
		return 0;
	TRY(reserve(memory));
	*piece_at(memory, memory->first + memory->count++) =
		(struct etw_live_held){.from = memory->next, .is_held = true};
	memory->next = from + ALIGN_UP(bytes, layout->slot_bytes) / layout->slot_bytes;
	*ret = (const uint8_t *)header;
	*ret_bytes = bytes;
	return 0;
}

/* Where the first piece that is held begins, everything before it is free. */
static uint64_t free_until(const struct etw_live_memory *memory)
{
	return memory->count ? piece_at(memory, memory->first)->from : memory->taken;
}

/* Within a batch nothing is said: what the batch has is taken as a whole. */
static void publish(struct etw_live_memory *memory)
{
	if (memory->next != memory->taken)
		return;
	store_relaxed(&memory->page->released_pieces, memory->taken_pieces - memory->count);
	/* Pairs with the host's load before it writes a slot again. */
	store_release(&memory->page->released, free_until(memory));
}

void etw_live_memory_end_batch(struct etw_live_memory *memory, uint64_t end, uint32_t pieces)
{
	memory->next = memory->taken = end;
	memory->taken_pieces += pieces;
	store_relaxed(&memory->page->taken_pieces, memory->taken_pieces);
	store_release(&memory->page->taken, end);
	publish(memory);
}

void etw_live_memory_give_back(struct etw_live_memory *memory, uint32_t number)
{
	if (number - memory->first >= memory->count)
		return;
	piece_at(memory, number)->is_held = false;
	if (number != memory->first)
		return;
	while (memory->count && !piece_at(memory, memory->first)->is_held) {
		memory->first++;
		memory->count--;
	}
	publish(memory);
}

bool etw_live_memory_is_scarce(const struct etw_live_memory *memory)
{
	return 2 * (memory->taken - free_until(memory)) > memory->layout.slot_count;
}
