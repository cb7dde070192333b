/* SPDX-License-Identifier: MIT */
/*
 * Event metadata of any bytes gives a schema or map whose strings lie in memory, or a fault, and takes
 * memory in proportion; what was read can be written and read again, as an event and as a filter. Input: one
 * byte, odd for a map, then the payload of the metadata event.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schema/metadata/event_info.h"
#include "schema/metadata/event_info_write.h"
#include "schema/types.h"
#include "target.h"
#include "wire/event_info.h"

/* Blanks at the end of messages and keywords come and go; everything else stays. */
static void check_written(struct etw_arena *arena, const struct etw_schema *schema)
{
	struct etw_schema *again = NULL;
	uint8_t *blob;
	size_t bytes;

	CHECK(etw_event_info_write(schema, &blob, &bytes) == 0);
	CHECK(etw_event_info_parse(arena, (struct etw_bytes){blob, bytes}, &again, NULL) == 0);
	CHECK(again->field_count == schema->field_count && again->top_count == schema->top_count);
	CHECK(is_same(again->provider_name, schema->provider_name));
	CHECK(is_same(again->opcode_name, schema->opcode_name));
	for (uint16_t i = 0; i < schema->field_count; i++) {
		CHECK(is_same(again->fields[i].name, schema->fields[i].name));
		CHECK(is_same(again->fields[i].map_name, schema->fields[i].map_name));
		CHECK(again->fields[i].flags == schema->fields[i].flags);
	}
	free(blob);
}

/* A filter of the same fields describes them as the event does. */
static void check_filter_written(const struct etw_schema *schema)
{
	const struct etw_filter_schema filter = {
		.message = schema->message,
		.field_count = schema->field_count,
		.top_count = schema->top_count,
		.fields = schema->fields,
	};
	uint8_t *event, *blob;
	size_t event_bytes, bytes;

	CHECK(etw_event_info_write(schema, &event, &event_bytes) == 0);
	CHECK(etw_filter_info_write(&filter, &blob, &bytes) == 0);
	CHECK(bytes >=
	      WIRE_FILTER_INFO_BYTES + (size_t)schema->field_count * WIRE_PROPERTY_INFO_BYTES);
	for (size_t i = 0; i < schema->field_count; i++) {
		struct wire_property_info left, right;

		memcpy(&left, event + WIRE_EVENT_INFO_BYTES + i * sizeof(left), sizeof(left));
		memcpy(&right, blob + WIRE_FILTER_INFO_BYTES + i * sizeof(right), sizeof(right));
		CHECK(le32_get(left.flags) == le32_get(right.flags));
		CHECK(!le32_get(left.name) == !le32_get(right.name));
		CHECK(le32_get(right.name) < bytes && le32_get(right.map_name) < bytes);
		CHECK(le16_get(left.count) == le16_get(right.count));
	}
	free(event);
	free(blob);
}

static void check_map_written(struct etw_arena *arena, const GUID *provider,
			      const struct etw_map *map)
{
	struct etw_map *again = NULL;
	uint8_t *blob, *whole;
	size_t bytes;
	GUID ignored;

	CHECK(etw_event_map_write(map, &blob, &bytes) == 0);
	whole = malloc(sizeof(*provider) + bytes);
	CHECK(whole);
	memcpy(whole, provider, sizeof(*provider));
	memcpy(whole + sizeof(*provider), blob, bytes);
	CHECK(etw_event_map_parse(arena, (struct etw_bytes){whole, sizeof(*provider) + bytes},
				  &ignored, &again, NULL) == 0);
	CHECK(again->count == map->count && is_same(again->name, map->name));
	for (uint32_t i = 0; i < map->count; i++)
		CHECK(again->entries[i].value == map->entries[i].value);
	free(whole);
	free(blob);
}

static void check_info(struct etw_arena *arena, struct etw_bytes blob)
{
	static const struct etw_provider_schema owner = {
		.guid = {1, 2, 3, {4}}, .control_guid = {5, 6, 7, {8}}, .message = "about"};
	struct etw_schema *schema = NULL;
	struct etw_fault fault = {0};
	size_t total = 0;

	if (etw_event_info_parse(arena, blob, &schema, &fault) < 0) {
		CHECK(fault.sentence);
		return;
	}
	CHECK(!etw_schema_fields_check(schema));
	total += length_of(schema->provider_name) + length_of(schema->task_name);
	total += length_of(schema->keywords) + length_of(schema->message);
	for (uint16_t i = 0; i < schema->field_count; i++)
		total += length_of(schema->fields[i].name) + length_of(schema->fields[i].map_name);
	CHECK(total <= 32 * blob.left + 1024);
	check_written(arena, schema);
	check_filter_written(schema);
	/* As if a manifest had described it, whose provider another GUID enables. */
	schema->source = DecodingSourceXMLFile;
	schema->owner = &owner;
	check_written(arena, schema);
}

static void check_map(struct etw_arena *arena, struct etw_bytes blob)
{
	struct etw_map *map = NULL;
	struct etw_fault fault = {0};
	size_t total = 0;
	GUID provider;

	if (etw_event_map_parse(arena, blob, &provider, &map, &fault) < 0) {
		CHECK(fault.sentence);
		return;
	}
	for (uint32_t i = 0; i < map->count; i++)
		total += strlen(map->entries[i].text);
	CHECK(total <= 32 * blob.left + 1024);
	check_map_written(arena, &provider, map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_bytes blob = {data, bytes > UINT16_MAX ? UINT16_MAX : bytes};
	struct etw_arena arena;
	uint8_t kind;

	if (!etw_bytes_u8(&blob, &kind))
		return 0;
	etw_arena_init(&arena);
	if (kind & 1)
		check_map(&arena, blob);
	else
		check_info(&arena, blob);
	etw_arena_done(&arena);
	return 0;
}
