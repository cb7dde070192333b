/* SPDX-License-Identifier: MIT */
/* Data buffers: events one behind the other, and the header that says how far they go. */
#include "etl/writer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "etl/writer_internal.h"

int etw_etl_append_event(uint8_t *buffer, uint32_t buffer_bytes, uint32_t *used,
			 const uint8_t *event, uint32_t event_bytes)
{
	/* In 64 bits: a size close to 2^32 must not wrap to one that fits. */
	uint64_t whole = ALIGN_UP((uint64_t)event_bytes, WIRE_EVENT_ALIGNMENT);
	uint8_t *at = buffer + *used;

	if (*used > buffer_bytes || whole > buffer_bytes - *used)
		return -ENOSPC;
	memcpy(at, event, event_bytes);
	memset(at + event_bytes, 0, (size_t)whole - event_bytes);
	*used += (uint32_t)whole;
	return 0;
}

/*
 * Windows counts the writer's offset on before it looks whether the event fits, and by a whole buffer to close
 * one that is not full; files keep what came of it.
 */
static uint32_t current_offset(const struct etw_etl_buffer_head *head, uint32_t used)
{
	if (head->is_partial)
		return head->buffer_bytes + used;
	return used + ALIGN_UP(head->next_bytes, WIRE_EVENT_ALIGNMENT);
}

uint16_t etw_etl_processor_word(uint16_t processor, bool is_before_windows_8)
{
	if (!is_before_windows_8)
		return processor;
	return (uint16_t)((processor & 0xFF) | WIRE_EVENT_ALIGNMENT << 8);
}

void etw_etl_write_buffer_header(const struct etw_etl_buffer_head *head, uint8_t *buffer,
				 uint32_t used)
{
	bool is_old = head->is_before_windows_8;
	struct wire_buffer_header header = {
		.buffer_bytes = le32_of(head->buffer_bytes),
		.saved_offset = le32_of(used),
		.current_offset = le32_of(current_offset(head, used)),
		.time_raw = le64_of((uint64_t)head->time_raw),
		.sequence = le64_of(head->sequence),
		.processor = le16_of(etw_etl_processor_word(head->processor, is_old)),
		.logger_id = le16_of(head->logger_id),
		.state = le32_of(ETW_ETL_STATE_FLUSH),
		.valid_bytes = le32_of(used),
		.flags = le16_of((uint16_t)(head->flags | (is_old ? 0 : WIRE_BUFFER_PROC_INDEX))),
		.type = le16_of(WIRE_BUFFER_GENERIC),
	};

	assert(used >= sizeof(header) && used <= head->buffer_bytes);
	assert(!(used % WIRE_EVENT_ALIGNMENT));
	memcpy(buffer, &header, sizeof(header));
}

void etw_etl_seal_buffer(const struct etw_etl_buffer_head *head, uint8_t *buffer, uint32_t used)
{
	etw_etl_write_buffer_header(head, buffer, used);
	memset(buffer + used, 0xFF, head->buffer_bytes - used);
}

void etw_etl_mark_flushed(struct wire_buffer_header *header, uint32_t buffer_bytes)
{
	header->flags = le16_of(le16_get(header->flags) | WIRE_BUFFER_FLUSH_MARKER);
	header->current_offset = le32_of(buffer_bytes + le32_get(header->valid_bytes));
}
