/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over the files of a folder, so that every input that once broke something is
 * tried again on each test run, with any compiler and without libFuzzer. The same program takes
 * single files: `replay FILE` repeats one crash under a debugger.
 *
 * Each input is copied into memory of exactly its size, so that the address sanitizer sees a read of
 * one byte too many. A folder without inputs is an error: a target nobody feeds tests nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target.h"

struct totals {
	size_t files;
	size_t bytes;
};

static int run_file(const char *path, struct totals *totals)
{
	struct stat info;
	uint8_t *data = NULL;
	size_t size;
	FILE *file = fopen(path, "rb");
	int r = -1;

	if (!file || fstat(fileno(file), &info) < 0)
		goto out;
	size = (size_t)info.st_size;
	data = malloc(size);
	if (size && (!data || fread(data, 1, size, file) != size))
		goto out;
	(void)LLVMFuzzerTestOneInput(data, size);
	totals->files++;
	totals->bytes += size;
	r = 0;
out:
	if (r < 0)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	if (file)
		(void)fclose(file);
	free(data);
	return r;
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "README.md") != 0;
}

static int run_folder(const char *folder, struct totals *totals)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_input, alphasort);
	int r = count < 0 ? -1 : 0;

	if (count < 0)
		fprintf(stderr, "%s: %s\n", folder, strerror(errno));
	for (int i = 0; i < count; i++) {
		char path[4096];
		int chars = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);

		if (chars < 0 || (size_t)chars >= sizeof(path) || run_file(path, totals) < 0)
			r = -1;
		free(entries[i]);
	}
	free(entries);
	return r;
}

int main(int argc, char **argv)
{
	static const uint8_t nothing[1];
	struct totals totals = {0};
	int r = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FOLDER|FILE...\n", argv[0]);
		return 2;
	}
	(void)LLVMFuzzerTestOneInput(nothing, 0);
	for (int i = 1; i < argc; i++) {
		struct stat info;

		if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
			r |= run_folder(argv[i], &totals);
		else
			r |= run_file(argv[i], &totals);
	}
	printf("%zu inputs, %zu bytes replayed\n", totals.files, totals.bytes);
	if (!totals.files)
		fprintf(stderr, "no inputs: add at least one seed to the corpus\n");
	return r < 0 || !totals.files;
}
