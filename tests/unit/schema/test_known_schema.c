/* SPDX-License-Identifier: MIT */
/* Known events as schemas. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "known_fixture.h"
#include "schema/known/known_schema.h"

static const GUID kernel_process = {
	0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}};

static void test_known_schema__makes_an_event(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_candidate *candidates;
	const struct etw_schema *schema;
	size_t count;

	assert_int_equal(etw_known_candidates(fixture->known, &kernel_process, 1, 1,
					      &fixture->arena, &candidates, &count),
			 0);
	assert_int_equal(count, 1);
	assert_string_equal(candidates[0].builds, "10240-28000");
	assert_int_equal(candidates[0].marks, 0);
	schema = candidates[0].schema;
	assert_string_equal(schema->provider_name, "Microsoft-Windows-Kernel-Process");
	assert_string_equal(schema->task_name, "ProcessStart");
	assert_string_equal(schema->opcode_name, "win:Start");
	assert_string_equal(schema->level_name, "win:Informational");
	assert_string_equal(schema->keywords, "WINEVENT_KEYWORD_PROCESS");
	assert_string_equal(schema->channel_name, "Microsoft-Windows-Kernel-Process/Analytic");
	assert_int_equal(schema->descriptor.Channel, 16);
	assert_int_equal(schema->descriptor.Keyword, 0x10);
	assert_int_equal(schema->top_count, 6);
	assert_string_equal(schema->fields[0].name, "ProcessID");
	assert_int_equal(schema->fields[0].in_type, TDH_INTYPE_UINT32);
	assert_int_equal(schema->fields[0].out_type, TDH_OUTTYPE_PID);
	assert_int_equal(schema->fields[0].length, 4);
	assert_string_equal(schema->fields[4].map->name, "ProcessFlags");
	assert_string_equal(schema->fields[4].map->entries[0].text, "PackageId");
}

static void test_known_schema__absent_events_are_told(void **state)
{
	static const GUID nobody = {1, 2, 3, {4}};
	struct known_fixture *fixture = *state;
	struct etw_known_candidate *candidates;
	size_t count;

	assert_int_equal(etw_known_candidates(fixture->known, &nobody, 1, 1, &fixture->arena,
					      &candidates, &count),
			 -ENOENT);
	assert_int_equal(etw_known_candidates(fixture->known, &kernel_process, 1, 200,
					      &fixture->arena, &candidates, &count),
			 -ENOENT);
}

static void test_known_schema__makes_a_provider(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider;
	struct etw_provider_schema *schema;

	assert_int_equal(etw_known_find_name(fixture->known, "microsoft-windows-KERNEL-process", 0,
					     &provider),
			 0);
	assert_true(etw_guid_equal(&provider.guid, &kernel_process));
	assert_int_equal(etw_known_find_name(fixture->known, provider.name, 1, &provider), -ENOENT);
	assert_int_equal(etw_known_provider_schema(fixture->known, &provider, 0, 0, &fixture->arena,
						   &schema),
			 0);
	assert_int_equal(schema->schema_count, provider.event_count);
	assert_int_equal(schema->keyword_count, 11);
	assert_int_equal(schema->keywords[0].value, 0x10);
	assert_ptr_equal(schema->schemas[0].owner, schema);
}

static void test_known_schema__makes_a_classic_event(void **state)
{
	static const GUID thread_pool = {
		0xc861d0e2, 0xa2c1, 0x4d36, {0x9f, 0x9c, 0x97, 0x0b, 0xab, 0x94, 0x3a, 0x12}};
	struct known_fixture *fixture = *state;
	struct etw_known_candidate *candidates;
	size_t count;

	assert_int_equal(etw_known_class_candidates(fixture->known, &thread_pool, 32, 3,
						    &fixture->arena, &candidates, &count),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(candidates[0].schema->source, DecodingSourceWbem);
	assert_int_equal(candidates[0].marks, 0);
	assert_int_equal(candidates[0].schema->field_count, 5);
	assert_int_equal(candidates[0].schema->fields[0].in_type, TDH_INTYPE_POINTER);
	/* Two sources: the one with this version does not know types. */
	assert_int_equal(etw_known_class_candidates(fixture->known, &thread_pool, 32, 2,
						    &fixture->arena, &candidates, &count),
			 0);
	assert_int_equal(count, 2);
	assert_int_equal(candidates[0].marks, 0);
	assert_int_equal(candidates[1].marks, WIRE_KNOWN_INCOMPLETE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_schema__makes_an_event),
		cmocka_unit_test(test_known_schema__absent_events_are_told),
		cmocka_unit_test(test_known_schema__makes_a_provider),
		cmocka_unit_test(test_known_schema__makes_a_classic_event),
	};

	return cmocka_run_group_tests(tests, open_known, close_known);
}
