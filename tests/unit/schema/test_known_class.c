/* SPDX-License-Identifier: MIT */
/* Classic events as schemas: MOF's words, and several sources of one class. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "known_fixture.h"
#include "schema/known/known_schema.h"

/* The class of a provider's first event of this name. */
static struct etw_known_class find_class(struct known_fixture *fixture, const char *provider_name,
					 const char *name)
{
	struct etw_known_provider provider = find_provider(fixture, provider_name);
	struct etw_known_class class;

	for (size_t i = 0; etw_known_class_at(fixture->known, &provider, i, &class) == 0; i++) {
		if (strcmp(class.name, name) == 0)
			return class;
	}
	fail_msg("%s has no %s", provider_name, name);
	return (struct etw_known_class){0};
}

static void test_known_class__words_mean_what_they_mean_in_mof(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_class class = find_class(fixture, "AspNetTrace", "AspNetStart");
	struct etw_known_candidate *candidates;
	const struct etw_schema *schema;
	size_t count;

	assert_int_equal(etw_known_class_candidates(fixture->known, &class.guid, class.type, 0,
						    &fixture->arena, &candidates, &count),
			 0);
	schema = candidates[0].schema;
	assert_string_equal(schema->provider_name, "AspNetTrace");
	assert_string_equal(schema->opcode_name, "Start");
	assert_int_equal(schema->descriptor.Opcode, class.type);
	assert_string_equal(schema->fields[0].name, "ConnID");
	assert_int_equal(schema->fields[0].in_type, TDH_INTYPE_UINT64);
	assert_int_equal(schema->fields[1].in_type, TDH_INTYPE_GUID);
	assert_int_equal(schema->fields[2].in_type, TDH_INTYPE_ANSISTRING);
}

/* Where a string ends is not known: what is behind it is not either. */
static void test_known_class__incomplete_ones_end_before_a_string(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_class class = find_class(fixture, "Active Directory: NetLogon",
						  "NlServerAuth_Start");
	struct etw_known_candidate *candidates;
	size_t count;

	assert_int_equal(etw_known_class_candidates(fixture->known, &class.guid, class.type, 0,
						    &fixture->arena, &candidates, &count),
			 0);
	assert_int_equal(candidates[0].marks, WIRE_KNOWN_INCOMPLETE);
	assert_int_equal(candidates[0].schema->field_count, 0);
	assert_int_equal(etw_known_class_candidates(fixture->known, &class.guid, 99, 0,
						    &fixture->arena, &candidates, &count),
			 -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_class__words_mean_what_they_mean_in_mof),
		cmocka_unit_test(test_known_class__incomplete_ones_end_before_a_string),
	};

	return cmocka_run_group_tests(tests, open_known, close_known);
}
