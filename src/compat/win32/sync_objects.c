/* SPDX-License-Identifier: MIT */
/* Events, mutexes, semaphores and timers. Names are the process' own: objects are not shared with other processes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "base/time.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

static struct etw_object *first_named;

void etw_object_unname(struct etw_object *object)
{
	struct etw_object **at = &first_named;

	if (!object->name)
		return;
	while (*at != object)
		at = &(*at)->next_named;
	*at = object->next_named;
	free(object->name);
	object->name = NULL;
}

/* "Global\" and "Local\" are one and the same here. */
static const char *plain_name(const char *name)
{
	if (!strncmp(name, "Global\\", 7))
		return name + 7;
	return strncmp(name, "Local\\", 6) ? name : name + 6;
}

static struct etw_object *find_named(const char *name)
{
	for (struct etw_object *at = first_named; at; at = at->next_named) {
		if (!strcmp(at->name, plain_name(name)))
			return at;
	}
	return NULL;
}

/* Opens a handle to a new object, or to the one of that name; takes @object and @name. */
static HANDLE publish(struct etw_object *object, char *name)
{
	struct etw_object *known;
	HANDLE handle = NULL;
	DWORD error = ERROR_SUCCESS;

	(void)pthread_mutex_lock(&etw_object_lock);
	known = name && *name ? find_named(name) : NULL;
	if (known && known->type == object->type) {
		etw_object_unref(object);
		handle = etw_handle_open(etw_object_ref(known));
		error = ERROR_ALREADY_EXISTS;
	} else if (known) {
		etw_object_unref(object);
		error = ERROR_INVALID_HANDLE;
	} else {
		if (name && *name) {
			object->name = strdup(plain_name(name));
			if (object->name) {
				object->next_named = first_named;
				first_named = object;
			}
		}
		handle = etw_handle_open(object);
	}
	(void)pthread_mutex_unlock(&etw_object_lock);
	free(name);
	if (handle || error)
		SetLastError(error);
	return handle;
}

static HANDLE open_named(enum etw_object_type type, char *name)
{
	struct etw_object *known;
	HANDLE handle = NULL;
	DWORD error = ERROR_SUCCESS;

	if (!name)
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	(void)pthread_mutex_lock(&etw_object_lock);
	known = find_named(name);
	if (!known)
		error = ERROR_FILE_NOT_FOUND;
	else if (known->type != type)
		error = ERROR_INVALID_HANDLE;
	else
		handle = etw_handle_open(etw_object_ref(known));
	(void)pthread_mutex_unlock(&etw_object_lock);
	free(name);
	if (error)
		SetLastError(error);
	return handle;
}

static char *copy_of(LPCSTR name)
{
	return name ? strdup(name) : NULL;
}

/* --- Events. */
static HANDLE create_event(bool is_manual, bool is_signalled, char *name)
{
	struct etw_object *event = etw_object_create(ETW_OBJECT_EVENT);

	if (!event) {
		free(name);
		return NULL;
	}
	event->is_manual = is_manual;
	event->is_signalled = is_signalled;
	return publish(event, name);
}

HANDLE CreateEventA(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState,
		    LPCSTR lpName)
{
	(void)lpEventAttributes;
	return create_event(bManualReset, bInitialState, copy_of(lpName));
}

HANDLE CreateEventW(LPSECURITY_ATTRIBUTES lpEventAttributes, BOOL bManualReset, BOOL bInitialState,
		    LPCWSTR lpName)
{
	(void)lpEventAttributes;
	return create_event(bManualReset, bInitialState, etw_narrow(lpName));
}

HANDLE CreateEventExA(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCSTR lpName, DWORD dwFlags,
		      DWORD dwDesiredAccess)
{
	(void)dwDesiredAccess;
	return CreateEventA(lpEventAttributes, (dwFlags & CREATE_EVENT_MANUAL_RESET) != 0,
			    (dwFlags & CREATE_EVENT_INITIAL_SET) != 0, lpName);
}

HANDLE CreateEventExW(LPSECURITY_ATTRIBUTES lpEventAttributes, LPCWSTR lpName, DWORD dwFlags,
		      DWORD dwDesiredAccess)
{
	(void)dwDesiredAccess;
	return CreateEventW(lpEventAttributes, (dwFlags & CREATE_EVENT_MANUAL_RESET) != 0,
			    (dwFlags & CREATE_EVENT_INITIAL_SET) != 0, lpName);
}

HANDLE OpenEventA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName)
{
	(void)dwDesiredAccess;
	(void)bInheritHandle;
	return open_named(ETW_OBJECT_EVENT, copy_of(lpName));
}

HANDLE OpenEventW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName)
{
	(void)dwDesiredAccess;
	(void)bInheritHandle;
	return open_named(ETW_OBJECT_EVENT, etw_narrow(lpName));
}

static BOOL change_event(HANDLE handle, bool is_set, bool is_reset)
{
	struct etw_object *event = etw_handle_get(handle, ETW_OBJECT_EVENT);

	if (!event)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	if (is_set) {
		event->is_signalled = true;
		etw_object_changed(event);
	}
	if (is_reset)
		event->is_signalled = false;
	etw_object_unref(event);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return TRUE;
}

BOOL SetEvent(HANDLE hEvent)
{
	return change_event(hEvent, true, false);
}

BOOL ResetEvent(HANDLE hEvent)
{
	return change_event(hEvent, false, true);
}

BOOL PulseEvent(HANDLE hEvent)
{
	return change_event(hEvent, true, true);
}

/* --- Mutexes. */
static HANDLE create_mutex(bool is_owned, char *name)
{
	struct etw_object *mutex = etw_object_create(ETW_OBJECT_MUTEX), *thread = NULL;

	if (!mutex) {
		free(name);
		return NULL;
	}
	/* Before anybody can find it. Where the name is known already, this one goes, and its owner with it. */
	if (is_owned) {
		(void)pthread_mutex_lock(&etw_object_lock);
		thread = etw_object_current_thread();
		if (thread) {
			etw_mutex_own(mutex, thread);
			mutex->mutex.depth = 1;
		}
		(void)pthread_mutex_unlock(&etw_object_lock);
	}
	if (is_owned && !thread) {
		etw_object_release(mutex);
		free(name);
		return NULL;
	}
	return publish(mutex, name);
}

HANDLE CreateMutexA(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner, LPCSTR lpName)
{
	(void)lpMutexAttributes;
	return create_mutex(bInitialOwner, copy_of(lpName));
}

HANDLE CreateMutexW(LPSECURITY_ATTRIBUTES lpMutexAttributes, BOOL bInitialOwner, LPCWSTR lpName)
{
	(void)lpMutexAttributes;
	return create_mutex(bInitialOwner, etw_narrow(lpName));
}

HANDLE OpenMutexA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName)
{
	(void)dwDesiredAccess;
	(void)bInheritHandle;
	return open_named(ETW_OBJECT_MUTEX, copy_of(lpName));
}

HANDLE OpenMutexW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName)
{
	(void)dwDesiredAccess;
	(void)bInheritHandle;
	return open_named(ETW_OBJECT_MUTEX, etw_narrow(lpName));
}

void etw_mutex_disown(struct etw_object *mutex)
{
	struct etw_object **at;

	if (!mutex->mutex.owner)
		return;
	at = &mutex->mutex.owner->thread.owned_mutexes;
	while (*at != mutex)
		at = &(*at)->mutex.next_owned;
	*at = mutex->mutex.next_owned;
	mutex->mutex.owner = NULL;
}

BOOL ReleaseMutex(HANDLE hMutex)
{
	struct etw_object *mutex = etw_handle_get(hMutex, ETW_OBJECT_MUTEX);
	bool is_ours;

	if (!mutex)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	is_ours = mutex->mutex.owner && mutex->mutex.owner == etw_object_current_thread();
	if (is_ours && !--mutex->mutex.depth) {
		etw_mutex_disown(mutex);
		etw_object_changed(mutex);
	}
	etw_object_unref(mutex);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return is_ours ? TRUE : etw_fail(ERROR_NOT_OWNER);
}

/* --- Semaphores. */
static HANDLE create_semaphore(LONG count, LONG max, char *name)
{
	struct etw_object *semaphore;

	if (max <= 0 || count < 0 || count > max) {
		free(name);
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	}
	semaphore = etw_object_create(ETW_OBJECT_SEMAPHORE);
	if (!semaphore) {
		free(name);
		return NULL;
	}
	semaphore->semaphore.count = count;
	semaphore->semaphore.max = max;
	return publish(semaphore, name);
}

HANDLE CreateSemaphoreA(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
			LONG lMaximumCount, LPCSTR lpName)
{
	(void)lpSemaphoreAttributes;
	return create_semaphore(lInitialCount, lMaximumCount, copy_of(lpName));
}

HANDLE CreateSemaphoreW(LPSECURITY_ATTRIBUTES lpSemaphoreAttributes, LONG lInitialCount,
			LONG lMaximumCount, LPCWSTR lpName)
{
	(void)lpSemaphoreAttributes;
	return create_semaphore(lInitialCount, lMaximumCount, etw_narrow(lpName));
}

HANDLE OpenSemaphoreA(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCSTR lpName)
{
	(void)dwDesiredAccess;
	(void)bInheritHandle;
	return open_named(ETW_OBJECT_SEMAPHORE, copy_of(lpName));
}

HANDLE OpenSemaphoreW(DWORD dwDesiredAccess, BOOL bInheritHandle, LPCWSTR lpName)
{
	(void)dwDesiredAccess;
	(void)bInheritHandle;
	return open_named(ETW_OBJECT_SEMAPHORE, etw_narrow(lpName));
}

BOOL ReleaseSemaphore(HANDLE hSemaphore, LONG lReleaseCount, LPLONG lpPreviousCount)
{
	struct etw_object *semaphore = etw_handle_get(hSemaphore, ETW_OBJECT_SEMAPHORE);
	DWORD error = ERROR_SUCCESS;

	if (!semaphore)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	if (lReleaseCount <= 0) {
		error = ERROR_INVALID_PARAMETER;
	} else if (lReleaseCount > semaphore->semaphore.max - semaphore->semaphore.count) {
		error = ERROR_TOO_MANY_POSTS;
	} else {
		if (lpPreviousCount)
			*lpPreviousCount = semaphore->semaphore.count;
		semaphore->semaphore.count += lReleaseCount;
		etw_object_changed(semaphore);
	}
	etw_object_unref(semaphore);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return error ? etw_fail(error) : TRUE;
}

/* --- Timers. */
static HANDLE create_timer(bool is_manual, char *name)
{
	struct etw_object *timer = etw_object_create(ETW_OBJECT_TIMER);

	if (timer)
		timer->fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (!timer || timer->fd < 0) {
		const int error = errno;

		etw_object_release(timer);
		free(name);
		return etw_fail_null(etw_error_of_errno(error));
	}
	timer->is_manual = is_manual;
	return publish(timer, name);
}

HANDLE CreateWaitableTimerA(LPSECURITY_ATTRIBUTES lpTimerAttributes, BOOL bManualReset,
			    LPCSTR lpTimerName)
{
	(void)lpTimerAttributes;
	return create_timer(bManualReset, copy_of(lpTimerName));
}

HANDLE CreateWaitableTimerW(LPSECURITY_ATTRIBUTES lpTimerAttributes, BOOL bManualReset,
			    LPCWSTR lpTimerName)
{
	(void)lpTimerAttributes;
	return create_timer(bManualReset, etw_narrow(lpTimerName));
}

HANDLE CreateWaitableTimerExW(LPSECURITY_ATTRIBUTES lpTimerAttributes, LPCWSTR lpTimerName,
			      DWORD dwFlags, DWORD dwDesiredAccess)
{
	(void)dwDesiredAccess;
	return CreateWaitableTimerW(lpTimerAttributes,
				    (dwFlags & CREATE_WAITABLE_TIMER_MANUAL_RESET) != 0,
				    lpTimerName);
}

void etw_timer_drop_call(struct etw_object *timer)
{
	struct etw_call **at, *call;

	if (!timer->timer.thread)
		return;
	at = &timer->timer.thread->thread.calls;
	while (*at && (*at)->timer != timer)
		at = &(*at)->next;
	call = *at;
	if (call)
		*at = call->next;
	free(call);
}

static bool arm(struct etw_object *timer, int64_t due_ft, LONG period_ms)
{
	struct itimerspec times = {0};
	const int64_t now_ft = etw_filetime_now();
	/* Below zero from now on, else a time. One that is over expires at once. */
	int64_t at_ns = ((due_ft <= 0 ? now_ft - due_ft : due_ft) - ETW_FILETIME_UNIX_EPOCH) *
			ETW_NS_PER_FT;

	if (at_ns <= 0)
		at_ns = 1;
	times.it_value = etw_timespec_of_ns((uint64_t)at_ns);
	times.it_interval = etw_timespec_of_ns((uint64_t)period_ms * ETW_NS_PER_MS);
	return !timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &times, NULL);
}

BOOL SetWaitableTimer(HANDLE hTimer, const LARGE_INTEGER *lpDueTime, LONG lPeriod,
		      PTIMERAPCROUTINE pfnCompletionRoutine, LPVOID lpArgToCompletionRoutine,
		      BOOL fResume)
{
	struct etw_object *timer;
	bool is_set;

	(void)fResume;
	if (!lpDueTime || lPeriod < 0)
		return etw_fail(ERROR_INVALID_PARAMETER);
	timer = etw_handle_get(hTimer, ETW_OBJECT_TIMER);
	if (!timer)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	timer->is_signalled = false;
	etw_timer_drop_call(timer);
	if (timer->timer.thread)
		etw_object_unref(timer->timer.thread);
	timer->timer.thread = NULL;
	timer->timer.function = pfnCompletionRoutine;
	timer->timer.argument = lpArgToCompletionRoutine;
	if (pfnCompletionRoutine) {
		struct etw_object *thread = etw_object_current_thread();

		timer->timer.thread = thread ? etw_object_ref(thread) : NULL;
	}
	is_set = arm(timer, lpDueTime->QuadPart, lPeriod);
	etw_watcher_add(timer);
	is_set = is_set && timer->watch; /* else nobody would see it expire */
	etw_object_unref(timer);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return is_set ? TRUE : etw_fail(ERROR_INVALID_PARAMETER);
}

BOOL CancelWaitableTimer(HANDLE hTimer)
{
	struct etw_object *timer = etw_handle_get(hTimer, ETW_OBJECT_TIMER);
	const struct itimerspec never = {0};
	bool is_stopped;

	if (!timer)
		return FALSE;
	(void)pthread_mutex_lock(&etw_object_lock);
	is_stopped = !timerfd_settime(timer->fd, 0, &never, NULL);
	etw_timer_drop_call(timer);
	etw_object_unref(timer);
	(void)pthread_mutex_unlock(&etw_object_lock);
	return is_stopped;
}
