/* SPDX-License-Identifier: MIT */
/*
 * Finding. Manifest and classic events go through a small direct-mapped cache in front of the tables;
 * TraceLogging events are found by the contents of their metadata.
 */
#include "schema/store/store.h"

#include <errno.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/kernel.h"
#include "schema/metadata/tracelogging.h"
#include "schema/metadata/traits.h"
#include "schema/provider_names.h"
#include "schema/store/store_internal.h"

int etw_schema_store_create(struct etw_schema_store **ret)
{
	struct etw_schema_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->seed = etw_hash_seed();
	*ret = store;
	return 0;
}

void etw_schema_store_free(struct etw_schema_store *store)
{
	if (!store)
		return;
	etw_table_done(&store->events);
	etw_table_done(&store->providers);
	etw_table_done(&store->maps);
	etw_table_done(&store->blobs);
	etw_table_done(&store->classes);
	etw_table_done(&store->texts);
	etw_table_done(&store->asked);
	etw_embedded_done(&store->embedded);
	etw_arena_done(&store->arena);
	if (store->registry)
		store->registry->release(store->registry->context);
	etw_known_close(store->owned_known);
	free(store);
}

void etw_schema_store_freep(struct etw_schema_store **store)
{
	etw_schema_store_free(*store);
}

void etw_store_report(struct etw_schema_store *store, const struct etw_fault *fault)
{
	if (!store->damage_count++)
		store->first_damage = *fault;
}

size_t etw_schema_store_damage(const struct etw_schema_store *store, struct etw_fault *ret_first)
{
	if (store->damage_count && ret_first)
		*ret_first = store->first_damage;
	return store->damage_count;
}

static bool is_stored_event(const void *item, const void *key)
{
	return store_key_equal(&((const struct stored_event *)item)->key, key);
}

struct stored_event *etw_store_find_event(const struct etw_schema_store *store,
					  const struct store_key *key)
{
	return etw_table_find(&store->events, store_key_hash(store, key), is_stored_event, key);
}

static bool is_stored_provider(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct stored_provider *)item)->guid, key);
}

static uint64_t hash_guid(const struct etw_schema_store *store, const GUID *guid)
{
	return etw_hash_bytes(store->seed, guid, sizeof(*guid));
}

struct stored_provider *etw_store_find_provider(const struct etw_schema_store *store,
						const GUID *guid)
{
	return etw_table_find(&store->providers, hash_guid(store, guid), is_stored_provider, guid);
}

int etw_store_make_provider(struct etw_schema_store *store, const GUID *guid,
			    struct stored_provider **ret)
{
	struct stored_provider *provider = etw_store_find_provider(store, guid);

	if (!provider) {
		provider = etw_arena_alloc(&store->arena, sizeof(*provider));
		if (!provider)
			return -ENOMEM;
		provider->guid = *guid;
		TRY(etw_table_insert(&store->providers, hash_guid(store, guid), provider));
		if (store->last_provider)
			store->last_provider->next = provider;
		else
			store->first_provider = provider;
		store->last_provider = provider;
	}
	*ret = provider;
	return 0;
}

const char *etw_schema_store_provider_name(const struct etw_schema_store *store,
					   const GUID *provider)
{
	const struct stored_provider *stored = etw_store_find_provider(store, provider);
	struct etw_known_provider in_table;
	const char *name;

	if (stored && stored->name)
		return stored->name;
	name = etw_kernel_class_name(provider);
	if (!name && store->registry)
		name = store->registry->name(store->registry->context, provider);
	if (!name && store->known && !etw_known_find(store->known, provider, &in_table))
		name = in_table.name;
	return name ? name : etw_provider_name_find(provider);
}

/* What was taken from the table of known providers goes with it. */
static bool is_shown(const struct etw_schema_store *store, const struct stored_provider *stored)
{
	return stored->schema && (stored->schema_origin != ETW_SCHEMA_ORIGIN_KNOWN || store->known);
}

const struct etw_provider_schema *etw_schema_store_provider(const struct etw_schema_store *store,
							    const GUID *provider)
{
	const struct stored_provider *stored = etw_store_find_provider(store, provider);

	return stored && is_shown(store, stored) ? stored->schema : NULL;
}

const struct etw_provider_schema *etw_schema_store_next_provider(
	const struct etw_schema_store *store, const struct etw_provider_schema *after)
{
	const struct stored_provider *stored = store->first_provider;

	if (after) {
		stored = etw_store_find_provider(store, &after->guid);
		stored = stored ? stored->next : NULL;
	}
	/* The table of known providers is no definition that somebody brought. */
	while (stored && (!stored->schema || stored->schema_origin == ETW_SCHEMA_ORIGIN_KNOWN))
		stored = stored->next;
	return stored ? stored->schema : NULL;
}

/* The first layout of a key, or NULL; a loan that ended may leave an entry without one. */
static const struct etw_schema *find_stored_schema(const struct etw_schema_store *store,
						   const struct store_key *key, bool *is_open)
{
	const struct stored_event *stored = etw_store_find_event(store, key);

	*is_open = etw_store_is_open(stored);
	return etw_store_first(store, stored);
}

static const struct etw_schema *find_manifest(const struct etw_schema_store *store,
					      const struct store_key *key, const GUID *provider,
					      bool *is_open, enum etw_schema_miss *why)
{
	const struct etw_schema *schema = find_stored_schema(store, key, is_open);
	const struct stored_provider *writer;

	*why = ETW_SCHEMA_FOUND;
	if (schema)
		return schema;
	writer = etw_store_find_provider(store, provider);
	*why = (writer && writer->has_events) || etw_store_has_known_provider(store, provider)
		       ? ETW_SCHEMA_NO_EVENT
		       : ETW_SCHEMA_NO_PROVIDER;
	return NULL;
}

static const struct etw_schema *find_message(const struct etw_schema_store *store,
					     const struct store_key *key, bool *is_open,
					     enum etw_schema_miss *why)
{
	const struct etw_schema *schema = find_stored_schema(store, key, is_open);

	*why = schema ? ETW_SCHEMA_FOUND : ETW_SCHEMA_WPP;
	return schema;
}

/* EventWriteString(): the payload is one string, whatever the provider's schema says. */
static const struct etw_schema *make_string(struct etw_schema_store *store,
					    const struct store_key *key, const GUID *provider)
{
	static const struct etw_field field = {
		.name = "String",
		.in_type = TDH_INTYPE_UNICODESTRING,
		.out_type = TDH_OUTTYPE_STRING,
		.count = 1,
	};
	size_t held_bytes = etw_arena_bytes(&store->arena);
	struct stored_event *stored;
	struct etw_schema *schema;

	stored = etw_arena_alloc(&store->arena, sizeof(*stored));
	schema = etw_arena_alloc(&store->arena, sizeof(*schema));
	if (!stored || !schema)
		return NULL;
	etw_store_charge(store, held_bytes);
	store->kept_bytes += STORE_NOTE_BYTES;
	*stored = (struct stored_event){.key = *key, .first = schema};
	schema->origin = ETW_SCHEMA_ORIGIN_EVENT;
	schema->provider = *provider;
	schema->source = DecodingSourceXMLFile;
	schema->template_flags = TEMPLATE_EVENT_DATA;
	schema->provider_name = etw_schema_store_provider_name(store, provider);
	schema->field_count = schema->top_count = 1;
	schema->fields = &field;
	if (etw_table_insert(&store->events, store_key_hash(store, key), stored) < 0)
		return NULL;
	schema->index = store->schema_count++;
	return schema;
}

static const struct etw_schema *find_in_tables(struct etw_schema_store *store,
					       const struct store_key *key, enum store_kind kind,
					       const EVENT_HEADER *header, bool *is_open,
					       enum etw_schema_miss *why)
{
	switch (kind) {
	case STORE_MESSAGE:
		return find_message(store, key, is_open, why);
	case STORE_CLASS:
		return etw_store_find_class(store, key, header, is_open, why);
	default:
		return find_manifest(store, key, &header->ProviderId, is_open, why);
	}
}

static const struct etw_schema *find_string(struct etw_schema_store *store,
					    const struct store_key *key, const GUID *provider,
					    enum etw_schema_miss *why)
{
	bool unused;
	const struct etw_schema *schema = find_stored_schema(store, key, &unused);

	*why = ETW_SCHEMA_TOO_MANY;
	if (!schema && !etw_store_has_room(store))
		return NULL;
	if (!schema)
		schema = make_string(store, key, provider);
	*why = schema ? ETW_SCHEMA_STRING_ONLY : ETW_SCHEMA_NO_MEMORY;
	return schema;
}

/* What the registry and the table of known providers add to the tables for an event; 1, 0, or a shortage. */
static int ask_others(struct etw_schema_store *store, const struct store_key *key,
		      const EVENT_HEADER *header, const struct etw_schema *schema)
{
	int asked = etw_store_ask_registry(store, &header->ProviderId);
	const struct stored_event *stored;
	int told;

	if (asked < 0 || schema)
		return asked;
	/* The registry may have it now: then the table is asked where that does not fit. */
	stored = asked ? etw_store_find_event(store, key) : NULL;
	if (stored && stored->first)
		return asked;
	told = etw_store_ask_known(store, key);
	return told ? told : asked;
}

/* A schema that the registry may know better is no answer without it. */
static const struct etw_schema *find_or_ask(struct etw_schema_store *store,
					    const struct store_key *key, enum store_kind kind,
					    const EVENT_HEADER *header, enum etw_schema_miss *why)
{
	bool is_open;
	const struct etw_schema *schema = find_in_tables(store, key, kind, header, &is_open, why);
	int asked;

	if (!is_open || *why == ETW_SCHEMA_NO_MEMORY)
		return schema;
	asked = ask_others(store, key, header, schema);
	if (asked > 0)
		return find_in_tables(store, key, kind, header, &is_open, why);
	if (asked == 0)
		return schema;
	*why = ETW_SCHEMA_NO_MEMORY;
	return NULL;
}

/* Whether another build has another answer. */
static bool depends_on_build(const struct etw_schema *schema)
{
	return schema && schema->origin == ETW_SCHEMA_ORIGIN_KNOWN;
}

/* The answer of the tables goes into the cache, also when it is "none"; want of memory may pass. */
static const struct etw_schema *find_slowly(struct etw_schema_store *store,
					    const struct store_key *key, enum store_kind kind,
					    const EVENT_HEADER *header, struct cached_event *slot,
					    enum etw_schema_miss *why)
{
	const struct etw_schema *schema;

	if (kind == STORE_STRING)
		schema = find_string(store, key, &header->ProviderId, why);
	else
		schema = find_or_ask(store, key, kind, header, why);
	if (*why != ETW_SCHEMA_NO_MEMORY && !(store->has_builds && depends_on_build(schema)))
		*slot = (struct cached_event){
			.key = *key, .schema = schema, .why = *why, .alone = STORE_NOBODY_ASKED};
	return schema;
}

static struct store_key key_of_header(const EVENT_HEADER *header, enum store_kind kind)
{
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

	if (kind == STORE_MANIFEST)
		return store_key_of(&header->ProviderId, kind, descriptor->Id, descriptor->Version);
	if (kind == STORE_CLASS)
		return store_key_of(&header->ProviderId, kind, descriptor->Opcode,
				    descriptor->Version);
	if (kind == STORE_MESSAGE)
		return store_key_of(&header->ProviderId, kind, descriptor->Id, 0);
	return store_key_of(&header->ProviderId, kind, 0, 0);
}

static ALWAYS_INLINE struct cached_event *slot_of(struct etw_schema_store *store,
						  const struct store_key *key)
{
	return &store->cache[store_key_hash(store, key) & (STORE_CACHE_SLOTS - 1)];
}

static const struct etw_schema *find_keyed(struct etw_schema_store *store,
					   const EVENT_HEADER *header, enum store_kind kind,
					   enum etw_schema_miss *why)
{
	const struct store_key key = key_of_header(header, kind);
	struct cached_event *slot = slot_of(store, &key);

	if (UNLIKELY(!store_key_equal(&slot->key, &key)))
		return find_slowly(store, &key, kind, header, slot, why);
	*why = slot->why;
	return slot->schema;
}

struct blob_key {
	const GUID *provider;
	const EVENT_DESCRIPTOR *descriptor;
	struct etw_bytes metadata;
};

static bool is_stored_blob(const void *item, const void *key)
{
	const struct stored_blob *stored = item;
	const struct blob_key *wanted = key;

	return stored->metadata.left == wanted->metadata.left &&
	       memcmp(stored->metadata.at, wanted->metadata.at, stored->metadata.left) == 0 &&
	       etw_guid_equal(&stored->provider, wanted->provider) &&
	       memcmp(&stored->descriptor, wanted->descriptor, sizeof(stored->descriptor)) == 0;
}

static const EVENT_HEADER_EXTENDED_DATA_ITEM *find_item(const EVENT_RECORD *record, unsigned type)
{
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		if (record->ExtendedData[i].ExtType == type)
			return &record->ExtendedData[i];
	}
	return NULL;
}

static struct etw_bytes item_bytes(const EVENT_HEADER_EXTENDED_DATA_ITEM *item)
{
	return (struct etw_bytes){(const uint8_t *)(uintptr_t)item->DataPtr, item->DataSize};
}

/* The traits tell the provider's name; what a manifest says of it wins. */
static int learn_name(struct etw_schema_store *store, const EVENT_RECORD *record)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *traits =
		find_item(record, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
	struct stored_provider *provider;
	const char *name;

	if (!traits || !etw_tracelogging_provider_name(item_bytes(traits), &name))
		return 0;
	TRY(etw_store_make_provider(store, &record->EventHeader.ProviderId, &provider));
	if (provider->name)
		return 0;
	provider->name = etw_tracelogging_copy_name(&store->arena, name);
	provider->name_origin = ETW_SCHEMA_ORIGIN_LOADED;
	return provider->name ? 0 : -ENOMEM;
}

static int keep_blob(struct etw_schema_store *store, const EVENT_RECORD *record,
		     const struct blob_key *key, uint64_t hash, struct stored_blob **ret)
{
	struct stored_blob *stored = etw_arena_alloc(&store->arena, sizeof(*stored));
	const void *copy = etw_arena_copy(&store->arena, key->metadata.at, key->metadata.left);
	struct etw_schema *schema = NULL;
	struct etw_fault fault = {0};
	int r;

	if (!stored || !copy)
		return -ENOMEM;
	TRY(learn_name(store, record));
	r = etw_tracelogging_parse(&store->arena, key->descriptor, key->metadata, &schema, &fault);
	if (r == -ENOMEM)
		return r;
	if (fault.structure)
		etw_store_report(store, &fault);
	if (schema) {
		schema->provider = *key->provider;
		schema->provider_name = etw_schema_store_provider_name(store, key->provider);
		schema->origin = ETW_SCHEMA_ORIGIN_EVENT;
		schema->index = store->schema_count++;
	}
	*stored = (struct stored_blob){
		*key->provider, *key->descriptor, {copy, key->metadata.left}, schema};
	TRY(etw_table_insert(&store->blobs, hash, stored));
	*ret = stored;
	return 0;
}

/* Failures count too: the next call allocates again. */
static int add_blob(struct etw_schema_store *store, const EVENT_RECORD *record,
		    const struct blob_key *key, uint64_t hash, struct stored_blob **ret)
{
	size_t held_bytes = etw_arena_bytes(&store->arena);
	int r;

	if (!etw_store_has_room(store))
		return -ENOSPC;
	r = keep_blob(store, record, key, hash, ret);
	etw_store_charge(store, held_bytes);
	store->kept_bytes += STORE_NOTE_BYTES;
	return r;
}

/*
 * Where a blob is cached. Some of its words tell those of one program apart; what they do not tell apart only
 * takes turns in the cache.
 */
static size_t blob_slot(const struct etw_schema_store *store, const struct blob_key *key)
{
	const uint8_t *at = key->metadata.at;
	const size_t left = key->metadata.left;
	const uint64_t descriptor = etw_load64((const uint8_t *)key->descriptor);
	uint64_t hash = store->seed ^ descriptor ^ left << 48 ^ key->provider->Data1;

	if (left >= 16)
		hash = etw_hash_mix(hash ^ etw_load64(at) ^ etw_load64(at + left / 2 - 4) << 1,
				    etw_load64(at + left / 4) ^ etw_load64(at + left - 8) << 1);
	return etw_hash_mix(hash, 0) & (STORE_CACHE_SLOTS - 1);
}

static const struct etw_schema *find_blob(struct etw_schema_store *store,
					  const EVENT_RECORD *record,
					  const EVENT_HEADER_EXTENDED_DATA_ITEM *item,
					  enum etw_schema_miss *why)
{
	const struct blob_key key = {
		.provider = &record->EventHeader.ProviderId,
		.descriptor = &record->EventHeader.EventDescriptor,
		.metadata = item_bytes(item),
	};
	const struct stored_blob **slot = &store->cached_blobs[blob_slot(store, &key)];
	struct stored_blob *stored;
	uint64_t hash;
	int r = 0;

	if (LIKELY(*slot && is_stored_blob(*slot, &key))) {
		*why = (*slot)->schema ? ETW_SCHEMA_FOUND : ETW_SCHEMA_BAD_METADATA;
		return (*slot)->schema;
	}
	hash = etw_hash_bytes(store->seed, key.metadata.at, key.metadata.left);
	hash = etw_hash_bytes(hash, key.provider, sizeof(*key.provider));
	hash = etw_hash_bytes(hash, key.descriptor, sizeof(*key.descriptor));
	stored = etw_table_find(&store->blobs, hash, is_stored_blob, &key);
	if (!stored)
		r = add_blob(store, record, &key, hash, &stored);
	if (r < 0) {
		*why = r == -ENOSPC ? ETW_SCHEMA_TOO_MANY : ETW_SCHEMA_NO_MEMORY;
		return NULL;
	}
	*slot = stored;
	*why = stored->schema ? ETW_SCHEMA_FOUND : ETW_SCHEMA_BAD_METADATA;
	return stored->schema;
}

/* How an event is looked up; of one that carries its schema *ret_item is not NULL. */
static ALWAYS_INLINE enum store_kind kind_of(const EVENT_RECORD *record,
					     const EVENT_HEADER_EXTENDED_DATA_ITEM **ret_item)
{
	const EVENT_HEADER *header = &record->EventHeader;

	*ret_item = NULL;
	if (header->Flags & EVENT_HEADER_FLAG_STRING_ONLY)
		return STORE_STRING;
	if (header->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE)
		return STORE_MESSAGE;
	if (header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER)
		return STORE_CLASS;
	*ret_item = find_item(record, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL);
	return STORE_MANIFEST;
}

/*
 * The header with the provider whose manifest describes the event: the traits of a provider with a control GUID,
 * which is the one in the header, name another. @copy is room for it.
 */
static ALWAYS_INLINE const EVENT_HEADER *decoded_header(const EVENT_RECORD *record,
							enum store_kind kind, EVENT_HEADER *copy)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *traits;
	GUID provider;

	if (LIKELY(!record->ExtendedDataCount) || kind != STORE_MANIFEST)
		return &record->EventHeader;
	traits = find_item(record, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
	if (!traits || !etw_traits_decode_guid(item_bytes(traits), &provider))
		return &record->EventHeader;
	*copy = record->EventHeader;
	copy->ProviderId = provider;
	return copy;
}

bool etw_store_key_of_event(const EVENT_RECORD *record, struct store_key *ret,
			    enum store_kind *ret_kind)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item;
	EVENT_HEADER copy;

	*ret_kind = kind_of(record, &item);
	*ret = key_of_header(decoded_header(record, *ret_kind, &copy), *ret_kind);
	return !item;
}

const struct etw_schema *etw_schema_store_find(struct etw_schema_store *store,
					       const EVENT_RECORD *record,
					       enum etw_schema_miss *ret_why)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item;
	const enum store_kind kind = kind_of(record, &item);
	const struct etw_schema *schema;
	enum etw_schema_miss why;
	EVENT_HEADER copy;

	if (item)
		schema = find_blob(store, record, item, &why);
	else
		schema = find_keyed(store, decoded_header(record, kind, &copy), kind, &why);
	if (ret_why)
		*ret_why = why;
	return schema;
}

/* Asks all sources; the answer is remembered where the event is in the cache. */
static bool ask_alone(struct etw_schema_store *store, const EVENT_RECORD *record,
		      const struct store_key *key, const struct etw_schema *schema)
{
	bool is_alone = !etw_schema_store_next(store, record, schema);
	struct cached_event *slot = slot_of(store, key);

	if (store_key_equal(&slot->key, key))
		slot->alone = is_alone ? STORE_ALONE : STORE_NOT_ALONE;
	return is_alone;
}

const struct etw_schema *etw_schema_store_find_choice(struct etw_schema_store *store,
						      const EVENT_RECORD *record,
						      enum etw_schema_miss *ret_why,
						      bool *ret_is_alone)
{
	const EVENT_HEADER_EXTENDED_DATA_ITEM *item;
	const enum store_kind kind = kind_of(record, &item);
	const struct etw_schema *schema;
	const struct cached_event *slot;
	const EVENT_HEADER *header;
	struct store_key key;
	EVENT_HEADER copy;

	*ret_is_alone = true;
	if (item)
		return find_blob(store, record, item, ret_why);
	header = decoded_header(record, kind, &copy);
	key = key_of_header(header, kind);
	slot = slot_of(store, &key);
	if (UNLIKELY(!store_key_equal(&slot->key, &key) || slot->alone == STORE_NOBODY_ASKED)) {
		schema = find_keyed(store, header, kind, ret_why);
		*ret_is_alone = !schema || ask_alone(store, record, &key, schema);
		return schema;
	}
	*ret_is_alone = slot->alone == STORE_ALONE;
	*ret_why = slot->why;
	return slot->schema;
}
