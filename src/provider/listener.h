/* SPDX-License-Identifier: MIT */
/*
 * The thread that talks to the hosts. Started by the first registration of a process, and by the first one of
 * a forked child; blocks all signals; runs enable callbacks; ends with the process.
 */
#ifndef ETW_PROVIDER_LISTENER_H
#define ETW_PROVIDER_LISTENER_H

#include <stdbool.h>

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

/* etw_listener_is_running() - false also in a forked child. Holding the lock. */
bool etw_listener_is_running(void);

/* etw_listener_is_caller() - whether it is the listener that asks: in a callback. Holding the lock. */
bool etw_listener_is_caller(void);

#endif
