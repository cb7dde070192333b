/* SPDX-License-Identifier: MIT */
/* The inline functions of the public headers: TDH's string helpers, traits, descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntprov.h>
#include <tdh.h>

/* A group trait (type 1) and a decode GUID (type 2) after the name "ab". */
static UCHAR traits[] = {
	0x2b, 0,  'a',  'b', 0, 0x13, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	15,   16, 0x13, 0,   2, 9,    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,  9,  9,  9,
};

static void test_headers_inline__trait_is_found_by_type(void **state)
{
	PVOID trait = NULL;
	USHORT size = 0;

	(void)state;
	assert_int_equal(sizeof(traits), 0x2b);
	EtwGetTraitFromProviderTraits(traits, EtwProviderTraitTypeGroup, &trait, &size);
	assert_ptr_equal(trait, traits + 8);
	assert_int_equal(size, 16);
	EtwGetTraitFromProviderTraits(traits, EtwProviderTraitDecodeGuid, &trait, &size);
	assert_ptr_equal(trait, traits + 27);
	assert_int_equal(size, 16);
}

static void expect_no_trait(UCHAR *bytes)
{
	PVOID trait = bytes;
	USHORT size = 1;

	EtwGetTraitFromProviderTraits(bytes, EtwProviderTraitDecodeGuid, &trait, &size);
	assert_null(trait);
	assert_int_equal(size, 0);
}

static void test_headers_inline__damaged_traits_hold_nothing(void **state)
{
	UCHAR none[] = {5, 0, 'a', 'b', 0};
	UCHAR empty[] = {0, 0};
	UCHAR no_end_of_name[] = {4, 0, 'a', 'b'};
	UCHAR size_zero[] = {8, 0, 'a', 'b', 0, 0, 0, 2};
	UCHAR too_large[] = {9, 0, 'a', 'b', 0, 5, 0, 2, 7};
	UCHAR cut_off[] = {7, 0, 'a', 'b', 0, 5, 0};

	(void)state;
	expect_no_trait(none);
	expect_no_trait(empty);
	expect_no_trait(no_end_of_name);
	expect_no_trait(size_zero);
	expect_no_trait(too_large);
	expect_no_trait(cut_off);
}

static void test_headers_inline__processor_index_follows_the_flag(void **state)
{
	EVENT_RECORD record = {0};

	(void)state;
	record.BufferContext.ProcessorIndex = 0x0803;
	assert_int_equal(GetEventProcessorIndex(&record), 3);
	record.EventHeader.Flags = EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	assert_int_equal(GetEventProcessorIndex(&record), 0x0803);
}

static void test_headers_inline__tdh_strings_by_offset(void **state)
{
	TRACE_EVENT_INFO info = {0};
	EVENT_MAP_INFO map = {0};

	(void)state;
	assert_null(TEI_PROVIDER_NAME(&info));
	info.ProviderNameOffset = 48;
	info.EventPropertyInfoArray[0].NameOffset = 96;
	info.EventPropertyInfoArray[0].nonStructType.MapNameOffset = 98;
	assert_ptr_equal(TEI_PROVIDER_NAME(&info), (char *)&info + 48);
	assert_ptr_equal(TEI_PROPERTY_NAME(&info, info.EventPropertyInfoArray), (char *)&info + 96);
	assert_ptr_equal(TEI_MAP_NAME(&info, info.EventPropertyInfoArray), (char *)&info + 98);

	map.FormatStringOffset = 16;
	map.MapEntryArray[0].OutputOffset = 12;
	map.MapEntryArray[0].InputOffset = 20;
	assert_null(EMI_MAP_FORMAT(&map));
	assert_null(EMI_MAP_INPUT(&map, map.MapEntryArray));
	assert_ptr_equal(EMI_MAP_OUTPUT(&map, map.MapEntryArray), (char *)&map + 12);
	map.Flag = EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP;
	assert_ptr_equal(EMI_MAP_FORMAT(&map), (char *)&map + 16);
	assert_ptr_equal(EMI_MAP_INPUT(&map, map.MapEntryArray), (char *)&map + 20);
}

static void test_headers_inline__descriptors(void **state)
{
	EVENT_DESCRIPTOR event;
	EVENT_DATA_DESCRIPTOR data;
	int value = 7;

	(void)state;
	EventDescCreate(&event, 1, 2, 3, 4, 5, 6, 0x8000000000000007);
	assert_int_equal(EventDescGetId(&event), 1);
	assert_int_equal(EventDescGetVersion(&event), 2);
	assert_int_equal(EventDescGetChannel(&event), 3);
	assert_int_equal(EventDescGetLevel(&event), 4);
	assert_int_equal(EventDescGetTask(&event), 5);
	assert_int_equal(EventDescGetOpcode(&event), 6);
	assert_true(EventDescGetKeyword(EventDescOrKeyword(&event, 8)) == 0x800000000000000f);
	EventDataDescCreate(&data, &value, sizeof(value));
	assert_true(data.Ptr == (ULONGLONG)(ULONG_PTR)&value);
	assert_int_equal(data.Size, 4);
	assert_int_equal(data.Reserved, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_inline__trait_is_found_by_type),
		cmocka_unit_test(test_headers_inline__damaged_traits_hold_nothing),
		cmocka_unit_test(test_headers_inline__processor_index_follows_the_flag),
		cmocka_unit_test(test_headers_inline__tdh_strings_by_offset),
		cmocka_unit_test(test_headers_inline__descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
