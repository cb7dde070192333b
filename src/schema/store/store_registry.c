/* SPDX-License-Identifier: MIT */
/* Asking the registry, and what can be taken back. */
#include "schema/store/store_registry.h"

#include <errno.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store_internal.h"

void etw_schema_store_set_registry(struct etw_schema_store *store,
				   const struct etw_schema_registry *registry)
{
	store->registry = registry;
	etw_store_forget_answers(store);
}

struct etw_arena *etw_schema_store_arena(struct etw_schema_store *store)
{
	return &store->arena;
}

static bool is_asked(const void *item, const void *key)
{
	return etw_guid_equal(item, key);
}

/* Returns 1 when the GUID had been asked before. */
static int note_question(struct etw_schema_store *store, const GUID *guid)
{
	uint64_t hash = etw_hash_bytes(store->seed, guid, sizeof(*guid));
	GUID *copy;

	if (etw_table_find(&store->asked, hash, is_asked, guid) || !etw_store_has_room(store))
		return 1;
	store->kept_bytes += STORE_NOTE_BYTES;
	copy = etw_arena_copy(&store->arena, guid, sizeof(*guid));
	return copy ? etw_table_insert(&store->asked, hash, copy) : -ENOMEM;
}

bool etw_store_ask_registry(struct etw_schema_store *store, const GUID *guid)
{
	struct etw_fault fault = {0};

	/* Without memory or room for the note the answer stays "none", as if nothing were registered. */
	if (!store->registry || note_question(store, guid))
		return false;
	if (store->registry->load(store->registry->context, store, guid, &fault) == -EBADMSG)
		etw_store_report(store, &fault);
	return true;
}

/* A registered definition is kept for good: it counts again when a loan before it ends. */
static int note_registered(struct etw_schema_store *store, const struct etw_definition *definition,
			   uint32_t order)
{
	struct registered *registered = etw_arena_alloc(&store->arena, sizeof(*registered));

	if (!registered)
		return -ENOMEM;
	*registered = (struct registered){store->registered, definition, order};
	store->registered = registered;
	return 0;
}

int etw_schema_store_register(struct etw_schema_store *store,
			      const struct etw_definition *definition, uint32_t order)
{
	TRY(note_registered(store, definition, order));
	return etw_store_keep_classes(store, definition, STORE_RANK_REGISTRY, order);
}

int etw_schema_store_add_definition(struct etw_schema_store *store,
				    const struct etw_definition *definition)
{
	return etw_store_keep_definition(store, definition, STORE_RANK_USER);
}

uint32_t etw_schema_store_next_index(const struct etw_schema_store *store)
{
	return store->schema_count;
}

int etw_schema_store_register_tmf(struct etw_schema_store *store, const char *text, size_t bytes,
				  uint32_t order, struct etw_fault *reterr)
{
	return etw_store_add_tmf(store, text, bytes, STORE_RANK_REGISTRY, order, reterr);
}

const struct etw_provider_schema *etw_schema_store_demand_provider(struct etw_schema_store *store,
								   const GUID *provider)
{
	const struct etw_provider_schema *found = etw_schema_store_provider(store, provider);

	if (!found && etw_store_ask_registry(store, provider))
		found = etw_schema_store_provider(store, provider);
	return found;
}

int etw_schema_store_lend(struct etw_schema_store *store, struct etw_schema_loan *loan)
{
	TRY(etw_store_keep_definition_of(store, loan->definition, STORE_RANK_LOAN,
					 store->loan_count + 1));
	loan->order = ++store->loan_count;
	loan->next = store->loans;
	store->loans = loan;
	return 0;
}

/* Schemas of a definition lie in one array a provider. */
static bool is_of(const struct etw_provider_schema *provider, const struct etw_schema *schema)
{
	uintptr_t at = (uintptr_t)schema, first = (uintptr_t)provider->schemas;

	return at >= first && at - first < provider->schema_count * sizeof(*schema);
}

static void forget_events(struct etw_schema_store *store,
			  const struct etw_provider_schema *provider)
{
	struct known_provider *known = etw_store_find_provider(store, &provider->guid);
	struct store_key key;

	if (known && known->schema == provider)
		known->schema = NULL;
	for (size_t i = 0; i < provider->schema_count; i++) {
		struct known_event *event;

		if (!etw_store_key_of_schema(&provider->schemas[i], &key))
			continue;
		event = etw_store_find_known(store, &key);
		if (event && is_of(provider, event->schema))
			event->schema = NULL;
	}
}

/* The keys are known already. A definition for whose names there is no memory is not found until it is lent anew. */
static void restore(struct etw_schema_store *store)
{
	for (const struct registered *at = store->registered; at; at = at->next)
		(void)etw_store_keep_definition_of(store, at->definition, STORE_RANK_REGISTRY,
						   at->order);
	for (const struct etw_schema_loan *at = store->loans; at; at = at->next)
		(void)etw_store_keep_definition_of(store, at->definition, STORE_RANK_LOAN,
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
