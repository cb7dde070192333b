/* SPDX-License-Identifier: MIT */
/* Looking at streams and merging them by time; see session/merge.h. */
#include "session/merge.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/macros.h"

#define ROUND_BUFFERS 16 /* of one output in one round */

static void add_stream(struct etw_session_outputs *outputs, uint32_t output,
		       struct etw_session_stream *stream)
{
	outputs->all[output].streams[outputs->all[output].stream_count++] = stream;
}

void etw_outputs_gather(struct etw_session_outputs *outputs)
{
	const struct etw_session_plan *plan = &outputs->context->plan;
	struct etw_session_set *sets[ETW_STATE_SETS];
	uint32_t count = etw_session_sets_list(outputs->sets, sets);

	for (uint32_t i = 0; i < plan->output_count; i++) {
		outputs->all[i].stream_count = 0;
		for (uint32_t j = 0; j < count; j++) {
			if (!sets[j]->is_broken)
				add_stream(outputs, i, &sets[j]->streams[i]);
		}
	}
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		struct etw_source_feed *feed = &outputs->feeds->all[i];

		for (uint32_t j = 0; feed->source && j < plan->cpu_count; j++)
			add_stream(outputs, plan->output_count == 1 ? 0 : j, &feed->streams[j]);
	}
}

static enum etw_ring_look choose_look(const struct etw_session_round *round,
				      const struct etw_session_output *output,
				      const struct etw_session_stream *stream)
{
	uint64_t gap_ns = etw_ring_reader_open_gap_ns(stream->reader);

	/*
	 * A gap in the open buffer never ends by itself: its buffer must be closed. Only that one: at each
	 * look behind a gap one more buffer would be used up for a few events, until there is none.
	 */
	if (gap_ns != 0 && round->now_ns - gap_ns > ETW_STREAM_GAP_NS / 4)
		return ETW_RING_LOOK_SWITCH;
	/* A process that has ended may have left a gap in the open buffer, too. */
	if (round->is_flush || round->is_look || output->stream_count > 1 ||
	    stream->set->is_retired || load_relaxed(&stream->set->left_ns))
		return ETW_RING_LOOK_BUMP;
	return ETW_RING_LOOK_CLOSED;
}

static void look_at_ring(const struct etw_session_round *round,
			 const struct etw_session_output *output, struct etw_session_stream *stream)
{
	enum etw_ring_look look = choose_look(round, output, stream);

	stream->is_bumped = look != ETW_RING_LOOK_CLOSED;
	if (etw_ring_reader_look(stream->reader, look, round->now_raw) < 0)
		stream->set->is_broken = true;
}

/*
 * The place in the merge. A time that no writer can have read is taken at once: the check refuses it, or
 * moves it where the clock may have been set. One a little ahead of this processor's clock waits until it is past.
 */
static int64_t place_of(const struct etw_session_round *round,
			const struct etw_session_stream *stream, int64_t slack_raw, int64_t raw)
{
	if (raw < stream->floor_raw || raw - slack_raw > round->after_raw)
		return stream->floor_raw;
	return raw;
}

static void refresh_ring(struct etw_session_stream *stream, const struct etw_session_round *round,
			 int64_t slack_raw)
{
	struct etw_ring_event event;
	int result;

	if (UNLIKELY(stream->set->is_broken)) {
		stream->status = ETW_STREAM_EMPTY;
		stream->floor_raw = round->now_raw;
		return;
	}
	result = etw_ring_reader_peek(stream->reader, round->now_ns, &event);
	if (LIKELY(result == 0)) {
		stream->status = ETW_STREAM_EVENT;
		stream->head_at = event.at;
		stream->head_bytes = event.bytes;
		stream->head_raw = place_of(round, stream, slack_raw, event.time_raw);
		return;
	}
	stream->status = result == -EAGAIN ? ETW_STREAM_GAP : ETW_STREAM_EMPTY;
	if (stream->status == ETW_STREAM_EMPTY && stream->is_bumped &&
	    stream->floor_raw < round->now_raw - slack_raw)
		stream->floor_raw = round->now_raw - slack_raw;
}

static void refresh_source(struct etw_session_stream *stream)
{
	const struct etw_source_feed *feed = stream->feed;
	struct etw_source_event event;

	if (feed->ops->peek(feed->source, stream->source_cpu, &event)) {
		stream->status = ETW_STREAM_EVENT;
		stream->head_at = event.bytes;
		stream->head_bytes = event.byte_count;
		stream->head_raw = event.time_raw;
		return;
	}
	stream->status = ETW_STREAM_EMPTY;
	if (stream->floor_raw < feed->watermark_raw)
		stream->floor_raw = feed->watermark_raw;
}

/* Finds out what the stream has next. */
static void refresh(const struct etw_session_outputs *outputs, struct etw_session_stream *stream,
		    const struct etw_session_round *round)
{
	if (LIKELY(stream->set))
		refresh_ring(stream, round, outputs->limits.slack_raw);
	else
		refresh_source(stream);
}

static void look_at_rings(struct etw_session_outputs *outputs,
			  const struct etw_session_round *round)
{
	for (uint32_t i = 0; i < outputs->context->plan.output_count; i++) {
		struct etw_session_output *output = &outputs->all[i];

		for (uint32_t j = 0; j < output->stream_count; j++) {
			if (output->streams[j]->set && !output->streams[j]->set->is_broken)
				look_at_ring(round, output, output->streams[j]);
		}
	}
}

void etw_outputs_look(struct etw_session_outputs *outputs, struct etw_session_round *round)
{
	const struct etw_session_context *context = outputs->context;

	look_at_rings(outputs, round);
	round->after_raw = etw_context_now(context);
	if (round->after_raw < round->now_raw)
		round->after_raw = round->now_raw;
	outputs->limits = (struct etw_check_limits){
		.latest_raw = round->after_raw,
		.slack_raw = context->slack_raw,
		.is_steppable = context->plan.clock_type == ETW_CLOCK_SYSTEM,
		.now_ns = round->now_ns,
	};
	for (uint32_t i = 0; i < context->plan.output_count; i++) {
		struct etw_session_output *output = &outputs->all[i];

		for (uint32_t j = 0; j < output->stream_count; j++)
			refresh(outputs, output->streams[j], round);
	}
}

/* A gap that has been there for too long, in a ring that cannot close it up, holds nobody any more. */
static bool is_stalled(struct etw_session_round *round, const struct etw_session_stream *stream)
{
	uint64_t gap_ns;

	round->has_gap = true;
	gap_ns = etw_ring_reader_oldest_gap_ns(stream->reader);
	return gap_ns != 0 && round->now_ns - gap_ns > ETW_STREAM_STALL_NS;
}

/* Whether a stream with nothing to take holds nobody: what may come yet is not waited for. */
static bool is_given_up(const struct etw_session_stream *stream, struct etw_session_round *round)
{
	if (stream->status == ETW_STREAM_GAP)
		return is_stalled(round, stream);
	return stream->status == ETW_STREAM_EMPTY && !stream->set && stream->feed->is_given_up;
}

/* The stream to take from, and up to which time; NULL when nothing may be taken. */
static struct etw_session_stream *choose(const struct etw_session_output *output,
					 struct etw_session_round *round, int64_t *ret_bound)
{
	struct etw_session_stream *first = NULL;
	int64_t bound = round->now_raw;

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
		} else if (is_given_up(stream, round)) {
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
static void settle_merged(struct etw_session_output *output, struct etw_session_round *round)
{
	int64_t merged = round->now_raw;

	for (uint32_t i = 0; i < output->stream_count; i++) {
		const struct etw_session_stream *stream = output->streams[i];
		int64_t held = stream->floor_raw;

		if (stream->status == ETW_STREAM_EVENT)
			held = stream->head_raw;
		else if (is_given_up(stream, round))
			continue;
		if (held < merged)
			merged = held;
	}
	if (merged > output->merged_raw)
		output->merged_raw = merged;
}

static bool is_behind_source(const struct etw_source_feeds *feeds, int64_t raw)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		if (feeds->all[i].source && feeds->all[i].watermark_raw < raw)
			return true;
	}
	return false;
}

/* What is left stands behind a gap, behind a source's clock, or is younger than the round. */
static void note_rest(const struct etw_source_feeds *feeds, const struct etw_session_output *output,
		      struct etw_session_round *round)
{
	for (uint32_t i = 0; i < output->stream_count; i++) {
		const struct etw_session_stream *stream = output->streams[i];

		if (stream->status != ETW_STREAM_EVENT)
			continue;
		if (is_behind_source(feeds, stream->head_raw))
			round->awaits_source = true;
		else if (!round->has_gap)
			round->has_more = true;
	}
}

void etw_output_merge(struct etw_session_outputs *outputs, struct etw_session_output *output,
		      struct etw_session_round *round)
{
	struct etw_session_stream *stream;
	int64_t bound;

	output->round_buffers = 0;
	output->has_progress = false;
	while ((stream = choose(output, round, &bound)) != NULL) {
		round->has_progress = true;
		output->has_progress = true;
		outputs->limits.bound_raw = bound;
		do {
			if (!etw_output_append_run(outputs, output, stream))
				etw_output_append(outputs, output, stream);
			refresh(outputs, stream, round);
			if (UNLIKELY(output->round_buffers >= ROUND_BUFFERS)) {
				round->has_more = true;
				settle_merged(output, round);
				return;
			}
		} while (stream->status == ETW_STREAM_EVENT && stream->head_raw <= bound);
	}
	settle_merged(output, round);
	note_rest(outputs->feeds, output, round);
}
