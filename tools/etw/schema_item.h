/* SPDX-License-Identifier: MIT */
/* What a TraceLogging event says of itself: the host's own events are told apart by it. */
#ifndef ETW_TOOLS_ETW_SCHEMA_ITEM_H
#define ETW_TOOLS_ETW_SCHEMA_ITEM_H

#include <evntcons.h>

#include "base/bytes.h"

/* schema_item_of() - the data of its item EVENT_SCHEMA_TL; nothing at NULL where it has none. */
static inline struct etw_bytes schema_item_of(const EVENT_RECORD *record)
{
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		if (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)
			return (struct etw_bytes){(const uint8_t *)(uintptr_t)item->DataPtr,
						  item->DataSize};
	}
	return (struct etw_bytes){NULL, 0};
}

#endif
