/* SPDX-License-Identifier: MIT */
/*
 * An index of known providers of any bytes: it is refused, or every access gives a value or -EBADMSG; text is UTF-8,
 * schemas hang together, and memory is bounded. Input: an index, whose head's check and size are put right here, so
 * that mutations get behind it.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf.h"
#include "schema/known/known_schema.h"
#include "schema/types.h"
#include "target.h"

#define ITEMS_MAX  64 /* of each list: references may overlap, so all of them could take for ever */
#define MEMORY_MAX (256u << 20)

static void check_result(int r)
{
	CHECK(r == 0 || r == -EBADMSG || r == -ENOENT);
}

static void check_text(const char *text)
{
	CHECK(text && etw_utf8_is_valid((const uint8_t *)text, strlen(text)));
}

static void check_schema(const struct etw_schema *schema)
{
	CHECK(!etw_schema_fields_check(schema));
	for (uint16_t i = 0; i < schema->field_count; i++)
		check_text(schema->fields[i].name);
}

static void check_candidates(const struct etw_known_candidate *candidates, size_t count)
{
	CHECK(count > 0);
	for (size_t i = 0; i < count; i++) {
		check_text(candidates[i].builds);
		(void)etw_known_has_build(candidates[i].builds, 10240);
		check_schema(candidates[i].schema);
	}
}

static void check_events(struct etw_known *known, const struct etw_known_provider *provider)
{
	struct etw_known_candidate *candidates;
	struct etw_known_event event;
	struct etw_arena arena;
	size_t count;
	int r;

	for (size_t i = 0; i < provider->event_count && i < ITEMS_MAX; i++) {
		r = etw_known_event_at(known, provider, i, &event);
		check_result(r);
		if (r)
			continue;
		etw_arena_init(&arena);
		r = etw_known_candidates(known, &provider->guid, event.id, event.version, &arena,
					 &candidates, &count);
		check_result(r);
		if (!r)
			check_candidates(candidates, count);
		CHECK(etw_arena_bytes(&arena) < MEMORY_MAX);
		etw_arena_done(&arena);
	}
}

static void check_classes(struct etw_known *known, const struct etw_known_provider *provider)
{
	struct etw_known_candidate *candidates;
	struct etw_known_class class;
	struct etw_arena arena;
	size_t count;
	int r;

	for (size_t i = 0; i < provider->class_count && i < ITEMS_MAX; i++) {
		r = etw_known_class_at(known, provider, i, &class);
		check_result(r);
		if (r)
			continue;
		etw_arena_init(&arena);
		r = etw_known_class_candidates(known, &class.guid, class.type, class.version,
					       &arena, &candidates, &count);
		check_result(r);
		if (!r)
			check_candidates(candidates, count);
		etw_arena_done(&arena);
	}
}

static void check_lists(struct etw_known *known, const struct etw_known_provider *provider)
{
	struct etw_known_named named;
	struct etw_known_map map;
	const char *text;
	uint32_t value;

	for (unsigned list = 0; list < WIRE_KNOWN_LISTS; list++) {
		for (size_t i = 0; i < provider->named_counts[list] && i < ITEMS_MAX; i++)
			check_result(etw_known_named_at(known, provider, list, i, &named));
	}
	for (size_t i = 0; i < provider->map_count && i < ITEMS_MAX; i++) {
		if (etw_known_map_at(known, provider, i, &map) < 0)
			continue;
		for (size_t j = 0; j < map.entry_count && j < ITEMS_MAX; j++)
			check_result(etw_known_entry_at(known, &map, j, &value, &text));
	}
}

static void check_provider(struct etw_known *known, const struct etw_known_provider *provider)
{
	struct etw_provider_schema *schema;
	struct etw_known_provider found;
	struct etw_arena arena;
	int r;

	check_text(provider->name);
	check_result(etw_known_find(known, &provider->guid, &found));
	check_result(etw_known_find_name(known, provider->name, 0, &found));
	check_lists(known, provider);
	check_events(known, provider);
	check_classes(known, provider);
	etw_arena_init(&arena);
	r = etw_known_provider_schema(known, provider, 10240, ETW_KNOWN_COMPLETE_NAMES, &arena,
				      &schema);
	check_result(r);
	CHECK(etw_arena_bytes(&arena) < MEMORY_MAX);
	for (size_t i = 0; !r && i < schema->schema_count && i < ITEMS_MAX; i++)
		check_schema(&schema->schemas[i]);
	etw_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(freep) struct wire_known_head *head = malloc(size ? size : 1);
	struct etw_known_provider provider;
	struct etw_known *known;
	struct etw_fault fault;

	if (!head)
		return 0;
	if (size)
		memcpy(head, data, size);
	if (size >= sizeof(*head) && size <= UINT32_MAX) {
		head->file_bytes = le32_of((uint32_t)size);
		head->check = le32_of(0);
		head->check = le32_of(wire_known_check(head));
	}
	if (etw_known_open_bytes((struct etw_bytes){(uint8_t *)head, size}, &known, &fault)) {
		CHECK(fault.sentence);
		return 0;
	}
	for (size_t i = 0; i < etw_known_provider_count(known) && i < ITEMS_MAX; i++) {
		int r = etw_known_provider_at(known, i, &provider);

		check_result(r);
		if (!r)
			check_provider(known, &provider);
		else
			CHECK(etw_known_damage(known, &fault) && fault.sentence);
	}
	etw_known_close(known);
	return 0;
}
