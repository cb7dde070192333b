/* SPDX-License-Identifier: MIT */
/* What a buffering session keeps, and files made of it; see session/history.h. */
#include "session/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "etl/writer.h"
#include "session/common/account.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"
#include "wire/etl_buffer.h"

/* Room for one more buffer behind the others; NULL without memory. */
static uint8_t *add_to_tail(struct etw_history_dump *dump, uint32_t buffer_bytes)
{
	if (dump->tail_count == dump->tail_room) {
		uint32_t room = dump->tail_room ? 2 * dump->tail_room : 4;
		uint8_t *tail = realloc(dump->tail, (size_t)room * buffer_bytes);

		if (!tail)
			return NULL;
		dump->tail = tail;
		dump->tail_room = room;
	}
	return dump->tail + (size_t)dump->tail_count++ * buffer_bytes;
}

static int copy_open_buffers(struct etw_session_outputs *outputs, struct etw_history_dump *dump)
{
	for (uint32_t i = 0; i < outputs->context->plan.output_count; i++) {
		const struct etw_session_output *output = &outputs->all[i];
		uint8_t *to;

		if (etw_output_is_empty(output))
			continue;
		to = add_to_tail(dump, outputs->context->plan.buffer_bytes);
		if (!to)
			return -ENOMEM;
		etw_output_copy(outputs, output, dump->kept.end + dump->tail_count - 1, to);
	}
	return 0;
}

/* What is there, as the source tells it, in buffers of their own. */
struct description {
	const struct etw_session_outputs *outputs;
	struct etw_history_dump *dump;
	int64_t time_raw;
	bool has_buffer; /* the tail's last is being filled */
	uint16_t processor;
	uint32_t used;
	int result;
};

static void seal_description(struct description *description)
{
	const struct etw_session_context *context = description->outputs->context;
	const struct etw_history_dump *dump = description->dump;
	const struct etw_etl_buffer_head head = {
		.buffer_bytes = context->plan.buffer_bytes,
		.processor = description->processor,
		.logger_id = (uint16_t)context->state.head->session_id,
		.sequence = dump->kept.end + dump->tail_count - 1,
		.time_raw = description->time_raw,
		.is_partial = true,
	};

	if (description->has_buffer)
		etw_etl_seal_buffer(&head,
				    dump->tail + (size_t)(dump->tail_count - 1) * head.buffer_bytes,
				    description->used);
	description->has_buffer = false;
}

static int put_event(struct description *description, uint16_t processor,
		     const struct etw_source_event *event)
{
	uint32_t buffer_bytes = description->outputs->context->plan.buffer_bytes;
	struct etw_history_dump *dump = description->dump;

	if (description->has_buffer && description->processor == processor &&
	    etw_etl_append_event(dump->tail + (size_t)(dump->tail_count - 1) * buffer_bytes,
				 buffer_bytes, &description->used, event->bytes,
				 event->byte_count) == 0)
		return 0;
	seal_description(description);
	if (!add_to_tail(dump, buffer_bytes))
		return -ENOMEM;
	description->has_buffer = true;
	description->processor = processor;
	description->used = WIRE_BUFFER_HEADER_BYTES;
	/* One that no buffer can hold is none that the session could have. */
	(void)etw_etl_append_event(dump->tail + (size_t)(dump->tail_count - 1) * buffer_bytes,
				   buffer_bytes, &description->used, event->bytes,
				   event->byte_count);
	return 0;
}

static void take_event(void *context, uint32_t cpu, const struct etw_source_event *event)
{
	struct description *description = context;
	bool is_one = description->outputs->context->plan.output_count == 1;

	if (description->result == 0)
		description->result = put_event(description, is_one ? 0 : (uint16_t)cpu, event);
}

/* Behind everything that the file has. */
static int64_t moment_of(const struct etw_session_outputs *outputs)
{
	int64_t moment_raw = MAX(etw_context_now(outputs->context),
				 outputs->context->state.head->last_flush_raw);

	for (uint32_t i = 0; i < outputs->context->plan.output_count; i++)
		moment_raw = MAX(moment_raw, outputs->all[i].record->last_time_raw);
	return moment_raw;
}

static int describe(const struct etw_session_outputs *outputs, struct etw_history_dump *dump)
{
	struct description description = {.outputs = outputs, .dump = dump};
	int result;

	description.time_raw = moment_of(outputs);
	result = etw_source_feeds_describe(outputs->feeds, description.time_raw, take_event,
					   &description);
	seal_description(&description);
	if (description.result < 0)
		return description.result;
	if (result < 0)
		etw_context_complain(outputs->context, "the rundown of a flush", result, NULL);
	return 0;
}

static int make_header(struct etw_session_outputs *outputs, struct etw_history_dump *dump)
{
	const struct etw_state_head *head = outputs->context->state.head;
	uint64_t kept = dump->kept.end - dump->kept.next;
	struct wire_session_loss loss;

	dump->header = malloc(head->buffer_bytes);
	if (!dump->header)
		return -ENOMEM;
	TRY(etw_session_file_make_header(&outputs->file, &dump->names, dump->header));
	etw_account_loss(outputs->sets, &loss);
	return etw_etl_rewrite_header_buffer(dump->header, head->buffer_bytes, etw_filetime_now(),
					     (uint32_t)(1 + kept + dump->tail_count),
					     etw_account_events_lost(&loss), /* buffers_lost= */ 0);
}

int etw_history_begin(struct etw_session_outputs *outputs, struct etw_history_dump *dump)
{
	const struct etw_state_head *head = outputs->context->state.head;
	uint64_t sealed = head->next_sequence - 1;
	uint64_t kept = sealed < head->plan.history_buffers ? sealed : head->plan.history_buffers;

	if (outputs->flushed)
		return -EBUSY;
	dump->kept = (struct etw_overwritten){
		.budget = outputs->context->host.budget,
		.buffer_bytes = head->buffer_bytes,
		.next = head->next_sequence - kept,
		.end = head->next_sequence,
	};
	dump->piece_room = MAX(ETW_HISTORY_PIECE_BYTES / head->buffer_bytes, 1u);
	dump->piece = malloc((size_t)dump->piece_room * head->buffer_bytes);
	if (!dump->piece)
		return -ENOMEM;
	TRY(copy_open_buffers(outputs, dump));
	TRY(describe(outputs, dump));
	TRY(make_header(outputs, dump));
	if (dump->tail_count > 0)
		etw_etl_mark_flushed(
			(void *)(dump->tail + (size_t)(dump->tail_count - 1) * head->buffer_bytes),
			head->buffer_bytes);
	outputs->flushed = &dump->kept;
	return 0;
}

int etw_history_take(struct etw_session_outputs *outputs, struct etw_history_dump *dump)
{
	const struct etw_state *state = &outputs->context->state;
	struct etw_overwritten *kept = &dump->kept;

	dump->piece_count = 0;
	if (kept->result < 0)
		return kept->result;
	while (kept->next < kept->end && dump->piece_count < dump->piece_room) {
		uint8_t *to = dump->piece + (size_t)dump->piece_count++ * kept->buffer_bytes;

		if (!etw_overwritten_take(kept, to))
			memcpy(to, etw_state_history(state, kept->next++), kept->buffer_bytes);
		if (kept->next == kept->end && dump->tail_count == 0)
			etw_etl_mark_flushed((void *)to, kept->buffer_bytes);
	}
	return 0;
}

void etw_history_end(struct etw_session_outputs *outputs)
{
	outputs->flushed = NULL;
}

static int put_buffers(struct etw_etl_file_writer *writer, const uint8_t *buffers, uint32_t count,
		       uint32_t buffer_bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t offset;

		TRY(etw_etl_file_writer_claim(writer, &offset));
		TRY(etw_etl_file_writer_put(writer, offset, buffers + (size_t)i * buffer_bytes));
	}
	return 0;
}

static int put_all(struct etw_history_dump *dump, struct etw_etl_file_writer *writer,
		   int (*take)(void *context), void *context)
{
	uint32_t buffer_bytes = dump->kept.buffer_bytes;

	for (;;) {
		TRY(take(context));
		if (dump->piece_count == 0)
			break;
		TRY(put_buffers(writer, dump->piece, dump->piece_count, buffer_bytes));
	}
	TRY(put_buffers(writer, dump->tail, dump->tail_count, buffer_bytes));
	return etw_etl_file_writer_finish(writer, dump->header, /* is_synced= */ false);
}

/* A part of a file would read as a trace that was not closed, and lacks what the session has yet. */
static void remove_part(const struct etw_state_file *file)
{
	struct etw_owner owner;

	if (etw_owner_become(file->uid, &owner) < 0)
		return;
	(void)unlink(file->name);
	etw_owner_return(&owner);
}

static void free_packerp(struct etw_etl_packer **packer)
{
	etw_etl_packer_free(*packer);
}

int etw_history_write(struct etw_session_outputs *outputs, struct etw_history_dump *dump,
		      int (*take)(void *context), void *context)
{
	CLEANUP(free_packerp) struct etw_etl_packer *packer = NULL;
	struct etw_etl_file_writer writer = {.fd = -1};
	struct etw_owner owner;
	int result;

	if (outputs->context->state.head->config.log_file_mode & EVENT_TRACE_COMPRESSED_MODE)
		TRY(etw_etl_packer_create(outputs->context->plan.buffer_bytes, &packer));
	TRY(etw_session_file_make(&outputs->file, &dump->names, dump->header, /* removes= */ true,
				  &writer));
	writer.packer = packer;
	etw_owner_write(dump->names.uid, &owner);
	result = put_all(dump, &writer, take, context);
	etw_owner_return(&owner);
	if (result < 0)
		remove_part(&dump->names);
	etw_etl_file_writer_close(&writer);
	return result;
}

void etw_history_done(struct etw_history_dump *dump)
{
	etw_overwritten_done(&dump->kept);
	free(dump->header);
	free(dump->piece);
	free(dump->tail);
	*dump = (struct etw_history_dump){0};
}
