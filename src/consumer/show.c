/* SPDX-License-Identifier: MIT */
/*
 * Whole buffers for those who ask for them: with their bytes, which can be pinned, and in the order in which they were
 * flushed, so that another consumer can be given them one by one.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "consumer/trace_internal.h"

void etw_trace_set_buffers(struct etw_trace *trace, enum etw_trace_buffers how)
{
	trace->buffers = how;
}

const uint8_t *etw_trace_buffer_bytes(const struct etw_trace *trace, uint32_t *ret_bytes)
{
	*ret_bytes = trace->shown->raw_bytes;
	return trace->shown->raw;
}

int etw_trace_pin_buffer(struct etw_trace *trace, struct etw_pin_account *account,
			 struct etw_pin **ret)
{
	if (!trace->shown || !trace->shown->memory)
		return -ENODATA;
	if (!trace->shown_pin)
		return etw_merge_pin_done(trace->delivering, account, ret);
	if (!*trace->shown_pin)
		TRY(etw_pin_create(account, trace->shown, trace->shown_pin));
	*ret = etw_pin_ref(*trace->shown_pin);
	return 0;
}

int etw_stream_show(struct etw_trace *trace, size_t index, struct etw_etl_block *block,
		    const struct etw_trace_sink *sink)
{
	struct etw_pin *pin = NULL;
	int result = 0;

	trace->shown = block;
	trace->shown_pin = &pin;
	if (sink->buffer)
		result = sink->buffer(sink->context, index, &block->buffer);
	trace->shown = NULL;
	trace->shown_pin = NULL;
	if (pin)
		etw_pin_leave(pin, block);
	return result;
}

int etw_stream_show_done(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;
	int result = 0;

	while (!result && (trace->shown = etw_merge_next_done(stream->merge)) != NULL) {
		if (sink->buffer)
			result = sink->buffer(sink->context, index, &trace->shown->buffer);
		if (trace->pushed)
			etw_pushed_give_back(trace->pushed, trace->shown);
	}
	trace->shown = NULL;
	return result;
}

/* An entry of a directory, by the time of its flush; equal ones in file order. */
struct flushed {
	int64_t time_raw;
	const struct etw_etl_entry *entry;
};

static int compare(const void *left, const void *right)
{
	const struct flushed *a = left, *b = right;

	if (a->time_raw != b->time_raw)
		return a->time_raw < b->time_raw ? -1 : 1;
	return a->entry->number < b->entry->number ? -1 : a->entry->number > b->entry->number;
}

int etw_file_show_all(struct etw_trace *trace, size_t index, const struct etw_trace_sink *sink)
{
	const struct etw_etl_directory *directory = &trace->directory;
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	CLEANUP(freep) struct flushed *list = calloc((size_t)directory->count + 1, sizeof(*list));
	int result = 0;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < directory->count; i++) {
		const struct etw_etl_entry *entry = &directory->entries[i];

		list[i] = (struct flushed){etw_etl_directory_flushed(&trace->file, entry), entry};
	}
	qsort(list, directory->count, sizeof(*list), compare);
	for (uint32_t i = 0; i < directory->count && !result; i++) {
		result = etw_etl_directory_fetch(&trace->file, list[i].entry, &block);
		if (!result)
			result = etw_stream_show(trace, index, &block, sink);
	}
	return result;
}
