/* SPDX-License-Identifier: MIT */
/* See meet.h. */
#include "api/provider/meet.h"

#include "provider/listener.h"

__attribute__((visibility("default"))) void etw_provider_meet_hosts(void)
{
	etw_listener_meet();
}
