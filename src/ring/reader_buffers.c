/* SPDX-License-Identifier: MIT */
/*
 * Where a ring's buffers are: queued, quarantined, or free. The truth is in struct etw_ring_durable, which
 * writers cannot reach; the queue in shared memory is a copy for them. A host may die behind any store
 * here. The order of the stores sees to it that the next one finds each buffer either where it was, or
 * free: a free buffer is cleared as a whole before it is queued.
 */
#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "ring/reader_internal.h"

/* Nobody can have reserved in this buffer any more, so plain stores do. */
static void clear_map(struct etw_ring_reader *reader, uint32_t buffer, uint32_t end)
{
	memset(etw_ring_reader_map(reader, buffer), WIRE_RING_EMPTY, end);
	SCHED_POINT("ring.reader.cleared");
}

/*
 * Whether a writer can have found no buffer in the slot @index. Asked when its buffer can be seen: the writers
 * may have come to the end of the slot before it at any time until then.
 */
static bool was_last(const struct etw_ring_reader *reader, uint32_t index)
{
	/* A sum and no load: the newest word there is. Who sets a later one sees the buffer. */
	uint64_t word = add_seq_cst(&etw_ring_head(reader->ring)->word, UINT64_C(0));
	uint32_t slot = wire_ring_word_slot(word);

	return slot == index || ((slot + 1) & (reader->set->slot_count - 1)) == index;
}

/* Gives a free, cleared buffer to the next slot. There are more slots than buffers. */
static void queue_buffer(struct etw_ring_reader *reader, uint32_t buffer)
{
	struct etw_ring_durable *durable = reader->durable;
	uint32_t index = etw_ring_reader_index(reader, durable->queued);
	uint64_t times_full = durable->times_full;
	uint64_t word = load_acquire(&etw_ring_head(reader->ring)->word);

	/* Who sees `queued` risen sees this. Pairs with etw_ring_reader_was_full(). */
	store_relaxed(&durable->times_full, times_full + 1);
	/* The end of the slot's last turn may be so old that it would look larger than any new one. */
	store_relaxed(etw_ring_end(reader->set, reader->ring, index),
		      wire_ring_end(wire_ring_word_generation(word), 0));
	durable->buffer_of_slot[index] = (uint16_t)buffer;
	store_release(&durable->queued, durable->queued + 1);
	SCHED_POINT("ring.reader.assigned");
	/* Pairs with make_room(): who sees the buffer sees its map cleared. */
	store_release(etw_ring_queue(reader->set, reader->ring, index), buffer + 1);
	SCHED_POINT("ring.reader.queued");
	store_release(&durable->times_full, times_full + (was_last(reader, index) ? 2 : 0));
}

/* Corrects the number of events that were lost in gaps, once all of them are known. */
static void correct_loss(struct etw_ring_reader *reader, uint32_t seen, uint32_t found)
{
	if (found >= seen)
		reader->lost_in_gaps += found - seen;
	else if (reader->lost_in_gaps >=
		 seen - found) /* else a host before this one counted them */
		reader->lost_in_gaps -= seen - found;
}

/*
 * What a reader of the whole slot up to @end would know: how many events there are, and whether there are
 * gaps. A gap that has closed since the last host passed it is an event now.
 */
static uint32_t study(const struct etw_ring_reader *reader, uint32_t buffer, uint32_t end,
		      bool *ret_has_gaps)
{
	uint32_t at = 0, seen = 0;

	*ret_has_gaps = false;
	for (;;) {
		at = etw_ring_reader_walk(reader, buffer, at, end, &seen);
		if (at >= end)
			return seen;
		seen++;
		*ret_has_gaps = true;
		at += etw_ring_reader_place(reader, buffer, at, end).units;
	}
}

/* Counts anew what lies in the gaps of a quarantined buffer, some of which may have closed. */
static void settle(struct etw_ring_reader *reader, uint32_t buffer)
{
	struct etw_ring_durable *durable = reader->durable;
	bool has_gaps;
	uint32_t seen = study(reader, buffer, durable->quarantine_bytes[buffer] / 8, &has_gaps);

	correct_loss(reader, durable->quarantine_events[buffer], seen);
	durable->quarantine_events[buffer] = seen;
}

static void put_in_quarantine(struct etw_ring_reader *reader, uint32_t buffer,
			      const struct etw_ring_reader_slot *slot, uint32_t at, uint32_t found)
{
	struct etw_ring_durable *durable = reader->durable;

	reader->quarantine[buffer] = (struct etw_ring_reader_quarantine){.at = at, .found = found};
	if (durable->quarantined[buffer])
		return; /* by a host that died before it could release the slot */
	durable->quarantine_bytes[buffer] = slot->end * 8;
	durable->quarantine_events[buffer] = slot->seen;
	store_release(&durable->quarantined[buffer], (uint8_t)1);
	reader->quarantined++;
	SCHED_POINT("ring.reader.quarantined");
	settle(reader, buffer);
}

/* What comes back from quarantine is a free buffer: nothing may say otherwise once it is queued. */
static void leave_quarantine(struct etw_ring_reader *reader, uint32_t buffer)
{
	store_release(&reader->durable->quarantined[buffer], (uint8_t)0);
	reader->quarantined--;
	SCHED_POINT("ring.reader.cured");
}

/*
 * Whether all gaps of a slot have closed, so that its buffer is free; else it is quarantined. A host that died
 * before it could release the slot may have quarantined it already.
 */
static bool have_gaps_closed(struct etw_ring_reader *reader, uint32_t buffer,
			     const struct etw_ring_reader_slot *slot)
{
	const struct etw_ring_durable *durable = reader->durable;
	uint32_t found = 0;
	uint32_t at = etw_ring_reader_walk(reader, buffer, 0, slot->end, &found);

	if (at < slot->end) {
		put_in_quarantine(reader, buffer, slot, at, found);
		return false;
	}
	if (!durable->quarantined[buffer]) {
		correct_loss(reader, slot->seen, found);
		return true;
	}
	correct_loss(reader, durable->quarantine_events[buffer], found);
	leave_quarantine(reader, buffer);
	return true;
}

/* Takes the buffer of the slot `released` back. */
static void release_slot(struct etw_ring_reader *reader)
{
	struct etw_ring_durable *durable = reader->durable;
	uint32_t index = etw_ring_reader_index(reader, durable->released);
	uint32_t buffer = durable->buffer_of_slot[index];
	const struct etw_ring_reader_slot *slot = &reader->slots[index];
	bool is_whole = true;

	if (slot->has_gaps || durable->quarantined[buffer])
		is_whole = have_gaps_closed(reader, buffer, slot);
	store_release(etw_ring_queue(reader->set, reader->ring, index),
		      (uint32_t)WIRE_RING_QUEUE_EMPTY);
	SCHED_POINT("ring.reader.unqueued");
	store_release(&durable->released, durable->released + 1);
	SCHED_POINT("ring.reader.released");
	if (!is_whole)
		return;
	clear_map(reader, buffer, slot->end);
	queue_buffer(reader, buffer);
}

/* Queues a quarantined buffer again when its last gap has closed. */
static void try_to_cure(struct etw_ring_reader *reader, uint32_t buffer)
{
	const struct etw_ring_durable *durable = reader->durable;
	struct etw_ring_reader_quarantine *quarantine = &reader->quarantine[buffer];
	uint32_t end = durable->quarantine_bytes[buffer] / 8;

	quarantine->at = etw_ring_reader_walk(reader, buffer, quarantine->at, end,
					      &quarantine->found);
	if (quarantine->at < end)
		return;
	correct_loss(reader, durable->quarantine_events[buffer], quarantine->found);
	leave_quarantine(reader, buffer);
	clear_map(reader, buffer, end);
	queue_buffer(reader, buffer);
}

/* The same of the cursor's slot as far as it is read, which is never released when the set is retired in it. */
static void settle_open(struct etw_ring_reader *reader)
{
	bool has_gaps;
	uint32_t found = study(reader, etw_ring_reader_buffer(reader, reader->slot), reader->at,
			       &has_gaps);

	correct_loss(reader, reader->seen, found);
	reader->seen = found;
}

void etw_ring_reader_release(struct etw_ring_reader *reader)
{
	bool is_retired = load_relaxed(&etw_ring_set_page(reader->set)->is_retired);

	while (reader->durable->released < reader->slot)
		release_slot(reader);
	if (is_retired && reader->has_gaps)
		settle_open(reader);
	for (uint32_t i = 0; reader->quarantined && i < reader->set->buffer_count; i++) {
		if (!reader->durable->quarantined[i])
			continue;
		if (is_retired)
			settle(reader, i);
		try_to_cure(reader, i);
	}
}

void etw_ring_reader_refresh_ends(struct etw_ring_reader *reader, uint32_t generation)
{
	for (uint64_t slot = reader->open_slot; slot < reader->durable->queued; slot++) {
		uint32_t index = etw_ring_reader_index(reader, slot);

		/* A slot that a writer leaves meanwhile has a larger end already, or gets one. */
		(void)etw_ring_raise_end(etw_ring_end(reader->set, reader->ring, index),
					 wire_ring_end(generation, 0));
	}
	reader->refreshed = generation;
}

/*
 * Checks the assignment. *@ret_used: by buffer, whether it is in a slot or quarantined.
 */
static int check_durable(struct etw_ring_reader *reader, bool *ret_used)
{
	const struct etw_ring_durable *durable = reader->durable;
	const struct etw_ring_set *set = reader->set;

	if (durable->released > durable->queued ||
	    durable->queued - durable->released > set->buffer_count)
		return -EPROTO;
	if (reader->slot < durable->released || reader->slot > durable->queued ||
	    (reader->slot == durable->queued && (reader->at || durable->queued)))
		return -EPROTO;
	for (uint64_t slot = durable->released; slot < durable->queued; slot++) {
		uint32_t buffer = etw_ring_reader_buffer(reader, slot);

		if (buffer >= set->buffer_count || ret_used[buffer])
			return -EPROTO;
		/* A slot that the last host was about to release may have its buffer there already. */
		if (durable->quarantined[buffer] && slot >= reader->slot)
			return -EPROTO;
		ret_used[buffer] = true;
	}
	for (uint32_t i = 0; i < set->buffer_count; i++) {
		if (!durable->quarantined[i])
			continue;
		if (durable->quarantine_bytes[i] > set->buffer_bytes)
			return -EPROTO;
		ret_used[i] = true;
		reader->quarantined++;
	}
	return 0;
}

/* Slots that the last host had read to their end, and not yet released. */
static void study_finished_slots(struct etw_ring_reader *reader)
{
	for (uint64_t slot = reader->durable->released; slot < reader->slot; slot++) {
		uint32_t index = etw_ring_reader_index(reader, slot);
		struct etw_ring_reader_slot *ret = &reader->slots[index];
		uint64_t end = load_acquire(etw_ring_end(reader->set, reader->ring, index));

		/* An end that makes no sense: then the buffer is not used again. */
		ret->end = wire_ring_end_offset(end);
		if (ret->end > reader->units)
			ret->end = reader->units;
		ret->seen = study(reader, etw_ring_reader_buffer(reader, slot), ret->end,
				  &ret->has_gaps);
	}
}

int etw_ring_reader_adopt(struct etw_ring_reader *reader)
{
	struct etw_ring_durable *durable = reader->durable;
	bool is_used[WIRE_RING_SLOTS_MAX] = {false};
	bool is_new = durable->queued == 0;

	TRY(check_durable(reader, is_used));
	/* No writer ever sees a word of 0, as it is when the memory was given back: see etw_ring_set_discard(). */
	if (is_new)
		(void)add_seq_cst(&etw_ring_head(reader->ring)->word, wire_ring_word(1, 0, 0));
	reader->refreshed =
		wire_ring_word_generation(load_relaxed(&etw_ring_head(reader->ring)->word));
	study_finished_slots(reader);
	if (reader->at)
		reader->seen = study(reader, etw_ring_reader_buffer(reader, reader->slot),
				     reader->at, &reader->has_gaps);
	/* The last host may have died between its own note and the queue. */
	for (uint64_t slot = reader->slot; slot < durable->queued; slot++)
		store_release(etw_ring_queue(reader->set, reader->ring,
					     etw_ring_reader_index(reader, slot)),
			      etw_ring_reader_buffer(reader, slot) + 1);
	/* It did, and until now writers may have found no buffer. */
	if (durable->times_full % 2)
		store_release(&durable->times_full, durable->times_full + 1);
	etw_ring_reader_release(reader);
	for (uint32_t i = 0; i < reader->set->buffer_count; i++) {
		if (is_used[i])
			continue;
		if (!is_new)
			clear_map(reader, i, reader->units);
		queue_buffer(reader, i);
	}
	return 0;
}
