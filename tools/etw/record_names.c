/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_names.h"

#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "registry/registry.h"
#include "schema/provider_id.h"
#include "tools/etw/record_tracepoints.h"
#include "wire/name_list.h"

static bool is_called(const struct record_provider *provider, const char *name)
{
	return etw_name_list_is(name, provider->text, strcspn(provider->text, ":"));
}

/* Events may be enabled by another GUID than they bear. */
static void take(struct record_provider *provider, const GUID *guid,
		 const struct etw_provider_schema *schema)
{
	provider->guid = schema && !etw_guid_is_null(&schema->control_guid) ? schema->control_guid
									    : *guid;
}

static bool take_given(struct record_provider *provider, const struct etw_schema_store *store)
{
	const struct etw_provider_schema *schema = NULL;

	while ((schema = etw_schema_store_next_provider(store, schema))) {
		if (!is_called(provider, schema->name))
			continue;
		take(provider, &schema->guid, schema);
		return true;
	}
	return false;
}

static void take_installed(struct record_provider *provider, const struct etw_registry *registry,
			   struct etw_schema_store *store)
{
	const struct etw_provider_schema *schema = NULL;

	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_entry entry = etw_registry_entry(registry, i);

		if (entry.row.role != WIRE_REGISTRY_PROVIDER ||
		    !is_called(provider, entry.row.name))
			continue;
		/* Without the definition the name alone still says the GUID. */
		if (etw_schema_store_demand_provider(store, &entry.row.guid, &schema))
			schema = NULL;
		take(provider, &entry.row.guid, schema);
		return;
	}
}

int record_names_resolve(struct record_provider *all, size_t count, struct etw_schema_store *store)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = NULL;
	GUID guid;

	TRY(etw_registry_open(&registry));
	for (size_t i = 0; i < count; i++) {
		struct record_provider *provider = &all[i];

		if (!record_tracepoints_is(provider->text) &&
		    etw_guid_parse(provider->text, &guid) && !take_given(provider, store))
			take_installed(provider, registry, store);
	}
	return 0;
}

bool record_names_is_derived(const struct record_provider *provider)
{
	const char *name = provider->text + (*provider->text == '*');
	char text[RECORD_PROVIDER_BYTES];
	GUID guid;
	int length = snprintf(text, sizeof(text), "*%.*s", (int)strcspn(name, ":"), name);

	return length > 1 && (size_t)length < sizeof(text) && !etw_provider_id_find(text, &guid) &&
	       etw_guid_equal(&guid, &provider->guid);
}
