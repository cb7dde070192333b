/* SPDX-License-Identifier: MIT */
/*
 * What was lost, in the trace itself: a note for each cause, class and processor (base/loss.h), with all that the session has
 * lost so far, so that the last one of each counts. Told within a second of a loss, and at the session's end, where the notes
 * of lost events add up to EventsLost.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SESSION_LOSS_NOTES_H
#define ETW_SESSION_LOSS_NOTES_H

#include "session/common/set_table.h"
#include "session/outputs.h"

#define ETW_LOSS_NOTES_NS         UINT64_C(1000000000) /* between two tellings */
#define ETW_LOSS_NOTES_PROCESSORS 64 /* a session with more tells the sums of all */

struct etw_loss_notes {
	struct etw_source_loss *told; /* owned; of each processor and one more; NULL: nothing yet */
	uint64_t told_ns;
};

/* etw_loss_notes_are_due() - whether the last telling is long ago. */
static inline bool etw_loss_notes_are_due(const struct etw_loss_notes *notes, uint64_t now_ns)
{
	return now_ns >= notes->told_ns + ETW_LOSS_NOTES_NS;
}

/*
 * etw_loss_notes_tell() - what a source lost and was not told. A host that begins tells all of it again, which changes nothing.
 *
 * @is_end: what a session of the kernel's events itself lost, too; and what events lack
 */
void etw_loss_notes_tell(struct etw_loss_notes *notes, struct etw_session_outputs *outputs,
			 struct etw_session_sets *sets, uint64_t now_ns, bool is_end);

/* etw_loss_notes_done() - frees what is owned; takes what was zeroed. */
void etw_loss_notes_done(struct etw_loss_notes *notes);

#endif
