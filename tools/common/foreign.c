/* SPDX-License-Identifier: MIT */
#include "tools/common/foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "tools/common/program.h"

#define LOOK_BYTES 4096

static const struct {
	const char *magic;
	size_t bytes;
	const char *name;
	const char *unpack; /* the command that unpacks it to standard output */
} packers[] = {
	{"\x1F\x8B", 2, "gzip-compressed", "zcat"},
	{"PK\x03\x04", 4, "a zip archive", "unzip -p"},
	{"\xFD"
	 "7zXZ",
	 5, "xz-compressed", "xzcat"},
	{"\x28\xB5\x2F\xFD", 4, "zstd-compressed", "zstdcat"},
	{"BZh", 3, "bzip2-compressed", "bzcat"},
};

/* The first bytes as text: what UTF-16 has between its letters is left out. */
static void read_start(const char *path, char *ret, size_t *ret_bytes, char *ret_text)
{
	FILE *file = fopen(path, "rb");
	size_t count = 0;

	*ret_bytes = file ? fread(ret, 1, LOOK_BYTES, file) : 0;
	for (size_t i = 0; i < *ret_bytes; i++) {
		if (ret[i])
			ret_text[count++] = ret[i];
	}
	ret_text[count] = '\0';
	if (file)
		(void)fclose(file);
}

/* Where the text begins, behind a mark of its encoding and blanks. */
static const char *skip_marks(const char *text)
{
	return text + strspn(text, "\xEF\xBB\xBF\xFF\xFE \t\r\n");
}

bool etw_foreign_tell(const char *path)
{
	char start[LOOK_BYTES], text[LOOK_BYTES + 1];
	size_t bytes;

	read_start(path, start, &bytes, text);
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		if (bytes < packers[i].bytes ||
		    memcmp(start, packers[i].magic, packers[i].bytes) != 0)
			continue;
		etw_program_error("%s is %s; try %s %s | etw -", path, packers[i].name,
				  packers[i].unpack, path);
		return true;
	}
	if (*skip_marks(text) != '<' || !strstr(text, "<instrumentationManifest"))
		return false;
	etw_program_error("%s is a manifest; use --manifest %s with a trace", path, path);
	return true;
}
