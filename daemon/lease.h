/* SPDX-License-Identifier: MIT */
/*
 * A lease on a session: it ends with the controller that holds it. Behind a new host that controller has a while to
 * come back. Zeroed: nobody holds one.
 */
#ifndef ETW_DAEMON_LEASE_H
#define ETW_DAEMON_LEASE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct etwd_lease {
	bool is_held;
	uid_t uid;
	uint64_t peer;  /* serial number of the controller; 0: it has not come back yet */
	uint64_t by_ms; /* until when it may */
};

/*
 * etwd_lease_take() - a controller takes it, or comes back to it.
 *
 * @peer: its serial number
 *
 * Returns 0; -EBUSY: another one holds it; -EACCES: it is held for another uid, and this one is not root.
 */
int etwd_lease_take(struct etwd_lease *lease, uint64_t peer, uid_t uid);

/* etwd_lease_await() - it is held, and its controller is to come back until @by_ms. */
void etwd_lease_await(struct etwd_lease *lease, uid_t uid, uint64_t by_ms);

/* etwd_lease_is_of() - whether the controller with this serial number holds it. */
bool etwd_lease_is_of(const struct etwd_lease *lease, uint64_t peer);

/* etwd_lease_is_awaited() - whether it is held and its controller is not there. */
bool etwd_lease_is_awaited(const struct etwd_lease *lease);

#endif
