/* SPDX-License-Identifier: MIT */
/*
 * Reads every genuine manifest of the test data and compares: a few numbers with what another XML
 * reader counts; the manifests that come with the message compiler's output with that output, event by
 * event and field by field; and each model with what is read of it when it has been written. None may
 * get a complaint that it does not deserve.
 * Usage: test_manifests DATA_DIR; $ETW_TEST_DATA goes first. Exit 77: no data.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/compare.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_write.h"
#include "schema/types.h"

/* Layout of the WEVT_TEMPLATE resource as far as it is read here. */
#define EVENT_BYTES 48
#define ITEM_BYTES  20
#define KIND_EVENTS 4

struct expected {
	const char *file;
	size_t providers, events, fields;
};

/* Counted in the files with another XML reader. */
static const struct expected expected[] = {
	{"manifests/ClrEtwAll.man", 4, 384, 1409},
	{"manifests/tx-SystemEvents.man", 33, 450, 1475},
	{"manifests/tx-HTTP_Server.man", 1, 85, 284},
	{"manifests/chrome_events_win.man", 1, 1, 8},
	{"manifests/kcs.man", 0, 0, 0},
	{"manifests/perfview-gen-VersionedEvent.manifest.xml", 1, 2, 5},
	{"mc/Large.man", 4, 12, 286},
	{"mc/TaskOpcodes.man", 1, 2, 0},
};

/* Complaints that are deserved: this file keeps its maps outside of `maps`, where nobody looks. */
static const struct {
	const char *file;
	uint64_t line;
	const char *sentence;
} deserved[] = {
	{"perfview-gen-EnumTest.manifest.xml", 34, "the map of a field is not defined"},
	{"perfview-gen-EnumTest.manifest.xml", 35, "the map of a field is not defined"},
};

struct file {
	char path[PATH_MAX];
	char *at; /* owned */
	size_t bytes;
};

static int failures;

static void fail(const char *path, const char *text, uint64_t number)
{
	(void)fprintf(stderr, "%s: %s (%llu)\n", path, text, (unsigned long long)number);
	failures++;
}

static void close_file(struct file *file)
{
	free(file->at);
}

static bool read_file(struct file *file)
{
	FILE *stream = fopen(file->path, "rb");
	long bytes;

	if (!stream)
		return false;
	if (fseek(stream, 0, SEEK_END) == 0 && (bytes = ftell(stream)) >= 0) {
		rewind(stream);
		file->at = malloc((size_t)bytes + 1);
		if (file->at)
			file->bytes = fread(file->at, 1, (size_t)bytes, stream);
	}
	(void)fclose(stream);
	return file->at != NULL;
}

static struct etw_definition *load(struct etw_arena *arena, const struct file *file)
{
	struct etw_definition *manifest = NULL;
	struct etw_fault fault = {0};

	if (etw_manifest_parse(arena, file->at, file->bytes, &manifest, &fault) < 0)
		fail(file->path, fault.sentence ? fault.sentence : "out of memory", fault.offset);
	return manifest;
}

/* A field as mc writes it: scalars have count and, where the type tells, length 0. */
static bool is_item(const struct etw_field *field, const uint8_t *item)
{
	static const struct {
		uint32_t mc, tdh;
	} bits[] = {{1, PropertyStruct},
		    {2, PropertyParamFixedLength},
		    {4, PropertyParamLength},
		    {8, PropertyParamFixedCount},
		    {16, PropertyParamCount}};
	uint32_t flags = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		flags |= etw_load32(item) & bits[i].mc ? bits[i].tdh : 0;
	if (flags & PropertyStruct)
		return field->flags == flags && field->struct_first == etw_load16(item + 4) &&
		       field->struct_count == etw_load16(item + 6) &&
		       (!(flags & (PropertyParamCount | PropertyParamFixedCount)) ||
			field->count == etw_load16(item + 12));
	if (field->in_type != item[4] || field->out_type != item[5])
		return false;
	/* mc keeps a SID's length attribute, which says nothing. */
	if (field->in_type == TDH_INTYPE_SID)
		flags &= ~(uint32_t)(PropertyParamLength | PropertyParamFixedLength);
	if (field->flags != flags)
		return false;
	if ((flags & (PropertyParamCount | PropertyParamFixedCount)) &&
	    field->count != etw_load16(item + 12))
		return false;
	return !(flags & (PropertyParamLength | PropertyParamFixedLength)) ||
	       field->length == etw_load16(item + 14);
}

static bool is_name(const char *name, const struct file *resource, uint32_t offset)
{
	const uint8_t *at = (const uint8_t *)resource->at + offset + 4;
	size_t units = etw_utf16_length(at, (resource->bytes - offset - 4) / 2);
	CLEANUP(freep) char *text = etw_utf16_to_utf8(at, units);

	return text && strcmp(text, name) == 0;
}

static void compare_fields(const struct etw_schema *schema, const struct file *resource,
			   uint32_t template)
{
	const uint8_t *at = (const uint8_t *)resource->at;

	if (!template) {
		if (schema->field_count)
			fail(resource->path, "fields without template", schema->descriptor.Id);
		return;
	}
	if (schema->top_count != etw_load32(at + template + 8) ||
	    schema->field_count != etw_load32(at + template + 12)) {
		fail(resource->path, "number of fields", schema->descriptor.Id);
		return;
	}
	for (uint16_t i = 0; i < schema->field_count; i++) {
		const uint8_t *item = at + etw_load32(at + template + 16) + i * ITEM_BYTES;

		if (!is_item(&schema->fields[i], item) ||
		    !is_name(schema->fields[i].name, resource, etw_load32(item + 16)))
			fail(resource->path, schema->fields[i].name, schema->descriptor.Id);
	}
}

static const struct etw_schema *find_event(const struct etw_provider_schema *provider,
					   const uint8_t *event)
{
	for (size_t i = 0; i < provider->schema_count; i++) {
		const EVENT_DESCRIPTOR *descriptor = &provider->schemas[i].descriptor;

		if (descriptor->Id == etw_load16(event) && descriptor->Version == event[2])
			return &provider->schemas[i];
	}
	return NULL;
}

/* The descriptor lies in the resource as in memory. */
static void compare_event(const struct etw_provider_schema *provider, const struct file *resource,
			  const uint8_t *event)
{
	const struct etw_schema *schema = find_event(provider, event);

	if (!schema) {
		fail(resource->path, "event not in the manifest", etw_load16(event));
		return;
	}
	if (memcmp(&schema->descriptor, event, sizeof(schema->descriptor)) != 0)
		fail(resource->path, "descriptor", schema->descriptor.Id);
	compare_fields(schema, resource, etw_load32(event + 20));
}

static void compare_provider(const struct etw_provider_schema *provider,
			     const struct file *resource, uint32_t block)
{
	const uint8_t *at = (const uint8_t *)resource->at;
	uint32_t kinds = etw_load32(at + block + 12);

	for (uint32_t i = 0; i < kinds; i++) {
		const uint8_t *slot = at + block + 16 + 8 * (size_t)i;
		uint32_t list = etw_load32(slot + 4);

		if (etw_load32(slot) != KIND_EVENTS || !list)
			continue;
		if (etw_load32(at + list + 8) != provider->schema_count)
			fail(resource->path, "number of events", provider->schema_count);
		for (uint32_t j = 0; j < etw_load32(at + list + 8); j++)
			compare_event(provider, resource, at + list + 16 + j * EVENT_BYTES);
	}
}

static void compare_resource(const char *directory, const char *stem)
{
	CLEANUP(close_file) struct file manifest_file = {0};
	CLEANUP(close_file) struct file resource = {0};
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	const struct etw_definition *manifest;
	const uint8_t *at;

	(void)snprintf(manifest_file.path, PATH_MAX, "%s/mc/%s.man", directory, stem);
	(void)snprintf(resource.path, PATH_MAX, "%s/mc/%s.wevt.v5.bin", directory, stem);
	if (!read_file(&manifest_file) || !read_file(&resource)) {
		fail(resource.path, strerror(errno), 0);
		return;
	}
	manifest = load(&arena, &manifest_file);
	at = (const uint8_t *)resource.at;
	if (!manifest || manifest->provider_count != etw_load32(at + 12)) {
		fail(resource.path, "number of providers", etw_load32(at + 12));
		return;
	}
	for (size_t i = 0; i < manifest->provider_count; i++)
		compare_provider(&manifest->providers[i], &resource,
				 etw_load32(at + 16 + 20 * i + 16));
}

/* Also prints what was read. */
static void check_counts(const char *path, const struct etw_definition *manifest)
{
	size_t fields = 0;

	for (size_t i = 0; i < manifest->provider_count; i++) {
		const struct etw_provider_schema *provider = &manifest->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++) {
			const char *sentence = etw_schema_fields_check(&provider->schemas[j]);

			if (sentence)
				fail(path, sentence, provider->schemas[j].descriptor.Id);
			fields += provider->schemas[j].field_count;
		}
	}
	printf("%-60s %3zu providers %4zu events %5zu fields\n", strrchr(path, '/') + 1,
	       manifest->provider_count, manifest->schema_count, fields);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct expected *row = &expected[i];
		size_t skip = strlen(path) - strlen(row->file);

		if (strlen(path) < strlen(row->file) || strcmp(path + skip, row->file) != 0)
			continue;
		if (manifest->provider_count != row->providers ||
		    manifest->schema_count != row->events || fields != row->fields)
			fail(path, "other counts than expected", fields);
	}
}

static bool is_deserved(const char *file, const struct etw_complaint *complaint)
{
	for (size_t i = 0; i < ARRAY_SIZE(deserved); i++) {
		if (strcmp(deserved[i].file, file) == 0 && deserved[i].line == complaint->line &&
		    strcmp(deserved[i].sentence, complaint->sentence) == 0)
			return true;
	}
	return false;
}

static void check_complaints(const char *path, const struct etw_definition *definition)
{
	const char *file = strrchr(path, '/') + 1;
	size_t expected_count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(deserved); i++)
		expected_count += strcmp(deserved[i].file, file) == 0;
	for (size_t i = 0; i < definition->complaint_count; i++) {
		const struct etw_complaint *complaint = &definition->complaints[i];

		if (!is_deserved(file, complaint))
			fail(path, complaint->sentence, complaint->line);
	}
	if (definition->complaint_total != expected_count)
		fail(path, "another number of complaints than deserved",
		     definition->complaint_total);
}

static void check_round_trip(const char *path, const struct etw_definition *definition)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text difference = {0};
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	struct etw_definition *again = NULL;
	struct etw_fault fault = {0};

	if (etw_manifest_write(definition, &text) < 0) {
		fail(path, "cannot be written", 0);
		return;
	}
	if (etw_manifest_parse(&arena, etw_text_string(&text), text.bytes, &again, &fault) < 0) {
		fail(path, fault.sentence ? fault.sentence : "out of memory", fault.offset);
		return;
	}
	if (!etw_definition_compare(definition, again, 0, &difference))
		fail(path, etw_text_string(&difference), 0);
	for (size_t i = 0; i < again->complaint_count; i++) {
		const struct etw_complaint *complaint = &again->complaints[i];

		if (i >= definition->complaint_count ||
		    strcmp(definition->complaints[i].sentence, complaint->sentence) != 0)
			fail(path, complaint->sentence, complaint->line);
	}
}

static bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".man") == 0 || strcmp(dot, ".xml") == 0);
}

static size_t load_folder(const char *directory, const char *folder)
{
	char path[PATH_MAX];
	struct dirent *entry;
	size_t count = 0;
	DIR *stream;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, folder);
	stream = opendir(path);
	if (!stream) {
		fail(path, strerror(errno), 0);
		return 0;
	}
	while ((entry = readdir(stream))) {
		CLEANUP(close_file) struct file file = {0};
		CLEANUP(etw_arena_done) struct etw_arena arena = {0};
		const struct etw_definition *manifest;

		if (!is_manifest(entry->d_name))
			continue;
		if (snprintf(file.path, PATH_MAX, "%s/%s/%s", directory, folder, entry->d_name) >=
			    PATH_MAX ||
		    !read_file(&file)) {
			fail(path, strerror(errno), 0);
			continue;
		}
		count++;
		manifest = load(&arena, &file);
		if (!manifest)
			continue;
		check_counts(file.path, manifest);
		check_complaints(file.path, manifest);
		check_round_trip(file.path, manifest);
	}
	(void)closedir(stream);
	return count;
}

int main(int argc, char **argv)
{
	static const char *const compiled[] = {"EventAttributes", "ImportChannels", "Large",
					       "ProviderTraits", "TaskOpcodes"};
	const char *directory = getenv("ETW_TEST_DATA");
	char path[PATH_MAX];
	size_t count = 0;
	DIR *stream;

	if (!directory)
		directory = argc > 1 ? argv[1] : "../shared/data";
	(void)snprintf(path, sizeof(path), "%s/manifests", directory);
	stream = opendir(path);
	if (!stream) {
		printf("skipped: no manifests in %s (set ETW_TEST_DATA)\n", directory);
		return 77;
	}
	(void)closedir(stream);
	count += load_folder(directory, "manifests");
	count += load_folder(directory, "mc");
	count += load_folder(directory, "wevt");
	for (size_t i = 0; i < ARRAY_SIZE(compiled); i++)
		compare_resource(directory, compiled[i]);
	printf("%zu manifests, %d failures\n", count, failures);
	return failures ? 1 : 0;
}
