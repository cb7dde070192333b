/* SPDX-License-Identifier: MIT */
/* Providers and event types as the model has them. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/mof/mof_internal.h"

static uint8_t find_version(const struct mof_reader *reader, const struct mof_class *class)
{
	const struct mof_qualifier *version = etw_mof_version_qualifier(class);
	const struct mof_event *event = etw_mof_find_event(reader, class);
	uint64_t number;

	if (version && version->value_count == 1 &&
	    etw_mof_number(version->values, UINT8_MAX, &number))
		return (uint8_t)number;
	/* The latest version is the one that needs no EventVersion. */
	if (!event->is_versioned)
		return 0;
	return event->last_version == UINT8_MAX ? UINT8_MAX : event->last_version + 1;
}

/* Kept once, however many event types show it: a long one would grow without bound. */
static int find_task_name(struct mof_reader *reader, struct mof_class *event, const char **ret)
{
	const char *name = etw_mof_text(event->qualifiers, "DisplayName");

	if (!event->task_name)
		TRY(etw_mof_keep(reader, name ? name : event->name, &event->task_name));
	*ret = event->task_name;
	return 0;
}

/* What the schemas of one class share. */
static int read_common(struct mof_reader *reader, const struct mof_class *class,
		       const struct etw_provider_schema *provider, struct etw_schema *schema)
{
	*schema = (struct etw_schema){
		.provider = provider->guid,
		.event_guid = class->guid,
		.descriptor = {.Version = find_version(reader, class)},
		.source = DecodingSourceWbem,
		.provider_name = provider->name,
		.activity_id_name = class->activity_id_name,
		.related_activity_id_name = class->related_activity_id_name,
		.owner = provider,
		.field_count = class->field_count,
		.top_count = class->field_count,
		.fields = class->fields,
	};
	TRY(find_task_name(reader, class->event, &schema->task_name));
	TRY(etw_mof_keep(reader, class->name, &schema->symbol));
	return etw_mof_keep(reader, etw_mof_text(class->qualifiers, "Description"),
			    &schema->message);
}

static int make_schemas(struct mof_reader *reader, const struct mof_class *class,
			struct etw_provider_schema *provider)
{
	const struct mof_qualifier *types = etw_mof_qualifier(class->qualifiers, "EventType");
	const struct mof_qualifier *names = etw_mof_qualifier(class->qualifiers, "EventTypeName");
	const struct mof_value *name = names && etw_mof_is_strings(names) ? names->values : NULL;
	struct etw_schema common;

	TRY(read_common(reader, class, provider, &common));
	for (const struct mof_value *value = types->values; value; value = value->next) {
		struct etw_schema *schema = &provider->schemas[provider->schema_count++];
		uint64_t opcode = 0;

		(void)etw_mof_number(value, UINT8_MAX, &opcode);
		*schema = common;
		schema->descriptor.Opcode = (uint8_t)opcode;
		if (name)
			TRY(etw_mof_keep(reader, name->text, &schema->opcode_name));
		name = name ? name->next : NULL;
	}
	return 0;
}

static int make_tasks(struct mof_reader *reader, const struct mof_provider *from,
		      struct etw_provider_schema *provider)
{
	struct etw_task *tasks = etw_arena_array(reader->arena, from->event_count, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	provider->tasks = tasks;
	for (const struct mof_event *event = from->first_event; event; event = event->next) {
		struct etw_task *task = &tasks[provider->task_count++];

		task->event_guid = event->class->guid;
		TRY(find_task_name(reader, event->class, &task->named.name));
		TRY(etw_mof_keep(reader, etw_mof_text(event->class->qualifiers, "Description"),
				 &task->named.message));
	}
	return 0;
}

static int make_maps(struct mof_reader *reader, const struct mof_provider *from,
		     struct etw_provider_schema *provider)
{
	struct etw_map *maps = etw_arena_array(reader->arena, from->map_count, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	provider->maps = maps;
	for (const struct mof_map *map = from->first_map; map; map = map->next)
		maps[provider->map_count++] = *map->map;
	return 0;
}

/* Their names are known in this spelling only. */
static int make_names(struct mof_reader *reader, const struct mof_provider *from,
		      struct etw_provider_schema *provider)
{
	bool has_flags = false;
	bool has_level = false;

	reader->current = from->class;
	for (const struct mof_property *property = from->class->properties; property;
	     property = property->next) {
		if (!has_flags && strcmp(property->name, "Flags") == 0) {
			has_flags = true;
			TRY(etw_mof_named(reader, property, UINT64_MAX, &provider->keywords,
					  &provider->keyword_count));
		} else if (!has_level && strcmp(property->name, "Level") == 0) {
			has_level = true;
			TRY(etw_mof_named(reader, property, UINT8_MAX, &provider->levels,
					  &provider->level_count));
		}
	}
	return 0;
}

static int make_provider(struct mof_reader *reader, const struct mof_provider *from,
			 struct etw_provider_schema *provider)
{
	const struct mof_class *class = from->class;

	provider->guid = class->guid;
	provider->source = DecodingSourceWbem;
	TRY(etw_mof_keep(reader, class->name, &provider->name));
	TRY(etw_mof_keep(reader, etw_mof_text(class->qualifiers, "Description"),
			 &provider->message));
	TRY(make_names(reader, from, provider));
	TRY(make_tasks(reader, from, provider));
	TRY(make_maps(reader, from, provider));
	provider->schemas = etw_arena_array(reader->arena, from->schema_count,
					    sizeof(*provider->schemas));
	if (!provider->schemas)
		return -ENOMEM;
	for (const struct mof_class *type = from->first_type; type; type = type->next_type)
		TRY(make_schemas(reader, type, provider));
	return 0;
}

int etw_mof_make_definition(struct mof_reader *reader)
{
	struct etw_definition *definition = reader->definition;

	definition->providers = etw_arena_array(reader->arena, reader->provider_count,
						sizeof(*definition->providers));
	if (!definition->providers)
		return -ENOMEM;
	for (const struct mof_provider *from = reader->first_provider; from; from = from->next) {
		struct etw_provider_schema *provider =
			&definition->providers[definition->provider_count++];

		TRY(make_provider(reader, from, provider));
		definition->schema_count += provider->schema_count;
	}
	return 0;
}
