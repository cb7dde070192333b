/* SPDX-License-Identifier: MIT */
/*
 * The lock of the module. It guards everything that the write path does not touch, and is never held during a
 * callback. Its holders can wait for one another's news: that a host has answered, that a callback has returned.
 *
 * "Holding the lock" in this folder means this one.
 */
#ifndef ETW_PROVIDER_LOCK_H
#define ETW_PROVIDER_LOCK_H

#include <stdint.h>

/*
 * Any thread, but not in a child of fork() that etw_listener_find_fork() has not looked at: calls of the program begin with
 * etw_provider_entry_lock().
 */
void etw_provider_lock(void);
void etw_provider_unlock(void);

/*
 * etw_provider_lock_reset() - sets the lock free that a thread of the parent held. Only thread that knows of it, in a
 * forked child.
 */
void etw_provider_lock_reset(void);

/*
 * etw_provider_wait_init() - makes it possible to wait: once, and in a forked child, which knows of no waiting threads.
 *
 * Returns 0 or a negative errno. Holding the lock, or only thread.
 */
int etw_provider_wait_init(void);

/* etw_provider_wait() - until somebody has news, or for no reason. Holding the lock, which is given up meanwhile. */
void etw_provider_wait(void);

/* etw_provider_wait_until() - the same, until @deadline_ns (CLOCK_MONOTONIC) at most. */
void etw_provider_wait_until(uint64_t deadline_ns);

/* etw_provider_wake() - all who wait look again. Holding the lock. */
void etw_provider_wake(void);

#endif
