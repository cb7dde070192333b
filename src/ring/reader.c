/* SPDX-License-Identifier: MIT */
/*
 * Going over a ring's places. One look loads the word once; everything up to there is bounded by it, so
 * that writers cannot make the reader work longer than one ring is large.
 * Source: docs/design/recording.md "Rings".
 */
#include "ring/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "ring/reader_internal.h"
#include "wire/event_shape.h"

#define GAP_AGE_NS         UINT64_C(100000000)
#define SWITCH_TRIES       64
#define GENERATIONS_FRESH  (UINT32_C(1) << 29)
#define ONE_GENERATION     (UINT64_C(1) << 32)
#define HEADER_BYTES_LEAST 8
#define RUN_UNITS          (16 * 1024 / 8) /* a copy that stays in the first cache while it is checked */
#define AHEAD_BYTES        1024            /* fetched before they are needed, so many at once: */
#define FETCH_BYTES        512
#define CACHE_LINE_BYTES   64

static void closep(struct etw_ring_reader **reader)
{
	etw_ring_reader_close(*reader);
}

int etw_ring_reader_open(const struct etw_ring_set *set, uint32_t cpu,
			 struct etw_ring_durable *durable, struct etw_ring_position position,
			 struct etw_ring_reader **ret)
{
	CLEANUP(closep) struct etw_ring_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->set = set;
	reader->durable = durable;
	reader->ring = etw_ring_at(set, cpu);
	reader->units = set->buffer_bytes / 8;
	if (position.offset % 8 || position.offset / 8 > reader->units)
		return -EPROTO;
	reader->slot = reader->open_slot = position.slots;
	reader->at = reader->open_at = reader->open_limit = position.offset / 8;
	reader->slots = calloc(set->slot_count, sizeof(*reader->slots));
	reader->quarantine = calloc(set->buffer_count, sizeof(*reader->quarantine));
	if (!reader->slots || !reader->quarantine)
		return -ENOMEM;
	TRY(etw_ring_reader_adopt(reader));
	*ret = TAKE(reader);
	return 0;
}

void etw_ring_reader_close(struct etw_ring_reader *reader)
{
	if (!reader)
		return;
	free(reader->slots);
	free(reader->quarantine);
	free(reader);
}

/* The ends of the slots that were left since the last look; each is loaded once and kept. */
static int note_ends(struct etw_ring_reader *reader, uint64_t open_slot)
{
	for (uint64_t slot = reader->open_slot; slot < open_slot; slot++) {
		uint32_t index = etw_ring_reader_index(reader, slot);
		uint32_t least = slot == reader->open_slot ? reader->open_at : 0;
		uint64_t end = load_acquire(etw_ring_end(reader->set, reader->ring, index));

		if (wire_ring_end_offset(end) > reader->units || wire_ring_end_offset(end) < least)
			return -EPROTO;
		reader->slots[index].end = wire_ring_end_offset(end);
	}
	return 0;
}

/* Checks the word against what was seen before and takes it over. */
static int note_word(struct etw_ring_reader *reader, uint64_t word, bool is_open_readable)
{
	uint32_t slot = wire_ring_word_slot(word), offset = wire_ring_word_offset(word);
	uint32_t generation = wire_ring_word_generation(word);
	uint64_t open_slot = reader->open_slot +
			     etw_ring_reader_index(reader, slot - reader->open_slot);

	if (slot >= reader->set->slot_count || offset > reader->units ||
	    open_slot >= reader->durable->queued)
		return -EPROTO;
	if (open_slot == reader->open_slot && offset < reader->open_at)
		return -EPROTO;
	TRY(note_ends(reader, open_slot));
	if (open_slot != reader->open_slot) {
		reader->open_slot = open_slot;
		reader->open_limit = 0;
	}
	reader->open_at = offset;
	if (is_open_readable)
		reader->open_limit = offset;
	if (generation - reader->refreshed >= GENERATIONS_FRESH)
		etw_ring_reader_refresh_ends(reader, generation);
	return 0;
}

/* Leaves the open slot. Returns whether it did: there must be an event in it, and another buffer. */
static bool close_open_slot(struct etw_ring_reader *reader)
{
	struct wire_ring *head = etw_ring_head(reader->ring);

	for (int i = 0; i < SWITCH_TRIES; i++) {
		uint64_t word = load_seq_cst(&head->word);

		if (note_word(reader, word, false) < 0 || reader->open_at == 0 ||
		    reader->open_slot + 1 >= reader->durable->queued)
			return false;
		if (etw_ring_switch(reader->set, reader->ring, word))
			return true;
	}
	return false;
}

int etw_ring_reader_look(struct etw_ring_reader *reader, enum etw_ring_look look, int64_t now_raw)
{
	struct wire_ring *head = etw_ring_head(reader->ring);
	uint64_t word;

	(void)now_raw; /* a promise of the caller; nothing here goes by it */
	if (reader->is_broken)
		return -EPROTO;
	reader->peeked = 0;
	reader->is_final = look != ETW_RING_LOOK_CLOSED &&
			   load_acquire(&etw_ring_set_page(reader->set)->is_retired);
	if (look == ETW_RING_LOOK_SWITCH || (look == ETW_RING_LOOK_BUMP && reader->wants_switch))
		(void)close_open_slot(reader);
	/*
	 * seq_cst: pairs with wake_host(). A sum and no CAS, so that writers cannot keep the host here.
	 * After a switch of our own the generation is new anyway, but there may be events behind it.
	 */
	word = look == ETW_RING_LOOK_CLOSED ? load_seq_cst(&head->word)
					    : add_seq_cst(&head->word, ONE_GENERATION);
	SCHED_POINT("ring.reader.looked");
	if (note_word(reader, word, look != ETW_RING_LOOK_CLOSED) < 0) {
		reader->is_broken = true;
		return -EPROTO;
	}
	return 0;
}

/* The first mark in [at, limit), or limit. */
static uint32_t find_mark(const uint8_t *map, uint32_t at, uint32_t limit)
{
	while (at < limit && !load_relaxed(&map[at]))
		at++;
	return at;
}

struct etw_ring_place etw_ring_reader_place(const struct etw_ring_reader *reader, uint32_t buffer,
					    uint32_t at, uint32_t limit)
{
	const uint8_t *map = etw_ring_reader_map(reader, buffer);
	const uint8_t *bytes = etw_ring_reader_bytes(reader, buffer) + (uint64_t)at * 8;
	uint8_t mark = load_acquire(&map[at]); /* pairs with etw_ring_commit() */
	struct etw_ring_place place = {.kind = ETW_RING_PLACE_GAP};

	if (mark) {
		place.bytes = le16toh(load_relaxed((const uint16_t *)(const void *)bytes));
		place.units = (place.bytes + 7) / 8;
		place.kind = ETW_RING_PLACE_BAD;
		if (mark <= WIRE_RING_ABANDONED && place.bytes >= HEADER_BYTES_LEAST &&
		    place.units <= limit - at)
			place.kind = mark == WIRE_RING_COMMITTED ? ETW_RING_PLACE_EVENT
								 : ETW_RING_PLACE_ABANDONED;
	}
	if (place.kind == ETW_RING_PLACE_GAP || place.kind == ETW_RING_PLACE_BAD)
		place.units = find_mark(map, at + 1, limit) - at;
	return place;
}

uint32_t etw_ring_reader_walk(const struct etw_ring_reader *reader, uint32_t buffer, uint32_t at,
			      uint32_t end, uint32_t *found)
{
	while (at < end) {
		struct etw_ring_place place = etw_ring_reader_place(reader, buffer, at, end);

		if (place.kind == ETW_RING_PLACE_GAP)
			break;
		*found += place.kind != ETW_RING_PLACE_ABANDONED;
		at += place.units;
	}
	return at;
}

/* The cursor's slot is read to its end. */
static void finish_slot(struct etw_ring_reader *reader)
{
	struct etw_ring_reader_slot *slot =
		&reader->slots[etw_ring_reader_index(reader, reader->slot)];

	slot->seen = reader->seen;
	slot->has_gaps = reader->has_gaps;
	reader->slot++;
	reader->at = reader->seen = 0;
	reader->has_gaps = false;
	SCHED_POINT("ring.reader.finished");
}

/* Where the reading of the cursor's slot ends, as of the last look. */
static uint32_t limit_of_slot(const struct etw_ring_reader *reader)
{
	if (reader->slot < reader->open_slot)
		return reader->slots[etw_ring_reader_index(reader, reader->slot)].end;
	return reader->open_limit;
}

static bool is_before_look(const struct etw_ring_reader *reader,
			   const struct etw_ring_reader_gap_look *look)
{
	return reader->slot < look->slot || (reader->slot == look->slot && reader->at < look->at);
}

/*
 * When the gap at the cursor was there for certain. What was reserved while the cursor stood at an earlier one
 * has aged since: else writers that die or stop one after the other would hold the ring for ever.
 */
static uint64_t gap_seen_ns(struct etw_ring_reader *reader, uint64_t now_ns)
{
	struct etw_ring_reader_gap_look *looks = reader->gap_looks;
	uint32_t passed = 0;

	while (passed < reader->gap_look_count && !is_before_look(reader, &looks[passed]))
		passed++;
	reader->gap_look_count -= passed;
	memmove(looks, looks + passed, reader->gap_look_count * sizeof(*looks));
	if (reader->gap_look_count == 0 ||
	    (reader->gap_look_count < ETW_RING_GAP_LOOKS &&
	     now_ns - looks[reader->gap_look_count - 1].ns >= GAP_AGE_NS / 8))
		looks[reader->gap_look_count++] = (struct etw_ring_reader_gap_look){
			.ns = now_ns, .slot = reader->open_slot, .at = reader->open_at};
	return looks[0].ns;
}

/* Stands at a gap. Returns whether it may be passed. */
static bool wait_at_gap(struct etw_ring_reader *reader, uint64_t now_ns)
{
	reader->gap_ns = gap_seen_ns(reader, now_ns ? now_ns : 1);
	reader->is_at_gap = true;
	if (now_ns < reader->gap_ns || now_ns - reader->gap_ns < GAP_AGE_NS)
		return false;
	if (reader->slot == reader->open_slot && !reader->is_final) {
		reader->wants_switch = true;
		return false;
	}
	reader->is_at_gap = false;
	return true;
}

/* Looks at the cursor's place. Returns 0 for an event, -EAGAIN at a gap, ETW_END after a step. */
static int step(struct etw_ring_reader *reader, uint32_t limit, uint64_t now_ns,
		struct etw_ring_event *ret)
{
	uint32_t buffer = etw_ring_reader_buffer(reader, reader->slot);
	struct etw_ring_place place = etw_ring_reader_place(reader, buffer, reader->at, limit);

	switch (place.kind) {
	case ETW_RING_PLACE_EVENT:
		reader->peeked = place.units;
		ret->at = etw_ring_reader_bytes(reader, buffer) + (uint64_t)reader->at * 8;
		ret->bytes = place.bytes;
		ret->time_raw = wire_event_ring_time(ret->at, place.bytes);
		return 0;
	case ETW_RING_PLACE_GAP:
		if (!wait_at_gap(reader, now_ns))
			return -EAGAIN;
		reader->has_gaps = true;
		reader->lost_in_gaps++;
		reader->seen++;
		break;
	case ETW_RING_PLACE_BAD:
		reader->rejected++;
		reader->seen++;
		break;
	case ETW_RING_PLACE_ABANDONED:
		break;
	}
	reader->at += place.units;
	SCHED_POINT("ring.reader.stepped");
	return ETW_END;
}

int etw_ring_reader_peek(struct etw_ring_reader *reader, uint64_t now_ns,
			 struct etw_ring_event *ret)
{
	int result = ETW_END;

	if (reader->is_broken)
		return ETW_END;
	reader->is_at_gap = reader->wants_switch = false;
	while (result == ETW_END) {
		uint32_t limit = limit_of_slot(reader);

		if (reader->at < limit)
			result = step(reader, limit, now_ns, ret);
		else if (reader->slot < reader->open_slot)
			finish_slot(reader);
		else
			return ETW_END;
	}
	return result;
}

void etw_ring_reader_take(struct etw_ring_reader *reader, bool is_good)
{
	if (!reader->peeked)
		return;
	reader->at += reader->peeked;
	reader->seen++;
	reader->rejected += !is_good;
	reader->peeked = 0;
	SCHED_POINT("ring.reader.taken");
}

/*
 * Has the cache fetch what comes next: events are in that of the processor which wrote them, and where one begins is not
 * known before the one before it has come.
 */
static void fetch(const uint8_t *at)
{
	for (uint32_t i = 0; i < FETCH_BYTES; i += CACHE_LINE_BYTES)
		__builtin_prefetch(at + i);
}

struct etw_ring_run etw_ring_reader_peek_run(const struct etw_ring_reader *reader,
					     uint32_t room_bytes, int64_t bound_raw)
{
	uint32_t buffer = etw_ring_reader_buffer(reader, reader->slot);
	const uint8_t *bytes = etw_ring_reader_bytes(reader, buffer);
	const uint8_t *map = etw_ring_reader_map(reader, buffer);
	uint32_t at = reader->at, count = 0;
	uint32_t limit = at + MIN(limit_of_slot(reader) - at, room_bytes / 8);
	uint32_t enough = at + MIN(limit - at, RUN_UNITS);
	uint32_t fetched = at;

	if (!reader->peeked)
		return (struct etw_ring_run){0};
	/* Pairs with etw_ring_commit(), for each event: who copies the run sees all of it. */
	while (at < enough && load_acquire(&map[at]) == WIRE_RING_COMMITTED) {
		const uint8_t *event = bytes + (uint64_t)at * 8;
		uint32_t event_bytes, units;

		for (; fetched < at + AHEAD_BYTES / 8 && fetched < limit;
		     fetched += FETCH_BYTES / 8)
			fetch(bytes + (uint64_t)fetched * 8);
		event_bytes = le16toh(load_relaxed((const uint16_t *)(const void *)event));
		units = (event_bytes + 7) / 8;
		if (event_bytes < HEADER_BYTES_LEAST || units > limit - at ||
		    wire_event_ring_time(event, event_bytes) > bound_raw)
			break;
		at += units;
		count++;
	}
	return (struct etw_ring_run){.at = bytes + (uint64_t)reader->at * 8,
				     .bytes = (at - reader->at) * 8,
				     .count = count};
}

void etw_ring_reader_take_run(struct etw_ring_reader *reader, uint32_t bytes, uint32_t count)
{
	reader->at += bytes / 8;
	reader->seen += count;
	reader->peeked = 0;
	SCHED_POINT("ring.reader.taken");
}

struct etw_ring_position etw_ring_reader_position(const struct etw_ring_reader *reader)
{
	struct etw_ring_position position = {.slots = reader->slot, .offset = reader->at * 8};

	return position;
}

uint64_t etw_ring_reader_oldest_gap_ns(const struct etw_ring_reader *reader)
{
	return reader->is_at_gap ? reader->gap_ns : 0;
}

uint64_t etw_ring_reader_open_gap_ns(const struct etw_ring_reader *reader)
{
	return reader->slot == reader->open_slot ? etw_ring_reader_oldest_gap_ns(reader) : 0;
}

void etw_ring_reader_counts(const struct etw_ring_reader *reader, struct etw_ring_counts *ret)
{
	const struct wire_ring *head = etw_ring_head(reader->ring);

	*ret = (struct etw_ring_counts){
		.lost_no_buffer = load_relaxed(&head->lost_no_buffer),
		.lost_too_large = load_relaxed(&head->lost_too_large),
		.lost_in_gaps = reader->lost_in_gaps,
		.rejected = reader->rejected,
		.quarantined = reader->quarantined,
		.free_buffers = (uint32_t)(reader->durable->queued - reader->open_slot - 1),
		.idle_buffers = reader->slot == reader->open_slot && reader->at == reader->open_at,
	};
}

bool etw_ring_reader_was_full(const struct etw_ring_reader *reader, uint64_t *seen)
{
	uint64_t word = add_seq_cst(&etw_ring_head(reader->ring)->word, UINT64_C(0));
	bool is_full = etw_ring_reader_is_last(reader, word);
	/* Behind `queued`: where that has risen, this was odd before. */
	uint64_t times = load_acquire(&reader->durable->times_full);
	bool has_been = times != *seen || times % 2;

	*seen = times;
	return is_full || has_been;
}

const struct wire_ring *etw_ring_reader_head(const struct etw_ring_reader *reader)
{
	return etw_ring_head(reader->ring);
}
