/* SPDX-License-Identifier: MIT */
/* A whole provider as the model has it. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/known/known_internal.h"
#include "schema/known/known_schema.h"
#include "schema/known/known_schema_internal.h"

static int make_named(struct known_maker *maker, enum wire_known_list list,
		      const struct etw_named **ret, size_t *ret_count)
{
	size_t count = maker->provider->named_counts[list];
	struct etw_named *names = etw_arena_array(maker->arena, count, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct etw_known_named named;

		TRY(etw_known_named_at(maker->known, maker->provider, list, i, &named));
		names[i].value = named.value;
		names[i].name = named.name;
	}
	*ret = names;
	*ret_count = count;
	return 0;
}

static int make_tasks(struct known_maker *maker, struct etw_provider_schema *schema)
{
	size_t count = maker->provider->named_counts[WIRE_KNOWN_TASKS];
	struct etw_task *tasks = etw_arena_array(maker->arena, count, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct etw_known_named named;

		TRY(etw_known_named_at(maker->known, maker->provider, WIRE_KNOWN_TASKS, i, &named));
		tasks[i].named = (struct etw_named){.value = named.value, .name = named.name};
	}
	schema->tasks = tasks;
	schema->task_count = count;
	return 0;
}

static int make_opcodes(struct known_maker *maker, struct etw_provider_schema *schema)
{
	size_t count = maker->provider->named_counts[WIRE_KNOWN_OPCODES];
	struct etw_opcode *opcodes = etw_arena_array(maker->arena, count, sizeof(*opcodes));

	if (!opcodes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct etw_known_named named;

		TRY(etw_known_named_at(maker->known, maker->provider, WIRE_KNOWN_OPCODES, i,
				       &named));
		opcodes[i].named = (struct etw_named){.value = named.value, .name = named.name};
		opcodes[i].task = named.task;
		opcodes[i].is_task_given = named.has_task && named.task;
	}
	schema->opcodes = opcodes;
	schema->opcode_count = count;
	return 0;
}

static int make_channels(struct known_maker *maker, struct etw_provider_schema *schema)
{
	size_t count = maker->provider->named_counts[WIRE_KNOWN_CHANNELS];
	struct etw_channel *channels = etw_arena_array(maker->arena, count, sizeof(*channels));

	if (!channels)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct etw_known_named named;

		TRY(etw_known_named_at(maker->known, maker->provider, WIRE_KNOWN_CHANNELS, i,
				       &named));
		channels[i].named = (struct etw_named){.value = named.value, .name = named.name};
		channels[i].type = ETW_CHANNEL_TYPE_UNKNOWN;
		channels[i].is_imported = named.value < 16;
	}
	schema->channels = channels;
	schema->channel_count = count;
	return 0;
}

static int make_maps(struct known_maker *maker, struct etw_provider_schema *schema)
{
	size_t count = maker->provider->map_count;
	const struct etw_map *map;

	if (count > etw_known_count(maker->known, WIRE_KNOWN_MAPS))
		return etw_known_damaged(maker->known, maker->known->bytes.at, "provider",
					 "map_count", "its maps lie outside the index");
	for (size_t i = 0; i < count; i++)
		TRY(etw_known_make_map(maker, maker->provider->first_map + (uint32_t)i, &map));
	schema->maps = maker->maps;
	schema->map_count = count;
	return 0;
}

/* Of several layouts that of the build; else the first one, which is the newest. */
static int choose_layout(struct known_maker *maker, const struct etw_known_event *event,
			 uint32_t build, struct etw_known_layout *ret)
{
	struct etw_known_layout layout;

	TRY(etw_known_layout_at(maker->known, event, 0, ret));
	for (size_t i = 0; build && i < event->layout_count; i++) {
		TRY(etw_known_layout_at(maker->known, event, i, &layout));
		if (!etw_known_has_build(layout.builds, build))
			continue;
		*ret = layout;
		return 0;
	}
	return 0;
}

static int make_events(struct known_maker *maker, uint32_t build,
		       struct etw_provider_schema *schema)
{
	size_t count = maker->provider->event_count;

	if (count > etw_known_count(maker->known, WIRE_KNOWN_EVENTS))
		return etw_known_damaged(maker->known, maker->known->bytes.at, "provider",
					 "event_count", "its events lie outside the index");
	schema->schemas = etw_arena_array(maker->arena, count, sizeof(*schema->schemas));
	if (!schema->schemas)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct etw_known_event event;
		struct etw_known_layout layout;

		TRY(etw_known_event_at(maker->known, maker->provider, i, &event));
		TRY(choose_layout(maker, &event, build, &layout));
		TRY(etw_known_make_event(maker, &event, &layout, &schema->schemas[i]));
		schema->schemas[i].owner = schema;
		schema->schema_count++;
	}
	return 0;
}

int etw_known_provider_schema(struct etw_known *known, const struct etw_known_provider *provider,
			      uint32_t build, unsigned flags, struct etw_arena *arena,
			      struct etw_provider_schema **ret)
{
	struct known_maker maker = {.known = known, .arena = arena, .provider = provider};
	struct etw_provider_schema *schema = etw_arena_alloc(arena, sizeof(*schema));

	if (!schema)
		return -ENOMEM;
	schema->guid = provider->guid;
	schema->source = DecodingSourceXMLFile;
	schema->name = provider->name;
	TRY(make_named(&maker, WIRE_KNOWN_KEYWORDS, &schema->keywords, &schema->keyword_count));
	TRY(make_named(&maker, WIRE_KNOWN_LEVELS, &schema->levels, &schema->level_count));
	TRY(make_tasks(&maker, schema));
	TRY(make_opcodes(&maker, schema));
	TRY(make_channels(&maker, schema));
	TRY(make_maps(&maker, schema));
	TRY(make_events(&maker, build, schema));
	if (flags & ETW_KNOWN_COMPLETE_NAMES)
		TRY(etw_known_complete_names(arena, schema));
	*ret = schema;
	return 0;
}
