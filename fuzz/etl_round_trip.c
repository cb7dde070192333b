/* SPDX-License-Identifier: MIT */
/*
 * A session out of any bytes, written and read back: which events on which processors, when they are flushed, how
 * large buffers are and what the header says. What is read must be what was written: every event byte for
 * byte, every header field that a reader has, and nothing to complain of.
 *
 * The input: 8 bytes of settings, then operations of 4 bytes each: what and where, time since the last one,
 * payload size.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "etl/block.h"
#include "etl/walk.h"
#include "etl/writer.h"
#include "target.h"
#include "wire/etl_logfile.h"

#define PROCESSORS  4
#define EVENT_BYTES 2048
#define FILE_BYTES  (1u << 20) /* events beyond it are not written */

static const uint8_t header_types[] = {
	WIRE_HEADER_EVENT64,    WIRE_HEADER_EVENT32,    WIRE_HEADER_SYSTEM64,
	WIRE_HEADER_SYSTEM32,   WIRE_HEADER_PERFINFO64, WIRE_HEADER_PERFINFO32,
	WIRE_HEADER_FULL64,     WIRE_HEADER_FULL32,     WIRE_HEADER_INSTANCE64,
	WIRE_HEADER_INSTANCE32, WIRE_HEADER_COMPACT64,  WIRE_HEADER_COMPACT32,
};

#define OPERATION_FLUSH     (ARRAY_SIZE(header_types))     /* one processor */
#define OPERATION_FLUSH_ALL (ARRAY_SIZE(header_types) + 1) /* with the flush marker */
#define OPERATIONS          (ARRAY_SIZE(header_types) + 2)

struct lane {
	uint8_t *bytes; /* owned */
	uint32_t used;  /* 0: nothing in it */
	uint64_t sequence;
};

struct session {
	struct etw_etl_file_head head;
	struct lane lanes[PROCESSORS];
	uint8_t *file; /* owned: header buffer and data buffers */
	size_t file_bytes;
	uint64_t sequence;
	int64_t now_raw;
	bool is_before_windows_8;
	char16_t logger_name[256], log_file_name[256];
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void set_name(char16_t *name, uint8_t units)
{
	for (unsigned i = 0; i < units; i++)
		name[i] = (char16_t)('a' + i % 26);
}

static void set_head(struct session *session, const uint8_t *settings)
{
	struct etw_etl_file_head *head = &session->head;

	*head = (struct etw_etl_file_head){
		.buffer_bytes = 0x200u << settings[0] % 6,
		.os_major = 10,
		.os_build = 19045,
		.processors = PROCESSORS,
		.log_file_mode = etw_load16(settings + 1),
		.pointer_bytes = settings[3] & 1 ? 4 : 8,
		.has_partition = settings[3] & 2,
		.has_group_masks = settings[3] & 4,
		.perf_frequency = 10000000,
		.cpu_mhz = 2000,
		.start_ft = INT64_C(133000000000000000),
		.clock_type = 1 + settings[4] % 3,
		.logger_id = settings[5],
		.logger_name = session->logger_name,
		.log_file_name = session->log_file_name,
		.buffers_written = 1,
	};
	if (settings[3] & 8) {
		head->os_major = 6;
		head->os_minor = 1;
		session->is_before_windows_8 = true;
	}
	if (settings[3] & 16)
		head->log_file_mode |= WIRE_LOGFILE_MODE_RELOG;
	head->t0_raw = session->now_raw = head->clock_type == 2 ? head->start_ft : 1000000;
	set_name(session->logger_name, settings[6]);
	set_name(session->log_file_name, settings[7]);
}

static void seal(struct session *session, unsigned processor, uint32_t next_bytes, uint16_t flags)
{
	struct lane *lane = &session->lanes[processor];
	struct etw_etl_buffer_head head = {
		.buffer_bytes = session->head.buffer_bytes,
		.processor = (uint16_t)processor,
		.logger_id = session->head.logger_id,
		.sequence = lane->sequence,
		.time_raw = session->now_raw,
		.flags = flags,
		.is_before_windows_8 = session->is_before_windows_8,
		.is_partial = !next_bytes,
		.next_bytes = next_bytes,
	};

	if (!lane->used)
		return;
	require(session->file_bytes + head.buffer_bytes <= FILE_BYTES);
	etw_etl_seal_buffer(&head, lane->bytes, lane->used);
	memcpy(session->file + session->file_bytes, lane->bytes, head.buffer_bytes);
	session->file_bytes += head.buffer_bytes;
	session->head.buffers_written++;
	lane->used = 0;
}

/* The marker goes to the last buffer. */
static void flush_all(struct session *session)
{
	int last = -1;

	for (int i = 0; i < PROCESSORS; i++)
		last = session->lanes[i].used ? i : last;
	for (int i = 0; i < PROCESSORS; i++)
		seal(session, (unsigned)i, 0, i == last ? WIRE_BUFFER_FLUSH_MARKER : 0);
}

static uint32_t make_event(const struct session *session, uint8_t header_type, uint32_t payload,
			   uint8_t fill, uint8_t *event)
{
	const struct wire_event_shape *shape = &wire_event_shapes[header_type];
	uint32_t bytes = shape->header_bytes + payload;

	memset(event, 0, shape->header_bytes);
	memset(event + shape->header_bytes, fill, payload);
	event[2] = header_type;
	event[3] = WIRE_EVENT_FLAG_TRACE;
	etw_store16(event + shape->size_at, (uint16_t)bytes);
	etw_store64(event + shape->time_at, (uint64_t)session->now_raw);
	return bytes;
}

static void log_event(struct session *session, unsigned processor, const uint8_t *event,
		      uint32_t bytes)
{
	struct lane *lane = &session->lanes[processor];
	uint32_t buffer_bytes = session->head.buffer_bytes, empty = WIRE_BUFFER_HEADER_BYTES;

	if (lane->used &&
	    !etw_etl_append_event(lane->bytes, buffer_bytes, &lane->used, event, bytes))
		return;
	if (ALIGN_UP(bytes, WIRE_EVENT_ALIGNMENT) > buffer_bytes - WIRE_BUFFER_HEADER_BYTES) {
		require(etw_etl_append_event(lane->bytes, buffer_bytes, &empty, event, bytes) ==
			-ENOSPC);
		return;
	}
	seal(session, processor, bytes, 0);
	require(!etw_etl_append_event(lane->bytes, buffer_bytes, &empty, event, bytes));
	lane->used = empty;
	lane->sequence = ++session->sequence;
}

static void run_operations(struct session *session, const uint8_t *data, size_t size)
{
	uint32_t reserve = (PROCESSORS + 1) * session->head.buffer_bytes;
	uint8_t event[EVENT_BYTES + 0x50];

	for (; size >= 4 && session->file_bytes + reserve <= FILE_BYTES; data += 4, size -= 4) {
		unsigned processor = data[0] % PROCESSORS;
		unsigned operation = data[0] / PROCESSORS % OPERATIONS;
		uint32_t bytes;

		session->now_raw += data[1];
		if (operation == OPERATION_FLUSH) {
			seal(session, processor, 0, 0);
		} else if (operation == OPERATION_FLUSH_ALL) {
			flush_all(session);
		} else {
			bytes = make_event(session, header_types[operation],
					   etw_load16(data + 2) % EVENT_BYTES, data[1], event);
			log_event(session, processor, event, bytes);
		}
	}
	flush_all(session);
}

static void check_header(const struct session *session, const struct etw_etl_header *read)
{
	const struct etw_etl_file_head *head = &session->head;
	uint32_t hidden = 0x00C00100; /* what files never say of the mode */

	require(read->buffer_bytes == head->buffer_bytes && read->os_major == head->os_major &&
		read->log_file_mode == (head->log_file_mode & ~hidden) &&
		read->buffers_written == head->buffers_written &&
		read->header_pointer_bytes == head->pointer_bytes &&
		read->clock_type == head->clock_type && read->end_ft == head->end_ft &&
		read->events_lost == 3 && read->buffers_lost == 4 &&
		read->start_ft == head->start_ft && read->time_raw == head->t0_raw &&
		read->companions.has_partition == head->has_partition &&
		read->companions.has_group_masks == head->has_group_masks);
	for (unsigned i = 0; read->logger_name[i] || session->logger_name[i]; i++)
		require((char16_t)read->logger_name[i] == session->logger_name[i]);
	for (unsigned i = 0; read->log_file_name[i] || session->log_file_name[i]; i++)
		require((char16_t)read->log_file_name[i] == session->log_file_name[i]);
}

static void check_block(const struct etw_etl_block *block, const uint8_t *wanted)
{
	uint32_t at = WIRE_BUFFER_HEADER_BYTES;
	struct etw_etl_cursor cursor;
	bool is_more;

	for (is_more = etw_etl_cursor_start(&cursor, block); is_more;
	     is_more = etw_etl_cursor_next(&cursor)) {
		require(cursor.offset + WIRE_BUFFER_HEADER_BYTES == at);
		require(!memcmp(cursor.event.at, wanted + at, cursor.event.bytes));
		at += ALIGN_UP(cursor.event.bytes, WIRE_EVENT_ALIGNMENT);
	}
	require(at == etw_load32(wanted + offsetof(struct wire_buffer_header, valid_bytes)));
}

static void read_back(const struct session *session)
{
	struct etw_findings findings = {0};
	struct etw_etl_header header = {0};
	struct etw_etl_block block = {0};
	struct etw_etl_buffer buffer;
	struct etw_etl_walk walk;
	struct etw_etl_file file;
	struct etw_fault fault;
	uint32_t buffers = 0;

	etw_etl_file_memory(session->file, session->file_bytes, &file);
	require(!etw_etl_walk_start(&file, &findings, &walk, &header, &fault));
	check_header(session, &header);
	while (!etw_etl_walk_next(&walk, &buffer)) {
		require(buffer.offset == (uint64_t)buffers * session->head.buffer_bytes);
		require(!etw_etl_block_load(&file, &buffer, &block, &findings));
		check_block(&block, session->file + buffer.offset);
		buffers++;
	}
	require(buffers == session->head.buffers_written && !findings.kept_count);
	etw_etl_block_done(&block);
	etw_etl_header_done(&header);
}

static void run_session(struct session *session, const uint8_t *data, size_t size)
{
	struct etw_etl_file_head *head = &session->head;
	int result = etw_etl_write_header_buffer(head, session->file);

	/* The longest names need more than the two smallest buffers have. */
	require(!result || (result == -EMSGSIZE && head->buffer_bytes < 0x800));
	if (result)
		return;
	session->file_bytes = head->buffer_bytes;
	run_operations(session, data, size);
	head->end_ft = head->start_ft + 1;
	require(!etw_etl_rewrite_header_buffer(session->file, head->buffer_bytes, head->end_ft,
					       head->buffers_written, 3, 4));
	read_back(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *session;

	if (size < 8)
		return 0;
	session = calloc(1, sizeof(*session));
	require(session);
	set_head(session, data);
	session->file = malloc(FILE_BYTES);
	require(session->file);
	for (unsigned i = 0; i < PROCESSORS; i++) {
		session->lanes[i].bytes = malloc(session->head.buffer_bytes);
		require(session->lanes[i].bytes);
	}
	run_session(session, data + 8, size - 8);
	for (unsigned i = 0; i < PROCESSORS; i++)
		free(session->lanes[i].bytes);
	free(session->file);
	free(session);
	return 0;
}
