/* SPDX-License-Identifier: MIT */
/*
 * The thread that talks to the hosts. Started by the first registration of a process, and by the first one of
 * a forked child; blocks all signals; runs enable callbacks; ends with the process.
 */
#ifndef ETW_PROVIDER_LISTENER_H
#define ETW_PROVIDER_LISTENER_H

#include "provider/registrations.h"

/*
 * etw_listener_start() - once. Holding the lock. Returns 0; -EAGAIN: no thread; -ENOMEM; -ENAMETOOLONG: the path
 * of a host's place.
 */
int etw_listener_start(void);

/*
 * etw_listener_find_fork() - in a child that pthread_atfork() did not see (_Fork(), clone()): does what its handler
 * does. Before the lock is taken, which such a child may have got locked. Any thread.
 */
void etw_listener_find_fork(void);

/*
 * etw_listener_announce() - tells the hosts of a registration and waits, 200 ms at most, until those that
 * are there have said who wants it. Holding the lock, which is given up while it waits.
 */
void etw_listener_announce(const struct etw_registration *registration);

/*
 * etw_listener_withdraw() - tells the hosts that a registration is gone, and waits for its callback unless
 * that is the caller. Holding the lock, which is given up while it waits.
 *
 * @number: what the hosts call it
 */
void etw_listener_withdraw(const struct etw_registration *registration, uint32_t number);

/*
 * etw_listener_meet() - waits, half a second at most, until the hosts that are there know every registration
 * of this process, but for one that could not be connected to. A controller in the same process calls it, so that
 * what it enables next is asked here too. Not holding the lock; at once in a process without registrations.
 */
void etw_listener_meet(void);

#endif
