/* SPDX-License-Identifier: MIT */
#include "tools/etw/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "export/export.h"
#include "schema/event_name.h"
#include "schema/manifest/embedded.h"

void tally_done(struct tally *tally)
{
	etw_table_done(&tally->providers);
	etw_table_done(&tally->kinds);
	etw_arena_done(&tally->arena);
}

static bool is_provider(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct tally_provider *)item)->guid, key);
}

static int find_provider(struct tally *tally, const EVENT_HEADER *header,
			 struct tally_provider **ret)
{
	uint64_t hash = etw_guid_hash(&header->ProviderId);
	struct tally_provider *provider = etw_table_find(&tally->providers, hash, is_provider,
							 &header->ProviderId);

	if (!provider) {
		provider = etw_arena_alloc(&tally->arena, sizeof(*provider));
		if (!provider)
			return -ENOMEM;
		provider->guid = header->ProviderId;
		provider->is_classic = header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
		TRY(etw_table_insert(&tally->providers, hash, provider));
	}
	*ret = provider;
	return 0;
}

static bool is_kind(const void *item, const void *key)
{
	const struct tally_kind *kind = item;
	const struct etw_decoding *decoding = key;
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const EVENT_DESCRIPTOR *left = &kind->header.EventDescriptor;
	const EVENT_DESCRIPTOR *right = &header->EventDescriptor;

	return kind->schema == decoding->schema && left->Id == right->Id &&
	       left->Version == right->Version && left->Opcode == right->Opcode &&
	       etw_guid_equal(&kind->header.ProviderId, &header->ProviderId);
}

static uint64_t hash_kind(const struct etw_decoding *decoding)
{
	const EVENT_HEADER *header = &decoding->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	uint64_t numbers = (uint64_t)descriptor->Id | (uint64_t)descriptor->Version << 16 |
			   (uint64_t)descriptor->Opcode << 24;

	return etw_hash_mix(etw_hash_mix(etw_guid_hash(&header->ProviderId), numbers),
			    (uint64_t)(uintptr_t)decoding->schema);
}

int tally_add(struct tally *tally, const struct etw_decoding *decoding)
{
	uint64_t hash = hash_kind(decoding);
	struct tally_kind *kind = etw_table_find(&tally->kinds, hash, is_kind, decoding);

	if (UNLIKELY(!kind)) {
		kind = etw_arena_alloc(&tally->arena, sizeof(*kind));
		if (!kind)
			return -ENOMEM;
		TRY(find_provider(tally, &decoding->record->EventHeader, &kind->provider));
		kind->header = decoding->record->EventHeader;
		kind->schema = decoding->schema;
		TRY(etw_table_insert(&tally->kinds, hash, kind));
	}
	if (!kind->reason)
		kind->reason = decoding->reason;
	kind->count++;
	kind->bytes += decoding->record->UserDataLength;
	kind->statuses[decoding->status]++;
	kind->provider->count++;
	kind->provider->statuses[decoding->status]++;
	if (decoding->status == ETW_DECODE_NO_SCHEMA) {
		if (etw_schema_store_is_metadata(decoding->record)) {
			kind->provider->carriers++;
			tally->carriers++;
		} else {
			kind->provider->misses[decoding->miss]++;
		}
	}
	tally->count++;
	tally->payload_bytes += decoding->record->UserDataLength;
	tally->complete += decoding->status == ETW_DECODE_COMPLETE;
	return 0;
}

static int compare_names(const char *left, const char *right)
{
	if (!left || !right)
		return (left == NULL) - (right == NULL);
	return strcmp(left, right);
}

static int compare_providers(const void *left_at, const void *right_at)
{
	const struct tally_provider *left = *(struct tally_provider *const *)left_at;
	const struct tally_provider *right = *(struct tally_provider *const *)right_at;
	int order;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	order = compare_names(left->name, right->name);
	return order ? order : memcmp(&left->guid, &right->guid, sizeof(left->guid));
}

static int compare_kinds(const void *left_at, const void *right_at)
{
	const struct tally_kind *left = *(struct tally_kind *const *)left_at;
	const struct tally_kind *right = *(struct tally_kind *const *)right_at;
	const EVENT_DESCRIPTOR *a = &left->header.EventDescriptor;
	const EVENT_DESCRIPTOR *b = &right->header.EventDescriptor;

	if (left->provider != right->provider)
		return compare_providers(&left->provider, &right->provider);
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	if (a->Id != b->Id)
		return a->Id < b->Id ? -1 : 1;
	if (a->Opcode != b->Opcode)
		return a->Opcode < b->Opcode ? -1 : 1;
	if (a->Version != b->Version)
		return a->Version < b->Version ? -1 : 1;
	return compare_names(etw_schema_event_task(left->schema),
			     etw_schema_event_task(right->schema));
}

/* The items of a table in an array of the arena. */
static void *list_items(struct tally *tally, const struct etw_table *table)
{
	void **items = etw_arena_array(&tally->arena, table->count + 1, sizeof(*items));
	size_t count = 0;

	for (size_t i = 0; items && i < table->room; i++) {
		if (table->slots[i].item)
			items[count++] = table->slots[i].item;
	}
	return items;
}

int tally_sort(struct tally *tally, const struct etw_schema_store *store)
{
	tally->sorted_providers = list_items(tally, &tally->providers);
	tally->sorted_kinds = list_items(tally, &tally->kinds);
	if (!tally->sorted_providers || !tally->sorted_kinds)
		return -ENOMEM;
	for (size_t i = 0; i < tally->providers.count; i++) {
		struct tally_provider *provider = tally->sorted_providers[i];

		provider->name = etw_schema_store_provider_name(store, &provider->guid);
	}
	/* TraceLogging and in-trace schemas name providers that the store may not know by GUID. */
	for (size_t i = 0; i < tally->kinds.count; i++) {
		const struct tally_kind *kind = tally->sorted_kinds[i];

		if (!kind->provider->name && kind->schema)
			kind->provider->name = kind->schema->provider_name;
		if (kind->schema == etw_embedded_schema())
			tally->manifest_data += kind->count;
	}
	qsort(tally->sorted_providers, tally->providers.count, sizeof(void *), compare_providers);
	qsort(tally->sorted_kinds, tally->kinds.count, sizeof(void *), compare_kinds);
	return 0;
}

void tally_provider_write(struct etw_text *text, const struct tally_provider *provider)
{
	char guid[ETW_GUID_BRACED_BYTES];
	size_t from = text->bytes;

	if (provider->name && *provider->name) {
		etw_text_puts(text, provider->name);
		(void)etw_export_clean(text, from);
		return;
	}
	etw_guid_format_braced(&provider->guid, guid);
	etw_text_puts(text, guid);
}

void tally_kind_write(struct etw_text *text, const struct tally_kind *kind)
{
	const EVENT_RECORD record = {.EventHeader = kind->header};
	const struct etw_decoding decoding = {.record = &record, .schema = kind->schema};
	const struct etw_export_event event = {
		.record = &record,
		.decoding = &decoding,
		.provider_name = kind->provider->name,
	};
	size_t from = text->bytes;

	etw_export_event_name(&event, text);
	(void)etw_export_clean(text, from);
}

void tally_kind_name_write(struct etw_text *text, const struct tally_kind *kind)
{
	CLEANUP(etw_text_done) struct etw_text whole = {0};
	CLEANUP(etw_text_done) struct etw_text provider = {0};
	const char *name;

	tally_kind_write(&whole, kind);
	tally_provider_write(&provider, kind->provider);
	name = etw_text_string(&whole);
	if (!strncmp(name, etw_text_string(&provider), provider.bytes) &&
	    name[provider.bytes] == '/')
		name += provider.bytes + 1;
	etw_text_puts(text, name);
}
