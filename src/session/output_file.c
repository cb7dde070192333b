/* SPDX-License-Identifier: MIT */
/* Going on in another file, as far as outputs have to do with it; see session/output.h and session/file_change.c. */
#include "session/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/macros.h"
#include "wire/etl_buffer.h"

/* What is in the files up to the present one: if the next one is deleted only what is in that is lost. */
static void note_filed(struct etw_session_outputs *outputs)
{
	for (uint32_t i = 0; i < outputs->context->plan.output_count; i++) {
		const struct etw_state_record *record = outputs->all[i].record;
		const struct etw_state_counts *counts = &record->counts;

		*etw_state_filed(&outputs->context->state, i,
				 /* is_next= */ true) = (struct etw_state_filed){
			.events = counts->events - record->buffer_events - counts->file_events,
			.buffers = counts->buffers - counts->file_buffers,
		};
	}
}

int etw_output_change_file(struct etw_session_outputs *outputs, const struct etw_state_file *next)
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
	TRY(etw_session_file_change(&outputs->file, next));
	if (status != 0)
		etw_session_file_tell_next(&outputs->file, status);
	return 0;
}
