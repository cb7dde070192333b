/* SPDX-License-Identifier: MIT */
/*
 * Where the program's threads enter the module: they may be in a forked child that no handler of fork() has seen, so that
 * the lock is not taken before that is looked at.
 */
#ifndef ETW_PROVIDER_ENTRY_H
#define ETW_PROVIDER_ENTRY_H

#include <stdbool.h>

/*
 * etw_provider_entry_lock() - etw_listener_find_fork(), and then the lock (provider/lock.h). Any thread.
 *
 * Returns true, for a local with CLEANUP(etw_provider_entry_unlock), which gives the lock up at the end of its scope.
 */
bool etw_provider_entry_lock(void);
void etw_provider_entry_unlock(const bool *is_held);

#endif
