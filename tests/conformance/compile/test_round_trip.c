/* SPDX-License-Identifier: MIT */
/*
 * Compiles every genuine manifest of the test data, reads the resource and the message table back, and
 * compares what they say with what the reader of manifests finds. Usage: test_round_trip DATA_DIR;
 * $ETW_TEST_DATA goes first. Exit 77: no data.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "compile/message_table.h"
#include "compile/rc.h"
#include "compile/read.h"
#include "compile/wevt.h"
#include "conformance/schema/compare_compiled.h"
#include "schema/compiled/wevt.h"

/* Files that differ with reason, and in how many facts. */
static const struct {
	const char *name;
	int differences;
} reasons[] = {
	/* Only the messages of 16 providers have numbers of their own: the file has 33. */
	{"tx-SystemEvents.man", 49},
	/* Its maps lie outside of `maps`, where the decoder's reader does not look. */
	{"perfview-gen-EnumTest.manifest.xml", 3},
};

static size_t files, events;

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

static void fail(const char *path, const char *what, int error, const struct etw_fault *fault)
{
	(void)fprintf(stderr, "%s: %s: %s\n", path, what,
		      fault->sentence ? fault->sentence : strerror(-error));
	compiled_failures++;
}

static struct etw_bytes bytes_of(const struct etw_text *text)
{
	return (struct etw_bytes){(const uint8_t *)text->at, text->bytes};
}

/* What was written has to be readable, and to say what the manifest says. */
static void check_outputs(const char *path, const struct etw_text *manifest,
			  const struct etw_text *wevt, const struct etw_text *messages)
{
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	struct etw_message_table table;
	struct etw_definition *definition;
	struct etw_fault fault = {0};
	int r = etw_message_table_open(&arena, bytes_of(messages), &table, &fault);

	if (r < 0) {
		fail(path, "the message table is not readable", r, &fault);
		return;
	}
	r = etw_wevt_parse(&arena, bytes_of(wevt), &table, 1, &definition, &fault);
	if (r < 0) {
		fail(path, "the resource is not readable", r, &fault);
		return;
	}
	events += definition->schema_count;
	compiled_compare(path, definition, path, manifest);
}

static void check_file(const char *path)
{
	CLEANUP(etw_compile_freep) struct mc_manifest *manifest = NULL;
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text wevt = {0};
	CLEANUP(etw_text_done) struct etw_text messages = {0};
	CLEANUP(etw_text_done) struct etw_text rc = {0};
	struct etw_fault fault = {0};
	int r = read_file(path, &text) ? 0 : -EIO;

	if (r == 0)
		r = etw_compile_read(etw_text_string(&text), text.bytes, &manifest);
	if (r == 0)
		r = etw_compile_wevt(manifest, COMPILE_WEVT_MAJOR, &wevt, &fault);
	if (r == 0)
		r = etw_compile_message_table(manifest, manifest->cultures, true, &messages,
					      &fault);
	if (r == 0)
		r = etw_compile_rc(manifest, "base", false, &rc, &fault);
	if (r < 0) {
		fail(path, "not compiled", r, &fault);
		return;
	}
	files++;
	check_outputs(path, &text, &wevt, &messages);
}

/* What differs with reason does not count; that it differs by so much does. */
static void check_named(const char *path, const char *name)
{
	int before = compiled_failures;

	check_file(path);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (strcmp(reasons[i].name, name) != 0)
			continue;
		if (compiled_failures - before == reasons[i].differences) {
			compiled_failures = before;
			continue;
		}
		(void)fprintf(stderr, "%s: %d differences, expected %d\n", path,
			      compiled_failures - before, reasons[i].differences);
		compiled_failures++;
	}
}

static bool is_manifest(const char *name)
{
	size_t bytes = strlen(name);

	return (bytes > 4 && strcmp(name + bytes - 4, ".man") == 0) ||
	       (bytes > 4 && strcmp(name + bytes - 4, ".xml") == 0);
}

static bool check_folder(const char *directory, const char *folder)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *stream;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, folder);
	stream = opendir(path);
	if (!stream)
		return false;
	while ((entry = readdir(stream))) {
		if (is_manifest(entry->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s/%s", directory, folder, entry->d_name) <
			    PATH_MAX)
			check_named(path, entry->d_name);
	}
	(void)closedir(stream);
	return true;
}

int main(int argc, char **argv)
{
	const char *directory = getenv("ETW_TEST_DATA");

	if (!directory)
		directory = argc > 1 ? argv[1] : "../shared/data";
	if (!check_folder(directory, "manifests") || !check_folder(directory, "mc")) {
		printf("skipped: no manifests in %s (set ETW_TEST_DATA)\n", directory);
		return 77;
	}
	printf("%zu manifests, %zu events, %zu facts compared, %d failures\n", files, events,
	       compiled_compared, compiled_failures);
	return compiled_failures ? 1 : 0;
}
