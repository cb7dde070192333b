/* SPDX-License-Identifier: MIT */
/* What a buffering session keeps, and files made of it; see session/history.h. */
#include "session/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/time.h"
#include "etl/writer.h"
#include "session/common/account.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"
#include "wire/etl_buffer.h"

static uint8_t *buffer_at(const struct etw_session_outputs *outputs,
			  const struct etw_history_copy *copy, uint32_t index)
{
	return copy->memory + (size_t)(index + 1) * outputs->context->plan.buffer_bytes;
}

static int make_room(const struct etw_session_outputs *outputs, uint64_t kept,
		     struct etw_history_copy *ret)
{
	const struct etw_session_plan *plan = &outputs->context->plan;

	ret->memory_bytes = (size_t)(1 + kept + plan->output_count) * plan->buffer_bytes;
	ret->memory = malloc(ret->memory_bytes);
	return ret->memory ? 0 : -ENOMEM;
}

/* A closed file's last buffer has the flush marker, and looks like one that was flushed. */
static void mark_last(const struct etw_session_outputs *outputs,
		      const struct etw_history_copy *copy)
{
	struct wire_buffer_header *header;

	if (copy->buffer_count == 0)
		return;
	header = (void *)buffer_at(outputs, copy, copy->buffer_count - 1);
	header->flags = le16_of(le16_get(header->flags) | WIRE_BUFFER_FLUSH_MARKER);
	header->current_offset =
		le32_of(outputs->context->plan.buffer_bytes + le32_get(header->valid_bytes));
}

static void copy_buffers(struct etw_session_outputs *outputs, uint64_t first,
			 struct etw_history_copy *ret)
{
	const struct etw_state *state = &outputs->context->state;
	uint64_t next = state->head->next_sequence;

	for (uint64_t sequence = first; sequence < next; sequence++)
		memcpy(buffer_at(outputs, ret, ret->buffer_count++),
		       etw_state_history(state, sequence), state->head->buffer_bytes);
	for (uint32_t i = 0; i < outputs->context->plan.output_count; i++) {
		const struct etw_session_output *output = &outputs->all[i];

		if (!etw_output_is_empty(output))
			etw_output_copy(outputs, output, next++,
					buffer_at(outputs, ret, ret->buffer_count++));
	}
	mark_last(outputs, ret);
}

int etw_history_copy(struct etw_session_outputs *outputs, struct etw_history_copy *ret)
{
	const struct etw_state_head *head = outputs->context->state.head;
	uint64_t sealed = head->next_sequence - 1;
	uint64_t kept = sealed < head->plan.history_buffers ? sealed : head->plan.history_buffers;
	struct wire_session_loss loss;

	TRY(make_room(outputs, kept, ret));
	TRY(etw_session_file_make_header(&outputs->file, &ret->names, ret->memory));
	copy_buffers(outputs, head->next_sequence - kept, ret);
	etw_account_loss(outputs->sets, &loss);
	return etw_etl_rewrite_header_buffer(ret->memory, head->buffer_bytes, etw_filetime_now(),
					     1 + ret->buffer_count, etw_account_events_lost(&loss),
					     /* buffers_lost= */ 0);
}

static int put_all(struct etw_session_outputs *outputs, const struct etw_history_copy *copy,
		   struct etw_etl_file_writer *writer)
{
	for (uint32_t i = 0; i < copy->buffer_count; i++) {
		uint64_t offset;

		TRY(etw_etl_file_writer_claim(writer, &offset));
		TRY(etw_etl_file_writer_put(writer, offset, buffer_at(outputs, copy, i)));
	}
	return etw_etl_file_writer_finish(writer, copy->memory, /* is_synced= */ false);
}

/* A part of a file would read as a trace that was not closed, and lacks what the session has yet. */
static void remove_part(const struct etw_session_outputs *outputs, const char *path)
{
	struct etw_owner owner;

	if (etw_owner_become(outputs->context->state.head->uid, &owner) < 0)
		return;
	(void)unlink(path);
	etw_owner_return(&owner);
}

static void free_packerp(struct etw_etl_packer **packer)
{
	etw_etl_packer_free(*packer);
}

int etw_history_write(struct etw_session_outputs *outputs, struct etw_history_copy *copy)
{
	CLEANUP(free_packerp) struct etw_etl_packer *packer = NULL;
	struct etw_etl_file_writer writer = {.fd = -1};
	struct etw_owner owner;
	int result;

	if (outputs->context->state.head->config.log_file_mode & EVENT_TRACE_COMPRESSED_MODE)
		TRY(etw_etl_packer_create(outputs->context->plan.buffer_bytes, &packer));
	TRY(etw_session_file_make(&outputs->file, &copy->names, copy->memory, &writer));
	writer.packer = packer;
	etw_owner_write(outputs->context->state.head->uid, &owner);
	result = put_all(outputs, copy, &writer);
	etw_owner_return(&owner);
	if (result < 0)
		remove_part(outputs, copy->names.name);
	etw_etl_file_writer_close(&writer);
	return result;
}

void etw_history_copy_done(struct etw_history_copy *copy)
{
	free(copy->memory);
	copy->memory = NULL;
}
