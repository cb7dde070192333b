/* SPDX-License-Identifier: MIT */
#include "schema/store/store_installed.h"

#include <errno.h>

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

int etw_schema_store_registry_error(const struct etw_schema_store *store, const GUID *guid)
{
	const struct asked *asked = etw_store_find_asked(store, guid);

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
			(void)etw_store_ask_again(store, asked);
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
