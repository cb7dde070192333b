/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/provider_schema.h"

static void test_provider_schema__a_definition_begins_empty(void **state)
{
	struct etw_definition *definition, *none;
	struct etw_arena arena;

	(void)state;
	etw_arena_init(&arena);
	assert_int_equal(etw_definition_create(&arena, 2, &definition), 0);
	assert_int_equal(definition->provider_count, 0);
	assert_int_equal(definition->schema_count, 0);
	assert_null(definition->providers[0].name);
	assert_int_equal(definition->providers[1].schema_count, 0);
	assert_int_equal(etw_definition_create(&arena, 0, &none), 0);
	assert_non_null(none);
	etw_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_provider_schema__a_definition_begins_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
