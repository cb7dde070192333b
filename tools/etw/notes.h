/* SPDX-License-Identifier: MIT */
/* What the host noted in a trace about its session (wire/session_note.h), for every command that tells of loss. */
#ifndef ETW_TOOLS_ETW_NOTES_H
#define ETW_TOOLS_ETW_NOTES_H

#include <evntcons.h>

#include "base/text.h"
#include "tools/etw/loss_table.h"
#include "wire/session_note.h"

#define NOTES_KEPT_MAX 32

struct notes {
	uint64_t count; /* all there were; the first NOTES_KEPT_MAX are kept */
	struct wire_session_note kept[NOTES_KEPT_MAX];
	struct loss_table losses; /* of notes that are not among them */
};

/* notes_take() - keeps the event when it is a note. */
void notes_take(struct notes *notes, const EVENT_RECORD *record);

/* notes_read() - those of a file, and nothing else of it. Returns 0, or negative errno when it cannot be read. */
int notes_read(struct notes *notes, const char *path);

/* notes_is_of() - whether the event is a note of this kind. Cheap enough to ask of every event. */
bool notes_is_of(const EVENT_RECORD *record, enum wire_session_note_kind kind);

/*
 * notes_kernel_missing() - the kernel's events that were asked for and of which none, or none to the end, came.
 *
 * Returns whether there are some.
 */
bool notes_kernel_missing(const struct notes *notes, uint32_t ret[WIRE_GROUP_MASKS_WORDS]);

/* notes_write() - a line for each: "note: sentence", and what was lost by cause; harmless to a terminal. */
void notes_write(struct etw_text *text, const struct notes *notes);

/* notes_write_json() - ,"loss_by_cause":[...], ,"notes":[...]; nothing of what there is not. */
void notes_write_json(struct etw_text *text, const struct notes *notes);

#endif
