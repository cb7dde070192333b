/* SPDX-License-Identifier: MIT */
#include "registry/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/guid.h"
#include "base/macros.h"
#include "registry/definition.h"

#define REGISTRIES 2

struct opened {
	char *folder; /* owned */
	struct etw_registry_index index;
	uint8_t *loaded; /* owned; by file: its definition is in the store, or is known to be bad */
	struct stat seen; /* of the index; st_ino 0: there was none */
};

struct etw_registry {
	struct opened at[REGISTRIES]; /* the system's first: later ones count more */
	size_t count;
	int trouble;
	const char *trouble_folder;
	struct etw_fault fault;
	struct etw_schema_registry hooks;
};

void etw_registry_close(struct etw_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->count; i++) {
		etw_registry_index_close(&registry->at[i].index);
		free(registry->at[i].folder);
		free(registry->at[i].loaded);
	}
	free(registry);
}

void etw_registry_closep(struct etw_registry **registry)
{
	etw_registry_close(*registry);
}

static void look_at(const char *folder, struct stat *ret)
{
	CLEANUP(freep) char *path = NULL;

	if (asprintf(&path, "%s/" ETW_REGISTRY_INDEX_NAME, folder) < 0)
		path = NULL;
	if (!path || stat(path, ret) < 0)
		memset(ret, 0, sizeof(*ret));
}

static int open_one(struct etw_registry *registry, enum etw_registry_scope scope)
{
	struct opened *opened = &registry->at[registry->count];
	struct etw_fault fault = {0};
	int r = etw_registry_folder(scope, &opened->folder);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	registry->count++;
	look_at(opened->folder, &opened->seen);
	r = etw_registry_index_open(opened->folder, &opened->index, &fault);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		if (r != -ENOENT && r != -ENOTDIR && !registry->trouble) {
			registry->trouble = r;
			registry->trouble_folder = opened->folder;
			registry->fault = fault;
		}
		return 0;
	}
	opened->loaded = calloc(opened->index.file_count + (size_t)1, 1);
	return opened->loaded ? 0 : -ENOMEM;
}

static int load(void *context, struct etw_schema_store *store, const GUID *guid,
		struct etw_fault *reterr);
static const char *name(void *context, const GUID *guid);

static void release(void *context)
{
	etw_registry_close(context);
}

int etw_registry_open(struct etw_registry **ret)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = calloc(1, sizeof(*registry));

	if (!registry)
		return -ENOMEM;
	TRY(open_one(registry, ETW_REGISTRY_SYSTEM));
	if (!etw_registry_is_one())
		TRY(open_one(registry, ETW_REGISTRY_USER));
	registry->hooks = (struct etw_schema_registry){load, name, release, registry};
	*ret = TAKE(registry);
	return 0;
}

int etw_registry_trouble(const struct etw_registry *registry, const char **ret_folder,
			 struct etw_fault *ret)
{
	if (registry->trouble) {
		*ret_folder = registry->trouble_folder;
		*ret = registry->fault;
	}
	return registry->trouble;
}

bool etw_registry_is_stale(const struct etw_registry *registry)
{
	for (size_t i = 0; i < registry->count; i++) {
		const struct stat *seen = &registry->at[i].seen;
		struct stat now;

		look_at(registry->at[i].folder, &now);
		if (now.st_ino != seen->st_ino || now.st_dev != seen->st_dev ||
		    now.st_mtim.tv_sec != seen->st_mtim.tv_sec ||
		    now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec)
			return true;
	}
	return false;
}

void etw_registry_attach(struct etw_registry *registry, struct etw_schema_store *store)
{
	etw_schema_store_set_registry(store, &registry->hooks);
}

const struct etw_schema_registry *etw_registry_hooks(const struct etw_registry *registry)
{
	return &registry->hooks;
}

/* Whether the index still has the provider in this file: it may have been removed by itself. */
static bool has_provider(const struct opened *opened, uint32_t file, const GUID *guid)
{
	uint32_t first;
	uint32_t count = etw_registry_index_find(&opened->index, guid, &first);

	for (uint32_t i = first; i < first + count; i++) {
		const struct etw_registry_row row = etw_registry_index_row(&opened->index, i);

		if (row.file == file && row.role == WIRE_REGISTRY_PROVIDER)
			return true;
	}
	return false;
}

/* Schemas refer to the provider that owns them, so the list stays as it is and is taken in piece by piece. */
static int register_providers(const struct opened *opened, uint32_t file, uint32_t order,
			      struct etw_schema_store *store,
			      const struct etw_definition *definition)
{
	for (size_t i = 0; i < definition->provider_count; i++) {
		struct etw_definition *one;

		if (!has_provider(opened, file, &definition->providers[i].guid))
			continue;
		one = etw_arena_alloc(etw_schema_store_arena(store), sizeof(*one));
		if (!one)
			return -ENOMEM;
		one->providers = &definition->providers[i];
		one->provider_count = 1;
		one->schema_count = one->providers->schema_count;
		TRY(etw_schema_store_register(store, one, order));
	}
	return 0;
}

/* Later files count more, and the user's more than the system's. */
static uint32_t order_of(const struct etw_registry *registry, const struct opened *opened,
			 uint32_t file)
{
	return (uint32_t)(opened - registry->at) * ETW_REGISTRY_FILES_MAX + file;
}

static int load_file(struct etw_registry *registry, struct opened *opened, uint32_t number,
		     struct etw_schema_store *store, struct etw_fault *reterr)
{
	const struct etw_registry_file file = etw_registry_index_file(&opened->index, number);
	CLEANUP(freep) uint8_t *bytes = NULL;
	struct etw_registry_definition definition;
	uint32_t order = order_of(registry, opened, number);
	int r;

	if (opened->loaded[number])
		return 0;
	opened->loaded[number] = 1;
	TRY(etw_registry_definition_read(opened->folder, &file, &bytes, reterr));
	if (file.kind == WIRE_REGISTRY_TMF)
		return etw_schema_store_register_tmf(store, (const char *)bytes, (size_t)file.bytes,
						     order, reterr);
	r = etw_registry_definition_parse(etw_schema_store_arena(store), file.kind,
					  (struct etw_bytes){bytes, (size_t)file.bytes},
					  &definition, reterr);
	if (r < 0)
		return r;
	return register_providers(opened, number, order, store, definition.definition);
}

static int load(void *context, struct etw_schema_store *store, const GUID *guid,
		struct etw_fault *reterr)
{
	struct etw_registry *registry = context;
	int result = 0;

	for (size_t i = 0; i < registry->count; i++) {
		struct opened *opened = &registry->at[i];
		uint32_t first;
		uint32_t count = etw_registry_index_find(&opened->index, guid, &first);

		/* One that cannot be read does not hide the others. */
		for (uint32_t j = first; j < first + count; j++) {
			uint32_t file = etw_registry_index_row(&opened->index, j).file;
			int r = load_file(registry, opened, file, store, result ? NULL : reterr);

			if (r < 0 && !result)
				result = r;
		}
	}
	return result;
}

static const char *name(void *context, const GUID *guid)
{
	const struct etw_registry *registry = context;

	for (size_t i = registry->count; i-- > 0;) {
		const struct etw_registry_index *index = &registry->at[i].index;
		uint32_t first;
		uint32_t count = etw_registry_index_find(index, guid, &first);

		for (uint32_t j = first + count; j-- > first;) {
			const struct etw_registry_row row = etw_registry_index_row(index, j);

			if (row.name)
				return row.name;
		}
	}
	return NULL;
}

size_t etw_registry_count(const struct etw_registry *registry)
{
	size_t count = 0;

	for (size_t i = 0; i < registry->count; i++)
		count += registry->at[i].index.row_count;
	return count;
}

struct etw_registry_entry etw_registry_entry(const struct etw_registry *registry, size_t i)
{
	const struct opened *opened = registry->at;
	struct etw_registry_entry entry;

	for (; i >= opened->index.row_count; opened++)
		i -= opened->index.row_count;
	entry.row = etw_registry_index_row(&opened->index, (uint32_t)i);
	entry.file = etw_registry_index_file(&opened->index, entry.row.file);
	entry.folder = opened->folder;
	return entry;
}
