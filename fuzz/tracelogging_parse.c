/* SPDX-License-Identifier: MIT */
/*
 * TraceLogging metadata of any bytes gives a schema that hangs together, or a fault. Input: metadata as
 * in extended item 11, read as provider traits too.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "schema/metadata/tracelogging.h"
#include "schema/types.h"
#include "target.h"

static bool is_utf8(const char *name)
{
	return etw_utf8_is_valid((const uint8_t *)name, strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const EVENT_DESCRIPTOR descriptor = {.Channel = 11, .Level = 5};
	struct etw_bytes metadata = {data, bytes > UINT16_MAX ? UINT16_MAX : bytes};
	struct etw_schema *schema = NULL;
	struct etw_fault fault;
	struct etw_arena arena;
	const char *name;
	size_t name_bytes;

	etw_arena_init(&arena);
	if (etw_tracelogging_parse(&arena, &descriptor, metadata, &schema, &fault) == 0) {
		CHECK(!etw_schema_fields_check(schema));
		CHECK(is_utf8(schema->event_name));
		for (uint16_t i = 0; i < schema->field_count; i++) {
			/* A byte of Windows-1252 becomes three at most. */
			CHECK(strlen(schema->fields[i].name) <= 3 * bytes + sizeof(".Length"));
			CHECK(is_utf8(schema->fields[i].name));
		}
	} else {
		CHECK(fault.sentence);
	}
	name_bytes = etw_tracelogging_provider_name(metadata, &name);
	CHECK(!name_bytes || (name > (const char *)data && name_bytes < bytes));
	etw_arena_done(&arena);
	return 0;
}
