/* SPDX-License-Identifier: MIT */
/* See lease.h. */
#include "daemon/lease.h"

#include <errno.h>

int etwd_lease_take(struct etwd_lease *lease, uint64_t peer, uid_t uid)
{
	if (lease->is_held && lease->peer && lease->peer != peer)
		return -EBUSY;
	if (lease->is_held && uid != lease->uid && uid != 0)
		return -EACCES;
	lease->is_held = true;
	lease->peer = peer;
	lease->uid = uid;
	return 0;
}

void etwd_lease_await(struct etwd_lease *lease, uid_t uid, uint64_t by_ms)
{
	*lease = (struct etwd_lease){.is_held = true, .uid = uid, .by_ms = by_ms};
}

bool etwd_lease_is_of(const struct etwd_lease *lease, uint64_t peer)
{
	return lease->is_held && lease->peer == peer;
}

bool etwd_lease_is_awaited(const struct etwd_lease *lease)
{
	return lease->is_held && !lease->peer;
}
