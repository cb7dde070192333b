/* SPDX-License-Identifier: MIT */
/* Parts are appended in the compiler's order; names go behind the list that uses them. */
#include "synthetic/made_wevt.h"

#include <assert.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"

#define NONE WIRE_WEVT_NO_MESSAGE

const GUID made_wevt_guid = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88}};
const GUID made_wevt_control_guid = {0xc0c0c0c0, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
const GUID made_wevt_group_guid = {0x90909090, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
const GUID made_wevt_task_guid = {0x7a7a7a7a, 1, 2, {1, 2, 3, 4, 5, 6, 7, 8}};

/* Room for @bytes; returns its offset. */
static uint32_t append(struct made_wevt *wevt, const void *at, size_t bytes)
{
	uint32_t offset = (uint32_t)wevt->bytes;

	assert(wevt->bytes + bytes <= sizeof(wevt->at));
	if (at)
		memcpy(wevt->at + offset, at, bytes);
	wevt->bytes += bytes;
	return offset;
}

static void pad(struct made_wevt *wevt)
{
	wevt->bytes = ALIGN_UP(wevt->bytes, 4);
}

void made_wevt_set32(struct made_wevt *wevt, size_t offset, uint32_t value)
{
	assert(offset + sizeof(value) <= wevt->bytes);
	etw_store32(wevt->at + offset, value);
}

void made_wevt_set16(struct made_wevt *wevt, size_t offset, uint16_t value)
{
	assert(offset + sizeof(value) <= wevt->bytes);
	etw_store16(wevt->at + offset, value);
}

static uint32_t add_text(struct made_wevt *wevt, const char *text)
{
	uint32_t offset = (uint32_t)wevt->bytes;

	do {
		etw_store16(wevt->at + append(wevt, NULL, 2), (uint8_t)*text);
	} while (*text++);
	return offset;
}

/* A sized name, whose offset goes to the number at @to. */
static void add_name(struct made_wevt *wevt, size_t to, const char *text)
{
	uint32_t offset = append(wevt, NULL, sizeof(uint32_t));

	(void)add_text(wevt, text);
	pad(wevt);
	made_wevt_set32(wevt, offset, (uint32_t)wevt->bytes - offset);
	made_wevt_set32(wevt, to, offset);
}

/* The head of a list and its entries; returns the offset of the first. */
static uint32_t begin_list(struct made_wevt *wevt, enum wire_wevt_kind kind, const char *magic,
			   size_t head_bytes, const void *entries, uint32_t count,
			   size_t entry_bytes)
{
	struct wire_wevt_list head = {.count = le32_of(count)};

	memcpy(head.magic, magic, sizeof(head.magic));
	wevt->lists[kind] = append(wevt, &head, sizeof(head));
	(void)append(wevt, NULL, head_bytes - sizeof(head));
	return append(wevt, entries, count * entry_bytes);
}

static void end_list(struct made_wevt *wevt, enum wire_wevt_kind kind)
{
	pad(wevt);
	made_wevt_set32(wevt, wevt->lists[kind] + offsetof(struct wire_wevt_list, bytes),
			(uint32_t)wevt->bytes - wevt->lists[kind]);
}

#define BEGIN_LIST(wevt, kind, magic, entries)                                \
	begin_list(wevt, kind, magic, sizeof(struct wire_wevt_list), entries, \
		   (uint32_t)ARRAY_SIZE(entries), sizeof((entries)[0]))
#define BEGIN_LONG_LIST(wevt, kind, magic, entries)                               \
	begin_list(wevt, kind, magic, sizeof(struct wire_wevt_list) + 4, entries, \
		   (uint32_t)ARRAY_SIZE(entries), sizeof((entries)[0]))

static void add_channels(struct made_wevt *wevt)
{
	static const char *const names[] = {"Some/Channel", "Security", "TraceLogging"};
	const struct wire_wevt_channel entries[] = {
		{.value = le32_of(16), .message = le32_of(0x90000002)},
		{.flags = le32_of(1), .value = le32_of(10), .message = le32_of(NONE)},
		{.flags = le32_of(1), .value = le32_of(11), .message = le32_of(NONE)},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_CHANNELS, "CHAN", entries);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_name(wevt,
			 at + i * sizeof(entries[0]) + offsetof(struct wire_wevt_channel, name),
			 names[i]);
	end_list(wevt, WIRE_WEVT_CHANNELS);
}

static void add_maps(struct made_wevt *wevt)
{
	static const char *const names[] = {"KindMap", "BitMap"};
	const le32 offsets[2] = {0};
	const struct wire_wevt_map_entry entries[2][2] = {
		{{le32_of(0), le32_of(0xd0000001)}, {le32_of(9), le32_of(NONE)}},
		{{le32_of(1), le32_of(0xf0000001)}, {le32_of(4), le32_of(NONE)}},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_MAPS, "MAPS", offsets);

	for (uint32_t i = 0; i < 2; i++) {
		struct wire_wevt_map map = {.flags = le32_of(i), .count = le32_of(2)};

		memcpy(map.magic, i ? "BMAP" : "VMAP", sizeof(map.magic));
		map.bytes = le32_of(sizeof(map) + sizeof(entries[i]));
		wevt->maps[i] = append(wevt, &map, sizeof(map));
		(void)append(wevt, entries[i], sizeof(entries[i]));
		made_wevt_set32(wevt, at + i * sizeof(le32), wevt->maps[i]);
	}
	for (size_t i = 0; i < 2; i++)
		add_name(wevt, wevt->maps[i] + offsetof(struct wire_wevt_map, name), names[i]);
	end_list(wevt, WIRE_WEVT_MAPS);
}

static void add_queries(struct made_wevt *wevt)
{
	const struct wire_wevt_query query = {.magic = {'Q', 'U', 'E', 'R'}, .count = le32_of(1)};
	const struct wire_wevt_pattern pattern = {0};
	const le32 offsets[1] = {0};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_QUERIES, "QTAB", offsets);

	wevt->query = append(wevt, &query, sizeof(query));
	(void)append(wevt, &pattern, sizeof(pattern));
	made_wevt_set32(wevt, at, wevt->query);
	add_name(wevt, wevt->query + offsetof(struct wire_wevt_query, name), "Query");
	add_name(wevt, wevt->query + offsetof(struct wire_wevt_query, format), "regex");
	add_name(wevt, wevt->query + sizeof(query), "$1");
	add_name(wevt, wevt->query + sizeof(query) + sizeof(le32), "a*");
	end_list(wevt, WIRE_WEVT_QUERIES);
}

static uint32_t add_template(struct made_wevt *wevt, uint32_t index, uint32_t type,
			     const struct wire_wevt_item *items, uint32_t count, uint32_t top_count,
			     const char *const *names)
{
	struct wire_wevt_template head = {
		.magic = {'T', 'E', 'M', 'P'},
		.top_count = le32_of(top_count),
		.count = le32_of(count),
		.type = le32_of(type),
	};
	uint32_t start = append(wevt, &head, sizeof(head));

	wevt->templates[index] = start;
	/* In place of the binary XML, which readers of schemas do not need. */
	(void)append(wevt, "\x0f\x01\x01", 4);
	wevt->items[index] = append(wevt, items, count * sizeof(*items));
	made_wevt_set32(wevt, start + offsetof(struct wire_wevt_template, items),
			wevt->items[index]);
	for (uint32_t i = 0; i < count; i++)
		add_name(wevt,
			 wevt->items[index] + i * sizeof(*items) +
				 offsetof(struct wire_wevt_item, name),
			 names[i]);
	made_wevt_set32(wevt, start + offsetof(struct wire_wevt_template, bytes),
			(uint32_t)wevt->bytes - start);
	return start;
}

static void add_templates(struct made_wevt *wevt)
{
	static const char *const names[] = {"Count", "Values", "Text", "Kind", "Fixed",
					    "Sid",   "Struct", "A",    "B"};
	static const char *const user_names[] = {"Bits"};
	const struct wire_wevt_item items[] = {
		{.types = {4, 4}},
		{.flags = le32_of(0x10), .types = {6, 17}, .count = le16_of(0)},
		{.flags = le32_of(4), .types = {1, 1}, .length = le16_of(0)},
		{.types = {8, 8}, .map = le32_of(wevt->maps[0])},
		{.flags = le32_of(10), .types = {2, 0}, .count = le16_of(3), .length = le16_of(5)},
		{.flags = le32_of(2), .types = {19, 1}, .length = le16_of(12)},
		{.flags = le32_of(9), .types = {7, 0, 2, 0}, .count = le16_of(2)},
		{.flags = le32_of(2), .types = {8, 8}, .length = le16_of(9)},
		{.flags = le32_of(4), .types = {14, 15}, .length = le16_of(7)},
	};
	const struct wire_wevt_item user_items[] = {
		{.types = {8, 18}, .map = le32_of(wevt->maps[1])},
	};

	(void)begin_list(wevt, WIRE_WEVT_TEMPLATES, "TTBL", sizeof(struct wire_wevt_list), NULL, 0,
			 0);
	made_wevt_set32(
		wevt, wevt->lists[WIRE_WEVT_TEMPLATES] + offsetof(struct wire_wevt_list, count), 2);
	(void)add_template(wevt, 0, 1, items, ARRAY_SIZE(items), 7, names);
	(void)add_template(wevt, 1, 2, user_items, 1, 1, user_names);
	end_list(wevt, WIRE_WEVT_TEMPLATES);
}

/* The key of the control GUID is one that nobody knows, until a test gives it its own. */
static void add_traits(struct made_wevt *wevt)
{
	const struct wire_wevt_trait entries[] = {
		{.key = le32_of(WIRE_WEVT_TRAIT_NAME)},
		{.key = le32_of(0x2000000f)},
		{.key = le32_of(WIRE_WEVT_TRAIT_GROUP_GUID)},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_TRAITS, "PRVA", entries);
	uint8_t guid[16];

	wevt->traits = at;
	made_wevt_set32(wevt, at + 4, add_text(wevt, "Some-Provider"));
	pad(wevt);
	etw_guid_write(guid, &made_wevt_control_guid);
	made_wevt_set32(wevt, at + 12, append(wevt, guid, sizeof(guid)));
	etw_guid_write(guid, &made_wevt_group_guid);
	made_wevt_set32(wevt, at + 20, append(wevt, guid, sizeof(guid)));
	end_list(wevt, WIRE_WEVT_TRAITS);
}

static void add_opcodes(struct made_wevt *wevt)
{
	const struct wire_wevt_opcode entries[] = {
		{.value = le16_of(1), .message = le32_of(0x30000001)},
		{.task = le16_of(7), .value = le16_of(20), .message = le32_of(NONE)},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_OPCODES, "OPCO", entries);

	add_name(wevt, at + offsetof(struct wire_wevt_opcode, name), "win:Start");
	add_name(wevt, at + sizeof(entries[0]) + offsetof(struct wire_wevt_opcode, name), "Own");
	end_list(wevt, WIRE_WEVT_OPCODES);
}

static void add_levels_and_tasks(struct made_wevt *wevt)
{
	const struct wire_wevt_level levels[] = {
		{.value = le32_of(2), .message = le32_of(0x50000002)},
	};
	struct wire_wevt_task tasks[] = {
		{.value = le32_of(7), .message = le32_of(0x70000007)},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_LEVELS, "LEVL", levels);

	add_name(wevt, at + offsetof(struct wire_wevt_level, name), "win:Error");
	end_list(wevt, WIRE_WEVT_LEVELS);
	etw_guid_write(tasks[0].event_guid, &made_wevt_task_guid);
	at = BEGIN_LIST(wevt, WIRE_WEVT_TASKS, "TASK", tasks);
	add_name(wevt, at + offsetof(struct wire_wevt_task, name), "Task");
	end_list(wevt, WIRE_WEVT_TASKS);
}

static void add_keywords(struct made_wevt *wevt)
{
	const struct wire_wevt_keyword entries[] = {
		{.mask = le64_of(1), .message = le32_of(0x10000001)},
		{.mask = le64_of(2), .message = le32_of(NONE)},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_KEYWORDS, "KEYW", entries);

	add_name(wevt, at + offsetof(struct wire_wevt_keyword, name), "One");
	add_name(wevt, at + sizeof(entries[0]) + offsetof(struct wire_wevt_keyword, name), "Two");
	end_list(wevt, WIRE_WEVT_KEYWORDS);
}

static le32 entry_of(const struct made_wevt *wevt, enum wire_wevt_kind kind, size_t skip)
{
	return le32_of((uint32_t)(wevt->lists[kind] + sizeof(struct wire_wevt_list) + skip));
}

static void add_events(struct made_wevt *wevt)
{
	const struct wire_wevt_event entries[] = {
		{
			.id = le16_of(1),
			.channel = 16,
			.level = 2,
			.opcode = 20,
			.task = le16_of(7),
			.keyword = le64_of(UINT64_C(0x8000000000000003)),
			.message = le32_of(0xb0000001),
			.template = le32_of(wevt->templates[0]),
			.opcode_entry = entry_of(wevt, WIRE_WEVT_OPCODES, 12),
			.level_entry = entry_of(wevt, WIRE_WEVT_LEVELS, 0),
			.task_entry = entry_of(wevt, WIRE_WEVT_TASKS, 0),
			.keyword_count = le32_of(2),
			.channel_entry = entry_of(wevt, WIRE_WEVT_CHANNELS, 0),
		},
		{
			.id = le16_of(2),
			.version = 1,
			.channel = 11,
			.message = le32_of(NONE),
			.template = le32_of(wevt->templates[1]),
			.channel_entry = entry_of(wevt, WIRE_WEVT_CHANNELS, 32),
		},
		{
			.id = le16_of(3),
			.message = le32_of(0xb0000003),
			.template = le32_of(wevt->templates[1]),
		},
	};

	wevt->bytes = ALIGN_UP(wevt->bytes, 8);
	wevt->events = BEGIN_LONG_LIST(wevt, WIRE_WEVT_EVENTS, "EVNT", entries);
	wevt->keywords = append(wevt, NULL, 2 * sizeof(le32));
	for (size_t i = 0; i < 2; i++)
		made_wevt_set32(wevt, wevt->keywords + i * sizeof(le32),
				le32_get(entry_of(wevt, WIRE_WEVT_KEYWORDS, 16 * i)));
	made_wevt_set32(wevt, wevt->events + offsetof(struct wire_wevt_event, keywords),
			wevt->keywords);
	end_list(wevt, WIRE_WEVT_EVENTS);
}

/* The last one is of an event that there is not. */
static void add_attributes(struct made_wevt *wevt)
{
	static const char *const texts[] = {"EventName", "A=1", "B=2", "C=3"};
	const struct wire_wevt_attribute entries[] = {
		{.key = WIRE_WEVT_ATTRIBUTE_NAME, .id = le16_of(1)},
		{.key = WIRE_WEVT_ATTRIBUTE_VALUE, .id = le16_of(1)},
		{.key = WIRE_WEVT_ATTRIBUTE_VALUE, .id = le16_of(1)},
		{.key = WIRE_WEVT_ATTRIBUTE_VALUE, .id = le16_of(99)},
	};
	uint32_t at = BEGIN_LIST(wevt, WIRE_WEVT_ATTRIBUTES, "EVTA", entries);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		made_wevt_set32(wevt, at + i * sizeof(entries[0]) + 4, add_text(wevt, texts[i]));
	end_list(wevt, WIRE_WEVT_ATTRIBUTES);
}

static void add_filters(struct made_wevt *wevt)
{
	const struct wire_wevt_filter entries[] = {
		{.value = 3,
		 .version = 1,
		 .message = le32_of(0x50800103),
		 .template = le32_of(wevt->templates[1])},
		{.value = 4, .message = le32_of(NONE)},
	};
	uint32_t at = BEGIN_LONG_LIST(wevt, WIRE_WEVT_FILTERS, "FLTR", entries);

	add_name(wevt, at + offsetof(struct wire_wevt_filter, name), "Filter");
	add_name(wevt, at + sizeof(entries[0]) + offsetof(struct wire_wevt_filter, name), "Plain");
	end_list(wevt, WIRE_WEVT_FILTERS);
}

static void add_lists(struct made_wevt *wevt, uint16_t major)
{
	add_channels(wevt);
	add_maps(wevt);
	add_queries(wevt);
	add_templates(wevt);
	if (major > WIRE_WEVT_MAJOR_MIN)
		add_traits(wevt);
	add_opcodes(wevt);
	add_levels_and_tasks(wevt);
	add_keywords(wevt);
	add_events(wevt);
	if (major > WIRE_WEVT_MAJOR_MIN)
		add_attributes(wevt);
	add_filters(wevt);
}

void made_wevt_init(struct made_wevt *wevt, uint16_t major)
{
	/* Older compilers always leave room for eleven lists. */
	uint32_t room = major > WIRE_WEVT_MAJOR_MIN ? 12 : 11;
	struct wire_wevt_head head = {.magic = {'C', 'R', 'I', 'M'},
				      .major = le16_of(major),
				      .minor = le16_of(1),
				      .provider_count = le32_of(1)};
	struct wire_wevt_provider_entry entry = {.offset = le32_of(sizeof(head) + sizeof(entry))};
	struct wire_wevt_provider provider = {.magic = {'W', 'E', 'V', 'T'},
					      .message = le32_of(0x90000001)};
	uint32_t slots, count = 0;

	memset(wevt, 0, sizeof(*wevt));
	etw_guid_write(entry.guid, &made_wevt_guid);
	(void)append(wevt, &head, sizeof(head));
	(void)append(wevt, &entry, sizeof(entry));
	wevt->provider = append(wevt, &provider, sizeof(provider));
	slots = append(wevt, NULL, room * sizeof(struct wire_wevt_list_entry));
	add_lists(wevt, major);
	for (uint32_t kind = 0; kind < WIRE_WEVT_KINDS; kind++) {
		if (!wevt->lists[kind])
			continue;
		made_wevt_set32(wevt, slots + 8 * count, kind);
		made_wevt_set32(wevt, slots + 8 * count + 4, wevt->lists[kind]);
		count++;
	}
	made_wevt_set32(wevt, wevt->provider + offsetof(struct wire_wevt_provider, list_count),
			count);
	made_wevt_set32(wevt, wevt->provider + offsetof(struct wire_wevt_provider, bytes),
			(uint32_t)wevt->bytes - wevt->provider);
	made_wevt_set32(wevt, offsetof(struct wire_wevt_head, bytes), (uint32_t)wevt->bytes);
	(void)append(wevt, NULL, 2);
}
