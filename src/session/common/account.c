/* SPDX-License-Identifier: MIT */
/* A session's numbers; see session/common/account.h. */
#include "session/common/account.h"

#include <string.h>
#include <sys/param.h>

#include "base/atomic.h"
#include "base/number.h"
#include "session/common/claims.h"

void etw_account_counts(const struct etw_state *state, struct etw_state_counts *ret)
{
	*ret = (struct etw_state_counts){0};
	for (uint32_t i = 0; i < state->head->output_count; i++) {
		struct etw_state_counts counts;

		etw_state_counts(state, i, &counts);
		ret->events += counts.events;
		ret->gaps += counts.gaps;
		ret->rejected += counts.rejected;
		ret->others_gaps += counts.others_gaps;
		ret->others_rejected += counts.others_rejected;
		ret->raised += counts.raised;
		ret->too_large += counts.too_large;
		ret->file_events += counts.file_events;
		ret->file_buffers += counts.file_buffers;
		ret->notes += counts.notes;
		ret->buffers += counts.buffers;
		ret->overwritten_events += counts.overwritten_events;
		ret->overwritten_buffers += counts.overwritten_buffers;
		ret->pieces += counts.pieces;
		ret->piece_events += counts.piece_events;
		ret->slow_pieces += counts.slow_pieces;
		ret->slow_events += counts.slow_events;
		ret->unheard_pieces += counts.unheard_pieces;
		ret->unheard_events += counts.unheard_events;
	}
}

/* What of @all is told as known, when @others of it are made by those that may make as much as they like. */
static uint64_t bound(uint64_t all, uint64_t others, struct wire_session_loss *loss)
{
	if (others <= ETW_CLAIM_COUNTED_MAX)
		return all;
	loss->others = etw_sum_saturated(loss->others, others - ETW_CLAIM_COUNTED_MAX);
	return all - (others - ETW_CLAIM_COUNTED_MAX);
}

void etw_account_refused(const struct etw_state_counts *counts, struct wire_session_loss *loss)
{
	loss->gaps = bound(counts->gaps, counts->others_gaps, loss);
	loss->rejected = bound(counts->rejected, counts->others_rejected, loss);
}

/* Of one cell over all processors. */
static uint64_t sum_of_sources(const struct etw_state *state, unsigned cause, unsigned class_number)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= state->head->cpu_count; i++)
		sum += etw_state_source_loss(state, i, cause, class_number);
	return sum;
}

static void put_source(struct wire_session_loss *loss, uint32_t cause, uint32_t class_number,
		       uint64_t events)
{
	for (unsigned i = 0; events && i < WIRE_SOURCE_LOSSES_MAX; i++) {
		struct wire_source_loss *to = &loss->sources[i];

		if (to->events)
			continue;
		*to = (struct wire_source_loss){cause, class_number, events};
		return;
	}
}

/* There are more cells than places, but only some of them are ever counted in. */
static void list_sources(const struct etw_state *state, uint64_t too_large,
			 struct wire_session_loss *loss)
{
	put_source(loss, ETW_LOSS_TOO_LARGE, ETW_LOSS_OF_ANY, too_large);
	for (unsigned cause = 0; cause < ETW_LOSS_CAUSES; cause++)
		for (unsigned i = 0; i < ETW_LOSS_CLASSES; i++)
			put_source(loss, cause, i, sum_of_sources(state, cause, i));
}

void etw_account_loss(struct etw_session_sets *sets, struct wire_session_loss *ret)
{
	const struct etw_state_head *head = sets->context->state.head;
	struct etw_state_counts counts;

	etw_account_counts(&sets->context->state, &counts);
	*ret = (struct wire_session_loss){
		.source = counts.too_large,
		.file = counts.file_events,
	};
	for (uint32_t i = 0; i < head->output_count; i++)
		ret->source += etw_state_source_lost(&sets->context->state, i);
	list_sources(&sets->context->state, counts.too_large, ret);
	etw_account_refused(&counts, ret);
	etw_claims_sum(sets, ret);
}

void etw_account_consumer_loss(const struct etw_state_head *head, uint64_t *ret_missed,
			       uint64_t *ret_unread)
{
	uint64_t missed = 0, unread = 0;

	for (uint32_t i = 0; i < ETW_STATE_CONSUMERS; i++) {
		const struct etw_state_consumer *consumer = &head->consumers[i];
		uint32_t status = load_acquire(&consumer->status);
		bool is_leaving = status == ETW_STATE_CONSUMER_LEAVING;
		bool has_next = is_leaving || status == ETW_STATE_CONSUMER_LIVE;

		missed = etw_sum_saturated(missed, load_relaxed(has_next ? &consumer->missed_next
									 : &consumer->missed));
		unread = etw_sum_saturated(unread, load_relaxed(is_leaving ? &consumer->unread_next
									   : &consumer->unread));
	}
	*ret_missed = missed;
	*ret_unread = unread;
}

uint64_t etw_account_real_time_lost(const struct etw_state_head *head,
				    const struct etw_state_counts *counts)
{
	uint64_t missed, unread;

	etw_account_consumer_loss(head, &missed, &unread);
	return etw_sum_saturated(etw_sum_saturated(counts->slow_pieces, counts->unheard_pieces),
				 etw_sum_saturated(missed, unread));
}

uint64_t etw_account_lost_on_the_way(const struct wire_session_loss *loss)
{
	uint64_t sum = etw_sum_saturated(loss->no_buffer, loss->too_large);

	sum = etw_sum_saturated(sum, loss->gaps);
	sum = etw_sum_saturated(sum, loss->rejected);
	sum = etw_sum_saturated(sum, loss->source);
	sum = etw_sum_saturated(sum, loss->replaced);
	return etw_sum_saturated(sum, loss->others_counted);
}

uint32_t etw_account_events_lost(const struct wire_session_loss *loss)
{
	return etw_saturate32(etw_sum_saturated(etw_account_lost_on_the_way(loss), loss->file));
}

void etw_account_buffers(struct etw_session_sets *sets, uint32_t *ret_all, uint32_t *ret_free)
{
	const struct etw_session_plan *plan = &sets->context->plan;
	uint32_t all = etw_session_sets_buffers(sets);
	uint32_t free = etw_saturate32(load_relaxed(&sets->free_buffers));

	if (all == 0) /* those that a set would have */
		all = free = load_relaxed(&plan->ring_buffers) * plan->output_count;
	*ret_all = all;
	*ret_free = free < all ? free : all; /* more were counted before a set was closed */
}

void etw_account_info(struct etw_session_sets *sets, struct wire_session_info *ret)
{
	const struct etw_state_head *head = sets->context->state.head;
	const struct etw_state_file *file = etw_state_file(&sets->context->state);
	struct etw_state_counts counts;

	memset(ret, 0, sizeof(*ret));
	etw_account_counts(&sets->context->state, &counts);
	etw_account_loss(sets, &ret->loss);
	ret->handle = head->session_id;
	etw_context_config(sets->context, &ret->config);
	ret->uid = head->uid;
	ret->start_ft = (uint64_t)head->start_ft;
	ret->is_kernel = head->plan.is_kernel;
	ret->events = counts.events;
	ret->bytes = load_relaxed(&file->next_offset);
	ret->buffers_written = load_relaxed(&file->buffers);
	ret->file_status = load_relaxed(&file->status);
	ret->events_lost = etw_account_events_lost(&ret->loss);
	ret->overwritten = counts.overwritten_events;
	/* BuffersWritten counts on past the end of a circular file. */
	if (head->plan.file_places != 0)
		ret->bytes = MIN(ret->bytes, (head->plan.file_places + 1) * head->buffer_bytes);
	if (!load_relaxed(&head->plan.has_file))
		ret->buffers_written = etw_saturate32(load_relaxed(&head->next_sequence) - 1);
	ret->log_buffers_lost = etw_saturate32(counts.file_buffers);
	ret->real_time_buffers_lost = etw_saturate32(etw_account_real_time_lost(head, &counts));
	etw_account_buffers(sets, &ret->number_of_buffers, &ret->free_buffers);
	ret->logger_thread_id = (uint32_t)load_relaxed(&sets->context->thread_id);
	etw_context_complaint(sets->context, ret->complaint, sizeof(ret->complaint));
}
