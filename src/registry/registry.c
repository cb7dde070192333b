/* SPDX-License-Identifier: MIT */
#include "registry/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "registry/definition.h"
#include "registry/item_internal.h"
#include "registry/wpp_controls.h"

#define REGISTRIES 2

struct opened {
	char *folder; /* owned */
	char *path;   /* owned; of the index */
	struct etw_registry_index index;
	int *results;         /* owned; by file: what reading it failed with, else 0 */
	uint32_t first_order; /* of the first file */
	struct stat seen;     /* of the index; st_ino 0: there was none */
};

/* A provider of a definition; each is registered by itself: another import may count for it, or it was removed. */
struct piece {
	struct etw_definition definition;
	struct etw_schema_registered registered;
};

/* A definition that was read, under whatever number later indexes have it. In the store's arena. */
struct known_definition {
	struct etw_registry_file content; /* sha1 and kind are set, nothing else */
	struct piece *pieces;             /* not of messages, which the store keeps by themselves */
	size_t piece_count;
};

struct kept_name {
	GUID guid;
	const char *name;
};

struct etw_registry {
	struct opened at[REGISTRIES]; /* the system's first: later ones count more */
	size_t count;
	uint32_t next_order;
	int trouble;
	const char *trouble_folder;
	struct etw_fault fault;
	struct etw_table known; /* struct known_definition */
	struct etw_table
		names; /* struct kept_name: names that were handed out outlive their index */
	struct etw_arena arena;         /* of names */
	etw_registry_complain complain; /* may be NULL */
	void *complain_context;
	struct etw_schema_registry hooks;
};

static void close_one(struct opened *opened)
{
	etw_registry_index_close(&opened->index);
	free(opened->folder);
	free(opened->path);
	free(opened->results);
}

void etw_registry_close(struct etw_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->count; i++)
		close_one(&registry->at[i]);
	etw_table_done(&registry->known);
	etw_table_done(&registry->names);
	etw_arena_done(&registry->arena);
	free(registry);
}

void etw_registry_closep(struct etw_registry **registry)
{
	etw_registry_close(*registry);
}

static void look_at(const char *path, struct stat *ret)
{
	if (stat(path, ret) < 0)
		memset(ret, 0, sizeof(*ret));
}

/*
 * Reads the index into @opened, which has none. That there is none is a registry too.
 *
 * Looked at first: a change in between shows as one the next time.
 */
static int read_index(struct opened *opened, struct etw_fault *reterr)
{
	int r;

	look_at(opened->path, &opened->seen);
	r = etw_registry_index_open(opened->folder, &opened->index, reterr);
	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		return r;
	opened->results = calloc(opened->index.file_count + (size_t)1, sizeof(*opened->results));
	return opened->results ? 0 : -ENOMEM;
}

static void note_trouble(struct etw_registry *registry, const struct opened *opened, int error,
			 const struct etw_fault *fault)
{
	if (registry->trouble)
		return;
	registry->trouble = error;
	registry->trouble_folder = opened->folder;
	registry->fault = *fault;
}

/* Later files count more, the user's more than the system's, and what was asked for later more than all before. */
static void set_order(struct etw_registry *registry, struct opened *opened)
{
	uint32_t files = opened->index.file_count;

	/* After thousands of millions of imports: equal orders count as they come. */
	if (registry->next_order > UINT32_MAX - files)
		registry->next_order = UINT32_MAX - files;
	opened->first_order = registry->next_order;
	registry->next_order += files;
}

static int open_one(struct etw_registry *registry, enum etw_registry_scope scope)
{
	struct opened *opened = &registry->at[registry->count];
	struct etw_fault fault = {0};
	int r = etw_registry_folder(scope, &opened->folder);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	registry->count++;
	if (asprintf(&opened->path, "%s/" ETW_REGISTRY_INDEX_NAME, opened->folder) < 0) {
		opened->path = NULL;
		return -ENOMEM;
	}
	r = read_index(opened, &fault);
	if (r == -ENOMEM)
		return r;
	/* As if there had been none: a look after the shortage sees it. */
	if (etw_is_shortage(r))
		memset(&opened->seen, 0, sizeof(opened->seen));
	if (r < 0)
		note_trouble(registry, opened, r, &fault);
	set_order(registry, opened);
	return 0;
}

static const struct etw_schema_registry hooks;

int etw_registry_open(struct etw_registry **ret)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = calloc(1, sizeof(*registry));

	if (!registry)
		return -ENOMEM;
	TRY(open_one(registry, ETW_REGISTRY_SYSTEM));
	if (!etw_registry_is_one())
		TRY(open_one(registry, ETW_REGISTRY_USER));
	registry->hooks = hooks;
	registry->hooks.context = registry;
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

void etw_registry_set_complain(struct etw_registry *registry, etw_registry_complain complain,
			       void *context)
{
	registry->complain = complain;
	registry->complain_context = context;
}

void etw_registry_attach(struct etw_registry *registry, struct etw_schema_store *store)
{
	etw_schema_store_set_registry(store, &registry->hooks);
}

const struct etw_schema_registry *etw_registry_hooks(const struct etw_registry *registry)
{
	return &registry->hooks;
}

static bool is_same(const struct stat *seen, const struct stat *now)
{
	return now->st_ino == seen->st_ino && now->st_dev == seen->st_dev &&
	       now->st_mtim.tv_sec == seen->st_mtim.tv_sec &&
	       now->st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

/* An index that cannot be used leaves the one that was read. */
static bool refresh_one(struct etw_registry *registry, struct opened *opened)
{
	struct opened fresh = {.folder = opened->folder, .path = opened->path};
	struct etw_fault fault = {0};
	struct stat now;
	int r;

	look_at(opened->path, &now);
	if (is_same(&opened->seen, &now))
		return false;
	r = read_index(&fresh, &fault);
	if (r < 0) {
		etw_registry_index_close(&fresh.index);
		if (!etw_is_shortage(r)) {
			note_trouble(registry, opened, r, &fault);
			opened->seen = fresh.seen;
		}
		return false;
	}
	etw_registry_index_close(&opened->index);
	free(opened->results);
	*opened = fresh;
	return true;
}

static bool refresh(void *context)
{
	struct etw_registry *registry = context;
	bool has_changed = false;

	for (size_t i = 0; i < registry->count; i++)
		has_changed |= refresh_one(registry, &registry->at[i]);
	for (size_t i = 0; has_changed && i < registry->count; i++) {
		struct opened *opened = &registry->at[i];

		/* Also of one that is as it was: the user's has to count before a newer one of the system. */
		if (opened->results)
			memset(opened->results, 0,
			       opened->index.file_count * sizeof(*opened->results));
		set_order(registry, opened);
	}
	return has_changed;
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

static bool is_content(const void *item, const void *key)
{
	return etw_registry_content_equal(&((const struct known_definition *)item)->content, key);
}

/* Schemas refer to the provider that owns them, so the list stays as it is and is taken in piece by piece. */
static int make_pieces(struct etw_arena *arena, const struct etw_definition *definition,
		       struct known_definition *known)
{
	known->pieces = etw_arena_array(arena, definition->provider_count, sizeof(*known->pieces));
	if (!known->pieces)
		return -ENOMEM;
	known->piece_count = definition->provider_count;
	for (size_t i = 0; i < known->piece_count; i++) {
		struct piece *piece = &known->pieces[i];

		piece->definition.providers = &definition->providers[i];
		piece->definition.provider_count = 1;
		piece->definition.schema_count = definition->providers[i].schema_count;
		piece->registered.definition = &piece->definition;
	}
	return 0;
}

static int parse(struct etw_schema_store *store, const struct etw_registry_file *file,
		 struct etw_bytes bytes, uint32_t order, struct known_definition *known,
		 struct etw_fault *reterr)
{
	struct etw_arena *arena = etw_schema_store_arena(store);
	struct etw_registry_definition definition;
	struct etw_definition *controls;

	if (file->kind != WIRE_REGISTRY_TMF) {
		TRY(etw_registry_definition_parse(arena, file->kind, bytes, &definition, reterr));
		return make_pieces(arena, definition.definition, known);
	}
	TRY(etw_registry_controls_read(arena, bytes, &controls));
	if (controls)
		TRY(make_pieces(arena, controls, known));
	if (controls && !etw_registry_has_messages(bytes))
		return 0;
	/* The last step: nothing may be given back behind it. */
	return etw_schema_store_register_tmf(store, bytes, controls, order, reterr);
}

static int read_definition(struct etw_registry *registry, const struct opened *opened,
			   uint32_t number, struct etw_schema_store *store,
			   struct known_definition **ret, struct etw_fault *reterr)
{
	const struct etw_registry_file file = etw_registry_index_file(&opened->index, number);
	struct etw_arena *arena = etw_schema_store_arena(store);
	struct etw_arena_mark mark = etw_arena_mark(arena);
	CLEANUP(freep) uint8_t *bytes = NULL;
	struct known_definition *known;
	int r;

	TRY(etw_table_reserve(&registry->known, 1));
	TRY(etw_registry_definition_read(opened->folder, &file, &bytes, reterr));
	known = etw_arena_alloc(arena, sizeof(*known));
	if (!known)
		return -ENOMEM;
	r = parse(store, &file, (struct etw_bytes){bytes, (size_t)file.bytes},
		  opened->first_order + number, known, reterr);
	if (r < 0) {
		etw_arena_release(arena, mark);
		return r;
	}
	memcpy(known->content.sha1, file.sha1, sizeof(file.sha1));
	known->content.kind = file.kind;
	(void)etw_table_insert(&registry->known, etw_registry_content_hash(&file), known);
	*ret = known;
	return 0;
}

/* As the provider, as who enables it, or as the class of one of its events. */
static bool is_about(const struct etw_provider_schema *provider, const GUID *guid)
{
	bool has_classes = provider->source == DecodingSourceWbem;

	if (etw_guid_equal(&provider->guid, guid) || etw_guid_equal(&provider->control_guid, guid))
		return true;
	for (size_t i = 0; has_classes && i < provider->schema_count; i++) {
		if (etw_guid_equal(etw_registry_class_of(&provider->schemas[i]), guid))
			return true;
	}
	return false;
}

/*
 * Only what the file says of @guid: of its other providers a later import may say more, which is read when
 * they are asked for.
 *
 * Messages that the store has keep the order that they had: their GUIDs and numbers are of one build.
 */
static int register_file(struct etw_registry *registry, const struct opened *opened,
			 uint32_t number, struct etw_schema_store *store, const GUID *guid,
			 struct etw_fault *reterr)
{
	const struct etw_registry_file file = etw_registry_index_file(&opened->index, number);
	struct known_definition *known = etw_table_find(
		&registry->known, etw_registry_content_hash(&file), is_content, &file);

	if (!known)
		TRY(read_definition(registry, opened, number, store, &known, reterr));
	for (size_t i = 0; i < known->piece_count; i++) {
		struct piece *piece = &known->pieces[i];
		const struct etw_provider_schema *provider = piece->definition.providers;

		if (is_about(provider, guid) && has_provider(opened, number, &provider->guid))
			TRY(etw_schema_store_register(store, &piece->registered,
						      opened->first_order + number));
	}
	return 0;
}

static const char *sentence_of(int error)
{
	switch (error) {
	case -ENOENT:
		return "a definition in the registry is gone";
	case -EACCES:
	case -EPERM:
		return "this user may not read a definition in the registry";
	default:
		return "a definition in the registry cannot be read";
	}
}

/* Told once: to whom the registry complains, else to the caller. */
static void tell(const struct etw_registry *registry, const struct opened *opened, uint32_t number,
		 const struct etw_fault *fault, struct etw_fault *reterr)
{
	if (registry->complain)
		registry->complain(registry->complain_context,
				   etw_registry_index_file(&opened->index, number).from, fault);
	else if (!reterr->sentence)
		*reterr = *fault;
}

/* Shortages pass; all else stays as it is until the index changes. */
static int load_file(struct etw_registry *registry, struct opened *opened, uint32_t number,
		     struct etw_schema_store *store, const GUID *guid, struct etw_fault *reterr)
{
	struct etw_fault fault = {0};
	int r = opened->results[number];

	TRY(r);
	r = register_file(registry, opened, number, store, guid, &fault);
	if (r >= 0 || etw_is_shortage(r))
		return r;
	opened->results[number] = r;
	if (!fault.sentence)
		(void)etw_fault_set(&fault, r, 0, "stored definition", NULL, sentence_of(r));
	tell(registry, opened, number, &fault, reterr);
	return r;
}

/*
 * What counts most comes first: where there is a shortage behind it, its events have the right schema, and those
 * that it lacks have none and ask again.
 */
static int load(void *context, struct etw_schema_store *store, const GUID *guid,
		struct etw_fault *reterr)
{
	struct etw_registry *registry = context;
	int result = 0;

	for (size_t i = registry->count; i-- > 0;) {
		struct opened *opened = &registry->at[i];
		uint32_t first;
		uint32_t count = etw_registry_index_find(&opened->index, guid, &first);

		for (uint32_t j = first + count; j-- > first;) {
			uint32_t file = etw_registry_index_row(&opened->index, j).file;
			int r = load_file(registry, opened, file, store, guid, reterr);

			if (etw_is_shortage(r))
				return r;
			/* One that cannot be read does not hide the others. */
			if (r < 0 && !result)
				result = r;
		}
	}
	return result;
}

static bool is_kept_name(const void *item, const void *key)
{
	const struct kept_name *kept = item, *wanted = key;

	return etw_guid_equal(&kept->guid, &wanted->guid) && !strcmp(kept->name, wanted->name);
}

/* The name as it may be handed out; NULL without memory: then the GUID is shown. */
static const char *keep_name(struct etw_registry *registry, const GUID *guid, const char *name)
{
	const struct kept_name wanted = {*guid, name};
	uint64_t hash = etw_guid_hash(guid);
	struct kept_name *kept = etw_table_find(&registry->names, hash, is_kept_name, &wanted);

	if (kept)
		return kept->name;
	if (etw_table_reserve(&registry->names, 1) < 0)
		return NULL;
	kept = etw_arena_alloc(&registry->arena, sizeof(*kept));
	name = etw_arena_strdup(&registry->arena, name);
	if (!kept || !name)
		return NULL;
	*kept = (struct kept_name){*guid, name};
	(void)etw_table_insert(&registry->names, hash, kept);
	return name;
}

static const char *name(void *context, const GUID *guid)
{
	struct etw_registry *registry = context;

	for (size_t i = registry->count; i-- > 0;) {
		const struct etw_registry_index *index = &registry->at[i].index;
		uint32_t first;
		uint32_t count = etw_registry_index_find(index, guid, &first);

		for (uint32_t j = first + count; j-- > first;) {
			const struct etw_registry_row row = etw_registry_index_row(index, j);

			if (row.name)
				return keep_name(registry, guid, row.name);
		}
	}
	return NULL;
}

static void release(void *context)
{
	etw_registry_close(context);
}

static const struct etw_schema_registry hooks = {
	.load = load,
	.name = name,
	.refresh = refresh,
	.release = release,
};

bool etw_registry_has_definition(const struct etw_registry *registry, const GUID *guid)
{
	for (size_t i = 0; i < registry->count; i++) {
		const struct etw_registry_index *index = &registry->at[i].index;
		uint32_t first;
		uint32_t count = etw_registry_index_find(index, guid, &first);

		for (uint32_t j = first; j < first + count; j++) {
			uint32_t file = etw_registry_index_row(index, j).file;

			if (etw_registry_index_file(index, file).kind != WIRE_REGISTRY_TMF)
				return true;
		}
	}
	return false;
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
