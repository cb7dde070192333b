/* SPDX-License-Identifier: MIT */
/* See session/notes.h. */
#include "session/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "session/output.h"

void etw_notes_add(struct etw_session *session, enum wire_session_note_kind kind,
		   const uint64_t *numbers, const char *format, ...)
{
	struct wire_session_note note = {.kind = kind};
	va_list list;

	if (numbers)
		memcpy(note.numbers, numbers, sizeof(note.numbers));
	va_start(list, format);
	(void)vsnprintf(note.message, sizeof(note.message), format, list);
	va_end(list);
	etw_session_tell(session, &note);
}

void etw_session_tell(struct etw_session *session, const struct wire_session_note *note)
{
	bool is_full;

	pthread_mutex_lock(&session->lock);
	is_full = session->note_count == ETW_SESSION_NOTES;
	if (!is_full) {
		session->notes[session->note_count] = *note;
		store_release(&session->note_count, session->note_count + 1);
	}
	pthread_mutex_unlock(&session->lock);
	if (is_full)
		etw_session_complain(session, note->message, 0, NULL);
	else
		etw_session_kick(session);
}

/*
 * Nothing that is still to come to the output is before its `merged_raw`, and nothing that it has is behind its
 * last time: a note stands between the two.
 */
static void write_note(struct etw_session *session, const struct wire_session_note *note)
{
	struct etw_session_output *output = &session->outputs[0];
	const struct wire_session_note_origin origin = {
		.time_raw = MAX(output->record->last_time_raw, output->merged_raw),
		.process_id = (uint32_t)getpid(),
		.thread_id = (uint32_t)session->thread_id,
	};
	uint8_t event[WIRE_SESSION_NOTE_BYTES_MAX];
	uint32_t bytes = wire_session_note_encode(note, &origin, event);

	etw_output_append_own(session, output, event, bytes, origin.time_raw);
	/* Is kept together with the event: a host that dies in between has written both, or neither. */
	if (note->kind == WIRE_NOTE_NOT_COLLECTED)
		output->record->noted_missing |= (uint32_t)note->numbers[0];
}

void etw_notes_write(struct etw_session *session)
{
	struct wire_session_note note;
	uint32_t count;

	while (UNLIKELY(load_acquire(&session->note_count) > 0)) {
		pthread_mutex_lock(&session->lock);
		note = session->notes[0];
		count = session->note_count - 1;
		memmove(session->notes, session->notes + 1, count * sizeof(note));
		store_release(&session->note_count, count);
		pthread_mutex_unlock(&session->lock);
		write_note(session, &note);
	}
}
