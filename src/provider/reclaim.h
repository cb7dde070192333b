/* SPDX-License-Identifier: MIT */
/*
 * When memory that writers reach without a lock is given back. What is retired begins a new epoch; it is freed
 * when no thread is inside a write that may have begun before. Finding out costs the retiring side a
 * membarrier(), and a writer nothing but its mark (provider/thread.h). Where the system has none, or a program
 * switches it off, nothing is ever freed.
 */
#ifndef ETW_PROVIDER_RECLAIM_H
#define ETW_PROVIDER_RECLAIM_H

#include <stdbool.h>
#include <stdint.h>

/* Part of what waits to be freed. */
struct etw_retired {
	struct etw_retired *next;
	uint64_t epoch;
	void (*free)(struct etw_retired *retired);
};

/*
 * etw_reclaim_prepare() - asks the system for membarrier(), as early as may be: a program may forbid system
 * calls later. Not where ETW_MEMBARRIER=0 stands in the environment. Holding the lock.
 */
void etw_reclaim_prepare(void);

/*
 * etw_reclaim_is_over() - every thread has passed @epoch, of etw_thread_begin_epoch(). Owner thread (the listener),
 * holding the lock; not in a child that has no listener.
 */
bool etw_reclaim_is_over(uint64_t epoch);

/*
 * etw_reclaim_later() - frees what was retired in an epoch that is not over, as soon as it is.
 *
 * @retired: taken, `free` and `epoch` set. As etw_reclaim_is_over().
 */
void etw_reclaim_later(struct etw_retired *retired);

/* etw_reclaim_advance() - frees what may be, when it is time to look again. Owner thread, holding the lock. */
void etw_reclaim_advance(uint64_t now_ns);

/* etw_reclaim_due_ns() - when it is time, CLOCK_MONOTONIC; UINT64_MAX: nothing waits. Owner thread. */
uint64_t etw_reclaim_due_ns(void);

#endif
