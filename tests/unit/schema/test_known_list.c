/* SPDX-License-Identifier: MIT */
/* Providers, names and maps of the index. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "known_fixture.h"

static void test_known_list__every_provider_is_found_by_its_guid(void **state)
{
	struct known_fixture *fixture = *state;
	size_t count = etw_known_provider_count(fixture->known);
	size_t without = 0;
	struct etw_known_provider provider, found;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(etw_known_provider_at(fixture->known, i, &provider), 0);
		assert_int_equal(provider.index, i);
		if (!provider.has_guid) {
			without++;
			continue;
		}
		assert_int_equal(without, 0);
		assert_int_equal(etw_known_find(fixture->known, &provider.guid, &found), 0);
		assert_int_equal(found.index, i);
	}
	assert_true(without > 0);
	assert_int_equal(etw_known_provider_at(fixture->known, count, &provider), -ENOENT);
	assert_int_equal(etw_known_find(fixture->known, &(GUID){0}, &provider), -ENOENT);
}

static void test_known_list__names_may_belong_to_two(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider first, second;

	assert_int_equal(etw_known_find_name(fixture->known, "microsoft-windows-win32K", 0, &first),
			 0);
	assert_int_equal(
		etw_known_find_name(fixture->known, "Microsoft-Windows-Win32k", 1, &second), 0);
	assert_string_equal(first.name, second.name);
	assert_int_not_equal(first.index, second.index);
	assert_int_equal(etw_known_find_name(fixture->known, first.name, 2, &second), -ENOENT);
	assert_int_equal(etw_known_find_name(fixture->known, "Microsoft-Windows-Win32", 0, &first),
			 -ENOENT);
	assert_int_equal(etw_known_find_name(fixture->known, "", 0, &first), -ENOENT);
	assert_int_equal(etw_known_find_name(fixture->known, "zzz", 0, &first), -ENOENT);
}

static void test_known_list__older_names_are_found(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture, "CLRTrace");

	assert_string_equal(provider.name, "Microsoft-Windows-DotNETRuntime");
	assert_string_equal(provider.formerly, "CLRTrace");
}

static void test_known_list__lists_have_numbers_and_names(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct etw_known_named named;

	assert_int_equal(
		etw_known_named_at(fixture->known, &provider, WIRE_KNOWN_KEYWORDS, 0, &named), 0);
	assert_int_equal(named.value, 0x10);
	assert_string_equal(named.name, "WINEVENT_KEYWORD_PROCESS");
	assert_int_equal(
		etw_known_named_at(fixture->known, &provider, WIRE_KNOWN_CHANNELS, 0, &named), 0);
	assert_int_equal(named.value, 16);
	assert_int_equal(
		etw_known_named_at(fixture->known, &provider, WIRE_KNOWN_CHANNELS, 1, &named),
		-ENOENT);
	provider = find_provider(fixture, "Microsoft-JScript");
	assert_int_equal(
		etw_known_named_at(fixture->known, &provider, WIRE_KNOWN_OPCODES, 0, &named), 0);
	assert_true(named.has_task);
}

static void test_known_list__maps_have_entries(void **state)
{
	struct known_fixture *fixture = *state;
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct etw_known_map map;
	const char *text;
	uint32_t value;

	assert_int_equal(etw_known_map_at(fixture->known, &provider, 0, &map), 0);
	assert_string_equal(map.name, "ProcessFlags");
	assert_true(map.is_bits);
	assert_int_equal(etw_known_entry_at(fixture->known, &map, 0, &value, &text), 0);
	assert_int_equal(value, 1);
	assert_string_equal(text, "PackageId");
	assert_int_equal(etw_known_entry_at(fixture->known, &map, 1, &value, &text), -ENOENT);
	assert_int_equal(etw_known_map_at(fixture->known, &provider, 1, &map), -ENOENT);
}

static void test_known_list__damaged_numbers_lead_nowhere(void **state)
{
	struct known_fixture *fixture = *state;
	size_t bytes;
	CLEANUP(freep) struct wire_known_head *head = copy_index(fixture, &bytes);
	CLEANUP(etw_known_closep) struct etw_known *known = open_copy(head, bytes);
	struct etw_known_provider provider = find_provider(fixture,
							   "Microsoft-Windows-Kernel-Process");
	struct wire_known_provider *item = item_of(head, WIRE_KNOWN_PROVIDERS, sizeof(*item),
						   provider.index);
	struct etw_known_named named;
	struct etw_known_map map = {.entry_count = 2, .first_entry = UINT32_MAX};
	const char *text;
	uint32_t value;

	item->first_named = le32_of(UINT32_MAX - 1);
	item->first_map = le32_of(UINT32_MAX);
	assert_int_equal(etw_known_provider_at(known, provider.index, &provider), 0);
	assert_int_equal(etw_known_named_at(known, &provider, WIRE_KNOWN_TASKS, 3, &named),
			 -EBADMSG);
	assert_int_equal(etw_known_map_at(known, &provider, 0, &map), -EBADMSG);
	assert_int_equal(etw_known_entry_at(known, &map, 1, &value, &text), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_list__every_provider_is_found_by_its_guid),
		cmocka_unit_test(test_known_list__names_may_belong_to_two),
		cmocka_unit_test(test_known_list__older_names_are_found),
		cmocka_unit_test(test_known_list__lists_have_numbers_and_names),
		cmocka_unit_test(test_known_list__maps_have_entries),
		cmocka_unit_test(test_known_list__damaged_numbers_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, open_known, close_known);
}
