/* SPDX-License-Identifier: MIT */
/*
 * An output: the buffer in which a processor's events are collected, in order of time, until it is sealed:
 * numbered, given its place, written, delivered. Owner thread.
 */
#ifndef ETW_SESSION_OUTPUT_H
#define ETW_SESSION_OUTPUT_H

#include "session/session_internal.h"

/* etw_outputs_open() - makes the outputs over the session's state. Returns 0 or -ENOMEM. */
int etw_outputs_open(struct etw_session *session);
void etw_outputs_close(struct etw_session *session);

/* etw_outputs_recover() - finishes what the last host left half done: buffers that it was writing. */
void etw_outputs_recover(struct etw_session *session);

/*
 * etw_output_append() - copies the stream's next event behind the others, checks the copy, and takes the
 * event from its stream. Seals the buffer when the event does not fit.
 */
void etw_output_append(struct etw_session *session, struct etw_session_output *output,
		       struct etw_session_stream *stream);

/*
 * etw_output_append_own() - puts an event of the host's own behind the others; there is no check.
 *
 * @bytes: exact, at most what the smallest buffer holds
 * @raw:   its time, not before the output's last, and not behind what is still to come
 */
void etw_output_append_own(struct etw_session *session, struct etw_session_output *output,
			   const uint8_t *event, uint32_t bytes, int64_t raw);

/*
 * etw_output_seal() - ends the buffer, if it holds an event: writes it and begins the next.
 *
 * @flags:      WIRE_BUFFER_FLUSH_MARKER or 0
 * @next_bytes: of the event that did not fit; 0: it is partial
 */
void etw_output_seal(struct etw_session *session, struct etw_session_output *output, uint16_t flags,
		     uint32_t next_bytes);

/* etw_outputs_flush() - seals every buffer that holds an event; the last gets the flush marker. */
void etw_outputs_flush(struct etw_session *session);

/* etw_output_commit() - makes positions, fill and counts hold, then lets the rings reuse their memory. */
void etw_output_commit(struct etw_session *session, struct etw_session_output *output);

/* etw_output_must_commit() - whether anything moved since the last commit. */
bool etw_output_must_commit(const struct etw_session_output *output);

/*
 * etw_output_reject_rest() - what the last flush left in a ring is lost, and counts, as its writers were told
 * that it is not. To be settled next.
 */
void etw_output_reject_rest(struct etw_session_stream *stream);

/* etw_output_settle_stream() - brings the last numbers of a ring that is closed into the account, and commits. */
void etw_output_settle_stream(struct etw_session *session, struct etw_session_output *output,
			      struct etw_session_stream *stream);

/*
 * etw_output_loss() - events lost on this processor, as far as its streams know, and those of closed rings
 * did; the first one's are the source's, too. Only for flags: a host that dies while it closes a ring counts
 * that twice.
 */
uint64_t etw_output_loss(const struct etw_session *session,
			 const struct etw_session_output *output);

static inline bool etw_output_is_empty(const struct etw_session_output *output)
{
	return output->record->buffer_events == 0;
}

#endif
