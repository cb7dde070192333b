/* SPDX-License-Identifier: MIT */
/* A session's numbers, told apart; see session/statistics.h. */
#include "session/statistics.h"

#include <string.h>

#include "base/atomic.h"
#include "base/number.h"
#include "session/common/account.h"
#include "session/common/claims.h"

static void tell_cpu(struct etw_session_sets *sets, uint32_t cpu, uint32_t buffers,
		     struct wire_cpu_statistics *ret)
{
	bool has_sets = etw_session_sets_buffers(sets) > 0;
	struct etw_state_counts counts;

	etw_state_counts(&sets->context->state, cpu, &counts);
	*ret = (struct wire_cpu_statistics){
		.buffers = buffers,
		.free_buffers = etw_session_sets_free_of(sets, cpu),
		.events = counts.events,
		.notes = counts.notes,
		.buffers_written = counts.buffers - counts.file_buffers,
		.log_buffers_lost = counts.file_buffers,
		.gaps = counts.gaps,
		.rejected = counts.rejected,
		.source = counts.too_large + etw_state_source_lost(&sets->context->state, cpu),
		.file = counts.file_events,
		.delivered_buffers = counts.pieces,
		.delivered_events = counts.piece_events,
		.slow_buffers = counts.slow_pieces,
		.slow_events = counts.slow_events,
		.unheard_buffers = counts.unheard_pieces,
		.unheard_events = counts.unheard_events,
	};
	/* Those that a set would have; or more than there are now, counted before a set was closed. */
	if (!has_sets || ret->free_buffers > buffers)
		ret->free_buffers = buffers;
	pthread_mutex_lock(&sets->lock);
	etw_claims_of_output(sets, cpu, &ret->no_buffer, &ret->too_large);
	pthread_mutex_unlock(&sets->lock);
}

void etw_statistics(struct etw_session_sets *sets, struct etw_session_consumers *consumers,
		    uint32_t first_cpu, struct wire_statistics *ret)
{
	const struct etw_session_plan *plan = &sets->context->plan;
	uint32_t told = 0;

	memset(ret, 0, sizeof(*ret));
	ret->handle = sets->context->state.head->session_id;
	etw_account_buffers(sets, &ret->number_of_buffers, &ret->free_buffers);
	etw_account_loss(sets, &ret->loss);
	etw_claims_filtered(sets, &ret->filtered, &ret->others_filtered);
	etw_account_consumer_loss(sets->context->state.head, &ret->missed_buffers,
				  &ret->unread_buffers);
	etw_consumers_tell(consumers, ret->consumers);
	ret->cpu_count = plan->output_count;
	ret->first_cpu = first_cpu;
	for (uint32_t i = first_cpu; i < plan->output_count && told < WIRE_STATISTICS_CPUS; i++)
		tell_cpu(sets, i, ret->number_of_buffers / plan->output_count, &ret->cpus[told++]);
	ret->told_cpus = told;
}
