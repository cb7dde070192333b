/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	bool is_running; /* the thread; it ends when there is nothing left */
	int *fds;        /* owned */
	size_t count, room;
} closer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *close_all(void *unused)
{
	pthread_mutex_lock(&closer.lock);
	while (closer.count) {
		int fd = closer.fds[--closer.count];

		pthread_mutex_unlock(&closer.lock);
		close(fd);
		pthread_mutex_lock(&closer.lock);
	}
	closer.is_running = false;
	pthread_mutex_unlock(&closer.lock);
	return unused;
}

/* Signals are for others. */
static bool start(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r;

	if (pthread_attr_init(&attributes))
		return false;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attributes, close_all, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return r == 0;
}

static bool put(int fd)
{
	if (closer.count == closer.room) {
		size_t room = closer.room ? 2 * closer.room : 64;
		int *grown = realloc(closer.fds, room * sizeof(*grown));

		if (!grown)
			return false;
		closer.fds = grown;
		closer.room = room;
	}
	closer.fds[closer.count++] = fd;
	return true;
}

void etw_tracepoint_close_later(int fd)
{
	bool is_taken;

	pthread_mutex_lock(&closer.lock);
	is_taken = put(fd);
	if (is_taken && !closer.is_running) {
		closer.is_running = start();
		if (!closer.is_running) {
			closer.count--;
			is_taken = false;
		}
	}
	pthread_mutex_unlock(&closer.lock);
	if (!is_taken)
		close(fd);
}
