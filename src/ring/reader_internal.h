/* SPDX-License-Identifier: MIT */
/*
 * The reader of a ring, shared between its two halves: reader.c goes over the places, reader_buffers.c
 * moves buffers between the queue, the quarantine and the free ones.
 *
 * Slots are counted from the ring's start and never wrap here:
 *
 *	released <= slot (the cursor) <= open_slot < queued
 *
 * All offsets here are in units of 8 bytes.
 */
#ifndef ETW_RING_READER_INTERNAL_H
#define ETW_RING_READER_INTERNAL_H

#include "base/atomic.h"
#include "ring/reader.h"
#include "ring/slot.h"

/* A closed slot that waits to be released; by slot modulo slot_count. */
struct etw_ring_reader_slot {
	uint32_t end;
	uint32_t seen; /* events that left it, and its gaps */
	bool has_gaps; /* some place was empty when the cursor passed it */
};

/* Enough for the age of a gap in steps of an eighth of it. */
#define ETW_RING_GAP_LOOKS 10

/* Taken while the cursor stood at a gap: what is empty before slot, at was reserved by then. */
struct etw_ring_reader_gap_look {
	uint64_t ns;
	uint64_t slot;
	uint32_t at;
};

/* A quarantined buffer; by buffer. Everything before `at` is committed. */
struct etw_ring_reader_quarantine {
	uint32_t at;
	uint32_t found;
};

struct etw_ring_reader {
	const struct etw_ring_set *set;
	struct etw_ring_durable *durable;
	uint8_t *ring;
	uint32_t units; /* of a buffer */
	bool is_broken;

	/* The cursor. */
	uint64_t slot;
	uint32_t at;
	uint32_t seen; /* as in etw_ring_reader_slot, of the cursor's slot up to `at` */
	bool has_gaps;
	uint32_t peeked; /* size of the event that was peeked at; 0: none */

	/* What the last look found. */
	uint64_t open_slot;
	uint32_t open_at;    /* the word's offset: what is reserved in the open slot */
	uint32_t open_limit; /* how far the open slot may be read */
	uint32_t refreshed;  /* the generation when ends[] were last brought near it */
	bool is_final;       /* the set was retired before: the word does not move any more */

	/* The gap, and the looks at what lies behind it, the oldest first. */
	bool is_at_gap, wants_switch;
	uint64_t gap_ns;
	uint32_t gap_look_count;
	struct etw_ring_reader_gap_look gap_looks[ETW_RING_GAP_LOOKS];

	uint64_t lost_in_gaps, rejected;
	uint32_t quarantined;
	struct etw_ring_reader_slot *slots;
	struct etw_ring_reader_quarantine *quarantine;
};

enum etw_ring_place_kind {
	ETW_RING_PLACE_GAP, /* nothing committed here; the next mark is `units` away */
	ETW_RING_PLACE_EVENT,
	ETW_RING_PLACE_ABANDONED,
	ETW_RING_PLACE_BAD, /* a mark or a size that no writer leaves; the next mark is `units` away */
};

struct etw_ring_place {
	enum etw_ring_place_kind kind;
	uint32_t units; /* at least 1, at most up to the limit */
	uint32_t bytes;
};

static inline uint32_t etw_ring_reader_index(const struct etw_ring_reader *reader, uint64_t slot)
{
	return (uint32_t)slot & (reader->set->slot_count - 1);
}

/* Whether the word stands in the last slot that has a buffer: what does not fit there has no place. */
static inline bool etw_ring_reader_is_last(const struct etw_ring_reader *reader, uint64_t word)
{
	uint64_t queued = load_acquire(&reader->durable->queued);

	return queued != 0 &&
	       wire_ring_word_slot(word) == etw_ring_reader_index(reader, queued - 1);
}

static inline uint32_t etw_ring_reader_buffer(const struct etw_ring_reader *reader, uint64_t slot)
{
	return reader->durable->buffer_of_slot[etw_ring_reader_index(reader, slot)];
}

static inline uint8_t *etw_ring_reader_map(const struct etw_ring_reader *reader, uint32_t buffer)
{
	return reader->ring + reader->set->maps_at + (uint64_t)buffer * reader->units;
}

static inline uint8_t *etw_ring_reader_bytes(const struct etw_ring_reader *reader, uint32_t buffer)
{
	return reader->ring + reader->set->buffers_at +
	       (uint64_t)buffer * reader->set->buffer_bytes;
}

/*
 * etw_ring_reader_place() - what is at @at.
 *
 * @limit: more than @at; nothing reaches beyond it
 */
struct etw_ring_place etw_ring_reader_place(const struct etw_ring_reader *reader, uint32_t buffer,
					    uint32_t at, uint32_t limit);

/*
 * etw_ring_reader_walk() - steps over what is committed or abandoned; adds the events to *@found.
 *
 * Returns where the first gap is, or @end.
 */
uint32_t etw_ring_reader_walk(const struct etw_ring_reader *reader, uint32_t buffer, uint32_t at,
			      uint32_t end, uint32_t *found);

/*
 * etw_ring_reader_adopt() - checks what the last host left, finishes what it had begun, queues what is
 * free. Returns 0 or -EPROTO.
 */
int etw_ring_reader_adopt(struct etw_ring_reader *reader);

/* etw_ring_reader_refresh_ends() - brings ends[] of slots that are still to be left near @generation. */
void etw_ring_reader_refresh_ends(struct etw_ring_reader *reader, uint32_t generation);

#endif
