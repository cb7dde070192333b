/* SPDX-License-Identifier: MIT */
/* Providers of `etw record` by their names in manifests: those of --manifest, then the installed ones. */
#ifndef ETW_TOOLS_ETW_RECORD_NAMES_H
#define ETW_TOOLS_ETW_RECORD_NAMES_H

#include "schema/store/store.h"
#include "tools/etw/record_provider.h"

/*
 * record_names_resolve() - takes the GUIDs of providers from definitions that have their names.
 *
 * @all:   @count of them
 * @store: knows the manifests that the user gave
 *
 * A GUID, and a name behind a *, stay what they are; so does a name that no definition has. Returns 0 or -ENOMEM.
 */
int record_names_resolve(struct record_provider *all, size_t count, struct etw_schema_store *store);

/*
 * record_names_is_derived() - whether the provider's id is that which follows from its name, for want of anybody who
 * knows the name.
 */
bool record_names_is_derived(const struct record_provider *provider);

#endif
