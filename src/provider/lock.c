/* SPDX-License-Identifier: MIT */
#include "provider/lock.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/time.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news;

void etw_provider_lock(void)
{
	(void)pthread_mutex_lock(&lock);
}

void etw_provider_unlock(void)
{
	(void)pthread_mutex_unlock(&lock);
}

void etw_provider_lock_reset(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	memcpy(&lock, &fresh, sizeof(fresh));
}

int etw_provider_wait_init(void)
{
	pthread_condattr_t attributes;
	int r;

	if (pthread_condattr_init(&attributes))
		return -ENOMEM;
	r = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (r == 0)
		r = pthread_cond_init(&news, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	return -r;
}

void etw_provider_wait(void)
{
	(void)pthread_cond_wait(&news, &lock);
}

void etw_provider_wait_until(uint64_t deadline_ns)
{
	const struct timespec deadline = etw_timespec_of_ns(deadline_ns);

	(void)pthread_cond_timedwait(&news, &lock, &deadline);
}

void etw_provider_wake(void)
{
	(void)pthread_cond_broadcast(&news);
}
