/* SPDX-License-Identifier: MIT */
/* Whole providers as the model has them, and as manifests that can be read again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "known_fixture.h"
#include "schema/known/known_schema.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_write.h"

#define OWN_KEYWORDS UINT64_C(0x0000ffffffffffff) /* without those of channels and winmeta */

static void test_known_provider__has_all_lists(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct etw_provider_schema *schema;

	assert_int_equal(etw_known_provider_schema(fixture->known, &provider, 0, 0, &fixture->arena,
						   &schema),
			 0);
	assert_string_equal(schema->name, "Microsoft-Windows-Kernel-Process");
	assert_int_equal(schema->schema_count, provider.event_count);
	assert_int_equal(schema->keyword_count, 11);
	assert_int_equal(schema->task_count, 18);
	assert_int_equal(schema->channel_count, 1);
	assert_int_equal(schema->map_count, 1);
	/* Events and lists share one map. */
	assert_ptr_equal(schema->schemas[1].fields[4].map, &schema->maps[0]);
}

/* Layouts of the build go before newer ones. */
static void test_known_provider__prefers_a_build(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider;
	struct etw_known_event event;
	struct etw_known_layout newest, oldest;
	size_t checked = 0;

	for (size_t i = 0; checked < 20 && i < 1000; i++) {
		struct etw_provider_schema *new_schema, *old_schema;

		assert_int_equal(etw_known_provider_at(fixture->known, i, &provider), 0);
		for (size_t j = 0; etw_known_event_at(fixture->known, &provider, j, &event) == 0;
		     j++) {
			if (event.layout_count < 2)
				continue;
			(void)etw_known_layout_at(fixture->known, &event, 0, &newest);
			(void)etw_known_layout_at(fixture->known, &event, event.layout_count - 1,
						  &oldest);
			if (newest.field_count == oldest.field_count || oldest.marks ||
			    newest.marks || !etw_known_has_build(oldest.builds, 7600) ||
			    etw_known_has_build(newest.builds, 7600))
				continue;
			assert_int_equal(etw_known_provider_schema(fixture->known, &provider, 0, 0,
								   &fixture->arena, &new_schema),
					 0);
			assert_int_equal(etw_known_provider_schema(fixture->known, &provider, 7600,
								   0, &fixture->arena, &old_schema),
					 0);
			assert_int_equal(new_schema->schemas[j].top_count, newest.field_count);
			assert_int_equal(old_schema->schemas[j].top_count, oldest.field_count);
			checked++;
			break;
		}
	}
	assert_true(checked > 0);
}

static void check_events(const struct etw_provider_schema *from,
			 const struct etw_provider_schema *to)
{
	assert_int_equal(from->schema_count, to->schema_count);
	for (size_t i = 0; i < from->schema_count; i++) {
		const struct etw_schema *left = &from->schemas[i];
		const struct etw_schema *right = &to->schemas[i];

		assert_int_equal(left->descriptor.Id, right->descriptor.Id);
		assert_int_equal(left->descriptor.Version, right->descriptor.Version);
		assert_int_equal(left->descriptor.Task, right->descriptor.Task);
		assert_int_equal(left->descriptor.Keyword & OWN_KEYWORDS,
				 right->descriptor.Keyword & OWN_KEYWORDS);
		assert_int_equal(left->field_count, right->field_count);
		for (uint16_t j = 0; j < left->field_count; j++) {
			assert_string_equal(left->fields[j].name, right->fields[j].name);
			assert_int_equal(left->fields[j].flags, right->fields[j].flags);
			assert_int_equal(left->fields[j].in_type, right->fields[j].in_type);
			assert_int_equal(left->fields[j].length, right->fields[j].length);
			assert_int_equal(left->fields[j].count, right->fields[j].count);
		}
	}
}

static void check_manifest(struct known_fixture *fixture, const struct etw_known_provider *provider)
{
	struct etw_definition definition = {.provider_count = 1};
	struct etw_provider_schema *schema;
	struct etw_definition *read;
	struct etw_arena arena;
	struct etw_fault fault;
	struct etw_text text;

	etw_arena_init(&arena);
	etw_text_init(&text);
	assert_int_equal(etw_known_provider_schema(fixture->known, provider, 0,
						   ETW_KNOWN_COMPLETE_NAMES, &arena, &schema),
			 0);
	definition.providers = schema;
	definition.schema_count = schema->schema_count;
	assert_int_equal(etw_manifest_write(&definition, &text), 0);
	if (etw_manifest_parse(&arena, text.at, text.bytes, &read, &fault) < 0)
		fail_msg("%s: line %u: %s", provider->name, (unsigned)fault.offset, fault.sentence);
	if (read->complaint_total)
		fail_msg("%s: line %u: %s: %s", provider->name, (unsigned)read->complaints[0].line,
			 read->complaints[0].sentence, read->complaints[0].name);
	check_events(schema, read->providers);
	etw_text_done(&text);
	etw_arena_done(&arena);
}

/* Without a complaint of the reader. tests/conformance/schema/test_known_manifests.c does so with all. */
static void test_known_provider__becomes_a_manifest_that_loads_again(void **state)
{
	static const char *const names[] = {"Microsoft-Windows-Kernel-Process",
					    "Microsoft-Windows-DotNETRuntime", "Microsoft-JScript",
					    "Microsoft-Windows-TCPIP", "Microsoft-Windows-DxgKrnl"};
	struct known_fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct etw_known_provider provider = find_provider(fixture, names[i]);

		check_manifest(fixture, &provider);
	}
}

/* HttpService has opcode 28 twice: "opcode64" of every task, and "ConnConnect" of the task of event 21. */
static void test_known_provider__prefers_the_opcode_of_the_task(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-HttpService");
	struct etw_provider_schema *schema;
	const char *name = NULL;

	assert_int_equal(etw_known_provider_schema(fixture->known, &provider, 0,
						   ETW_KNOWN_COMPLETE_NAMES, &fixture->arena,
						   &schema),
			 0);
	for (size_t i = 0; i < schema->schema_count; i++) {
		if (schema->schemas[i].descriptor.Id == 21)
			name = schema->schemas[i].opcode_name;
	}
	assert_non_null(name);
	assert_string_equal(name, "ConnConnect");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_provider__has_all_lists),
		cmocka_unit_test(test_known_provider__prefers_a_build),
		cmocka_unit_test(test_known_provider__becomes_a_manifest_that_loads_again),
		cmocka_unit_test(test_known_provider__prefers_the_opcode_of_the_task),
	};

	return cmocka_run_group_tests(tests, open_known, close_known);
}
