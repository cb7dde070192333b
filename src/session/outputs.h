/* SPDX-License-Identifier: MIT */
/*
 * What is done with all outputs of a session (session/output.h): made over its state, merged, committed, flushed, closed in
 * batches; and what the host itself writes into them. Owner thread, but for opening and recovery.
 */
#ifndef ETW_SESSION_OUTPUTS_H
#define ETW_SESSION_OUTPUTS_H

#include "session/common/round.h"
#include "session/output.h"

/* The other parts that outputs use; all are borrowed. */
struct etw_outputs_parts {
	struct etw_session_sets *sets;
	struct etw_source_feeds *feeds;
	struct etw_session_consumers *consumers;
	struct etw_session_notes *notes;
};

/* etw_outputs_init() - without outputs. etw_outputs_close() may follow at once. */
void etw_outputs_init(struct etw_session_context *context, const struct etw_outputs_parts *parts,
		      struct etw_session_outputs *ret);

/* etw_outputs_open() - makes the outputs over the session's state. Returns 0 or -ENOMEM. */
int etw_outputs_open(struct etw_session_outputs *outputs);
void etw_outputs_close(struct etw_session_outputs *outputs);

/* etw_outputs_recover() - finishes what the last host left half done: buffers that it was writing. */
void etw_outputs_recover(struct etw_session_outputs *outputs);

/* etw_outputs_move() - merges what the round may take, writes the notes that wait, and commits. Returns whether it did. */
bool etw_outputs_move(struct etw_session_outputs *outputs, struct etw_session_round *round);

/* etw_outputs_merged_raw() - before what time nothing comes any more, to any output. */
int64_t etw_outputs_merged_raw(const struct etw_session_outputs *outputs);

/* etw_outputs_got_on() - whether an output took something in this round that is from before @target_raw. */
bool etw_outputs_got_on(const struct etw_session_outputs *outputs, int64_t target_raw);

/* etw_outputs_flush() - seals every buffer that holds an event; the last gets the flush marker. */
void etw_outputs_flush(struct etw_session_outputs *outputs);

/*
 * etw_outputs_close_batch() - hands out the rest of all outputs' buffers, and tells the consumers.
 *
 * @is_end: it is the last one
 */
void etw_outputs_close_batch(struct etw_session_outputs *outputs, uint64_t now_ns, bool is_end);

/*
 * etw_outputs_look_at_file() - whether the file is still there. When somebody has deleted it all that was in it is lost,
 * and counts so. When all outputs are committed.
 */
void etw_outputs_look_at_file(struct etw_session_outputs *outputs);

/* etw_outputs_put_note() - writes a note behind what output 0 has. */
void etw_outputs_put_note(struct etw_session_outputs *outputs,
			  const struct wire_session_note *note);

/* etw_outputs_write_notes() - the same for those that wait. */
void etw_outputs_write_notes(struct etw_session_outputs *outputs);

/* etw_outputs_put_account() - writes what the sources tell of the recording as a whole behind what output 0 has. */
void etw_outputs_put_account(struct etw_session_outputs *outputs);

/* etw_outputs_settle_set() - brings the last numbers of a set that is closed into the account, and forgets its rings. */
void etw_outputs_settle_set(struct etw_session_outputs *outputs, struct etw_session_set *set);

/*
 * etw_outputs_settle_sources() - what sources had before the end and the last flush could not wait for is lost, and
 * counts; their streams are forgotten.
 *
 * @end_raw: what is not before this comes too late, and is nobody's loss
 */
void etw_outputs_settle_sources(struct etw_session_outputs *outputs, int64_t end_raw);

#endif
