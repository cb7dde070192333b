/* SPDX-License-Identifier: MIT */
/* Events as schemas. */
#include "schema/known/known_schema.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "schema/known/known_internal.h"
#include "schema/known/known_schema_internal.h"
#include "schema/types.h"

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

/* The name of a number; for opcodes the task's own one, else every task's. NULL where there is none. */
static int find_named(struct known_maker *maker, enum wire_known_list list, uint64_t value,
		      uint16_t task, const char **ret)
{
	struct etw_known_named named;

	*ret = NULL;
	for (size_t i = 0; i < maker->provider->named_counts[list]; i++) {
		TRY(etw_known_named_at(maker->known, maker->provider, list, i, &named));
		if (named.value != value)
			continue;
		if (named.has_task && named.task != task && named.task)
			continue;
		*ret = named.name;
		if (!named.has_task || named.task == task)
			return 0;
	}
	return 0;
}

static int find_channel(struct known_maker *maker, const char *name, uint8_t *ret)
{
	struct etw_known_named named;

	for (size_t i = 0; i < maker->provider->named_counts[WIRE_KNOWN_CHANNELS]; i++) {
		TRY(etw_known_named_at(maker->known, maker->provider, WIRE_KNOWN_CHANNELS, i,
				       &named));
		if (strcmp(named.name, name) == 0 && named.value <= UINT8_MAX) {
			*ret = (uint8_t)named.value;
			return 0;
		}
	}
	return 0;
}

/* Those whose masks the event has, then those of which only the names are known. */
static int join_keywords(struct known_maker *maker, const struct etw_known_event *event,
			 const char **ret)
{
	struct etw_known_named named;
	struct etw_text text;
	int r = 0;

	etw_text_init(&text);
	for (size_t i = 0;
	     event->keywords && i < maker->provider->named_counts[WIRE_KNOWN_KEYWORDS]; i++) {
		r = etw_known_named_at(maker->known, maker->provider, WIRE_KNOWN_KEYWORDS, i,
				       &named);
		if (r < 0)
			break;
		if (!named.value || (named.value & event->keywords) != named.value)
			continue;
		etw_text_puts(&text, text.bytes ? "; " : "");
		etw_text_puts(&text, named.name);
	}
	for (const char *at = event->keyword_names; !r && *at;) {
		size_t bytes = strcspn(at, "\n");

		etw_text_puts(&text, text.bytes ? "; " : "");
		etw_text_append(&text, at, bytes);
		at += bytes + (at[bytes] != '\0');
	}
	if (!r)
		r = etw_text_error(&text);
	if (!r && text.bytes) {
		*ret = etw_arena_strdup(maker->arena, etw_text_string(&text));
		r = *ret ? 0 : -ENOMEM;
	}
	etw_text_done(&text);
	return r;
}

static int find_names(struct known_maker *maker, const struct etw_known_event *event,
		      struct etw_schema *schema)
{
	EVENT_DESCRIPTOR *descriptor = &schema->descriptor;

	schema->task_name = or_null(event->task_name);
	schema->opcode_name = or_null(event->opcode_name);
	schema->channel_name = or_null(event->channel_name);
	if (event->task)
		TRY(find_named(maker, WIRE_KNOWN_TASKS, event->task, 0, &schema->task_name));
	if (event->opcode)
		TRY(find_named(maker, WIRE_KNOWN_OPCODES, event->opcode, event->task,
			       &schema->opcode_name));
	if (event->opcode && !schema->opcode_name)
		schema->opcode_name = etw_schema_opcode_name(event->opcode);
	if (event->level)
		TRY(find_named(maker, WIRE_KNOWN_LEVELS, event->level, 0, &schema->level_name));
	if (event->level && !schema->level_name)
		schema->level_name = etw_schema_level_name(event->level);
	if (schema->channel_name)
		TRY(find_channel(maker, schema->channel_name, &descriptor->Channel));
	else if (event->channel)
		TRY(find_named(maker, WIRE_KNOWN_CHANNELS, event->channel, 0,
			       &schema->channel_name));
	return join_keywords(maker, event, &schema->keywords);
}

int etw_known_make_event(struct known_maker *maker, const struct etw_known_event *event,
			 const struct etw_known_layout *layout, struct etw_schema *ret)
{
	struct etw_schema schema = {
		.provider = maker->provider->guid,
		.descriptor =
			{
				.Id = event->id,
				.Version = event->version,
				.Channel = event->channel,
				.Level = event->level,
				.Opcode = event->opcode,
				.Task = event->task,
				.Keyword = event->keywords,
			},
		.source = DecodingSourceXMLFile,
		.provider_name = maker->provider->name,
		.symbol = or_null(event->symbol),
	};

	TRY(find_names(maker, event, &schema));
	TRY(etw_known_make_fields(maker, layout->template, &schema));
	*ret = schema;
	return 0;
}

int etw_known_event_candidates(struct etw_known *known, const struct etw_known_provider *provider,
			       const struct etw_known_event *event, struct etw_arena *arena,
			       struct etw_known_candidate **ret, size_t *ret_count)
{
	struct known_maker maker = {.known = known, .arena = arena, .provider = provider};
	struct etw_known_candidate *candidates;
	struct etw_schema *schemas;

	candidates = etw_arena_array(arena, event->layout_count, sizeof(*candidates));
	schemas = etw_arena_array(arena, event->layout_count, sizeof(*schemas));
	if (!candidates || !schemas)
		return -ENOMEM;
	for (size_t i = 0; i < event->layout_count; i++) {
		struct etw_known_layout layout;

		TRY(etw_known_layout_at(known, event, i, &layout));
		TRY(etw_known_make_event(&maker, event, &layout, &schemas[i]));
		candidates[i] = (struct etw_known_candidate){&schemas[i], layout.builds,
							     layout.source, layout.marks};
	}
	*ret = candidates;
	*ret_count = event->layout_count;
	return 0;
}

int etw_known_candidates(struct etw_known *known, const GUID *provider_guid, uint16_t id,
			 uint8_t version, struct etw_arena *arena, struct etw_known_candidate **ret,
			 size_t *ret_count)
{
	struct etw_known_provider provider;
	struct etw_known_event event;

	TRY(etw_known_find(known, provider_guid, &provider));
	TRY(etw_known_event_find(known, &provider, id, version, &event));
	return etw_known_event_candidates(known, &provider, &event, arena, ret, ret_count);
}
