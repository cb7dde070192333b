/* SPDX-License-Identifier: MIT */
/* The header buffer: the header event, its companions, and the rewriting when a session stops. */
#include "etl/writer.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "etl/writer_internal.h"
#include "wire/etl_event.h"
#include "wire/etl_logfile.h"
#include "wire/group_masks.h"

#define HOOK_HEADER           0x0000
#define HOOK_PARTITION        0x0050
#define PAYLOAD_VERSION       2
#define PARTITION_BYTES       48
#define GROUP_MASKS_BYTES     ((uint32_t)sizeof(struct wire_group_masks))
#define START_BUFFERS         1
#define LAYOUT_1_BUFFER_BYTES 0x100000
#define LAYOUT_1_PROCESSORS   256
#define RELOGGED_HEADER_STEP  0x200
#define NAME_UNITS_MAX        (UINT16_MAX / 2)

/* REAL_TIME, STOP_ON_HYBRID_SHUTDOWN, PERSIST_ON_HYBRID_SHUTDOWN: of the session, not of its file. */
#define MODES_NOT_STORED UINT32_C(0x00C00100)

/* How a header buffer is laid out: every size, before a byte is written. */
struct plan {
	uint32_t logger_units, file_units; /* of the names, with their NUL */
	uint32_t header_bytes;             /* of the header event, exact */
	uint32_t header_end;               /* where it ends in the buffer, with its padding */
	uint32_t end;
	bool is_before_windows_8;
	bool is_relogged;
};

/* With the NUL; more than NAME_UNITS_MAX for a name that fits no event anyway. */
static uint32_t name_units(const char16_t *name)
{
	uint32_t units = 0;

	while (name && units < NAME_UNITS_MAX && name[units])
		units++;
	return units + 1;
}

static uint32_t companion_bytes(const struct etw_etl_file_head *head)
{
	uint32_t system = sizeof(struct wire_system_header), bytes = 0;

	if (head->companions)
		return head->companion_bytes;
	if (head->has_group_masks)
		bytes += ALIGN_UP(system + GROUP_MASKS_BYTES, WIRE_EVENT_ALIGNMENT);
	if (head->has_partition)
		bytes += ALIGN_UP(system + PARTITION_BYTES, WIRE_EVENT_ALIGNMENT);
	return bytes;
}

static int make_plan(const struct etw_etl_file_head *head, struct plan *ret)
{
	struct plan plan = {
		.logger_units = name_units(head->logger_name),
		.file_units = name_units(head->log_file_name),
		.is_before_windows_8 = (head->os_major << 8 | head->os_minor) < 0x0602,
		.is_relogged = head->log_file_mode & WIRE_LOGFILE_MODE_RELOG,
	};
	uint32_t fixed = head->pointer_bytes == 8 ? WIRE_LOGFILE_BYTES64 : WIRE_LOGFILE_BYTES32;
	uint64_t end;

	if (head->buffer_bytes < ETW_ETL_BUFFER_BYTES_MIN ||
	    head->buffer_bytes > WIRE_BUFFER_BYTES_MAX || head->buffer_bytes % WIRE_EVENT_ALIGNMENT)
		return -EINVAL;
	if (head->pointer_bytes != 4 && head->pointer_bytes != 8)
		return -EINVAL;
	if (head->companions && head->companion_bytes % WIRE_EVENT_ALIGNMENT)
		return -EINVAL;
	plan.header_bytes = (uint32_t)sizeof(struct wire_system_header) + fixed +
			    2 * (plan.logger_units + plan.file_units);
	plan.header_end = WIRE_BUFFER_HEADER_BYTES +
			  ALIGN_UP(plan.header_bytes, WIRE_EVENT_ALIGNMENT);
	end = (uint64_t)plan.header_end + companion_bytes(head);
	if (plan.header_bytes > UINT16_MAX || end > head->buffer_bytes)
		return -EMSGSIZE;
	plan.end = (uint32_t)end;
	*ret = plan;
	return 0;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

static uint8_t *put_system_header(const struct etw_etl_file_head *head, uint8_t *at, uint16_t hook,
				  uint8_t header_type, uint32_t bytes)
{
	struct wire_system_header system = {
		.version = le16_of(PAYLOAD_VERSION),
		.header_type = header_type,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)bytes),
		.type = (uint8_t)hook,
		.group = (uint8_t)(hook >> 8),
		.thread_id = le32_of(head->thread_id),
		.process_id = le32_of(head->process_id),
		.time_raw = le64_of((uint64_t)head->t0_raw),
		.kernel_ticks = le32_of(head->kernel_ticks),
		.user_ticks = le32_of(head->user_ticks),
	};

	return put(at, &system, sizeof(system));
}

/* 2.0 says to readers that they need more than 1.5 could express. */
static void choose_layout(const struct etw_etl_file_head *head, struct wire_logfile_head *ret)
{
	bool needs_2 = head->buffer_bytes > LAYOUT_1_BUFFER_BYTES ||
		       head->processors > LAYOUT_1_PROCESSORS ||
		       head->log_file_mode & WIRE_LOGFILE_MODE_COMPRESSED;

	ret->layout_major = head->layout_major;
	ret->layout_minor = head->layout_minor;
	if (head->layout_major || head->layout_minor)
		return;
	ret->layout_major = needs_2 ? 2 : 1;
	ret->layout_minor = needs_2 ? 0 : 5;
}

static uint8_t *put_logfile_head(const struct etw_etl_file_head *head, uint8_t *at)
{
	struct wire_logfile_head fixed = {
		.buffer_bytes = le32_of(head->buffer_bytes),
		.os_major = head->os_major,
		.os_minor = head->os_minor,
		.os_build = le32_of(head->os_build),
		.processors = le32_of(head->processors),
		.end_ft = le64_of((uint64_t)head->end_ft),
		.timer_resolution = le32_of(head->timer_resolution),
		.maximum_file_size = le32_of(head->maximum_file_size),
		.log_file_mode = le32_of(head->log_file_mode & ~MODES_NOT_STORED),
		.buffers_written = le32_of(head->buffers_written),
		.start_buffers = le32_of(START_BUFFERS),
		.pointer_bytes = le32_of(head->pointer_bytes),
		.events_lost = le32_of(head->events_lost),
		.cpu_mhz = le32_of(head->cpu_mhz),
	};

	choose_layout(head, &fixed);
	return put(at, &fixed, sizeof(fixed));
}

static uint8_t *put_logfile_tail(const struct etw_etl_file_head *head, uint8_t *at)
{
	struct wire_logfile_tail tail = {
		.boot_ft = le64_of((uint64_t)head->boot_ft),
		.perf_frequency = le64_of(head->perf_frequency),
		.start_ft = le64_of((uint64_t)head->start_ft),
		.clock_type = le32_of(head->clock_type),
		.buffers_lost = le32_of(head->buffers_lost),
	};

	static_assert(sizeof(tail.time_zone) == sizeof(head->time_zone), "layout");
	memcpy(tail.time_zone, head->time_zone, sizeof(tail.time_zone));
	return put(at, &tail, sizeof(tail));
}

static uint8_t *put_name(const char16_t *name, uint32_t units, uint8_t *at)
{
	for (uint32_t i = 0; i < units; i++, at += 2)
		etw_store16(at, i + 1 < units ? name[i] : 0);
	return at;
}

static void put_header_event(const struct etw_etl_file_head *head, const struct plan *plan,
			     uint8_t *at)
{
	uint8_t type = head->pointer_bytes == 8 ? WIRE_HEADER_SYSTEM64 : WIRE_HEADER_SYSTEM32;

	at = put_system_header(head, at, HOOK_HEADER, type, plan->header_bytes);
	at = put_logfile_head(head, at);
	for (unsigned i = 0; i < ARRAY_SIZE(head->name_words); i++) {
		le64 word = le64_of(head->name_words[i]);

		at = put(at, &word, head->pointer_bytes);
	}
	at = put_logfile_tail(head, at);
	at = put_name(head->logger_name, plan->logger_units, at);
	(void)put_name(head->log_file_name, plan->file_units, at);
}

/* @at: zeros, so that payloads of zeros and all padding are there already */
static void put_companions(const struct etw_etl_file_head *head, uint8_t *at)
{
	uint32_t system = sizeof(struct wire_system_header);

	if (head->companions) {
		(void)put(at, head->companions, head->companion_bytes);
		return;
	}
	/* Always the 64-bit forms: the kernel writes them, whatever the controller was. */
	if (head->has_group_masks) {
		uint8_t *to = put_system_header(head, at, WIRE_HOOK_GROUP_MASKS_NEW,
						WIRE_HEADER_SYSTEM64, system + GROUP_MASKS_BYTES);

		for (unsigned i = 0; i < ARRAY_SIZE(head->group_masks); i++, to += 4)
			etw_store32(to, head->group_masks[i]);
		etw_store32(to, etw_group_masks_trace_version(head->os_build));
		at += ALIGN_UP(system + GROUP_MASKS_BYTES, WIRE_EVENT_ALIGNMENT);
	}
	if (head->has_partition)
		(void)put_system_header(head, at, HOOK_PARTITION, WIRE_HEADER_SYSTEM64,
					system + PARTITION_BYTES);
}

/* The relogger adds companions behind a buffer that it takes for written: only Offset counts them. */
static void put_buffer_header(const struct etw_etl_file_head *head, const struct plan *plan,
			      uint8_t *buffer)
{
	bool is_old = plan->is_before_windows_8, is_relogged = plan->is_relogged;
	struct wire_buffer_header header = {
		.buffer_bytes = le32_of(head->buffer_bytes),
		.saved_offset = le32_of(is_old        ? 0
					: is_relogged ? plan->header_end
						      : plan->end),
		.current_offset = le32_of(is_relogged ? 0 : plan->end),
		.time_raw = le64_of((uint64_t)head->flush_raw),
		.processor = le16_of(etw_etl_processor_word(0, is_old)),
		.logger_id = le16_of(head->logger_id),
		.state = le32_of(is_relogged ? 0 : ETW_ETL_STATE_FLUSH),
		.valid_bytes = le32_of(plan->end),
		.flags = le16_of((uint16_t)(WIRE_BUFFER_FLUSH_MARKER |
					    (is_old || is_relogged ? 0 : WIRE_BUFFER_PROC_INDEX))),
		.type = le16_of(WIRE_BUFFER_HEADER),
	};

	(void)put(buffer, &header, sizeof(header));
}

int etw_etl_write_header_buffer(const struct etw_etl_file_head *head, uint8_t *buffer)
{
	struct plan plan;

	TRY(make_plan(head, &plan));
	memset(buffer, 0, plan.end);
	memset(buffer + plan.end, 0xFF, head->buffer_bytes - plan.end);
	put_buffer_header(head, &plan, buffer);
	put_header_event(head, &plan, buffer + WIRE_BUFFER_HEADER_BYTES);
	put_companions(head, buffer + plan.header_end);
	return 0;
}

uint32_t etw_etl_shrink_header_buffer(uint8_t *buffer)
{
	struct wire_buffer_header header;
	uint32_t bytes;

	memcpy(&header, buffer, sizeof(header));
	bytes = ALIGN_UP(le32_get(header.valid_bytes), RELOGGED_HEADER_STEP);
	if (bytes > le32_get(header.buffer_bytes))
		bytes = le32_get(header.buffer_bytes);
	header.buffer_bytes = le32_of(bytes);
	header.state = le32_of(ETW_ETL_STATE_FLUSH);
	memcpy(buffer, &header, sizeof(header));
	return bytes;
}

/* The layout's bytes behind the system header, or 0 when this is no header buffer. */
static uint32_t logfile_bytes(const uint8_t *buffer, uint32_t buffer_bytes)
{
	struct wire_buffer_header header;
	struct wire_system_header system;
	uint32_t fixed;

	if (buffer_bytes < sizeof(header) + sizeof(system) + WIRE_LOGFILE_BYTES64)
		return 0;
	memcpy(&header, buffer, sizeof(header));
	memcpy(&system, buffer + sizeof(header), sizeof(system));
	if (le16_get(header.type) != WIRE_BUFFER_HEADER ||
	    le32_get(header.buffer_bytes) != buffer_bytes ||
	    system.header_flag != WIRE_EVENT_FLAG_TRACE || system.group || system.type)
		return 0;
	if (system.header_type != WIRE_HEADER_SYSTEM32 &&
	    system.header_type != WIRE_HEADER_SYSTEM64)
		return 0;
	fixed = system.header_type == WIRE_HEADER_SYSTEM64 ? WIRE_LOGFILE_BYTES64
							   : WIRE_LOGFILE_BYTES32;
	return le16_get(system.bytes) < sizeof(system) + fixed ? 0 : fixed;
}

int etw_etl_rewrite_header_buffer(uint8_t *buffer, uint32_t buffer_bytes, int64_t end_ft,
				  uint32_t buffers_written, uint32_t events_lost,
				  uint32_t buffers_lost)
{
	uint8_t *at = buffer + WIRE_BUFFER_HEADER_BYTES + sizeof(struct wire_system_header);
	uint32_t fixed = logfile_bytes(buffer, buffer_bytes);
	uint8_t *tail;

	if (!fixed)
		return -EBADMSG;
	tail = at + fixed - sizeof(struct wire_logfile_tail);
	etw_store64(at + offsetof(struct wire_logfile_head, end_ft), (uint64_t)end_ft);
	etw_store32(at + offsetof(struct wire_logfile_head, buffers_written), buffers_written);
	etw_store32(at + offsetof(struct wire_logfile_head, events_lost), events_lost);
	etw_store32(tail + offsetof(struct wire_logfile_tail, buffers_lost), buffers_lost);
	return 0;
}
