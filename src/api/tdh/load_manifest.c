/* SPDX-License-Identifier: MIT */
/* tdh.h: definitions that a program brings along. Files are read without etw_tdh_lock(). */
#include <tdh.h>
#include <winerror.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/tdh/loaded.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/win32_error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/sha1.h"
#include "base/utf.h"
#include "schema/compiled/binary_file.h"
#include "schema/manifest/manifest.h"

static void free_loadedp(struct etw_tdh_loaded **loaded)
{
	etw_tdh_loaded_free(*loaded);
}

/* The Linux path of a caller's; *ret is owned. */
static ULONG resolve(const WCHAR *wide, char **ret)
{
	CLEANUP(freep) char *utf8 = NULL;
	size_t units = 0;

	if (!wide)
		return ERROR_INVALID_PARAMETER;
	while (wide[units]) {
		if (++units > MAX_PATH)
			return ERROR_INVALID_PARAMETER;
	}
	if (!units)
		return ERROR_INVALID_PARAMETER;
	utf8 = etw_utf16_to_utf8((const uint8_t *)wide, units);
	if (!utf8)
		return ERROR_NOT_ENOUGH_MEMORY;
	TRY_WIN32(etw_path_resolve(utf8, ret));
	return ERROR_SUCCESS;
}

/* How a file is called, in the full path of its folder: that much can be said once it is gone. NULL: nothing can. */
static char *name_in_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(freep)
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	CLEANUP(freep) char *full = folder ? realpath(folder, NULL) : NULL;
	char *name;

	if (!full || asprintf(&name, "%s/%s", full, slash ? slash + 1 : path) < 0)
		return NULL;
	return name;
}

/* By its full path when it exists, so that one file has one name. */
static ULONG create_for_path(const WCHAR *wide, struct etw_tdh_loaded **ret)
{
	CLEANUP(freep) char *path = NULL;
	struct etw_tdh_loaded *loaded;
	ULONG error = resolve(wide, &path);

	if (error)
		return error;
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded)
		return ERROR_NOT_ENOUGH_MEMORY;
	loaded->name = name_in_folder(path);
	loaded->path = realpath(path, NULL);
	if (!loaded->path)
		loaded->path = loaded->name ? TAKE(loaded->name) : TAKE(path);
	*ret = loaded;
	return ERROR_SUCCESS;
}

static ULONG add(struct etw_tdh_loaded **loaded)
{
	struct etw_tdh_shared *shared;
	int result;

	TRY_WIN32(etw_tdh_lock(&shared));
	result = etw_tdh_loaded_add(shared, TAKE(*loaded));
	etw_tdh_unlock();
	return etw_win32_from_result(result);
}

static ULONG remove_loaded(const char *path, const uint8_t *sha1)
{
	struct etw_tdh_shared *shared;
	int result;

	TRY_WIN32(etw_tdh_lock(&shared));
	result = etw_tdh_loaded_remove(shared, path, sha1);
	etw_tdh_unlock();
	return etw_win32_from_result(result);
}

static ULONG parse_manifest(struct etw_tdh_loaded *loaded, const void *text, size_t bytes)
{
	int result = etw_manifest_parse(&loaded->arena, text, bytes, &loaded->definition, NULL);

	return result == -EBADMSG ? ERROR_XML_PARSE_ERROR : etw_win32_from_result(result);
}

static ULONG read_manifest(struct etw_tdh_loaded *loaded)
{
	CLEANUP(freep) char *text = NULL;
	size_t bytes;

	TRY_WIN32(etw_file_read(loaded->path, ETW_MANIFEST_BYTES_MAX, &text, &bytes));
	return parse_manifest(loaded, text, bytes);
}

TDHSTATUS TdhLoadManifest(PWSTR Manifest)
{
	CLEANUP(free_loadedp) struct etw_tdh_loaded *loaded = NULL;
	ULONG error = create_for_path(Manifest, &loaded);

	if (!error)
		error = read_manifest(loaded);
	return error ? error : add(&loaded);
}

/* By what the bytes are. */
static ULONG create_for_bytes(const void *at, ULONG bytes, struct etw_tdh_loaded **ret)
{
	struct etw_tdh_loaded *loaded;

	if (!at || !bytes)
		return ERROR_INVALID_PARAMETER;
	loaded = calloc(1, sizeof(*loaded));
	if (!loaded)
		return ERROR_NOT_ENOUGH_MEMORY;
	etw_sha1(at, bytes, loaded->sha1);
	*ret = loaded;
	return ERROR_SUCCESS;
}

TDHSTATUS TdhLoadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	CLEANUP(free_loadedp) struct etw_tdh_loaded *loaded = NULL;
	ULONG error = create_for_bytes(pData, cbData, &loaded);

	if (!error)
		error = parse_manifest(loaded, pData, cbData);
	return error ? error : add(&loaded);
}

TDHSTATUS TdhLoadManifestFromBinary(PWSTR BinaryPath)
{
	CLEANUP(free_loadedp) struct etw_tdh_loaded *loaded = NULL;
	ULONG error = create_for_path(BinaryPath, &loaded);
	int result;

	if (error)
		return error;
	result = etw_binary_read(&loaded->arena, loaded->path, NULL, NULL, &loaded->definition,
				 NULL);
	if (result == -ENODATA)
		return ERROR_RESOURCE_TYPE_NOT_FOUND;
	TRY_WIN32(result);
	return add(&loaded);
}

/*
 * What was loaded goes, whatever has become of its file. Where nothing was, the documented errors tell of a file
 * that is not there or is no manifest.
 */
TDHSTATUS TdhUnloadManifest(PWSTR Manifest)
{
	CLEANUP(free_loadedp) struct etw_tdh_loaded *wanted = NULL;
	ULONG error = create_for_path(Manifest, &wanted);

	if (!error)
		error = remove_loaded(wanted->path, NULL);
	if (error != ERROR_NOT_FOUND)
		return error;
	error = read_manifest(wanted);
	return error ? error : ERROR_NOT_FOUND;
}

TDHSTATUS TdhUnloadManifestFromMemory(LPCVOID pData, ULONG cbData)
{
	CLEANUP(free_loadedp) struct etw_tdh_loaded *wanted = NULL;
	ULONG error = create_for_bytes(pData, cbData, &wanted);

	if (!error)
		error = remove_loaded(NULL, wanted->sha1);
	if (error != ERROR_NOT_FOUND)
		return error;
	error = parse_manifest(wanted, pData, cbData);
	return error ? error : ERROR_NOT_FOUND;
}
