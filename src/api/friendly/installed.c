/* SPDX-License-Identifier: MIT */
/*
 * Between the store and what it asks last, the registry and the table of known providers, stands this file, for one
 * reason: a trace goes before these, also where it says later what its events are.
 */
#include "api/friendly/installed.h"

#include <errno.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store.h"

static bool is_in_table(const struct libetw_schemas *schemas, const GUID *guid)
{
	struct etw_known_provider found;

	return schemas->known && !etw_known_find(schemas->known, guid, &found);
}

/* Asked before the table is, which has no hook of its own. */
static int load(void *context, struct etw_schema_store *store, const GUID *guid,
		struct etw_fault *reterr)
{
	struct libetw_schemas *schemas = context;
	const struct etw_schema_registry *registry;

	if ((schemas->installed && etw_registry_has_definition(schemas->installed, guid)) ||
	    is_in_table(schemas, guid)) {
		if (schemas->files)
			(void)schemas->files->learn(schemas->files->context);
		schemas->has_loaded = true;
	}
	if (!schemas->installed)
		return 0;
	registry = etw_registry_hooks(schemas->installed);
	return registry->load(registry->context, store, guid, reterr);
}

static const char *name_of(void *context, const GUID *guid)
{
	const struct libetw_schemas *schemas = context;
	const struct etw_schema_registry *registry;

	if (!schemas->installed)
		return NULL;
	registry = etw_registry_hooks(schemas->installed);
	return registry->name(registry->context, guid);
}

static bool refresh(void *context)
{
	const struct libetw_schemas *schemas = context;
	const struct etw_schema_registry *registry;

	if (!schemas->installed)
		return false;
	registry = etw_registry_hooks(schemas->installed);
	return registry->refresh(registry->context);
}

static void release(void *context)
{
	const struct libetw_schemas *schemas = context;
	const struct etw_schema_registry *registry;

	if (!schemas->installed)
		return;
	registry = etw_registry_hooks(schemas->installed);
	registry->release(registry->context);
}

/* Whatever is wrong with the table, libetw_schemas_trouble() tells it; all else goes on. */
static int open_table(struct libetw_schemas *schemas)
{
	const char *path = secure_getenv("ETW_KNOWN_PROVIDERS");
	int r = etw_known_open(NULL, &schemas->known, &schemas->known_fault);

	if (r == -ENOMEM)
		return r;
	if (r < 0 && !(r == -ENOENT && path && !*path))
		schemas->known_trouble = r;
	if (!r)
		etw_schema_store_set_known(schemas->store, schemas->known);
	return 0;
}

int etw_installed_open(struct libetw_schemas *schemas, uint32_t options)
{
	if (!(options & LIBETW_SCHEMAS_NOT_INSTALLED)) {
		TRY(etw_registry_open(&schemas->installed));
		TRY(etw_tracepoint_machine_create(NULL, &schemas->tracepoints));
	}
	if (!(options & LIBETW_SCHEMAS_NOT_KNOWN))
		TRY(open_table(schemas));
	schemas->hooks = (struct etw_schema_registry){
		.load = load,
		.name = name_of,
		.refresh = refresh,
		.release = release,
		.context = schemas,
	};
	etw_schema_store_set_registry(schemas->store, &schemas->hooks);
	return 0;
}

bool etw_installed_find(const struct libetw_schemas *schemas, const char *name, GUID *ret)
{
	const struct etw_provider_schema *known = NULL;
	bool is_found = false;
	GUID guid = {0};

	/* The user's come behind the system's, and count before them. */
	for (size_t i = 0; schemas->installed && i < etw_registry_count(schemas->installed); i++) {
		const struct etw_registry_row row = etw_registry_entry(schemas->installed, i).row;

		if (row.role == WIRE_REGISTRY_PROVIDER && row.name && !strcasecmp(row.name, name)) {
			guid = row.guid;
			is_found = true;
		}
	}
	if (!is_found)
		return false;
	(void)etw_schema_store_demand_provider(schemas->store, &guid, &known);
	*ret = known && !etw_guid_is_null(&known->control_guid) ? known->control_guid : guid;
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct etw_registry_row *a = left, *b = right;
	int result = memcmp(&a->guid, &b->guid, sizeof(a->guid));

	return result ? result : (a->file > b->file) - (a->file < b->file);
}

/* The rows of providers, in the order of their GUIDs; @ret is owned. */
static int collect(const struct etw_registry *registry, struct etw_registry_row **ret,
		   size_t *ret_count)
{
	size_t room = etw_registry_count(registry), count = 0;
	struct etw_registry_row *rows = calloc(room + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < room; i++) {
		rows[count] = etw_registry_entry(registry, i).row;
		/* From here on the order of the registries: the later one counts. */
		rows[count].file = (uint32_t)i;
		count += rows[count].role == WIRE_REGISTRY_PROVIDER;
	}
	if (count)
		qsort(rows, count, sizeof(*rows), compare);
	*ret = rows;
	*ret_count = count;
	return 0;
}

int etw_installed_list(const struct libetw_schemas *schemas, struct etw_registry_row **ret,
		       size_t *ret_count)
{
	struct etw_registry_row *rows = NULL;
	size_t count = 0, kept = 0;

	if (schemas->installed)
		TRY(collect(schemas->installed, &rows, &count));
	for (size_t i = 0; i < count; i++) {
		bool is_last = i + 1 == count || !etw_guid_equal(&rows[i].guid, &rows[i + 1].guid);

		if (is_last && !etw_schema_store_provider(schemas->store, &rows[i].guid))
			rows[kept++] = rows[i];
	}
	*ret = rows;
	*ret_count = kept;
	return 0;
}
