/* SPDX-License-Identifier: MIT */
#include "registry/import.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"

static void complain(struct etw_registry_import *import, const char *path, int error,
		     const struct etw_fault *fault)
{
	import->failed++;
	if (import->complain)
		import->complain(import->context, path, error, fault);
}

int etw_registry_import_item(struct etw_registry_import *import,
			     const struct etw_registry_item *item)
{
	int r = etw_registry_change_add(import->change, item);

	TRY(r);
	if (r == ETW_REGISTRY_SAME) {
		import->same++;
		return 0;
	}
	import->added++;
	import->events += item->event_count;
	for (size_t i = 0; i < item->row_count; i++)
		import->providers += item->rows[i].role == WIRE_REGISTRY_PROVIDER;
	return 0;
}

static int import_file(struct etw_registry_import *import, const char *path)
{
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	struct etw_fault fault = {0};
	int r;

	if (import->progress && !import->progress(import->context, import))
		return -ECANCELED;
	import->looked_at++;
	r = etw_registry_item_read(path, NULL, &item, &fault);
	if (r == -ENODATA || r == -EINVAL) {
		import->stepped_over++;
		return 0;
	}
	if (r < 0 && r != -ENOMEM) {
		complain(import, path, r, &fault);
		return 0;
	}
	TRY(r);
	return etw_registry_import_item(import, &item);
}

static int import_folder(struct etw_registry_import *import, const char *folder, unsigned depth);

static int import_entry(struct etw_registry_import *import, const char *path, unsigned depth)
{
	struct stat info;

	if (lstat(path, &info) < 0) {
		complain(import, path, -errno, NULL);
		return 0;
	}
	if (S_ISDIR(info.st_mode) && depth == ETW_REGISTRY_DEPTH_MAX) {
		complain(import, path, -ELOOP, NULL);
		return 0;
	}
	if (S_ISDIR(info.st_mode))
		return import_folder(import, path, depth + 1);
	if (S_ISLNK(info.st_mode) && (stat(path, &info) < 0 || !S_ISREG(info.st_mode))) {
		import->stepped_over++;
		return 0;
	}
	if (!S_ISREG(info.st_mode))
		return 0;
	return import_file(import, path);
}

static int is_visible(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* In the order of names, so that two imports of the same folder give the same registry. */
static int import_folder(struct etw_registry_import *import, const char *folder, unsigned depth)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_visible, alphasort);
	int result = 0;

	if (count < 0) {
		if (errno == ENOMEM)
			return -ENOMEM;
		complain(import, folder, -errno, NULL);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!result && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
			path = NULL;
			result = -ENOMEM;
		}
		if (!result)
			result = import_entry(import, path, depth);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int etw_registry_import_folder(struct etw_registry_import *import, const char *folder)
{
	return import_folder(import, folder, 0);
}
