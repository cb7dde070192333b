/* SPDX-License-Identifier: MIT */
#include "compat/win32/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pthread_mutex_t etw_object_lock = PTHREAD_MUTEX_INITIALIZER;

/* A handle is 4 * (place + 1), with how often the place was used above it, so that an old handle is told from a new one. */
#define HANDLE_PLACE_BITS 20
#define HANDLE_USES_MASK  0x3ff

struct place {
	struct etw_object *object;
	uint32_t uses;
};

static struct place *places;
static size_t place_room, place_from;

struct etw_object *etw_object_create(enum etw_object_type type)
{
	struct etw_object *object = calloc(1, sizeof(*object));

	if (!object)
		return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	object->type = type;
	object->references = 1;
	object->fd = -1;
	return object;
}

struct etw_object *etw_object_ref(struct etw_object *object)
{
	object->references++;
	return object;
}

static void end_file(struct etw_object *object)
{
	if (object->file.path)
		(void)unlink(object->file.path);
	free(object->file.path);
	if (object->fd >= 0 && !object->file.is_borrowed)
		(void)close(object->fd);
}

void etw_object_unref(struct etw_object *object)
{
	if (--object->references)
		return;
	if (object->watch)
		etw_watcher_forget(object);
	etw_object_unname(object);
	switch (object->type) {
	case ETW_OBJECT_FILE:
		end_file(object);
		break;
	case ETW_OBJECT_TIMER:
		etw_timer_drop_call(object);
		if (object->timer.thread)
			etw_object_unref(object->timer.thread);
		break;
	case ETW_OBJECT_MUTEX:
		etw_mutex_disown(object);
		break;
	case ETW_OBJECT_THREAD:
		etw_object_thread_done(object);
		break;
	case ETW_OBJECT_FIND:
		if (object->find.folder)
			(void)closedir(object->find.folder);
		free(object->find.path);
		free(object->find.pattern);
		break;
	default:
		break;
	}
	if (object->fd >= 0 && object->type != ETW_OBJECT_FILE)
		(void)close(object->fd);
	free(object);
}

void etw_object_release(struct etw_object *object)
{
	const int error = errno;

	if (!object)
		return;
	(void)pthread_mutex_lock(&etw_object_lock);
	etw_object_unref(object);
	(void)pthread_mutex_unlock(&etw_object_lock);
	errno = error;
}

static bool find_place(size_t *ret)
{
	struct place *grown;

	for (size_t i = 0; i < place_room; i++) {
		const size_t at = (place_from + i) % place_room;

		if (places[at].object)
			continue;
		place_from = at + 1;
		*ret = at;
		return true;
	}
	if (place_room * 2 >= (size_t)1 << HANDLE_PLACE_BITS)
		return false;
	grown = realloc(places, (place_room ? place_room * 2 : 64) * sizeof(*grown));
	if (!grown)
		return false;
	places = grown;
	*ret = place_room;
	place_from = place_room + 1;
	memset(places + place_room, 0,
	       ((place_room ? place_room * 2 : 64) - place_room) * sizeof(*grown));
	place_room = place_room ? place_room * 2 : 64;
	return true;
}

HANDLE etw_handle_open(struct etw_object *object)
{
	size_t at;

	if (!find_place(&at)) {
		etw_object_unref(object);
		return etw_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	}
	places[at].object = object;
	return (HANDLE)(uintptr_t)((at + 1) << 2 | (uintptr_t)(places[at].uses & HANDLE_USES_MASK)
							   << (HANDLE_PLACE_BITS + 2));
}

static struct place *place_of(HANDLE handle)
{
	const uintptr_t value = (uintptr_t)handle;
	const uintptr_t at = (value >> 2 & (((uintptr_t)1 << HANDLE_PLACE_BITS) - 1)) - 1;

	if (at >= place_room || !places[at].object ||
	    value >> (HANDLE_PLACE_BITS + 2) != (places[at].uses & HANDLE_USES_MASK))
		return NULL;
	return &places[at];
}

struct etw_object *etw_handle_find(HANDLE handle)
{
	struct place *place;

	if (handle == GetCurrentThread())
		return etw_object_current_thread();
	if (handle == GetCurrentProcess())
		return etw_object_current_process();
	place = place_of(handle);
	return place ? place->object : NULL;
}

struct etw_object *etw_handle_get(HANDLE handle, enum etw_object_type type)
{
	struct etw_object *object;

	(void)pthread_mutex_lock(&etw_object_lock);
	object = etw_handle_find(handle);
	if (object && object->type == type)
		(void)etw_object_ref(object);
	else
		object = NULL;
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (!object)
		SetLastError(ERROR_INVALID_HANDLE);
	return object;
}

BOOL CloseHandle(HANDLE hObject)
{
	struct place *place;
	BOOL is_closed = FALSE;

	if (hObject == GetCurrentThread() || hObject == GetCurrentProcess())
		return TRUE;
	(void)pthread_mutex_lock(&etw_object_lock);
	place = place_of(hObject);
	if (place) {
		struct etw_object *object = place->object;

		place->object = NULL;
		place->uses++;
		etw_object_unref(object);
		is_closed = TRUE;
	}
	(void)pthread_mutex_unlock(&etw_object_lock);
	return is_closed ? TRUE : etw_fail(ERROR_INVALID_HANDLE);
}

BOOL DuplicateHandle(HANDLE hSourceProcessHandle, HANDLE hSourceHandle, HANDLE hTargetProcessHandle,
		     LPHANDLE lpTargetHandle, DWORD dwDesiredAccess, BOOL bInheritHandle,
		     DWORD dwOptions)
{
	struct etw_object *object;
	HANDLE copy = NULL;
	bool is_known;

	(void)dwDesiredAccess;
	(void)bInheritHandle;
	if (hSourceProcessHandle != GetCurrentProcess() ||
	    (lpTargetHandle && hTargetProcessHandle != GetCurrentProcess()))
		return etw_fail(ERROR_NOT_SUPPORTED);
	(void)pthread_mutex_lock(&etw_object_lock);
	object = etw_handle_find(hSourceHandle);
	is_known = object != NULL;
	if (object && lpTargetHandle)
		copy = etw_handle_open(etw_object_ref(object));
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (!is_known)
		return etw_fail(ERROR_INVALID_HANDLE);
	if (dwOptions & DUPLICATE_CLOSE_SOURCE)
		(void)CloseHandle(hSourceHandle);
	if (!lpTargetHandle)
		return TRUE;
	*lpTargetHandle = copy;
	return copy != NULL;
}

BOOL GetHandleInformation(HANDLE hObject, LPDWORD lpdwFlags)
{
	bool is_known;

	(void)pthread_mutex_lock(&etw_object_lock);
	is_known = etw_handle_find(hObject) != NULL;
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (!is_known)
		return etw_fail(ERROR_INVALID_HANDLE);
	*lpdwFlags = 0;
	return TRUE;
}

BOOL CompareObjectHandles(HANDLE hFirst, HANDLE hSecond)
{
	BOOL is_same;

	(void)pthread_mutex_lock(&etw_object_lock);
	is_same = etw_handle_find(hFirst) && etw_handle_find(hFirst) == etw_handle_find(hSecond);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return is_same;
}
