/* SPDX-License-Identifier: MIT */
#include "schema/store/store_loans.h"

#include "base/macros.h"
#include "schema/store/store_installed.h"
#include "schema/store/store_internal.h"

int etw_schema_store_lend(struct etw_schema_store *store, struct etw_schema_loan *loan)
{
	TRY(etw_store_keep_definition_of(store, loan->definition, ETW_SCHEMA_ORIGIN_LOADED,
					 store->loan_count + 1));
	loan->order = ++store->loan_count;
	loan->next = store->loans;
	store->loans = loan;
	return 0;
}

static void forget_events(struct etw_schema_store *store,
			  const struct etw_provider_schema *provider)
{
	struct stored_provider *stored = etw_store_find_provider(store, &provider->guid);
	struct store_key key;

	if (stored && stored->schema == provider)
		stored->schema = NULL;
	/* The name stays until somebody gives another: schemas that were handed out may show it. */
	if (stored && stored->name_origin == ETW_SCHEMA_ORIGIN_LOADED)
		stored->name_origin = ETW_SCHEMA_ORIGIN_NONE;
	for (size_t i = 0; i < provider->schema_count; i++) {
		struct stored_event *event;

		if (!etw_store_key_of_schema(&provider->schemas[i], &key))
			continue;
		event = etw_store_find_event(store, &key);
		if (event)
			etw_store_remove(event, &provider->schemas[i]);
	}
}

/* What the others say of providers counts again; the layouts of events are all in their lists. */
static void restore(struct etw_schema_store *store)
{
	for (const struct etw_schema_registered *at = store->registered; at; at = at->next)
		etw_store_keep_providers(store, at->definition, ETW_SCHEMA_ORIGIN_INSTALLED,
					 at->order);
	for (const struct etw_schema_loan *at = store->loans; at; at = at->next)
		etw_store_keep_providers(store, at->definition, ETW_SCHEMA_ORIGIN_LOADED,
					 at->order);
}

void etw_schema_store_take_back(struct etw_schema_store *store, struct etw_schema_loan *loan)
{
	struct etw_schema_loan **link = &store->loans;

	while (*link && *link != loan)
		link = &(*link)->next;
	if (!*link)
		return;
	*link = loan->next;
	for (size_t i = 0; i < loan->definition->provider_count; i++)
		forget_events(store, &loan->definition->providers[i]);
	restore(store);
	etw_store_forget_answers(store);
}
