/* SPDX-License-Identifier: MIT */
#include "etl/buffer.h"

#include <string.h>

void etw_etl_buffer_read(const uint8_t *at, struct etw_etl_buffer *ret)
{
	struct wire_buffer_header header;

	memcpy(&header, at, sizeof(header));
	*ret = (struct etw_etl_buffer){
		.stride = le32_get(header.buffer_bytes),
		.valid_bytes = le32_get(header.valid_bytes),
		.saved_offset = le32_get(header.saved_offset),
		.processor_word = le16_get(header.processor),
		.flags = le16_get(header.flags),
		.type = le16_get(header.type),
		.logger_id = le16_get(header.logger_id),
		.state = le32_get(header.state),
		.time_raw = (int64_t)le64_get(header.time_raw),
		.sequence = (int64_t)le64_get(header.sequence),
	};
	if (ret->flags & WIRE_BUFFER_PROC_INDEX)
		ret->processor = ret->processor_word & WIRE_BUFFER_PROCESSOR_MASK;
	else
		ret->processor = ret->processor_word & 0xFF;
}

const char *etw_etl_buffer_fault(const struct etw_etl_buffer *buffer)
{
	if (buffer->stride < WIRE_BUFFER_HEADER_BYTES)
		return "BufferSize is smaller than the buffer header";
	if (buffer->stride > WIRE_BUFFER_BYTES_MAX)
		return "BufferSize is beyond every limit";
	if (buffer->valid_bytes < WIRE_BUFFER_HEADER_BYTES)
		return "Offset is smaller than the buffer header";
	if (buffer->valid_bytes > WIRE_BUFFER_BYTES_MAX)
		return "Offset is beyond every limit";
	if (!(buffer->flags & WIRE_BUFFER_COMPRESSED) && buffer->valid_bytes > buffer->stride)
		return "Offset reaches beyond the buffer";
	if (buffer->flags & ~WIRE_BUFFER_FLAGS_KNOWN)
		return "BufferFlag has bits that do not exist";
	if (buffer->type >= WIRE_BUFFER_TYPES)
		return "BufferType is none that exists";
	if (buffer->state > WIRE_BUFFER_STATE_MAX)
		return "State is none that exists";
	return NULL;
}

bool etw_etl_buffer_is_unwritten(const uint8_t *at)
{
	for (unsigned i = 1; i < WIRE_BUFFER_HEADER_BYTES; i++) {
		if (at[i] != at[0])
			return false;
	}
	return at[0] == 0x00 || at[0] == 0xFF;
}

bool etw_etl_buffer_holds_events(const struct etw_etl_buffer *buffer)
{
	return buffer->type != WIRE_BUFFER_REFTIME && buffer->type != WIRE_BUFFER_EMPTY_MARKER &&
	       buffer->type != WIRE_BUFFER_DEBUG_INFO;
}
