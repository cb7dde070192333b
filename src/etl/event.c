/* SPDX-License-Identifier: MIT */
#include "etl/event.h"

static const char *peek_message(const uint8_t *at, size_t left, struct etw_etl_event *ret)
{
	struct wire_message_layout layout = wire_message_layout(etw_load16(at + 6));
	uint32_t bytes = etw_load16(at);

	if (bytes < layout.header_bytes)
		return "the message is shorter than its header";
	if (bytes > left)
		return "the message reaches beyond its buffer";
	ret->at = at;
	ret->bytes = bytes;
	ret->header_type = WIRE_HEADER_MESSAGE;
	ret->has_time = layout.time != 0;
	if (ret->has_time)
		ret->time_raw = (int64_t)etw_load64(at + layout.time);
	return NULL;
}

static const char *peek_perfinfo(const uint8_t *at, size_t left, struct etw_etl_event *ret)
{
	uint32_t bytes = etw_load16(at + 4);
	unsigned words = wire_perfinfo_words(etw_load16(at));

	if (bytes < sizeof(struct wire_perfinfo_header) + 8 * words)
		return "the event is shorter than its header";
	if (bytes > left)
		return "the event reaches beyond its buffer";
	ret->at = at;
	ret->bytes = bytes;
	ret->header_type = at[2];
	ret->has_time = true;
	ret->time_raw = (int64_t)etw_load64(at + offsetof(struct wire_perfinfo_header, time_raw));
	return NULL;
}

const char *etw_etl_event_peek_rare(const uint8_t *at, size_t left, struct etw_etl_event *ret)
{
	if (at[3] == WIRE_EVENT_FLAG_MESSAGE)
		return peek_message(at, left, ret);
	if (at[3] != WIRE_EVENT_FLAG_TRACE)
		return "the marker is that of no event header";
	if ((at[2] & 0xFE) == WIRE_HEADER_PERFINFO32)
		return peek_perfinfo(at, left, ret);
	return "the header type is not one that files hold";
}
