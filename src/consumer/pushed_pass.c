/* SPDX-License-Identifier: MIT */
/*
 * Traces that the program pushes buffers into, and their part of a pass (consumer/live_pass.c). What waits for a
 * watermark does so for a while only: without the promises of a live batch, a processor that has nothing to say would
 * hold the others up to the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "consumer/trace_internal.h"

int etw_trace_open_pushed(void (*done)(const void *buffer, void *context), void *context,
			  struct etw_trace **ret)
{
	struct etw_trace *trace = calloc(1, sizeof(*trace));
	int result;

	if (!trace)
		return -ENOMEM;
	etw_etl_file_memory(NULL, 0, &trace->file);
	trace->wake_fd = -1;
	result = etw_pushed_create(done, context, &trace->pushed);
	if (result)
		free(trace);
	else
		*ret = trace;
	return result;
}

int etw_trace_push(struct etw_trace *trace, const uint8_t *at, size_t bytes)
{
	return trace->pushed ? etw_pushed_add(trace->pushed, at, bytes, &trace->header) : -EINVAL;
}

void etw_trace_end_pushed(struct etw_trace *trace)
{
	if (trace->pushed)
		etw_pushed_end(trace->pushed);
}

bool etw_trace_is_pushed(const struct etw_trace *trace)
{
	return trace->pushed != NULL;
}

/* Shows a buffer that is not merged, and gives it back. */
static int show_alone(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;
	int result = 0;

	if (trace->buffers != ETW_BUFFERS_AS_DONE)
		result = etw_stream_show(trace, index, &stream->block, sink);
	etw_pushed_give_back(trace->pushed, &stream->block);
	return result;
}

/* The first buffer: its header is in the trace already, and its events are not delivered, as those of a session. */
static int take_header(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;

	trace->is_head_shown = true;
	stream->promised_ft = trace->header.start_ft;
	if (sink->header)
		sink->header(sink->context, index);
	return show_alone(stream, index, sink);
}

static int take_buffer(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;
	const struct etw_etl_block *block = &stream->block;
	bool is_silent = !block->count && !(block->buffer.flags & ETW_BUFFER_LOSS_FLAGS);

	if (!trace->is_head_shown)
		return take_header(stream, index, sink);
	TRY(etw_trace_note_dropped(trace, block));
	if (trace->buffers == ETW_BUFFERS_ALONE || is_silent)
		return show_alone(stream, index, sink);
	return etw_merge_add(stream->merge, &stream->block);
}

/* Takes what is there. Returns ETW_END when nothing will be. */
static int take_all(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	while (etw_merge_bytes(stream->merge) < ETW_LIVE_HELD_BYTES_MAX) {
		int64_t watermark_raw;
		int result = etw_pushed_take(stream->trace->pushed, &stream->block, &watermark_raw);

		if (result == -EAGAIN)
			return stream->is_closing ? ETW_END : 0;
		if (result)
			return result;
		result = take_buffer(stream, index, sink);
		if (result)
			return result;
		if (!stream->has_watermark || watermark_raw > stream->watermark_raw)
			etw_stream_promise(stream, watermark_raw);
	}
	return 0;
}

/* Whether what is held up has waited for long enough. */
static bool is_overdue(struct etw_stream *stream)
{
	int64_t now_ms = (int64_t)etw_monotonic_ms();

	if (stream->held_since_ms < 0)
		stream->held_since_ms = now_ms;
	return now_ms - stream->held_since_ms >= ETW_LIVE_LAG_MS;
}

int etw_pushed_stream_receive(struct etw_stream *stream, size_t index,
			      const struct etw_trace_sink *sink)
{
	int result = stream->is_over ? 0 : take_all(stream, index, sink);

	if (result == ETW_END) {
		stream->is_over = true;
		etw_stream_promise(stream, INT64_MAX);
	} else if (result) {
		return result;
	}
	if (!stream->has_watermark)
		return 0;
	etw_merge_set_end(stream->merge, stream->watermark_raw);
	TRY(etw_stream_advance(stream, sink));
	if (stream->has_head || !etw_merge_bytes(stream->merge)) {
		stream->held_since_ms = -1;
		return 0;
	}
	if (etw_merge_bytes(stream->merge) < ETW_LIVE_HELD_BYTES_MAX && !is_overdue(stream))
		return 0;
	etw_merge_set_end(stream->merge, INT64_MAX);
	return etw_stream_advance(stream, sink);
}
