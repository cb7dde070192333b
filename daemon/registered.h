/* SPDX-License-Identifier: MIT */
/*
 * Registrations in the order of their serial numbers. A list that is told in parts goes on behind the number where its
 * last part ended, whatever came and went meanwhile, and finds that place without walking there.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_REGISTERED_H
#define ETW_DAEMON_REGISTERED_H

#include <stddef.h>
#include <stdint.h>

struct etwd_registration; /* daemon/providers.h */

struct etwd_registered_place {
	uint64_t serial;
	struct etwd_registration *registration; /* borrowed; NULL: it is gone */
};

/* {0} is an empty one. */
struct etwd_registered {
	struct etwd_registered_place *places; /* owned; the numbers grow */
	size_t count, room, gone;
};

/* etwd_registered_add() - @serial: greater than all before. Returns 0 or -ENOMEM. */
int etwd_registered_add(struct etwd_registered *registered, uint64_t serial,
			struct etwd_registration *registration);

/* etwd_registered_remove() - the registration of this number, which is there. */
void etwd_registered_remove(struct etwd_registered *registered, uint64_t serial);

/* etwd_registered_before() - how many places have numbers below @serial; they are the first ones. */
size_t etwd_registered_before(const struct etwd_registered *registered, uint64_t serial);

/* etwd_registered_done() - makes it empty. */
void etwd_registered_done(struct etwd_registered *registered);

#endif
