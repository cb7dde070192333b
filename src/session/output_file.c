/* SPDX-License-Identifier: MIT */
/* Going on in another file, as far as outputs have to do with it; see session/output.h and session/file/change.c. */
#include "session/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/sched_point.h"
#include "wire/etl_buffer.h"

void etw_output_look_at_place(struct etw_session_outputs *outputs,
			      struct etw_session_output *output)
{
	struct etw_state_record *record = output->record;
	const struct etw_state_place *place = etw_session_file_place(&outputs->file,
								     record->offset);
	const struct etw_state_counts *counts;

	record->replaced_output = 0;
	if (!place || place->file != outputs->context->state.head->files_left + 1)
		return;
	counts = &outputs->all[place->output].record->counts;
	record->replaced_output = place->output + 1;
	record->replaced_events = counts->overwritten_events + place->events;
	record->replaced_buffers = counts->overwritten_buffers + 1;
}

void etw_output_fill_place(struct etw_session_outputs *outputs, struct etw_session_output *output,
			   bool is_written)
{
	struct etw_state_record *record = output->record;
	struct etw_state_place *place = etw_session_file_place(&outputs->file, record->offset);
	struct etw_session_output *owner;

	if (!place)
		return;
	if (record->replaced_output != 0) {
		owner = &outputs->all[record->replaced_output - 1];
		owner->record->counts.overwritten_events = record->replaced_events;
		owner->record->counts.overwritten_buffers = record->replaced_buffers;
		/* Its own is committed with the buffer that it begins next. */
		if (owner != output)
			etw_output_commit(outputs, owner);
	}
	SCHED_POINT("session.place.replaced");
	*place = (struct etw_state_place){
		.events = record->buffer_events,
		.output = output->index,
		.file = is_written ? outputs->context->state.head->files_left + 1 : 0,
	};
	SCHED_POINT("session.place.filled");
}

/* What is in the files up to the present one: if the next one is deleted only what is in that is lost. */
static void note_filed(struct etw_session_outputs *outputs)
{
	for (uint32_t i = 0; i < outputs->context->plan.output_count; i++) {
		const struct etw_state_record *record = outputs->all[i].record;
		const struct etw_state_counts *counts = &record->counts;

		*etw_state_filed(&outputs->context->state, i,
				 /* is_next= */ true) = (struct etw_state_filed){
			.events = counts->events - record->buffer_events - counts->file_events -
				  counts->overwritten_events,
			.buffers = counts->buffers - counts->file_buffers -
				   counts->overwritten_buffers,
		};
	}
}

int etw_outputs_begin_file(struct etw_session_outputs *outputs, const struct etw_state_file *next)
{
	CLEANUP(freep) struct etw_state_file *made = NULL;
	int32_t status = etw_state_file(&outputs->context->state)->status;

	if (!next) {
		made = malloc(sizeof(*made));
		if (!made)
			return -ENOMEM;
		etw_session_file_next_of_series(&outputs->file, made);
		next = made;
	}
	note_filed(outputs);
	TRY(etw_session_file_replace(&outputs->file, next));
	if (status != 0)
		etw_session_file_tell_next(&outputs->file, status);
	return 0;
}
