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

#include "session/consumers.h"

/*
 * etw_delivery_lock(), etw_delivery_unlock() - around pieces and the commit that makes them hold, so that
 * consumers come and go between them. Nothing for sessions without consumers.
 */
void etw_delivery_lock(struct etw_session_consumers *consumers);
void etw_delivery_unlock(struct etw_session_consumers *consumers);

/* What an output's buffer has. */
struct etw_delivery_piece {
	uint32_t output;
	const uint8_t *buffer;
	struct etw_state_record *record; /* of it what is said of pieces is brought up to date */
	uint64_t loss;                   /* events lost here, as far as it is known */
	bool is_sealed; /* the buffer begins anew: what nobody takes now, nobody ever will */
};

/*
 * etw_delivery_piece() - hands out what of an output's buffer did not go by yet, as a buffer of its own.
 * Between etw_delivery_lock() and a commit. Owner thread, or at adoption.
 *
 * Returns whether the record has changed.
 */
bool etw_delivery_piece(struct etw_session_consumers *consumers,
			const struct etw_delivery_piece *piece);

/*
 * etw_delivery_announce() - closes the batch and tells the consumers. Between etw_delivery_lock() and
 * etw_delivery_unlock(), when all pieces are committed. Owner thread.
 *
 * @watermark_raw: what comes later is not before it
 * @events_lost:   by the session, so far
 * @is_end:        it is the last one
 */
void etw_delivery_announce(struct etw_session_consumers *consumers, int64_t watermark_raw,
			   uint64_t events_lost, bool is_end);

/* etw_delivery_end() - nobody is handed anything any more. As etw_delivery_announce(), and behind it. */
void etw_delivery_end(struct etw_session_consumers *consumers);

#endif
