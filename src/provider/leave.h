/* SPDX-License-Identifier: MIT */
/*
 * Rings of this process's own sessions, which a forked child must not write to: they are shared memory, and the sessions
 * are the parent's. Whatever finds out that it is in a child puts private memory over them.
 */
#ifndef ETW_PROVIDER_LEAVE_H
#define ETW_PROVIDER_LEAVE_H

#include <stdint.h>

#include "ring/ring_set.h"

#define ETW_LEAVE_SETS_MAX \
	64 /* sessions' rings, and such as were replaced and are not given back yet */

/*
 * etw_leave_add() - a child is to leave this set.
 *
 * @set: stays where it is until etw_leave_remove()
 *
 * Returns 0 or -ENOSPC. Holding the lock.
 */
int etw_leave_add(struct etw_ring_set *set);
void etw_leave_remove(const struct etw_ring_set *set);

/*
 * etw_leave_parents() - leaves the sets of another process; nothing in the process that added them.
 *
 * @origin: of this process (provider/fork.h). Context: any thread, signal-safe.
 */
void etw_leave_parents(uint64_t origin);

#endif
