/* SPDX-License-Identifier: MIT */
/*
 * The account of a session: summed up from the records that hold, the rings' own counters and the sums of
 * closed rings. Any thread, not holding `lock`.
 * Source: docs/design/recording.md "The account".
 */
#ifndef ETW_SESSION_ACCOUNT_H
#define ETW_SESSION_ACCOUNT_H

#include "session/session_internal.h"

/* etw_account_sum() - of numbers that processes write: as far as 64 bits go. */
static inline uint64_t etw_account_sum(uint64_t left, uint64_t right)
{
	uint64_t sum;

	return __builtin_add_overflow(left, right, &sum) ? UINT64_MAX : sum;
}

/* etw_account_counts() - sums over all outputs. */
void etw_account_counts(const struct etw_session *session, struct etw_state_counts *ret);

/* etw_account_loss() - events lost by cause. */
void etw_account_loss(struct etw_session *session, struct wire_session_loss *ret);

/* etw_account_lost_on_the_way() - those of them that no consumer could get. */
uint64_t etw_account_lost_on_the_way(const struct wire_session_loss *loss);

/* etw_account_events_lost() - the sum of all causes, as far as 32 bits go. */
uint32_t etw_account_events_lost(const struct wire_session_loss *loss);

/* etw_account_info() - everything that a session says of itself. */
void etw_account_info(struct etw_session *session, struct wire_session_info *ret);

#endif
