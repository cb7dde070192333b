/* SPDX-License-Identifier: MIT */
/* tdh.h: decoding handles and their parameters. */
#include "api/tdh/decoding_handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <winerror.h>

#include "api/wide.h"
#include "api/win32_error.h"
#include "base/macros.h"

/* A handle is (generation << 16 | index + 1), which also fits 32 bits. */
struct slot {
	struct etw_decoding_handle *object; /* NULL: free */
	uint16_t generation;
};

static struct {
	pthread_mutex_t lock; /* protects all below, and `users` of the objects */
	struct slot slots[ETW_DECODING_HANDLES_MAX];
	size_t count; /* slots that were ever used */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void free_object(struct etw_decoding_handle *object)
{
	if (!object)
		return;
	etw_symbols_free(object->symbols);
	free(object->tmf_file);
	free(object->tmf_search_path);
	free(object->pdb_path);
	(void)pthread_mutex_destroy(&object->lock);
	free(object);
}

/* Under the lock. The handle's slot, or NULL. */
static struct slot *find_slot(TDH_HANDLE handle)
{
	uintptr_t value = (uintptr_t)handle;
	size_t index = (value & 0xFFFF) - 1;
	struct slot *slot;

	if (index >= table.count)
		return NULL;
	slot = &table.slots[index];
	return slot->object && slot->generation == value >> 16 ? slot : NULL;
}

/* Under the lock. A free slot, or NULL when there are too many handles. */
static struct slot *take_slot(void)
{
	for (size_t i = 0; i < table.count; i++) {
		if (!table.slots[i].object)
			return &table.slots[i];
	}
	return table.count < ETW_DECODING_HANDLES_MAX ? &table.slots[table.count++] : NULL;
}

/* Ends one use; the last one frees the object. */
static void drop(struct etw_decoding_handle *object)
{
	bool is_last;

	(void)pthread_mutex_lock(&table.lock);
	is_last = --object->users == 0;
	(void)pthread_mutex_unlock(&table.lock);
	if (is_last)
		free_object(object);
}

struct etw_decoding_handle *etw_decoding_handle_take(TDH_HANDLE handle)
{
	struct etw_decoding_handle *object = NULL;
	struct slot *slot;

	(void)pthread_mutex_lock(&table.lock);
	slot = find_slot(handle);
	if (slot) {
		object = slot->object;
		object->users++;
	}
	(void)pthread_mutex_unlock(&table.lock);
	if (object)
		(void)pthread_mutex_lock(&object->lock);
	return object;
}

void etw_decoding_handle_give(struct etw_decoding_handle *object)
{
	(void)pthread_mutex_unlock(&object->lock);
	drop(object);
}

int etw_decoding_handle_symbols(struct etw_decoding_handle *object, struct etw_symbols **ret)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};

	if (!object->symbols) {
		TRY(etw_symbol_paths_read(object->tmf_file, object->tmf_search_path,
					  object->pdb_path, &paths));
		TRY(etw_symbols_create(&paths, &object->symbols));
	}
	*ret = object->symbols;
	return 0;
}

TDHSTATUS TdhOpenDecodingHandle(PTDH_HANDLE Handle)
{
	struct etw_decoding_handle *object;
	struct slot *slot;

	if (!Handle)
		return ERROR_INVALID_PARAMETER;
	object = calloc(1, sizeof(*object));
	if (!object)
		return ERROR_NOT_ENOUGH_MEMORY;
	(void)pthread_mutex_init(&object->lock, NULL);
	object->pointer_bytes = sizeof(void *);
	object->users = 1;
	(void)pthread_mutex_lock(&table.lock);
	slot = take_slot();
	if (slot) {
		slot->object = object;
		slot->generation++;
		*Handle = (TDH_HANDLE)((uintptr_t)slot->generation << 16 |
				       (uintptr_t)(slot - table.slots + 1));
	}
	(void)pthread_mutex_unlock(&table.lock);
	if (slot)
		return ERROR_SUCCESS;
	free_object(object);
	return ERROR_NOT_ENOUGH_MEMORY;
}

TDHSTATUS TdhCloseDecodingHandle(TDH_HANDLE Handle)
{
	struct etw_decoding_handle *object = NULL;
	struct slot *slot;

	(void)pthread_mutex_lock(&table.lock);
	slot = find_slot(Handle);
	if (slot)
		object = TAKE(slot->object);
	(void)pthread_mutex_unlock(&table.lock);
	if (!object)
		return ERROR_INVALID_PARAMETER;
	drop(object);
	return ERROR_SUCCESS;
}

/* --- Parameters, holding the object */

/* Whether what a parameter names is there. */
static int check_tmf(const struct etw_decoding_handle *object, const WCHAR *name)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};
	CLEANUP(freep) char *found = NULL;
	int result;

	TRY(etw_symbol_paths_read(name, object->tmf_search_path, NULL, &paths));
	result = etw_symbol_paths_find_tmf(&paths, &found);
	return result == -ENOENT ? -EINVAL : result;
}

static int check_pdb(const WCHAR *name)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};
	CLEANUP(freep) char *found = NULL;
	int result;

	TRY(etw_symbol_paths_read(NULL, NULL, name, &paths));
	result = etw_symbol_paths_find_pdb(&paths, &found);
	return result == -ENOENT ? -EINVAL : result;
}

static int check_folders(const WCHAR *search_path)
{
	CLEANUP(etw_symbol_paths_done) struct etw_symbol_paths paths = {0};
	int result;

	TRY(etw_symbol_paths_read(NULL, search_path, NULL, &paths));
	result = etw_symbol_paths_has_folder(&paths);
	return result == 0 ? -EINVAL : result;
}

/* What was read by the old names is given back. */
static int set_path(struct etw_decoding_handle *object, WCHAR **where, const WCHAR *path)
{
	WCHAR *copy;

	TRY(etw_wide_copy(path, &copy));
	free(*where);
	*where = copy;
	etw_symbols_free(TAKE(object->symbols));
	return 0;
}

static int set_parameter(struct etw_decoding_handle *object, TDH_CONTEXT *context)
{
	const WCHAR *path = (const WCHAR *)(uintptr_t)context->ParameterValue;

	switch (context->ParameterType) {
	case TDH_CONTEXT_WPP_TMFFILE:
		if (!path)
			return -EINVAL;
		TRY(check_tmf(object, path));
		return set_path(object, &object->tmf_file, path);
	case TDH_CONTEXT_WPP_TMFSEARCHPATH:
		if (!path)
			return -EINVAL;
		TRY(check_folders(path));
		return set_path(object, &object->tmf_search_path, path);
	case TDH_CONTEXT_PDB_PATH:
		if (!path)
			return -EINVAL;
		TRY(check_pdb(path));
		return set_path(object, &object->pdb_path, path);
	case TDH_CONTEXT_WPP_GMT:
		if (context->ParameterValue > 1)
			return -EINVAL;
		object->is_utc = context->ParameterValue == 1;
		return 0;
	case TDH_CONTEXT_POINTERSIZE:
		if (context->ParameterValue != 4 && context->ParameterValue != 8)
			return -EINVAL;
		object->pointer_bytes = (unsigned)context->ParameterValue;
		return 0;
	default:
		return -EINVAL;
	}
}

static int get_path(const WCHAR *path, TDH_CONTEXT *context)
{
	if (!path)
		return -EINVAL;
	context->ParameterValue = (ULONGLONG)(uintptr_t)path;
	return 0;
}

static int get_parameter(struct etw_decoding_handle *object, TDH_CONTEXT *context)
{
	switch (context->ParameterType) {
	case TDH_CONTEXT_WPP_TMFFILE:
		return get_path(object->tmf_file, context);
	case TDH_CONTEXT_WPP_TMFSEARCHPATH:
		return get_path(object->tmf_search_path, context);
	case TDH_CONTEXT_PDB_PATH:
		return get_path(object->pdb_path, context);
	case TDH_CONTEXT_WPP_GMT:
		context->ParameterValue = object->is_utc;
		return 0;
	case TDH_CONTEXT_POINTERSIZE:
		context->ParameterValue = object->pointer_bytes;
		return 0;
	default:
		return -EINVAL;
	}
}

static ULONG with_object(TDH_HANDLE handle, TDH_CONTEXT *context,
			 int (*act)(struct etw_decoding_handle *, TDH_CONTEXT *))
{
	struct etw_decoding_handle *object = context ? etw_decoding_handle_take(handle) : NULL;
	int result;

	if (!object)
		return ERROR_INVALID_PARAMETER;
	result = act(object, context);
	etw_decoding_handle_give(object);
	return etw_win32_from_result(result);
}

TDHSTATUS TdhSetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext)
{
	return with_object(Handle, TdhContext, set_parameter);
}

TDHSTATUS TdhGetDecodingParameter(TDH_HANDLE Handle, PTDH_CONTEXT TdhContext)
{
	return with_object(Handle, TdhContext, get_parameter);
}
