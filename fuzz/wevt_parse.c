/* SPDX-License-Identifier: MIT */
/*
 * A WEVT_TEMPLATE resource of any bytes, with a message table of any bytes, gives providers whose schemas
 * hang together, or a fault, and takes memory in proportion. Input: 32-bit size of the table, the table,
 * the resource.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "offsets.h"
#include "schema/compiled/wevt.h"
#include "schema/types.h"
#include "target.h"

#define MEMORY_FACTOR 128u
#define MEMORY_MIN    (256u * 1024)

static size_t check_fields(const struct etw_field *fields, uint16_t count)
{
	size_t total = 0;

	for (uint16_t i = 0; i < count; i++) {
		CHECK(fields[i].name);
		CHECK(!fields[i].map == !fields[i].map_name);
		total += length_of(fields[i].name) & 1;
	}
	return total;
}

static size_t check_provider(const struct etw_provider_schema *provider)
{
	size_t total = length_of(provider->name) + length_of(provider->message);

	for (size_t i = 0; i < provider->schema_count; i++) {
		const struct etw_schema *schema = &provider->schemas[i];

		CHECK(schema->owner == provider);
		CHECK(!etw_schema_fields_check(schema));
		total += length_of(schema->attributes);
		total += check_fields(schema->fields, schema->field_count) & 1;
	}
	for (size_t i = 0; i < provider->filter_count; i++)
		total += check_fields(provider->filters[i].fields,
				      provider->filters[i].field_count) &
			 1;
	for (size_t i = 0; i < provider->map_count; i++) {
		CHECK(provider->maps[i].name);
		for (uint32_t j = 0; j < provider->maps[i].count; j++)
			CHECK(provider->maps[i].entries[j].text);
	}
	for (size_t i = 0; i < provider->keyword_count; i++)
		(void)length_of(provider->keywords[i].name);
	return total;
}

static void check_resource(struct etw_bytes blob, const struct etw_message_table *tables,
			   size_t count, size_t bytes)
{
	struct etw_definition *definition;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	size_t total = 0;
	int r;

	etw_arena_init(&arena);
	r = etw_wevt_parse(&arena, blob, tables, count, &definition, &fault);
	if (r < 0) {
		check_refused(r, &fault, &arena);
		return;
	}
	for (size_t i = 0; i < definition->provider_count; i++)
		total += check_provider(&definition->providers[i]);
	CHECK(total <= MEMORY_FACTOR * bytes);
	CHECK(etw_arena_bytes(&arena) <= MEMORY_FACTOR * bytes + MEMORY_MIN);
	etw_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_bytes blob = {data, bytes};
	struct etw_message_table table;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	struct etw_bytes messages;
	uint32_t table_bytes;
	int r;

	if (!etw_bytes_u32(&blob, &table_bytes))
		return 0;
	messages.left = table_bytes < blob.left ? table_bytes : blob.left;
	messages.at = etw_bytes_take(&blob, messages.left);
	etw_arena_init(&arena);
	r = etw_message_table_open(&arena, messages, &table, &fault);
	CHECK(r == 0 || (r == -EBADMSG && fault.sentence));
	check_resource(blob, &table, r == 0, bytes);
	etw_arena_done(&arena);
	return 0;
}

/* One change in the table or in the resource, whose size is put right most of the time. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned int seed)
{
	uint32_t state = seed | 1;
	size_t table_bytes;
	uint8_t *resource;

	if (bytes < 36)
		return LLVMFuzzerMutate(data, bytes, max_bytes);
	table_bytes = etw_load32(data);
	if (table_bytes > bytes - 4)
		table_bytes = 0;
	resource = data + 4 + table_bytes;
	if (offsets_random(&state) % 8 == 0 && table_bytes >= 16) {
		size_t changed;
		uint8_t copy[4096];

		if (table_bytes > sizeof(copy))
			return LLVMFuzzerMutate(data, bytes, max_bytes);
		memcpy(copy, data + 4, table_bytes);
		changed = offsets_mutate(copy, table_bytes,
					 table_bytes + max_bytes - bytes < sizeof(copy)
						 ? table_bytes + max_bytes - bytes
						 : sizeof(copy),
					 &state, 0);
		memmove(data + 4 + changed, resource, bytes - 4 - table_bytes);
		memcpy(data + 4, copy, changed);
		etw_store32(data, (uint32_t)changed);
		return bytes - table_bytes + changed;
	}
	bytes -= 4 + table_bytes;
	max_bytes -= 4 + table_bytes;
	bytes = offsets_mutate(resource, bytes, max_bytes, &state, 0);
	if (bytes >= 8 && offsets_random(&state) % 16)
		etw_store32(resource + 4, (uint32_t)bytes);
	return 4 + table_bytes + bytes;
}
