/* SPDX-License-Identifier: MIT */
#include "etl/header.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf.h"
#include "etl/event.h"
#include "wire/etl_logfile.h"

static int bad(struct etw_fault *reterr, uint64_t offset, const char *field, const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, offset, "header event", field, sentence);
}

/* Reads a NUL-terminated UTF-16 string and moves on behind it. */
static int take_name(struct etw_bytes *bytes, char **ret)
{
	size_t units = etw_utf16_length(bytes->at, bytes->left / 2);
	char *name = etw_utf16_to_utf8(bytes->at, units);
	size_t taken = units < bytes->left / 2 ? 2 * (units + 1) : bytes->left;

	if (!name)
		return -ENOMEM;
	(void)etw_bytes_take(bytes, taken);
	*ret = name;
	return 0;
}

static void read_head(const uint8_t *at, struct etw_etl_header *header)
{
	struct wire_logfile_head head;

	memcpy(&head, at, sizeof(head));
	header->buffer_bytes = le32_get(head.buffer_bytes);
	header->os_major = head.os_major;
	header->os_minor = head.os_minor;
	header->layout_major = head.layout_major;
	header->layout_minor = head.layout_minor;
	header->os_build = le32_get(head.os_build);
	header->processors = le32_get(head.processors);
	header->end_ft = (int64_t)le64_get(head.end_ft);
	header->timer_resolution = le32_get(head.timer_resolution);
	header->maximum_file_size = le32_get(head.maximum_file_size);
	header->log_file_mode = le32_get(head.log_file_mode);
	header->buffers_written = le32_get(head.buffers_written);
	header->start_buffers = le32_get(head.start_buffers);
	header->pointer_bytes = le32_get(head.pointer_bytes);
	header->events_lost = le32_get(head.events_lost);
	header->cpu_mhz = le32_get(head.cpu_mhz);
}

static void read_tail(const uint8_t *at, struct etw_etl_header *header)
{
	struct wire_logfile_tail tail;

	memcpy(&tail, at, sizeof(tail));
	memcpy(header->time_zone, tail.time_zone, sizeof(header->time_zone));
	header->boot_ft = (int64_t)le64_get(tail.boot_ft);
	header->perf_frequency = le64_get(tail.perf_frequency);
	header->start_ft = (int64_t)le64_get(tail.start_ft);
	header->clock_type = le32_get(tail.clock_type);
	header->buffers_lost = le32_get(tail.buffers_lost);
}

/* Before Windows 7 (layout 1.5) the field was a flag: 1 QPC, 0 system time. */
static enum etw_clock_type clock_type_of(const struct etw_etl_header *header)
{
	switch (header->clock_type) {
	case ETW_CLOCK_SYSTEM:
		return ETW_CLOCK_SYSTEM;
	case ETW_CLOCK_CYCLE:
		return ETW_CLOCK_CYCLE;
	case 0:
		return ETW_CLOCK_SYSTEM;
	default:
		return ETW_CLOCK_QPC;
	}
}

static size_t fixed_bytes(uint8_t header_type)
{
	return header_type == WIRE_HEADER_SYSTEM64 ? WIRE_LOGFILE_BYTES64 : WIRE_LOGFILE_BYTES32;
}

/*
 * The header event's own size may be damaged while all that it holds is there; the block that holds it makes
 * a finding of that. So everything but the size is asked here.
 */
static int recognise(const uint8_t *event, size_t bytes, struct etw_fault *reterr,
		     struct etw_bytes *ret_payload)
{
	struct wire_system_header system;
	uint32_t size;

	if (bytes < sizeof(system))
		return bad(reterr, 0, NULL, "the buffer is too small for the header event");
	memcpy(&system, event, sizeof(system));
	if (system.header_flag != WIRE_EVENT_FLAG_TRACE ||
	    (system.header_type != WIRE_HEADER_SYSTEM32 &&
	     system.header_type != WIRE_HEADER_SYSTEM64))
		return bad(reterr, 2, "HeaderType", "the first event is not a system event");
	if (system.group || system.type)
		return bad(reterr, 6, "Type", "the first event is not the trace header");
	size = le16_get(system.bytes);
	if (size < sizeof(system) + fixed_bytes(system.header_type) || size > bytes)
		size = bytes < UINT16_MAX ? (uint32_t)bytes : UINT16_MAX;
	*ret_payload = (struct etw_bytes){event + sizeof(system), size - sizeof(system)};
	if (ret_payload->left < fixed_bytes(system.header_type))
		return bad(reterr, sizeof(system), "Size", "the trace header is cut short");
	return 0;
}

int etw_etl_header_parse(const uint8_t *event, size_t bytes, struct etw_etl_header *ret,
			 struct etw_fault *reterr)
{
	CLEANUP(etw_etl_header_done) struct etw_etl_header header = {0};
	struct wire_system_header system;
	struct etw_bytes payload;
	size_t fixed;

	TRY(recognise(event, bytes, reterr, &payload));
	memcpy(&system, event, sizeof(system));
	fixed = fixed_bytes(system.header_type);
	read_head(payload.at, &header);
	read_tail(payload.at + fixed - sizeof(struct wire_logfile_tail), &header);
	(void)etw_bytes_take(&payload, fixed);
	TRY(take_name(&payload, &header.logger_name));
	TRY(take_name(&payload, &header.log_file_name));
	header.header_pointer_bytes = wire_event_shapes[system.header_type].pointer_bytes;
	header.process_id = le32_get(system.process_id);
	header.thread_id = le32_get(system.thread_id);
	header.time_raw = (int64_t)le64_get(system.time_raw);
	etw_clock_init(&header.clock, clock_type_of(&header), header.time_raw, header.start_ft,
		       header.perf_frequency, header.cpu_mhz);
	TRY(etw_etl_companions_read(event, bytes, &header.companions));
	*ret = header;
	header = (struct etw_etl_header){0};
	return 0;
}

void etw_etl_header_done(struct etw_etl_header *header)
{
	free(header->logger_name);
	free(header->log_file_name);
	etw_etl_companions_done(&header->companions);
	*header = (struct etw_etl_header){0};
}
