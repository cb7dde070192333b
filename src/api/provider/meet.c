/* SPDX-License-Identifier: MIT */
/* See meet.h. */
#include "api/provider/meet.h"

#include "provider/announce.h"
#include "provider/provider.h"

__attribute__((visibility("default"))) void etw_provider_meet_hosts(void)
{
	etw_announce_meet();
}

__attribute__((visibility("default"))) size_t etw_provider_list(GUID *ret, size_t room)
{
	return etw_provider_guids(ret, room);
}
