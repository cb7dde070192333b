/* SPDX-License-Identifier: MIT */
/*
 * Compiles the manifests of the test data that come with the output of Microsoft's message compiler, and
 * compares byte for byte: binary resources of both versions, and message tables. Usage:
 * test_outputs DATA_DIR; $ETW_TEST_DATA goes first. Exit 77: no data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "compile/message_table.h"
#include "compile/read.h"
#include "compile/wevt.h"

#define MESSAGES 0 /* instead of a version of the resource */

struct output {
	const char *manifest;
	const char *file;
	unsigned major;
};

static const struct output outputs[] = {
	{"mc/Empty.man", "mc/Empty.wevt.v3.bin", 3},
	{"mc/Empty.man", "mc/Empty.wevt.v5.bin", 5},
	{"mc/EventAttributes.man", "mc/EventAttributes.wevt.v5.bin", 5},
	{"mc/EventAttributes.man", "mc/EventAttributes.msg.bin", MESSAGES},
	{"mc/ImportChannels.man", "mc/ImportChannels.wevt.v3.bin", 3},
	{"mc/ImportChannels.man", "mc/ImportChannels.wevt.v5.bin", 5},
	{"mc/ImportChannels.man", "mc/ImportChannels.msg.bin", MESSAGES},
	{"mc/Large.man", "mc/Large.wevt.v5.bin", 5},
	{"mc/Large.man", "mc/Large.msg.bin", MESSAGES},
	{"mc/ProviderTraits.man", "mc/ProviderTraits.wevt.v5.bin", 5},
	{"mc/ProviderTraits.man", "mc/ProviderTraits.msg.bin", MESSAGES},
	{"mc/TaskOpcodes.man", "mc/TaskOpcodes.wevt.v3.bin", 3},
	{"mc/TaskOpcodes.man", "mc/TaskOpcodes.wevt.v5.bin", 5},
	{"mc/TaskOpcodes.man", "mc/TaskOpcodes.msg.bin", MESSAGES},
	{"wevt/etwprof-MB.man", "wevt/etwprof-MBTEMP.BIN", 5},
	{"wevt/etwprof-MB.man", "wevt/etwprof-MSG00001.bin", MESSAGES},
};

static bool read_file(const char *directory, const char *name, struct etw_text *ret)
{
	char path[4096];
	FILE *stream;
	char *to;
	size_t got = 1;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	stream = fopen(path, "rb");
	if (!stream)
		return false;
	while (got && (to = etw_text_begin(ret, 65536))) {
		got = fread(to, 1, 65536, stream);
		etw_text_end(ret, to + got);
	}
	(void)fclose(stream);
	return !etw_text_error(ret);
}

static bool compile(const struct output *output, const struct etw_text *text, struct etw_text *ret)
{
	CLEANUP(etw_compile_freep) struct mc_manifest *manifest = NULL;
	struct etw_fault fault = {0};
	int r = etw_compile_read(etw_text_string(text), text->bytes, &manifest);

	if (r == 0 && manifest->error_count) {
		(void)fprintf(stderr, "%s: line %llu: %s\n", output->manifest,
			      (unsigned long long)manifest->complaints->line,
			      manifest->complaints->text);
		return false;
	}
	if (r == 0)
		r = output->major == MESSAGES
			    ? etw_compile_message_table(manifest, manifest->cultures,
							/* is_line_kept= */ true, ret, &fault)
			    : etw_compile_wevt(manifest, output->major, ret, &fault);
	if (r < 0)
		(void)fprintf(stderr, "%s: %s\n", output->manifest,
			      fault.sentence ? fault.sentence : strerror(-r));
	return r == 0;
}

static bool is_same(const struct output *output, const struct etw_text *own,
		    const struct etw_text *genuine)
{
	size_t at = 0;

	while (at < own->bytes && at < genuine->bytes && own->at[at] == genuine->at[at])
		at++;
	if (at == own->bytes && at == genuine->bytes)
		return true;
	(void)fprintf(stderr, "%s: differs at byte 0x%zx; %zu bytes, genuine %zu\n", output->file,
		      at, own->bytes, genuine->bytes);
	return false;
}

static bool check(const char *directory, const struct output *output)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text genuine = {0};
	CLEANUP(etw_text_done) struct etw_text own = {0};

	if (!read_file(directory, output->manifest, &text) ||
	    !read_file(directory, output->file, &genuine)) {
		(void)fprintf(stderr, "%s or %s cannot be read\n", output->manifest, output->file);
		return false;
	}
	return compile(output, &text, &own) && is_same(output, &own, &genuine);
}

int main(int argc, char **argv)
{
	const char *directory = getenv("ETW_TEST_DATA");
	char path[4096];
	struct stat info;
	int failures = 0;

	if (!directory)
		directory = argc > 1 ? argv[1] : "../shared/data";
	(void)snprintf(path, sizeof(path), "%s/mc", directory);
	if (stat(path, &info) < 0) {
		printf("skipped: no output of the message compiler in %s (set ETW_TEST_DATA)\n",
		       directory);
		return 77;
	}
	for (size_t i = 0; i < ARRAY_SIZE(outputs); i++)
		failures += !check(directory, &outputs[i]);
	printf("%zu files compared, %d failures\n", ARRAY_SIZE(outputs), failures);
	return failures ? 1 : 0;
}
