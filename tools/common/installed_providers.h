/* SPDX-License-Identifier: MIT */
/* The providers that are installed on this machine (registry/registry.h), for the tools. */
#ifndef ETW_TOOLS_COMMON_INSTALLED_PROVIDERS_H
#define ETW_TOOLS_COMMON_INSTALLED_PROVIDERS_H

#include "registry/registry.h"

/*
 * etw_installed_providers_open() - opens the registry.
 *
 * Tells on standard error when a part of it cannot be used, also later, and goes on with the rest.
 * Returns 0, or -1 told on standard error.
 */
int etw_installed_providers_open(struct etw_registry **ret);

/* etw_installed_providers_attach() - lets a store look there last; returns the same. */
int etw_installed_providers_attach(struct etw_schema_store *store);

#endif
