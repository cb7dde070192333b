/* SPDX-License-Identifier: MIT */
/*
 * Suspends of the machine, in the trace itself: a note for each, with what it means for the times that the trace has on its
 * clock. A query tells of the first, and that there are notes.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SESSION_SUSPEND_NOTES_H
#define ETW_SESSION_SUSPEND_NOTES_H

#include <stdbool.h>

#include "session/outputs.h"

struct etw_suspend_notes {
	struct etw_suspends told;
	bool has_complained;
};

/*
 * etw_suspend_notes_begin() - begins.
 *
 * @is_adopted: what the host knows already was after the session's start
 */
void etw_suspend_notes_begin(struct etw_suspend_notes *notes,
			     const struct etw_session_context *context, bool is_adopted);

/* etw_suspend_notes_tell() - what is new. */
void etw_suspend_notes_tell(struct etw_suspend_notes *notes, struct etw_session_context *context,
			    struct etw_session_outputs *outputs);

#endif
