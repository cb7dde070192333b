/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a lock no longer than until a time of CLOCK_MONOTONIC, which nobody sets. The thread sanitizer
 * of clang 14 does not know pthread_mutex_clocklock(), so it is told.
 */
#ifndef ETW_BASE_LOCK_H
#define ETW_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/time.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define ETW_LOCK_TELLS 1
#endif
#endif

/* etw_lock_until() - returns whether the lock was taken. */
static inline bool etw_lock_until(pthread_mutex_t *lock, uint64_t until_ns)
{
	const struct timespec until = etw_timespec_of_ns(until_ns);
	bool is_taken;

#ifdef ETW_LOCK_TELLS
	__tsan_mutex_pre_lock(lock, __tsan_mutex_try_lock);
#endif
	is_taken = pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until) == 0;
#ifdef ETW_LOCK_TELLS
	__tsan_mutex_post_lock(
		lock, __tsan_mutex_try_lock | (is_taken ? 0 : __tsan_mutex_try_lock_failed), 0);
#endif
	return is_taken;
}

#endif
