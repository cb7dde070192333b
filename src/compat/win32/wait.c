/* SPDX-License-Identifier: MIT */
#include "compat/win32/object.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/time.h"

/* A wait in progress. It lies on the waiting thread's stack; the list is in the order in which they began. */
struct etw_wait {
	struct etw_wait *next;
	struct etw_object *objects[MAXIMUM_WAIT_OBJECTS]; /* references */
	struct etw_object *thread;
	DWORD count;
	bool is_all;
	bool is_done;
	DWORD result;
	pthread_cond_t ended;
};

static struct etw_wait *first_wait;

static bool is_signalled(const struct etw_object *object, const struct etw_object *thread)
{
	switch (object->type) {
	case ETW_OBJECT_MUTEX:
		return !object->mutex.owner || object->mutex.owner == thread;
	case ETW_OBJECT_SEMAPHORE:
		return object->semaphore.count > 0;
	case ETW_OBJECT_FILE: {
		struct pollfd file = {.fd = object->fd, .events = POLLIN};

		return poll(&file, 1, 0) != 0;
	}
	default:
		return object->is_signalled;
	}
}

void etw_mutex_own(struct etw_object *mutex, struct etw_object *thread)
{
	mutex->mutex.owner = thread;
	mutex->mutex.next_owned = thread->thread.owned_mutexes;
	thread->thread.owned_mutexes = mutex;
}

/* Takes what the wait is for; returns whether a mutex had been left behind by its thread. */
static bool take(struct etw_object *object, struct etw_object *thread)
{
	bool was_abandoned = false;

	switch (object->type) {
	case ETW_OBJECT_MUTEX:
		if (!object->mutex.owner) {
			etw_mutex_own(object, thread);
			was_abandoned = object->mutex.is_abandoned;
			object->mutex.is_abandoned = false;
		}
		object->mutex.depth++;
		break;
	case ETW_OBJECT_SEMAPHORE:
		object->semaphore.count--;
		break;
	case ETW_OBJECT_EVENT:
	case ETW_OBJECT_TIMER:
		if (!object->is_manual)
			object->is_signalled = false;
		break;
	default:
		break;
	}
	return was_abandoned;
}

/* Whether the wait is over; it has then taken its objects, and has its result. */
static bool satisfy(struct etw_wait *wait)
{
	bool was_abandoned = false;

	for (DWORD i = 0; i < wait->count; i++) {
		if (is_signalled(wait->objects[i], wait->thread) == wait->is_all)
			continue;
		if (wait->is_all)
			return false;
		wait->result = (take(wait->objects[i], wait->thread) ? WAIT_ABANDONED_0
								     : WAIT_OBJECT_0) +
			       i;
		return true;
	}
	if (!wait->is_all)
		return false;
	for (DWORD i = 0; i < wait->count; i++)
		was_abandoned |= take(wait->objects[i], wait->thread);
	wait->result = was_abandoned ? WAIT_ABANDONED_0 : WAIT_OBJECT_0;
	return true;
}

static bool has(const struct etw_wait *wait, const struct etw_object *object)
{
	for (DWORD i = 0; i < wait->count; i++) {
		if (wait->objects[i] == object)
			return true;
	}
	return false;
}

static void finish(struct etw_wait *wait)
{
	wait->is_done = true;
	(void)pthread_cond_signal(&wait->ended);
}

void etw_object_changed(struct etw_object *object)
{
	for (struct etw_wait *wait = first_wait; wait; wait = wait->next) {
		if (!wait->is_done && has(wait, object) && satisfy(wait))
			finish(wait);
	}
}

void etw_object_add_call(struct etw_object *thread, struct etw_call *call)
{
	struct etw_call **end = &thread->thread.calls;

	while (*end)
		end = &(*end)->next;
	call->next = NULL;
	*end = call;
	if (thread->thread.waiting && !thread->thread.waiting->is_done) {
		thread->thread.waiting->result = WAIT_IO_COMPLETION;
		finish(thread->thread.waiting);
	}
}

/* Makes the calls that are queued. Returns whether there were any. Holding the lock, which is let go meanwhile. */
static bool make_calls(struct etw_object *thread)
{
	bool were_any = false;

	while (thread->thread.calls) {
		struct etw_call *call = thread->thread.calls;

		thread->thread.calls = call->next;
		were_any = true;
		(void)pthread_mutex_unlock(&etw_object_lock);
		if (call->timer_function)
			call->timer_function(call->argument, (DWORD)call->due_ft,
					     (DWORD)(call->due_ft >> 32));
		else
			call->function((ULONG_PTR)call->argument);
		free(call);
		(void)pthread_mutex_lock(&etw_object_lock);
	}
	return were_any;
}

static void join_list(struct etw_wait *wait)
{
	struct etw_wait **end = &first_wait;

	while (*end)
		end = &(*end)->next;
	*end = wait;
}

static void leave_list(struct etw_wait *wait)
{
	struct etw_wait **at = &first_wait;

	while (*at != wait)
		at = &(*at)->next;
	*at = wait->next;
}

static void sleep_until_done(struct etw_wait *wait, DWORD timeout_ms)
{
	const struct timespec until =
		etw_timespec_of_ns(etw_monotonic_ns() + timeout_ms * ETW_NS_PER_MS);
	int error = 0;

	while (!wait->is_done && error != ETIMEDOUT) {
		if (timeout_ms == INFINITE)
			error = pthread_cond_wait(&wait->ended, &etw_object_lock);
		else
			error = pthread_cond_clockwait(&wait->ended, &etw_object_lock,
						       CLOCK_MONOTONIC, &until);
	}
	if (!wait->is_done)
		wait->result = WAIT_TIMEOUT;
}

/* Holding the lock. */
static DWORD wait_for(struct etw_wait *wait, DWORD timeout_ms, bool is_alertable)
{
	struct etw_object *thread = wait->thread;

	if (wait->count && satisfy(wait))
		return wait->result;
	if (is_alertable && make_calls(thread))
		return WAIT_IO_COMPLETION;
	if (timeout_ms == 0)
		return WAIT_TIMEOUT;
	(void)pthread_cond_init(&wait->ended, NULL);
	join_list(wait);
	/* Last, as what is watched may be there at once. */
	for (DWORD i = 0; i < wait->count; i++)
		etw_watcher_add(wait->objects[i]);
	if (is_alertable)
		thread->thread.waiting = wait;
	sleep_until_done(wait, timeout_ms);
	thread->thread.waiting = NULL;
	leave_list(wait);
	(void)pthread_cond_destroy(&wait->ended);
	if (wait->result == WAIT_IO_COMPLETION && is_alertable)
		(void)make_calls(thread);
	return wait->result;
}

static bool is_waitable(const struct etw_object *object)
{
	return object && object->type != ETW_OBJECT_FIND;
}

/* Fills the wait with references. Returns an error code. */
static DWORD collect(struct etw_wait *wait, DWORD count, const HANDLE *handles, bool is_all)
{
	for (DWORD i = 0; i < count; i++) {
		struct etw_object *object = etw_handle_find(handles[i]);

		if (!is_waitable(object))
			return ERROR_INVALID_HANDLE;
		if (is_all && has(wait, object))
			return ERROR_INVALID_PARAMETER;
		wait->objects[wait->count++] = etw_object_ref(object);
	}
	return ERROR_SUCCESS;
}

static DWORD wait_many(DWORD count, const HANDLE *handles, bool is_all, DWORD timeout_ms,
		       bool is_alertable)
{
	struct etw_wait wait = {.is_all = is_all};
	DWORD error, result = WAIT_FAILED;

	(void)pthread_mutex_lock(&etw_object_lock);
	wait.thread = etw_object_current_thread();
	error = wait.thread ? collect(&wait, count, handles, is_all) : ERROR_NOT_ENOUGH_MEMORY;
	if (!error)
		result = wait_for(&wait, timeout_ms, is_alertable);
	for (DWORD i = 0; i < wait.count; i++)
		etw_object_unref(wait.objects[i]);
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (error)
		SetLastError(error);
	return result;
}

DWORD WaitForMultipleObjectsEx(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll,
			       DWORD dwMilliseconds, BOOL bAlertable)
{
	if (nCount == 0 || nCount > MAXIMUM_WAIT_OBJECTS || !lpHandles) {
		SetLastError(ERROR_INVALID_PARAMETER);
		return WAIT_FAILED;
	}
	return wait_many(nCount, lpHandles, bWaitAll, dwMilliseconds, bAlertable);
}

DWORD WaitForMultipleObjects(DWORD nCount, const HANDLE *lpHandles, BOOL bWaitAll,
			     DWORD dwMilliseconds)
{
	return WaitForMultipleObjectsEx(nCount, lpHandles, bWaitAll, dwMilliseconds, FALSE);
}

DWORD WaitForSingleObjectEx(HANDLE hHandle, DWORD dwMilliseconds, BOOL bAlertable)
{
	return WaitForMultipleObjectsEx(1, &hHandle, FALSE, dwMilliseconds, bAlertable);
}

DWORD WaitForSingleObject(HANDLE hHandle, DWORD dwMilliseconds)
{
	return WaitForSingleObjectEx(hHandle, dwMilliseconds, FALSE);
}

DWORD SleepEx(DWORD dwMilliseconds, BOOL bAlertable)
{
	DWORD result;

	if (dwMilliseconds == 0 && !bAlertable) {
		(void)sched_yield();
		return 0;
	}
	result = wait_many(0, NULL, false, dwMilliseconds, bAlertable);
	return result == WAIT_IO_COMPLETION ? result : 0;
}

void Sleep(DWORD dwMilliseconds)
{
	(void)SleepEx(dwMilliseconds, FALSE);
}

DWORD QueueUserAPC(PAPCFUNC pfnAPC, HANDLE hThread, ULONG_PTR dwData)
{
	struct etw_object *thread;
	struct etw_call *call = calloc(1, sizeof(*call));
	bool is_queued = false;

	if (!call)
		return (DWORD)etw_fail(ERROR_NOT_ENOUGH_MEMORY);
	thread = etw_handle_get(hThread, ETW_OBJECT_THREAD);
	if (thread) {
		call->function = pfnAPC;
		call->argument = (void *)dwData;
		(void)pthread_mutex_lock(&etw_object_lock);
		if (!thread->is_signalled) {
			etw_object_add_call(thread, call);
			is_queued = true;
		}
		(void)pthread_mutex_unlock(&etw_object_lock);
		if (!is_queued)
			SetLastError(ERROR_GEN_FAILURE);
		etw_object_release(thread);
	}
	if (!is_queued)
		free(call);
	return is_queued;
}

DWORD SignalObjectAndWait(HANDLE hObjectToSignal, HANDLE hObjectToWaitOn, DWORD dwMilliseconds,
			  BOOL bAlertable)
{
	enum etw_object_type type = ETW_OBJECT_EVENT; /* SetEvent() refuses what is none */
	struct etw_object *object;
	BOOL is_signalled_now;

	(void)pthread_mutex_lock(&etw_object_lock);
	object = etw_handle_find(hObjectToSignal);
	if (object)
		type = object->type;
	(void)pthread_mutex_unlock(&etw_object_lock);
	if (type == ETW_OBJECT_MUTEX)
		is_signalled_now = ReleaseMutex(hObjectToSignal);
	else if (type == ETW_OBJECT_SEMAPHORE)
		is_signalled_now = ReleaseSemaphore(hObjectToSignal, 1, NULL);
	else
		is_signalled_now = SetEvent(hObjectToSignal);
	return is_signalled_now ? WaitForSingleObjectEx(hObjectToWaitOn, dwMilliseconds, bAlertable)
				: WAIT_FAILED;
}
