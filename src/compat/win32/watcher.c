/* SPDX-License-Identifier: MIT */
#include "compat/win32/object.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/time.h"

static int watch_fd = -1;

/* Each has a number of the watcher; an event of the kernel whose number none has any more is an old one. */
static struct {
	struct etw_object **at;
	size_t count;
} watched;
static uint32_t last_number;

static void tell_timer(struct etw_object *timer)
{
	uint64_t expirations;
	struct etw_call *call;

	if (read(timer->fd, &expirations, sizeof(expirations)) != (ssize_t)sizeof(expirations))
		return;
	timer->is_signalled = true;
	if (!timer->timer.function || !timer->timer.thread)
		return;
	call = calloc(1, sizeof(*call));
	if (!call)
		return;
	call->timer = timer;
	call->timer_function = timer->timer.function;
	call->argument = timer->timer.argument;
	call->due_ft = etw_filetime_now();
	/* One at most waits, as on Windows. */
	etw_timer_drop_call(timer);
	etw_object_add_call(timer->timer.thread, call);
}

static void tell(uint32_t number)
{
	for (size_t i = 0; i < watched.count; i++) {
		struct etw_object *object = watched.at[i];

		if (object->watch != number)
			continue;
		if (object->type == ETW_OBJECT_TIMER) {
			tell_timer(object);
		} else {
			/* Once only: what is signalled for good, and files, which the next wait watches again. */
			etw_watcher_forget(object);
			if (object->type == ETW_OBJECT_PROCESS)
				etw_process_ended(object);
		}
		etw_object_changed(object);
		return;
	}
}

static void *watch(void *unused)
{
	struct epoll_event event;

	for (;;) {
		if (epoll_wait(watch_fd, &event, 1, -1) != 1)
			continue;
		(void)pthread_mutex_lock(&etw_object_lock);
		tell((uint32_t)event.data.u64);
		(void)pthread_mutex_unlock(&etw_object_lock);
	}
	return unused;
}

static bool start(void)
{
	pthread_t thread;
	sigset_t all, before;
	int error;

	if (watch_fd >= 0)
		return true;
	watch_fd = epoll_create1(EPOLL_CLOEXEC);
	if (watch_fd < 0)
		return false;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, watch, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		(void)close(watch_fd);
		watch_fd = -1;
		return false;
	}
	(void)pthread_detach(thread);
	return true;
}

static bool remember(struct etw_object *object)
{
	struct etw_object **at = realloc(watched.at,
					 (watched.count + 1) * sizeof(struct etw_object *));

	if (!at)
		return false;
	watched.at = at;
	last_number = last_number + 1 ? last_number + 1 : 1;
	object->watch = last_number;
	watched.at[watched.count++] = object;
	return true;
}

void etw_watcher_add(struct etw_object *object)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (object->watch || object->fd < 0 || !start() || !remember(object))
		return;
	event.data.u64 = object->watch;
	if (epoll_ctl(watch_fd, EPOLL_CTL_ADD, object->fd, &event))
		etw_watcher_forget(object);
}

void etw_watcher_forget(struct etw_object *object)
{
	for (size_t i = 0; i < watched.count; i++) {
		if (watched.at[i] != object)
			continue;
		watched.count--;
		watched.at[i] = watched.at[watched.count];
		break;
	}
	object->watch = 0;
	(void)epoll_ctl(watch_fd, EPOLL_CTL_DEL, object->fd, NULL);
}
