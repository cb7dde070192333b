/* SPDX-License-Identifier: MIT */
/* Output buffers: appending, sealing, committing; see session/output.h. */
#include "session/output.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "etl/writer.h"
#include "session/common/claims.h"
#include "session/delivery.h"
#include "session/file/file.h"
#include "wire/etl_buffer.h"
#include "wire/event_shape.h"

static void sample_ring(struct etw_session_outputs *outputs, struct etw_session_output *output,
			struct etw_session_stream *stream)
{
	struct etw_state_record *record = output->record;
	struct etw_ring_position position = etw_ring_reader_position(stream->reader);
	uint64_t gaps, rejected;

	record->positions[stream->set->slot] = (struct etw_state_position){
		.set_id = stream->set->id, .offset = position.offset, .slots = position.slots};
	etw_ring_reader_counts(stream->reader, &stream->counts);
	etw_claims_look(outputs->sets, stream);
	/* May shrink: a gap is counted as one event until it is known what it held. */
	gaps = stream->counts.lost_in_gaps - stream->gaps_base;
	rejected = stream->counts.rejected - stream->rejected_base;
	stream->gaps_base = stream->counts.lost_in_gaps;
	stream->rejected_base = stream->counts.rejected;
	record->counts.gaps += gaps;
	record->counts.rejected += rejected;
	if (!etw_context_is_trusted(outputs->context, stream->set->uid)) {
		record->counts.others_gaps += gaps;
		record->counts.others_rejected += rejected;
	}
}

/* The reader also moves over what is no event: gaps that were given up, events that were abandoned. */
static bool is_moved(const struct etw_session_output *output,
		     const struct etw_session_stream *stream)
{
	const struct etw_state_position *last;
	struct etw_ring_position position;

	if (stream->is_touched || !stream->set)
		return stream->is_touched;
	if (stream->counts.quarantined > 0)
		return true;
	last = &output->record->positions[stream->set->slot];
	position = etw_ring_reader_position(stream->reader);
	return last->set_id != stream->set->id || last->slots != position.slots ||
	       last->offset != position.offset;
}

bool etw_output_must_commit(const struct etw_session_output *output)
{
	for (uint32_t i = 0; i < output->stream_count; i++) {
		if (is_moved(output, output->streams[i]))
			return true;
	}
	return output->is_changed;
}

static void sample_streams(struct etw_session_outputs *outputs, struct etw_session_output *output)
{
	for (uint32_t i = 0; i < output->stream_count; i++) {
		struct etw_session_stream *stream = output->streams[i];

		if (!stream->set) {
			if (stream->is_touched)
				output->record->marks[stream->mark] = stream->popped;
		} else if (is_moved(output, stream)) {
			stream->is_touched = true; /* to be released after the commit */
			sample_ring(outputs, output, stream);
		}
	}
}

static void release_streams(struct etw_session_outputs *outputs, struct etw_session_output *output)
{
	for (uint32_t i = 0; i < output->stream_count; i++) {
		struct etw_session_stream *stream = output->streams[i];

		if (stream->set && stream->is_touched) {
			etw_ring_reader_release(stream->reader);
			/* Buffers are quarantined here, and gaps that have come in counted. */
			etw_ring_reader_counts(stream->reader, &stream->counts);
			etw_claims_look(outputs->sets, stream);
		}
		stream->is_touched = false;
	}
}

void etw_output_commit(struct etw_session_outputs *outputs, struct etw_session_output *output)
{
	sample_streams(outputs, output);
	etw_state_commit(&outputs->context->state, output->index, output->record);
	output->is_changed = false;
	release_streams(outputs, output);
}

void etw_output_reject_rest(struct etw_session_stream *stream)
{
	uint64_t now_ns = etw_monotonic_ns() + ETW_STREAM_STALL_NS; /* no gap is waited for */
	struct etw_ring_event event;

	while (etw_ring_reader_peek(stream->reader, now_ns, &event) == 0)
		etw_ring_reader_take(stream->reader, /* is_good= */ false);
}

static uint64_t stream_loss(const struct etw_session_stream *stream)
{
	return etw_sum_saturated(stream->counts.lost_no_buffer, stream->counts.lost_too_large);
}

void etw_output_settle_stream(struct etw_session_outputs *outputs,
			      struct etw_session_output *output, struct etw_session_stream *stream)
{
	sample_ring(outputs, output, stream);
	etw_state_commit(&outputs->context->state, output->index, output->record);
	/* What has come into its gaps meanwhile is counted by this. */
	etw_ring_reader_release(stream->reader);
	sample_ring(outputs, output, stream);
	output->record->closed_loss = etw_sum_saturated(output->record->closed_loss,
							stream_loss(stream));
	etw_state_commit(&outputs->context->state, output->index, output->record);
}

uint64_t etw_output_loss(const struct etw_session_outputs *outputs,
			 const struct etw_session_output *output)
{
	uint64_t loss = output->record->counts.gaps + output->record->counts.rejected +
			output->record->counts.too_large;

	loss = etw_sum_saturated(loss, output->record->closed_loss);
	for (uint32_t i = 0; i < output->stream_count; i++)
		loss = etw_sum_saturated(loss, stream_loss(output->streams[i]));
	return etw_sum_saturated(loss,
				 etw_state_source_lost(&outputs->context->state, output->index));
}

static int64_t flush_time(struct etw_session_outputs *outputs,
			  const struct etw_session_output *output)
{
	int64_t raw = etw_context_now(outputs->context);

	if (raw < outputs->context->state.head->last_flush_raw)
		raw = outputs->context->state.head->last_flush_raw;
	if (raw < output->record->last_time_raw)
		raw = output->record->last_time_raw;
	return raw;
}

static void begin_buffer(struct etw_session_output *output)
{
	output->record->fill = WIRE_BUFFER_HEADER_BYTES;
	output->record->delivered = WIRE_BUFFER_HEADER_BYTES;
	output->record->buffer_events = 0;
	output->record->buffer_notes = 0;
	output->record->piece_events = 0;
	output->record->piece_notes = 0;
	output->record->is_sealed = 0;
	output->record->sequence = 0;
	output->record->offset = 0;
	output->record->replaced_output = 0;
}

/* In the place of the oldest. */
static void keep_sealed(struct etw_session_outputs *outputs,
			const struct etw_session_output *output)
{
	const struct etw_session_plan *plan = &outputs->context->plan;
	uint64_t sequence = output->record->sequence;
	uint8_t *place = etw_state_history(&outputs->context->state, sequence);

	if (UNLIKELY(outputs->flushed != NULL) && sequence > plan->history_buffers)
		etw_overwritten_keep(outputs->flushed, sequence - plan->history_buffers, place);
	memcpy(place, output->buffer, plan->buffer_bytes);
}

/* Counts a sealed buffer and puts it where it belongs, or counts it as lost to the file. */
static void write_sealed(struct etw_session_outputs *outputs, struct etw_session_output *output)
{
	struct etw_state_record *record = output->record;
	int result = -EIO;

	record->counts.buffers++;
	if (outputs->context->plan.history_buffers > 0)
		keep_sealed(outputs, output);
	if (!outputs->context->plan.has_file)
		return;
	if (record->offset != 0)
		result = etw_session_file_put(&outputs->file, record->offset, record->file_place,
					      output->buffer);
	if (result < 0) {
		/* A note that is in no file is nobody's loss. */
		record->counts.file_events += record->buffer_events - record->buffer_notes;
		record->counts.file_buffers++;
	}
	etw_output_fill_place(outputs, output, result == 0);
}

void etw_output_hand_out(struct etw_session_outputs *outputs, struct etw_session_output *output,
			 bool is_sealed)
{
	struct etw_delivery_piece piece = {
		.output = output->index,
		.buffer = output->buffer,
		.record = output->record,
		.is_sealed = is_sealed,
	};

	if (!outputs->context->plan.is_realtime)
		return;
	piece.loss = etw_output_loss(outputs, output);
	if (etw_delivery_piece(outputs->consumers, &piece))
		output->is_changed = true;
}

/* The place of the buffer in the file, or in the next file of a series. */
static uint64_t claim_place(struct etw_session_outputs *outputs)
{
	int result;

	if (UNLIKELY(etw_session_file_wants_next(&outputs->file))) {
		result = etw_outputs_begin_file(outputs, NULL);
		if (result < 0)
			etw_session_file_has_no_next(&outputs->file, result);
	}
	return etw_session_file_claim(&outputs->file);
}

static struct etw_etl_buffer_head head_of(const struct etw_session_outputs *outputs,
					  const struct etw_session_output *output,
					  uint32_t next_bytes)
{
	return (struct etw_etl_buffer_head){
		.buffer_bytes = outputs->context->plan.buffer_bytes,
		.processor = (uint16_t)output->index,
		.logger_id = (uint16_t)outputs->context->state.head->session_id,
		.is_partial = next_bytes == 0,
		.next_bytes = next_bytes,
	};
}

/* A file that goes on after it had ended lacks what came between. */
static uint64_t loss_to_flag(const struct etw_session_outputs *outputs,
			     const struct etw_session_output *output)
{
	return etw_output_loss(outputs, output) + output->record->counts.file_events;
}

void etw_output_copy(struct etw_session_outputs *outputs, const struct etw_session_output *output,
		     uint64_t sequence, uint8_t *to)
{
	struct etw_etl_buffer_head head = head_of(outputs, output, /* next_bytes= */ 0);

	head.sequence = sequence;
	head.time_raw = flush_time(outputs, output);
	if (loss_to_flag(outputs, output) > output->record->flagged_loss)
		head.flags = WIRE_BUFFER_EVENTS_LOST;
	memcpy(to + WIRE_BUFFER_HEADER_BYTES, output->buffer + WIRE_BUFFER_HEADER_BYTES,
	       output->record->fill - WIRE_BUFFER_HEADER_BYTES);
	etw_etl_seal_buffer(&head, to, output->record->fill);
}

void etw_output_seal(struct etw_session_outputs *outputs, struct etw_session_output *output,
		     uint16_t flags, uint32_t next_bytes)
{
	struct etw_state_head *head = outputs->context->state.head;
	struct etw_state_record *record = output->record;
	struct etw_etl_buffer_head buffer_head = head_of(outputs, output, next_bytes);
	uint64_t loss;

	if (etw_output_is_empty(output))
		return;
	sample_streams(outputs, output);
	loss = loss_to_flag(outputs, output);
	buffer_head.flags = flags | (loss > record->flagged_loss ? WIRE_BUFFER_EVENTS_LOST : 0);
	record->flagged_loss = loss;
	record->sequence = head->next_sequence;
	record->offset = claim_place(outputs);
	record->file_place = etw_state_file(&outputs->context->state)->buffers;
	etw_output_look_at_place(outputs, output);
	buffer_head.sequence = record->sequence;
	buffer_head.time_raw = flush_time(outputs, output);
	etw_etl_seal_buffer(&buffer_head, output->buffer, record->fill);
	record->is_sealed = 1;
	etw_state_commit(&outputs->context->state, output->index, record);
	head->last_flush_raw = buffer_head.time_raw;
	store_relaxed(&head->next_sequence, record->sequence + 1);
	SCHED_POINT("session.seal.recorded");
	write_sealed(outputs, output);
	SCHED_POINT("session.seal.written");
	etw_delivery_lock(outputs->consumers);
	etw_output_hand_out(outputs, output, /* is_sealed= */ true);
	begin_buffer(output);
	etw_output_commit(outputs, output);
	etw_delivery_unlock(outputs->consumers);
	SCHED_POINT("session.seal.done");
	output->round_buffers++;
}

void etw_output_recover(struct etw_session_outputs *outputs, struct etw_session_output *output)
{
	struct etw_state_head *head = outputs->context->state.head;
	struct etw_state_record *record = output->record;

	if (!record->is_sealed)
		return;
	if (head->next_sequence <= record->sequence)
		head->next_sequence = record->sequence + 1;
	if (record->offset != 0)
		etw_session_file_reclaim(&outputs->file, record->offset);
	write_sealed(outputs, output);
	etw_output_hand_out(outputs, output, /* is_sealed= */ true);
	begin_buffer(output);
	etw_state_commit(&outputs->context->state, output->index, record);
}

static void take(struct etw_session_output *output, struct etw_session_stream *stream, bool is_good)
{
	if (stream->set)
		etw_ring_reader_take(stream->reader, is_good);
	else
		stream->feed->ops->pop(stream->feed->source, stream->source_cpu, &stream->popped);
	stream->is_touched = true;
	output->is_changed = true;
}

static bool peek_source(struct etw_session_stream *stream)
{
	struct etw_source_event event;

	if (!stream->feed->ops->peek(stream->feed->source, stream->source_cpu, &event) ||
	    event.byte_count != stream->head_bytes)
		return false;
	stream->head_at = event.bytes;
	return true;
}

/* A source's event stands at the floor when somebody has set the clock back. */
static enum etw_check_result raise_source(struct etw_session_stream *stream, uint8_t *copy,
					  int64_t floor_raw, int64_t *ret_raw)
{
	const struct wire_event_shape *shape = copy[2] < WIRE_HEADER_TYPES
						       ? &wire_event_shapes[copy[2]]
						       : &wire_event_shapes[0];

	if (!(shape->origins & WIRE_ORIGIN_SOURCE) || stream->head_bytes < shape->header_bytes)
		return ETW_CHECK_REFUSED;
	etw_store64(copy + shape->time_at, (uint64_t)floor_raw);
	*ret_raw = floor_raw;
	return ETW_CHECK_RAISED;
}

/* A source's events are the host's own: only what would spoil the file is looked at. */
static enum etw_check_result check_copy(struct etw_session_outputs *outputs,
					const struct etw_session_output *output,
					struct etw_session_stream *stream, uint8_t *copy,
					int64_t *ret_raw)
{
	struct etw_check_limits *limits = &outputs->limits;

	limits->floor_raw = output->record->last_time_raw;
	if (stream->set)
		return etw_check_event(stream->set->cache, limits, copy, stream->head_bytes,
				       ret_raw);
	if (UNLIKELY(limits->is_steppable && stream->head_raw < limits->floor_raw))
		return raise_source(stream, copy, limits->floor_raw, ret_raw);
	*ret_raw = stream->head_raw;
	return stream->head_raw >= limits->floor_raw ? ETW_CHECK_GOOD : ETW_CHECK_REFUSED;
}

/* Events stand behind the others; the last one's time is @raw. */
static void count_events(struct etw_state_record *record, uint32_t bytes, uint32_t count,
			 int64_t raw)
{
	record->last_time_raw = raw;
	record->fill += bytes;
	record->buffer_events += count;
	record->piece_events += count;
	record->counts.events += count;
}

void etw_output_append(struct etw_session_outputs *outputs, struct etw_session_output *output,
		       struct etw_session_stream *stream)
{
	struct etw_state_record *record = output->record;
	uint32_t bytes = stream->head_bytes;
	uint32_t padded = ALIGN_UP(bytes, WIRE_EVENT_ALIGNMENT);
	enum etw_check_result verdict;
	uint8_t *copy;
	int64_t raw = 0;

	if (UNLIKELY(bytes == 0 ||
		     padded > outputs->context->plan.buffer_bytes - WIRE_BUFFER_HEADER_BYTES)) {
		take(output, stream, false);
		record->counts.too_large += !stream->set;
		return;
	}
	if (UNLIKELY(padded > outputs->context->plan.buffer_bytes - record->fill))
		etw_output_seal(outputs, output, 0, bytes);
	/* A source's bytes are good until its next pop only, of whatever processor. */
	if (!stream->set && !peek_source(stream))
		return;
	copy = output->buffer + record->fill;
	memset(copy + padded - WIRE_EVENT_ALIGNMENT, 0, WIRE_EVENT_ALIGNMENT);
	memcpy(copy, stream->head_at, bytes);
	verdict = check_copy(outputs, output, stream, copy, &raw);
	if (stream->lone_count > 0)
		stream->lone_count--;
	take(output, stream, verdict != ETW_CHECK_REFUSED);
	if (UNLIKELY(verdict == ETW_CHECK_REFUSED)) {
		/* A ring's reader counts it itself. */
		record->counts.rejected += !stream->set;
		return;
	}
	record->counts.raised += verdict == ETW_CHECK_RAISED;
	if (raw > stream->floor_raw)
		stream->floor_raw = raw;
	count_events(record, padded, 1, raw);
}

bool etw_output_append_run(struct etw_session_outputs *outputs, struct etw_session_output *output,
			   struct etw_session_stream *stream)
{
	struct etw_state_record *record = output->record;
	uint32_t room = outputs->context->plan.buffer_bytes - record->fill;
	struct etw_check_run good;
	struct etw_ring_run run;

	if (!stream->set || stream->lone_count > 0)
		return false;
	run = etw_ring_reader_peek_run(stream->reader, room, outputs->limits.bound_raw);
	if (run.bytes == 0)
		return false;
	memcpy(output->buffer + record->fill, run.at, run.bytes);
	outputs->limits.floor_raw = record->last_time_raw;
	good = etw_check_run(stream->set->cache, &outputs->limits, output->buffer + record->fill,
			     run.bytes);
	/*
	 * What did not pass is copied again, event by event. Were runs of the rest tried all the same, a process that
	 * writes nothing good would have everything behind an event copied for each.
	 */
	if (UNLIKELY(good.count < run.count))
		stream->lone_count = run.count - good.count;
	if (UNLIKELY(good.count == 0))
		return false;
	etw_ring_reader_take_run(stream->reader, good.bytes, good.count);
	stream->is_touched = true;
	stream->floor_raw = MAX(stream->floor_raw, outputs->limits.floor_raw);
	record->counts.raised += good.raised;
	count_events(record, good.bytes, good.count, outputs->limits.floor_raw);
	output->is_changed = true;
	return true;
}

void etw_output_append_own(struct etw_session_outputs *outputs, struct etw_session_output *output,
			   const uint8_t *event, uint32_t bytes, int64_t raw)
{
	struct etw_state_record *record = output->record;
	uint32_t padded = ALIGN_UP(bytes, WIRE_EVENT_ALIGNMENT);

	if (padded > outputs->context->plan.buffer_bytes - record->fill)
		etw_output_seal(outputs, output, 0, bytes);
	memset(output->buffer + record->fill, 0, padded);
	memcpy(output->buffer + record->fill, event, bytes);
	count_events(record, padded, 1, raw);
	record->buffer_notes++;
	record->piece_notes++;
	record->counts.notes++;
	output->is_changed = true;
}
