/* SPDX-License-Identifier: MIT */
/*
 * Which sessions a controller holds a lease of: a list, whose lock is the controller's. Taking the leases once more at
 * a new host is controller.c's.
 */
#ifndef ETW_CONTROL_LEASES_H
#define ETW_CONTROL_LEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

/* In no order. */
struct etw_control_leases {
	uint64_t handles[WIRE_LIST_SESSIONS_MAX];
	size_t count;
};

/* etw_control_leases_are_full() - whether there is no room for another one. */
bool etw_control_leases_are_full(const struct etw_control_leases *leases);

/* etw_control_leases_remember() - once for each session. Returns 0; -ENOSPC: there is no room. */
int etw_control_leases_remember(struct etw_control_leases *leases, uint64_t handle);

/* etw_control_leases_forget() - the session is over; nothing for one that is not there. */
void etw_control_leases_forget(struct etw_control_leases *leases, uint64_t handle);

#endif
