/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "schema/provider_names.h"

static void test_provider_names__every_entry_is_found(void **state)
{
	(void)state;
	assert_true(etw_provider_name_count() > 1000);
	for (size_t i = 0; i < etw_provider_name_count(); i++) {
		const struct etw_provider_name *entry = etw_provider_name_at(i);

		assert_true(entry->name[0] != '\0');
		assert_ptr_equal(etw_provider_name_find(&entry->guid), entry->name);
	}
}

static void test_provider_names__known_and_unknown(void **state)
{
	GUID guid;

	(void)state;
	assert_int_equal(etw_guid_parse("edd08927-9cc4-4e65-b970-c2560fb5c289", &guid), 0);
	assert_string_equal(etw_provider_name_find(&guid), "Microsoft-Windows-Kernel-File");
	assert_int_equal(etw_guid_parse("763fd754-7086-4dfe-95eb-c01a46faf4ca", &guid), 0);
	assert_string_equal(etw_provider_name_find(&guid),
			    "Microsoft-Windows-DotNETRuntimePrivate");
	guid.Data4[7] ^= 1;
	assert_null(etw_provider_name_find(&guid));
	guid = (GUID){0};
	assert_null(etw_provider_name_find(&guid));
	memset(&guid, 0xff, sizeof(guid));
	assert_null(etw_provider_name_find(&guid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_provider_names__every_entry_is_found),
		cmocka_unit_test(test_provider_names__known_and_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
