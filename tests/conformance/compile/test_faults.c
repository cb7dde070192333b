/* SPDX-License-Identifier: MIT */
/*
 * Faulty manifests: each row of faults.tsv is a change of base.man, which has no fault, and what is
 * complained of then, no more and no less, with line and column. Genuine manifests have no fault.
 *
 *     test_faults [--print] FOLDER [DATA_DIR]
 *
 * A row is KIND, OLD, NEW, COMPLAINT... with tabs between; \n and \\ stand for themselves. OLD is replaced
 * where it is first; "*" is the whole of it. --print writes the rows anew, to be reviewed. $ETW_TEST_DATA goes before DATA_DIR.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"
#include "compile/mof.h"
#include "compile/read.h"

#define KINDS_MIN   60
#define KINDS_MAX   512
#define BYTES_MAX   ((size_t)64 << 20)
#define GENUINE_MIN 40

static size_t failures;

static char *read_text(const char *folder, const char *name)
{
	char path[PATH_MAX];
	size_t bytes;
	char *text;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (etw_file_read(path, BYTES_MAX, &text, &bytes) < 0) {
		(void)fprintf(stderr, "%s cannot be read\n", path);
		exit(1);
	}
	return text;
}

/* \n and \\ in place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			*to++ = *text == 'n' ? '\n' : *text;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void put_complaints(const struct mc_manifest *manifest, struct etw_text *out)
{
	for (const struct mc_complaint *at = manifest->complaints; at; at = at->next)
		etw_text_printf(out, "\t%llu:%llu: %s: %s", (unsigned long long)at->line,
				(unsigned long long)at->column,
				at->is_warning ? "warning" : "error", at->text);
}

/* The text with the first @old replaced by @new; false: there is none. */
static bool change(const char *text, const char *old, const char *new, struct etw_text *out)
{
	const char *at = strstr(text, old);

	if (strcmp(old, "*") == 0) {
		etw_text_puts(out, new);
		return !etw_text_error(out);
	}
	if (!at)
		return false;
	etw_text_append(out, text, (size_t)(at - text));
	etw_text_puts(out, new);
	etw_text_puts(out, at + strlen(old));
	return !etw_text_error(out);
}

static void check_row(const char *base, char *line, bool is_print)
{
	CLEANUP(etw_compile_freep) struct mc_manifest *manifest = NULL;
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text found = {0};
	char *cells[4] = {line};
	char *kept = strdup(line);

	for (size_t i = 1; i < ARRAY_SIZE(cells); i++) {
		cells[i] = cells[i - 1] ? strchr(cells[i - 1], '\t') : NULL;
		if (cells[i])
			*cells[i]++ = '\0';
	}
	if (!kept || !cells[2])
		abort();
	unescape(cells[1]);
	unescape(cells[2]);
	if (!change(base, cells[1], cells[2], &text)) {
		(void)fprintf(stderr, "%s: the base has no such text\n", cells[0]);
		failures++;
	} else if (etw_compile_read(etw_text_string(&text), text.bytes, &manifest) < 0) {
		abort();
	} else {
		/* Kinds of -mof have texts of their own: the base breaks its rules in many places. */
		if (strncmp(cells[0], "-mof", 4) == 0 && etw_compile_check_mof(manifest) < 0)
			abort();
		put_complaints(manifest, &found);
		if (is_print)
			printf("%.*s%s\n",
			       (int)(cells[3] ? (size_t)(cells[3] - 1 - line) : strlen(kept)), kept,
			       etw_text_string(&found));
		else if (!found.bytes || !cells[3] || strcmp(found.at + 1, cells[3]) != 0) {
			(void)fprintf(stderr, "%s:\n expected %s\n found    %s\n", cells[0],
				      cells[3] ? cells[3] : "", etw_text_string(&found));
			failures++;
		}
	}
	free(kept);
}

static size_t check_rows(const char *folder, bool is_print)
{
	CLEANUP(freep) char *base = read_text(folder, "base.man");
	CLEANUP(freep) char *rows = read_text(folder, "faults.tsv");
	const char *kinds[KINDS_MAX];
	size_t count = 0;
	char *end;

	for (char *line = rows; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (*line == '#') {
			if (is_print)
				puts(line);
			continue;
		}
		check_row(base, line, is_print);
		for (size_t i = 0; i < count; i++) {
			if (strcmp(kinds[i], line) == 0) {
				(void)fprintf(stderr, "%s: the kind is there twice\n", line);
				failures++;
			}
		}
		if (count < KINDS_MAX)
			kinds[count++] = line;
	}
	if (count < KINDS_MIN) {
		(void)fprintf(stderr, "%zu kinds of faults, fewer than %d\n", count, KINDS_MIN);
		failures++;
	}
	return count;
}

static void check_good(const char *folder, const char *name)
{
	CLEANUP(etw_compile_freep) struct mc_manifest *manifest = NULL;
	char path[PATH_MAX];
	size_t bytes;
	CLEANUP(freep) char *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (etw_file_read(path, BYTES_MAX, &text, &bytes) < 0 ||
	    etw_compile_read(text, bytes, &manifest) < 0)
		abort();
	if (!manifest->error_count)
		return;
	(void)fprintf(stderr, "%s(%llu): %s\n", path,
		      (unsigned long long)manifest->complaints->line, manifest->complaints->text);
	failures++;
}

static size_t check_genuine(const char *data)
{
	static const char *const folders[] = {"manifests", "mc", "wevt"};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char folder[PATH_MAX];
		struct dirent *entry;
		DIR *stream;

		(void)snprintf(folder, sizeof(folder), "%s/%s", data, folders[i]);
		stream = opendir(folder);
		while (stream && (entry = readdir(stream))) {
			const char *dot = strrchr(entry->d_name, '.');

			if (!dot || (strcmp(dot, ".man") != 0 && strcmp(dot, ".xml") != 0))
				continue;
			check_good(folder, entry->d_name);
			count++;
		}
		if (stream)
			(void)closedir(stream);
	}
	return count;
}

int main(int argc, char **argv)
{
	bool is_print = argc > 1 && strcmp(argv[1], "--print") == 0;
	const char *folder = argv[1 + is_print];
	const char *data = getenv("ETW_TEST_DATA");
	size_t kinds, genuine;

	if (argc < 2 + is_print) {
		(void)fputs("usage: test_faults [--print] FOLDER [DATA_DIR]\n", stderr);
		return 2;
	}
	if (!is_print)
		check_good(folder, "base.man");
	kinds = check_rows(folder, is_print);
	if (is_print)
		return 0;
	if (!data && argc > 2)
		data = argv[2];
	genuine = data ? check_genuine(data) : 0;
	if (genuine && genuine < GENUINE_MIN)
		failures++;
	printf("%zu kinds of faults, %zu genuine manifests, %zu failures\n", kinds, genuine,
	       failures);
	return failures ? 1 : 0;
}
