/* SPDX-License-Identifier: MIT */
/* Installed providers by what a user calls them. */
#ifndef ETW_TOOLS_WEVTUTIL_FIND_H
#define ETW_TOOLS_WEVTUTIL_FIND_H

#include "registry/registry.h"

/* wevtutil_find() - the provider of a name, in any case, or of a GUID; whether it is installed. */
bool wevtutil_find(const struct etw_registry *registry, const char *word, GUID *ret);

#endif
