/* SPDX-License-Identifier: MIT */
/*
 * What a buffering session keeps: the buffers that it sealed last, in its state, the oldest of which makes room for the
 * next; and how that becomes a file. A flush is of one moment, in which the buffers that are not full yet come last, and
 * leaves the session as it is: several flushes give files that overlap, and each has all that was there. Of a session that
 * records the kernel it ends with a description of what is there, as a circular file does, since what was written at the
 * session's start may be overwritten.
 *
 * The moment is fixed by etw_history_begin(). From then on whoever flushes takes the buffers in pieces, so that a flush
 * needs little memory: what the session overwrites meanwhile is copied before (session/overwritten.h).
 * Source: docs/design/recording.md "Buffering".
 */
#ifndef ETW_SESSION_HISTORY_H
#define ETW_SESSION_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "session/common/state.h"
#include "session/outputs.h"
#include "session/overwritten.h"

#define ETW_HISTORY_PIECE_BYTES (UINT32_C(1) << 20) /* or one buffer, if that is larger */

/* A flush of one moment. The session's thread has it between begin and end, and whoever flushes while no order runs. */
struct etw_history_dump {
	struct etw_state_file
		names;   /* of the file that is to be written, and whose rights it takes */
	uint8_t *header; /* owned: the file's header buffer */
	struct etw_overwritten kept; /* which of the history are still to be taken */
	uint8_t *piece;              /* owned: those that were taken last */
	uint32_t piece_count, piece_room;
	/* Buffers that are in no history: the open ones, then those of the description. */
	uint8_t *tail; /* owned */
	uint32_t tail_count, tail_room;
};

/*
 * etw_history_begin() - fixes the moment, for the file that @dump->names names; the rest of @dump is zeros. Owner thread.
 *
 * Returns 0; -EBUSY while another flush goes on; -EMSGSIZE when the names do not fit the header buffer; -ENOMEM.
 * etw_history_done() is due in each case.
 */
int etw_history_begin(struct etw_session_outputs *outputs, struct etw_history_dump *dump);

/*
 * etw_history_take() - takes the next piece, with no buffer when all were taken. Owner thread.
 *
 * Returns 0; -ENOMEM when the session has overwritten more meanwhile than there is room for.
 */
int etw_history_take(struct etw_session_outputs *outputs, struct etw_history_dump *dump);

/* etw_history_end() - the session forgets the flush. Owner thread; also when none goes on. */
void etw_history_end(struct etw_session_outputs *outputs);

/*
 * etw_history_write() - makes a whole file of a dump, with the rights of who named it. Any thread.
 *
 * @take: has the session's thread call etw_history_take(), and returns what that does
 *
 * Returns 0; what @take does; the errno of making and writing the file, of which nothing is left then.
 */
int etw_history_write(struct etw_session_outputs *outputs, struct etw_history_dump *dump,
		      int (*take)(void *context), void *context);

/* etw_history_done() - frees what it has. When the session has forgotten it, or never had it. */
void etw_history_done(struct etw_history_dump *dump);

#endif
