/* SPDX-License-Identifier: MIT */
/* See meet.h. */
#include "api/provider/meet.h"

#include "provider/announce.h"

__attribute__((visibility("default"))) void etw_provider_meet_hosts(void)
{
	etw_announce_meet();
}
