/* SPDX-License-Identifier: MIT */
/*
 * MOF of any text gives schemas that hang together, or a fault with a line; what it gives can be written,
 * and reads as the same definition. Input: the text.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/compare.h"
#include "schema/mof/mof.h"
#include "schema/mof/mof_write.h"
#include "schema/types.h"
#include "target.h"

static void check_schema(const struct etw_provider_schema *provider,
			 const struct etw_schema *schema)
{
	CHECK(schema->owner == provider && schema->task_name && schema->symbol);
	CHECK(!etw_schema_fields_check(schema));
	for (uint16_t i = 0; i < schema->field_count; i++)
		CHECK(!schema->fields[i].map || schema->fields[i].map->count);
}

static void check_round_trip(struct etw_arena *arena, const struct etw_definition *definition)
{
	struct etw_definition *again = NULL;
	struct etw_text text = {0}, difference = {0};
	struct etw_fault fault = {0};

	CHECK(etw_mof_write(definition, &text, &fault) == 0);
	CHECK(etw_mof_parse(arena, etw_text_string(&text), text.bytes, &again, &fault) == 0);
	CHECK(!again->complaint_total);
	if (!etw_definition_compare(definition, again, 0, &difference)) {
		(void)fprintf(stderr, "%s\n", etw_text_string(&difference));
		abort();
	}
	etw_text_done(&text);
	etw_text_done(&difference);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	int r;

	etw_arena_init(&arena);
	r = etw_mof_parse(&arena, (const char *)data, bytes, &definition, &fault);
	if (r < 0) {
		check_refused(r, &fault, &arena);
		CHECK(fault.offset);
		return 0;
	}
	check_memory(&arena, bytes);
	for (size_t i = 0; i < definition->complaint_count; i++)
		CHECK(definition->complaints[i].line && definition->complaints[i].sentence);
	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *provider = &definition->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++)
			check_schema(provider, &provider->schemas[j]);
	}
	check_round_trip(&arena, definition);
	etw_arena_done(&arena);
	return 0;
}
