/* SPDX-License-Identifier: MIT */
/* What the controller's half of the API asks of the provider's half in the same process. */
#ifndef ETW_API_PROVIDER_MEET_H
#define ETW_API_PROVIDER_MEET_H

#include <stddef.h>

#include <guiddef.h>

/*
 * etw_provider_meet_hosts() - waits, half a second at most, until the hosts that are there know every
 * registration of this process; at once where there is none.
 *
 * A host that a controller has just started is met here by a provider in the same program before
 * EnableTraceEx2 speaks to it, so that the callback has run when EnableTraceEx2 returns.
 * Exported by libetw-provider.so for libetw-core.so alone.
 */
void etw_provider_meet_hosts(void);

/*
 * etw_provider_list() - the providers that this process has registered, one entry a registration.
 *
 * @ret: room for @room GUIDs
 *
 * Returns how many there are, which may be more than @room. Exported as the above.
 */
size_t etw_provider_list(GUID *ret, size_t room);

#endif
