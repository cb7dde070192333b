/* SPDX-License-Identifier: MIT */
/* Events and header buffers as they are stored: for those who copy traces. */
#include "consumer/trace.h"

#include "consumer/trace_internal.h"

bool etw_trace_stored(const struct etw_trace *trace, struct etw_trace_stored *ret)
{
	struct etw_merge_event head;

	/* The merge moves on only when the sink is done with the event. */
	if (!trace->delivering || etw_merge_peek(trace->delivering, &head))
		return false;
	*ret = (struct etw_trace_stored){
		.loss = head.loss,
		.is_in_head = head.block->buffer.type == WIRE_BUFFER_HEADER &&
			      head.block->buffer.offset == 0,
	};
	if (head.loss)
		return true;
	ret->at = head.event->at;
	ret->bytes = head.event->bytes;
	ret->header_type = head.event->header_type;
	return true;
}

int etw_trace_read_head(const struct etw_trace *trace, uint8_t *room, size_t room_bytes,
			size_t *ret_bytes)
{
	return etw_etl_file_read(&trace->file, 0, room, room_bytes, ret_bytes);
}
