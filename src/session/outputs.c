/* SPDX-License-Identifier: MIT */
/* All outputs of a session; see session/outputs.h. */
#include "session/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "session/common/account.h"
#include "session/delivery.h"
#include "session/merge.h"
#include "wire/etl_buffer.h"

static uint32_t output_count(const struct etw_session_outputs *outputs)
{
	return outputs->context->plan.output_count;
}

void etw_outputs_init(struct etw_session_context *context, const struct etw_outputs_parts *parts,
		      struct etw_session_outputs *ret)
{
	*ret = (struct etw_session_outputs){
		.context = context,
		.sets = parts->sets,
		.feeds = parts->feeds,
		.consumers = parts->consumers,
		.notes = parts->notes,
	};
	etw_session_file_init(context, parts->notes, parts->sets, &ret->file);
}

static int open_output(struct etw_session_outputs *outputs, uint32_t index)
{
	const struct etw_state *state = &outputs->context->state;
	struct etw_session_output *output = &outputs->all[index];

	output->index = index;
	output->buffer = etw_state_buffer(state, index);
	output->record = malloc(state->head->record_bytes);
	output->streams = calloc(ETW_STATE_SETS + ETW_SOURCES_MAX * state->head->cpu_count,
				 sizeof(struct etw_session_stream *));
	if (!output->record || !output->streams)
		return -ENOMEM;
	memcpy(output->record, etw_state_holding(state, index), state->head->record_bytes);
	output->merged_raw = output->record->last_time_raw;
	return 0;
}

int etw_outputs_open(struct etw_session_outputs *outputs)
{
	outputs->all = calloc(output_count(outputs), sizeof(*outputs->all));
	if (!outputs->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < output_count(outputs); i++)
		TRY(open_output(outputs, i));
	return 0;
}

void etw_outputs_close(struct etw_session_outputs *outputs)
{
	for (uint32_t i = 0; outputs->all && i < output_count(outputs); i++) {
		free(outputs->all[i].record);
		free(outputs->all[i].streams);
	}
	free(outputs->all);
	outputs->all = NULL;
	etw_session_file_close(&outputs->file);
}

void etw_outputs_recover(struct etw_session_outputs *outputs)
{
	for (uint32_t i = 0; i < output_count(outputs); i++)
		etw_output_recover(outputs, &outputs->all[i]);
}

bool etw_outputs_move(struct etw_session_outputs *outputs, struct etw_session_round *round)
{
	bool result = false;

	etw_outputs_gather(outputs);
	etw_outputs_look(outputs, round);
	for (uint32_t i = 0; i < output_count(outputs); i++)
		etw_output_merge(outputs, &outputs->all[i], round);
	etw_outputs_write_notes(outputs);
	for (uint32_t i = 0; i < output_count(outputs); i++) {
		if (!etw_output_must_commit(&outputs->all[i]))
			continue;
		etw_output_commit(outputs, &outputs->all[i]);
		result = true;
	}
	return result;
}

int64_t etw_outputs_merged_raw(const struct etw_session_outputs *outputs)
{
	int64_t merged_raw = outputs->all[0].merged_raw;

	for (uint32_t i = 1; i < output_count(outputs); i++)
		merged_raw = MIN(merged_raw, outputs->all[i].merged_raw);
	return merged_raw;
}

bool etw_outputs_got_on(const struct etw_session_outputs *outputs, int64_t target_raw)
{
	for (uint32_t i = 0; i < output_count(outputs); i++) {
		const struct etw_session_output *output = &outputs->all[i];

		if (output->has_progress && output->merged_raw < target_raw)
			return true;
	}
	return false;
}

void etw_outputs_flush(struct etw_session_outputs *outputs)
{
	struct etw_session_output *last = NULL;

	for (uint32_t i = 0; i < output_count(outputs); i++) {
		if (!etw_output_is_empty(&outputs->all[i]))
			last = &outputs->all[i];
	}
	for (uint32_t i = 0; last && i < output_count(outputs); i++) {
		struct etw_session_output *output = &outputs->all[i];

		etw_output_seal(outputs, output, output == last ? WIRE_BUFFER_FLUSH_MARKER : 0, 0);
	}
}

/* Between etw_delivery_lock() and etw_delivery_unlock(). */
static void close_batch_held(struct etw_session_outputs *outputs, bool is_end)
{
	struct wire_session_loss loss;

	for (uint32_t i = 0; i < output_count(outputs); i++) {
		struct etw_session_output *output = &outputs->all[i];

		etw_output_hand_out(outputs, output, /* is_sealed= */ is_end);
		if (output->is_changed)
			etw_output_commit(outputs, output);
	}
	SCHED_POINT("session.batch.committed");
	etw_account_loss(outputs->sets, &loss);
	etw_delivery_announce(outputs->consumers, etw_outputs_merged_raw(outputs),
			      etw_account_lost_on_the_way(&loss), is_end);
}

void etw_outputs_close_batch(struct etw_session_outputs *outputs, uint64_t now_ns, bool is_end)
{
	struct etw_session_consumers *consumers = outputs->consumers;

	if (!outputs->context->plan.is_realtime)
		return;
	etw_delivery_lock(consumers);
	etw_consumers_expire(consumers, now_ns);
	if (consumers->subscriber_count > 0)
		close_batch_held(outputs, is_end);
	if (is_end)
		etw_delivery_end(consumers);
	etw_delivery_unlock(consumers);
}

/*
 * What was in the file is as lost as what it did not get. Assigned, not added: a host that dies on the way leaves
 * it to the next one. The buffers that are being filled count when they are sealed.
 */
static void count_all_as_lost(struct etw_session_outputs *outputs)
{
	struct etw_state *state = &outputs->context->state;
	struct etw_state_file *file = etw_state_file(state);

	for (uint32_t i = 0; i < output_count(outputs); i++) {
		struct etw_state_record *record = outputs->all[i].record;
		const struct etw_state_filed *filed = etw_state_filed(state, i,
								      /* is_next= */ false);

		record->counts.file_events = record->counts.events - record->buffer_events -
					     filed->events - record->counts.overwritten_events;
		record->counts.file_buffers = record->counts.buffers - filed->buffers -
					      record->counts.overwritten_buffers;
		etw_state_commit(state, i, record);
	}
	store_relaxed(&file->next_offset, 0);
	store_relaxed(&file->buffers, 0u);
}

void etw_outputs_look_at_file(struct etw_session_outputs *outputs)
{
	if (!etw_session_file_is_gone(&outputs->file))
		return;
	SCHED_POINT("session.file.gone");
	count_all_as_lost(outputs);
	etw_session_file_abandon(&outputs->file);
}

/* What the next host need not tell again. */
static void remember_note(struct etw_state_record *record, const struct wire_session_note *note)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	if (note->kind == WIRE_NOTE_NO_STACKS)
		record->noted_stacks = (uint32_t)note->numbers[0];
	if (note->kind == WIRE_NOTE_NOT_AS_ASKED)
		record->noted_options = (uint32_t)note->numbers[0];
	if (note->kind == WIRE_NOTE_STACKS_BY_TABLES)
		record->noted_tables = 1;
	if (note->kind != WIRE_NOTE_NOT_COLLECTED)
		return;
	wire_session_note_masks(note, masks);
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		record->noted_missing[i] |= masks[i];
}

/*
 * Nothing that is still to come to the output is before its `merged_raw`, and nothing that it has is behind its
 * last time: what the host itself writes stands between the two.
 */
static int64_t own_time(const struct etw_session_output *output)
{
	return MAX(output->record->last_time_raw, output->merged_raw);
}

void etw_outputs_put_note(struct etw_session_outputs *outputs, const struct wire_session_note *note)
{
	struct etw_session_output *output = &outputs->all[0];
	const struct wire_session_note_origin origin = {
		.time_raw = own_time(output),
		.process_id = (uint32_t)getpid(),
		.thread_id = (uint32_t)outputs->context->thread_id,
	};
	uint8_t event[WIRE_SESSION_NOTE_BYTES_MAX];
	uint32_t bytes = wire_session_note_encode(note, &origin, event);

	etw_output_append_own(outputs, output, event, bytes, origin.time_raw);
	/* Is kept together with the event: a host that dies in between has written both, or neither. */
	remember_note(output->record, note);
}

void etw_outputs_write_notes(struct etw_session_outputs *outputs)
{
	struct wire_session_note note;

	while (UNLIKELY(etw_notes_take(outputs->notes, &note)))
		etw_outputs_put_note(outputs, &note);
}

static void put_account(void *context, uint32_t cpu, const struct etw_source_event *event)
{
	struct etw_session_outputs *outputs = context;

	(void)cpu;
	etw_output_append_own(outputs, &outputs->all[0], event->bytes, event->byte_count,
			      event->time_raw);
}

void etw_outputs_put_account(struct etw_session_outputs *outputs)
{
	etw_source_feeds_account(outputs->feeds, own_time(&outputs->all[0]), put_account, outputs);
}

static void forget_streams(struct etw_session_outputs *outputs)
{
	for (uint32_t i = 0; i < output_count(outputs); i++)
		outputs->all[i].stream_count = 0; /* gathered anew in the next round */
}

void etw_outputs_settle_set(struct etw_session_outputs *outputs, struct etw_session_set *set)
{
	for (uint32_t i = 0; i < set->stream_count; i++)
		etw_output_settle_stream(outputs, &outputs->all[i], &set->streams[i]);
	forget_streams(outputs);
}

static void reject_rest_of_cpu(struct etw_session_outputs *outputs,
			       const struct etw_source_feed *feed, uint32_t cpu, int64_t end_raw)
{
	uint32_t at = output_count(outputs) == 1 ? 0 : cpu;
	struct etw_state_record *record = outputs->all[at].record;
	uint64_t before = record->counts.rejected;
	struct etw_source_event event;
	struct etw_source_mark mark;

	while (feed->ops->peek(feed->source, cpu, &event) && event.time_raw < end_raw) {
		feed->ops->pop(feed->source, cpu, &mark);
		record->counts.rejected++;
	}
	if (record->counts.rejected != before)
		etw_state_commit(&outputs->context->state, at, record);
}

void etw_outputs_settle_sources(struct etw_session_outputs *outputs, int64_t end_raw)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		const struct etw_source_feed *feed = &outputs->feeds->all[i];

		for (uint32_t j = 0; feed->source && j < outputs->context->plan.cpu_count; j++)
			reject_rest_of_cpu(outputs, feed, j, end_raw);
	}
	forget_streams(outputs);
}
