/* SPDX-License-Identifier: MIT */
/* The table of known providers, as the tools use it. */
#ifndef ETW_TOOLS_COMMON_KNOWN_PROVIDERS_H
#define ETW_TOOLS_COMMON_KNOWN_PROVIDERS_H

#include "schema/known/known.h"
#include "schema/store/store.h"

/* etw_known_providers_attach() - lets a store ask it last. Returns 0, or -1 when memory ran out, which is told. */
int etw_known_providers_attach(struct etw_schema_store *store);

/* etw_known_providers_tell() - after all events: tells of damage in the table that was met; takes NULL. */
void etw_known_providers_tell(const struct etw_schema_store *store);

#endif
