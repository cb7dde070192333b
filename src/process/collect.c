/* SPDX-License-Identifier: MIT */
#include "process/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"

/* A copy of what a decoder looks at. */
struct kept {
	int64_t time_ft;
	size_t order;
	uint32_t file;
	EVENT_HEADER header;
	ETW_BUFFER_CONTEXT context;
	uint16_t payload_bytes;
	uint8_t payload[];
};

struct etw_process_collector {
	struct etw_arena arena;
	struct kept **all; /* owned; the events lie in the arena */
	size_t count, room, bytes;
	uint64_t left_out;
};

int etw_process_collector_create(struct etw_process_collector **ret)
{
	struct etw_process_collector *collector = calloc(1, sizeof(*collector));

	if (!collector)
		return -ENOMEM;
	*ret = collector;
	return 0;
}

void etw_process_collector_free(struct etw_process_collector *collector)
{
	if (!collector)
		return;
	free(collector->all);
	etw_arena_done(&collector->arena);
	free(collector);
}

static int make_room(struct etw_process_collector *collector)
{
	size_t room = collector->room ? collector->room * 2 : 256;
	struct kept **all;

	if (collector->count < collector->room)
		return 0;
	all = realloc(collector->all, room * sizeof(struct kept *));
	if (!all)
		return -ENOMEM;
	collector->all = all;
	collector->room = room;
	return 0;
}

int etw_process_collector_keep(struct etw_process_collector *collector, const EVENT_RECORD *record,
			       uint32_t file, int64_t time_ft)
{
	const size_t bytes = sizeof(struct kept) + record->UserDataLength;
	struct kept *kept;

	if (LIKELY(!etw_processes_is_lifecycle(record)))
		return 0;
	if (collector->bytes + bytes > ETW_PROCESS_COLLECT_BYTES_MAX) {
		collector->left_out++;
		return 0;
	}
	TRY(make_room(collector));
	kept = etw_arena_alloc(&collector->arena, bytes);
	if (!kept)
		return -ENOMEM;
	kept->time_ft = time_ft;
	kept->order = collector->count;
	kept->file = file;
	kept->header = record->EventHeader;
	kept->context = record->BufferContext;
	kept->payload_bytes = record->UserDataLength;
	if (record->UserDataLength)
		memcpy(kept->payload, record->UserData, record->UserDataLength);
	collector->all[collector->count++] = kept;
	collector->bytes += bytes;
	return 0;
}

static int compare(const void *left_at, const void *right_at)
{
	const struct kept *left = *(struct kept *const *)left_at;
	const struct kept *right = *(struct kept *const *)right_at;

	if (left->time_ft != right->time_ft)
		return left->time_ft < right->time_ft ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

int etw_process_collector_teach(struct etw_process_collector *collector,
				struct etw_decoder *decoder, struct etw_processes *processes)
{
	int result = 0;

	if (collector->count)
		qsort(collector->all, collector->count, sizeof(struct kept *), compare);
	for (size_t i = 0; i < collector->count && !result; i++) {
		struct kept *kept = collector->all[i];
		EVENT_RECORD record = {
			.EventHeader = kept->header,
			.BufferContext = kept->context,
			.UserDataLength = kept->payload_bytes,
			.UserData = kept->payload,
		};
		struct etw_decoding decoding;

		etw_decoder_set_file(decoder, kept->file);
		result = etw_decoder_run(decoder, &record, &decoding);
		if (!result)
			result = etw_processes_add(processes, &decoding, kept->time_ft);
	}
	collector->count = collector->bytes = 0;
	etw_arena_done(&collector->arena);
	return result;
}

uint64_t etw_process_collector_left_out(const struct etw_process_collector *collector)
{
	return collector->left_out;
}
