/* SPDX-License-Identifier: MIT */
#include "provider/entry.h"

#include "provider/listener.h"
#include "provider/lock.h"

bool etw_provider_entry_lock(void)
{
	etw_listener_find_fork();
	etw_provider_lock();
	return true;
}

void etw_provider_entry_unlock(const bool *is_held)
{
	if (*is_held)
		etw_provider_unlock();
}
