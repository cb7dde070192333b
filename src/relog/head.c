/* SPDX-License-Identifier: MIT */
#include "relog/head.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/utf.h"
#include "etl/event.h"
#include "relog/output.h"
#include "wire/etl_logfile.h"

#define HEAD_BYTES_MAX     (64u * 1024) /* of a header buffer that is looked at */
#define BUFFER_BYTES_MIN   0x10000u
#define BUFFER_BYTES_LEAST 0x10400u /* the largest event has room */
#define BUFFER_BYTES_STEP  0x400u
#define BUFFER_BYTES_MAX \
	0x100000u /* what layout 1.5 can say; each event of a larger one fits, too */
#define MODE_SEQUENTIAL 0x00000001u
#define PROCESSORS_MAX  (WIRE_BUFFER_PROCESSOR_MASK + 1u)

static const struct etw_etl_header *header_of(struct etw_trace *const *traces, size_t i)
{
	return etw_trace_header(traces[i]);
}

static void take_header(const struct etw_etl_header *header, struct etw_etl_file_head *file)
{
	*file = (struct etw_etl_file_head){
		.os_major = header->os_major,
		.os_minor = header->os_minor,
		.layout_major = header->layout_major,
		.layout_minor = header->layout_minor,
		.os_build = header->os_build,
		.timer_resolution = header->timer_resolution,
		.maximum_file_size = header->maximum_file_size,
		.pointer_bytes = header->header_pointer_bytes,
		.cpu_mhz = header->cpu_mhz,
		.boot_ft = header->boot_ft,
		.perf_frequency = header->perf_frequency,
		.start_ft = header->start_ft,
		.t0_raw = header->time_raw,
		.clock_type = header->clock_type,
		.process_id = header->process_id,
		.thread_id = header->thread_id,
	};
	memcpy(file->time_zone, header->time_zone, sizeof(file->time_zone));
	/* A head that could not be read; the reader then takes a clock of 10 MHz. */
	if (file->pointer_bytes == 0) {
		file->pointer_bytes = 8;
		file->clock_type = header->clock.type;
		file->processors = 1;
	}
	/* A size in KB would need the mode's bit, which the relogger never says. */
	if (header->log_file_mode & WIRE_LOGFILE_MODE_KBYTES)
		file->maximum_file_size = 0;
}

void etw_relog_head_count_losses(struct etw_trace *const *traces, size_t count,
				 struct etw_etl_file_head *file)
{
	uint64_t events = 0, buffers = 0;

	for (size_t i = 0; i < count; i++) {
		events += header_of(traces, i)->events_lost;
		buffers += header_of(traces, i)->buffers_lost;
	}
	file->events_lost = etw_saturate32(events);
	file->buffers_lost = etw_saturate32(buffers);
}

/* Of the inputs' size, or so much less that each processor has a buffer that fills. */
static uint32_t shared_bytes(uint32_t bytes, uint32_t processors)
{
	uint32_t most = ETW_RELOG_LANES_BYTES / (processors ? processors : 1) / BUFFER_BYTES_STEP *
			BUFFER_BYTES_STEP;

	if (most > BUFFER_BYTES_MAX)
		most = BUFFER_BYTES_MAX;
	if (most < BUFFER_BYTES_LEAST)
		most = BUFFER_BYTES_LEAST;
	return bytes > most ? most : ALIGN_UP(bytes, WIRE_EVENT_ALIGNMENT);
}

/* Numbers of all inputs together. */
static void take_all(struct etw_trace *const *traces, size_t count, struct etw_etl_file_head *file)
{
	bool is_private = true;
	uint32_t bytes = BUFFER_BYTES_MIN;

	for (size_t i = 0; i < count; i++) {
		const struct etw_etl_header *header = header_of(traces, i);

		if (header->processors > file->processors && header->processors <= PROCESSORS_MAX)
			file->processors = header->processors;
		if (header->buffer_bytes > bytes)
			bytes = header->buffer_bytes;
		if (header->end_ft > file->end_ft)
			file->end_ft = header->end_ft;
		is_private &= (header->log_file_mode & WIRE_LOGFILE_MODE_PRIVATE) != 0;
	}
	etw_relog_head_count_losses(traces, count, file);
	file->buffer_bytes = shared_bytes(bytes, file->processors);
	/* Larger buffers and compression are all that asked for the later layout: the writer says it where it is needed. */
	if (file->layout_major >= 2)
		file->layout_major = file->layout_minor = 0;
	file->log_file_mode = WIRE_LOGFILE_MODE_RELOG | MODE_SEQUENTIAL |
			      (is_private ? WIRE_LOGFILE_MODE_PRIVATE : 0);
}

/* The companions of the first input, if they are whole events up to the end of its header buffer. */
static int take_companions(struct etw_bytes rest, struct etw_relog_head *ret)
{
	uint32_t bytes = (uint32_t)ALIGN_UP(rest.left, WIRE_EVENT_ALIGNMENT);
	size_t at = 0;

	while (at + sizeof(struct wire_perfinfo_header) <= rest.left) {
		struct etw_etl_event event;

		if (etw_etl_event_peek(rest.at + at, rest.left - at, &event))
			return 0;
		at += ALIGN_UP((size_t)event.bytes, WIRE_EVENT_ALIGNMENT);
	}
	/* The last pad may be cut off. */
	if (at < rest.left || at >= rest.left + WIRE_EVENT_ALIGNMENT)
		return 0;
	ret->companions = calloc(1, bytes ? bytes : 1);
	if (!ret->companions)
		return -ENOMEM;
	memcpy(ret->companions, rest.at, rest.left);
	ret->file.companions = ret->companions;
	ret->file.companion_bytes = bytes;
	return 0;
}

/* What the parsed header does not have: ticks, the words in place of pointers, and the companions. */
static int take_stored(const struct etw_trace *trace, struct etw_relog_head *ret)
{
	CLEANUP(freep) uint8_t *bytes = malloc(HEAD_BYTES_MAX);
	size_t head = WIRE_BUFFER_HEADER_BYTES, words;
	struct wire_system_header system;
	struct etw_etl_buffer buffer;
	struct etw_etl_event event;
	size_t count, end;

	if (!bytes)
		return -ENOMEM;
	TRY(etw_trace_read_head(trace, bytes, HEAD_BYTES_MAX, &count));
	if (count < head + sizeof(system))
		return 0;
	etw_etl_buffer_read(bytes, &buffer);
	if (buffer.type != WIRE_BUFFER_HEADER || buffer.valid_bytes > count ||
	    buffer.valid_bytes < head + sizeof(system) ||
	    etw_etl_event_peek(bytes + head, buffer.valid_bytes - head, &event))
		return 0;
	memcpy(&system, event.at, sizeof(system));
	words = sizeof(system) + sizeof(struct wire_logfile_head);
	if (event.bytes < sizeof(system) + WIRE_LOGFILE_BYTES64 || system.group || system.type ||
	    wire_event_shapes[event.header_type].pointer_bytes != ret->file.pointer_bytes)
		return 0;
	ret->file.flush_raw = buffer.time_raw;
	ret->file.kernel_ticks = le32_get(system.kernel_ticks);
	ret->file.user_ticks = le32_get(system.user_ticks);
	for (unsigned i = 0; i < 2; i++)
		ret->file.name_words[i] =
			etw_load_unsigned(event.at + words + (size_t)i * ret->file.pointer_bytes,
					  ret->file.pointer_bytes);
	end = head + ALIGN_UP((size_t)event.bytes, WIRE_EVENT_ALIGNMENT);
	if (end > buffer.valid_bytes)
		end = buffer.valid_bytes;
	return take_companions((struct etw_bytes){bytes + end, buffer.valid_bytes - end}, ret);
}

static int take_names(const struct etw_etl_header *header, const struct etw_relog_form *form,
		      struct etw_relog_head *ret)
{
	const char *file = form->log_file_name ? form->log_file_name : header->log_file_name;

	ret->logger_name = etw_utf8_to_utf16(header->logger_name, NULL);
	ret->log_file_name = etw_utf8_to_utf16(file, NULL);
	if (!ret->logger_name || !ret->log_file_name)
		return -ENOMEM;
	ret->file.logger_name = (const char16_t *)ret->logger_name;
	ret->file.log_file_name = (const char16_t *)ret->log_file_name;
	return 0;
}

int etw_relog_head_make(struct etw_trace *const *traces, size_t count,
			const struct etw_relog_form *form, struct etw_relog_head *ret)
{
	CLEANUP(etw_relog_head_done) struct etw_relog_head head = {0};

	take_header(header_of(traces, 0), &head.file);
	take_all(traces, count, &head.file);
	head.file.log_file_mode |= form->mode;
	if (form->is_compressed) {
		head.file.log_file_mode |= WIRE_LOGFILE_MODE_COMPRESSED;
		head.file.layout_major = head.file.layout_minor = 0;
	}
	TRY(take_stored(traces[0], &head));
	TRY(take_names(header_of(traces, 0), form, &head));
	*ret = head;
	head = (struct etw_relog_head){0};
	return 0;
}

void etw_relog_head_done(struct etw_relog_head *head)
{
	free(head->logger_name);
	free(head->log_file_name);
	free(head->companions);
	*head = (struct etw_relog_head){0};
}
