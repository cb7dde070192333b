/* SPDX-License-Identifier: MIT */
#include "etl/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etl/swallowed.h"
#include "wire/xpress.h"

#define FILL_BYTES_MAX 8 /* an end mark, and what pads it */
#define FIRST_PLACES   256

#define UNPACK_RATIO 64 /* genuine buffers shrink less; so most are unpacked in one go */

/*
 * The largest event, all zeros, still takes 16 bytes. Beyond that a few bytes that claim to be 64 MiB would
 * cost more than the rest of the file.
 */
#define UNPACK_RATIO_MAX 4096

static int grow(uint8_t **memory, size_t *room, size_t bytes)
{
	uint8_t *grown;

	if (*memory && bytes <= *room)
		return 0;
	/* What was there is not needed: free first, so that both need not fit. */
	free(*memory);
	*room = 0;
	grown = *memory = malloc(bytes ? bytes : 1);
	if (!grown)
		return -ENOMEM;
	*room = bytes;
	return 0;
}

static void note(struct etw_findings *findings, const struct etw_etl_block *block,
		 enum etw_finding_kind kind, uint64_t offset, uint64_t bytes, const char *sentence)
{
	const struct etw_etl_buffer *buffer = &block->buffer;
	bool is_packed = buffer->flags & WIRE_BUFFER_COMPRESSED;

	if (findings)
		etw_findings_add(findings, kind,
				 buffer->offset +
					 (is_packed ? 0 : WIRE_BUFFER_HEADER_BYTES + offset),
				 bytes, buffer->number, sentence);
}

/* What follows the end of a compressed stream, but for the word of flags that may end it. */
static uint32_t packed_rest(const uint8_t *at, size_t bytes)
{
	return bytes == 4 && etw_load32(at) == UINT32_MAX ? 0 : (uint32_t)bytes;
}

/*
 * Decompresses the @count bytes behind the block's header. What a damaged header claims is not what gets allocated:
 * room grows with what comes out.
 */
static int unpack(struct etw_etl_block *block, size_t count, uint32_t wanted)
{
	const uint8_t *packed = block->raw + WIRE_BUFFER_HEADER_BYTES;
	uint32_t limit = count < wanted / UNPACK_RATIO_MAX ? UNPACK_RATIO_MAX * (uint32_t)count
							   : wanted;
	size_t room = UNPACK_RATIO * (count + 1) < limit ? UNPACK_RATIO * (count + 1) : limit;

	for (;;) {
		size_t taken, got;

		TRY(grow(&block->unpacked, &block->unpacked_room, room));
		got = etw_xpress_decode(packed, count, block->unpacked, room, &taken);
		block->events = block->unpacked;
		block->event_bytes = (uint32_t)got;
		block->packed_rest = packed_rest(packed + taken, count - taken);
		/* Without input there is no room to grow from, and nothing to come. */
		if (got < room || room == limit || !count)
			return 0;
		room = UNPACK_RATIO * room < limit ? UNPACK_RATIO * room : limit;
	}
}

/* Fields that say nothing about where events are. A directory's entry does not have them. */
static void read_description(struct etw_etl_block *block)
{
	struct etw_etl_buffer header;

	etw_etl_buffer_read(block->raw, &header);
	block->buffer.processor_word = header.processor_word;
	block->buffer.logger_id = header.logger_id;
	block->buffer.state = header.state;
	block->buffer.time_raw = header.time_raw;
	block->buffer.sequence = header.sequence;
}

/* Bytes that the buffer has where it is stored. */
static size_t stored_bytes(const struct etw_etl_buffer *buffer)
{
	return buffer->flags & WIRE_BUFFER_COMPRESSED ? buffer->stride : buffer->valid_bytes;
}

/*
 * Sets events and event_bytes to what is there of them, with a buffer whose bytes are in `raw`: the header always, and
 * @there bytes with it.
 */
static int find_events(struct etw_etl_block *block, size_t there, struct etw_findings *findings)
{
	const struct etw_etl_buffer *buffer = &block->buffer;
	uint32_t wanted = buffer->valid_bytes - WIRE_BUFFER_HEADER_BYTES;
	size_t stored = stored_bytes(buffer) - WIRE_BUFFER_HEADER_BYTES;
	size_t count = there -
		       (there < WIRE_BUFFER_HEADER_BYTES ? there : WIRE_BUFFER_HEADER_BYTES);

	block->raw_bytes = (uint32_t)(WIRE_BUFFER_HEADER_BYTES + count);
	block->packed_rest = 0;
	read_description(block);
	if (count < stored)
		note(findings, block, ETW_FINDING_CUT, count, stored - count,
		     "the file ends within the buffer");
	if (!(buffer->flags & WIRE_BUFFER_COMPRESSED)) {
		block->events = block->raw + WIRE_BUFFER_HEADER_BYTES;
		block->event_bytes = (uint32_t)count;
		return 0;
	}
	TRY(unpack(block, count, wanted));
	/* A damaged Offset claims any number of bytes; what cannot be read is never more than is there. */
	if (block->event_bytes < wanted && count == stored)
		note(findings, block, ETW_FINDING_EVENTS, 0,
		     wanted - block->event_bytes < count ? wanted - block->event_bytes : count,
		     "the compressed data is damaged");
	return 0;
}

/* Brings the buffer's bytes in, its header too, in one read. */
static int read_events(const struct etw_etl_file *file, struct etw_etl_block *block,
		       struct etw_findings *findings)
{
	const struct etw_etl_buffer *buffer = &block->buffer;
	uint64_t there = buffer->offset < file->bytes ? file->bytes - buffer->offset : 0;
	size_t stored = stored_bytes(buffer);
	size_t count;

	if (there > stored)
		there = stored;
	TRY(grow(&block->memory, &block->memory_room,
		 there > WIRE_BUFFER_HEADER_BYTES ? (size_t)there : WIRE_BUFFER_HEADER_BYTES));
	TRY(etw_etl_file_read(file, buffer->offset, block->memory, (size_t)there, &count));
	if (count < WIRE_BUFFER_HEADER_BYTES)
		memset(block->memory + count, 0, WIRE_BUFFER_HEADER_BYTES - count);
	block->raw = block->memory;
	return find_events(block, count, findings);
}

static int add_place(struct etw_etl_block *block, uint32_t offset, int64_t time_raw)
{
	if (block->count == block->places_room) {
		size_t room = block->places_room ? 2 * block->places_room : FIRST_PLACES;
		struct etw_etl_place *grown = realloc(block->places, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		block->places = grown;
		block->places_room = room;
	}
	block->places[block->count++] = (struct etw_etl_place){offset, time_raw};
	return 0;
}

/* Whether an end mark, or less than an event header, is left at @offset. */
static bool at_end(const struct etw_etl_block *block, uint32_t offset)
{
	return block->event_bytes - offset < 8 ||
	       etw_load32(block->events + offset) == WIRE_EVENT_END_MARK;
}

/*
 * Whether the rest from @offset is what a writer leaves behind the last event: ones, or nothing. A buffer that
 * says where its events end, before its own end, has an end mark at most in front of that.
 */
static bool is_fill(const struct etw_etl_block *block, uint32_t offset)
{
	const struct etw_etl_buffer *buffer = &block->buffer;

	if (buffer->valid_bytes < buffer->stride && block->event_bytes - offset > FILL_BYTES_MAX)
		return false;
	while (offset < block->event_bytes) {
		if (block->events[offset++] != 0xFF)
			return false;
	}
	return true;
}

/*
 * The common case in one pass: a chain of sound events up to the end, never running back in time.
 * Returns false when the block needs places.
 */
static bool step_through(struct etw_etl_block *block)
{
	struct etw_etl_event event;
	uint32_t offset = 0;
	int64_t last = INT64_MIN;

	block->count = 0;
	while (offset < block->event_bytes && !at_end(block, offset)) {
		if (etw_etl_event_peek(block->events + offset, block->event_bytes - offset,
				       &event) ||
		    !event.has_time || event.time_raw < last)
			return false;
		if (!block->count++)
			block->first_raw = event.time_raw;
		last = event.time_raw;
		offset += ALIGN_UP(event.bytes, WIRE_EVENT_ALIGNMENT);
		if (offset > block->event_bytes)
			offset = block->event_bytes;
	}
	block->last_raw = last;
	return is_fill(block, offset);
}

/*
 * Marks, from the end backwards, every aligned place from which a chain of sound events leads exactly
 * to the end. Returns owned memory of one byte a place, or NULL.
 */
static uint8_t *find_chains(const struct etw_etl_block *block)
{
	uint32_t places = block->event_bytes / WIRE_EVENT_ALIGNMENT;
	uint8_t *leads = calloc((size_t)places + 2, 1);

	if (!leads)
		return NULL;
	leads[places] = leads[places + 1] = 1;
	for (uint32_t place = places; place-- > 0;) {
		uint32_t offset = place * WIRE_EVENT_ALIGNMENT;
		struct etw_etl_event event;

		if (at_end(block, offset)) {
			/* A lone end mark within events is not to be taken for the end. */
			leads[place] = leads[place + 1];
			continue;
		}
		if (etw_etl_event_peek(block->events + offset, block->event_bytes - offset,
				       &event) ||
		    event.bytes < 8)
			continue;

		uint32_t next = (offset + event.bytes + WIRE_EVENT_ALIGNMENT - 1) /
				WIRE_EVENT_ALIGNMENT;

		leads[place] = leads[next <= places ? next : places];
	}
	return leads;
}

/* The next place from @offset that starts a chain of events, or the end. */
static uint32_t resume(const struct etw_etl_block *block, const uint8_t *leads, uint32_t offset)
{
	for (offset += WIRE_EVENT_ALIGNMENT; offset + 8 <= block->event_bytes;
	     offset += WIRE_EVENT_ALIGNMENT) {
		if (leads[offset / WIRE_EVENT_ALIGNMENT] && !at_end(block, offset))
			return offset;
	}
	return block->event_bytes;
}

static int compare_places(const void *left, const void *right)
{
	const struct etw_etl_place *a = left, *b = right;

	if (a->time_raw != b->time_raw)
		return a->time_raw < b->time_raw ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Gives the first @count places, messages without a time of their own, the first time there is. */
static void backdate(struct etw_etl_block *block, uint32_t count, int64_t time_raw)
{
	for (uint32_t i = 0; i < count; i++)
		block->places[i].time_raw = time_raw;
}

/*
 * The thorough pass: notes the place of every event, skips what is none, orders by time. A message
 * without a time of its own takes that of the event before it.
 */
static int note_places(struct etw_etl_block *block, struct etw_findings *findings)
{
	CLEANUP(freep) uint8_t *leads = NULL;
	uint32_t offset = 0;
	uint32_t untimed = 0; /* messages without a time before the first event that has one */
	int64_t last = block->buffer.time_raw;

	block->count = 0;
	while (offset < block->event_bytes && !is_fill(block, offset)) {
		struct etw_etl_event event;
		const char *sentence = etw_etl_event_at(block, offset, &event);

		if (!sentence) {
			if (event.has_time)
				last = event.time_raw;
			TRY(add_place(block, offset, last));
			if (!event.has_time && untimed == block->count - 1)
				untimed++;
			else if (event.has_time && untimed == block->count - 1)
				backdate(block, untimed, last);
			offset += ALIGN_UP(event.bytes, WIRE_EVENT_ALIGNMENT);
			continue;
		}
		if (!leads) {
			leads = find_chains(block);
			if (!leads)
				return -ENOMEM;
		}
		uint32_t next = resume(block, leads, offset);

		note(findings, block, ETW_FINDING_EVENTS, offset, next - offset, sentence);
		offset = next;
	}
	if (block->count)
		qsort(block->places, block->count, sizeof(*block->places), compare_places);
	return 0;
}

/* Events that a sound event hides, because its size is not its own. */
static void note_swallowed(const struct etw_etl_block *block, struct etw_findings *findings)
{
	struct etw_etl_swallowed found = {0};

	while (etw_etl_swallowed_find(block, &found))
		note(findings, block, ETW_FINDING_DOUBTED, found.offset, found.bytes,
		     "what looks like other events lies in the payload of this one: its size may "
		     "be wrong");
}

/* Makes the block one of @buffer without events, and keeps its memory. */
static void empty(struct etw_etl_block *block, const struct etw_etl_buffer *buffer)
{
	block->buffer = *buffer;
	block->raw = NULL;
	block->raw_bytes = 0;
	block->events = NULL;
	block->event_bytes = 0;
	block->count = 0;
	block->is_stepped = true;
	block->is_unchecked = false;
}

/* Checks every event of a block whose bytes are there. */
static int check_events(struct etw_etl_block *block, struct etw_findings *findings)
{
	block->is_stepped = step_through(block);
	if (!block->is_stepped)
		TRY(note_places(block, findings));
	if (!block->is_stepped && block->count) {
		block->first_raw = block->places[0].time_raw;
		block->last_raw = block->places[block->count - 1].time_raw;
	}
	if (findings)
		note_swallowed(block, findings);
	return 0;
}

int etw_etl_block_load(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
		       struct etw_etl_block *block, struct etw_findings *findings)
{
	empty(block, buffer);
	if (!etw_etl_buffer_holds_events(buffer))
		return 0;
	TRY(read_events(file, block, findings));
	return check_events(block, findings);
}

int etw_etl_block_borrow(const uint8_t *at, size_t bytes, const struct etw_etl_buffer *buffer,
			 struct etw_etl_block *block, struct etw_findings *findings)
{
	size_t stored = stored_bytes(buffer);

	empty(block, buffer);
	block->raw = at;
	block->raw_bytes = (uint32_t)(bytes < stored ? bytes : stored);
	if (!etw_etl_buffer_holds_events(buffer))
		return 0;
	TRY(find_events(block, block->raw_bytes, findings));
	return check_events(block, findings);
}

int etw_etl_block_own(struct etw_etl_block *block)
{
	const uint8_t *borrowed = block->raw;

	if (!borrowed || borrowed == block->memory)
		return 0;
	TRY(grow(&block->memory, &block->memory_room, block->raw_bytes));
	memcpy(block->memory, borrowed, block->raw_bytes);
	block->raw = block->memory;
	if (block->events && block->events != block->unpacked)
		block->events = block->raw + (block->events - borrowed);
	return 0;
}

int etw_etl_block_fetch(const struct etw_etl_file *file, const struct etw_etl_buffer *buffer,
			uint32_t count, bool needs_places, struct etw_etl_block *block)
{
	empty(block, buffer);
	if (!etw_etl_buffer_holds_events(buffer))
		return 0;
	TRY(read_events(file, block, NULL));
	block->is_stepped = false;
	if (needs_places)
		return note_places(block, NULL);
	block->is_unchecked = true;
	block->count = count;
	return 0;
}

void etw_etl_block_done(struct etw_etl_block *block)
{
	free(block->memory);
	free(block->unpacked);
	free(block->places);
	*block = (struct etw_etl_block){0};
}

void etw_etl_cursor_tell(const struct etw_etl_cursor *cursor, struct etw_findings *findings)
{
	if (UNLIKELY(cursor->index < cursor->block->count))
		note(findings, cursor->block, ETW_FINDING_EVENTS, 0, 0,
		     "the file changed while it was read");
}
