/* SPDX-License-Identifier: MIT */
#include "registry/folder_walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"

static int walk_folder(const struct etw_registry_walk *walk, const char *folder, unsigned depth);

static int walk_entry(const struct etw_registry_walk *walk, const char *path, unsigned depth)
{
	struct stat info;

	if (lstat(path, &info) < 0) {
		walk->complain(walk->context, path, -errno);
		return 0;
	}
	if (S_ISDIR(info.st_mode) && depth == ETW_REGISTRY_DEPTH_MAX) {
		walk->complain(walk->context, path, -ELOOP);
		return 0;
	}
	if (S_ISDIR(info.st_mode))
		return walk_folder(walk, path, depth + 1);
	if (S_ISLNK(info.st_mode) && (stat(path, &info) < 0 || !S_ISREG(info.st_mode))) {
		if (walk->pass_over)
			walk->pass_over(walk->context);
		return 0;
	}
	return S_ISREG(info.st_mode) ? walk->file(walk->context, path) : 0;
}

static int is_visible(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* In the order of names, so that two walks over the same folder find the same. */
static int walk_folder(const struct etw_registry_walk *walk, const char *folder, unsigned depth)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_visible, alphasort);
	int result = 0;

	if (count < 0) {
		if (errno == ENOMEM)
			return -ENOMEM;
		walk->complain(walk->context, folder, -errno);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!result && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
			path = NULL;
			result = -ENOMEM;
		}
		if (!result)
			result = walk_entry(walk, path, depth);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int etw_registry_walk(const struct etw_registry_walk *walk, const char *folder)
{
	return walk_folder(walk, folder, 0);
}
