/* SPDX-License-Identifier: MIT */
/* Pieces and batches; see session/delivery.h. */
#include "session/delivery.h"

#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "etl/writer.h"
#include "session/account.h"
#include "session/output.h"
#include "session/subscriber.h"
#include "wire/delivery_layout.h"
#include "wire/etl_buffer.h"

void etw_delivery_lock(struct etw_session *session)
{
	if (session->plan.is_realtime)
		pthread_mutex_lock(&session->consumer_lock);
}

void etw_delivery_unlock(struct etw_session *session)
{
	if (session->plan.is_realtime)
		pthread_mutex_unlock(&session->consumer_lock);
}

static bool fill_slot(struct etw_session *session, const struct etw_session_output *output,
		      const struct etw_etl_buffer_head *head, struct etw_subscriber *subscriber)
{
	struct etw_state_record *record = output->record;
	struct etw_etl_buffer_head own = *head;
	uint32_t bytes = record->fill - record->delivered;
	uint64_t lost = etw_subscriber_lost(session, subscriber);
	uint8_t *slot;

	/* What was flagged before this piece holds by now; died a host here, it is only told twice. */
	session->state.head->consumers[subscriber->place].flagged = subscriber->flagged;
	if (!etw_subscriber_has_room(subscriber))
		return false;
	if (lost > subscriber->flagged)
		own.flags |= WIRE_BUFFER_BUFFER_LOST;
	subscriber->flagged = lost;
	slot = etw_subscriber_slot(subscriber, subscriber->written);
	memcpy(slot + WIRE_BUFFER_HEADER_BYTES, output->buffer + record->delivered, bytes);
	etw_etl_seal_buffer(&own, slot, WIRE_BUFFER_HEADER_BYTES + bytes);
	SCHED_POINT("session.piece.copied");
	subscriber->written++;
	record->written[subscriber->place]++;
	session->batch_bytes += bytes;
	return true;
}

/* Returns whether everybody got it. Holding consumer_lock. */
static bool hand_out(struct etw_session *session, const struct etw_session_output *output,
		     uint16_t flags)
{
	struct etw_etl_buffer_head buffer_head = {
		.buffer_bytes = session->plan.buffer_bytes,
		.processor = (uint16_t)output->index,
		.logger_id = (uint16_t)session->state.head->session_id,
		.sequence = session->pieces + 1,
		.time_raw = etw_session_now(session),
		.flags = flags,
		.is_partial = true,
	};
	bool result = true;

	if (buffer_head.time_raw < output->record->last_time_raw)
		buffer_head.time_raw = output->record->last_time_raw;
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		if (session->subscribers[i] &&
		    !fill_slot(session, output, &buffer_head, session->subscribers[i]))
			result = false;
	}
	return result;
}

/* Whether events were lost since a piece last said so. */
static uint16_t loss_flag(const struct etw_session *session, struct etw_session_output *output)
{
	uint64_t loss = etw_output_loss(session, output);

	/* Before a new host has its streams the number is too small. */
	if (loss <= output->record->told_loss)
		return 0;
	output->record->told_loss = loss;
	return WIRE_BUFFER_EVENTS_LOST;
}

void etw_delivery_piece(struct etw_session *session, struct etw_session_output *output,
			bool is_sealed)
{
	struct etw_state_record *record = output->record;
	bool is_lost = false;

	if (!session->plan.is_realtime || record->delivered == record->fill)
		return;
	if (session->subscriber_count > 0) {
		is_lost = !hand_out(session, output, loss_flag(session, output));
	} else if (is_sealed) {
		is_lost = !session->plan.has_file;
	} else {
		return;
	}
	record->counts.pieces++;
	record->counts.piece_events += record->piece_events;
	record->counts.lost_pieces += is_lost;
	session->pieces++;
	session->piece_events += record->piece_events;
	record->delivered = record->fill;
	record->piece_events = 0;
	output->is_changed = true;
}

static int64_t watermark_of(const struct etw_session *session)
{
	int64_t watermark = session->outputs[0].merged_raw;

	for (uint32_t i = 1; i < session->plan.output_count; i++) {
		if (session->outputs[i].merged_raw < watermark)
			watermark = session->outputs[i].merged_raw;
	}
	return watermark;
}

/* Holding consumer_lock. */
static void announce(struct etw_subscriber *subscriber, const struct wire_batch *common,
		     bool is_end)
{
	struct wire_batch batch = *common;

	batch.first_buffer = subscriber->announced;
	batch.buffer_count = (uint32_t)(subscriber->written - subscriber->announced);
	if (batch.buffer_count > 0) {
		struct wire_buffer_header *last =
			(void *)etw_subscriber_slot(subscriber, subscriber->written - 1);

		last->flags = le16_of((uint16_t)(le16_get(last->flags) | WIRE_BUFFER_FLUSH_MARKER));
	}
	subscriber->announced = subscriber->written;
	/* Pairs with the consumer's load. */
	store_release(&etw_subscriber_page(subscriber)->written, subscriber->written);
	subscriber->notify(subscriber->context, &batch, is_end);
}

/* Holding consumer_lock. */
static void announce_to_all(struct etw_session *session, bool is_end)
{
	struct etw_state_head *head = session->state.head;
	struct wire_session_loss loss;
	struct wire_batch batch;

	etw_account_loss(session, &loss);
	store_relaxed(&head->batch, head->batch + 1);
	session->batch_bytes = 0;
	batch = (struct wire_batch){
		.batch = head->batch,
		.watermark_raw = watermark_of(session),
		.pieces = session->pieces,
		.events = session->piece_events,
		.events_lost = etw_account_lost_on_the_way(&loss),
	};
	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		struct etw_subscriber *subscriber = session->subscribers[i];

		if (subscriber && subscriber->awaited_until_ns == 0)
			announce(subscriber, &batch, is_end);
		SCHED_POINT("session.batch.announced");
	}
}

void etw_delivery_close_batch(struct etw_session *session, bool is_end)
{
	if (!session->plan.is_realtime)
		return;
	pthread_mutex_lock(&session->consumer_lock);
	etw_subscribers_expire(session, session->round.now_ns);
	if (session->subscriber_count > 0) {
		for (uint32_t i = 0; i < session->plan.output_count; i++) {
			struct etw_session_output *output = &session->outputs[i];

			etw_delivery_piece(session, output, /* is_sealed= */ is_end);
			if (output->is_changed)
				etw_output_commit(session, output);
		}
		SCHED_POINT("session.batch.committed");
		announce_to_all(session, is_end);
	}
	if (is_end) {
		etw_subscribers_abandon(session);
		session->is_over = true;
	}
	pthread_mutex_unlock(&session->consumer_lock);
}
