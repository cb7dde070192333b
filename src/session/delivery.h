/* SPDX-License-Identifier: MIT */
/*
 * Handing out: the pieces of outputs that real-time consumers get, and batches of them. A piece is copied
 * into the consumers' memories first; then the output's next record says, all at once, that the bytes went
 * by and into which memories. So whenever a host dies, the next one either does it over, into the same
 * slots, or knows that it is done.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_SESSION_DELIVERY_H
#define ETW_SESSION_DELIVERY_H

#include "session/session_internal.h"

#define ETW_DELIVERY_BATCH_BYTES (4 * 1024 * 1024)

/*
 * etw_delivery_lock(), etw_delivery_unlock() - around pieces and the commit that makes them hold, so that
 * consumers come and go between them. Nothing for sessions without consumers.
 */
void etw_delivery_lock(struct etw_session *session);
void etw_delivery_unlock(struct etw_session *session);

/*
 * etw_delivery_piece() - hands out what of an output's buffer did not go by yet, as a buffer of its own.
 * Between etw_delivery_lock() and a commit. Owner thread, or at adoption.
 *
 * @is_sealed: the buffer begins anew after this; what nobody takes now, nobody ever will
 */
void etw_delivery_piece(struct etw_session *session, struct etw_session_output *output,
			bool is_sealed);

/*
 * etw_delivery_close_batch() - hands out the rest of all outputs' buffers, and tells the consumers.
 *
 * @is_end: it is the last one. Owner thread.
 */
void etw_delivery_close_batch(struct etw_session *session, bool is_end);

#endif
