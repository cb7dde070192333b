/* SPDX-License-Identifier: MIT */
/*
 * replay FILE - takes an uncompressed genuine trace apart, gives the facts of its headers and its events to the
 * writer, and holds what the writer makes against the file, byte by byte.
 *
 * Prints, as one line "KIND COUNT" each, how many bytes differ at places that Windows leaves arbitrary (the
 * kinds below), and how many buffers and bytes were compared. Any other difference is printed and fails.
 * Exit status: 0 nothing else differs, 1 something does, 2 not to be read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "etl/event.h"
#include "etl/writer.h"
#include "wire/etl_logfile.h"

#define HOOK_GROUP_MASKS  0x0005
#define HOOK_PARTITION    0x0050
#define WORST_DIFFERENCES 10
#define NAME_UNITS_MAX    1024

/* Places that Windows leaves arbitrary; docs/format/etl.md "Writing" has the same list, with counts. */
enum kind {
	KIND_PAD,        /* between the end of an event and the next multiple of 8 */
	KIND_HEADER_PAD, /* the same in the header buffer */
	KIND_LINK,       /* 0x20 of a buffer header: list links in memory */
	KIND_UNION,      /* 0x38 of a buffer header: what a reference-time buffer has there */
	KIND_CURRENT,    /* CurrentOffset where the event that did not fit opens no buffer */
	KINDS
};

static const char *const kind_names[KINDS] = {
	[KIND_PAD] = "event-pad",          [KIND_HEADER_PAD] = "header-buffer-pad",
	[KIND_LINK] = "link-word",         [KIND_UNION] = "reference-union",
	[KIND_CURRENT] = "current-offset",
};

struct trace {
	const char *path;
	uint8_t *bytes; /* owned */
	size_t count;
	uint32_t buffer_bytes;
	bool is_before_windows_8;
};

struct tally {
	uint64_t differing[KINDS];
	uint64_t buffers, bytes, bad;
	uint8_t *is_pad; /* owned: one byte for each of a buffer's */
};

static struct wire_buffer_header header_at(const struct trace *trace, uint64_t offset)
{
	struct wire_buffer_header header;

	memcpy(&header, trace->bytes + offset, sizeof(header));
	return header;
}

static int fail(const struct trace *trace, uint64_t offset, const char *sentence)
{
	printf("%s: at %#" PRIx64 ": %s\n", trace->path, offset, sentence);
	return 1;
}

/* The kind of place, or KINDS for one that must not differ. */
static enum kind kind_of(const struct tally *tally, uint32_t at, bool is_header, bool is_next_known)
{
	if (at >= WIRE_BUFFER_HEADER_BYTES && tally->is_pad[at])
		return is_header ? KIND_HEADER_PAD : KIND_PAD;
	if (at >= WIRE_BUFFER_HEADER_BYTES)
		return KINDS;
	if (at >= offsetof(struct wire_buffer_header, reference_start))
		return KIND_UNION;
	if (at >= offsetof(struct wire_buffer_header, reserved_clock) &&
	    at < offsetof(struct wire_buffer_header, processor))
		return KIND_LINK;
	if (!is_next_known && at >= offsetof(struct wire_buffer_header, current_offset) &&
	    at < offsetof(struct wire_buffer_header, reference_count))
		return KIND_CURRENT;
	return KINDS;
}

static void compare(const struct trace *trace, uint64_t offset, const uint8_t *made,
		    struct tally *tally, bool is_next_known)
{
	const uint8_t *genuine = trace->bytes + offset;
	enum kind kind;

	tally->buffers++;
	tally->bytes += trace->buffer_bytes;
	for (uint32_t at = 0; at < trace->buffer_bytes; at++) {
		if (genuine[at] == made[at])
			continue;
		kind = kind_of(tally, at, !offset, is_next_known);
		if (kind != KINDS)
			tally->differing[kind]++;
		else if (tally->bad++ < WORST_DIFFERENCES)
			printf("%s: buffer at %#" PRIx64 ", byte %#x: %02x, written %02x\n",
			       trace->path, offset, at, genuine[at], made[at]);
	}
}

static void mark_pad(struct tally *tally, uint32_t from)
{
	memset(tally->is_pad + from, 1, ALIGN_UP(from, WIRE_EVENT_ALIGNMENT) - (size_t)from);
}

/*
 * The size of the event that opens the processor's next buffer: by its number, because those of one processor
 * may be written in any order. 0 when there is none.
 */
static uint32_t next_event_bytes(const struct trace *trace, const struct wire_buffer_header *one)
{
	uint64_t sequence = le64_get(one->sequence), best = UINT64_MAX;
	uint32_t bytes = 0;

	for (uint64_t at = trace->buffer_bytes; at < trace->count; at += trace->buffer_bytes) {
		struct wire_buffer_header header = header_at(trace, at);
		struct etw_etl_event event;

		if (le16_get(header.processor) != le16_get(one->processor) ||
		    le64_get(header.sequence) <= sequence || le64_get(header.sequence) >= best)
			continue;
		best = le64_get(header.sequence);
		if (!etw_etl_event_peek(trace->bytes + at + sizeof(header),
					trace->buffer_bytes - sizeof(header), &event))
			bytes = event.bytes;
	}
	return bytes;
}

static struct etw_etl_buffer_head facts_of(const struct trace *trace,
					   const struct wire_buffer_header *header)
{
	uint16_t word = le16_get(header->processor);

	return (struct etw_etl_buffer_head){
		.buffer_bytes = le32_get(header->buffer_bytes),
		.processor = trace->is_before_windows_8 ? word & 0xFF : word,
		.logger_id = le16_get(header->logger_id),
		.sequence = le64_get(header->sequence),
		.time_raw = (int64_t)le64_get(header->time_raw),
		.flags = le16_get(header->flags) & (uint16_t)~WIRE_BUFFER_PROC_INDEX,
		.is_before_windows_8 = trace->is_before_windows_8,
		.is_partial = le32_get(header->current_offset) ==
			      le32_get(header->buffer_bytes) + le32_get(header->valid_bytes),
		.next_bytes = next_event_bytes(trace, header),
	};
}

static int replay_data(const struct trace *trace, uint64_t offset, uint8_t *made,
		       struct tally *tally)
{
	struct wire_buffer_header header = header_at(trace, offset);
	struct etw_etl_buffer_head head = facts_of(trace, &header);
	uint32_t valid = le32_get(header.valid_bytes), used = sizeof(header), gap;

	if (head.buffer_bytes != trace->buffer_bytes || valid > trace->buffer_bytes)
		return fail(trace, offset, "a buffer of another size");
	memset(made, 0xA5, trace->buffer_bytes);
	memset(tally->is_pad, 0, trace->buffer_bytes);
	while (used < valid) {
		struct etw_etl_event event;

		if (etw_etl_event_peek(trace->bytes + offset + used, valid - used, &event))
			return fail(trace, offset + used, "no event");
		mark_pad(tally, used + event.bytes);
		if (etw_etl_append_event(made, trace->buffer_bytes, &used, event.at, event.bytes))
			return fail(trace, offset + used, "the event does not fit");
	}
	etw_etl_seal_buffer(&head, made, used);
	gap = le32_get(header.current_offset) - valid;
	compare(trace, offset, made, tally,
		head.is_partial || gap == ALIGN_UP(head.next_bytes, WIRE_EVENT_ALIGNMENT));
	return 0;
}

/* Copies a name out of the header event; returns what is behind it. */
static const uint8_t *take_name(const uint8_t *at, const uint8_t *end, char16_t *to)
{
	unsigned count = 0;

	for (; at + 2 <= end && count + 1 < NAME_UNITS_MAX && etw_load16(at); at += 2)
		to[count++] = etw_load16(at);
	to[count] = 0;
	return at + 2;
}

static void take_fixed(const uint8_t *at, struct etw_etl_file_head *ret)
{
	struct wire_logfile_head fixed;

	memcpy(&fixed, at, sizeof(fixed));
	ret->buffer_bytes = le32_get(fixed.buffer_bytes);
	ret->os_major = fixed.os_major;
	ret->os_minor = fixed.os_minor;
	ret->layout_major = fixed.layout_major;
	ret->layout_minor = fixed.layout_minor;
	ret->os_build = le32_get(fixed.os_build);
	ret->processors = le32_get(fixed.processors);
	ret->end_ft = (int64_t)le64_get(fixed.end_ft);
	ret->timer_resolution = le32_get(fixed.timer_resolution);
	ret->maximum_file_size = le32_get(fixed.maximum_file_size);
	ret->log_file_mode = le32_get(fixed.log_file_mode);
	ret->buffers_written = le32_get(fixed.buffers_written);
	ret->pointer_bytes = le32_get(fixed.pointer_bytes);
	ret->events_lost = le32_get(fixed.events_lost);
	ret->cpu_mhz = le32_get(fixed.cpu_mhz);
}

static void take_tail(const uint8_t *at, struct etw_etl_file_head *ret)
{
	struct wire_logfile_tail tail;

	memcpy(&tail, at, sizeof(tail));
	memcpy(ret->time_zone, tail.time_zone, sizeof(ret->time_zone));
	ret->boot_ft = (int64_t)le64_get(tail.boot_ft);
	ret->perf_frequency = le64_get(tail.perf_frequency);
	ret->start_ft = (int64_t)le64_get(tail.start_ft);
	ret->clock_type = le32_get(tail.clock_type);
	ret->buffers_lost = le32_get(tail.buffers_lost);
}

static void take_system(const uint8_t *at, struct etw_etl_file_head *ret)
{
	struct wire_system_header system;

	memcpy(&system, at, sizeof(system));
	ret->t0_raw = (int64_t)le64_get(system.time_raw);
	ret->process_id = le32_get(system.process_id);
	ret->thread_id = le32_get(system.thread_id);
	ret->kernel_ticks = le32_get(system.kernel_ticks);
	ret->user_ticks = le32_get(system.user_ticks);
}

/*
 * Companions that the writer makes by itself are asked for by their flags; with others among them, all are
 * given as they stand in the file.
 */
static int take_companions(const struct trace *trace, uint32_t from, uint32_t end,
			   struct tally *tally, struct etw_etl_file_head *ret)
{
	bool is_own = true;

	ret->companions = trace->bytes + from;
	ret->companion_bytes = end - from;
	while (from < end) {
		struct etw_etl_event event;
		unsigned hook;

		if (etw_etl_event_peek(trace->bytes + from, end - from, &event))
			return fail(trace, from, "no event");
		hook = (unsigned)event.at[7] << 8 | event.at[6];
		if (hook == HOOK_PARTITION) {
			ret->has_partition = true;
		} else if (hook == HOOK_GROUP_MASKS && !ret->has_partition) {
			ret->has_group_masks = true;
			for (unsigned i = 0; i < ARRAY_SIZE(ret->group_masks); i++)
				ret->group_masks[i] = etw_load32(event.at + 0x20 + (size_t)4 * i);
		} else {
			is_own = false;
		}
		mark_pad(tally, from + event.bytes);
		from += ALIGN_UP(event.bytes, WIRE_EVENT_ALIGNMENT);
	}
	if (is_own)
		ret->companions = NULL;
	return 0;
}

static int replay_header(struct trace *trace, uint8_t *made, struct tally *tally)
{
	static char16_t logger[NAME_UNITS_MAX], file[NAME_UNITS_MAX];
	struct wire_buffer_header header = header_at(trace, 0);
	const uint8_t *event = trace->bytes + sizeof(header);
	const uint8_t *at = event + sizeof(struct wire_system_header);
	const uint8_t *end = event + etw_load16(event + 4);
	struct etw_etl_file_head head = {
		.logger_id = le16_get(header.logger_id),
		.flush_raw = (int64_t)le64_get(header.time_raw),
		.logger_name = logger,
		.log_file_name = file,
	};
	uint32_t pointer_bytes, first_end;

	memset(tally->is_pad, 0, trace->buffer_bytes);
	take_system(event, &head);
	take_fixed(at, &head);
	pointer_bytes = event[2] == WIRE_HEADER_SYSTEM64 ? 8 : 4;
	at += sizeof(struct wire_logfile_head);
	for (unsigned i = 0; i < 2; i++, at += pointer_bytes)
		head.name_words[i] = pointer_bytes == 8 ? etw_load64(at) : etw_load32(at);
	take_tail(at, &head);
	at = take_name(at + sizeof(struct wire_logfile_tail), end, logger);
	(void)take_name(at, end, file);
	trace->is_before_windows_8 = head.os_major == 6 && head.os_minor < 2;
	first_end = (uint32_t)(end - trace->bytes);
	mark_pad(tally, first_end);
	first_end = ALIGN_UP(first_end, WIRE_EVENT_ALIGNMENT);
	if (take_companions(trace, first_end, le32_get(header.valid_bytes), tally, &head))
		return 1;
	memset(made, 0xA5, trace->buffer_bytes);
	if (etw_etl_write_header_buffer(&head, made))
		return fail(trace, 0, "the header buffer cannot be written");
	compare(trace, 0, made, tally, /* is_next_known= */ true);
	return 0;
}

/* Reads the whole file. Returns false when it is nothing that this program can replay. */
static bool load(const char *path, struct trace *ret)
{
	FILE *file = fopen(path, "rb");
	long bytes = -1;

	ret->path = path;
	if (file && !fseek(file, 0, SEEK_END))
		bytes = ftell(file);
	if (bytes < 0x400 || fseek(file, 0, SEEK_SET))
		bytes = 0;
	ret->count = (size_t)bytes;
	ret->bytes = bytes ? malloc(ret->count) : NULL;
	if (!ret->bytes || fread(ret->bytes, 1, ret->count, file) != ret->count)
		ret->count = 0;
	if (file)
		(void)fclose(file);
	if (!ret->count)
		return false;
	ret->buffer_bytes = etw_load32(ret->bytes);
	return ret->buffer_bytes >= 0x400 && ret->buffer_bytes <= ret->count &&
	       !(ret->count % ret->buffer_bytes);
}

int main(int argc, char **argv)
{
	struct trace trace = {0};
	struct tally tally = {0};
	uint8_t *made;
	int result;

	if (argc != 2 || !load(argv[1], &trace)) {
		fprintf(stderr, "replay: one file of buffers of one size, please\n");
		free(trace.bytes);
		return 2;
	}
	made = malloc(trace.buffer_bytes);
	tally.is_pad = malloc(trace.buffer_bytes);
	result = !made || !tally.is_pad ? 2 : replay_header(&trace, made, &tally);
	for (uint64_t at = trace.buffer_bytes; !result && at < trace.count;
	     at += trace.buffer_bytes)
		result = replay_data(&trace, at, made, &tally);
	for (unsigned i = 0; i < KINDS; i++)
		printf("%s %" PRIu64 "\n", kind_names[i], tally.differing[i]);
	printf("buffers %" PRIu64 "\nbytes %" PRIu64 "\n", tally.buffers, tally.bytes);
	free(tally.is_pad);
	free(made);
	free(trace.bytes);
	if (tally.bad)
		printf("%s: %" PRIu64 " bytes differ\n", argv[1], tally.bad);
	return result ? result : tally.bad != 0;
}
