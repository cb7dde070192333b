/* SPDX-License-Identifier: MIT */
/*
 * The outputs of a session, one of its parts: the buffers in which each processor's events are collected, in order of
 * time, until a buffer is sealed: numbered, given its place, written, delivered. Here are the structs of the part and what
 * is done with one output. Above it are
 *
 *	session/merge.h    what flows into outputs, by time
 *	session/outputs.h  what is done with all of them: flushes, batches, notes, the end
 *
 * Owner: the session's thread has all of it, without a lock; before that thread runs, whoever makes the session. What
 * others may see of it (numbers, the fill of a buffer) they read in the state, where a commit makes it hold.
 */
#ifndef ETW_SESSION_OUTPUT_H
#define ETW_SESSION_OUTPUT_H

#include "session/common/context.h"
#include "session/common/set_table.h"
#include "session/consumers.h"
#include "session/file/file.h"
#include "session/overwritten.h"
#include "session/source_feeds.h"

/* A processor's output buffer and what flows into it. */
struct etw_session_output {
	uint32_t index;
	uint8_t *buffer;                 /* in the state */
	struct etw_state_record *record; /* owned: what the next commit makes hold */
	bool is_changed;                 /* since the last commit */
	bool has_progress;               /* in this round */
	uint32_t stream_count;
	struct etw_session_stream **streams; /* owned array of borrowed */
	int64_t merged_raw;                  /* what comes later is not before it */
	uint32_t round_buffers;
};

struct etw_session_outputs {
	struct etw_session_context *context;
	struct etw_session_sets *sets;  /* whose rings flow in, and who judges their counters */
	struct etw_source_feeds *feeds; /* whose events flow in */
	struct etw_session_consumers *consumers; /* who is handed what is collected */
	struct etw_session_notes *notes;         /* what is to be written for readers */
	struct etw_session_output *all;          /* owned, plan.output_count */
	struct etw_session_file file;
	struct etw_overwritten
		*flushed; /* borrowed: what a flush has still to write; NULL: none goes on */
	struct etw_check_limits limits; /* of this round; floor_raw of the event that is checked */
};

/*
 * etw_output_append() - copies the stream's next event behind the others, checks the copy, and takes the
 * event from its stream. Seals the buffer when the event does not fit.
 */
void etw_output_append(struct etw_session_outputs *outputs, struct etw_session_output *output,
		       struct etw_session_stream *stream);

/*
 * etw_output_append_run() - the same of the stream's next event and those behind it, as far as they fit, none is
 * refused, and none comes after @outputs->limits.bound_raw: copied together, and checked there.
 *
 * Returns false when it took none: then the next one is for etw_output_append().
 */
bool etw_output_append_run(struct etw_session_outputs *outputs, struct etw_session_output *output,
			   struct etw_session_stream *stream);

/*
 * etw_output_append_own() - puts an event of the host's own behind the others; there is no check.
 *
 * @bytes: exact, at most what the smallest buffer holds
 * @raw:   its time, not before the output's last, and not behind what is still to come
 */
void etw_output_append_own(struct etw_session_outputs *outputs, struct etw_session_output *output,
			   const uint8_t *event, uint32_t bytes, int64_t raw);

/*
 * etw_output_seal() - ends the buffer, if it holds an event: writes it and begins the next.
 *
 * @flags:      WIRE_BUFFER_FLUSH_MARKER or 0
 * @next_bytes: of the event that did not fit; 0: it is partial
 */
void etw_output_seal(struct etw_session_outputs *outputs, struct etw_session_output *output,
		     uint16_t flags, uint32_t next_bytes);

/* etw_output_look_at_place() - notes whose buffer is in the place of one that is just being sealed. */
void etw_output_look_at_place(struct etw_session_outputs *outputs,
			      struct etw_session_output *output);

/* etw_output_fill_place() - what was there is overwritten, and what is there now is noted. */
void etw_output_fill_place(struct etw_session_outputs *outputs, struct etw_session_output *output,
			   bool is_written);

/*
 * etw_outputs_begin_file() - the session goes on in another file: its next buffer is the first in that.
 *
 * @next: NULL: the next of its series
 *
 * Returns what etw_session_file_replace() does. When no buffer is sealed that is not written.
 */
int etw_outputs_begin_file(struct etw_session_outputs *outputs, const struct etw_state_file *next);

/*
 * etw_output_copy() - a copy of the buffer, as it would be if it were sealed now. Nothing changes.
 *
 * @to: a buffer of room
 */
void etw_output_copy(struct etw_session_outputs *outputs, const struct etw_session_output *output,
		     uint64_t sequence, uint8_t *to);

/* etw_output_recover() - finishes what the last host left half done: a buffer that it was writing. */
void etw_output_recover(struct etw_session_outputs *outputs, struct etw_session_output *output);

/*
 * etw_output_hand_out() - gives the consumers what of the buffer did not go by yet, between etw_delivery_lock() and a
 * commit; @is_sealed: as in struct etw_delivery_piece.
 */
void etw_output_hand_out(struct etw_session_outputs *outputs, struct etw_session_output *output,
			 bool is_sealed);

/* etw_output_commit() - makes positions, fill and counts hold, then lets the rings reuse their memory. */
void etw_output_commit(struct etw_session_outputs *outputs, struct etw_session_output *output);

/* etw_output_must_commit() - whether anything moved since the last commit. */
bool etw_output_must_commit(const struct etw_session_output *output);

/*
 * etw_output_reject_rest() - what the last flush left in a ring is lost, and counts, as its writers were told
 * that it is not. To be settled next.
 */
void etw_output_reject_rest(struct etw_session_stream *stream);

/* etw_output_settle_stream() - brings the last numbers of a ring that is closed into the account, and commits. */
void etw_output_settle_stream(struct etw_session_outputs *outputs,
			      struct etw_session_output *output, struct etw_session_stream *stream);

/*
 * etw_output_loss() - events lost on this processor, as far as its streams know, and those of closed rings
 * did; the first one's are the source's, too. Only for flags: a host that dies while it closes a ring counts
 * that twice.
 */
uint64_t etw_output_loss(const struct etw_session_outputs *outputs,
			 const struct etw_session_output *output);

static inline bool etw_output_is_empty(const struct etw_session_output *output)
{
	return output->record->buffer_events == 0;
}

#endif
