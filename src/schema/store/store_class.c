/* SPDX-License-Identifier: MIT */
/*
 * Classic events: which of the classes that are known, learnt or built in, describes one. And taking in
 * MOF files, which teach such classes.
 */
#include <errno.h>

#include "base/macros.h"
#include "schema/kernel.h"
#include "schema/mof/mof.h"
#include "schema/store/store.h"
#include "schema/store/store_internal.h"

static bool is_stored_class(const void *item, const void *key)
{
	return ((const struct stored_class *)item)->built_in == key;
}

/* Built-in schemas are shared by all stores; the copy carries this store's index. */
static const struct etw_schema *adopt_class(struct etw_schema_store *store,
					    const struct etw_schema *built_in)
{
	uint64_t hash = etw_hash_mix(store->seed, (uint64_t)(uintptr_t)built_in);
	struct stored_class *stored = etw_table_find(&store->classes, hash, is_stored_class,
						     built_in);

	if (stored)
		return &stored->schema;
	stored = etw_arena_alloc(&store->arena, sizeof(*stored));
	if (!stored || etw_table_insert(&store->classes, hash, stored) < 0)
		return NULL;
	stored->built_in = built_in;
	stored->schema = *built_in;
	stored->schema.origin = ETW_SCHEMA_ORIGIN_BUILT_IN;
	stored->schema.index = store->schema_count++;
	return &stored->schema;
}

/*
 * What the trace says goes first. A MOF file of the user then gives what the built-in classes do not
 * have: they hold what Microsoft's files say of the kernel's events, mended where genuine payloads
 * showed otherwise. A version that nobody knows is read as the highest known one.
 */
static const struct etw_schema *choose(const struct etw_schema_store *store,
				       const struct store_key *key, const EVENT_HEADER *header,
				       const struct etw_schema *built_in, bool *is_open)
{
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	const struct store_key latest_key = store_key_of(&header->ProviderId, STORE_CLASS_LATEST,
							 descriptor->Opcode, 0);
	const struct stored_event *stored = etw_store_find_event(store, key);
	const struct stored_event *latest;

	*is_open = false;
	if (stored && stored->first && stored->first->origin > ETW_SCHEMA_ORIGIN_USER)
		return stored->first;
	if (built_in && built_in->descriptor.Version >= descriptor->Version)
		return built_in;
	/* Of another version, what the registry has may be the right one. */
	*is_open = etw_store_is_open(stored);
	if (stored && stored->first && stored->first->origin != ETW_SCHEMA_ORIGIN_KNOWN)
		return stored->first;
	latest = etw_store_find_event(store, &latest_key);
	/* What the table of known providers says of classes often lacks types: it comes last. */
	if (!latest && !built_in)
		return etw_store_first(store, stored);
	if (!latest ||
	    (built_in && built_in->descriptor.Version >= latest->first->descriptor.Version))
		return built_in;
	return latest->first;
}

static const struct etw_schema *find_built_in(const EVENT_HEADER *header)
{
	return etw_kernel_class_find(&header->ProviderId, header->EventDescriptor.Opcode,
				     header->EventDescriptor.Version);
}

const struct etw_schema *etw_store_find_class(struct etw_schema_store *store,
					      const struct store_key *key,
					      const EVENT_HEADER *header, bool *is_open,
					      enum etw_schema_miss *why)
{
	const struct etw_schema *built_in = find_built_in(header);
	const struct etw_schema *schema = choose(store, key, header, built_in, is_open);

	*why = schema ? ETW_SCHEMA_FOUND : ETW_SCHEMA_NO_CLASS;
	if (!schema || schema != built_in)
		return schema;
	schema = adopt_class(store, built_in);
	if (!schema)
		*why = ETW_SCHEMA_NO_MEMORY;
	return schema;
}

/* Where the answer of etw_store_find_class() does not fit: all others that say something of the event. */
struct others {
	const struct etw_schema *after; /* the one that is looked for */
	const struct etw_schema *found; /* the one behind it */
	const struct etw_schema *given; /* comes first, and not again */
	bool has_passed;
};

static void offer(struct others *others, const struct etw_schema *schema)
{
	if (!schema || others->found || schema == others->given)
		return;
	if (others->has_passed)
		others->found = schema;
	else
		others->has_passed = schema == others->after;
}

const struct etw_schema *etw_store_next_class(struct etw_schema_store *store,
					      const struct store_key *key,
					      const EVENT_HEADER *header,
					      const struct etw_schema *after)
{
	const struct store_key latest_key = store_key_of(&header->ProviderId, STORE_CLASS_LATEST,
							 header->EventDescriptor.Opcode, 0);
	const struct stored_event *stored = etw_store_find_event(store, key);
	const struct stored_event *latest = etw_store_find_event(store, &latest_key);
	const struct etw_schema *built_in = find_built_in(header);
	enum etw_schema_miss why;
	bool is_open;
	struct others others = {
		.after = after,
		.given = etw_store_find_class(store, key, header, &is_open, &why),
	};

	others.has_passed = after == others.given;
	for (const struct etw_schema *at = stored ? stored->first : NULL; at; at = at->next) {
		if (at->origin != ETW_SCHEMA_ORIGIN_KNOWN)
			offer(&others, at);
	}
	if (built_in)
		offer(&others, adopt_class(store, built_in));
	/* It is another version's, and so in another list. */
	if (latest && (!stored || latest->first != stored->first))
		offer(&others, latest->first);
	return others.found;
}

static struct store_key latest_key_of(const struct etw_schema *schema)
{
	return store_key_of(&schema->event_guid, STORE_CLASS_LATEST, schema->descriptor.Opcode, 0);
}

/* Every schema is kept already, or has given way to what is believed more; this is for other versions. */
static struct stored_event *keep_latest(struct etw_schema_store *store,
					const struct etw_schema *schema, struct stored_event *room)
{
	const struct store_key key = latest_key_of(schema);
	const struct store_key own = store_key_of(&schema->event_guid, STORE_CLASS,
						  schema->descriptor.Opcode,
						  schema->descriptor.Version);
	struct stored_event *stored = etw_store_find_event(store, &key);
	const struct stored_event *kept = etw_store_find_event(store, &own);

	/* Its index is set only when it was taken in. */
	if (schema->source != DecodingSourceWbem || !kept || kept->first != schema)
		return room;
	if (stored && stored->first->descriptor.Version > schema->descriptor.Version)
		return room;
	if (stored) {
		stored->first = kept->first;
		return room;
	}
	*room = (struct stored_event){.key = key, .first = kept->first};
	(void)etw_table_insert(&store->events, store_key_hash(store, &key), room);
	return room + 1;
}

/* Classes of which no version is known yet. */
static size_t count_new(const struct etw_schema_store *store,
			const struct etw_definition *definition)
{
	size_t count = 0;

	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++) {
			const struct store_key key = latest_key_of(&provider->schemas[j]);

			count += provider->schemas[j].source == DecodingSourceWbem &&
				 !etw_store_find_event(store, &key);
		}
	}
	return count;
}

int etw_store_keep_classes(struct etw_schema_store *store, const struct etw_definition *definition,
			   enum etw_schema_origin origin, uint32_t order)
{
	size_t count = count_new(store, definition);
	struct stored_event *room = NULL;

	if (count)
		room = etw_arena_array(&store->arena, count, sizeof(*room));
	if (count && !room)
		return -ENOMEM;
	/* Those that etw_store_keep_definition() inserts, and these. */
	TRY(etw_table_reserve(&store->events, definition->schema_count + count));
	TRY(etw_store_keep_definition_of(store, definition, origin, order));
	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++)
			room = keep_latest(store, &provider->schemas[j], room);
	}
	return 0;
}

int etw_schema_store_add_mof(struct etw_schema_store *store, const char *text, size_t bytes,
			     const struct etw_definition **ret, struct etw_fault *reterr)
{
	struct etw_definition *definition;

	TRY(etw_mof_parse(&store->arena, text, bytes, &definition, reterr));
	if (!definition->provider_count && definition->complaint_count)
		return etw_fault_set(reterr, -EBADMSG, definition->complaints[0].line, "MOF", NULL,
				     definition->complaints[0].sentence);
	if (!definition->provider_count)
		return -ENODATA;
	TRY(etw_store_keep_classes(store, definition, ETW_SCHEMA_ORIGIN_USER, 0));
	if (ret)
		*ret = definition;
	return 0;
}
