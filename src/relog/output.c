/* SPDX-License-Identifier: MIT */
#include "relog/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "etl/file_writer.h"
#include "etl/packer.h"
#include "wire/etl_logfile.h"

#define FILE_MODE 0666 /* less the umask, as of any file that a program makes */
#define LANES     (WIRE_BUFFER_PROCESSOR_MASK + 1)

/* The buffer of a processor that fills. */
struct lane {
	uint8_t *buffer; /* owned; NULL: it has none now */
	uint32_t used;   /* with the header */
	uint16_t flags;  /* of loss, for the buffer that fills or is next */
	uint64_t sequence;
	uint64_t touched; /* when it had its last event, in events */
};

struct etw_relog_output {
	const struct etw_etl_file_head *head; /* borrowed */
	struct etw_etl_file_writer writer;
	struct etw_etl_packer *packer; /* owned; NULL: not compressed */
	uint8_t *header;               /* owned: the header buffer */
	struct lane *lanes;            /* owned; LANES of them */
	uint32_t processors;           /* lanes that were used: all below */
	uint32_t buffers;              /* written, with the header buffer */
	uint64_t last_sequence;
	uint64_t events;
	uint64_t lane_bytes; /* of all lanes' buffers */
	int64_t written_ft;  /* of the last buffer: the clock may be set back */
	bool is_before_windows_8;
	int error; /* the first one of writing */
};

static int make_header(struct etw_relog_output *output)
{
	TRY(etw_etl_write_header_buffer(output->head, output->header));
	output->writer.header_bytes = output->head->buffer_bytes;
	if (output->packer)
		output->writer.header_bytes = etw_etl_shrink_header_buffer(output->header);
	return 0;
}

static int begin_file(struct etw_relog_output *output)
{
	struct etw_etl_file_writer *writer = &output->writer;
	int result;

	TRY(make_header(output));
	writer->next_offset = writer->header_bytes;
	writer->packer = output->packer;
	result = etw_etl_file_writer_put(writer, 0, output->header);
	/* A part of a header buffer is no trace. */
	if (result < 0)
		(void)!ftruncate(writer->fd, 0);
	return result;
}

static void output_freep(struct etw_relog_output **output)
{
	etw_relog_output_free(*output);
}

int etw_relog_output_create(const char *path, const struct etw_etl_file_head *head,
			    struct etw_relog_output **ret)
{
	CLEANUP(output_freep) struct etw_relog_output *output = calloc(1, sizeof(*output));

	if (!output)
		return -ENOMEM;
	output->head = head;
	output->writer.fd = -1;
	output->buffers = 1;
	output->is_before_windows_8 = (head->os_major << 8 | head->os_minor) < 0x0602;
	output->lanes = calloc(LANES, sizeof(*output->lanes));
	output->header = malloc(head->buffer_bytes);
	if (!output->lanes || !output->header)
		return -ENOMEM;
	if (head->log_file_mode & WIRE_LOGFILE_MODE_COMPRESSED)
		TRY(etw_etl_packer_create(head->buffer_bytes, &output->packer));
	/* What cannot be a header leaves an older file as it is. */
	TRY(make_header(output));
	TRY(etw_etl_file_writer_open(path, FILE_MODE, head->buffer_bytes, 0, &output->writer));
	TRY(begin_file(output));
	*ret = TAKE(output);
	return 0;
}

void etw_relog_output_free(struct etw_relog_output *output)
{
	if (!output)
		return;
	for (uint32_t i = 0; i < output->processors; i++)
		free(output->lanes[i].buffer);
	free(output->lanes);
	free(output->header);
	etw_etl_packer_free(output->packer);
	etw_etl_file_writer_close(&output->writer);
	free(output);
}

static int write_buffer(struct etw_relog_output *output, const uint8_t *buffer)
{
	uint64_t offset;
	int result;

	if (output->error)
		return output->error;
	result = etw_etl_file_writer_claim(&output->writer, &offset);
	if (!result) {
		result = etw_etl_file_writer_put(&output->writer, offset, buffer);
		if (result < 0)
			etw_etl_file_writer_unclaim(&output->writer);
	}
	if (result < 0)
		output->error = result;
	else
		output->buffers++;
	return result;
}

/* @next_bytes: of the event that did not fit; 0: the buffer goes out before it is full */
static int seal(struct etw_relog_output *output, struct lane *lane, uint32_t next_bytes,
		uint16_t flags)
{
	int64_t now_ft = etw_filetime_now();
	struct etw_etl_buffer_head head = {
		.buffer_bytes = output->head->buffer_bytes,
		.processor = (uint16_t)(lane - output->lanes),
		.sequence = lane->sequence,
		.flags = (uint16_t)(lane->flags | flags),
		.is_before_windows_8 = output->is_before_windows_8,
		.is_partial = next_bytes == 0,
		.next_bytes = next_bytes,
	};

	output->written_ft = now_ft > output->written_ft ? now_ft : output->written_ft;
	head.time_raw = output->written_ft;
	etw_etl_seal_buffer(&head, lane->buffer, lane->used);
	lane->used = WIRE_BUFFER_HEADER_BYTES;
	lane->flags = 0;
	lane->sequence = 0;
	return write_buffer(output, lane->buffer);
}

static bool is_filled(const struct lane *lane)
{
	return lane->used > WIRE_BUFFER_HEADER_BYTES || lane->flags;
}

/* The lane that has waited longest for an event gives its memory. */
static int take_over(struct etw_relog_output *output, struct lane *lane)
{
	struct lane *oldest = NULL;
	int result = 0;

	for (uint32_t i = 0; i < output->processors; i++) {
		struct lane *other = &output->lanes[i];

		if (other->buffer && (!oldest || other->touched < oldest->touched))
			oldest = other;
	}
	if (!oldest)
		return -ENOMEM;
	if (is_filled(oldest))
		result = seal(output, oldest, /* next_bytes= */ 0, /* flags= */ 0);
	lane->buffer = TAKE(oldest->buffer);
	return result;
}

static int need_buffer(struct etw_relog_output *output, struct lane *lane)
{
	uint32_t bytes = output->head->buffer_bytes;

	if (lane->buffer)
		return 0;
	if (output->lane_bytes > 0 && output->lane_bytes + bytes > ETW_RELOG_LANES_BYTES)
		return take_over(output, lane);
	lane->buffer = malloc(bytes);
	if (!lane->buffer)
		return -ENOMEM;
	output->lane_bytes += bytes;
	return 0;
}

static int find_lane(struct etw_relog_output *output, uint16_t processor, struct lane **ret)
{
	struct lane *lane = &output->lanes[processor & WIRE_BUFFER_PROCESSOR_MASK];

	if (output->error)
		return output->error;
	if (lane - output->lanes >= output->processors)
		output->processors = (uint32_t)(lane - output->lanes) + 1;
	if (lane->used == 0)
		lane->used = WIRE_BUFFER_HEADER_BYTES;
	lane->touched = ++output->events;
	TRY(need_buffer(output, lane));
	*ret = lane;
	return 0;
}

int etw_relog_output_add(struct etw_relog_output *output, uint16_t processor, const uint8_t *event,
			 uint32_t bytes)
{
	uint32_t room = output->head->buffer_bytes;
	struct lane *lane;

	if (bytes > room - WIRE_BUFFER_HEADER_BYTES)
		return -EMSGSIZE;
	TRY(find_lane(output, processor, &lane));
	if (ALIGN_UP(bytes, WIRE_EVENT_ALIGNMENT) > room - lane->used)
		TRY(seal(output, lane, bytes, /* flags= */ 0));
	if (lane->sequence == 0)
		lane->sequence = ++output->last_sequence;
	return etw_etl_append_event(lane->buffer, room, &lane->used, event, bytes);
}

int etw_relog_output_lose(struct etw_relog_output *output, uint16_t processor, uint16_t flag)
{
	struct lane *lane;

	TRY(find_lane(output, processor, &lane));
	/* The flags of a buffer stand for what was lost before its first event. */
	if (lane->used > WIRE_BUFFER_HEADER_BYTES || lane->flags & flag)
		TRY(seal(output, lane, /* next_bytes= */ 0, /* flags= */ 0));
	lane->flags |= flag;
	if (lane->sequence == 0)
		lane->sequence = ++output->last_sequence;
	return 0;
}

uint32_t etw_relog_output_processors(const struct etw_relog_output *output)
{
	return output->processors;
}

static void seal_all(struct etw_relog_output *output)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < output->processors; i++)
		left += is_filled(&output->lanes[i]);
	for (uint32_t i = 0; i < output->processors && left > 0; i++) {
		if (!is_filled(&output->lanes[i]))
			continue;
		left--;
		/* An error stays in the output. */
		(void)seal(output, &output->lanes[i], /* next_bytes= */ 0,
			   left == 0 ? WIRE_BUFFER_FLUSH_MARKER : 0);
	}
}

int etw_relog_output_finish(struct etw_relog_output *output, struct etw_etl_file_head *head)
{
	int result;

	seal_all(output);
	head->buffers_written = output->buffers;
	output->head = head;
	result = make_header(output);
	if (!result)
		result = etw_etl_file_writer_finish(&output->writer, output->header,
						    /* is_synced= */ false);
	return output->error ? output->error : result;
}
