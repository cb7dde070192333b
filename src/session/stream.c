/* SPDX-License-Identifier: MIT */
/* Looking at streams and merging them by time; see session/stream.h. */
#include "session/stream.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "session/output.h"
#include "session/ring_sets.h"

static void add_stream(struct etw_session *session, uint32_t output,
		       struct etw_session_stream *stream)
{
	session->outputs[output].streams[session->outputs[output].stream_count++] = stream;
}

void etw_streams_gather(struct etw_session *session)
{
	struct etw_session_set *sets[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(session, sets);

	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		session->outputs[i].stream_count = 0;
		for (uint32_t j = 0; j < count; j++) {
			if (!sets[j]->is_broken)
				add_stream(session, i, &sets[j]->streams[i]);
		}
	}
	for (uint32_t i = 0; session->source && i < session->plan.cpu_count; i++)
		add_stream(session, session->plan.output_count == 1 ? 0 : i,
			   &session->source_streams[i]);
}

static enum etw_ring_look choose_look(const struct etw_session *session,
				      const struct etw_session_output *output,
				      const struct etw_session_stream *stream)
{
	uint64_t gap_ns = etw_ring_reader_open_gap_ns(stream->reader);

	/*
	 * A gap in the open buffer never ends by itself: its buffer must be closed. Only that one: at each
	 * look behind a gap one more buffer would be used up for a few events, until there is none.
	 */
	if (gap_ns != 0 && session->round.now_ns - gap_ns > ETW_SESSION_GAP_NS / 4)
		return ETW_RING_LOOK_SWITCH;
	/* A process that has ended may have left a gap in the open buffer, too. */
	if (session->round.is_flush || session->round.is_look || output->stream_count > 1 ||
	    stream->set->is_retired || load_relaxed(&stream->set->left_ns))
		return ETW_RING_LOOK_BUMP;
	return ETW_RING_LOOK_CLOSED;
}

static void look_at_ring(struct etw_session *session, struct etw_session_output *output,
			 struct etw_session_stream *stream)
{
	enum etw_ring_look look = choose_look(session, output, stream);

	stream->is_bumped = look != ETW_RING_LOOK_CLOSED;
	if (etw_ring_reader_look(stream->reader, look, session->round.now_raw) < 0)
		stream->set->is_broken = true;
}

void etw_streams_look(struct etw_session *session)
{
	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		struct etw_session_output *output = &session->outputs[i];

		for (uint32_t j = 0; j < output->stream_count; j++) {
			if (output->streams[j]->set && !output->streams[j]->set->is_broken)
				look_at_ring(session, output, output->streams[j]);
		}
	}
	session->round.after_raw = etw_session_now(session);
	if (session->round.after_raw < session->round.now_raw)
		session->round.after_raw = session->round.now_raw;
	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		struct etw_session_output *output = &session->outputs[i];

		for (uint32_t j = 0; j < output->stream_count; j++)
			etw_stream_refresh(session, output->streams[j]);
	}
}

/*
 * The place in the merge. A time that no writer can have read is taken at once: the check refuses it, or
 * moves it where the clock may have been set.
 */
static int64_t place_of(const struct etw_session *session, const struct etw_session_stream *stream,
			int64_t raw)
{
	if (raw < stream->floor_raw || raw > session->round.after_raw)
		return stream->floor_raw;
	return raw;
}

static void refresh_ring(struct etw_session *session, struct etw_session_stream *stream)
{
	struct etw_ring_event event;
	int result;

	if (UNLIKELY(stream->set->is_broken)) {
		stream->status = ETW_STREAM_EMPTY;
		stream->floor_raw = session->round.now_raw;
		return;
	}
	result = etw_ring_reader_peek(stream->reader, session->round.now_ns, &event);
	if (LIKELY(result == 0)) {
		stream->status = ETW_STREAM_EVENT;
		stream->head_at = event.at;
		stream->head_bytes = event.bytes;
		stream->head_raw = place_of(session, stream, event.time_raw);
		return;
	}
	stream->status = result == -EAGAIN ? ETW_STREAM_GAP : ETW_STREAM_EMPTY;
	if (stream->status == ETW_STREAM_EMPTY && stream->is_bumped &&
	    stream->floor_raw < session->round.now_raw - session->slack_raw)
		stream->floor_raw = session->round.now_raw - session->slack_raw;
}

static void refresh_source(struct etw_session *session, struct etw_session_stream *stream)
{
	struct etw_source_event event;

	if (session->host.kernel->peek(session->source, stream->source_cpu, &event)) {
		stream->status = ETW_STREAM_EVENT;
		stream->head_at = event.bytes;
		stream->head_bytes = event.byte_count;
		stream->head_raw = event.time_raw;
		return;
	}
	stream->status = ETW_STREAM_EMPTY;
	if (stream->floor_raw < session->source_watermark_raw)
		stream->floor_raw = session->source_watermark_raw;
}

void etw_stream_refresh(struct etw_session *session, struct etw_session_stream *stream)
{
	if (stream->set)
		refresh_ring(session, stream);
	else
		refresh_source(session, stream);
}

/* A gap that has been there for too long, in a ring that cannot close it up, holds nobody any more. */
static bool is_stalled(struct etw_session *session, const struct etw_session_stream *stream)
{
	uint64_t gap_ns;

	session->round.has_gap = true;
	gap_ns = etw_ring_reader_oldest_gap_ns(stream->reader);
	return gap_ns != 0 && session->round.now_ns - gap_ns > ETW_SESSION_STALL_NS;
}

/* Whether a stream with nothing to take holds nobody: what may come yet is not waited for. */
static bool is_given_up(struct etw_session *session, const struct etw_session_stream *stream)
{
	if (stream->status == ETW_STREAM_GAP)
		return is_stalled(session, stream);
	return stream->status == ETW_STREAM_EMPTY && !stream->set && session->is_source_given_up;
}

/* The stream to take from, and up to which time; NULL when nothing may be taken. */
static struct etw_session_stream *choose(struct etw_session *session,
					 struct etw_session_output *output, int64_t *ret_bound)
{
	struct etw_session_stream *first = NULL;
	int64_t bound = session->round.now_raw;

	for (uint32_t i = 0; i < output->stream_count; i++) {
		struct etw_session_stream *stream = output->streams[i];
		int64_t held = stream->floor_raw;

		if (stream->status == ETW_STREAM_EVENT) {
			if (!first || stream->head_raw < first->head_raw) {
				struct etw_session_stream *second = first;

				first = stream;
				stream = second;
			}
			if (!stream)
				continue;
			held = stream->head_raw;
		} else if (is_given_up(session, stream)) {
			continue;
		} else if (output->stream_count == 1) {
			continue;
		}
		if (held < bound)
			bound = held;
	}
	*ret_bound = bound;
	return first && first->head_raw <= bound ? first : NULL;
}

/* Before what time nothing comes to this output any more. */
static void settle_merged(struct etw_session *session, struct etw_session_output *output)
{
	int64_t merged = session->round.now_raw;

	for (uint32_t i = 0; i < output->stream_count; i++) {
		const struct etw_session_stream *stream = output->streams[i];
		int64_t held = stream->floor_raw;

		if (stream->status == ETW_STREAM_EVENT)
			held = stream->head_raw;
		else if (is_given_up(session, stream))
			continue;
		if (held < merged)
			merged = held;
	}
	if (merged > output->merged_raw)
		output->merged_raw = merged;
}

/* What is left stands behind a gap, behind the source's clock, or is younger than the round. */
static void note_rest(struct etw_session *session, const struct etw_session_output *output)
{
	for (uint32_t i = 0; i < output->stream_count; i++) {
		const struct etw_session_stream *stream = output->streams[i];

		if (stream->status != ETW_STREAM_EVENT)
			continue;
		if (session->source && session->source_watermark_raw < stream->head_raw)
			session->needs_source_retry = true;
		else if (!session->round.has_gap)
			session->round.has_more = true;
	}
}

void etw_output_merge(struct etw_session *session, struct etw_session_output *output)
{
	struct etw_session_stream *stream;
	int64_t bound;

	output->round_buffers = 0;
	output->has_progress = false;
	while ((stream = choose(session, output, &bound)) != NULL) {
		session->round.has_progress = true;
		output->has_progress = true;
		do {
			etw_output_append(session, output, stream);
			etw_stream_refresh(session, stream);
			if (UNLIKELY(output->round_buffers >= ETW_SESSION_ROUND_BUFFERS)) {
				session->round.has_more = true;
				settle_merged(session, output);
				return;
			}
		} while (stream->status == ETW_STREAM_EVENT && stream->head_raw <= bound);
	}
	settle_merged(session, output);
	note_rest(session, output);
}
