/* SPDX-License-Identifier: MIT */
/*
 * What a buffering session keeps: the buffers that it sealed last, in its state, the oldest of which makes room for the
 * next; and how that becomes a file. A flush takes a copy, in which the buffers that are not full yet come last, and
 * leaves the session as it is: several flushes give files that overlap, and each has all that was there.
 * Source: docs/design/recording.md "Buffering".
 */
#ifndef ETW_SESSION_HISTORY_H
#define ETW_SESSION_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "session/common/state.h"
#include "session/outputs.h"

/* A copy of one moment. */
struct etw_history_copy {
	uint8_t *
		memory; /* owned: the file's header buffer, then data buffers in the order of their numbers */
	size_t memory_bytes;
	uint32_t buffer_count;       /* of data */
	struct etw_state_file names; /* of the file that is to be written */
};

/*
 * etw_history_copy() - copies what is there, for the file that @ret->names names. Owner thread.
 *
 * Returns 0; -EMSGSIZE when the names do not fit the header buffer; -ENOMEM.
 */
int etw_history_copy(struct etw_session_outputs *outputs, struct etw_history_copy *ret);

/*
 * etw_history_write() - makes a whole file of a copy, with the rights of the session's owner.
 *
 * Returns 0; the errno of making and writing the file, of which nothing is left then. Any thread.
 */
int etw_history_write(struct etw_session_outputs *outputs, struct etw_history_copy *copy);

/* etw_history_copy_done() - harmless on one that is all zeros. */
void etw_history_copy_done(struct etw_history_copy *copy);

#endif
