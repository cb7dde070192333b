/* SPDX-License-Identifier: MIT */
#include "etl/directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "etl/block.h"
#include "wire/xpress.h"

#define FIRST_ENTRIES 64

#define PROBE_EVENT 0x20 /* bytes of an event that have its time */

/*
 * The first event's time from the buffer's first bytes. Returns false when only the whole buffer can tell.
 */
static bool probe_first(const uint8_t *body, size_t bytes, const struct etw_etl_buffer *buffer,
			int64_t *ret)
{
	uint32_t valid = buffer->valid_bytes - WIRE_BUFFER_HEADER_BYTES;
	uint8_t unpacked[PROBE_EVENT];
	struct etw_etl_event event;

	if (buffer->flags & WIRE_BUFFER_COMPRESSED) {
		bytes = etw_xpress_decode(body, bytes, unpacked,
					  valid < sizeof(unpacked) ? valid : sizeof(unpacked),
					  NULL);
		body = unpacked;
	}
	if (bytes > valid)
		bytes = valid;
	/* The event may be longer than the probe: it is judged by the buffer's bytes, read here up to
	 * the time field at most, which every header type has in its first 0x18 bytes. */
	if (bytes < 0x18 || body[3] != WIRE_EVENT_FLAG_TRACE ||
	    etw_etl_event_peek(body, valid, &event))
		return false;
	*ret = event.time_raw;
	return true;
}

/*
 * Reads what is needed of a buffer; sets @ret_has to whether it holds an event, or has none and tells of a loss all the
 * same.
 */
static int first_time(struct etw_etl_walk *walk, struct etw_etl_kept *kept,
		      const struct etw_etl_buffer *buffer, struct etw_etl_block *own, int64_t *ret,
		      bool *ret_has)
{
	const struct etw_etl_block *block;
	size_t wanted = buffer->stride - WIRE_BUFFER_HEADER_BYTES;
	size_t there = walk->head_bytes - WIRE_BUFFER_HEADER_BYTES;

	*ret_has = etw_etl_buffer_holds_events(buffer) && (buffer->flags & ETW_BUFFER_LOSS_FLAGS);
	*ret = buffer->time_raw;
	if (buffer->valid_bytes == WIRE_BUFFER_HEADER_BYTES || !etw_etl_buffer_holds_events(buffer))
		return 0;
	if (probe_first(walk->head + WIRE_BUFFER_HEADER_BYTES, there < wanted ? there : wanted,
			buffer, ret)) {
		*ret_has = true;
		return 0;
	}
	/* Damaged, or a message without a time: findings come when the buffer is delivered. */
	TRY(etw_etl_kept_first(kept, walk->file, buffer, own, NULL, &block));
	if (block->count > 0) {
		*ret_has = true;
		*ret = block->first_raw;
		return 0;
	}
	etw_findings_add(walk->findings, ETW_FINDING_EVENTS, buffer->offset,
			 buffer->stride - WIRE_BUFFER_HEADER_BYTES, buffer->number,
			 "no event of the buffer can be read");
	return 0;
}

static int add_entry(struct etw_etl_directory *directory, const struct etw_etl_buffer *buffer,
		     int64_t first_raw)
{
	if (directory->count == directory->room) {
		uint32_t room = directory->room ? directory->room + directory->room / 2
						: FIRST_ENTRIES;
		struct etw_etl_entry *grown;

		if (room < directory->room)
			return -EFBIG;
		grown = realloc(directory->entries, (size_t)room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		directory->entries = grown;
		directory->room = room;
	}
	directory->entries[directory->count++] = (struct etw_etl_entry){
		.offset = buffer->offset,
		.first_raw = first_raw,
		.number = buffer->number,
		.stride = buffer->stride,
		.valid_bytes = buffer->valid_bytes,
		.processor = buffer->processor,
		.flags = buffer->flags,
	};
	return 0;
}

static bool is_before(const struct etw_etl_entry *left, const struct etw_etl_entry *right)
{
	if (left->first_raw != right->first_raw)
		return left->first_raw < right->first_raw;
	return left->number < right->number;
}

static void sift_down(struct etw_etl_entry *entries, uint32_t at, uint32_t count)
{
	struct etw_etl_entry moving = entries[at];

	for (uint64_t child; (child = 2 * (uint64_t)at + 1) < count; at = (uint32_t)child) {
		if (child + 1 < count && is_before(&entries[child], &entries[child + 1]))
			child++;
		if (!is_before(&moving, &entries[child]))
			break;
		entries[at] = entries[child];
	}
	entries[at] = moving;
}

/* In place, so that a million entries need no second copy: qsort() of glibc would make one. */
static void sort_entries(struct etw_etl_entry *entries, uint32_t count)
{
	bool is_sorted = true;

	for (uint32_t i = 1; i < count && is_sorted; i++)
		is_sorted = is_before(&entries[i - 1], &entries[i]);
	if (is_sorted)
		return;
	for (uint32_t i = count / 2; i-- > 0;)
		sift_down(entries, i, count);
	for (uint32_t end = count - 1; end > 0; end--) {
		struct etw_etl_entry last = entries[end];

		entries[end] = entries[0];
		entries[0] = last;
		sift_down(entries, 0, end);
	}
}

int etw_etl_directory_build(struct etw_etl_walk *walk, struct etw_etl_kept *kept,
			    struct etw_etl_directory *ret)
{
	CLEANUP(etw_etl_directory_done) struct etw_etl_directory directory = {0};
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	struct etw_etl_buffer buffer;
	int result;

	while (!(result = etw_etl_walk_next(walk, &buffer))) {
		int64_t first_raw;
		bool has_events;

		if (directory.buffers++ == UINT32_MAX)
			return -EFBIG;
		TRY(first_time(walk, kept, &buffer, &block, &first_raw, &has_events));
		if (has_events)
			TRY(add_entry(&directory, &buffer, first_raw));
	}
	if (result < 0)
		return result;
	sort_entries(directory.entries, directory.count);
	*ret = directory;
	directory = (struct etw_etl_directory){0};
	return 0;
}

/* What the walk found out about a damaged header counts, not the header. */
static struct etw_etl_buffer buffer_of(const struct etw_etl_entry *entry)
{
	return (struct etw_etl_buffer){
		.offset = entry->offset,
		.number = entry->number,
		.stride = entry->stride,
		.valid_bytes = entry->valid_bytes,
		.saved_offset = entry->valid_bytes,
		.processor = entry->processor,
		.flags = entry->flags,
		.type = WIRE_BUFFER_GENERIC,
	};
}

int etw_etl_directory_load(struct etw_etl_kept *kept, const struct etw_etl_file *file,
			   const struct etw_etl_entry *entry, struct etw_etl_block *own,
			   struct etw_findings *findings, const struct etw_etl_block **ret)
{
	struct etw_etl_buffer header, buffer = buffer_of(entry);

	TRY(etw_etl_kept_load(kept, file, &buffer, own, findings, ret));
	if (*ret != own)
		return 0;
	etw_etl_buffer_read(own->memory, &header);
	/* Only buffers that may hold events have an entry. */
	if (header.type < WIRE_BUFFER_TYPES && etw_etl_buffer_holds_events(&header))
		own->buffer.type = header.type;
	return 0;
}

int etw_etl_directory_fetch(const struct etw_etl_file *file, const struct etw_etl_entry *entry,
			    struct etw_etl_block *block)
{
	struct etw_etl_buffer buffer = buffer_of(entry);

	return etw_etl_block_fetch(file, &buffer, 0, false, block);
}

int64_t etw_etl_directory_flushed(const struct etw_etl_file *file,
				  const struct etw_etl_entry *entry)
{
	uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
	struct etw_etl_buffer buffer;
	size_t count;

	/* It can be read no more: whoever loads it finds out. */
	if (etw_etl_file_read(file, entry->offset, raw, sizeof(raw), &count) || count < sizeof(raw))
		return entry->first_raw;
	etw_etl_buffer_read(raw, &buffer);
	return buffer.time_raw;
}

void etw_etl_directory_done(struct etw_etl_directory *directory)
{
	free(directory->entries);
	*directory = (struct etw_etl_directory){0};
}
