/* SPDX-License-Identifier: MIT */
/* Pieces and batches; see session/delivery.h. */
#include "session/delivery.h"

#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "etl/writer.h"
#include "wire/etl_buffer.h"

void etw_delivery_lock(struct etw_session_consumers *consumers)
{
	if (consumers->context->plan.is_realtime)
		pthread_mutex_lock(&consumers->lock);
}

void etw_delivery_unlock(struct etw_session_consumers *consumers)
{
	if (consumers->context->plan.is_realtime)
		pthread_mutex_unlock(&consumers->lock);
}

static bool put_piece(struct etw_session_consumers *consumers,
		      const struct etw_delivery_piece *piece,
		      const struct etw_etl_buffer_head *head, struct etw_subscriber *subscriber)
{
	struct etw_state_record *record = piece->record;
	struct etw_etl_buffer_head own = *head;
	uint32_t bytes = record->fill - record->delivered;
	uint64_t lost = etw_consumers_lost(consumers, subscriber);
	uint32_t used = WIRE_BUFFER_HEADER_BYTES + bytes, slots;
	uint8_t *at;

	/* What was flagged before this piece holds by now; died a host here, it is only told twice. */
	consumers->context->state.head->consumers[subscriber->place].flagged = subscriber->flagged;
	at = etw_subscriber_reserve(subscriber, used, &slots);
	if (!at)
		return false;
	if (lost > subscriber->flagged)
		own.flags |= WIRE_BUFFER_BUFFER_LOST;
	subscriber->flagged = lost;
	memcpy(at + WIRE_BUFFER_HEADER_BYTES, piece->buffer + record->delivered, bytes);
	etw_etl_write_buffer_header(&own, at, used);
	((struct wire_buffer_header *)(void *)at)->reference_start = le64_of(record->piece_notes);
	SCHED_POINT("session.piece.copied");
	subscriber->written.slots += slots;
	subscriber->written.pieces++;
	consumers->written[subscriber->place]++;
	consumers->slots[subscriber->place] += slots;
	record->written[subscriber->place]++;
	record->slots[subscriber->place] += slots;
	return true;
}

/* Returns whether everybody got it, or who comes next will. Holding the lock. */
static bool hand_out(struct etw_session_consumers *consumers,
		     const struct etw_delivery_piece *piece, uint16_t flags)
{
	const struct etw_session_context *context = consumers->context;
	struct etw_etl_buffer_head buffer_head = {
		.buffer_bytes = context->plan.buffer_bytes,
		.processor = (uint16_t)piece->output,
		.logger_id = (uint16_t)context->state.head->session_id,
		.sequence = consumers->pieces + 1,
		.time_raw = etw_context_now(context),
		.flags = flags,
		.is_partial = true,
	};
	bool result = true;

	if (buffer_head.time_raw < piece->record->last_time_raw)
		buffer_head.time_raw = piece->record->last_time_raw;
	if (consumers->subscriber_count == 0) {
		struct etw_subscriber *backlog = etw_consumers_backlog(consumers);

		return backlog && put_piece(consumers, piece, &buffer_head, backlog);
	}
	/* Also what nobody has room for: the batch says how far the others may go, which makes room. */
	store_relaxed(&consumers->batch_bytes,
		      consumers->batch_bytes + piece->record->fill - piece->record->delivered);
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		if (consumers->subscribers[i] &&
		    !put_piece(consumers, piece, &buffer_head, consumers->subscribers[i]))
			result = false;
	}
	return result;
}

/* Whether events were lost since a piece last said so. */
static uint16_t loss_flag(const struct etw_delivery_piece *piece)
{
	/* Before a new host has its streams the number is too small. */
	if (piece->loss <= piece->record->told_loss)
		return 0;
	piece->record->told_loss = piece->loss;
	return WIRE_BUFFER_EVENTS_LOST;
}

/* A note that a consumer does not get is nobody's loss, as in files. */
static uint32_t provider_events(const struct etw_state_record *record)
{
	return record->piece_events - record->piece_notes;
}

/* A buffer that a consumer had no room for, or that came when no more were kept for the next one. */
static void count_lost(struct etw_state_record *record, bool has_consumers)
{
	struct etw_state_counts *counts = &record->counts;

	*(has_consumers ? &counts->slow_pieces : &counts->unheard_pieces) += 1;
	*(has_consumers ? &counts->slow_events
			: &counts->unheard_events) += provider_events(record);
}

bool etw_delivery_piece(struct etw_session_consumers *consumers,
			const struct etw_delivery_piece *piece)
{
	struct etw_state_record *record = piece->record;
	bool has_consumers = consumers->subscriber_count > 0;

	if (!consumers->context->plan.is_realtime || record->delivered == record->fill)
		return false;
	/* Without consumers whole buffers are kept. */
	if (!has_consumers && !piece->is_sealed)
		return false;
	if (!hand_out(consumers, piece, loss_flag(piece)))
		count_lost(record, has_consumers);
	record->counts.pieces++;
	record->counts.piece_events += provider_events(record);
	consumers->pieces++;
	consumers->piece_events += provider_events(record);
	record->delivered = record->fill;
	record->piece_events = 0;
	record->piece_notes = 0;
	return true;
}

/* Holding the lock. */
static void announce(struct etw_subscriber *subscriber, const struct wire_batch *common,
		     bool is_end)
{
	struct wire_batch batch = *common;

	batch.first_slot = subscriber->announced.slots;
	batch.slot_count = subscriber->written.slots - subscriber->announced.slots;
	batch.buffer_count = (uint32_t)(subscriber->written.pieces - subscriber->announced.pieces);
	if (batch.buffer_count > 0) {
		struct wire_buffer_header *last = (void *)etw_subscriber_last(subscriber);

		last->flags = le16_of((uint16_t)(le16_get(last->flags) | WIRE_BUFFER_FLUSH_MARKER));
	}
	subscriber->announced = subscriber->written;
	store_relaxed(&etw_subscriber_page(subscriber)->written_pieces, subscriber->written.pieces);
	/* Pairs with the consumer's load. */
	store_release(&etw_subscriber_page(subscriber)->written, subscriber->written.slots);
	subscriber->notify(subscriber->context, &batch, is_end);
}

void etw_delivery_announce(struct etw_session_consumers *consumers, int64_t watermark_raw,
			   uint64_t events_lost, bool is_end)
{
	struct etw_state_head *head = consumers->context->state.head;
	struct wire_batch batch;

	store_relaxed(&head->batch, head->batch + 1);
	store_relaxed(&consumers->batch_bytes, UINT64_C(0));
	batch = (struct wire_batch){
		.batch = head->batch,
		.watermark_raw = watermark_raw,
		.pieces = consumers->pieces,
		.events = consumers->piece_events,
		.events_lost = events_lost,
	};
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = consumers->subscribers[i];

		if (subscriber && subscriber->awaited_until_ns == 0)
			announce(subscriber, &batch, is_end);
		SCHED_POINT("session.batch.announced");
	}
}

void etw_delivery_end(struct etw_session_consumers *consumers)
{
	etw_consumers_abandon(consumers);
	consumers->is_over = true;
}
