/* SPDX-License-Identifier: MIT */
#include "relog/relog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "consumer/record.h"
#include "etl/event.h"
#include "relog/clock.h"
#include "relog/output.h"
#include "relog/window.h"

#define HEAD_ROOM (64u * 1024) /* for a header buffer */

struct stream {
	struct etw_trace *trace; /* owned */
	void *context;
	int64_t time_raw; /* of its last event */
	bool is_same_clock;
	bool is_file;
	dev_t device; /* of a file */
	ino_t inode;
};

struct etw_relog {
	struct stream streams[ETW_RELOG_STREAMS_MAX];
	size_t stream_count;
	const char *path; /* borrowed; NULL: no output */
	struct etw_relog_form form;
	int is_cancelled; /* atomic */

	/* Of a pass. */
	bool is_running;
	const struct etw_relog_sink *sink;
	struct etw_trace *traces[ETW_RELOG_STREAMS_MAX];
	struct etw_relog_head head;
	struct etw_relog_output *output; /* owned; NULL without */
	struct etw_relog_window window;
	int64_t last_raw; /* the latest time that was put; INT64_MIN: none */
	int write_error;
	uint8_t encoded[ETW_RELOG_EVENT_BYTES_MAX];
};

int etw_relog_create(struct etw_relog **ret)
{
	*ret = calloc(1, sizeof(struct etw_relog));
	return *ret ? 0 : -ENOMEM;
}

void etw_relog_free(struct etw_relog *relog)
{
	if (!relog)
		return;
	for (size_t i = 0; i < relog->stream_count; i++)
		etw_trace_close(relog->streams[i].trace);
	free(relog);
}

static int add_stream(struct etw_relog *relog, const struct stream *stream, size_t *ret_stream)
{
	etw_trace_set_raw(stream->trace, /* is_raw= */ true);
	etw_trace_set_context(stream->trace, stream->context);
	*ret_stream = relog->stream_count;
	relog->streams[relog->stream_count++] = *stream;
	return 0;
}

static int may_add(const struct etw_relog *relog)
{
	if (relog->is_running)
		return -EBUSY;
	return relog->stream_count == ETW_RELOG_STREAMS_MAX ? -E2BIG : 0;
}

int etw_relog_add_file(struct etw_relog *relog, const char *path, void *context, size_t *ret_stream,
		       struct etw_fault *reterr)
{
	struct stream stream = {.context = context, .is_file = true};
	struct stat info;

	TRY(may_add(relog));
	TRY(etw_trace_open(path, &stream.trace, reterr));
	if (stat(path, &info)) {
		int result = -errno;

		etw_trace_close(stream.trace);
		return result;
	}
	stream.device = info.st_dev;
	stream.inode = info.st_ino;
	stream.time_raw = etw_trace_header(stream.trace)->time_raw;
	return add_stream(relog, &stream, ret_stream);
}

int etw_relog_add_session(struct etw_relog *relog, const char *session, void *context,
			  size_t *ret_stream)
{
	struct stream stream = {.context = context};

	TRY(may_add(relog));
	TRY(etw_trace_open_live(session, &stream.trace));
	return add_stream(relog, &stream, ret_stream);
}

size_t etw_relog_streams(const struct etw_relog *relog)
{
	return relog->stream_count;
}

const struct etw_etl_header *etw_relog_stream_header(const struct etw_relog *relog, size_t stream)
{
	return etw_trace_header(relog->streams[stream].trace);
}

int64_t etw_relog_time(const struct etw_relog *relog, size_t stream)
{
	return relog->streams[stream].time_raw;
}

void etw_relog_set_output(struct etw_relog *relog, const char *path,
			  const struct etw_relog_form *form)
{
	relog->path = path;
	relog->form = *form;
}

void etw_relog_cancel(struct etw_relog *relog)
{
	store_release(&relog->is_cancelled, 1); /* pairs with check_cancelled() */
	for (size_t i = 0; i < relog->stream_count; i++)
		etw_trace_wake(relog->streams[i].trace);
}

static int check_cancelled(const struct etw_relog *relog)
{
	/* Pairs with etw_relog_cancel(). */
	return UNLIKELY(load_acquire(&relog->is_cancelled)) ? -ECANCELED : 0;
}

/* The earliest that is held goes into its buffer. */
static int release_one(struct etw_relog *relog)
{
	CLEANUP(freep) struct etw_relog_held *held = etw_relog_window_take(&relog->window);
	int result;

	if (held->loss)
		result = etw_relog_output_lose(relog->output, held->processor, held->loss);
	else
		result = etw_relog_output_add(relog->output, held->processor, held->event,
					      held->bytes);
	if (result < 0 && !relog->write_error)
		relog->write_error = result;
	return result;
}

static int release_all(struct etw_relog *relog)
{
	while (relog->window.count > 0)
		TRY(release_one(relog));
	return 0;
}

/* The first event of a trace, of which the output has its own. */
static bool is_header_event(const struct etw_relog_event *event)
{
	return event->is_in_head && !event->loss &&
	       (event->header_type == WIRE_HEADER_SYSTEM32 ||
		event->header_type == WIRE_HEADER_SYSTEM64) &&
	       etw_load16(event->bytes + offsetof(struct wire_system_header, type)) == 0;
}

/*
 * What the output has already, in its header buffer, where it stays as it was. A copy that was made another event is one
 * of its own.
 */
static bool is_in_output(const struct etw_relog *relog, const struct etw_relog_event *event)
{
	if (event->is_copy && etw_relog_event_is_changed(event))
		return false;
	return is_header_event(event) ||
	       (event->is_in_head && !event->loss && event->stream == 0 && relog->head.companions);
}

/* The bytes and the time of an event on the output's clock. */
static int bytes_to_put(struct etw_relog *relog, const struct etw_relog_event *event,
			const uint8_t **ret, uint32_t *ret_bytes, int64_t *ret_raw)
{
	const struct etw_clock *to = &etw_trace_header(relog->traces[0])->clock;
	const struct stream *stream = &relog->streams[event->stream];
	const struct etw_clock *from = &etw_trace_header(stream->trace)->clock;

	*ret_raw = event->record.EventHeader.TimeStamp.QuadPart;
	*ret_bytes = 0;
	if (!event->loss)
		TRY(etw_relog_event_encode(event, relog->encoded, ret, ret_bytes));
	if (stream->is_same_clock)
		return 0;
	*ret_raw = etw_relog_clock_convert(from, to, *ret_raw);
	if (event->loss)
		return 0;
	if (*ret != relog->encoded)
		memcpy(relog->encoded, *ret, *ret_bytes);
	etw_relog_clock_patch(from, to, event, relog->encoded, *ret_bytes);
	*ret = relog->encoded;
	return 0;
}

int etw_relog_put(struct etw_relog *relog, const struct etw_relog_event *event)
{
	struct etw_relog_held held = {
		.processor = etw_relog_event_processor(event),
		.loss = event->loss,
	};
	const uint8_t *bytes = NULL;
	uint32_t byte_count;

	if (!relog->is_running || !relog->output || event->stream >= relog->stream_count)
		return -EINVAL;
	if (is_in_output(relog, event))
		return 0;
	if (relog->write_error)
		return relog->write_error;
	TRY(bytes_to_put(relog, event, &bytes, &byte_count, &held.time_raw));
	/* Said now, to the one who puts it, and not when it would go out. */
	if (byte_count > relog->head.file.buffer_bytes - WIRE_BUFFER_HEADER_BYTES)
		return -EMSGSIZE;
	while (etw_relog_window_is_full(&relog->window))
		TRY(release_one(relog));
	TRY(etw_relog_window_hold(&relog->window, &held, bytes, byte_count));
	if (held.time_raw > relog->last_raw)
		relog->last_raw = held.time_raw;
	return 0;
}

static int show_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct etw_relog *relog = context;
	struct etw_relog_event event = {.record = *record, .stream = trace};
	struct etw_trace_stored stored;
	int result = check_cancelled(relog);

	(void)address;
	if (result)
		return result;
	if (!etw_trace_stored(relog->traces[trace], &stored))
		return -EBADMSG;
	event.bytes = stored.at;
	event.byte_count = stored.bytes;
	event.header_type = stored.header_type;
	event.loss = stored.loss;
	event.is_in_head = stored.is_in_head;
	etw_relog_event_note(&event);
	relog->streams[trace].time_raw = record->EventHeader.TimeStamp.QuadPart;
	/* The header event was shown at the beginning. */
	if (is_header_event(&event))
		return 0;
	if (relog->sink->event)
		result = relog->sink->event(relog->sink->context, &event);
	return result ? result : relog->write_error;
}

static int look_whether_cancelled(void *context)
{
	return check_cancelled(context);
}

/* The header event of an input as a session would write it, where it cannot be read. */
static int make_header_buffer(struct etw_trace *trace, uint8_t *room)
{
	struct etw_relog_form form = {0};
	struct etw_relog_head head;
	int result;

	TRY(etw_relog_head_make(&trace, 1, &form, &head));
	head.file.buffer_bytes = HEAD_ROOM;
	result = etw_etl_write_header_buffer(&head.file, room);
	etw_relog_head_done(&head);
	return result;
}

static bool has_header_event(const struct etw_etl_block *block, struct etw_etl_event *ret)
{
	uint32_t hook_at = offsetof(struct wire_system_header, type);

	return block->buffer.type == WIRE_BUFFER_HEADER &&
	       block->buffer.valid_bytes > WIRE_BUFFER_HEADER_BYTES + sizeof(uint64_t) &&
	       block->buffer.valid_bytes <= HEAD_ROOM &&
	       !etw_etl_event_peek(block->events,
				   block->buffer.valid_bytes - WIRE_BUFFER_HEADER_BYTES, ret) &&
	       (ret->header_type == WIRE_HEADER_SYSTEM32 ||
		ret->header_type == WIRE_HEADER_SYSTEM64) &&
	       etw_load16(ret->at + hook_at) == 0;
}

static int show_header(struct etw_relog *relog, size_t index)
{
	CLEANUP(freep) uint8_t *room = calloc(1, HEAD_ROOM);
	CLEANUP(etw_recorder_done) struct etw_recorder recorder = {0};
	struct etw_relog_event event = {.stream = index, .is_in_head = true};
	struct etw_etl_block block = {.events = room + WIRE_BUFFER_HEADER_BYTES};
	struct etw_etl_event stored;
	size_t count;

	if (!room)
		return -ENOMEM;
	TRY(etw_trace_read_head(relog->traces[index], room, HEAD_ROOM, &count));
	etw_etl_buffer_read(room, &block.buffer);
	if (block.buffer.valid_bytes > count || !has_header_event(&block, &stored)) {
		TRY(make_header_buffer(relog->traces[index], room));
		etw_etl_buffer_read(room, &block.buffer);
		if (!has_header_event(&block, &stored))
			return -EBADMSG;
	}
	(void)etw_recorder_fill(&recorder, &block, &stored, stored.time_raw, &event.record);
	event.record.UserContext = relog->streams[index].context;
	event.bytes = stored.at;
	event.byte_count = stored.bytes;
	event.header_type = stored.header_type;
	etw_relog_event_note(&event);
	return relog->sink->begin(relog->sink->context, &event);
}

static int show_headers(struct etw_relog *relog)
{
	int result = 0;

	for (size_t i = 0; i < relog->stream_count && relog->sink->begin && !result; i++)
		result = show_header(relog, i);
	return result;
}

/* An input would be empty before it was read. */
static int check_output(const struct etw_relog *relog)
{
	struct stat info;

	if (stat(relog->path, &info))
		return 0;
	for (size_t i = 0; i < relog->stream_count; i++) {
		const struct stream *stream = &relog->streams[i];

		if (stream->is_file && stream->device == info.st_dev &&
		    stream->inode == info.st_ino)
			return -ETXTBSY;
	}
	return 0;
}

static int open_output(struct etw_relog *relog)
{
	if (!relog->path)
		return 0;
	TRY(check_output(relog));
	TRY(etw_relog_head_make(relog->traces, relog->stream_count, &relog->form, &relog->head));
	return etw_relog_output_create(relog->path, &relog->head.file, &relog->output);
}

static int open_streams(struct etw_relog *relog)
{
	size_t sessions = 0;

	for (size_t i = 0; i < relog->stream_count; i++) {
		relog->traces[i] = relog->streams[i].trace;
		sessions += !relog->streams[i].is_file;
	}
	if (!relog->stream_count || (sessions && sessions < relog->stream_count))
		return -EINVAL;
	for (size_t i = 0; i < relog->stream_count; i++) {
		struct stream *stream = &relog->streams[i];

		TRY(etw_trace_attach(stream->trace));
		stream->time_raw = etw_trace_header(stream->trace)->time_raw;
		stream->is_same_clock = etw_relog_clock_is_same(etw_trace_header(relog->traces[0]),
								etw_trace_header(stream->trace));
	}
	return 0;
}

/* What is known at the end alone: the last time, the processors, and what sessions have lost. */
static void finish_head(struct etw_relog *relog, struct etw_etl_file_head *file)
{
	uint32_t processors = etw_relog_output_processors(relog->output);
	int64_t last_ft = 0;

	if (relog->last_raw > INT64_MIN)
		last_ft = etw_clock_to_filetime(&etw_trace_header(relog->traces[0])->clock,
						relog->last_raw);
	etw_relog_head_count_losses(relog->traces, relog->stream_count, file);
	if (processors > file->processors)
		file->processors = processors;
	if (last_ft > file->end_ft)
		file->end_ft = last_ft;
	/* An end before the start would read as one that is not there. */
	if (file->end_ft <= 0)
		file->end_ft = file->start_ft > 0 ? file->start_ft : 1;
}

static int close_output(struct etw_relog *relog)
{
	int result, held;

	if (!relog->output)
		return 0;
	held = release_all(relog);
	finish_head(relog, &relog->head.file);
	result = etw_relog_output_finish(relog->output, &relog->head.file);
	return held < 0 ? held : result;
}

static void end_pass(struct etw_relog *relog)
{
	etw_relog_window_done(&relog->window);
	etw_relog_output_free(relog->output);
	relog->output = NULL;
	etw_relog_head_done(&relog->head);
	relog->is_running = false;
	store_release(&relog->is_cancelled, 0);
}

/* Whether the pass came to its end, or a callback ended it: then that one is not asked again. */
static bool asks_end(int result)
{
	return result == 0 || result == -ECANCELED;
}

static int pass(struct etw_relog *relog)
{
	const struct etw_trace_sink sink = {
		.context = relog,
		.event = show_event,
		.idle = look_whether_cancelled,
		.from_ft = INT64_MIN,
		.to_ft = INT64_MAX,
	};
	int result = show_headers(relog), ended;

	if (!result)
		result = etw_trace_process(relog->traces, relog->stream_count, &sink);
	if (asks_end(result) && relog->sink->end) {
		ended = relog->sink->end(relog->sink->context);
		if (!result)
			result = ended;
	}
	return result;
}

int etw_relog_run(struct etw_relog *relog, const struct etw_relog_sink *sink)
{
	int result, closed;

	if (relog->is_running)
		return -EBUSY;
	relog->is_running = true;
	relog->sink = sink;
	relog->last_raw = INT64_MIN;
	relog->write_error = 0;
	relog->window.order = 0;
	result = open_streams(relog);
	if (!result)
		result = open_output(relog);
	if (!result)
		result = pass(relog);
	closed = close_output(relog);
	/* That the disk was full is why a callback gave up, too. */
	if (relog->write_error)
		result = relog->write_error;
	else if (!result)
		result = closed;
	end_pass(relog);
	return result;
}
