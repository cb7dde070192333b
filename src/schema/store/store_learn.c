/* SPDX-License-Identifier: MIT */
/* Taking in: event metadata of merged traces, embedded manifests, and manifests of the user. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "schema/layout.h"
#include "schema/manifest/manifest.h"
#include "schema/metadata/event_info.h"
#include "schema/store/store.h"
#include "schema/store/store_internal.h"
#include "wire/class_guids.h"
#include "wire/event_info.h"

static const GUID event_metadata_class = WIRE_CLASS_EVENT_METADATA;

void etw_store_forget_answers(struct etw_schema_store *store)
{
	memset(store->cache, 0, sizeof(store->cache));
}

static bool is_event_metadata(const EVENT_HEADER *header)
{
	return (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) &&
	       etw_guid_equal(&header->ProviderId, &event_metadata_class);
}

bool etw_schema_store_is_metadata(const EVENT_RECORD *record)
{
	return is_event_metadata(&record->EventHeader) ||
	       etw_embedded_is_chunk(&record->EventHeader.EventDescriptor);
}

struct map_key {
	const GUID *provider;
	const char *name;
};

static bool is_stored_map(const void *item, const void *key)
{
	const struct stored_map *stored = item;
	const struct map_key *wanted = key;

	return etw_guid_equal(&stored->provider, wanted->provider) &&
	       strcmp(stored->name, wanted->name) == 0;
}

static int make_map(struct etw_schema_store *store, const GUID *provider, const char *name,
		    struct stored_map **ret)
{
	const struct map_key key = {provider, name};
	uint64_t hash = etw_hash_bytes(store->seed, provider, sizeof(*provider));
	struct stored_map *stored;

	hash = etw_hash_bytes(hash, name, strlen(name));
	stored = etw_table_find(&store->maps, hash, is_stored_map, &key);
	if (!stored) {
		stored = etw_arena_alloc(&store->arena, sizeof(*stored));
		if (!stored)
			return -ENOMEM;
		stored->provider = *provider;
		stored->name = name;
		TRY(etw_table_insert(&store->maps, hash, stored));
	}
	*ret = stored;
	return 0;
}

/* The table is asked once for each map that a field names. */
static int ask_known_map(struct etw_schema_store *store, struct stored_map *stored)
{
	if (stored->map || stored->is_known_asked)
		return 0;
	stored->is_known_asked = true;
	TRY(etw_store_known_map(store, &stored->provider, stored->name, &stored->map));
	stored->rank = stored->map ? STORE_MAP_KNOWN : STORE_MAP_NONE;
	return 0;
}

static int attach_map(struct etw_schema_store *store, const GUID *provider, struct etw_field *field)
{
	struct waiting_field *waiting;
	struct stored_map *stored;

	if (!field->map_name)
		return 0;
	TRY(make_map(store, provider, field->map_name, &stored));
	TRY(ask_known_map(store, stored));
	field->map = stored->map;
	if (stored->rank == STORE_MAP_TRACE)
		return 0;
	waiting = etw_arena_alloc(&store->arena, sizeof(*waiting));
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct waiting_field){stored->waiting, field};
	stored->waiting = waiting;
	return 0;
}

/* Others may look at the fields meanwhile; pairs with libetw_schema_field(). */
static void fill_in(struct stored_map *stored, const struct etw_map *map, enum store_map_rank rank)
{
	stored->map = map;
	stored->rank = rank;
	for (struct waiting_field *waiting = stored->waiting; waiting; waiting = waiting->next)
		store_release(&waiting->field->map, map);
}

/* What is new goes beyond what a store takes from events. */
static int refuse_more(struct etw_schema_store *store)
{
	static const struct etw_fault fault = {
		.structure = "event metadata",
		.sentence = "the events bring more schemas of their own than are kept",
	};

	etw_store_report(store, &fault);
	return 0;
}

static int learn_map(struct etw_schema_store *store, struct etw_bytes blob)
{
	struct etw_arena_mark mark = etw_arena_mark(&store->arena);
	struct etw_map *map = NULL;
	struct stored_map *stored;
	struct etw_fault fault;
	GUID provider;
	int r = etw_event_map_parse(&store->arena, blob, &provider, &map, &fault);

	if (r == -EBADMSG) {
		etw_store_report(store, &fault);
		return 0;
	}
	if (r < 0)
		return r;
	if (!etw_store_has_room(store)) {
		etw_arena_release(&store->arena, mark);
		return refuse_more(store);
	}
	TRY(make_map(store, &provider, map->name, &stored));
	if (stored->rank == STORE_MAP_TRACE) {
		etw_arena_release(&store->arena, mark);
		return 0;
	}
	fill_in(stored, map, STORE_MAP_TRACE);
	stored->waiting = NULL;
	return 0;
}

static int share_map(struct etw_schema_store *store, const GUID *provider,
		     const struct etw_map *map)
{
	struct stored_map *stored;

	if (!map->name)
		return 0;
	TRY(make_map(store, provider, map->name, &stored));
	if (stored->rank < STORE_MAP_DEFINITION)
		fill_in(stored, map, STORE_MAP_DEFINITION);
	return 0;
}

/* The fields of a definition in the arena are this store's own. */
static int attach_maps(struct etw_schema_store *store, const struct etw_schema *schema)
{
	struct etw_field *fields = (struct etw_field *)(uintptr_t)schema->fields;

	for (uint16_t i = 0; i < schema->field_count; i++) {
		if (fields[i].map_name && !fields[i].map)
			TRY(attach_map(store, &schema->provider, &fields[i]));
	}
	return 0;
}

int etw_store_share_maps(struct etw_schema_store *store, const struct etw_definition *definition)
{
	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->map_count; j++)
			TRY(share_map(store, &provider->guid, &provider->maps[j]));
		for (size_t j = 0; j < provider->schema_count; j++)
			TRY(attach_maps(store, &provider->schemas[j]));
	}
	return 0;
}

bool etw_store_key_of_schema(const struct etw_schema *schema, struct store_key *ret)
{
	const EVENT_DESCRIPTOR *descriptor = &schema->descriptor;
	const GUID *class_guid = &schema->event_guid;

	switch (schema->source) {
	case DecodingSourceXMLFile:
		*ret = store_key_of(&schema->provider, STORE_MANIFEST, descriptor->Id,
				    descriptor->Version);
		return true;
	case DecodingSourceWbem:
		if (etw_guid_is_null(class_guid))
			class_guid = &schema->provider;
		*ret = store_key_of(class_guid, STORE_CLASS, descriptor->Opcode,
				    descriptor->Version);
		return true;
	default:
		/* TraceLogging events carry their schema, WPP messages have none. */
		return false;
	}
}

/* The recording machine's own word: no other name goes before it. */
static int learn_provider(struct etw_schema_store *store, const GUID *guid, const char *name,
			  bool has_events)
{
	struct stored_provider *provider;

	TRY(etw_store_make_provider(store, guid, &provider));
	if (name) {
		provider->name = name;
		provider->name_origin = ETW_SCHEMA_ORIGIN_TRACE;
	}
	provider->has_events |= has_events;
	return 0;
}

static int keep_event_info(struct etw_schema_store *store, struct etw_schema *schema,
			   const struct store_key *key)
{
	/* The fields are this store's own until the schema is found for the first time. */
	struct etw_field *fields = (struct etw_field *)schema->fields;
	struct stored_event *stored = etw_store_find_event(store, key);

	for (uint16_t i = 0; i < schema->field_count; i++)
		TRY(attach_map(store, &schema->provider, &fields[i]));
	TRY(learn_provider(store, &schema->provider, schema->provider_name,
			   schema->source == DecodingSourceXMLFile));
	if (!stored) {
		stored = etw_arena_alloc(&store->arena, sizeof(*stored));
		if (!stored)
			return -ENOMEM;
		stored->key = *key;
		TRY(etw_table_insert(&store->events, store_key_hash(store, key), stored));
	}
	etw_store_insert(stored, schema, ETW_SCHEMA_ORIGIN_TRACE, 0);
	schema->index = store->schema_count++;
	return 0;
}

/* Of events that are not looked up by numbers, the provider's name is all that is of use. Takes the schema back. */
static int learn_provider_name(struct etw_schema_store *store, const struct etw_schema *schema,
			       struct etw_arena_mark mark)
{
	const GUID guid = schema->provider;
	const struct stored_provider *stored = etw_store_find_provider(store, &guid);
	CLEANUP(freep) char *name = NULL;
	const char *kept;
	bool is_new = schema->provider_name && (!stored || !stored->name ||
						strcmp(stored->name, schema->provider_name) != 0);

	if (is_new)
		name = strdup(schema->provider_name);
	etw_arena_release(&store->arena, mark);
	if (!is_new)
		return 0;
	if (!etw_store_has_room(store))
		return refuse_more(store);
	kept = name ? etw_arena_strdup(&store->arena, name) : NULL;
	if (!kept)
		return -ENOMEM;
	return learn_provider(store, &guid, kept, /* has_events= */ false);
}

static int learn_event_info(struct etw_schema_store *store, struct etw_bytes blob)
{
	struct etw_arena_mark mark = etw_arena_mark(&store->arena);
	struct stored_event *stored;
	struct etw_schema *schema = NULL;
	struct etw_fault fault;
	struct store_key key;
	int r = etw_event_info_parse(&store->arena, blob, &schema, &fault);

	if (r == -EBADMSG) {
		etw_store_report(store, &fault);
		return 0;
	}
	if (r < 0)
		return r;
	if (!etw_store_key_of_schema(schema, &key))
		return learn_provider_name(store, schema, mark);
	stored = etw_store_find_event(store, &key);
	if (stored && !etw_store_has_place(stored, schema, ETW_SCHEMA_ORIGIN_TRACE)) {
		etw_arena_release(&store->arena, mark);
		return 0;
	}
	if (!etw_store_has_room(store)) {
		etw_arena_release(&store->arena, mark);
		return refuse_more(store);
	}
	return keep_event_info(store, schema, &key);
}

static int learn_event_metadata(struct etw_schema_store *store, const EVENT_RECORD *record)
{
	struct etw_bytes blob = {record->UserData, record->UserDataLength};

	switch (record->EventHeader.EventDescriptor.Opcode) {
	case WIRE_EVENT_METADATA_INFO:
		return learn_event_info(store, blob);
	case WIRE_EVENT_METADATA_MAP:
		return learn_map(store, blob);
	default:
		return 0;
	}
}

/* @room: unused known_event structs; cannot fail after etw_table_reserve(). */
static struct stored_event *keep_defined_event(struct etw_schema_store *store,
					       struct etw_schema *schema,
					       enum etw_schema_origin origin, uint32_t order,
					       struct stored_event *room)
{
	bool is_new = schema->origin == ETW_SCHEMA_ORIGIN_NONE;
	struct stored_event *stored;
	struct store_key key;

	if (!etw_store_key_of_schema(schema, &key))
		return room;
	stored = etw_store_find_event(store, &key);
	if (stored && is_new && origin == ETW_SCHEMA_ORIGIN_EMBEDDED &&
	    !etw_store_has_place(stored, schema, origin))
		return room;
	if (!stored) {
		stored = room++;
		*stored = (struct stored_event){.key = key};
		(void)etw_table_insert(&store->events, store_key_hash(store, &key), stored);
	}
	if (is_new)
		schema->index = store->schema_count++;
	etw_store_insert(stored, schema, origin, order);
	return room;
}

/* Of one origin the richer definition, of equally rich ones the later. */
static bool is_believed(const struct stored_provider *stored,
			const struct etw_provider_schema *schema, enum etw_schema_origin origin,
			uint32_t order)
{
	int richer;

	if (!stored->schema || stored->schema_origin != origin)
		return !stored->schema || stored->schema_origin < origin;
	richer = etw_layout_compare_providers(schema, stored->schema);
	return richer ? richer > 0 : stored->schema_order <= order;
}

static void keep_provider(struct etw_schema_store *store, const struct etw_provider_schema *schema,
			  enum etw_schema_origin origin, uint32_t order)
{
	struct stored_provider *stored = etw_store_find_provider(store, &schema->guid);

	if (!is_believed(stored, schema, origin, order))
		return;
	stored->schema = schema;
	stored->schema_origin = origin;
	stored->schema_order = order;
}

static const char *find_name(const struct stored_provider *stored, const char *name)
{
	if (stored->name && !strcmp(stored->name, name))
		return stored->name;
	for (const struct lent_name *at = stored->lent_names; at; at = at->next) {
		if (!strcmp(at->name, name))
			return at->name;
	}
	return NULL;
}

/*
 * Names outlive loans, since schemas of other kinds may show them. Each is kept once, however often its
 * definition comes and goes.
 */
static int own_name(struct etw_schema_store *store, const struct etw_provider_schema *provider,
		    enum etw_schema_origin origin)
{
	struct stored_provider *stored = etw_store_find_provider(store, &provider->guid);
	struct lent_name *lent;

	if (origin != ETW_SCHEMA_ORIGIN_LOADED || !provider->name ||
	    find_name(stored, provider->name))
		return 0;
	lent = etw_arena_alloc(&store->arena, sizeof(*lent));
	if (!lent)
		return -ENOMEM;
	lent->name = etw_arena_strdup(&store->arena, provider->name);
	if (!lent->name)
		return -ENOMEM;
	lent->next = stored->lent_names;
	stored->lent_names = lent;
	return 0;
}

/* The name goes with the definition that is believed, as it may be kept; after own_name() and keep_provider(). */
static void keep_name(struct etw_schema_store *store, const struct etw_provider_schema *provider,
		      enum etw_schema_origin origin)
{
	struct stored_provider *stored = etw_store_find_provider(store, &provider->guid);
	bool is_higher = !stored->name || stored->name_origin < origin;

	if (!provider->name)
		return;
	/* Of one origin, the believed definition names the provider; one that has no name leaves that to others. */
	if (!is_higher && (stored->name_origin != origin ||
			   (stored->schema_origin == origin && stored->schema != provider)))
		return;
	stored->name = origin == ETW_SCHEMA_ORIGIN_LOADED ? find_name(stored, provider->name)
							  : provider->name;
	stored->name_origin = origin;
}

/* Room for the events that are not known yet; NULL when there are none of them. */
static int make_room(struct etw_schema_store *store, const struct etw_definition *definition,
		     struct stored_event **ret)
{
	struct store_key key;
	size_t count = 0;

	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++)
			count += etw_store_key_of_schema(&provider->schemas[j], &key) &&
				 !etw_store_find_event(store, &key);
	}
	*ret = count ? etw_arena_array(&store->arena, count, sizeof(**ret)) : NULL;
	if (count && !*ret)
		return -ENOMEM;
	return etw_table_reserve(&store->events, count);
}

void etw_store_keep_providers(struct etw_schema_store *store,
			      const struct etw_definition *definition,
			      enum etw_schema_origin origin, uint32_t order)
{
	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];
		struct stored_provider *stored = etw_store_find_provider(store, &provider->guid);

		stored->has_events |= provider->source == DecodingSourceXMLFile &&
				      provider->schema_count != 0;
		keep_provider(store, provider, origin, order);
		keep_name(store, provider, origin);
	}
}

int etw_store_keep_definition_of(struct etw_schema_store *store,
				 const struct etw_definition *definition,
				 enum etw_schema_origin origin, uint32_t order)
{
	struct stored_provider *unused;
	struct stored_event *room;

	TRY(make_room(store, definition, &room));
	/* An entry without name or events changes no answer: a failure here leaves no trace. */
	for (size_t i = 0; i < definition->provider_count; i++) {
		TRY(etw_store_make_provider(store, &definition->providers[i].guid, &unused));
		TRY(own_name(store, &definition->providers[i], origin));
	}
	etw_store_keep_providers(store, definition, origin, order);
	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++)
			room = keep_defined_event(store, &provider->schemas[j], origin, order,
						  room);
	}
	etw_store_forget_answers(store);
	return 0;
}

int etw_store_keep_definition(struct etw_schema_store *store,
			      const struct etw_definition *definition,
			      enum etw_schema_origin origin)
{
	TRY(etw_store_share_maps(store, definition));
	return etw_store_keep_definition_of(store, definition, origin, 0);
}

static int add_manifest(struct etw_schema_store *store, const char *text, size_t bytes,
			enum etw_schema_origin origin, struct etw_fault *reterr)
{
	struct etw_definition *definition;

	TRY(etw_manifest_parse(&store->arena, text, bytes, &definition, reterr));
	return etw_store_keep_definition(store, definition, origin);
}

int etw_schema_store_add_manifest(struct etw_schema_store *store, const char *text, size_t bytes,
				  struct etw_fault *reterr)
{
	return add_manifest(store, text, bytes, ETW_SCHEMA_ORIGIN_USER, reterr);
}

static bool is_stored_text(const void *item, const void *key)
{
	return memcmp(item, key, sizeof(struct stored_text)) == 0;
}

/* Two hashes of 64 bits stand for the text: nobody gains by a collision, which hides a manifest. */
static struct stored_text describe_text(const struct etw_schema_store *store,
					const struct etw_text *text)
{
	return (struct stored_text){
		.hashes = {etw_hash_bytes(store->seed, text->at, text->bytes),
			   etw_hash_bytes(~store->seed, text->at, text->bytes)},
		.bytes = text->bytes,
	};
}

/* A whole embedded manifest; good or bad it is read once, but a want of memory may pass. */
static int learn_manifest(struct etw_schema_store *store, const struct etw_text *text,
			  struct etw_fault *reterr)
{
	const struct stored_text wanted = describe_text(store, text);
	struct stored_text *stored;
	int r;

	if (etw_table_find(&store->texts, wanted.hashes[0], is_stored_text, &wanted))
		return 0;
	if (!etw_store_has_room(store))
		return refuse_more(store);
	TRY(etw_table_reserve(&store->texts, 1));
	r = add_manifest(store, etw_text_string(text), text->bytes, ETW_SCHEMA_ORIGIN_EMBEDDED,
			 reterr);
	if (r < 0 && r != -EBADMSG)
		return r;
	stored = etw_arena_copy(&store->arena, &wanted, sizeof(wanted));
	if (!stored)
		return -ENOMEM;
	(void)etw_table_insert(&store->texts, wanted.hashes[0], stored);
	return r;
}

static int learn_chunk(struct etw_schema_store *store, const EVENT_RECORD *record)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct etw_fault fault = {0};
	int r = etw_embedded_add(&store->embedded, record, &text, &fault);

	if (r == ETW_EMBEDDED_COMPLETE)
		r = learn_manifest(store, &text, &fault);
	if (r == -EBADMSG) {
		etw_store_report(store, &fault);
		return 0;
	}
	return r;
}

int etw_schema_store_learn(struct etw_schema_store *store, const EVENT_RECORD *record)
{
	size_t held_bytes = etw_arena_bytes(&store->arena);
	int r = 0;

	if (is_event_metadata(&record->EventHeader))
		r = learn_event_metadata(store, record);
	else if (etw_embedded_is_chunk(&record->EventHeader.EventDescriptor) &&
		 !(record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER))
		r = learn_chunk(store, record);
	else
		return 0;
	etw_store_charge(store, held_bytes);
	etw_store_forget_answers(store);
	return r;
}
