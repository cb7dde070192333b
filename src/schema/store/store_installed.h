/* SPDX-License-Identifier: MIT */
/*
 * Where a store (schema/store/store.h) looks when nobody else knows an event: a registry of providers, behind the
 * interface of store/registry_hooks.h, since reading files is not this module's work.
 */
#ifndef ETW_SCHEMA_STORE_INSTALLED_H
#define ETW_SCHEMA_STORE_INSTALLED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "schema/provider_schema.h"
#include "schema/store/registry_hooks.h"
#include "schema/store/store.h"

/*
 * etw_schema_store_set_registry() - the registry that is asked last.
 *
 * @registry: its context is the store's from now on; set once
 */
void etw_schema_store_set_registry(struct etw_schema_store *store,
				   const struct etw_schema_registry *registry);

/* etw_schema_store_arena() - where definitions for etw_schema_store_register() are built. */
struct etw_arena *etw_schema_store_arena(struct etw_schema_store *store);

/* A definition out of the registry, as the store keeps it. */
struct etw_schema_registered {
	const struct etw_definition *definition;
	struct etw_schema_registered *next; /* the store's */
	uint32_t order;                     /* the store's */
	bool is_kept;                       /* the store's: it is in its list */
};

/*
 * etw_schema_store_register() - takes in a registered definition, for @load of the registry.
 *
 * @registered: with its definition, in the arena of the store
 * @order:      of two registered definitions of an event, the one with the higher number counts
 *
 * What the trace says and what the user names counts before it. One that is registered already gets the new
 * order. Returns 0 or -ENOMEM.
 */
int etw_schema_store_register(struct etw_schema_store *store,
			      struct etw_schema_registered *registered, uint32_t order);

/*
 * etw_schema_store_add_definition() - the same for one that the user names.
 *
 * Counts as a manifest that was given to etw_schema_store_add_manifest(); what made it has the complaints.
 * Returns 0 or -ENOMEM.
 */
int etw_schema_store_add_definition(struct etw_schema_store *store,
				    const struct etw_definition *definition);

/*
 * etw_schema_store_next_index() - the `index` that the next schema of the store gets.
 *
 * What was taken in meanwhile has the indices between two answers.
 */
uint32_t etw_schema_store_next_index(const struct etw_schema_store *store);

/*
 * etw_schema_store_register_tmf() - the same for the messages of a TMF file.
 *
 * @controls: the control GUIDs of the same program, in the arena of the store; NULL: not known
 *
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_schema_store_register_tmf(struct etw_schema_store *store, struct etw_bytes text,
				  const struct etw_definition *controls, uint32_t order,
				  struct etw_fault *reterr);

/*
 * etw_schema_store_demand_provider() - as etw_schema_store_provider(), but the registry is asked too.
 *
 * @ret: lives as long as the store or the loan
 *
 * Returns 0; -ESRCH when nobody defines it; -ENOMEM, -EMFILE and -ENFILE, after which the next call asks again; when
 * it is registered and cannot be read, what etw_schema_store_registry_error() returns.
 */
int etw_schema_store_demand_provider(struct etw_schema_store *store, const GUID *provider,
				     const struct etw_provider_schema **ret);

/*
 * etw_schema_store_registry_error() - what the registry failed with when it was asked for a GUID.
 *
 * Returns 0, also when it was not asked; -EBADMSG for a damaged definition; what opening or reading one failed
 * with.
 */
int etw_schema_store_registry_error(const struct etw_schema_store *store, const GUID *guid);

/*
 * etw_schema_store_look_again() - takes notice of a registry that has changed since it was opened.
 *
 * Costs one stat() a registry when it has not. What was registered meanwhile counts from now on, also for events
 * that had a schema; what was removed stays with this store. Returns whether the registry has changed.
 */
bool etw_schema_store_look_again(struct etw_schema_store *store);

#endif
