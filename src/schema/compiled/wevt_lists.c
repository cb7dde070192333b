/* SPDX-License-Identifier: MIT */
/* The provider's own names: traits, channels, levels, tasks, opcodes and keywords. */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/compiled/wevt_internal.h"

static int read_guid(struct wevt_reader *reader, uint32_t offset, GUID *ret)
{
	const uint8_t *at;

	TRY(etw_wevt_take(reader, offset, sizeof(GUID), "PRVA", &at));
	*ret = etw_guid_read(at);
	return 0;
}

int etw_wevt_read_traits(struct wevt_reader *reader)
{
	struct etw_provider_schema *provider = reader->provider;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_TRAITS, "PRVA", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_trait), &list));
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_trait wire;
		uint32_t offset;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		offset = le32_get(wire.value);
		switch (offset ? le32_get(wire.key) : 0) {
		case WIRE_WEVT_TRAIT_NAME:
			TRY(etw_wevt_string(reader, offset, &provider->name));
			break;
		case WIRE_WEVT_TRAIT_CONTROL_GUID:
			TRY(read_guid(reader, offset, &provider->control_guid));
			break;
		case WIRE_WEVT_TRAIT_GROUP_GUID:
			TRY(read_guid(reader, offset, &provider->group_guid));
			break;
		default:
			break;
		}
	}
	return 0;
}

static int read_named(struct wevt_reader *reader, le32 name, le32 message, uint64_t value,
		      struct etw_named *ret)
{
	ret->value = value;
	TRY(etw_wevt_name(reader, le32_get(name), &ret->name));
	return etw_wevt_message(reader, le32_get(message), &ret->message);
}

static int read_levels(struct wevt_reader *reader)
{
	struct etw_named *levels;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_LEVELS, "LEVL", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_level), &list));
	levels = etw_arena_array(reader->arena, list.count, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_level wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		TRY(read_named(reader, wire.name, wire.message, le32_get(wire.value), &levels[i]));
	}
	reader->provider->levels = levels;
	reader->provider->level_count = list.count;
	return 0;
}

static int read_tasks(struct wevt_reader *reader)
{
	struct etw_task *tasks;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_TASKS, "TASK", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_task), &list));
	tasks = etw_arena_array(reader->arena, list.count, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_task wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		tasks[i].event_guid = etw_guid_read(wire.event_guid);
		TRY(read_named(reader, wire.name, wire.message, le32_get(wire.value),
			       &tasks[i].named));
	}
	reader->provider->tasks = tasks;
	reader->provider->task_count = list.count;
	return 0;
}

static int read_opcodes(struct wevt_reader *reader)
{
	struct etw_opcode *opcodes;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_OPCODES, "OPCO", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_opcode), &list));
	opcodes = etw_arena_array(reader->arena, list.count, sizeof(*opcodes));
	if (!opcodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_opcode wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		opcodes[i].task = le16_get(wire.task);
		opcodes[i].is_task_given = opcodes[i].task != 0;
		TRY(read_named(reader, wire.name, wire.message, le16_get(wire.value),
			       &opcodes[i].named));
	}
	reader->provider->opcodes = opcodes;
	reader->provider->opcode_count = list.count;
	return 0;
}

static int read_keywords(struct wevt_reader *reader)
{
	struct etw_named *keywords;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_KEYWORDS, "KEYW", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_keyword), &list));
	keywords = etw_arena_array(reader->arena, list.count, sizeof(*keywords));
	if (!keywords)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_keyword wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		TRY(read_named(reader, wire.name, wire.message, le64_get(wire.mask), &keywords[i]));
	}
	reader->provider->keywords = keywords;
	reader->provider->keyword_count = list.count;
	return 0;
}

/*
 * The bit of a channel is not in the list: the first eight have one, but for channels of winmeta that the
 * compiler has added at the end, because an event uses them. Such an event lacks the bit.
 */
static int drop_unused_keywords(struct wevt_reader *reader, struct etw_channel *channels,
				size_t count)
{
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_EVENTS, "EVNT",
			  sizeof(struct wire_wevt_list) + sizeof(le32),
			  sizeof(struct wire_wevt_event), &list));
	for (uint32_t i = 0; i < list.count; i++) {
		struct wire_wevt_event wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		for (size_t j = 0; j < count && j < ETW_CHANNEL_KEYWORDS_MAX; j++) {
			if (le32_get(wire.channel_entry) && channels[j].is_imported &&
			    channels[j].named.value == wire.channel &&
			    !(le64_get(wire.keyword) & channels[j].keyword))
				channels[j].keyword = 0;
		}
	}
	return 0;
}

static int read_channels(struct wevt_reader *reader)
{
	struct etw_channel *channels;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_CHANNELS, "CHAN", sizeof(struct wire_wevt_list),
			  sizeof(struct wire_wevt_channel), &list));
	channels = etw_arena_array(reader->arena, list.count, sizeof(*channels));
	if (!channels)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		struct etw_channel *channel = &channels[i];
		struct wire_wevt_channel wire;

		memcpy(&wire, list.at + i * sizeof(wire), sizeof(wire));
		TRY(read_named(reader, wire.name, wire.message, le32_get(wire.value),
			       &channel->named));
		channel->type = ETW_CHANNEL_TYPE_UNKNOWN;
		channel->is_imported = le32_get(wire.flags) & WIRE_WEVT_CHANNEL_IMPORTED;
		channel->keyword = etw_channel_keyword(i);
	}
	reader->provider->channels = channels;
	reader->provider->channel_count = list.count;
	return list.count ? drop_unused_keywords(reader, channels, list.count) : 0;
}

int etw_wevt_read_names(struct wevt_reader *reader)
{
	TRY(read_channels(reader));
	TRY(read_levels(reader));
	TRY(read_tasks(reader));
	TRY(read_opcodes(reader));
	return read_keywords(reader);
}
