/* SPDX-License-Identifier: MIT */
/* Which provider's manifest describes an event, as its traits say: sound, absent and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/metadata/traits.h"
#include "schema/store/store.h"

#define GROUP  "\x13\0\1GGGGGGGGGGGGGGGG"
#define DECODE "\x13\0\2DDDDDDDDDDDDDDDD"

static const char manifest[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events><provider name='Decoded' symbol='P' resourceFileName='r'"
	" messageFileName='r' guid='{44444444-4444-4444-4444-444444444444}'>"
	"<events><event value='7' symbol='E'/></events></provider></events></instrumentation>"
	"</instrumentationManifest>";

static bool decode(const void *at, size_t bytes, GUID *ret)
{
	return etw_traits_decode_guid((struct etw_bytes){at, bytes}, ret);
}

static void test_traits__name_the_decode_guid(void **state)
{
	static const char traits[] = "\x2d\0Name\0" GROUP DECODE;
	GUID guid;

	(void)state;
	assert_true(decode(traits, sizeof(traits) - 1, &guid));
	assert_memory_equal(&guid, "DDDDDDDDDDDDDDDD", sizeof(guid));
}

static void test_traits__may_have_none(void **state)
{
	static const char traits[] = "\x1a\0Name\0" GROUP;
	GUID guid;

	(void)state;
	assert_false(decode(traits, sizeof(traits) - 1, &guid));
}

static void test_traits__that_end_early_have_none(void **state)
{
	static const char traits[] = "\x2d\0Name\0" GROUP DECODE;
	static const char no_end[] = "\6\0Name";
	static const char short_trait[] = "\6\0\0\3\0\2";
	static const char empty_trait[] = "\6\0\0\0\0\2";
	GUID guid;

	(void)state;
	for (size_t i = 0; i < sizeof(traits) - 1; i++)
		assert_false(decode(traits, i, &guid));
	assert_false(decode(no_end, sizeof(no_end) - 1, &guid));
	assert_false(decode(short_trait, sizeof(short_trait) - 1, &guid));
	assert_false(decode(empty_trait, sizeof(empty_trait) - 1, &guid));
}

static void test_store__finds_events_by_the_decode_guid(void **state)
{
	static const char traits[] = "\x2d\0Name\0" GROUP DECODE;
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {
		.ExtType = EVENT_HEADER_EXT_TYPE_PROV_TRAITS,
		.DataSize = sizeof(traits) - 1,
		.DataPtr = (uintptr_t)traits,
	};
	EVENT_RECORD record = {
		.EventHeader = {.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER,
				.ProviderId = {1, 2, 3, {4}},
				.EventDescriptor = {.Id = 7}},
		.ExtendedDataCount = 1,
		.ExtendedData = &item,
	};
	CLEANUP(etw_schema_store_freep) struct etw_schema_store *store = NULL;
	const struct etw_schema *schema;
	enum etw_schema_miss why;

	(void)state;
	assert_int_equal(etw_schema_store_create(&store), 0);
	assert_int_equal(etw_schema_store_add_manifest(store, manifest, strlen(manifest), NULL), 0);
	schema = etw_schema_store_find(store, &record, &why);
	assert_non_null(schema);
	assert_string_equal(schema->provider_name, "Decoded");
	record.ExtendedDataCount = 0;
	assert_null(etw_schema_store_find(store, &record, &why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traits__name_the_decode_guid),
		cmocka_unit_test(test_traits__may_have_none),
		cmocka_unit_test(test_traits__that_end_early_have_none),
		cmocka_unit_test(test_store__finds_events_by_the_decode_guid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
