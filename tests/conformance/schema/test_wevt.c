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

#include "base/macros.h"
#include "base/text.h"
#include "conformance/schema/compare_compiled.h"
#include "schema/compiled/binary.h"
#include "schema/compiled/binary_file.h"

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
	CLEANUP(etw_text_done) struct etw_text text = {0};

	if (read_file(manifest_path, &text)) {
		compiled_compare(path, own, manifest_path, &text);
		return;
	}
	(void)fprintf(stderr, "%s cannot be read\n", manifest_path);
	compiled_failures++;
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
		compiled_failures++;
		return;
	}
	printf("%-40s %zu providers %2zu events %3zu fields\n", pair->resource,
	       definition->provider_count, definition->schema_count, count_fields(definition));
	compiled_check_number(path, "number of providers", "it", definition->provider_count,
			      pair->providers);
	compiled_check_number(path, "number of events", "it", definition->schema_count,
			      pair->events);
	compiled_check_number(path, "number of fields", "it", count_fields(definition),
			      pair->fields);
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
	printf("%zu facts compared, %d failures\n", compiled_compared, compiled_failures);
	return compiled_failures ? 1 : 0;
}
