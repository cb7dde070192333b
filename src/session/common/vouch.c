/* SPDX-License-Identifier: MIT */
#include "session/common/vouch.h"

#include <string.h>

#include <evntcons.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "wire/etl_event.h"
#include "wire/event_shape.h"
#include "wire/security.h"

bool etw_items_are_sound(const uint8_t *event, uint32_t bytes, uint32_t *ret_types)
{
	uint32_t at = sizeof(struct wire_event_header), seen = 0;
	struct wire_extended_item item;
	uint32_t item_bytes, data_bytes;
	uint16_t type;

	for (;;) {
		if (bytes - at < sizeof(item))
			return false;
		memcpy(&item, event + at, sizeof(item));
		item_bytes = le16_get(item.bytes);
		data_bytes = le16_get(item.data_bytes);
		type = le16_get(item.type);
		if (item_bytes < sizeof(item) || item_bytes % 8 != 0 || item_bytes > bytes - at ||
		    data_bytes > item_bytes - sizeof(item))
			return false;
		if (!wire_event_ring_item(type, data_bytes) || seen & UINT32_C(1) << type)
			return false;
		seen |= UINT32_C(1) << type;
		at += item_bytes;
		if (!(le16_get(item.linkage) & WIRE_EXTENDED_LINKAGE))
			break;
	}
	*ret_types = seen;
	return true;
}

static void put_sid(uint8_t *data, uid_t uid)
{
	const struct wire_sid sid = etw_sid_of_uid(uid);

	memcpy(data, sid.bytes, WIRE_RING_SID_BYTES);
}

static void vouch_for(uint16_t type, uint8_t *data, uid_t uid,
		      const struct etw_process_facts *facts)
{
	switch (type) {
	case EVENT_HEADER_EXT_TYPE_SID:
		put_sid(data, uid);
		break;
	case EVENT_HEADER_EXT_TYPE_TS_ID:
		etw_store32(data, facts->session_id);
		break;
	case EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY:
		etw_store64(data, facts->start_key);
		break;
	case EVENT_HEADER_EXT_TYPE_CONTAINER_ID:
		etw_guid_write(data, &facts->container);
		break;
	case EVENT_HEADER_EXT_TYPE_STACK_TRACE32:
	case EVENT_HEADER_EXT_TYPE_STACK_TRACE64:
		/* Another number would join it to the kernel's half of some event. */
		etw_store64(data, 0);
		break;
	default:
		break;
	}
}

void etw_items_vouch(uint8_t *event, uid_t uid, const struct etw_process_facts *facts)
{
	uint8_t *at = event + sizeof(struct wire_event_header);
	struct wire_extended_item item;

	do {
		memcpy(&item, at, sizeof(item));
		vouch_for(le16_get(item.type), at + sizeof(item), uid, facts);
		at += le16_get(item.bytes);
	} while (le16_get(item.linkage) & WIRE_EXTENDED_LINKAGE);
}
