/* SPDX-License-Identifier: MIT */
/* Notes of loss; see session/loss_notes.h. */
#include "session/loss_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/number.h"
#include "session/common/account.h"
#include "session/common/notes.h"

#define CELLS (ETW_LOSS_CAUSES * ETW_LOSS_CLASSES)

void etw_loss_notes_done(struct etw_loss_notes *notes)
{
	free(notes->told);
	notes->told = NULL;
}

static void put(struct etw_session_outputs *outputs, uint32_t cause, uint32_t class_number,
		uint32_t processor, uint64_t events)
{
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {cause, class_number, processor,
							     events};
	bool is_event = etw_loss_is_event(cause);
	struct wire_session_note note;
	char where[32] = "";

	if (processor != ETW_LOSS_ANY_PROCESSOR)
		(void)snprintf(where, sizeof(where), " on processor %u", processor);
	etw_note_make(&note, is_event ? WIRE_NOTE_LOST : WIRE_NOTE_INCOMPLETE, numbers,
		      "%" PRIu64 " %s%s%s: %s", events, etw_loss_class_text(class_number),
		      is_event ? " lost" : "", where, etw_loss_cause_text(cause));
	etw_outputs_put_note(outputs, &note);
}

static uint64_t lost_by(const struct etw_state *state, uint32_t cpu, unsigned cell)
{
	return etw_state_source_loss(state, cpu, cell / ETW_LOSS_CLASSES, cell % ETW_LOSS_CLASSES);
}

static void tell_row(struct etw_loss_notes *notes, struct etw_session_outputs *outputs,
		     uint32_t row, bool is_end)
{
	const struct etw_state *state = &outputs->context->state;
	uint32_t cpu_count = state->head->cpu_count;
	bool is_sum = cpu_count > ETW_LOSS_NOTES_PROCESSORS;
	uint32_t processor = is_sum || row == cpu_count ? ETW_LOSS_ANY_PROCESSOR : row;

	for (unsigned cell = 0; cell < CELLS; cell++) {
		uint32_t cause = cell / ETW_LOSS_CLASSES;
		uint64_t *told = &notes->told[row].events[cause][cell % ETW_LOSS_CLASSES];
		uint64_t events = lost_by(state, row, cell);

		for (uint32_t i = 0; is_sum && i < cpu_count; i++)
			events += lost_by(state, i, cell);
		if (events == *told || (!is_end && !etw_loss_is_event(cause)))
			continue;
		put(outputs, cause, cell % ETW_LOSS_CLASSES, processor, events);
		*told = events;
	}
}

static void tell_sources(struct etw_loss_notes *notes, struct etw_session_outputs *outputs,
			 bool is_end)
{
	uint32_t cpu_count = outputs->context->state.head->cpu_count;

	if (!notes->told)
		notes->told = calloc(cpu_count + UINT64_C(1), sizeof(*notes->told));
	if (!notes->told)
		return; /* the next telling tries again, and the header has the sum */
	for (uint32_t i = cpu_count > ETW_LOSS_NOTES_PROCESSORS ? cpu_count : 0; i <= cpu_count;
	     i++)
		tell_row(notes, outputs, i, is_end);
}

static void put_sum(struct etw_session_outputs *outputs, uint32_t cause, uint64_t events)
{
	if (events)
		put(outputs, cause, ETW_LOSS_OF_ANY, ETW_LOSS_ANY_PROCESSOR, events);
}

/* What the rings of programs, and the session itself, lost. */
static void tell_session(struct etw_session_outputs *outputs, struct etw_session_sets *sets)
{
	struct etw_state_counts counts;
	struct wire_session_loss loss;

	etw_account_loss(sets, &loss);
	etw_account_counts(&outputs->context->state, &counts);
	put_sum(outputs, ETW_LOSS_NO_BUFFER, loss.no_buffer);
	put_sum(outputs, ETW_LOSS_TOO_LARGE, etw_sum_saturated(loss.too_large, counts.too_large));
	put_sum(outputs, ETW_LOSS_GAP, loss.gaps);
	put_sum(outputs, ETW_LOSS_REFUSED, loss.rejected);
	put_sum(outputs, ETW_LOSS_FILE, loss.file);
	put_sum(outputs, ETW_LOSS_REPLACED, loss.replaced);
	put_sum(outputs, ETW_LOSS_CLAIMED, loss.others_counted);
}

void etw_loss_notes_tell(struct etw_loss_notes *notes, struct etw_session_outputs *outputs,
			 struct etw_session_sets *sets, uint64_t now_ns, bool is_end)
{
	notes->told_ns = now_ns;
	tell_sources(notes, outputs, is_end);
	/* A trace of programs alone has these in its header, and a note for each who claims. */
	if (is_end && outputs->context->plan.is_kernel)
		tell_session(outputs, sets);
}
