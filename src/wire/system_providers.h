/* SPDX-License-Identifier: MIT */
/*
 * The kernel as providers: those that Windows has since build 20348 in the place of EnableFlags. Each keyword stands for a
 * kind of events in the group masks, and no two providers have the same ones.
 * Source: evntrace.h, SYSTEM_*_KW_*; Microsoft's page "System Providers", which has the EnableFlags of each; for kinds that
 * have no flag, the bit of the same name (docs/format/etl.md "Group masks").
 */
#ifndef ETW_WIRE_SYSTEM_PROVIDERS_H
#define ETW_WIRE_SYSTEM_PROVIDERS_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#include "wire/group_masks.h"

/* etw_system_provider_is() - whether a GUID is that of one of them. */
bool etw_system_provider_is(const GUID *provider);

/*
 * etw_system_provider_masks() - what the provider's keywords stand for.
 *
 * @keywords: as MatchAnyKeyword: 0 are all
 * @ret: overwritten, also when it is none
 *
 * Returns those of the keywords that were named and stand for nothing that is known here; UINT64_MAX: it is no such
 * provider.
 */
uint64_t etw_system_provider_masks(const GUID *provider, uint64_t keywords,
				   uint32_t ret[WIRE_GROUP_MASKS_WORDS]);

#endif
