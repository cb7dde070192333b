/* SPDX-License-Identifier: MIT */
/*
 * A slot is 0 while nothing is known of its buffer, or a pointer to what is kept in memory, or, of a sound buffer that
 * found no room there, the number of its events with two flags. Eight bytes a buffer are what a large file costs.
 */
#include "etl/kept.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define FIRST_SLOTS 64

#define EASY_RATIO 16 /* what shrank more is decompressed faster than the memory for it is had */

#define SLOT_SOUND        1u /* no pointer: loading the buffer found nothing to tell of */
#define SLOT_NEEDS_PLACES 2u /* its events do not follow each other in order of time */
#define SLOT_COUNT_SHIFT  2u
static_assert(WIRE_BUFFER_BYTES_MAX < UINT32_MAX >> SLOT_COUNT_SHIFT, "so are the events in it");

struct held {
	struct etw_etl_block block;
	bool is_taken;                 /* the block's memory is somebody else's */
	struct etw_findings *findings; /* owned; NULL: none */
};

static void free_held(struct held *held)
{
	if (!held->is_taken)
		etw_etl_block_done(&held->block);
	free(held->findings);
	free(held);
}

static uintptr_t slot_of(const struct etw_etl_kept *kept, uint32_t number)
{
	return number < kept->room ? kept->slots[number] : 0;
}

/* What is held in memory of a buffer, or NULL. */
static struct held *held_of(const struct etw_etl_kept *kept, uint32_t number)
{
	uintptr_t slot = slot_of(kept, number);

	return slot & SLOT_SOUND ? NULL : (struct held *)slot;
}

void etw_etl_kept_done(struct etw_etl_kept *kept)
{
	for (size_t i = 0; i < kept->room; i++) {
		struct held *held = held_of(kept, (uint32_t)i);

		if (held)
			free_held(held);
	}
	free(kept->slots);
	*kept = (struct etw_etl_kept){0};
}

int etw_etl_kept_load(struct etw_etl_kept *kept, const struct etw_etl_file *file,
		      const struct etw_etl_buffer *buffer, struct etw_etl_block *own,
		      struct etw_findings *findings, const struct etw_etl_block **ret)
{
	const struct held *held = held_of(kept, buffer->number);
	uintptr_t slot = slot_of(kept, buffer->number);

	if (held && !held->is_taken) {
		if (held->findings && findings)
			etw_findings_append(findings, held->findings);
		*ret = &held->block;
		return 0;
	}
	*ret = own;
	if (slot & SLOT_SOUND) {
		kept->fetched++;
		return etw_etl_block_fetch(file, buffer, (uint32_t)(slot >> SLOT_COUNT_SHIFT),
					   slot & SLOT_NEEDS_PLACES, own);
	}
	kept->loaded += etw_etl_buffer_holds_events(buffer);
	return etw_etl_block_load(file, buffer, own, findings);
}

/* Makes sure that there is a slot for a buffer. Returns false without memory for it. */
static bool make_slot(struct etw_etl_kept *kept, uint32_t number)
{
	size_t room = kept->room ? kept->room : FIRST_SLOTS;
	uintptr_t *grown;

	if (number < kept->room)
		return true;
	while (room <= number)
		room *= 2;
	grown = reallocarray(kept->slots, room, sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + kept->room, 0, (room - kept->room) * sizeof(*grown));
	kept->bytes += (room - kept->room) * sizeof(*grown);
	kept->slots = grown;
	kept->room = room;
	return true;
}

/* Bytes of the memory that the events lie in, and of their places. */
static size_t memory_of(const struct etw_etl_block *block)
{
	size_t bytes = block->is_stepped ? 0 : block->places_room * sizeof(*block->places);

	if (!block->events)
		return bytes;
	return bytes +
	       (block->events == block->unpacked ? block->unpacked_room : block->memory_room);
}

/* Moves that memory; what was only needed on the way there stays for the next load. */
static void move_memory(struct etw_etl_block *from, struct etw_etl_block *to)
{
	*to = *from;
	to->memory = to->unpacked = NULL;
	to->places = NULL;
	to->memory_room = to->unpacked_room = to->places_room = 0;
	if (from->events && from->events == from->unpacked) {
		to->unpacked = TAKE(from->unpacked);
		to->unpacked_room = from->unpacked_room;
		from->unpacked_room = 0;
	} else if (from->events) {
		to->memory = TAKE(from->memory);
		to->memory_room = from->memory_room;
		from->memory_room = 0;
	}
	if (!from->is_stepped) {
		to->places = TAKE(from->places);
		to->places_room = from->places_room;
		from->places_room = 0;
	}
}

/* Whether to fetch the block again is about as much work as to have it in memory. */
static bool is_cheap(const struct etw_etl_block *block)
{
	if (!block->is_stepped)
		return false;
	return !block->events || block->events != block->unpacked ||
	       block->buffer.stride < block->event_bytes / EASY_RATIO;
}

/* Takes a block that was just loaded, with its memory. Returns NULL where it cannot be held. */
static struct held *hold(struct etw_etl_kept *kept, struct etw_etl_block *block,
			 const struct etw_findings *findings)
{
	bool is_sound = etw_findings_is_sound(findings);
	size_t bytes = sizeof(struct held) + memory_of(block) + (is_sound ? 0 : sizeof(*findings));
	CLEANUP(freep) struct held *held = NULL;

	if (kept->bytes > kept->limit_bytes || bytes > kept->limit_bytes - kept->bytes)
		return NULL;
	held = calloc(1, sizeof(*held));
	if (!held)
		return NULL;
	if (!is_sound) {
		held->findings = malloc(sizeof(*findings));
		if (!held->findings)
			return NULL;
		*held->findings = *findings;
	}
	move_memory(block, &held->block);
	kept->bytes += bytes;
	return TAKE(held);
}

int etw_etl_kept_first(struct etw_etl_kept *kept, const struct etw_etl_file *file,
		       const struct etw_etl_buffer *buffer, struct etw_etl_block *own,
		       struct etw_findings *findings, const struct etw_etl_block **ret)
{
	struct etw_findings found = {0};
	struct held *held;

	if (!kept->is_wanted || slot_of(kept, buffer->number) || !make_slot(kept, buffer->number))
		return etw_etl_kept_load(kept, file, buffer, own, findings, ret);
	TRY(etw_etl_kept_load(kept, file, buffer, own, &found, ret));
	if (findings)
		etw_findings_append(findings, &found);
	if (etw_findings_is_sound(&found) && is_cheap(own))
		held = NULL;
	else
		held = hold(kept, own, &found);
	if (held) {
		kept->slots[buffer->number] = (uintptr_t)held;
		*ret = &held->block;
		return 0;
	}
	/* What loading a damaged buffer found is not kept, so that it has to be loaded again. */
	if (etw_findings_is_sound(&found))
		kept->slots[buffer->number] = (uintptr_t)own->count << SLOT_COUNT_SHIFT |
					      (own->is_stepped ? 0 : SLOT_NEEDS_PLACES) |
					      SLOT_SOUND;
	return 0;
}

void etw_etl_kept_take(struct etw_etl_kept *kept, const struct etw_etl_block *block,
		       struct etw_etl_block *ret)
{
	struct held *held = held_of(kept, block->buffer.number);

	*ret = *block;
	held->is_taken = true;
	kept->bytes -= memory_of(block);
}
