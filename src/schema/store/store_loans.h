/* SPDX-License-Identifier: MIT */
/*
 * Definitions that are lent to a store (schema/store/store.h), to be taken back, as TdhLoadManifest() and
 * TdhUnloadManifest() do.
 */
#ifndef ETW_SCHEMA_STORE_LOANS_H
#define ETW_SCHEMA_STORE_LOANS_H

#include "schema/provider_schema.h"
#include "schema/store/store.h"

/* A definition that its owner may take back. */
struct etw_schema_loan {
	const struct etw_definition *definition; /* borrowed until it is taken back */
	struct etw_schema_loan *next;            /* the store's */
	uint32_t order;                          /* the store's; the later loan counts */
};

/*
 * etw_schema_store_lend() - takes in a definition that counts before the registry, after what the user names.
 *
 * @loan: borrowed, with its definition, until etw_schema_store_take_back()
 *
 * Returns 0, or -ENOMEM; the loan is then not taken.
 */
int etw_schema_store_lend(struct etw_schema_store *store, struct etw_schema_loan *loan);

/*
 * etw_schema_store_take_back() - ends a loan: nothing in the store refers to its definition any more.
 *
 * What other loans and the registry say of its events counts again. Schemas that the store handed out from
 * it must not be used any more: the caller forgets what it made of them.
 */
void etw_schema_store_take_back(struct etw_schema_store *store, struct etw_schema_loan *loan);

#endif
