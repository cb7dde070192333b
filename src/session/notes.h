/* SPDX-License-Identifier: MIT */
/*
 * Telling a session's readers something in the trace itself (wire/session_note.h). Notes wait in memory, and
 * the session's thread writes them behind what output 0 has; so a note is in the file and goes to consumers
 * like any event. One that still waits when its host dies is lost: what must not get lost is told again.
 */
#ifndef ETW_SESSION_NOTES_H
#define ETW_SESSION_NOTES_H

#include "session/session_internal.h"

/*
 * etw_notes_add() - a note for the trace.
 *
 * @numbers: WIRE_SESSION_NOTE_NUMBERS of them; NULL: zeros
 * @format:  of the sentence, without a full stop
 *
 * Dropped, with a complaint, when ETW_SESSION_NOTES wait already. Any thread, not holding `lock`.
 */
__attribute__((format(printf, 4, 5))) void etw_notes_add(struct etw_session *session,
							 enum wire_session_note_kind kind,
							 const uint64_t *numbers,
							 const char *format, ...);

/* etw_notes_write() - puts what waits into output 0. The session's thread. */
void etw_notes_write(struct etw_session *session);

#endif
