/* SPDX-License-Identifier: MIT */
#include "synthetic/maker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "synthetic/maker_internal.h"
#include "synthetic/xpress_encode.h"
#include "wire/etl_buffer.h"
#include "wire/etl_logfile.h"

#define MODE_CIRCULAR_OR_SEQUENTIAL 1
#define STATE_FLUSH                 3
#define LOGGER_ID                   7
#define HEADER_ROUNDING             0x200 /* of the header buffer in compressed relogger files */
#define WRITTEN_FT_AFTER_START      (60 * ETW_FILETIME_PER_SECOND) /* when the relogger wrote */
#define WINDOWS_8                   0x0602

/* A buffer that is being filled. */
struct lane {
	uint8_t *bytes; /* owned; the header's place included */
	uint32_t valid_bytes;
	uint64_t sequence;
	uint16_t flags;
	uint16_t type;
};

struct maker {
	struct maker_options options;
	FILE *file;
	uint8_t *memory;
	size_t memory_bytes, memory_room;
	uint64_t offset; /* of the next buffer */
	uint64_t end;    /* of the file */
	struct lane *lanes;
	uint8_t *packed; /* a compressed body */
	uint64_t next_sequence;
	uint32_t written; /* buffers, as the header will count them */
	uint16_t logger_id;
	int64_t now_raw;
	uint64_t last_offset; /* of the data buffer written last; 0 before the first */
	uint16_t last_flags;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static void write_at(struct maker *maker, uint64_t offset, const void *data, size_t bytes)
{
	if (maker->end < offset + bytes)
		maker->end = offset + bytes;
	if (maker->file) {
		if (ftello(maker->file) != (off_t)offset &&
		    fseeko(maker->file, (off_t)offset, SEEK_SET))
			abort();
		if (fwrite(data, 1, bytes, maker->file) != bytes)
			abort();
		return;
	}
	if (offset + bytes > maker->memory_room) {
		maker->memory_room = 2 * (size_t)(offset + bytes);
		maker->memory = must(realloc(maker->memory, maker->memory_room));
	}
	if (offset + bytes > maker->memory_bytes) {
		memset(maker->memory + maker->memory_bytes, 0,
		       (size_t)(offset + bytes) - maker->memory_bytes);
		maker->memory_bytes = (size_t)(offset + bytes);
	}
	memcpy(maker->memory + offset, data, bytes);
}

static bool is_packed(const struct maker *maker)
{
	return maker->options.packing != MAKER_PLAIN;
}

/* Flags that every buffer of this Windows has. */
static uint16_t base_flags(const struct maker *maker)
{
	return maker->options.os >= WINDOWS_8 ? WIRE_BUFFER_PROC_INDEX : 0;
}

static uint16_t processor_word(const struct maker *maker, unsigned processor)
{
	return (uint16_t)(base_flags(maker) ? processor : processor | WIRE_EVENT_ALIGNMENT << 8);
}

/* Writes the header buffer: at first provisional, with @is_final as it is when the session stopped. */
static void write_header(struct maker *maker, bool is_final)
{
	const struct maker_options *options = &maker->options;
	uint8_t *bytes = must(malloc(options->buffer_bytes));
	struct maker_totals totals = {
		.buffers = is_final ? maker->written : 1,
		.events_lost = is_final ? options->events_lost : 0,
		.buffers_lost = is_final ? options->buffers_lost : 0,
		.end_raw = maker->now_raw,
		.is_final = is_final,
	};
	uint32_t first_end;
	uint32_t valid = maker_header_events(options, &totals, bytes, &first_end);
	bool is_modern = options->os >= WINDOWS_8;
	bool is_relogged = options->is_relogged;
	struct wire_buffer_header header = {
		.buffer_bytes = le32_of(options->buffer_bytes),
		.saved_offset = le32_of(!is_modern    ? 0
					: is_relogged ? first_end
						      : valid),
		.current_offset = le32_of(is_relogged ? 0 : valid),
		.processor = le16_of(processor_word(maker, 0)),
		.logger_id = le16_of(is_relogged ? 0 : LOGGER_ID),
		.state = le32_of(is_relogged && !is_packed(maker) ? 0 : STATE_FLUSH),
		.valid_bytes = le32_of(valid),
		.flags = le16_of((uint16_t)(WIRE_BUFFER_FLUSH_MARKER |
					    (is_relogged ? 0 : base_flags(maker)))),
		.type = le16_of(WIRE_BUFFER_HEADER),
	};
	uint32_t stride = options->buffer_bytes;

	if (is_packed(maker)) {
		stride = ALIGN_UP(valid, HEADER_ROUNDING);
		header.buffer_bytes = le32_of(stride);
	}
	memset(bytes + valid, 0xFF, options->buffer_bytes - valid);
	memcpy(bytes, &header, sizeof(header));
	write_at(maker, 0, bytes, stride);
	if (!maker->offset)
		maker->offset = stride;
	free(bytes);
}

static void set_defaults(struct maker_options *options)
{
	options->buffer_bytes = options->buffer_bytes ? options->buffer_bytes : 4096;
	options->processors = options->processors ? options->processors : 2;
	options->mode = options->mode ? options->mode : MODE_CIRCULAR_OR_SEQUENTIAL;
	options->pointer_bytes = options->pointer_bytes ? options->pointer_bytes : 8;
	options->os = options->os ? options->os : 0x0A00;
	options->build = options->build ? options->build : 19041;
	options->clock = options->clock ? options->clock : ETW_CLOCK_QPC;
	options->frequency = options->frequency ? options->frequency : 10000000;
	options->mhz = options->mhz ? options->mhz : 2000;
	options->start_ft = options->start_ft ? options->start_ft : INT64_C(133000000000000000);
	if (!options->t0_raw)
		options->t0_raw = options->clock == ETW_CLOCK_SYSTEM ? options->start_ft : 1000000;
	if (!options->companions && options->build > 10240)
		options->companions = MAKER_PARTITION;
	options->logger_name = options->logger_name ? options->logger_name : "synthetic";
	if (!options->log_file_name)
		options->log_file_name = "C:\\synthetic.etl";
	options->header_pid = options->header_pid ? options->header_pid : 22;
	options->first_sequence = options->first_sequence ? options->first_sequence : 1;
	if (options->packing != MAKER_PLAIN)
		options->mode |= WIRE_LOGFILE_MODE_COMPRESSED;
	if (options->packing != MAKER_PLAIN)
		options->is_relogged = true;
	if (options->is_relogged)
		options->mode |= WIRE_LOGFILE_MODE_RELOG;
	if (options->slots)
		options->mode = (options->mode & ~1u) | WIRE_LOGFILE_MODE_CIRCULAR |
				WIRE_LOGFILE_MODE_KBYTES;
}

struct maker *maker_open(const struct maker_options *options, FILE *file)
{
	struct maker *maker = must(calloc(1, sizeof(*maker)));

	maker->options = *options;
	set_defaults(&maker->options);
	maker->file = file;
	maker->lanes = must(calloc(maker->options.processors, sizeof(*maker->lanes)));
	maker->packed = must(malloc(XPRESS_ENCODED_MAX((size_t)maker->options.buffer_bytes)));
	maker->next_sequence = maker->options.first_sequence;
	maker->logger_id = maker->options.is_relogged ? 0 : LOGGER_ID;
	maker->now_raw = maker->options.t0_raw;
	maker->written = 1;
	write_header(maker, /* is_final= */ false);
	return maker;
}

static struct lane *open_lane(struct maker *maker, unsigned processor)
{
	struct lane *lane = &maker->lanes[processor];

	if (processor >= maker->options.processors)
		abort();
	if (!lane->bytes)
		lane->bytes = must(malloc(maker->options.buffer_bytes));
	if (!lane->valid_bytes)
		lane->valid_bytes = WIRE_BUFFER_HEADER_BYTES;
	return lane;
}

/* Where the next buffer goes, in a circular file over the oldest one. */
static uint64_t next_place(struct maker *maker, uint32_t stride)
{
	uint64_t place = maker->offset;

	if (maker->options.slots && place >= (uint64_t)maker->options.slots * stride)
		place = stride;
	maker->offset = place + stride;
	return place;
}

static int64_t flush_time(const struct maker *maker)
{
	return maker->options.is_relogged ? maker->options.start_ft + WRITTEN_FT_AFTER_START
					  : maker->now_raw;
}

/* Writes a lane's buffer. @excess is CurrentOffset less Offset. */
static void write_lane(struct maker *maker, unsigned processor, uint32_t excess)
{
	struct lane *lane = &maker->lanes[processor];
	uint32_t stride = maker->options.buffer_bytes;
	uint32_t body = lane->valid_bytes - WIRE_BUFFER_HEADER_BYTES;
	struct wire_buffer_header header = {
		.saved_offset = le32_of(lane->valid_bytes),
		.current_offset = le32_of(lane->valid_bytes + excess),
		.time_raw = le64_of((uint64_t)flush_time(maker)),
		.sequence = le64_of(lane->sequence),
		.processor = le16_of(processor_word(maker, processor)),
		.logger_id = le16_of(maker->logger_id),
		.state = le32_of(STATE_FLUSH),
		.valid_bytes = le32_of(lane->valid_bytes),
		.type = le16_of(lane->type),
	};

	maker->last_flags = (uint16_t)(lane->flags | base_flags(maker));
	memset(lane->bytes + lane->valid_bytes, 0xFF, stride - lane->valid_bytes);
	if (is_packed(maker)) {
		size_t (*encode)(const uint8_t *, size_t, uint8_t *) =
			maker->options.packing == MAKER_LITERAL ? xpress_encode_literal
								: xpress_encode_greedy;
		size_t packed = encode(lane->bytes + WIRE_BUFFER_HEADER_BYTES, body, maker->packed);

		stride = (uint32_t)(WIRE_BUFFER_HEADER_BYTES + packed);
		maker->last_flags |= WIRE_BUFFER_COMPRESSED;
	}
	header.buffer_bytes = le32_of(stride);
	header.flags = le16_of(maker->last_flags);
	maker->last_offset = next_place(maker, stride);
	write_at(maker, maker->last_offset, &header, sizeof(header));
	write_at(maker, maker->last_offset + sizeof(header),
		 is_packed(maker) ? maker->packed : lane->bytes + sizeof(header),
		 stride - sizeof(header));
	maker->written++;
	*lane = (struct lane){.bytes = lane->bytes};
}

void maker_add(struct maker *maker, unsigned processor, const struct made_event *event)
{
	struct lane *lane = open_lane(maker, processor);
	uint32_t whole = (uint32_t)ALIGN_UP(event->count, WIRE_EVENT_ALIGNMENT);

	if (whole > maker->options.buffer_bytes - WIRE_BUFFER_HEADER_BYTES)
		abort();
	if (lane->valid_bytes + whole > maker->options.buffer_bytes) {
		write_lane(maker, processor, whole);
		lane = open_lane(maker, processor);
	}
	if (lane->valid_bytes == WIRE_BUFFER_HEADER_BYTES)
		lane->sequence = maker->next_sequence++;
	if (event->time_raw > maker->now_raw)
		maker->now_raw = event->time_raw;
	memcpy(lane->bytes + lane->valid_bytes, event->bytes, event->count);
	memset(lane->bytes + lane->valid_bytes + event->count, 0, whole - event->count);
	lane->valid_bytes += whole;
}

void maker_flag(struct maker *maker, unsigned processor, uint16_t flags)
{
	open_lane(maker, processor)->flags |= flags;
}

void maker_type(struct maker *maker, unsigned processor, uint16_t type)
{
	open_lane(maker, processor)->type = type;
}

void maker_flush(struct maker *maker, unsigned processor)
{
	if (maker->lanes[processor].valid_bytes > WIRE_BUFFER_HEADER_BYTES)
		write_lane(maker, processor, maker->options.buffer_bytes);
}

void maker_flush_all(struct maker *maker)
{
	uint64_t before = maker->last_offset;
	uint32_t written = maker->written;
	le16 flags;

	for (unsigned i = 0; i < maker->options.processors; i++)
		maker_flush(maker, i);
	if (maker->written == written && maker->last_offset == before)
		return;
	maker->last_flags |= WIRE_BUFFER_FLUSH_MARKER;
	flags = le16_of(maker->last_flags);
	write_at(maker, maker->last_offset + offsetof(struct wire_buffer_header, flags), &flags,
		 sizeof(flags));
}

void maker_append(struct maker *maker)
{
	maker_flush_all(maker);
	maker->next_sequence = 1;
	maker->logger_id++;
}

uint64_t maker_next_sequence(const struct maker *maker)
{
	return maker->next_sequence;
}

uint8_t *maker_close(struct maker *maker, size_t *ret_bytes)
{
	const struct maker_options *options = &maker->options;
	uint8_t *memory;

	maker_flush_all(maker);
	if (!options->is_crashed)
		write_header(maker, /* is_final= */ true);
	if (options->preallocated > maker->end)
		write_at(maker, options->preallocated - 1, "", 1);
	maker->end -= options->cut_bytes;
	if (maker->file &&
	    (fflush(maker->file) || ftruncate(fileno(maker->file), (off_t)maker->end)))
		abort();
	if (ret_bytes)
		*ret_bytes = (size_t)maker->end;
	for (unsigned i = 0; i < options->processors; i++)
		free(maker->lanes[i].bytes);
	free(maker->lanes);
	free(maker->packed);
	memory = maker->memory;
	free(maker);
	return memory;
}
