/* SPDX-License-Identifier: MIT */
/*
 * From one file to the next. The next one is made, the present one ended, then one store (etw_state_publish_file())
 * makes the next one the session's: a host that dies before it has left the present one, whose end is written again,
 * and a file that nobody counts; one that dies after it has left nothing but a descriptor.
 */
#include "session/file/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sched_point.h"
#include "session/file/file_internal.h"

void etw_session_file_next_of_series(const struct etw_session_file *file,
				     struct etw_state_file *ret)
{
	*ret = *etw_state_file(&file->context->state);
	ret->number++;
}

/* The names and the header buffer, then the store that makes them hold. */
static void describe(struct etw_session_context *context, const struct etw_state_file *next,
		     uint64_t next_offset, const uint8_t *header)
{
	struct etw_state_head *head = context->state.head;
	struct etw_state_file *place = etw_state_next_file(&context->state);

	pthread_mutex_lock(&context->config_lock);
	store_relaxed(&head->header_of, UINT64_MAX);
	fence_release(); /* for the next host: the mark before what it marks */
	memcpy(etw_state_header_buffer(&context->state), header, head->buffer_bytes);
	memcpy(place->name, next->name, sizeof(place->name));
	memcpy(place->shown, next->shown, sizeof(place->shown));
	place->number = next->number;
	place->uid = next->uid;
	place->mode = next->mode;
	place->last_flags = 0;
	place->last_offset = 0;
	place->events_lost_before = 0;
	place->buffers_lost_before = 0;
	store_relaxed(&place->buffers, 1u);
	store_relaxed(&place->status, 0);
	store_relaxed(&place->next_offset, next_offset);
	store_release(&head->header_of, head->files_left + 1);
	SCHED_POINT("session.file.described");
	etw_state_publish_file(&context->state);
	pthread_mutex_unlock(&context->config_lock);
}

int etw_session_file_replace(struct etw_session_file *file, const struct etw_state_file *next)
{
	struct etw_session_context *context = file->context;
	unsigned present = (unsigned)context->state.head->files_left & 1;
	CLEANUP(freep) uint8_t *header = malloc(context->plan.buffer_bytes);
	struct etw_etl_file_writer writer;

	if (!header)
		return -ENOMEM;
	TRY(etw_session_file_make_header(file, next, header));
	TRY(etw_session_file_make(file, next, header, /* removes= */ true, &writer));
	(void)etw_context_keep(context, writer.fd, ETW_SESSION_FILE_KEPT, present ^ 1);
	SCHED_POINT("session.file.made");
	etw_session_file_end(file, 0);
	SCHED_POINT("session.file.ended");
	describe(context, next, writer.next_offset, header);
	SCHED_POINT("session.file.changed");
	etw_etl_file_writer_close(&file->writer);
	etw_context_forget(context, ETW_SESSION_FILE_KEPT, present);
	file->writer = writer;
	file->trouble_ns = 0;
	SCHED_POINT("session.file.left");
	return 0;
}
