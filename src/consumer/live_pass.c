/* SPDX-License-Identifier: MIT */
/*
 * A pass over sessions. Each has promised that nothing before its watermark is to come; what lies below the
 * lowest of these promises is delivered in order of time. A session that promises nothing for long holds the
 * others up for ETW_LIVE_LAG_MS, no longer: then they go on, and what it sends later comes with a finding.
 */
#include "consumer/trace_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/time.h"

#define IDLE_MS 1000

/* What a session's events wait in when they take up its memory: so much, and this part of that. */
#define COPIED_BYTES (1024u * 1024)
#define COPIED_PART  8

/* The state of a pass over all its sessions. */
struct pass {
	struct etw_stream *streams;
	size_t count;
	const struct etw_trace_sink *sink;
	struct pollfd *waits;     /* owned; sockets first, then what wakes */
	int64_t last_ft;          /* of the last event delivered; INT64_MIN before any */
	int64_t blocked_since_ms; /* events wait for another session's promise; -1: none do */
	bool is_overdue;          /* they have waited for long enough */
};

static void give_back(void *context, const struct etw_etl_block *block)
{
	etw_live_give_back(context, block);
}

int etw_live_stream_open(struct etw_stream *stream, const struct etw_trace_sink *sink)
{
	static const struct etw_etl_directory nothing;
	struct etw_trace *trace = stream->trace;

	TRY(etw_trace_attach(trace));
	trace->findings = trace->open_findings;
	stream->held_since_ms = -1;
	stream->last_ft = INT64_MIN;
	TRY(etw_merge_create(&trace->file, &nothing, NULL, INT64_MIN, &trace->findings,
			     &stream->merge));
	if (trace->live)
		etw_merge_lend(stream->merge, give_back, trace->live);
	/*
	 * The header buffer's events are not delivered: on Windows files have them, and sessions do not. What
	 * consumers need of them is in the header, and nothing comes that is older.
	 */
	if (etw_trace_has_header(trace)) {
		stream->promised_ft = trace->header.start_ft;
		stream->has_watermark = true;
		stream->watermark_raw = trace->header.time_raw;
		stream->watermark_ft = trace->header.start_ft;
	}
	if (trace->buffers == ETW_BUFFERS_IN_ORDER)
		TRY(etw_merge_keep_order(stream->merge));
	return etw_stream_advance(stream, sink);
}

/* Whoever hands buffers on needs the header buffer before all others: it has the clock. Once for each trace. */
static int show_head(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;

	if (trace->buffers == ETW_BUFFERS_AS_DONE || trace->is_head_shown || trace->pushed)
		return 0;
	TRY(etw_etl_block_load(&trace->file, &trace->head_buffer, &stream->block,
			       &trace->findings));
	trace->is_head_shown = true;
	return etw_stream_show(trace, index, &stream->block, sink);
}

/* Who is handed the batch's buffers knows by this when the order of its events is settled. */
static void write_promise(struct etw_etl_block *block, int64_t watermark_raw)
{
	struct wire_buffer_header *header = (void *)block->memory;

	header->reference_start = le64_of(WIRE_BUFFER_PROMISE);
	header->reference_clock = le64_of((uint64_t)watermark_raw);
}

void etw_stream_promise(struct etw_stream *stream, int64_t watermark_raw)
{
	stream->watermark_raw = watermark_raw;
	stream->watermark_ft = watermark_raw == INT64_MAX
				       ? INT64_MAX
				       : etw_clock_to_filetime(&stream->trace->header.clock,
							       watermark_raw);
	stream->has_watermark = true;
	if (watermark_raw < INT64_MAX && stream->watermark_ft > stream->promised_ft)
		stream->promised_ft = stream->watermark_ft;
	etw_merge_set_end(stream->merge, watermark_raw);
}

/* What a file's header says at its end, a session's says all the time. */
static void note_loss(struct etw_trace *trace)
{
	struct etw_live_loss loss = etw_live_loss(trace->live);
	uint64_t events = etw_sum_saturated(loss.events, loss.session_events);

	/* Others may ask for the header meanwhile. */
	store_relaxed(&trace->header.events_lost, etw_saturate32(events));
	store_relaxed(&trace->header.buffers_lost, etw_saturate32(loss.buffers));
}

/* Whoever takes whole buffers may keep them for as long as he likes: he gets copies. */
static int own_block(struct etw_trace *trace, struct etw_etl_block *block)
{
	struct etw_etl_block before = *block;
	int result = etw_etl_block_own(block);

	etw_live_give_back(trace->live, &before);
	return result;
}

/* Hands the next buffer on, which is still where the session put it. */
static int take_buffer(struct etw_stream *stream, size_t index, const struct etw_live_batch *batch,
		       bool is_last, const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;
	struct etw_etl_block *block = &stream->block;

	TRY(etw_live_load(trace->live, batch, block, &trace->findings));
	if (!block->raw)
		return 0;
	TRY(etw_trace_note_dropped(trace, block));
	if (trace->buffers == ETW_BUFFERS_AS_DONE)
		return etw_merge_add(stream->merge, block);
	TRY(own_block(trace, block));
	if (is_last)
		write_promise(block, batch->watermark_raw);
	return trace->buffers == ETW_BUFFERS_ALONE ? etw_stream_show(trace, index, block, sink)
						   : etw_merge_add(stream->merge, block);
}

/* Takes a batch's buffers, without a copy as far as that can be. */
static int take_batch(struct etw_stream *stream, size_t index, const struct etw_live_batch *batch,
		      const struct etw_trace_sink *sink)
{
	struct etw_trace *trace = stream->trace;

	for (uint32_t i = 0; i < batch->buffer_count; i++) {
		int result = take_buffer(stream, index, batch, i == batch->buffer_count - 1, sink);

		if (result)
			return result;
	}
	etw_live_release(trace->live, batch);
	note_loss(trace);
	/* After a new host took over its first promises may be older. */
	if (!stream->has_watermark || batch->watermark_raw > stream->watermark_raw)
		etw_stream_promise(stream, batch->watermark_raw);
	return 0;
}

/* Nothing more comes: all that is there may be delivered. */
static void end_stream(struct etw_stream *stream)
{
	stream->is_over = true;
	etw_stream_promise(stream, INT64_MAX);
}

/*
 * Takes what is there, up to the memory that may wait. A promise that never moves must not fill the memory:
 * when all that is held waits for one, it goes out without.
 */
static int receive(struct etw_stream *stream, size_t index, const struct etw_trace_sink *sink)
{
	struct etw_live_batch batch;
	int result = 0;

	if (stream->trace->pushed)
		return etw_pushed_stream_receive(stream, index, sink);
	if (stream->is_closing && !stream->is_over)
		end_stream(stream);
	while (!stream->is_over && etw_merge_bytes(stream->merge) < ETW_LIVE_HELD_BYTES_MAX) {
		result = etw_live_receive(stream->trace->live, &batch);
		if (result)
			break;
		result = take_batch(stream, index, &batch, sink);
		if (result)
			return result;
	}
	if (result == ETW_END) {
		end_stream(stream);
		if (etw_live_is_cut(stream->trace->live)) {
			stream->is_cut = true;
			note_loss(stream->trace);
			etw_findings_add(&stream->trace->findings, ETW_FINDING_CUT, 0, 0, 0,
					 "the session was over before its host was replaced");
		}
	} else if (result && result != -EAGAIN) {
		return result;
	}
	etw_merge_set_end(stream->merge, stream->watermark_raw);
	TRY(etw_stream_advance(stream, sink));
	if (stream->has_head || etw_merge_bytes(stream->merge) < ETW_LIVE_HELD_BYTES_MAX)
		return 0;
	etw_merge_set_end(stream->merge, INT64_MAX);
	return etw_stream_advance(stream, sink);
}

/* Up to where every session has promised. */
static int64_t common_promise(const struct pass *pass)
{
	int64_t limit_ft = INT64_MAX;

	for (size_t i = 0; i < pass->count; i++) {
		const struct etw_stream *stream = &pass->streams[i];
		int64_t own = stream->has_watermark ? stream->watermark_ft : INT64_MIN;

		if (etw_merge_bytes(stream->merge) >= ETW_LIVE_HELD_BYTES_MAX)
			return INT64_MAX;
		if (own < limit_ft)
			limit_ft = own;
	}
	/* One alone is ordered by its own promise, to the tick. */
	return pass->is_overdue || pass->count == 1 ? INT64_MAX : limit_ft;
}

/* The stream whose head is earliest, or @count. */
static size_t earliest(const struct pass *pass)
{
	size_t first = pass->count;

	for (size_t i = 0; i < pass->count; i++) {
		const struct etw_stream *stream = &pass->streams[i];

		if (stream->has_head &&
		    (first == pass->count || stream->head_ft < pass->streams[first].head_ft))
			first = i;
	}
	return first;
}

/* Delivers what is promised. @ret_rest: some heads remain, which another session holds up. */
static int deliver_promised(struct pass *pass, bool *ret_any, bool *ret_rest)
{
	int64_t limit_ft = common_promise(pass);
	size_t first;

	*ret_any = false;
	while ((first = earliest(pass)) < pass->count) {
		struct etw_stream *stream = &pass->streams[first];
		int result;

		if (stream->head_ft > limit_ft)
			break;
		if (stream->head_ft > pass->sink->to_ft)
			return ETW_END;
		/* What is late in its own session too the merge tells of. */
		if (stream->head_ft < pass->last_ft && stream->head_ft >= stream->last_ft &&
		    !stream->head.loss)
			etw_findings_add(&stream->trace->findings, ETW_FINDING_LATE, 0, 0,
					 stream->head.block->buffer.number,
					 "an event is older than one of another session");
		if (stream->head_ft > pass->last_ft)
			pass->last_ft = stream->head_ft;
		if (stream->head_ft > stream->last_ft)
			stream->last_ft = stream->head_ft;
		result = etw_stream_deliver(stream, first, pass->sink);
		if (result)
			return result;
		*ret_any = true;
	}
	*ret_rest = first < pass->count;
	return 0;
}

static bool is_all_over(const struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		if (!pass->streams[i].is_over || pass->streams[i].has_head)
			return false;
	}
	return true;
}

/* Nobody is left who could say what is missing. */
static bool is_any_cut(const struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		if (pass->streams[i].is_cut)
			return true;
	}
	return false;
}

/* Of the last event; records that come behind it may not be older. Where none came, what was promised last. */
static int64_t end_time(const struct pass *pass, const struct etw_stream *stream)
{
	int64_t end_ft = pass->last_ft > INT64_MIN ? pass->last_ft : stream->promised_ft;

	return stream->trace->is_raw ? etw_clock_from_filetime(&stream->trace->header.clock, end_ft)
				     : end_ft;
}

/* What was lost behind the last buffer, or with it, is told behind the last event. */
static int tell_rest(struct pass *pass)
{
	static const uint16_t flags[] = {WIRE_BUFFER_EVENTS_LOST, WIRE_BUFFER_BUFFER_LOST};
	const struct etw_event_address nowhere = {0, UINT32_MAX};

	for (size_t i = 0; i < pass->count; i++) {
		struct etw_stream *stream = &pass->streams[i];
		uint16_t untold = stream->trace->live ? etw_live_untold(stream->trace->live) : 0;

		for (size_t j = 0; j < ARRAY_SIZE(flags) && pass->sink->event; j++) {
			EVENT_RECORD record = {.UserContext = stream->trace->context};
			int result;

			if (!(untold & flags[j]))
				continue;
			etw_record_loss(&stream->block, flags[j], end_time(pass, stream), &record);
			result = pass->sink->event(pass->sink->context, i, &record, nowhere);
			if (result)
				return result;
		}
	}
	return 0;
}

/* At most @wait, but no longer than events may be held up that are so since @since_ms; -1: none are. */
static int64_t until_overdue(int64_t since_ms, int64_t wait)
{
	int64_t left = since_ms + ETW_LIVE_LAG_MS - (int64_t)etw_monotonic_ms();

	if (since_ms < 0 || left > wait)
		return wait;
	return left > 0 ? left : 0;
}

/*
 * How much waits in copies at most. One session alone is waited for where a writer is held up, for 150 ms; others are
 * waited for by seconds.
 */
static size_t copies_max(const struct pass *pass, const struct etw_live *live)
{
	return pass->count > 1 ? ETW_LIVE_HELD_BYTES_MAX
			       : COPIED_BYTES + etw_live_memory_bytes(live) / COPIED_PART;
}

/*
 * Events wait, for the rest of their own session or for another one. Those that take up too much of their session's memory
 * wait in copies, so that it can hand out what it has.
 */
static int make_room(struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		struct etw_stream *stream = &pass->streams[i];

		if (!stream->trace->live || !etw_live_is_scarce(stream->trace->live))
			continue;
		TRY(etw_merge_own(stream->merge, copies_max(pass, stream->trace->live)));
		TRY(etw_stream_advance(stream, pass->sink));
	}
	return 0;
}

/* How long nothing needs to be looked at. */
static int wait_ms(const struct pass *pass)
{
	int64_t wait = IDLE_MS;

	for (size_t i = 0; i < pass->count; i++) {
		const struct etw_stream *stream = &pass->streams[i];
		int retry = stream->trace->live ? etw_live_retry_ms(stream->trace->live) : -1;

		if (retry >= 0 && retry < wait)
			wait = retry;
		wait = until_overdue(stream->held_since_ms, wait);
	}
	return (int)until_overdue(pass->blocked_since_ms, wait);
}

/* Waits until a session has something, or somebody wakes the pass; then asks whether to go on. */
static int wait_for_more(struct pass *pass)
{
	bool was_woken = false;
	int ready;

	for (size_t i = 0; i < pass->count; i++) {
		struct etw_stream *stream = &pass->streams[i];
		int fd = stream->trace->pushed ? etw_pushed_fd(stream->trace->pushed)
					       : etw_live_socket(stream->trace->live);

		if (stream->is_over)
			fd = -1;
		pass->waits[i] = (struct pollfd){.fd = fd, .events = POLLIN};
		pass->waits[pass->count + i] = (struct pollfd){.fd = stream->trace->wake_fd,
							       .events = POLLIN};
	}
	ready = poll(pass->waits, 2 * pass->count, wait_ms(pass));
	if (ready < 0 && errno != EINTR)
		return -errno;
	for (size_t i = pass->count; ready > 0 && i < 2 * pass->count; i++) {
		uint64_t count;

		if (pass->waits[i].revents &&
		    read(pass->waits[i].fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
			was_woken = true;
	}
	if ((ready <= 0 || was_woken) && pass->sink->idle)
		return pass->sink->idle(pass->sink->context);
	return 0;
}

/* Events that wait for a promise do so for a while only. */
static void watch_lag(struct pass *pass, bool has_rest)
{
	int64_t now = (int64_t)etw_monotonic_ms();

	if (!has_rest)
		pass->blocked_since_ms = -1;
	else if (pass->blocked_since_ms < 0)
		pass->blocked_since_ms = now;
	pass->is_overdue = has_rest && now - pass->blocked_since_ms >= ETW_LIVE_LAG_MS;
}

static int end_pass(struct pass *pass)
{
	int result = tell_rest(pass);

	return !result && is_any_cut(pass) ? -ENOENT : result;
}

/* The program wants what has come, and no more. */
static void close_streams(struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++)
		pass->streams[i].is_closing = true;
}

static int run(struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		int result = show_head(&pass->streams[i], i, pass->sink);

		if (result)
			return result;
	}
	for (;;) {
		bool any, has_rest;
		int result = 0;

		if (pass->sink->ends && pass->sink->ends(pass->sink->context))
			close_streams(pass);
		for (size_t i = 0; i < pass->count && !result; i++)
			result = receive(&pass->streams[i], i, pass->sink);
		if (result)
			return result;
		result = deliver_promised(pass, &any, &has_rest);
		if (result)
			return result;
		if (is_all_over(pass))
			return end_pass(pass);
		watch_lag(pass, has_rest);
		if (any || pass->is_overdue)
			continue;
		result = make_room(pass);
		if (!result)
			result = wait_for_more(pass);
		if (result)
			return result;
	}
}

int etw_live_pass(struct etw_stream *streams, size_t count, const struct etw_trace_sink *sink)
{
	CLEANUP(freep) struct pollfd *waits = calloc(2 * count, sizeof(*waits));
	struct pass pass = {
		.streams = streams,
		.count = count,
		.sink = sink,
		.waits = waits,
		.last_ft = INT64_MIN,
		.blocked_since_ms = -1,
	};
	int result;

	if (!waits)
		return -ENOMEM;
	result = run(&pass);
	return result == ETW_END ? 0 : result;
}
