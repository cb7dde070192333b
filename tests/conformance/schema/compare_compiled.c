/* SPDX-License-Identifier: MIT */
#include "conformance/schema/compare_compiled.h"

#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest/manifest.h"
#include "schema/types.h"

int compiled_failures;
size_t compiled_compared;

static void fail(const char *path, const char *what, const char *name)
{
	(void)fprintf(stderr, "%s: %s of %s differ\n", path, what, name ? name : "?");
	compiled_failures++;
}

static bool is_same_text(const char *left, const char *right)
{
	return left == right || (left && right && strcmp(left, right) == 0);
}

static void check_text(const char *path, const char *what, const char *name, const char *own,
		       const char *manifest)
{
	compiled_compared++;
	if (is_same_text(own, manifest))
		return;
	(void)fprintf(stderr, "%s: the %s of %s is \"%s\", by the manifest \"%s\"\n", path, what,
		      name ? name : "?", own ? own : "(none)", manifest ? manifest : "(none)");
	compiled_failures++;
}

void compiled_check_number(const char *path, const char *what, const char *name, uint64_t own,
			   uint64_t manifest)
{
	compiled_compared++;
	if (own == manifest)
		return;
	(void)fprintf(stderr, "%s: the %s of %s is %llu, by the manifest %llu\n", path, what,
		      name ? name : "?", (unsigned long long)own, (unsigned long long)manifest);
	compiled_failures++;
}

static bool is_winmeta(const char *name)
{
	return name && strncmp(name, "win:", 4) == 0;
}

/*
 * Lists of names have the number and the name in common, and are of several structs whose first member is
 * that. The compiler adds the names of winmeta that events use, and may leave out what none uses.
 */
struct names {
	const void *at;
	size_t count, item_bytes;
};

static const struct etw_named *name_at(const struct names *names, size_t index)
{
	return (const void *)((const char *)names->at + index * names->item_bytes);
}

static const struct etw_named *find_named(const struct names *names, const struct etw_named *wanted,
					  size_t from, size_t *ret_index)
{
	for (size_t i = from; i < names->count; i++) {
		if (name_at(names, i)->value == wanted->value &&
		    is_same_text(name_at(names, i)->name, wanted->name)) {
			*ret_index = i;
			return name_at(names, i);
		}
	}
	return NULL;
}

static void compare_names(const char *path, const char *what, struct names own,
			  struct names manifest)
{
	size_t index;

	for (size_t i = 0; i < own.count; i++) {
		const struct etw_named *name = name_at(&own, i);
		const struct etw_named *twin = find_named(&manifest, name, 0, &index);

		compiled_compared++;
		if (twin && !is_winmeta(name->name))
			check_text(path, "message", name->name, name->message, twin->message);
		else if (!twin && !is_winmeta(name->name))
			fail(path, what, name->name);
	}
	for (size_t i = 0; i < manifest.count; i++) {
		/* Only those levels are compiled that an event has. */
		if (strcmp(what, "levels") != 0 &&
		    !find_named(&own, name_at(&manifest, i), 0, &index))
			fail(path, what, name_at(&manifest, i)->name);
	}
}

#define NAMES(provider, list, count) \
	((struct names){(provider)->list, (provider)->count, sizeof(*(provider)->list)})

static void compare_tasks(const char *path, const struct etw_provider_schema *own,
			  const struct etw_provider_schema *manifest)
{
	for (size_t i = 0; i < own->task_count; i++) {
		for (size_t j = 0; j < manifest->task_count; j++) {
			const struct etw_task *left = &own->tasks[i], *right = &manifest->tasks[j];

			if (left->named.value == right->named.value &&
			    !etw_guid_equal(&left->event_guid, &right->event_guid))
				fail(path, "event GUIDs", left->named.name);
		}
	}
}

static bool has_opcode(const struct etw_provider_schema *provider, const struct etw_opcode *wanted)
{
	for (size_t i = 0; i < provider->opcode_count; i++) {
		const struct etw_opcode *opcode = &provider->opcodes[i];

		if (opcode->named.value == wanted->named.value && opcode->task == wanted->task &&
		    is_same_text(opcode->named.name, wanted->named.name) &&
		    is_same_text(opcode->named.message, wanted->named.message))
			return true;
	}
	return false;
}

static void compare_opcodes(const char *path, const struct etw_provider_schema *own,
			    const struct etw_provider_schema *manifest)
{
	for (size_t i = 0; i < own->opcode_count; i++) {
		if (!is_winmeta(own->opcodes[i].named.name) &&
		    !has_opcode(manifest, &own->opcodes[i]))
			fail(path, "opcodes", own->opcodes[i].named.name);
	}
	for (size_t i = 0; i < manifest->opcode_count; i++) {
		if (!is_winmeta(manifest->opcodes[i].named.name) &&
		    !has_opcode(own, &manifest->opcodes[i]))
			fail(path, "opcodes", manifest->opcodes[i].named.name);
	}
}

static void compare_channels(const char *path, const struct etw_provider_schema *own,
			     const struct etw_provider_schema *manifest)
{
	compiled_check_number(path, "number of channels", own->name, own->channel_count,
			      manifest->channel_count);
	for (size_t i = 0; i < own->channel_count && i < manifest->channel_count; i++) {
		const struct etw_channel *left = &own->channels[i], *right = &manifest->channels[i];

		check_text(path, "name", "a channel", left->named.name, right->named.name);
		compiled_check_number(path, "number", left->named.name, left->named.value,
				      right->named.value);
		compiled_check_number(path, "keyword", left->named.name, left->keyword,
				      right->keyword);
		compiled_check_number(path, "import", left->named.name, left->is_imported,
				      right->is_imported);
		if (!left->is_imported)
			check_text(path, "message", left->named.name, left->named.message,
				   right->named.message);
	}
}

static const struct etw_map *find_map(const struct etw_provider_schema *provider, const char *name)
{
	for (size_t i = 0; i < provider->map_count; i++) {
		if (is_same_text(provider->maps[i].name, name))
			return &provider->maps[i];
	}
	return NULL;
}

static const char *find_entry(const struct etw_map *map, uint32_t value)
{
	for (uint32_t i = 0; i < map->count; i++) {
		if (map->entries[i].value == value)
			return map->entries[i].text;
	}
	return NULL;
}

/* Maps and their entries are compiled in another order than the manifest has them. */
static void compare_maps(const char *path, const struct etw_provider_schema *own,
			 const struct etw_provider_schema *manifest)
{
	compiled_check_number(path, "number of maps", own->name, own->map_count,
			      manifest->map_count);
	for (size_t i = 0; i < own->map_count; i++) {
		const struct etw_map *left = &own->maps[i];
		const struct etw_map *right = find_map(manifest, left->name);

		if (!right) {
			fail(path, "maps", left->name);
			continue;
		}
		compiled_check_number(path, "flags", left->name, left->flags, right->flags);
		compiled_check_number(path, "number of entries", left->name, left->count,
				      right->count);
		for (uint32_t j = 0; j < left->count; j++)
			check_text(path, "map entry", left->name, left->entries[j].text,
				   find_entry(right, left->entries[j].value));
	}
}

static void compare_patterns(const char *path, const struct etw_provider_schema *own,
			     const struct etw_provider_schema *manifest)
{
	compiled_check_number(path, "number of pattern maps", own->name, own->pattern_map_count,
			      manifest->pattern_map_count);
	for (size_t i = 0; i < own->pattern_map_count && i < manifest->pattern_map_count; i++) {
		const struct etw_pattern_map *left = &own->pattern_maps[i];
		const struct etw_pattern_map *right = &manifest->pattern_maps[i];

		check_text(path, "name", "a pattern map", left->name, right->name);
		check_text(path, "format", left->name, left->format, right->format);
		compiled_check_number(path, "number of patterns", left->name, left->count,
				      right->count);
		for (uint32_t j = 0; j < left->count && j < right->count; j++) {
			check_text(path, "pattern", left->name, left->patterns[j].name,
				   right->patterns[j].name);
			check_text(path, "pattern", left->name, left->patterns[j].value,
				   right->patterns[j].value);
		}
	}
}

static void compare_fields(const char *path, const char *name, const struct etw_field *own,
			   uint16_t own_count, const struct etw_field *manifest, uint16_t count)
{
	compiled_check_number(path, "number of fields", name, own_count, count);
	for (uint16_t i = 0; i < own_count && i < count; i++) {
		const struct etw_field *left = &own[i], *right = &manifest[i];

		check_text(path, "name", name, left->name, right->name);
		check_text(path, "map", left->name, left->map_name, right->map_name);
		compiled_check_number(path, "flags", left->name, left->flags, right->flags);
		compiled_check_number(path, "in-type", left->name, left->in_type, right->in_type);
		compiled_check_number(path, "out-type", left->name, left->out_type,
				      right->out_type);
		compiled_check_number(path, "count", left->name, left->count, right->count);
		compiled_check_number(path, "length", left->name, left->length, right->length);
		compiled_check_number(path, "members", left->name, left->struct_first,
				      right->struct_first);
		compiled_check_number(path, "members", left->name, left->struct_count,
				      right->struct_count);
	}
}

static void compare_filters(const char *path, const struct etw_provider_schema *own,
			    const struct etw_provider_schema *manifest)
{
	compiled_check_number(path, "number of filters", own->name, own->filter_count,
			      manifest->filter_count);
	for (size_t i = 0; i < own->filter_count && i < manifest->filter_count; i++) {
		const struct etw_filter_schema *left = &own->filters[i];
		const struct etw_filter_schema *right = &manifest->filters[i];

		check_text(path, "name", "a filter", left->name, right->name);
		check_text(path, "message", left->name, left->message, right->message);
		compiled_check_number(path, "value", left->name, left->value, right->value);
		compiled_check_number(path, "version", left->name, left->version, right->version);
		compiled_check_number(path, "top-level fields", left->name, left->top_count,
				      right->top_count);
		compare_fields(path, left->name, left->fields, left->field_count, right->fields,
			       right->field_count);
	}
}

static const struct etw_schema *find_event(const struct etw_provider_schema *provider,
					   const EVENT_DESCRIPTOR *wanted)
{
	for (size_t i = 0; i < provider->schema_count; i++) {
		const EVENT_DESCRIPTOR *descriptor = &provider->schemas[i].descriptor;

		if (descriptor->Id == wanted->Id && descriptor->Version == wanted->Version)
			return &provider->schemas[i];
	}
	return NULL;
}

static void compare_event(const char *path, const struct etw_schema *own,
			  const struct etw_schema *manifest, bool has_name)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "event %u", own->descriptor.Id);
	if (memcmp(&own->descriptor, &manifest->descriptor, sizeof(own->descriptor)) != 0)
		fail(path, "descriptors", name);
	if (!etw_guid_equal(&own->event_guid, &manifest->event_guid))
		fail(path, "event GUIDs", name);
	if (has_name)
		check_text(path, "provider", name, own->provider_name, manifest->provider_name);
	compiled_check_number(path, "source", name, own->source, manifest->source);
	compiled_check_number(path, "template flags", name, own->template_flags,
			      manifest->template_flags);
	check_text(path, "level", name, own->level_name, manifest->level_name);
	check_text(path, "task", name, own->task_name, manifest->task_name);
	check_text(path, "opcode", name, own->opcode_name, manifest->opcode_name);
	check_text(path, "channel", name, own->channel_name, manifest->channel_name);
	check_text(path, "keywords", name, own->keywords, manifest->keywords);
	check_text(path, "message", name, own->message, manifest->message);
	check_text(path, "name", name, own->event_name, manifest->event_name);
	check_text(path, "attributes", name, own->attributes, manifest->attributes);
	compiled_check_number(path, "top-level fields", name, own->top_count, manifest->top_count);
	compare_fields(path, name, own->fields, own->field_count, manifest->fields,
		       manifest->field_count);
}

static void compare_provider(const char *path, const struct etw_provider_schema *own,
			     const struct etw_provider_schema *manifest)
{
	if (!etw_guid_equal(&own->guid, &manifest->guid) ||
	    !etw_guid_equal(&own->control_guid, &manifest->control_guid) ||
	    !etw_guid_equal(&own->group_guid, &manifest->group_guid))
		fail(path, "GUIDs", manifest->name);
	/* Older compilers do not write it. */
	if (own->name)
		check_text(path, "name", manifest->name, own->name, manifest->name);
	check_text(path, "message", manifest->name, own->message, manifest->message);
	compare_names(path, "levels", NAMES(own, levels, level_count),
		      NAMES(manifest, levels, level_count));
	compare_names(path, "tasks", NAMES(own, tasks, task_count),
		      NAMES(manifest, tasks, task_count));
	compare_names(path, "keywords", NAMES(own, keywords, keyword_count),
		      NAMES(manifest, keywords, keyword_count));
	compare_tasks(path, own, manifest);
	compare_opcodes(path, own, manifest);
	compare_channels(path, own, manifest);
	compare_maps(path, own, manifest);
	compare_patterns(path, own, manifest);
	compare_filters(path, own, manifest);
	compiled_check_number(path, "number of events", manifest->name, own->schema_count,
			      manifest->schema_count);
	for (size_t i = 0; i < own->schema_count; i++) {
		const struct etw_schema *twin = find_event(manifest, &own->schemas[i].descriptor);

		if (own->schemas[i].owner != own)
			fail(path, "owners", own->name);
		if (twin)
			compare_event(path, &own->schemas[i], twin, own->name != NULL);
		else
			fail(path, "events", manifest->name);
	}
}

void compiled_compare(const char *path, const struct etw_definition *own, const char *manifest_path,
		      const struct etw_text *text)
{
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	struct etw_definition *manifest;
	struct etw_fault fault = {0};

	if (etw_manifest_parse(&arena, etw_text_string(text), text->bytes, &manifest, &fault) < 0) {
		fail(manifest_path, fault.sentence ? fault.sentence : "bytes", NULL);
		return;
	}
	compiled_check_number(path, "number of providers", manifest_path, own->provider_count,
			      manifest->provider_count);
	for (size_t i = 0; i < own->provider_count && i < manifest->provider_count; i++)
		compare_provider(path, &own->providers[i], &manifest->providers[i]);
}
