/* SPDX-License-Identifier: MIT */
/* See suspend_notes.h. */
#include "session/suspend_notes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/time.h"
#include "session/common/notes.h"

#define SENTENCE_BYTES (WIRE_SESSION_NOTE_MESSAGE_MAX + 1)

void etw_suspend_notes_begin(struct etw_suspend_notes *notes,
			     const struct etw_session_context *context, bool is_adopted)
{
	*notes = (struct etw_suspend_notes){0};
	if (!is_adopted && context->host.suspends)
		context->host.suspends(context->host.context, &notes->told);
}

/* What the session's clock did not count of it, and nobody put right. */
static uint64_t too_early_ns(uint32_t clock_type, const struct etw_suspends *from,
			     const struct etw_suspends *to)
{
	switch (clock_type) {
	case ETW_CLOCK_SYSTEM:
		return 0; /* the kernel sets it forward */
	case ETW_CLOCK_CYCLE:
		return to->behind_ns - from->behind_ns;
	default:
		return to->missing_ns - from->missing_ns;
	}
}

static void describe(uint64_t asleep_ns, uint64_t early_ns, int64_t noticed_ft,
		     char sentence[SENTENCE_BYTES])
{
	struct etw_date date = {0};
	int used;

	(void)etw_date_of_filetime(noticed_ft, &date);
	used = snprintf(sentence, SENTENCE_BYTES,
			"the machine was suspended for %" PRIu64 ".%03u s, which was noticed at "
			"%04d-%02u-%02uT%02u:%02u:%02u.%03uZ: what was recorded between its waking "
			"and then "
			"may have times from before the suspend",
			asleep_ns / ETW_NS_PER_S,
			(unsigned)(asleep_ns % ETW_NS_PER_S / ETW_NS_PER_MS), (int)date.year,
			date.month, date.day, date.hour, date.minute, date.second,
			(unsigned)(date.ticks / 10000));
	if (early_ns && used > 0 && used < SENTENCE_BYTES)
		(void)snprintf(sentence + used, SENTENCE_BYTES - (size_t)used,
			       ", and all later times are too early by %" PRIu64 ".%03u s",
			       early_ns / ETW_NS_PER_S,
			       (unsigned)(early_ns % ETW_NS_PER_S / ETW_NS_PER_MS));
}

static void tell(struct etw_suspend_notes *notes, struct etw_session_context *context,
		 struct etw_session_outputs *outputs, const struct etw_suspends *now)
{
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {
		now->asleep_ns - notes->told.asleep_ns,
		too_early_ns(context->plan.clock_type, &notes->told, now),
		(uint64_t)now->noticed_ft,
	};
	char sentence[SENTENCE_BYTES];
	struct wire_session_note note;

	describe(numbers[0], numbers[1], now->noticed_ft, sentence);
	etw_note_make(&note, WIRE_NOTE_SUSPENDED, numbers, "%s", sentence);
	etw_outputs_put_note(outputs, &note);
	if (notes->has_complained)
		return;
	/* Once: a machine that sleeps each night would leave no room for anything else. */
	notes->has_complained = true;
	etw_context_complain(context, sentence, 0, NULL);
	etw_context_complain(context, "the trace has a note for each suspend", 0, NULL);
}

void etw_suspend_notes_tell(struct etw_suspend_notes *notes, struct etw_session_context *context,
			    struct etw_session_outputs *outputs)
{
	struct etw_suspends now;

	if (!context->host.suspends)
		return;
	context->host.suspends(context->host.context, &now);
	if (now.count == notes->told.count)
		return;
	tell(notes, context, outputs, &now);
	notes->told = now;
}
