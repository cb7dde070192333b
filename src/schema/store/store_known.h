/* SPDX-License-Identifier: MIT */
/*
 * The table of known providers (schema/known/known.h) behind a store: what is asked when nobody else knows an event, or
 * when no other layout of it uses up the payload.
 */
#ifndef ETW_SCHEMA_STORE_KNOWN_H
#define ETW_SCHEMA_STORE_KNOWN_H

#include <stdint.h>

#include "schema/known/known.h"
#include "schema/store/store.h"

/*
 * etw_schema_store_set_known() - lets the store ask the table.
 *
 * @known: the store's from now on, set once; NULL: the store leaves it out from now on, also for events that it has
 *         asked it for, until it is set again. What was handed out stays valid
 *
 * An index that turns out to be damaged is remembered in it (etw_known_damage()); its events have no schema then.
 */
void etw_schema_store_set_known(struct etw_schema_store *store, struct etw_known *known);

/* etw_schema_store_known() - the table that the store asks, or NULL. */
struct etw_known *etw_schema_store_known(const struct etw_schema_store *store);

#endif
