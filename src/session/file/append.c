/* SPDX-License-Identifier: MIT */
/* A session's file behind what others have written; see session/file/file_internal.h. */
#include "session/file/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "etl/append.h"
#include "session/file/file_internal.h"

/* The file as it is, and its header buffer instead of one of this session's; a new one is empty. */
static int look_at_file(struct etw_session_file *file, struct etw_etl_append_place *ret)
{
	struct etw_session_context *context = file->context;
	const struct wire_session_config *config = &context->state.head->config;
	const struct etw_etl_append_like like = {
		.buffer_bytes = context->plan.buffer_bytes,
		.processors = context->plan.output_count,
		.clock_type = context->plan.clock_type,
		.pointer_bytes = sizeof(void *),
		.is_compressed = file->packer != NULL,
	};
	CLEANUP(freep) uint8_t *header = malloc(like.buffer_bytes);
	struct etw_fault fault = {0};
	int result;

	if (!header)
		return -ENOMEM;
	result = etw_etl_append_look(file->writer.fd, &like, header, ret, &fault);
	if (result < 0)
		etw_context_complain(context, config->log_file, result, &fault);
	else if (ret->next_offset != 0)
		memcpy(etw_state_header_buffer(&context->state), header, like.buffer_bytes);
	return result;
}

/*
 * Buffers lie in order of time, from the last one of the file on. A time that is still to come is none: a damaged one
 * would become that of all buffers of this session.
 */
static void go_on_at(struct etw_session_context *context, int64_t last_time_raw)
{
	struct etw_state_head *head = context->state.head;

	if (last_time_raw > etw_context_now(context))
		etw_context_complain(context,
				     "a buffer of the file is of a time that is still to come", 0,
				     NULL);
	else if (head->last_flush_raw < last_time_raw)
		head->last_flush_raw = last_time_raw;
}

int etw_session_file_append(struct etw_session_file *file, struct etw_state_file *first)
{
	struct etw_etl_append_place place;

	TRY(etw_session_file_open_as_is(file));
	file->writer.packer = file->packer;
	TRY(look_at_file(file, &place));
	if (place.next_offset != 0) {
		file->writer.next_offset = place.next_offset;
		first->last_offset = place.last_offset;
		first->last_flags = place.last_flags;
		first->events_lost_before = place.events_lost;
		first->buffers_lost_before = place.buffers_lost;
		go_on_at(file->context, place.last_time_raw);
	}
	TRY(etw_session_file_put_header(file));
	store_relaxed(&first->buffers, place.next_offset != 0 ? place.buffers : 1u);
	store_relaxed(&first->next_offset, file->writer.next_offset);
	return 0;
}
