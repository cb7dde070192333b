/* SPDX-License-Identifier: MIT */
#include "relog/copy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

/* Memory that is handed out piece by piece. */
struct room {
	uint8_t *memory;
	size_t used;
};

static void *put(struct room *room, const void *from, size_t bytes)
{
	uint8_t *to = room->memory + room->used;

	if (bytes)
		memcpy(to, from, bytes);
	room->used += ALIGN_UP(bytes, 8);
	return to;
}

static bool is_inside(const struct etw_relog_event *event, const void *at)
{
	uintptr_t from = (uintptr_t)event->bytes, place = (uintptr_t)at;

	return event->bytes && place >= from && place <= from + event->byte_count;
}

/* Data in the event's bytes are at the same place of the copy's; others get a place of their own. */
static void *moved(struct room *room, const struct etw_relog_event *event, const uint8_t *bytes,
		   const void *at, size_t count)
{
	if (is_inside(event, at))
		return (void *)(uintptr_t)(bytes + ((const uint8_t *)at - event->bytes));
	return put(room, at, count);
}

static size_t bytes_needed(const struct etw_relog_event *event)
{
	const EVENT_RECORD *record = &event->record;
	size_t bytes = ALIGN_UP((size_t)event->byte_count, 8) +
		       ALIGN_UP((size_t)record->UserDataLength, 8);

	bytes += record->ExtendedDataCount * sizeof(*record->ExtendedData);
	for (unsigned i = 0; i < record->ExtendedDataCount; i++)
		bytes += ALIGN_UP((size_t)record->ExtendedData[i].DataSize, 8);
	return bytes;
}

int etw_relog_event_copy(const struct etw_relog_event *event, struct etw_relog_event *ret,
			 void **ret_memory)
{
	const EVENT_RECORD *record = &event->record;
	EVENT_HEADER_EXTENDED_DATA_ITEM *items;
	const uint8_t *bytes;
	struct room room = {.memory = malloc(bytes_needed(event) + 1)};

	if (!room.memory)
		return -ENOMEM;
	*ret = *event;
	items = put(&room, record->ExtendedData, record->ExtendedDataCount * sizeof(*items));
	bytes = put(&room, event->bytes, event->byte_count);
	if (event->bytes)
		ret->bytes = bytes;
	if (record->ExtendedDataCount)
		ret->record.ExtendedData = items;
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const void *data = (const void *)(uintptr_t)record->ExtendedData[i].DataPtr;

		items[i].DataPtr = (ULONGLONG)(uintptr_t)moved(&room, event, bytes, data,
							       items[i].DataSize);
	}
	if (record->UserData)
		ret->record.UserData = moved(&room, event, bytes, record->UserData,
					     record->UserDataLength);
	if (event->payload_before)
		ret->payload_before = bytes +
				      ((const uint8_t *)event->payload_before - event->bytes);
	*ret_memory = room.memory;
	return 0;
}
