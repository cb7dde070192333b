/* SPDX-License-Identifier: MIT */
/* Leases of a controller; see control/leases.h. */
#include "control/leases.h"

#include <errno.h>

#include "base/macros.h"

bool etw_control_leases_are_full(const struct etw_control_leases *leases)
{
	return leases->count == ARRAY_SIZE(leases->handles);
}

void etw_control_leases_forget(struct etw_control_leases *leases, uint64_t handle)
{
	for (size_t i = 0; i < leases->count; i++) {
		if (leases->handles[i] == handle)
			leases->handles[i--] = leases->handles[--leases->count];
	}
}

int etw_control_leases_remember(struct etw_control_leases *leases, uint64_t handle)
{
	etw_control_leases_forget(leases, handle);
	if (etw_control_leases_are_full(leases))
		return -ENOSPC;
	leases->handles[leases->count++] = handle;
	return 0;
}
