/* SPDX-License-Identifier: MIT */
/*
 * Reads every genuine MOF file of the test data without a complaint, writes what it defines and reads that
 * again as the same; counts what another reader counts; and compares Microsoft's kernel classes with the
 * built-in ones, where each difference has a reason (docs/design/kernel-classes.md).
 * Usage: test_mof DATA_DIR; $ETW_TEST_DATA goes first. Exit 77: no data.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "schema/compare.h"
#include "schema/kernel.h"
#include "schema/mof/mof.h"
#include "schema/mof/mof_write.h"

#define KERNEL_FILE "mof/kerneltraceeventparser.mof"

struct expected {
	const char *file;
	size_t providers, events, keywords, levels, maps;
};

/* Counted in the files with a regular expression. */
static const struct expected expected[] = {
	{"mof/ASPNetTraceEventParser.mof", 1, 65, 4, 5, 0},
	{"mof/BthPS3.mof", 1, 0, 11, 5, 0},
	{"mof/dshidmini.mof", 1, 0, 12, 5, 0},
	{KERNEL_FILE, 4, 256, 21, 0, 0},
	{"mof/w3core.mof", 2, 234, 18, 10, 23},
	{"manifests/virtio-netkvm.mof", 0, 0, 0, 0, 0},
	{"manifests/virtio-vioscsi.mof", 0, 0, 0, 0, 0},
};

/* Why the built-in class differs from the MOF of Windows Vista. */
struct difference {
	const char *class_name; /* of the MOF file */
	const char *reason;
};

static const struct difference differences[] = {
	{"Thread_V1_TypeGroup1", "alignment behind the last field is bytes of their own, optional"},
	{"Thread_V1_TypeGroup2",
	 "a newer file has the long form for both events: its fields are optional"},
	{"CSwitch_V1", "a newer file leaves the last field out: optional"},
	{"CompCS", "the file gives no fields; the record's beginning is known"},
	{"ReserveDisjoinThread", "the number was given to ThreadAffinity, which begins alike"},
	{"SampledProfile", "Count is 16 bits, Flags and Rank follow: genuine payloads"},
	{"ISR", "the newer file has a Vector of 16 bits"},
	{"StackWalk_Event", "frames are one array, as many as the payload holds"},
	{"ALPC_Wait_For_New_Message", "PortName is UTF-16 in the newer file"},
	{"HeapExpand", "the newer structure has AllocatedSpace: optional"},
	{"HeapSnapShot", "the newer structure has four more fields: optional"},
	{"HeapContract", "the newer structure has AllocatedSpace: optional"},
};

static int failures;

static void fail(const char *path, const char *what, const char *detail)
{
	(void)fprintf(stderr, "%s: %s: %s\n", path, what, detail);
	failures++;
}

static int read_file(const char *path, struct etw_text *ret)
{
	FILE *stream = fopen(path, "rb");
	char *to;

	if (!stream)
		return -1;
	while ((to = etw_text_begin(ret, 65536))) {
		size_t got = fread(to, 1, 65536, stream);

		etw_text_end(ret, to + got);
		if (!got)
			break;
	}
	(void)fclose(stream);
	return etw_text_error(ret);
}

static const struct etw_definition *parse(struct etw_arena *arena, const char *path,
					  const struct etw_text *text)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};

	if (etw_mof_parse(arena, etw_text_string(text), text->bytes, &definition, &fault) < 0) {
		fail(path, "refused", fault.sentence ? fault.sentence : "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < definition->complaint_count; i++)
		fail(path, definition->complaints[i].name, definition->complaints[i].sentence);
	return definition;
}

static void check_count(const char *path, const char *what, size_t found, size_t wanted)
{
	char detail[64];

	(void)snprintf(detail, sizeof(detail), "%zu, not %zu", found, wanted);
	if (found != wanted)
		fail(path, what, detail);
}

static void check_counts(const struct expected *file, const struct etw_definition *definition)
{
	size_t keywords = 0, levels = 0, maps = 0;

	for (size_t i = 0; i < definition->provider_count; i++) {
		keywords += definition->providers[i].keyword_count;
		levels += definition->providers[i].level_count;
		maps += definition->providers[i].map_count;
	}
	check_count(file->file, "providers", definition->provider_count, file->providers);
	check_count(file->file, "events", definition->schema_count, file->events);
	check_count(file->file, "keywords", keywords, file->keywords);
	check_count(file->file, "levels", levels, file->levels);
	check_count(file->file, "maps", maps, file->maps);
}

static void check_round_trip(struct etw_arena *arena, const char *path,
			     const struct etw_definition *definition)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text difference = {0};
	const struct etw_definition *again;
	struct etw_fault fault = {0};

	if (etw_mof_write(definition, &text, &fault) < 0) {
		fail(path, "not written", fault.sentence);
		return;
	}
	again = parse(arena, path, &text);
	if (again && !etw_definition_compare(definition, again, 0, &difference))
		fail(path, "reads back differently", etw_text_string(&difference));
}

static bool is_same_field(const struct etw_field *left, const struct etw_field *right)
{
	return strcmp(left->name, right->name) == 0 && left->in_type == right->in_type &&
	       left->out_type == right->out_type && left->count == right->count &&
	       left->length == right->length && left->flags == right->flags;
}

/* Returns NULL, or where the built-in schema differs. */
static const char *find_difference(const struct etw_schema *mof, const struct etw_schema *built_in,
				   char *text, size_t bytes)
{
	uint16_t count = mof->field_count;

	if (strcmp(mof->task_name, built_in->task_name) != 0) {
		(void)snprintf(text, bytes, "class %s", built_in->task_name);
		return text;
	}
	if (strcmp(mof->opcode_name ? mof->opcode_name : "",
		   built_in->opcode_name ? built_in->opcode_name : "") != 0) {
		(void)snprintf(text, bytes, "event %s", built_in->opcode_name);
		return text;
	}
	for (uint16_t i = 0; i < count; i++) {
		if (i < built_in->field_count &&
		    is_same_field(&mof->fields[i], &built_in->fields[i]))
			continue;
		(void)snprintf(text, bytes, "field %u, %s and %s", i, mof->fields[i].name,
			       i < built_in->field_count ? built_in->fields[i].name : "nothing");
		return text;
	}
	if (built_in->field_count == count)
		return NULL;
	(void)snprintf(text, bytes, "field %u, nothing and %s", count,
		       built_in->fields[count].name);
	return text;
}

static bool is_explained(const struct etw_schema *schema, bool *is_used)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++) {
		if (strcmp(differences[i].class_name, schema->symbol) == 0)
			return is_used[i] = true;
	}
	return false;
}

/* A class without a version, which is 0 here, is that of systems whose events say 2. */
static bool is_built_in(const struct etw_schema *schema, char *text, size_t bytes)
{
	uint8_t version = schema->descriptor.Version;

	(void)snprintf(text, bytes, "is not built in");
	for (;; version = 2) {
		const struct etw_schema *built_in = etw_kernel_class_find(
			&schema->event_guid, schema->descriptor.Opcode, version);

		if (built_in && !find_difference(schema, built_in, text, bytes))
			return true;
		if (version)
			return false;
	}
}

static void compare_with_built_in(const struct etw_definition *definition)
{
	bool is_used[ARRAY_SIZE(differences)] = {false};
	size_t same = 0, different = 0;

	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++) {
			const struct etw_schema *schema = &provider->schemas[j];
			char text[256], place[256];

			if (is_built_in(schema, text, sizeof(text))) {
				same++;
				continue;
			}
			different++;
			if (is_explained(schema, is_used))
				continue;
			(void)snprintf(place, sizeof(place), "%s %u version %u", schema->symbol,
				       schema->descriptor.Opcode, schema->descriptor.Version);
			fail(KERNEL_FILE, place, text);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++) {
		if (!is_used[i])
			fail(KERNEL_FILE, differences[i].class_name, "does not differ any more");
	}
	(void)printf("kernel classes: %zu events agree, %zu differ with a reason\n", same,
		     different);
}

static void check_file(const char *folder, const struct expected *file)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;
	struct etw_arena arena = {0};
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, file->file);
	if (read_file(path, &text) < 0) {
		fail(path, "not read", "no such file");
		return;
	}
	definition = parse(&arena, file->file, &text);
	if (definition) {
		check_counts(file, definition);
		check_round_trip(&arena, file->file, definition);
		if (strcmp(file->file, KERNEL_FILE) == 0)
			compare_with_built_in(definition);
	}
	etw_arena_done(&arena);
}

int main(int argc, char **argv)
{
	const char *folder = getenv("ETW_TEST_DATA");
	CLEANUP(etw_text_done) struct etw_text text = {0};
	char path[PATH_MAX];

	if (!folder && argc > 1)
		folder = argv[1];
	(void)snprintf(path, sizeof(path), "%s/" KERNEL_FILE, folder ? folder : ".");
	if (read_file(path, &text) < 0) {
		(void)printf("SKIP: the test data is not there\n");
		return 77;
	}
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		check_file(folder, &expected[i]);
	(void)printf("%zu MOF files, %d failures\n", ARRAY_SIZE(expected), failures);
	return failures != 0;
}
