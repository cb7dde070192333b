/* SPDX-License-Identifier: MIT */
/*
 * Telling a session's readers something in the trace itself (wire/session_note.h). Notes wait here in memory, and the
 * session's thread writes them into output 0 (session/outputs.h); so a note is in the file and goes to consumers like
 * any event. One that still waits when its host dies is lost: what must not get lost is told again.
 *
 * Lock: `lock` owns what waits, and nothing else is locked under it. `count` is read without it.
 */
#ifndef ETW_SESSION_COMMON_NOTES_H
#define ETW_SESSION_COMMON_NOTES_H

#include "session/common/context.h"
#include "wire/session_note.h"

#define ETW_SESSION_NOTES 16 /* that wait to be written at once */

struct etw_session_notes {
	struct etw_session_context *context;
	pthread_mutex_t lock;
	struct wire_session_note waiting[ETW_SESSION_NOTES]; /* the first `count` */
	uint32_t count;                                      /* atomic */
};

/* etw_notes_open() - without notes. etw_notes_close() ends it, whatever waits. */
void etw_notes_open(struct etw_session_context *context, struct etw_session_notes *ret);
void etw_notes_close(struct etw_session_notes *notes);

/* etw_note_make() - @numbers: WIRE_SESSION_NOTE_NUMBERS of them, NULL: zeros; @format: without a full stop. */
__attribute__((format(printf, 4, 5))) void etw_note_make(struct wire_session_note *ret,
							 enum wire_session_note_kind kind,
							 const uint64_t *numbers,
							 const char *format, ...);

/*
 * etw_notes_put() - a note for the trace.
 *
 * Dropped, with a complaint, when ETW_SESSION_NOTES wait already. Any thread, holding no lock of the session but the
 * consumers'.
 */
void etw_notes_put(struct etw_session_notes *notes, const struct wire_session_note *note);

/* etw_notes_take() - the oldest that waits; returns false when none does. Owner thread. */
bool etw_notes_take(struct etw_session_notes *notes, struct wire_session_note *ret);

#endif
