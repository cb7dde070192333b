/* SPDX-License-Identifier: MIT */
/*
 * The account of a session: summed up from the records that hold, the rings' own counters and the sums of
 * closed rings. It is above the ring sets, whose claims it asks for, and below everybody who tells numbers. Any thread,
 * not holding the ring sets' lock.
 * Source: docs/design/recording.md "The account".
 */
#ifndef ETW_SESSION_COMMON_ACCOUNT_H
#define ETW_SESSION_COMMON_ACCOUNT_H

#include "session/common/set_table.h"

/* etw_account_counts() - sums over all outputs. */
void etw_account_counts(const struct etw_state *state, struct etw_state_counts *ret);

/*
 * etw_account_refused() - gaps and refused events. A process makes millions a second of eight bytes each: of those of
 * the uids that are not trusted 2^25 of each kind count as the host's own knowledge, and the rest as what others say.
 */
void etw_account_refused(const struct etw_state_counts *counts, struct wire_session_loss *loss);

/* etw_account_loss() - events lost by cause. */
void etw_account_loss(struct etw_session_sets *sets, struct wire_session_loss *ret);

/*
 * etw_account_lost_on_the_way() - those of them that no consumer could get: what the host counted, what the
 * processes of the owner and of root claim, and of each other user's claims a bounded part (others_counted).
 */
uint64_t etw_account_lost_on_the_way(const struct wire_session_loss *loss);

/* etw_account_events_lost() - the sum of all causes, as far as 32 bits go. */
uint32_t etw_account_events_lost(const struct wire_session_loss *loss);

/* etw_account_buffers() - of the rings, and how many of them nobody uses now. */
void etw_account_buffers(struct etw_session_sets *sets, uint32_t *ret_all, uint32_t *ret_free);

/*
 * etw_account_consumer_loss() - real-time buffers lost that are of no processor: what consumers missed between two memories,
 * and what was left unread in those of consumers that died.
 */
void etw_account_consumer_loss(const struct etw_state_head *head, uint64_t *ret_missed,
			       uint64_t *ret_unread);

/* etw_account_real_time_lost() - the sum of all causes of RealTimeBuffersLost. */
uint64_t etw_account_real_time_lost(const struct etw_state_head *head,
				    const struct etw_state_counts *counts);

/* etw_account_info() - everything that a session says of itself. */
void etw_account_info(struct etw_session_sets *sets, struct wire_session_info *ret);

#endif
