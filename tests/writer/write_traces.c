/* SPDX-License-Identifier: MIT */
/*
 * write_traces FOLDER - writes traces of random events through the writer as a session would, and reads each back:
 * buffer by buffer every event must be, byte for byte, what was put in. The files stay for other readers.
 *
 * Events come from the test maker's made_event; headers and buffers are the writer's alone.
 * Exit status: 0 all equal, 1 a difference or a failure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/time.h"
#include "etl/block.h"
#include "etl/file_writer.h"
#include "etl/walk.h"
#include "etl/writer.h"
#include "synthetic/made_event.h"

#define PROCESSORS_MAX 320

struct shape {
	const char *name;
	uint32_t buffer_bytes;
	uint32_t processors;
	enum etw_clock_type clock;
	unsigned events;
	unsigned flush_each; /* events between two flushes of everything; 0 for the end only */
	uint32_t mode;
	uint32_t payload_max;
	bool has_group_masks;
};

static const struct shape shapes[] = {
	{"small", 0x400, 2, ETW_CLOCK_QPC, 3000, 0, 1, 300, false},
	{"empty", 0x1000, 4, ETW_CLOCK_QPC, 0, 0, 0, 10, true},
	{"one-event", 0x1000, 4, ETW_CLOCK_SYSTEM, 1, 0, 1, 10, false},
	{"usual", 0x10000, 8, ETW_CLOCK_QPC, 20000, 0, 1, 500, true},
	{"flushed", 0x10000, 8, ETW_CLOCK_SYSTEM, 5000, 500, 0x00C00101, 200, false},
	{"cycles", 0x2000, 3, ETW_CLOCK_CYCLE, 5000, 1777, 1, 100, true},
	{"large-events", 0x20000, 2, ETW_CLOCK_QPC, 200, 0, 1, 0xFF00, false},
	{"large-buffers", 0x200000, 2, ETW_CLOCK_QPC, 20000, 0, 1, 400, false},
	{"many-processors", 0x400, 300, ETW_CLOCK_QPC, 5000, 2000, 1, 100, true},
	{"one-stream", 0x4000, 1, ETW_CLOCK_QPC, 5000, 900, 0x10000001, 100, false},
};

/* A buffer that is being filled. */
struct lane {
	uint8_t *bytes; /* owned; NULL until the first event */
	uint32_t used;
	uint64_t sequence;
};

struct run {
	const struct shape *shape;
	struct etw_etl_file_head head;
	struct etw_etl_file_writer writer;
	struct lane lanes[PROCESSORS_MAX];
	uint8_t *
		wanted; /* owned: the data buffers as they were handed to the file, in file order */
	size_t wanted_bytes;
	uint8_t *header; /* owned */
	uint64_t random, sequence;
	int64_t now_raw;
};

static void require(bool holds, const char *sentence)
{
	if (holds)
		return;
	printf("write_traces: %s\n", sentence);
	exit(1);
}

static void *must(void *memory)
{
	require(memory, "no memory");
	return memory;
}

static uint32_t random_below(struct run *run, uint32_t limit)
{
	run->random ^= run->random << 13;
	run->random ^= run->random >> 7;
	run->random ^= run->random << 17;
	return (uint32_t)((run->random >> 16) % limit);
}

static void make_event(struct run *run, struct made_event *event)
{
	static const GUID provider = {0x0e7f6d1c, 0x4f7a, 0x4f1e, {1, 2, 3, 4, 5, 6, 7, 8}};
	struct made_ids ids = {run->random & 0xFFFF, 77, 1, 2};
	struct made_descriptor descriptor = {
		.provider = &provider, .id = (uint16_t)random_below(run, 0x10000), .level = 4};
	bool is_64 = random_below(run, 2);

	switch (random_below(run, 5)) {
	case 0:
		made_system(event, is_64 ? WIRE_HEADER_SYSTEM64 : WIRE_HEADER_SYSTEM32, 0x0301, 4,
			    run->now_raw, &ids);
		break;
	case 1:
		made_perfinfo(event, is_64 ? WIRE_HEADER_PERFINFO64 : WIRE_HEADER_PERFINFO32,
			      0x0F33, 2, run->now_raw, NULL, 0);
		break;
	case 2:
		made_full(event, is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32, &provider, 1, 4,
			  2, run->now_raw, &ids);
		break;
	default:
		made_modern(event, is_64 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32, &descriptor,
			    run->now_raw, &ids);
		if (random_below(run, 4) == 0)
			made_item(event, 1, "0123456789ABCDEF", 16);
	}
	for (uint32_t left = random_below(run, run->shape->payload_max); left; left--)
		made_u8(event, (uint8_t)random_below(run, 256));
}

static void write_lane(struct run *run, uint32_t processor, uint32_t next_bytes, bool is_last)
{
	struct lane *lane = &run->lanes[processor];
	uint32_t bytes = run->shape->buffer_bytes;
	struct etw_etl_buffer_head head = {
		.buffer_bytes = bytes,
		.processor = (uint16_t)processor,
		.logger_id = run->head.logger_id,
		.sequence = lane->sequence,
		.time_raw = run->now_raw,
		.flags = is_last ? WIRE_BUFFER_FLUSH_MARKER : 0,
		.is_partial = !next_bytes,
		.next_bytes = next_bytes,
	};
	uint64_t offset;

	etw_etl_seal_buffer(&head, lane->bytes, lane->used);
	require(!etw_etl_file_writer_claim(&run->writer, &offset), "no place for a buffer");
	require(!etw_etl_file_writer_put(&run->writer, offset, lane->bytes), "cannot write");
	run->wanted = must(realloc(run->wanted, run->wanted_bytes + bytes));
	memcpy(run->wanted + run->wanted_bytes, lane->bytes, bytes);
	run->wanted_bytes += bytes;
	run->head.buffers_written++;
	lane->used = 0;
}

static void flush_all(struct run *run)
{
	uint32_t last = PROCESSORS_MAX;

	for (uint32_t i = 0; i < run->shape->processors; i++) {
		if (run->lanes[i].used)
			last = i;
	}
	for (uint32_t i = 0; i < run->shape->processors; i++) {
		if (run->lanes[i].used)
			write_lane(run, i, 0, i == last);
	}
}

static void add_event(struct run *run, struct made_event *event)
{
	uint32_t processor = random_below(run, run->shape->processors), bytes;
	struct lane *lane = &run->lanes[processor];

	run->now_raw += random_below(run, 1000);
	make_event(run, event);
	bytes = (uint32_t)event->count;
	if (!lane->bytes)
		lane->bytes = must(malloc(run->shape->buffer_bytes));
	if (lane->used && etw_etl_append_event(lane->bytes, run->shape->buffer_bytes, &lane->used,
					       event->bytes, bytes))
		write_lane(run, processor, bytes, /* is_last= */ false);
	else if (lane->used)
		return;
	lane->used = WIRE_BUFFER_HEADER_BYTES;
	lane->sequence = ++run->sequence;
	require(!etw_etl_append_event(lane->bytes, run->shape->buffer_bytes, &lane->used,
				      event->bytes, bytes),
		"an event that fits no buffer");
}

static void start(struct run *run, const struct shape *shape, const char *path)
{
	struct etw_etl_file_head *head = &run->head;

	run->shape = shape;
	run->random = 88172645463325252 + shape->events;
	etw_etl_machine_head(head);
	head->buffer_bytes = shape->buffer_bytes;
	head->processors = shape->processors;
	head->log_file_mode = shape->mode;
	head->cpu_mhz = 2400;
	head->perf_frequency = 2400000000;
	head->start_ft = head->boot_ft + 3600 * ETW_FILETIME_PER_SECOND;
	head->t0_raw = shape->clock == ETW_CLOCK_SYSTEM ? head->start_ft : 8640000000000;
	head->clock_type = shape->clock;
	head->logger_id = 5;
	head->process_id = 1000;
	head->thread_id = 1001;
	head->logger_name = u"round trip";
	head->log_file_name = u"/var/tmp/\u00FCber.etl";
	head->has_group_masks = shape->has_group_masks;
	head->group_masks[0] = 7;
	head->buffers_written = 1;
	run->now_raw = head->t0_raw;
	run->header = must(malloc(shape->buffer_bytes));
	require(!etw_etl_write_header_buffer(head, run->header), "no header buffer");
	require(!etw_etl_file_writer_open(path, 0644, shape->buffer_bytes, 0, &run->writer),
		"cannot make the file");
	require(!etw_etl_file_writer_put(&run->writer, 0, run->header), "cannot write the header");
}

static void stop(struct run *run)
{
	struct etw_etl_file_head *head = &run->head;
	struct etw_clock clock;

	flush_all(run);
	etw_clock_init(&clock, run->shape->clock, head->t0_raw, head->start_ft,
		       head->perf_frequency, head->cpu_mhz);
	head->end_ft = etw_clock_to_filetime(&clock, run->now_raw) + 1;
	require(!etw_etl_rewrite_header_buffer(run->header, head->buffer_bytes, head->end_ft,
					       head->buffers_written, 0, 0),
		"the header buffer cannot be rewritten");
	require(!etw_etl_file_writer_finish(&run->writer, run->header, /* is_synced= */ true),
		"the file cannot be finished");
	etw_etl_file_writer_close(&run->writer);
	for (uint32_t i = 0; i < run->shape->processors; i++)
		free(run->lanes[i].bytes);
}

static void check_header(const struct run *run, const struct etw_etl_header *header)
{
	const struct etw_etl_file_head *head = &run->head;
	bool needs_2 = head->buffer_bytes > 0x100000 || head->processors > 256;

	require(header->buffer_bytes == head->buffer_bytes && header->os_build == 19045 &&
			header->layout_major == (needs_2 ? 2 : 1) &&
			header->processors == head->processors &&
			header->timer_resolution == head->timer_resolution &&
			header->log_file_mode == (head->log_file_mode & ~0x00C00100u) &&
			header->buffers_written == head->buffers_written &&
			header->start_buffers == 1 && header->pointer_bytes == sizeof(void *) &&
			header->cpu_mhz == 2400 && header->clock_type == head->clock_type,
		"the header says something else");
	require(header->process_id == 1000 && header->thread_id == 1001 &&
			!memcmp(header->time_zone, head->time_zone, sizeof(head->time_zone)) &&
			header->end_ft == head->end_ft && header->boot_ft == head->boot_ft &&
			header->start_ft == head->start_ft && header->time_raw == head->t0_raw &&
			header->perf_frequency == head->perf_frequency &&
			!strcmp(header->logger_name, "round trip") &&
			!strcmp(header->log_file_name, "/var/tmp/\xC3\xBC"
						       "ber.etl"),
		"the header says something else of times or names");
	require(header->companions.has_partition &&
			header->companions.has_group_masks == head->has_group_masks,
		"companions are missing");
}

static unsigned check_block(const struct etw_etl_block *block, const uint8_t *wanted)
{
	uint32_t at = WIRE_BUFFER_HEADER_BYTES;
	struct etw_etl_cursor cursor;
	unsigned events = 0;
	bool is_more;

	for (is_more = etw_etl_cursor_start(&cursor, block); is_more;
	     is_more = etw_etl_cursor_next(&cursor)) {
		require(cursor.offset + WIRE_BUFFER_HEADER_BYTES == at &&
				!memcmp(cursor.event.at, wanted + at, cursor.event.bytes),
			"an event reads otherwise");
		at += ALIGN_UP(cursor.event.bytes, WIRE_EVENT_ALIGNMENT);
		events++;
	}
	require(at == etw_load32(wanted + 0x30), "events are missing at the end of a buffer");
	return events;
}

static unsigned read_back(const struct run *run, const char *path)
{
	struct etw_findings findings = {0};
	struct etw_etl_header header = {0};
	struct etw_etl_buffer buffer;
	struct etw_etl_block block = {0};
	struct etw_etl_walk walk;
	struct etw_etl_file file;
	struct etw_fault fault;
	unsigned events = 0;
	size_t at = 0;

	require(!etw_etl_file_open(path, &file), "the file cannot be opened");
	require(file.bytes == run->wanted_bytes + run->head.buffer_bytes, "not the file's size");
	require(!etw_etl_walk_start(&file, &findings, &walk, &header, &fault), "no trace");
	check_header(run, &header);
	require(!etw_etl_walk_next(&walk, &buffer), "no header buffer");
	while (!etw_etl_walk_next(&walk, &buffer)) {
		require(!etw_etl_block_load(&file, &buffer, &block, &findings), "no block");
		require(at < run->wanted_bytes, "more buffers than were written");
		events += check_block(&block, run->wanted + at);
		at += run->head.buffer_bytes;
	}
	require(at == run->wanted_bytes, "buffers are missing");
	require(!findings.kept_count, "the reader has findings");
	require(events == run->shape->events, "not as many events");
	etw_etl_block_done(&block);
	etw_etl_header_done(&header);
	etw_etl_file_close(&file);
	return events;
}

static void run_shape(const struct shape *shape, const char *folder)
{
	struct run *run = must(calloc(1, sizeof(*run)));
	struct made_event *event = must(malloc(sizeof(*event)));
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s.etl", folder, shape->name);
	start(run, shape, path);
	for (unsigned i = 0; i < shape->events; i++) {
		if (shape->flush_each && i && i % shape->flush_each == 0)
			flush_all(run);
		add_event(run, event);
	}
	stop(run);
	printf("%s: %u events, %u buffers\n", shape->name, read_back(run, path),
	       run->head.buffers_written);
	free(event);
	free(run->wanted);
	free(run->header);
	free(run);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: write_traces FOLDER\n");
		return 1;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++)
		run_shape(&shapes[i], argv[1]);
	return 0;
}
