/* SPDX-License-Identifier: MIT */
/*
 * Reads every genuine WEVT_TEMPLATE resource and message table of the test data, by itself or in a PE file,
 * and compares what was read with what the manifest that it was made of says: providers, names, maps,
 * filters, events and fields, text by text. Usage: test_wevt DATA_DIR; $ETW_TEST_DATA goes first.
 * Exit 77: no data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "schema/compiled/binary.h"
#include "schema/compiled/binary_file.h"
#include "schema/manifest/manifest.h"
#include "schema/types.h"

struct pair {
	const char *resource;
	const char *messages; /* NULL: in the file itself, or none */
	const char *manifest; /* NULL: not known */
	size_t providers, events, fields;
};

/* Counted with another reader. */
static const struct pair pairs[] = {
	{"mc/Empty.wevt.v3.bin", NULL, "mc/Empty.man", 0, 0, 0},
	{"mc/Empty.wevt.v5.bin", NULL, "mc/Empty.man", 0, 0, 0},
	{"mc/EventAttributes.wevt.v5.bin", "mc/EventAttributes.msg.bin", "mc/EventAttributes.man",
	 1, 7, 0},
	{"mc/ImportChannels.wevt.v3.bin", "mc/ImportChannels.msg.bin", "mc/ImportChannels.man", 1,
	 6, 0},
	{"mc/ImportChannels.wevt.v5.bin", "mc/ImportChannels.msg.bin", "mc/ImportChannels.man", 1,
	 6, 0},
	{"mc/Large.wevt.v5.bin", "mc/Large.msg.bin", "mc/Large.man", 4, 12, 286},
	{"mc/ProviderTraits.wevt.v5.bin", "mc/ProviderTraits.msg.bin", "mc/ProviderTraits.man", 3,
	 3, 0},
	{"mc/TaskOpcodes.wevt.v3.bin", "mc/TaskOpcodes.msg.bin", "mc/TaskOpcodes.man", 1, 2, 0},
	{"mc/TaskOpcodes.wevt.v5.bin", "mc/TaskOpcodes.msg.bin", "mc/TaskOpcodes.man", 1, 2, 0},
	{"wevt/etwprof-MBTEMP.BIN", "wevt/etwprof-MSG00001.bin", "wevt/etwprof-MB.man", 2, 6, 18},
	{"wevt/wrc-test-wevt_template.dll", NULL, NULL, 1, 1, 2},
};

static int failures;
static size_t compared;

static void fail(const char *path, const char *what, const char *name)
{
	(void)fprintf(stderr, "%s: %s of %s differ\n", path, what, name ? name : "?");
	failures++;
}

static bool is_same_text(const char *left, const char *right)
{
	return left == right || (left && right && strcmp(left, right) == 0);
}

static void check_text(const char *path, const char *what, const char *name, const char *own,
		       const char *manifest)
{
	compared++;
	if (is_same_text(own, manifest))
		return;
	(void)fprintf(stderr, "%s: the %s of %s is \"%s\", by the manifest \"%s\"\n", path, what,
		      name ? name : "?", own ? own : "(none)", manifest ? manifest : "(none)");
	failures++;
}

static void check_number(const char *path, const char *what, const char *name, uint64_t own,
			 uint64_t manifest)
{
	compared++;
	if (own == manifest)
		return;
	(void)fprintf(stderr, "%s: the %s of %s is %llu, by the manifest %llu\n", path, what,
		      name ? name : "?", (unsigned long long)own, (unsigned long long)manifest);
	failures++;
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

		compared++;
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
	check_number(path, "number of channels", own->name, own->channel_count,
		     manifest->channel_count);
	for (size_t i = 0; i < own->channel_count && i < manifest->channel_count; i++) {
		const struct etw_channel *left = &own->channels[i], *right = &manifest->channels[i];

		check_text(path, "name", "a channel", left->named.name, right->named.name);
		check_number(path, "number", left->named.name, left->named.value,
			     right->named.value);
		check_number(path, "keyword", left->named.name, left->keyword, right->keyword);
		check_number(path, "import", left->named.name, left->is_imported,
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
	check_number(path, "number of maps", own->name, own->map_count, manifest->map_count);
	for (size_t i = 0; i < own->map_count; i++) {
		const struct etw_map *left = &own->maps[i];
		const struct etw_map *right = find_map(manifest, left->name);

		if (!right) {
			fail(path, "maps", left->name);
			continue;
		}
		check_number(path, "flags", left->name, left->flags, right->flags);
		check_number(path, "number of entries", left->name, left->count, right->count);
		for (uint32_t j = 0; j < left->count; j++)
			check_text(path, "map entry", left->name, left->entries[j].text,
				   find_entry(right, left->entries[j].value));
	}
}

static void compare_patterns(const char *path, const struct etw_provider_schema *own,
			     const struct etw_provider_schema *manifest)
{
	check_number(path, "number of pattern maps", own->name, own->pattern_map_count,
		     manifest->pattern_map_count);
	for (size_t i = 0; i < own->pattern_map_count && i < manifest->pattern_map_count; i++) {
		const struct etw_pattern_map *left = &own->pattern_maps[i];
		const struct etw_pattern_map *right = &manifest->pattern_maps[i];

		check_text(path, "name", "a pattern map", left->name, right->name);
		check_text(path, "format", left->name, left->format, right->format);
		check_number(path, "number of patterns", left->name, left->count, right->count);
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
	check_number(path, "number of fields", name, own_count, count);
	for (uint16_t i = 0; i < own_count && i < count; i++) {
		const struct etw_field *left = &own[i], *right = &manifest[i];

		check_text(path, "name", name, left->name, right->name);
		check_text(path, "map", left->name, left->map_name, right->map_name);
		check_number(path, "flags", left->name, left->flags, right->flags);
		check_number(path, "in-type", left->name, left->in_type, right->in_type);
		check_number(path, "out-type", left->name, left->out_type, right->out_type);
		check_number(path, "count", left->name, left->count, right->count);
		check_number(path, "length", left->name, left->length, right->length);
		check_number(path, "members", left->name, left->struct_first, right->struct_first);
		check_number(path, "members", left->name, left->struct_count, right->struct_count);
	}
}

static void compare_filters(const char *path, const struct etw_provider_schema *own,
			    const struct etw_provider_schema *manifest)
{
	check_number(path, "number of filters", own->name, own->filter_count,
		     manifest->filter_count);
	for (size_t i = 0; i < own->filter_count && i < manifest->filter_count; i++) {
		const struct etw_filter_schema *left = &own->filters[i];
		const struct etw_filter_schema *right = &manifest->filters[i];

		check_text(path, "name", "a filter", left->name, right->name);
		check_text(path, "message", left->name, left->message, right->message);
		check_number(path, "value", left->name, left->value, right->value);
		check_number(path, "version", left->name, left->version, right->version);
		check_number(path, "top-level fields", left->name, left->top_count,
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
	check_number(path, "source", name, own->source, manifest->source);
	check_number(path, "template flags", name, own->template_flags, manifest->template_flags);
	check_text(path, "level", name, own->level_name, manifest->level_name);
	check_text(path, "task", name, own->task_name, manifest->task_name);
	check_text(path, "opcode", name, own->opcode_name, manifest->opcode_name);
	check_text(path, "channel", name, own->channel_name, manifest->channel_name);
	check_text(path, "keywords", name, own->keywords, manifest->keywords);
	check_text(path, "message", name, own->message, manifest->message);
	check_text(path, "name", name, own->event_name, manifest->event_name);
	check_text(path, "attributes", name, own->attributes, manifest->attributes);
	check_number(path, "top-level fields", name, own->top_count, manifest->top_count);
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
	check_number(path, "number of events", manifest->name, own->schema_count,
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

static bool read_file(const char *path, struct etw_text *ret)
{
	FILE *stream = fopen(path, "rb");
	char *to;
	size_t got = 1;

	if (!stream)
		return false;
	while (got && (to = etw_text_begin(ret, 65536))) {
		got = fread(to, 1, 65536, stream);
		etw_text_end(ret, to + got);
	}
	(void)fclose(stream);
	return !etw_text_error(ret);
}

static void compare_with_manifest(const char *path, const char *manifest_path,
				  const struct etw_definition *own)
{
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct etw_definition *manifest;
	struct etw_fault fault = {0};

	if (!read_file(manifest_path, &text) ||
	    etw_manifest_parse(&arena, etw_text_string(&text), text.bytes, &manifest, &fault) < 0) {
		fail(manifest_path, fault.sentence ? fault.sentence : "bytes", NULL);
		return;
	}
	check_number(path, "number of providers", manifest_path, own->provider_count,
		     manifest->provider_count);
	for (size_t i = 0; i < own->provider_count && i < manifest->provider_count; i++)
		compare_provider(path, &own->providers[i], &manifest->providers[i]);
}

static size_t count_fields(const struct etw_definition *definition)
{
	size_t count = 0;

	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++)
			count += provider->schemas[j].field_count;
	}
	return count;
}

static void check_pair(const char *directory, const struct pair *pair)
{
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	char path[4096], messages[4096], manifest[4096];
	struct etw_definition *definition;
	struct etw_fault fault = {0};
	int r;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, pair->resource);
	(void)snprintf(messages, sizeof(messages), "%s/%s", directory,
		       pair->messages ? pair->messages : "");
	(void)snprintf(manifest, sizeof(manifest), "%s/%s", directory,
		       pair->manifest ? pair->manifest : "");
	r = etw_binary_read(&arena, path, pair->messages ? messages : NULL, NULL, &definition,
			    &fault);
	if (r < 0) {
		(void)fprintf(stderr, "%s: %s (%s)\n", path, strerror(-r),
			      fault.sentence ? fault.sentence : "");
		failures++;
		return;
	}
	printf("%-40s %zu providers %2zu events %3zu fields\n", pair->resource,
	       definition->provider_count, definition->schema_count, count_fields(definition));
	check_number(path, "number of providers", "it", definition->provider_count,
		     pair->providers);
	check_number(path, "number of events", "it", definition->schema_count, pair->events);
	check_number(path, "number of fields", "it", count_fields(definition), pair->fields);
	if (pair->manifest)
		compare_with_manifest(path, manifest, definition);
}

int main(int argc, char **argv)
{
	const char *directory = getenv("ETW_TEST_DATA");
	char path[4096];
	struct stat info;

	if (!directory)
		directory = argc > 1 ? argv[1] : "../shared/data";
	(void)snprintf(path, sizeof(path), "%s/wevt", directory);
	if (stat(path, &info) < 0) {
		printf("skipped: no WEVT_TEMPLATE resources in %s (set ETW_TEST_DATA)\n",
		       directory);
		return 77;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		check_pair(directory, &pairs[i]);
	printf("%zu facts compared, %d failures\n", compared, failures);
	return failures ? 1 : 0;
}
