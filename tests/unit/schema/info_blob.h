/* SPDX-License-Identifier: MIT */
/* Writes TRACE_EVENT_INFO and EVENT_MAP_INFO blobs for tests. */
#ifndef ETW_TESTS_SCHEMA_INFO_BLOB_H
#define ETW_TESTS_SCHEMA_INFO_BLOB_H

#include <assert.h>
#include <string.h>

#include "base/guid.h"
#include "wire/event_info.h"

#define INFO_BLOB_BYTES 8192

struct info_blob {
	uint8_t at[INFO_BLOB_BYTES];
	size_t bytes;
};

static const GUID info_blob_provider = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88}};

/* Appends an ASCII string as UTF-16 with NUL; returns its offset. */
static inline le32 info_blob_string(struct info_blob *blob, const char *text)
{
	le32 offset = le32_of((uint32_t)blob->bytes);

	do {
		assert(blob->bytes + 2 <= sizeof(blob->at));
		etw_store16(blob->at + blob->bytes, (uint8_t)*text);
		blob->bytes += 2;
	} while (*text++);
	return offset;
}

static inline void info_blob_set_head(struct info_blob *blob, const struct wire_event_info *head)
{
	memcpy(blob->at, head, sizeof(*head));
}

static inline void info_blob_set_property(struct info_blob *blob, size_t index,
					  const struct wire_property_info *property)
{
	memcpy(blob->at + WIRE_EVENT_INFO_BYTES + index * sizeof(*property), property,
	       sizeof(*property));
}

/*
 * An event of id 7 version 1 with three properties: Id (UINT32), Kind (UINT32, map KindMap), Text.
 * *ret is the head, for tests that change it and set it again.
 */
static inline void info_blob_event(struct info_blob *blob, struct wire_event_info *ret)
{
	struct wire_property_info property = {.in_type = le16_of(8), .count = le16_of(1)};
	struct wire_event_info head = {
		.id = le16_of(7),
		.version = 1,
		.level = 2,
		.opcode = 1,
		.task = le16_of(9),
		.keyword = le64_of(3),
		.property_count = le32_of(3),
		.top_level_count = le32_of(3),
		.flags = le32_of(1),
	};

	memset(blob, 0, sizeof(*blob));
	blob->bytes = sizeof(head) + 3 * sizeof(property);
	etw_guid_write(head.provider, &info_blob_provider);
	head.provider_name = info_blob_string(blob, "Some-Provider");
	head.keywords_name = info_blob_string(blob, "One ");
	(void)info_blob_string(blob, "Two");
	(void)info_blob_string(blob, "");
	head.task_name = info_blob_string(blob, "Task");
	head.level_name = info_blob_string(blob, "win:Error");
	head.opcode_name = info_blob_string(blob, "win:Start");
	head.event_message = info_blob_string(blob, "Value %1  ");
	head.event_name = info_blob_string(blob, "Name");
	property.name = info_blob_string(blob, "Id");
	info_blob_set_property(blob, 0, &property);
	property.name = info_blob_string(blob, "Kind");
	property.map_name = info_blob_string(blob, "KindMap");
	info_blob_set_property(blob, 1, &property);
	property.in_type = le16_of(1);
	property.map_name = le32_of(0);
	property.name = info_blob_string(blob, "Text");
	info_blob_set_property(blob, 2, &property);
	info_blob_set_head(blob, &head);
	*ret = head;
}

/* The provider's GUID, then a map KindMap {0: None, 1: Some}. *ret as above. */
static inline void info_blob_map(struct info_blob *blob, struct wire_map_info *ret)
{
	struct wire_map_entry entries[2];
	struct info_blob map = {.bytes = sizeof(*ret) + sizeof(entries)};
	struct wire_map_info head = {.flags = le32_of(1), .entry_count = le32_of(2)};

	head.name = info_blob_string(&map, "KindMap");
	entries[0] = (struct wire_map_entry){info_blob_string(&map, "None "), le32_of(0)};
	entries[1] = (struct wire_map_entry){info_blob_string(&map, "Some "), le32_of(1)};
	memcpy(map.at, &head, sizeof(head));
	memcpy(map.at + sizeof(head), entries, sizeof(entries));
	memset(blob, 0, sizeof(*blob));
	etw_guid_write(blob->at, &info_blob_provider);
	memcpy(blob->at + sizeof(GUID), map.at, map.bytes);
	blob->bytes = sizeof(GUID) + map.bytes;
	*ret = head;
}

#endif
