/* SPDX-License-Identifier: MIT */
/* What a uid may have of a session's ring sets; see session/rings/limits.h. */
#include "session/rings/limits.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/rings/charge.h"
#include "wire/etl_buffer.h"

/* Stopped and hostile processes keep replaced sets: one uid must not take the places of all. */
#define SETS_OF_UID 8
/* Page and rings. */
#define DESCRIPTORS_OF_SET 2

/* Places that uids which are not trusted leave to root and the session's owner. */
#define SETS_FOR_TRUSTED 16

/* The budget that binds this uid; NULL: none does. */
static struct etw_budget *budget_of(const struct etw_session_sets *sets, uid_t uid)
{
	if (etw_context_is_trusted(sets->context, uid))
		return etw_charge_budget(sets->context, uid);
	return sets->context->host.budget;
}

/* How large one set of the uid may be. */
static uint64_t set_bytes(const struct etw_session_sets *sets, uid_t uid)
{
	const struct etw_budget *budget = budget_of(sets, uid);

	return budget ? etw_budget_limits(budget)->set : UINT64_MAX;
}

struct etw_ring_set_config etw_ring_limits_config(const struct etw_session_sets *sets, uid_t uid)
{
	struct etw_ring_set_config config = {
		.cpu_count = sets->context->plan.output_count,
		.buffer_count = load_relaxed(&sets->context->plan.ring_buffers),
		.buffer_bytes = sets->context->plan.buffer_bytes - WIRE_BUFFER_HEADER_BYTES,
		.session_id = sets->context->state.head->session_id,
		.uid = uid,
		.clock_type = sets->context->plan.clock_type,
		.flags = sets->context->plan.ring_flags,
	};
	const uint64_t most = set_bytes(sets, uid);

	while (config.buffer_count > ETW_SESSION_MINIMUM_PER_CPU &&
	       etw_ring_set_bytes(&config) > most)
		config.buffer_count--;
	return config;
}

/* Holding lock. */
static int find_place(const struct etw_session_sets *sets, uid_t uid, uint32_t *ret)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++)
		others += sets->table[i] &&
			  !etw_context_is_trusted(sets->context, sets->table[i]->uid);
	if (!etw_context_is_trusted(sets->context, uid) &&
	    others >= ETW_STATE_SETS - SETS_FOR_TRUSTED)
		return -ENOSPC;
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (!sets->table[i] && load_acquire(&sets->context->state.head->sets[i].status) ==
					       ETW_STATE_SET_FREE) {
			*ret = i;
			return 0;
		}
	}
	return -ENOSPC;
}

/* Holding lock. */
static uint32_t count_sets(const struct etw_session_sets *sets, uid_t uid)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++)
		count += sets->table[i] && sets->table[i]->uid == uid;
	return count;
}

/* Holding lock. What the uid has in this session, under its budget. */
static uint64_t charged_bytes(const struct etw_session_sets *sets, uid_t uid)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (sets->table[i] && sets->table[i]->uid == uid)
			bytes += sets->table[i]->charged_bytes;
	}
	return bytes;
}

int etw_ring_limits_look(const struct etw_session_sets *sets, uid_t uid, uint64_t bytes,
			 uint32_t *ret_slot)
{
	struct etw_budget *budget = budget_of(sets, uid);

	if (sets->is_ending)
		return -ESHUTDOWN;
	TRY(etw_context_room(sets->context, DESCRIPTORS_OF_SET));
	/* Who spoils one set after the other, and gives none back, gets no more. */
	if (count_sets(sets, uid) >= SETS_OF_UID)
		return -ENOSPC;
	TRY(find_place(sets, uid, ret_slot));
	if (!budget)
		return 0;
	if (charged_bytes(sets, uid) + bytes > etw_budget_limits(budget)->session)
		return -EDQUOT;
	return etw_budget_look(budget, uid, bytes, etw_monotonic_ns());
}

int etw_ring_limits_look_again(struct etw_session_sets *sets, uid_t uid)
{
	const struct etw_ring_set_config config = etw_ring_limits_config(sets, uid);
	uint32_t slot;
	int result;

	pthread_mutex_lock(&sets->lock);
	result = etw_ring_limits_look(sets, uid, etw_ring_set_bytes(&config), &slot);
	pthread_mutex_unlock(&sets->lock);
	return result;
}

int etw_ring_limits_take(struct etw_session_sets *sets, uid_t uid, uint64_t bytes,
			 uint64_t *ret_charged_bytes)
{
	struct etw_budget *budget = budget_of(sets, uid);

	*ret_charged_bytes = 0;
	if (!budget)
		return 0;
	TRY(etw_budget_take(budget, uid, bytes, etw_monotonic_ns()));
	*ret_charged_bytes = bytes;
	return 0;
}

uint64_t etw_ring_limits_adopt(struct etw_session_sets *sets, uid_t uid, uint64_t bytes)
{
	struct etw_budget *budget = budget_of(sets, uid);

	if (!budget || etw_budget_adopt(budget, uid, bytes) < 0)
		return 0;
	return bytes;
}

void etw_ring_limits_give(struct etw_session_sets *sets, uid_t uid, uint64_t charged_bytes)
{
	if (charged_bytes)
		etw_budget_give(budget_of(sets, uid), uid, charged_bytes);
}
