/* SPDX-License-Identifier: MIT */
/*
 * What a thread of the program waits for when it has changed something that hosts are to know: the listener alone
 * hears their answers.
 */
#ifndef ETW_PROVIDER_ANNOUNCE_H
#define ETW_PROVIDER_ANNOUNCE_H

#include <stdint.h>

#include "provider/registrations.h"

/*
 * etw_announce_registration() - tells the hosts of a registration and waits, 200 ms at most, until those that
 * are there have said who wants it. Holding the lock, which is given up while it waits.
 */
void etw_announce_registration(const struct etw_registration *registration);

/*
 * etw_announce_traits() - tells the hosts that a registration has traits now, and waits as etw_announce_registration()
 * until they have said who wants its group. Holding the lock, which is given up while it waits.
 */
void etw_announce_traits(struct etw_registration *registration);

/*
 * etw_announce_end() - tells the hosts that a registration is gone, and waits for its callback unless
 * that is the caller. Holding the lock, which is given up while it waits.
 *
 * @number: what the hosts call it
 */
void etw_announce_end(const struct etw_registration *registration, uint32_t number);

/*
 * etw_announce_meet() - waits, half a second at most, until the hosts that are there know every registration
 * of this process, but for one that could not be connected to. A controller in the same process calls it, so that
 * what it enables next is asked here too. Not holding the lock; at once in a process without registrations.
 */
void etw_announce_meet(void);

#endif
