/* SPDX-License-Identifier: MIT */
/* GUIDs of names. Values: docs/format/tracelogging.md. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/guid_name.h"

static void assert_makes(const char *name, const char *guid)
{
	char text[ETW_GUID_BARE_BYTES];
	GUID made;

	assert_int_equal(etw_guid_of_name(name, &made), 0);
	etw_guid_format(&made, text);
	assert_string_equal(text, guid);
}

static void test_guid_name__the_rule_of_event_source(void **state)
{
	(void)state;
	assert_makes("MyProvider", "b3864c38-4273-58c5-545b-8b3608343471");
	assert_makes("myprovider", "b3864c38-4273-58c5-545b-8b3608343471");
}

static void test_guid_name__what_is_no_utf8_is_refused(void **state)
{
	GUID guid = {0};

	(void)state;
	assert_int_equal(etw_guid_of_name("a\xC0", &guid), -EILSEQ);
	assert_true(etw_guid_is_null(&guid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guid_name__the_rule_of_event_source),
		cmocka_unit_test(test_guid_name__what_is_no_utf8_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
