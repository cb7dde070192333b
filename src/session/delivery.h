/* SPDX-License-Identifier: MIT */
/*
 * Real-time consumers: their memory, the pieces of outputs that they get, batches.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_SESSION_DELIVERY_H
#define ETW_SESSION_DELIVERY_H

#include "session/session_internal.h"

#define ETW_DELIVERY_BATCH_BYTES (4 * 1024 * 1024)

/*
 * etw_delivery_piece() - hands out what of an output's buffer was not handed out yet, as a buffer of its
 * own. Owner thread.
 *
 * @flags:     of the piece, beside those of delivery
 * @is_sealed: the buffer begins anew after this; what nobody takes now, nobody ever will
 */
void etw_delivery_piece(struct etw_session *session, struct etw_session_output *output,
			uint16_t flags, bool is_sealed);

/*
 * etw_delivery_close_batch() - hands out the rest of all outputs' buffers, and tells the consumers.
 *
 * @is_end: it is the last one. Owner thread.
 */
void etw_delivery_close_batch(struct etw_session *session, bool is_end);

/* etw_delivery_recover() - what the last host's consumers did not get is counted as lost to them. */
void etw_delivery_recover(struct etw_session *session);

/* etw_delivery_free_all() - consumers that nobody unsubscribed. */
void etw_delivery_free_all(struct etw_session *session);

#endif
