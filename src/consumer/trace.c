/* SPDX-License-Identifier: MIT */
#include "consumer/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "consumer/trace_internal.h"
#include "etl/twins.h"
#include "wire/etl_logfile.h"

#define PROCESSORS_MAX (WIRE_BUFFER_PROCESSOR_MASK + 1)

static int start(struct etw_trace *trace, struct etw_fault *reterr)
{
	int result = etw_etl_walk_start(&trace->file, &trace->open_findings, &trace->walk,
					&trace->header, reterr);

	/* Which session wrote an event, its file says once; a consumer is told with each. */
	if (result == 0 && trace->header.log_file_mode & WIRE_LOGFILE_MODE_PRIVATE)
		trace->recorder.flags = EVENT_HEADER_FLAG_PRIVATE_SESSION;
	trace->findings = trace->walk_findings = trace->open_findings;
	return result;
}

int etw_trace_open(const char *path, struct etw_trace **ret, struct etw_fault *reterr)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return -ENOMEM;
	trace->file.fd = -1;
	TRY(etw_etl_file_open(path, &trace->file));
	TRY(start(trace, reterr));
	*ret = TAKE(trace);
	return 0;
}

int etw_trace_open_memory(const uint8_t *memory, uint64_t bytes, struct etw_trace **ret,
			  struct etw_fault *reterr)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return -ENOMEM;
	etw_etl_file_memory(memory, bytes, &trace->file);
	TRY(start(trace, reterr));
	*ret = TAKE(trace);
	return 0;
}

int etw_trace_open_live(const char *session, struct etw_trace **ret)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = calloc(1, sizeof(*trace));
	int result;

	if (!trace)
		return -ENOMEM;
	etw_etl_file_memory(NULL, 0, &trace->file);
	trace->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (trace->wake_fd < 0)
		return -errno;
	result = etw_live_create(session, &trace->live);
	if (result) {
		(void)close(trace->wake_fd);
		return result;
	}
	*ret = TAKE(trace);
	return 0;
}

/* The header buffer may be cut behind its events; so there is no walk, which would call that damage. */
static int read_header_buffer(struct etw_trace *trace, struct etw_bytes header)
{
	struct etw_etl_buffer *buffer = &trace->head_buffer;
	int result;

	if (header.left < WIRE_BUFFER_HEADER_BYTES)
		return -EPROTO;
	etw_etl_buffer_read(header.at, buffer);
	if (etw_etl_buffer_fault(buffer) || buffer->valid_bytes > header.left)
		return -EPROTO;
	result = etw_etl_header_parse(header.at + WIRE_BUFFER_HEADER_BYTES,
				      buffer->valid_bytes - WIRE_BUFFER_HEADER_BYTES,
				      &trace->header, NULL);
	return result == -EBADMSG ? -EPROTO : result;
}

int etw_trace_attach(struct etw_trace *trace)
{
	struct etw_bytes header;

	if (!trace->live || trace->is_attached)
		return 0;
	TRY(etw_live_subscribe(trace->live));
	header = etw_live_header(trace->live);
	etw_etl_file_memory(header.at, header.left, &trace->file);
	TRY(read_header_buffer(trace, header));
	etw_live_set_lost_before(trace->live, trace->header.events_lost);
	trace->is_attached = true;
	return 0;
}

void etw_trace_want_memory(struct etw_trace *trace, uint64_t bytes)
{
	if (trace->live)
		etw_live_want_memory(trace->live, bytes);
}

bool etw_trace_is_live(const struct etw_trace *trace)
{
	return trace->live || trace->pushed;
}

bool etw_trace_has_header(const struct etw_trace *trace)
{
	if (trace->pushed)
		return etw_pushed_has_header(trace->pushed);
	return !trace->live || trace->is_attached;
}

void etw_trace_wake(struct etw_trace *trace)
{
	const uint64_t one = 1;

	if (trace->live)
		(void)!write(trace->wake_fd, &one, sizeof(one));
}

void etw_trace_close(struct etw_trace *trace)
{
	if (!trace)
		return;
	etw_etl_file_close(&trace->file);
	etw_etl_header_done(&trace->header);
	etw_etl_directory_done(&trace->directory);
	etw_etl_kept_done(&trace->kept);
	etw_recorder_done(&trace->recorder);
	etw_live_free(trace->live);
	etw_pushed_free(trace->pushed);
	free(trace->dropped);
	if (trace->live)
		(void)close(trace->wake_fd);
	free(trace);
}

void etw_trace_closep(struct etw_trace **trace)
{
	etw_trace_close(*trace);
}

const struct etw_etl_header *etw_trace_header(const struct etw_trace *trace)
{
	return &trace->header;
}

int etw_trace_note_dropped(struct etw_trace *trace, const struct etw_etl_block *block)
{
	uint32_t processor = block->buffer.processor;
	int64_t *dropped = trace->dropped;

	if (LIKELY(!(block->buffer.flags & WIRE_BUFFER_EVENTS_LOST)))
		return 0;
	if (!dropped) {
		dropped = calloc(PROCESSORS_MAX, sizeof(*dropped));
		if (!dropped)
			return -ENOMEM;
		/* Pairs with etw_trace_dropped(), which others call meanwhile. */
		store_release(&trace->dropped, dropped);
	}
	store_relaxed(&dropped[processor],
		      block->count ? block->first_raw : block->buffer.time_raw);
	return 0;
}

int64_t etw_trace_dropped(const struct etw_trace *trace, uint32_t processor)
{
	const int64_t *dropped = load_acquire(&trace->dropped);

	if (!etw_trace_is_live(trace))
		return (int64_t)etw_load64(trace->header.companions.dropped +
					   8 * (size_t)processor);
	return dropped ? load_relaxed(&dropped[processor]) : 0;
}

uint32_t etw_trace_dropped_count(const struct etw_trace *trace)
{
	uint32_t processors = trace->header.processors;

	if (!etw_trace_is_live(trace))
		return trace->header.companions.dropped ? trace->header.companions.dropped_count
							: 0;
	return processors < PROCESSORS_MAX ? processors : PROCESSORS_MAX;
}

const struct etw_findings *etw_trace_findings(const struct etw_trace *trace)
{
	return &trace->findings;
}

uint64_t etw_trace_bytes(const struct etw_trace *trace)
{
	return trace->file.bytes;
}

uint32_t etw_trace_buffers(const struct etw_trace *trace)
{
	return trace->directory.buffers;
}

void etw_trace_set_raw(struct etw_trace *trace, bool is_raw)
{
	trace->is_raw = is_raw;
}

int64_t etw_trace_raw_time(const struct etw_trace *trace)
{
	return trace->raw_time;
}

void etw_trace_set_context(struct etw_trace *trace, void *context)
{
	trace->context = context;
}

void etw_trace_keep(struct etw_trace *trace, size_t bytes)
{
	size_t directory = trace->directory.room * sizeof(struct etw_etl_entry);

	trace->kept.is_wanted = true;
	trace->kept.limit_bytes = bytes > directory ? bytes - directory : 0;
}

size_t etw_trace_memory(const struct etw_trace *trace)
{
	return trace->directory.room * sizeof(struct etw_etl_entry) + trace->kept.bytes;
}

void etw_trace_forget(struct etw_trace *trace)
{
	struct etw_etl_kept kept = trace->kept;

	etw_etl_kept_done(&trace->kept);
	trace->kept.loaded = kept.loaded;
	trace->kept.fetched = kept.fetched;
}

struct etw_trace_loads etw_trace_loads(const struct etw_trace *trace)
{
	return (struct etw_trace_loads){trace->kept.loaded, trace->kept.fetched};
}

int etw_trace_index(struct etw_trace *trace)
{
	struct etw_etl_walk walk = trace->walk;
	struct etw_findings *findings;

	if (trace->is_indexed)
		return 0;
	/* An attempt that fails leaves no account behind, so that a second one counts nothing twice. */
	findings = malloc(sizeof(*findings));
	if (!findings)
		return -ENOMEM;
	*findings = trace->walk_findings;
	walk.findings = findings;

	int result = etw_etl_directory_build(&walk, &trace->kept, &trace->directory);

	if (!result)
		result = etw_etl_twins_find(&trace->file, &trace->directory, findings);
	if (!result) {
		trace->walk_findings = *findings;
		trace->findings = *findings;
		trace->is_indexed = true;
	}
	free(findings);
	return result;
}

/* A pass over the buffers of a trace. */
struct visit {
	struct etw_trace *trace;
	const struct etw_trace_visitor *visitor;
	struct etw_recorder *recorder;
	struct etw_findings *findings;
	struct etw_etl_block own; /* owned: room for a block that is not kept */
};

/* The events of one buffer, in its own order. */
static int visit_events(struct visit *visit, const struct etw_etl_block *block)
{
	const struct etw_trace_visitor *visitor = visit->visitor;
	struct etw_etl_cursor cursor;
	bool has_event;

	if (!visitor->event)
		return 0;
	for (has_event = etw_etl_cursor_start(&cursor, block); has_event;
	     has_event = etw_etl_cursor_next(&cursor)) {
		EVENT_RECORD record = {.UserContext = visit->trace->context};
		struct etw_event_address address = {block->buffer.number, cursor.offset};
		const char *sentence = etw_recorder_fill(visit->recorder, block, &cursor.event,
							 cursor.event.time_raw, &record);
		int result;

		if (sentence)
			etw_findings_add(visit->findings, ETW_FINDING_EVENTS, block->buffer.offset,
					 0, block->buffer.number, sentence);
		result = visitor->event(visitor->context, &block->buffer, cursor.event.header_type,
					&record, address);
		if (result)
			return result;
	}
	etw_etl_cursor_tell(&cursor, visit->findings);
	return 0;
}

static int visit_buffer(struct visit *visit, const struct etw_etl_buffer *buffer)
{
	const struct etw_trace_visitor *visitor = visit->visitor;
	struct etw_trace *trace = visit->trace;
	const struct etw_etl_block *block;

	TRY(etw_etl_kept_first(&trace->kept, &trace->file, buffer, &visit->own, visit->findings,
			       &block));
	if (visitor->buffer) {
		int result = visitor->buffer(visitor->context, buffer, block->count);

		if (result)
			return result;
	}
	return visit_events(visit, block);
}

/* Returns ETW_END behind the last buffer. */
static int visit_buffers(struct visit *visit)
{
	struct etw_etl_walk walk = visit->trace->walk;
	struct etw_etl_buffer buffer;
	int result;

	walk.findings = visit->findings;
	while (!(result = etw_etl_walk_next(&walk, &buffer))) {
		result = visit_buffer(visit, &buffer);
		if (result)
			break;
	}
	etw_etl_block_done(&visit->own);
	return result;
}

int etw_trace_each_buffer(struct etw_trace *trace, const struct etw_trace_visitor *visitor)
{
	struct visit visit = {
		.trace = trace,
		.visitor = visitor,
		.recorder = &trace->recorder,
		.findings = &trace->findings,
	};
	int result;

	/* Indexing sets the findings, so it comes before all that adds to them. */
	TRY(etw_trace_index(trace));
	trace->findings = trace->open_findings;
	result = visit_buffers(&visit);
	if (result != ETW_END)
		return result;
	/* Twins are only seen beside each other in the directory. */
	return etw_etl_twins_find(&trace->file, &trace->directory, &trace->findings);
}

int etw_trace_search(struct etw_trace *trace, const struct etw_trace_visitor *visitor)
{
	CLEANUP(etw_recorder_done)
	struct etw_recorder recorder = {.flags = trace->recorder.flags};
	struct etw_findings findings = {0};
	struct visit visit = {
		.trace = trace,
		.visitor = visitor,
		.recorder = &recorder,
		.findings = &findings,
	};
	int result;

	TRY(etw_trace_index(trace));
	result = visit_buffers(&visit);
	return result == ETW_END ? 0 : result;
}

/* Of buffers before the window nobody is told, but for whose bytes they are. */
static void drop_done(struct etw_stream *stream)
{
	const struct etw_etl_block *block;

	while ((block = etw_merge_next_done(stream->merge)) != NULL) {
		if (stream->trace->pushed)
			etw_pushed_give_back(stream->trace->pushed, block);
	}
}

int etw_stream_advance(struct etw_stream *stream, const struct etw_trace_sink *sink)
{
	int result;

	do {
		result = etw_merge_peek(stream->merge, &stream->head);
		stream->has_head = !result;
		if (result)
			return result == ETW_END ? 0 : result;
		stream->head_ft = etw_clock_to_filetime(&stream->trace->header.clock,
							stream->head.time_raw);
		if (LIKELY(stream->head_ft >= sink->from_ft))
			return 0;
		if (etw_merge_pop(stream->merge))
			drop_done(stream);
	} while (true);
}

int etw_stream_deliver(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;
	const struct etw_merge_event *head = &stream->head;
	int64_t time = trace->is_raw ? head->time_raw : stream->head_ft;
	struct etw_event_address address = {head->block->buffer.number, head->offset};
	EVENT_RECORD record;
	int result = 0;

	record.UserContext = trace->context;
	trace->raw_time = head->time_raw;
	if (UNLIKELY(head->loss)) {
		etw_record_loss(head->block, head->loss, time, &record);
		address.offset = UINT32_MAX;
	} else {
		const char *sentence = etw_recorder_fill(&trace->recorder, head->block, head->event,
							 time, &record);

		if (UNLIKELY(sentence))
			etw_findings_add(&trace->findings, ETW_FINDING_EVENTS,
					 head->block->buffer.offset, 0, head->block->buffer.number,
					 sentence);
	}
	if (sink->event)
		result = sink->event(sink->context, index, &record, address);
	if (UNLIKELY(result))
		return result;
	if (UNLIKELY(etw_merge_pop(stream->merge) != NULL)) {
		result = etw_stream_show_done(stream, index, sink);
		if (result)
			return result;
	}
	return etw_stream_advance(stream, sink);
}

static int open_stream(struct etw_trace *trace, const struct etw_trace_sink *sink,
		       struct etw_stream *stream)
{
	const struct etw_clock *clock = &trace->header.clock;
	int64_t to_raw = INT64_MAX;

	stream->trace = trace;
	stream->before = trace->findings;
	if (etw_trace_is_live(trace)) {
		TRY(etw_live_stream_open(stream, sink));
		trace->delivering = stream->merge;
		return 0;
	}
	TRY(etw_trace_index(trace));
	trace->findings = trace->walk_findings;
	if (trace->buffers == ETW_BUFFERS_ALONE)
		return 0;
	if (sink->to_ft < INT64_MAX) {
		/* The last raw time that still rounds down to it; none is beyond where time saturates. */
		int64_t beyond = etw_clock_from_filetime(clock, sink->to_ft + 1);

		if (etw_clock_to_filetime(clock, beyond) > sink->to_ft)
			to_raw = beyond > INT64_MIN ? beyond - 1 : beyond;
	}
	TRY(etw_merge_create(&trace->file, &trace->directory, &trace->kept, to_raw,
			     &trace->findings, &stream->merge));
	trace->delivering = stream->merge;
	if (trace->buffers == ETW_BUFFERS_IN_ORDER)
		TRY(etw_merge_keep_order(stream->merge));
	return etw_stream_advance(stream, sink);
}

/*
 * Runs the stream whose head is earliest, and goes on with it while it stays so: a buffer's worth of
 * events, as a rule. @ret_any is false when no stream has events any more.
 */
static int run_earliest(struct etw_stream *streams, size_t count, const struct etw_trace_sink *sink,
			bool *ret_any)
{
	size_t first = count, second = count;
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		if (!streams[i].has_head)
			continue;
		if (first == count || streams[i].head_ft < streams[first].head_ft) {
			second = first;
			first = i;
		} else if (second == count || streams[i].head_ft < streams[second].head_ft) {
			second = i;
		}
	}
	*ret_any = first < count;
	if (!*ret_any)
		return 0;
	do {
		result = etw_stream_deliver(&streams[first], first, sink);
	} while (!result && streams[first].has_head &&
		 (second == count || streams[first].head_ft < streams[second].head_ft ||
		  (streams[first].head_ft == streams[second].head_ft && first < second)));
	return result;
}

/*
 * A pass over a part of the file does not make anybody forget what one over all of it found; nor does that
 * know which events came late.
 */
static void keep_findings(struct etw_findings *findings, const struct etw_findings *before)
{
	uint64_t late = findings->counts[ETW_FINDING_LATE];

	if (etw_findings_total(before) + before->counts[ETW_FINDING_DOUBTED] <=
	    etw_findings_total(findings) + findings->counts[ETW_FINDING_DOUBTED])
		return;
	*findings = *before;
	if (findings->counts[ETW_FINDING_LATE] < late)
		findings->counts[ETW_FINDING_LATE] = late;
}

static void close_stream(struct etw_stream *stream)
{
	if (stream->trace)
		stream->trace->delivering = NULL;
	etw_merge_free(stream->merge);
	etw_etl_block_done(&stream->block);
	if (stream->trace && stream->trace->pushed)
		etw_pushed_give_back_all(stream->trace->pushed);
	if (stream->trace)
		keep_findings(&stream->trace->findings, &stream->before);
}

int etw_trace_pin(struct etw_trace *trace, struct etw_pin_account *account, struct etw_pin **ret)
{
	return trace->delivering ? etw_merge_pin(trace->delivering, account, ret) : -ENODATA;
}

int etw_trace_process(struct etw_trace *const *traces, size_t count,
		      const struct etw_trace_sink *sink)
{
	struct etw_stream *streams;
	size_t live = 0;
	bool any = true;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		live += etw_trace_is_live(traces[i]);
	if (live && live < count)
		return -EINVAL;
	streams = calloc(count ? count : 1, sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	for (size_t i = 0; i < count && !result; i++)
		result = open_stream(traces[i], sink, &streams[i]);
	for (size_t i = 0; i < count && !result && !live; i++) {
		if (traces[i]->buffers == ETW_BUFFERS_ALONE)
			result = etw_file_show_all(traces[i], i, sink);
	}
	if (!result && live)
		result = etw_live_pass(streams, count, sink);
	while (!result && !live && any)
		result = run_earliest(streams, count, sink, &any);
	for (size_t i = 0; i < count; i++)
		close_stream(&streams[i]);
	free(streams);
	return result;
}
