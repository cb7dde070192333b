/* SPDX-License-Identifier: MIT */
#include "etl/companions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etl/event.h"

#define TYPE_GROUP_MASKS  0x05
#define TYPE_PARTITION    0x50
#define TYPE_LAST_DROPPED 0x52

/* Hook 0052: u32 processors, u32 0, then one i64 for each. */
static int read_dropped(struct etw_bytes payload, struct etw_etl_companions *ret)
{
	uint32_t count, reserved;

	if (ret->dropped || !etw_bytes_u32(&payload, &count) ||
	    !etw_bytes_u32(&payload, &reserved) || count > payload.left / 8)
		return 0;
	ret->dropped = malloc(count ? 8 * (size_t)count : 1);
	if (!ret->dropped)
		return -ENOMEM;
	memcpy(ret->dropped, payload.at, 8 * (size_t)count);
	ret->dropped_count = count;
	return 0;
}

static int read_companion(const struct etw_etl_event *event, struct etw_etl_companions *ret)
{
	uint32_t header_bytes = wire_event_shapes[event->header_type].header_bytes;
	struct etw_bytes payload = {event->at + header_bytes, event->bytes - header_bytes};

	switch (event->at[offsetof(struct wire_system_header, type)]) {
	case TYPE_GROUP_MASKS:
		ret->has_group_masks = true;
		return 0;
	case TYPE_PARTITION:
		if (payload.left >= ETW_PARTITION_BYTES) {
			ret->has_partition = true;
			memcpy(ret->partition, payload.at, ETW_PARTITION_BYTES);
		}
		return 0;
	case TYPE_LAST_DROPPED:
		return read_dropped(payload, ret);
	default:
		return 0;
	}
}

static bool is_companion(const struct etw_etl_event *event)
{
	switch (event->header_type) {
	case WIRE_HEADER_SYSTEM32:
	case WIRE_HEADER_SYSTEM64:
	case WIRE_HEADER_PERFINFO32:
	case WIRE_HEADER_PERFINFO64:
		return event->at[offsetof(struct wire_system_header, group)] == 0;
	default:
		return false;
	}
}

int etw_etl_companions_read(const uint8_t *events, size_t bytes, struct etw_etl_companions *ret)
{
	struct etw_etl_event event;
	size_t offset = 0;

	while (bytes - offset >= 8 &&
	       !etw_etl_event_peek(events + offset, bytes - offset, &event)) {
		if (is_companion(&event)) {
			int result = read_companion(&event, ret);

			if (result)
				return result;
		}
		offset += ALIGN_UP((size_t)event.bytes, WIRE_EVENT_ALIGNMENT);
		if (offset > bytes)
			break;
	}
	return 0;
}

void etw_etl_companions_done(struct etw_etl_companions *companions)
{
	free(companions->dropped);
	*companions = (struct etw_etl_companions){0};
}
