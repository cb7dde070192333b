/* SPDX-License-Identifier: MIT */
#include "api/tdh/symbol_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/wide.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"

static int to_utf8(const WCHAR *text, char **ret)
{
	return text ? etw_wide_to_utf8(text, ret) : 0;
}

static int copy_string(const char *from, char **ret)
{
	*ret = from ? strdup(from) : NULL;
	return from && !*ret ? -ENOMEM : 0;
}

int etw_symbol_paths_read(const WCHAR *tmf_file, const WCHAR *tmf_search_path,
			  const WCHAR *pdb_path, struct etw_symbol_paths *ret)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};

	TRY(to_utf8(tmf_file, &paths.tmf_file));
	TRY(to_utf8(tmf_search_path, &paths.tmf_search_path));
	TRY(to_utf8(pdb_path, &paths.pdb_path));
	TRY(copy_string(secure_getenv("TRACE_FORMAT_SEARCH_PATH"), &paths.environment));
	*ret = paths;
	paths = (struct etw_symbol_paths){0};
	return 0;
}

int etw_symbol_paths_copy(const struct etw_symbol_paths *from, struct etw_symbol_paths *ret)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};

	TRY(copy_string(from->tmf_file, &paths.tmf_file));
	TRY(copy_string(from->tmf_search_path, &paths.tmf_search_path));
	TRY(copy_string(from->pdb_path, &paths.pdb_path));
	TRY(copy_string(from->environment, &paths.environment));
	*ret = paths;
	paths = (struct etw_symbol_paths){0};
	return 0;
}

void etw_symbol_paths_done(struct etw_symbol_paths *paths)
{
	free(paths->tmf_file);
	free(paths->tmf_search_path);
	free(paths->pdb_path);
	free(paths->environment);
}

static bool is_same_string(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

bool etw_symbol_paths_equal(const struct etw_symbol_paths *left,
			    const struct etw_symbol_paths *right)
{
	return is_same_string(left->tmf_file, right->tmf_file) &&
	       is_same_string(left->tmf_search_path, right->tmf_search_path) &&
	       is_same_string(left->pdb_path, right->pdb_path) &&
	       is_same_string(left->environment, right->environment);
}

/* The next folder of a search path, owned, and where to go on; NULL at the end. Returns 0 or -ENOMEM. */
static int next_folder(const char **search_path, char **ret)
{
	const char *at = *search_path ? *search_path : "";
	size_t bytes;

	at += strspn(at, ";");
	bytes = strcspn(at, ";");
	*search_path = at + bytes;
	*ret = bytes ? strndup(at, bytes) : NULL;
	return bytes && !*ret ? -ENOMEM : 0;
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* @name in one folder of a search path. Returns 0 with an owned path, -ENOENT or -ENOMEM. */
static int find_in_folders(const char *search_path, const char *name, char **ret)
{
	for (;;) {
		CLEANUP(freep) char *resolved = NULL;
		CLEANUP(freep) char *folder = NULL;
		CLEANUP(freep) char *path = NULL;
		int result;

		TRY(next_folder(&search_path, &folder));
		if (!folder)
			return -ENOENT;
		result = etw_path_resolve(folder, &resolved);
		if (result == -ENOMEM)
			return result;
		if (result < 0)
			continue;
		if (asprintf(&path, "%s/%s", resolved, name) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		if (is_file(path)) {
			*ret = TAKE(path);
			return 0;
		}
	}
}

/* A file by its own name alone. */
static int find_named(const char *name, char **ret)
{
	CLEANUP(freep) char *path = NULL;
	int result;

	if (!name)
		return -ENOENT;
	result = etw_path_resolve(name, &path);
	if (result == -ENOMEM)
		return result;
	if (result < 0 || !is_file(path))
		return -ENOENT;
	*ret = TAKE(path);
	return 0;
}

static int find_in_paths(const struct etw_symbol_paths *paths, const char *name, char **ret)
{
	int result = find_in_folders(paths->tmf_search_path, name, ret);

	return result == -ENOENT ? find_in_folders(paths->environment, name, ret) : result;
}

int etw_symbol_paths_find_tmf(const struct etw_symbol_paths *paths, char **ret)
{
	const char *name = paths->tmf_file;
	int result = find_named(name, ret);

	if (result != -ENOENT || !name || name[0] == '/' || name[0] == '\\')
		return result;
	return find_in_paths(paths, name, ret);
}

int etw_symbol_paths_find_pdb(const struct etw_symbol_paths *paths, char **ret)
{
	return find_named(paths->pdb_path, ret);
}

int etw_symbol_paths_find_guid(const struct etw_symbol_paths *paths, const GUID *guid, char **ret)
{
	static const char extension[] = ".tmf";
	char name[ETW_GUID_BARE_BYTES + sizeof(extension)];
	int result;

	etw_guid_format(guid, name);
	memcpy(name + strlen(name), extension, sizeof(extension));
	result = find_in_paths(paths, name, ret);
	return result == -ENOENT ? find_in_folders(".", name, ret) : result;
}

int etw_symbol_paths_has_folder(const struct etw_symbol_paths *paths)
{
	const char *search_path = paths->tmf_search_path;

	for (;;) {
		CLEANUP(freep) char *resolved = NULL;
		CLEANUP(freep) char *folder = NULL;
		struct stat status;

		TRY(next_folder(&search_path, &folder));
		if (!folder)
			return 0;
		if (etw_path_resolve(folder, &resolved) == 0 && stat(resolved, &status) == 0 &&
		    S_ISDIR(status.st_mode))
			return 1;
	}
}
