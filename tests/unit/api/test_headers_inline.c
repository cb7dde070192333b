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

/* A helper gives NULL where the offset is 0, and else what lies so far behind the beginning of the blob. */
#define CHECK_HELPER(call, blob, offset)                     \
	do {                                                 \
		(offset) = 0;                                \
		assert_null(call);                           \
		(offset) = 8;                                \
		assert_ptr_equal(call, (char *)&(blob) + 8); \
	} while (0)

static void test_headers_inline__strings_of_events(void **state)
{
	TRACE_EVENT_INFO info = {0};
	EVENT_PROPERTY_INFO *property = info.EventPropertyInfoArray;

	(void)state;
	CHECK_HELPER(TEI_PROVIDER_NAME(&info), info, info.ProviderNameOffset);
	CHECK_HELPER(TEI_LEVEL_NAME(&info), info, info.LevelNameOffset);
	CHECK_HELPER(TEI_CHANNEL_NAME(&info), info, info.ChannelNameOffset);
	CHECK_HELPER(TEI_KEYWORDS_NAME(&info), info, info.KeywordsNameOffset);
	CHECK_HELPER(TEI_TASK_NAME(&info), info, info.TaskNameOffset);
	CHECK_HELPER(TEI_OPCODE_NAME(&info), info, info.OpcodeNameOffset);
	CHECK_HELPER(TEI_EVENT_MESSAGE(&info), info, info.EventMessageOffset);
	CHECK_HELPER(TEI_PROVIDER_MESSAGE(&info), info, info.ProviderMessageOffset);
	CHECK_HELPER(TEI_ACTIVITYID_NAME(&info), info, info.ActivityIDNameOffset);
	CHECK_HELPER(TEI_RELATEDACTIVITYID_NAME(&info), info, info.RelatedActivityIDNameOffset);
	CHECK_HELPER(TEI_PROPERTY_NAME(&info, property), info, property->NameOffset);
	CHECK_HELPER(TEI_MAP_NAME(&info, property), info, property->nonStructType.MapNameOffset);
}

static void test_headers_inline__strings_of_maps(void **state)
{
	EVENT_MAP_INFO map = {0};
	EVENT_MAP_ENTRY *entry = map.MapEntryArray;

	(void)state;
	CHECK_HELPER(EMI_MAP_NAME(&map), map, map.NameOffset);
	CHECK_HELPER(EMI_MAP_OUTPUT(&map, entry), map, entry->OutputOffset);
	/* Of other maps the same members are numbers. */
	for (ULONG flag = 1; flag <= EVENTMAP_INFO_FLAG_WBEM_NO_MAP; flag *= 2) {
		map.Flag = (MAP_FLAGS)flag;
		map.FormatStringOffset = entry->InputOffset = 8;
		if (flag == EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)
			continue;
		assert_null(EMI_MAP_FORMAT(&map));
		assert_null(EMI_MAP_INPUT(&map, entry));
	}
	map.Flag = EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP;
	CHECK_HELPER(EMI_MAP_FORMAT(&map), map, map.FormatStringOffset);
	CHECK_HELPER(EMI_MAP_INPUT(&map, entry), map, entry->InputOffset);
}

static void test_headers_inline__strings_of_providers(void **state)
{
	PROVIDER_FILTER_INFO filter = {0};
	EVENT_PROPERTY_INFO *property = filter.EventPropertyInfoArray;
	PROVIDER_FIELD_INFOARRAY fields = {0};
	PROVIDER_FIELD_INFO *field = fields.FieldInfoArray;
	PROVIDER_ENUMERATION_INFO providers = {0};
	TRACE_PROVIDER_INFO *provider = providers.TraceProviderInfoArray;

	(void)state;
	CHECK_HELPER(PFI_FILTER_MESSAGE(&filter), filter, filter.MessageOffset);
	CHECK_HELPER(PFI_PROPERTY_NAME(&filter, property), filter, property->NameOffset);
	CHECK_HELPER(PFI_FIELD_NAME(&fields, field), fields, field->NameOffset);
	CHECK_HELPER(PFI_FIELD_MESSAGE(&fields, field), fields, field->DescriptionOffset);
	CHECK_HELPER(PEI_PROVIDER_NAME(&providers, provider), providers,
		     provider->ProviderNameOffset);
}

static void test_headers_inline__descriptors(void **state)
{
	EVENT_DESCRIPTOR event, wanted;
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
	EventDescZero(&event);
	EventDescSetId(&event, 11);
	EventDescSetVersion(&event, 12);
	EventDescSetChannel(&event, 13);
	EventDescSetLevel(&event, 14);
	EventDescSetTask(&event, 15);
	EventDescSetOpcode(&event, 16);
	EventDescSetKeyword(&event, 17);
	EventDescCreate(&wanted, 11, 12, 13, 14, 15, 16, 17);
	assert_memory_equal(&event, &wanted, sizeof(event));
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
		cmocka_unit_test(test_headers_inline__strings_of_events),
		cmocka_unit_test(test_headers_inline__strings_of_maps),
		cmocka_unit_test(test_headers_inline__strings_of_providers),
		cmocka_unit_test(test_headers_inline__descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
