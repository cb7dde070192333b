/* SPDX-License-Identifier: MIT */
/* Asking the registry, and what can be taken back. */
#include "schema/store/store_installed.h"

#include <errno.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store_internal.h"

void etw_schema_store_set_registry(struct etw_schema_store *store,
				   const struct etw_schema_registry *registry)
{
	store->registry = registry;
	store->round = 1;
	etw_store_forget_answers(store);
}

struct etw_arena *etw_schema_store_arena(struct etw_schema_store *store)
{
	return &store->arena;
}

static bool is_asked(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct asked *)item)->guid, key);
}

static uint64_t hash_of(const struct etw_schema_store *store, const GUID *guid)
{
	return etw_hash_bytes(store->seed, guid, sizeof(*guid));
}

/* *ret is NULL when there is no room for notes because of events: then nothing is registered for it. */
static int note_question(struct etw_schema_store *store, const GUID *guid, struct asked **ret)
{
	uint64_t hash = hash_of(store, guid);
	struct asked *asked = etw_table_find(&store->asked, hash, is_asked, guid);

	if (!asked && etw_store_has_room(store)) {
		TRY(etw_table_reserve(&store->asked, 1));
		asked = etw_arena_alloc(&store->arena, sizeof(*asked));
		if (!asked)
			return -ENOMEM;
		asked->guid = *guid;
		store->kept_bytes += STORE_NOTE_BYTES;
		(void)etw_table_insert(&store->asked, hash, asked);
	}
	*ret = asked;
	return 0;
}

/* Want of memory or descriptors is no answer: the question stays open. */
static int ask(struct etw_schema_store *store, struct asked *asked)
{
	struct etw_fault fault = {0};
	int r = store->registry->load(store->registry->context, store, &asked->guid, &fault);

	if (etw_is_shortage(r))
		return r;
	if (fault.sentence)
		etw_store_report(store, &fault);
	asked->round = store->round;
	asked->error = r;
	return 0;
}

int etw_store_ask_registry(struct etw_schema_store *store, const GUID *guid)
{
	struct asked *asked;

	if (!store->registry)
		return 0;
	TRY(note_question(store, guid, &asked));
	if (!asked || asked->round == store->round)
		return 0;
	TRY(ask(store, asked));
	return 1;
}

int etw_schema_store_registry_error(const struct etw_schema_store *store, const GUID *guid)
{
	const struct asked *asked = etw_table_find(&store->asked, hash_of(store, guid), is_asked,
						   guid);

	return asked ? asked->error : 0;
}

bool etw_schema_store_look_again(struct etw_schema_store *store)
{
	if (!store->registry || !store->registry->refresh(store->registry->context))
		return false;
	store->round++;
	/* Events that have a schema ask nobody, so what was asked for is asked for here. */
	for (size_t i = 0; i < store->asked.room; i++) {
		struct asked *asked = store->asked.slots[i].item;

		if (asked)
			(void)ask(store, asked);
	}
	etw_store_forget_answers(store);
	return true;
}

int etw_schema_store_register(struct etw_schema_store *store,
			      struct etw_schema_registered *registered, uint32_t order)
{
	if (!registered->is_kept)
		TRY(etw_store_share_maps(store, registered->definition));
	TRY(etw_store_keep_classes(store, registered->definition, ETW_SCHEMA_ORIGIN_INSTALLED,
				   order));
	registered->order = order;
	if (registered->is_kept)
		return 0;
	/* It counts again when a loan before it ends. */
	registered->is_kept = true;
	registered->next = store->registered;
	store->registered = registered;
	return 0;
}

int etw_schema_store_add_definition(struct etw_schema_store *store,
				    const struct etw_definition *definition)
{
	return etw_store_keep_definition(store, definition, ETW_SCHEMA_ORIGIN_USER);
}

uint32_t etw_schema_store_next_index(const struct etw_schema_store *store)
{
	return store->schema_count;
}

int etw_schema_store_register_tmf(struct etw_schema_store *store, struct etw_bytes text,
				  const struct etw_definition *controls, uint32_t order,
				  struct etw_fault *reterr)
{
	return etw_store_add_tmf(store, text, controls, ETW_SCHEMA_ORIGIN_INSTALLED, order, reterr);
}

int etw_schema_store_demand_provider(struct etw_schema_store *store, const GUID *provider,
				     const struct etw_provider_schema **ret)
{
	const struct stored_provider *stored = etw_store_find_provider(store, provider);
	const struct etw_provider_schema *found;
	int error;

	/* One of the registry may have come in with a definition that was read for another GUID. */
	if (!stored || !stored->schema || stored->schema_origin <= ETW_SCHEMA_ORIGIN_INSTALLED)
		TRY(etw_store_ask_registry(store, provider));
	found = etw_schema_store_provider(store, provider);
	if (!found && etw_store_known_provider(store, provider) == -ENOMEM)
		return -ENOMEM;
	found = etw_schema_store_provider(store, provider);
	if (!found) {
		error = etw_schema_store_registry_error(store, provider);
		return error ? error : -ESRCH;
	}
	*ret = found;
	return 0;
}

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
