/* SPDX-License-Identifier: MIT */
/* What tools call the origin of a schema. The names are part of docs/format/json.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schema/origin.h"

static void check(uint8_t origin, uint8_t marks, const char *expected)
{
	const struct etw_schema schema = {.origin = origin, .marks = marks};
	struct etw_text text = {0};

	etw_schema_origin_write(&schema, &text);
	assert_string_equal(etw_text_string(&text), expected);
	etw_text_done(&text);
}

static void test_origin__names(void **state)
{
	(void)state;
	check(ETW_SCHEMA_ORIGIN_NONE, 0, "");
	check(ETW_SCHEMA_ORIGIN_KNOWN, 0, "known");
	check(ETW_SCHEMA_ORIGIN_INSTALLED, 0, "installed");
	check(ETW_SCHEMA_ORIGIN_LOADED, 0, "loaded");
	check(ETW_SCHEMA_ORIGIN_USER, 0, "file");
	check(ETW_SCHEMA_ORIGIN_EMBEDDED, 0, "embedded");
	check(ETW_SCHEMA_ORIGIN_TRACE, 0, "trace");
	check(ETW_SCHEMA_ORIGIN_EVENT, 0, "event");
	check(ETW_SCHEMA_ORIGIN_BUILT_IN, 0, "built-in");
	assert_null(etw_schema_origin_name((enum etw_schema_origin)9));
}

static void test_origin__marks(void **state)
{
	(void)state;
	check(ETW_SCHEMA_ORIGIN_KNOWN, ETW_SCHEMA_INCOMPLETE | ETW_SCHEMA_DOUBTFUL,
	      "known, incomplete, doubtful");
	check(ETW_SCHEMA_ORIGIN_USER, ETW_SCHEMA_MENDED, "file, mended");
	check(ETW_SCHEMA_ORIGIN_KNOWN, ETW_SCHEMA_INFERRED, "known, inferred");
	check(ETW_SCHEMA_ORIGIN_NONE, ETW_SCHEMA_INFERRED, "");
	assert_null(etw_schema_mark_name(ETW_SCHEMA_MARKS));
	assert_null(etw_schema_marks_text(0));
	assert_null(etw_schema_marks_text(1u << ETW_SCHEMA_MARKS));
	for (unsigned i = 0; i < ETW_SCHEMA_MARKS; i++)
		assert_string_equal(etw_schema_marks_text(1u << i), etw_schema_mark_name(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origin__names),
		cmocka_unit_test(test_origin__marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
