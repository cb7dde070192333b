/* SPDX-License-Identifier: MIT */
#include "api/tdh/blob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "schema/metadata/event_info_write.h"

struct blob_key {
	const void *of;
	uint32_t dropped;
};

static bool is_blob(const void *item, const void *key)
{
	const struct etw_tdh_blob *blob = item;
	const struct blob_key *wanted = key;

	return blob->of == wanted->of && blob->dropped == wanted->dropped;
}

/* Addresses are the process's own: no seed is needed. */
static uint64_t hash_key(const struct blob_key *key)
{
	return etw_hash_mix((uint64_t)(uintptr_t)key->of, key->dropped);
}

static const struct etw_tdh_blob *find_blob(const struct etw_tdh_shared *shared, const void *of,
					    uint32_t dropped)
{
	const struct blob_key key = {of, dropped};

	return etw_table_find(&shared->blobs, hash_key(&key), is_blob, &key);
}

static void free_blob(struct etw_tdh_blob *blob)
{
	if (blob)
		free(blob->at);
	free(blob);
}

static void free_blobp(struct etw_tdh_blob **blob)
{
	free_blob(*blob);
}

void etw_tdh_blobs_done(struct etw_table *blobs)
{
	for (size_t i = 0; i < blobs->room; i++)
		free_blob(blobs->slots[i].item);
	etw_table_done(blobs);
}

static int keep_blob(struct etw_tdh_shared *shared, struct etw_tdh_blob *blob)
{
	const struct blob_key key = {blob->of, blob->dropped};

	return etw_table_insert(&shared->blobs, hash_key(&key), blob);
}

/* The index of a field that others refer to, when @dropped fields before the members are left out. */
static uint16_t move_index(const struct etw_schema *schema, uint16_t index, uint16_t dropped)
{
	return index < schema->top_count ? index : (uint16_t)(index - dropped);
}

static void adapt_field(const struct etw_schema *schema, struct etw_field *field, uint16_t dropped)
{
	if (field->flags & PropertyParamCount)
		field->count = move_index(schema, field->count, dropped);
	if (field->flags & PropertyParamLength)
		field->length = move_index(schema, field->length, dropped);
	if (field->flags & PropertyStruct)
		field->struct_first = move_index(schema, field->struct_first, dropped);
	if (field->flags & ETW_FIELD_TO_END)
		field->flags |= PropertyParamFixedCount;
}

/* Writes the schema without its last @blob->dropped top-level fields. */
static int write_event(const struct etw_schema *schema, struct etw_tdh_blob *blob)
{
	CLEANUP(freep) struct etw_field *fields = NULL;
	struct etw_schema adapted = *schema;
	uint16_t dropped = (uint16_t)blob->dropped;
	uint16_t kept = (uint16_t)(schema->top_count - dropped);

	fields = reallocarray(NULL, schema->field_count + 1u, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	if (kept)
		memcpy(fields, schema->fields, kept * sizeof(*fields));
	if (schema->field_count > schema->top_count)
		memcpy(fields + kept, schema->fields + schema->top_count,
		       (size_t)(schema->field_count - schema->top_count) * sizeof(*fields));
	adapted.fields = fields;
	adapted.top_count = kept;
	adapted.field_count = (uint16_t)(schema->field_count - dropped);
	for (uint16_t i = 0; i < adapted.field_count; i++) {
		if (i < kept && (fields[i].flags & ETW_FIELD_TO_END))
			blob->open = i;
		adapt_field(schema, &fields[i], dropped);
	}
	return etw_event_info_write(&adapted, &blob->at, &blob->bytes);
}

static bool has_own_flags(const struct etw_schema *schema)
{
	for (uint16_t i = 0; i < schema->top_count; i++) {
		if (schema->fields[i].flags & (ETW_FIELD_OPTIONAL | ETW_FIELD_TO_END))
			return true;
	}
	return false;
}

static int make_event(struct etw_tdh_shared *shared, const struct etw_schema *schema,
		      uint32_t dropped, const struct etw_tdh_blob **ret)
{
	CLEANUP(free_blobp) struct etw_tdh_blob *blob = calloc(1, sizeof(*blob));

	if (!blob)
		return -ENOMEM;
	*blob = (struct etw_tdh_blob){
		.of = schema,
		.dropped = dropped,
		.open = ETW_TDH_NO_PROPERTY,
		.is_variable = has_own_flags(schema),
	};
	TRY(write_event(schema, blob));
	TRY(keep_blob(shared, blob));
	*ret = TAKE(blob);
	return 0;
}

static int find_event(struct etw_tdh_shared *shared, const struct etw_schema *schema,
		      uint32_t dropped, const struct etw_tdh_blob **ret)
{
	*ret = find_blob(shared, schema, dropped);
	return LIKELY(*ret) ? 0 : make_event(shared, schema, dropped, ret);
}

/* How many optional fields at the end the payload does not have. */
static uint32_t count_absent(const struct etw_decoding *decoding)
{
	const struct etw_schema *schema = decoding->schema;
	uint32_t last = 0;
	uint32_t absent;

	/* What is cut is shown in full: the caller finds the end by itself. */
	if (decoding->status == ETW_DECODE_TRUNCATED || decoding->status == ETW_DECODE_MALFORMED)
		return 0;
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end)
		last = decoding->items[i].field + 1u;
	for (absent = 0; schema->top_count - absent > last; absent++) {
		if (!(schema->fields[schema->top_count - absent - 1].flags & ETW_FIELD_OPTIONAL))
			break;
	}
	return absent;
}

static uint16_t count_elements(const struct etw_decoding *decoding, uint32_t field)
{
	for (size_t i = 0; i < decoding->item_count; i = decoding->items[i].end) {
		const struct etw_item *item = &decoding->items[i];

		if (item->field == field && item->kind == ETW_ITEM_ARRAY)
			return (uint16_t)(item->count < UINT16_MAX ? item->count : UINT16_MAX);
	}
	return 0;
}

int etw_tdh_schema_blob(struct etw_tdh_shared *shared, const struct etw_schema *schema,
			const struct etw_tdh_blob **ret)
{
	return find_event(shared, schema, 0, ret);
}

int etw_tdh_event_blob(struct etw_tdh_shared *shared, const EVENT_RECORD *record,
		       const struct etw_schema *schema, const struct etw_tdh_blob **ret,
		       uint16_t *ret_count)
{
	struct etw_decoding decoding;

	*ret_count = 0;
	TRY(find_event(shared, schema, 0, ret));
	if (LIKELY(!(*ret)->is_variable))
		return 0;
	TRY(etw_decoder_run(shared->decoder, record, &decoding));
	TRY(find_event(shared, schema, count_absent(&decoding), ret));
	if ((*ret)->open != ETW_TDH_NO_PROPERTY)
		*ret_count = count_elements(&decoding, (*ret)->open);
	return 0;
}

int etw_tdh_map_blob(struct etw_tdh_shared *shared, const struct etw_map *map,
		     const struct etw_tdh_blob **ret)
{
	CLEANUP(free_blobp) struct etw_tdh_blob *blob = NULL;

	*ret = find_blob(shared, map, 0);
	if (LIKELY(*ret))
		return 0;
	blob = calloc(1, sizeof(*blob));
	if (!blob)
		return -ENOMEM;
	blob->of = map;
	blob->open = ETW_TDH_NO_PROPERTY;
	TRY(etw_event_map_write(map, &blob->at, &blob->bytes));
	TRY(keep_blob(shared, blob));
	*ret = TAKE(blob);
	return 0;
}
