/* SPDX-License-Identifier: MIT */
/* The table of known providers behind a store, and which of its layouts of an event comes first. */
#include <errno.h>

#include "base/macros.h"
#include "schema/known/known_schema.h"
#include "schema/store/store_internal.h"

#define NO_BUILD UINT32_MAX /* a distance: the layout is of no build that is known */

void etw_schema_store_set_known(struct etw_schema_store *store, struct etw_known *known)
{
	store->known = known;
	if (known)
		store->owned_known = known;
	etw_store_forget_answers(store);
}

struct etw_known *etw_schema_store_known(const struct etw_schema_store *store)
{
	return store->known;
}

void etw_schema_store_set_build(struct etw_schema_store *store, uint32_t build)
{
	if (build == store->build)
		return;
	/* What depends on the build is not cached once there were two. */
	if (!store->has_builds)
		etw_store_forget_answers(store);
	store->has_builds |= store->build != 0;
	store->build = build;
}

/* How far the store's build is from those that have a layout; NO_BUILD: the layout is of no build. */
static uint32_t distance_of(const struct etw_schema_store *store, const struct etw_schema *schema)
{
	return schema->builds ? etw_known_build_distance(schema->builds, store->build) : NO_BUILD;
}

const struct etw_schema *etw_store_next_known(const struct etw_schema_store *store,
					      const struct stored_event *stored,
					      const struct etw_schema *after)
{
	const struct etw_schema *best = NULL;
	uint32_t passed = after ? distance_of(store, after) : 0;
	uint32_t best_distance = NO_BUILD;
	bool is_behind = !after;

	if (!store->known)
		return NULL;
	for (const struct etw_schema *at = stored ? stored->first : NULL; at; at = at->next) {
		uint32_t distance;

		if (at->origin != ETW_SCHEMA_ORIGIN_KNOWN)
			continue;
		if (at == after) {
			is_behind = true;
			continue;
		}
		distance = distance_of(store, at);
		/* Of equal distance, the order is that of the list. */
		if (distance < passed || (distance == passed && !is_behind))
			continue;
		if (!best || distance < best_distance) {
			best = at;
			best_distance = distance;
		}
	}
	return best;
}

const struct etw_schema *etw_store_first(const struct etw_schema_store *store,
					 const struct stored_event *stored)
{
	const struct etw_schema *first = stored ? stored->first : NULL;

	if (!first || first->origin != ETW_SCHEMA_ORIGIN_KNOWN)
		return first;
	return etw_store_next_known(store, stored, NULL);
}

bool etw_store_has_known_provider(const struct etw_schema_store *store, const GUID *provider)
{
	struct etw_known_provider found;

	return store->known && !etw_known_find(store->known, provider, &found) && found.event_count;
}

static int find_candidates(struct etw_schema_store *store, const struct store_key *key,
			   struct etw_known_candidate **ret, size_t *ret_count)
{
	const uint16_t id = (uint16_t)(key->event >> 8);
	const uint8_t version = (uint8_t)key->event;
	GUID guid;

	memcpy(&guid, key->guid, sizeof(guid));
	switch ((enum store_kind)(key->event >> 32)) {
	case STORE_MANIFEST:
		return etw_known_candidates(store->known, &guid, id, version, &store->arena, ret,
					    ret_count);
	case STORE_CLASS:
		return etw_known_class_candidates(store->known, &guid, id, version, &store->arena,
						  ret, ret_count);
	default:
		return -ENOENT;
	}
}

static int make_event(struct etw_schema_store *store, const struct store_key *key,
		      struct stored_event **ret)
{
	struct stored_event *stored = etw_store_find_event(store, key);

	if (!stored) {
		stored = etw_arena_alloc(&store->arena, sizeof(*stored));
		if (!stored)
			return -ENOMEM;
		*stored = (struct stored_event){.key = *key};
		TRY(etw_table_insert(&store->events, store_key_hash(store, key), stored));
	}
	*ret = stored;
	return 0;
}

static uint8_t marks_of(uint32_t known_marks)
{
	return (uint8_t)((known_marks & WIRE_KNOWN_INCOMPLETE ? ETW_SCHEMA_INCOMPLETE : 0) |
			 (known_marks & WIRE_KNOWN_INFERRED ? ETW_SCHEMA_INFERRED : 0) |
			 (known_marks & WIRE_KNOWN_DOUBT ? ETW_SCHEMA_DOUBTFUL : 0));
}

/* Those that come newest first keep that order among equally rich ones. */
static void keep(struct etw_schema_store *store, struct stored_event *stored,
		 const struct etw_known_candidate *candidates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct etw_schema *schema = candidates[i].schema;

		schema->builds = candidates[i].builds;
		schema->marks |= marks_of(candidates[i].marks);
		schema->index = store->schema_count++;
		etw_store_insert(stored, schema, ETW_SCHEMA_ORIGIN_KNOWN, (uint32_t)(count - i));
	}
}

int etw_store_ask_known(struct etw_schema_store *store, const struct store_key *key)
{
	struct stored_event *stored = etw_store_find_event(store, key);
	struct etw_known_candidate *candidates;
	size_t count = 0;
	int r;

	if (!store->known || (stored && stored->is_known_asked))
		return 0;
	r = find_candidates(store, key, &candidates, &count);
	if (r == -ENOMEM)
		return r;
	if (!r && count) {
		TRY(make_event(store, key, &stored));
		keep(store, stored, candidates, count);
	}
	/* Damage is remembered by the table, and the same the next time. */
	if (stored)
		stored->is_known_asked = true;
	return !r && count;
}

static int make_definition(struct etw_schema_store *store, const struct etw_known_provider *found,
			   struct etw_definition *ret)
{
	*ret = (struct etw_definition){.provider_count = 1, .schema_count = found->event_count};
	return etw_known_provider_schema(store->known, found, store->build, /* flags= */ 0,
					 &store->arena, &ret->providers);
}

static void keep_definition(struct etw_schema_store *store, const struct etw_definition *definition)
{
	const struct etw_provider_schema *provider = definition->providers;

	/* Events are looked up by themselves, with all their layouts; these are for lists. */
	for (size_t i = 0; i < provider->schema_count; i++)
		provider->schemas[i].origin = ETW_SCHEMA_ORIGIN_KNOWN;
	etw_store_keep_providers(store, definition, ETW_SCHEMA_ORIGIN_KNOWN, 0);
}

int etw_store_known_provider(struct etw_schema_store *store, const GUID *guid)
{
	struct etw_known_provider found;
	struct etw_definition definition;
	struct stored_provider *unused;
	struct etw_arena_mark mark;
	int r;

	if (!store->known)
		return -ENOENT;
	TRY(etw_known_find(store->known, guid, &found));
	/* Of some providers only the name is known. */
	if (!found.event_count)
		return -ENOENT;
	TRY(etw_store_make_provider(store, guid, &unused));
	mark = etw_arena_mark(&store->arena);
	r = make_definition(store, &found, &definition);
	if (r < 0)
		etw_arena_release(&store->arena, mark);
	else
		keep_definition(store, &definition);
	return r;
}

/* Entries whose texts are not known are left out: the number is shown. */
static int make_map(struct etw_schema_store *store, const struct etw_known_map *found,
		    const char *name, const struct etw_map **ret)
{
	struct etw_map_entry *entries = etw_arena_array(&store->arena, found->entry_count,
							sizeof(*entries));
	struct etw_map *map = etw_arena_alloc(&store->arena, sizeof(*map));

	if (!map || !entries)
		return -ENOMEM;
	map->name = name;
	map->flags = found->is_bits ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP
				    : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	map->entries = entries;
	for (uint32_t i = 0; i < found->entry_count; i++) {
		struct etw_map_entry *entry = &entries[map->count];

		if (etw_known_entry_at(store->known, found, i, &entry->value, &entry->text) < 0)
			return 0;
		map->count += entry->text != NULL;
	}
	*ret = map;
	return 0;
}

int etw_store_known_map(struct etw_schema_store *store, const GUID *provider, const char *name,
			const struct etw_map **ret)
{
	struct etw_known_provider found;
	struct etw_known_map map;

	*ret = NULL;
	/* What is damaged is no answer; the table remembers it. */
	if (!store->known || etw_known_find(store->known, provider, &found) < 0)
		return 0;
	for (size_t i = 0; i < found.map_count; i++) {
		if (etw_known_map_at(store->known, &found, i, &map) < 0)
			return 0;
		if (strcmp(map.name, name) != 0)
			continue;
		if (map.entry_count > ETW_SCHEMA_MAP_ENTRIES_MAX)
			return 0;
		return make_map(store, &map, name, ret);
	}
	return 0;
}
