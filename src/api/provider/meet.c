/* SPDX-License-Identifier: MIT */
/* See meet.h. */
#include "api/provider/meet.h"

#include "api/provider/copies.h"
#include "provider/announce.h"
#include "provider/provider.h"

__attribute__((visibility("default"))) void etw_provider_meet_hosts(void)
{
	if (etw_first_copy)
		etw_first_copy->meet_hosts();
	else
		etw_announce_meet();
}

__attribute__((visibility("default"))) size_t etw_provider_list(GUID *ret, size_t room)
{
	return etw_first_copy ? etw_first_copy->list(ret, room) : etw_provider_guids(ret, room);
}
