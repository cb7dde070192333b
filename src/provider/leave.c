/* SPDX-License-Identifier: MIT */
#include "provider/leave.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "provider/fork.h"

static struct etw_ring_set *sets[ETW_LEAVE_SETS_MAX]; /* atomic; NULL: free */
static uint64_t owner_origin; /* atomic; whose sets these are; 0: nobody's */

int etw_leave_add(struct etw_ring_set *set)
{
	for (unsigned i = 0; i < ETW_LEAVE_SETS_MAX; i++) {
		if (load_relaxed(&sets[i]))
			continue;
		store_release(&sets[i], set);
		store_release(&owner_origin, etw_fork_fill());
		return 0;
	}
	return -ENOSPC;
}

void etw_leave_remove(const struct etw_ring_set *set)
{
	for (unsigned i = 0; i < ETW_LEAVE_SETS_MAX; i++) {
		if (load_relaxed(&sets[i]) == set)
			store_release(&sets[i], (struct etw_ring_set *)NULL);
	}
}

void etw_leave_parents(uint64_t origin)
{
	const uint64_t owner = load_acquire(&owner_origin);

	if (LIKELY(owner == 0 || owner == origin))
		return;
	for (unsigned i = 0; i < ETW_LEAVE_SETS_MAX; i++) {
		struct etw_ring_set *set = load_acquire(&sets[i]);

		if (set)
			(void)etw_ring_set_retire_mapping(set);
		store_release(&sets[i], (struct etw_ring_set *)NULL);
	}
	store_release(&owner_origin, UINT64_C(0));
}
