/* SPDX-License-Identifier: MIT */
/* See session/common/notes.h. */
#include "session/common/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"

void etw_notes_open(struct etw_session_context *context, struct etw_session_notes *ret)
{
	*ret = (struct etw_session_notes){.context = context};
	pthread_mutex_init(&ret->lock, NULL);
}

void etw_notes_close(struct etw_session_notes *notes)
{
	pthread_mutex_destroy(&notes->lock);
}

void etw_note_make(struct wire_session_note *ret, enum wire_session_note_kind kind,
		   const uint64_t *numbers, const char *format, ...)
{
	va_list list;

	*ret = (struct wire_session_note){.kind = kind};
	if (numbers)
		memcpy(ret->numbers, numbers, sizeof(ret->numbers));
	va_start(list, format);
	(void)vsnprintf(ret->message, sizeof(ret->message), format, list);
	va_end(list);
}

void etw_notes_put(struct etw_session_notes *notes, const struct wire_session_note *note)
{
	bool is_full;

	pthread_mutex_lock(&notes->lock);
	is_full = notes->count == ETW_SESSION_NOTES;
	if (!is_full) {
		notes->waiting[notes->count] = *note;
		store_release(&notes->count, notes->count + 1);
	}
	pthread_mutex_unlock(&notes->lock);
	if (is_full)
		etw_context_complain(notes->context, note->message, 0, NULL);
	else
		etw_context_kick(notes->context);
}

bool etw_notes_take(struct etw_session_notes *notes, struct wire_session_note *ret)
{
	uint32_t count;

	if (LIKELY(load_acquire(&notes->count) == 0))
		return false;
	pthread_mutex_lock(&notes->lock);
	*ret = notes->waiting[0];
	count = notes->count - 1;
	memmove(notes->waiting, notes->waiting + 1, count * sizeof(*ret));
	store_release(&notes->count, count);
	pthread_mutex_unlock(&notes->lock);
	return true;
}
