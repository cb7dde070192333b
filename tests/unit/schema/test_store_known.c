/* SPDX-License-Identifier: MIT */
/* The table of known providers behind a store: when it is asked, and which of its layouts comes first. */
#include <errno.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store.h"
#include "schema/store/store_installed.h"
#include "schema/store/store_internal.h"
#include "unit/schema/store_events.h"

static const GUID kernel_process = {
	0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}};

#define POOR_MANIFEST                                                                    \
	"<instrumentationManifest><instrumentation><events>"                             \
	"<provider name='Mine' guid='{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}'>"           \
	"<templates><template tid='t'><data name='mine' inType='win:UInt8'/></template>" \
	"</templates><events><event value='1' version='0' template='t'/></events>"       \
	"</provider></events></instrumentation></instrumentationManifest>"

static int begin_known(void **state)
{
	struct etw_known *known;

	if (begin(state) || etw_known_open(NULL, &known, NULL))
		return -1;
	etw_schema_store_set_known(store, known);
	return 0;
}

static void test_store_known__is_asked_last(void **state)
{
	const EVENT_RECORD record = event_of(&kernel_process, 1, 0, 0);
	const struct etw_schema *schema = check_found(&record);
	const struct etw_schema *next;
	bool is_alone;

	(void)state;
	assert_int_equal(schema->origin, ETW_SCHEMA_ORIGIN_KNOWN);
	assert_string_equal(schema->provider_name, "Microsoft-Windows-Kernel-Process");
	add_manifest(POOR_MANIFEST);
	schema = etw_schema_store_find_choice(store, &record, &(enum etw_schema_miss){0},
					      &is_alone);
	assert_int_equal(schema->origin, ETW_SCHEMA_ORIGIN_USER);
	assert_false(is_alone);
	next = etw_schema_store_next(store, &record, schema);
	assert_non_null(next);
	assert_int_equal(next->origin, ETW_SCHEMA_ORIGIN_KNOWN);
}

static void test_store_known__misses_say_whether_the_provider_is_known(void **state)
{
	EVENT_RECORD record = event_of(&kernel_process, 65000, 0, 0);

	(void)state;
	check_miss(&record, ETW_SCHEMA_NO_EVENT);
	record.EventHeader.ProviderId = info_blob_provider;
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	assert_string_equal(etw_schema_store_provider_name(store, &kernel_process),
			    "Microsoft-Windows-Kernel-Process");
}

#define MANIFEST_WITH_MAP(maps)                                                        \
	"<instrumentationManifest><instrumentation><events>"                           \
	"<provider name='Mine' guid='{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716}'>" maps    \
	"<templates><template tid='t'>"                                                \
	"<data name='Flags' inType='win:UInt32' map='ProcessFlags'/></template>"       \
	"</templates><events><event value='65001' version='0' template='t'/></events>" \
	"</provider></events></instrumentation></instrumentationManifest>"
#define MAP_OF_MANIFEST                                                              \
	"<maps><bitMap name='ProcessFlags'><map value='0x1' message='$(string.x)'/>" \
	"<map value='0x2' message='$(string.x)'/></bitMap></maps>"

/* A field that names a map which nobody brought along. */
static void test_store_known__maps_fill_gaps(void **state)
{
	const EVENT_RECORD record = event_of(&kernel_process, 65001, 0, 0);
	const struct etw_schema *schema;

	(void)state;
	add_manifest(MANIFEST_WITH_MAP(""));
	schema = check_found(&record);
	assert_non_null(schema->fields[0].map);
	assert_int_equal(schema->fields[0].map->count, 1);
	assert_string_equal(schema->fields[0].map->entries[0].text, "PackageId");
	/* A definition knows better. */
	add_manifest(MANIFEST_WITH_MAP(MAP_OF_MANIFEST));
	assert_int_equal(schema->fields[0].map->count, 2);
}

static void test_store_known__nothing_without_it(void **state)
{
	const EVENT_RECORD record = event_of(&kernel_process, 1, 0, 0);
	struct etw_known *known = etw_schema_store_known(store);

	(void)state;
	etw_schema_store_set_known(store, NULL);
	assert_null(etw_schema_store_known(store));
	check_miss(&record, ETW_SCHEMA_NO_PROVIDER);
	etw_schema_store_set_known(store, known);
	assert_non_null(check_found(&record));
}

static void test_store_known__a_provider_is_given_as_a_whole(void **state)
{
	const struct etw_provider_schema *provider;

	(void)state;
	assert_int_equal(etw_schema_store_demand_provider(store, &kernel_process, &provider), 0);
	assert_true(provider->schema_count > 10);
	assert_true(provider->keyword_count > 3);
	assert_int_equal(etw_schema_store_demand_provider(store, &info_blob_provider, &provider),
			 -ESRCH);
	/* One that is named goes before. */
	add_manifest(POOR_MANIFEST);
	assert_int_equal(etw_schema_store_demand_provider(store, &kernel_process, &provider), 0);
	assert_string_equal(provider->name, "Mine");
}

/* Whether the first layout of an event is one of the build, when one of its layouts is. */
static void check_build(const GUID *guid, const struct etw_known_event *event, const char *builds)
{
	const EVENT_RECORD record = event_of(guid, event->id, event->version, 0);
	uint32_t build = (uint32_t)strtoul(builds, NULL, 10);
	const struct etw_schema *schema;
	unsigned seen = 0;

	etw_schema_store_set_build(store, build);
	schema = check_found(&record);
	assert_true(etw_known_has_build(schema->builds, build));
	/* Every layout comes once. */
	for (; schema; schema = etw_schema_store_next(store, &record, schema))
		seen++;
	assert_int_equal(seen, event->layout_count);
}

static unsigned check_event(struct etw_known *known, const GUID *guid,
			    const struct etw_known_event *event)
{
	struct etw_known_layout layout;
	unsigned checked = 0;

	for (size_t i = 0; i < event->layout_count; i++) {
		assert_int_equal(etw_known_layout_at(known, event, i, &layout), 0);
		if (*layout.builds) {
			check_build(guid, event, layout.builds);
			checked++;
		}
	}
	return checked;
}

static void test_store_known__layouts_of_the_build_come_first(void **state)
{
	struct etw_known *known = etw_schema_store_known(store);
	struct etw_known_provider provider;
	struct etw_known_event event;
	unsigned checked = 0;

	(void)state;
	for (size_t i = 0; !etw_known_provider_at(known, i, &provider) && provider.has_guid; i++) {
		for (size_t j = 0; !etw_known_event_at(known, &provider, j, &event); j++) {
			if (event.layout_count > 1)
				checked += check_event(known, &provider.guid, &event);
		}
	}
	assert_true(checked > 1000);
}

/* Of a build that the table does not have, the layouts of the nearest one. */
static void test_store_known__the_nearest_build_counts(void **state)
{
	struct etw_schema schemas[3] = {
		{.builds = "7600-9600,26100"}, {.builds = "10240-14393"}, {.builds = ""}};
	struct stored_event event = {0};

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		etw_store_insert(&event, &schemas[i], ETW_SCHEMA_ORIGIN_KNOWN, 3 - i);
	assert_ptr_equal(etw_store_first(store, &event), &schemas[0]);
	etw_schema_store_set_build(store, 10000);
	assert_ptr_equal(etw_store_first(store, &event), &schemas[1]);
	assert_ptr_equal(etw_store_next_known(store, &event, &schemas[1]), &schemas[0]);
	assert_ptr_equal(etw_store_next_known(store, &event, &schemas[0]), &schemas[2]);
	assert_null(etw_store_next_known(store, &event, &schemas[2]));
	etw_schema_store_set_build(store, 7601);
	assert_ptr_equal(etw_store_first(store, &event), &schemas[0]);
	etw_schema_store_set_build(store, 28000);
	assert_ptr_equal(etw_store_first(store, &event), &schemas[0]);
	assert_ptr_equal(etw_store_next_known(store, &event, &schemas[0]), &schemas[1]);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_store_known__##name, begin_known, end)
	const struct CMUnitTest tests[] = {
		CASE(is_asked_last),
		CASE(misses_say_whether_the_provider_is_known),
		CASE(maps_fill_gaps),
		CASE(nothing_without_it),
		CASE(a_provider_is_given_as_a_whole),
		CASE(layouts_of_the_build_come_first),
		CASE(the_nearest_build_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
