/* SPDX-License-Identifier: MIT */
#include <errno.h>
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

/* By name: present ones, former ones, those that other sources give, and those without any events. */
static void test_provider_names__found_by_any_name(void **state)
{
	static const struct {
		const char *name, *guid;
	} rows[] = {
		{"microsoft-windows-kernel-file", "edd08927-9cc4-4e65-b970-c2560fb5c289"},
		{"CLRTrace", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"},
		{"ASP.NET Events", "aff081fe-0247-4275-9c4e-021f3dc1da35"},
		{"AspNetTrace", "aff081fe-0247-4275-9c4e-021f3dc1da35"},
		{"Microsoft-Windows-RestartManager", "0888e5ef-9b98-4695-979d-e92ce4247224"},
		{"ATA Port Driver Tracing Provider", "d08bd885-501e-489a-bac6-b7d24bfe6bbf"},
		{"Intel-PresentMon", "ecaa4712-4644-442f-b94c-a32f6cf8a499"},
	};
	GUID guid, expected;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(etw_guid_parse(rows[i].guid, &expected), 0);
		assert_int_equal(etw_provider_guid_find(rows[i].name, &guid), 0);
		assert_memory_equal(&guid, &expected, sizeof(guid));
	}
	assert_int_equal(etw_provider_guid_find("nobody", &guid), -ENOENT);
	assert_int_equal(etw_provider_guid_find("", &guid), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_provider_names__every_entry_is_found),
		cmocka_unit_test(test_provider_names__known_and_unknown),
		cmocka_unit_test(test_provider_names__found_by_any_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
