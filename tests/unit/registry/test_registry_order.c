/* SPDX-License-Identifier: MIT */
/* Several imports that say something of the same events, whichever of their GUIDs is asked for first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

#define TEST(test) cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

#define BEGIN "<instrumentationManifest><instrumentation><events>"
#define END   "</events></instrumentation></instrumentationManifest>"

/* fixture_guid(1) and (2) */
#define PROVIDER(data1, symbol)                                                       \
	"<provider name='" symbol "' guid='{" data1 "-3333-4444-5555-000000000000}'>" \
	"<events><event value='1' symbol='" symbol "'/></events></provider>"
#define ONE(symbol) PROVIDER("11112223", symbol)
#define TWO(symbol) PROVIDER("11112224", symbol)

#define MOF_PROVIDER "[Guid(\"11112229-3333-4444-5555-000000000000\")] class P : EventTrace {};\n"

/* A class with an event type 1 of one field. */
#define CLASS(guid, version, name, field)                                          \
	"[Guid(\"" guid "\"), EventVersion(" version ")] class " name " : P {};\n" \
	"[EventType(1)] class " name "_T : " name " { [WmiDataId(1)] uint8 " field "; };\n"
#define CLASS_ONE(field) CLASS("11112223-3333-4444-5555-000000000000", "1", "A", field)
#define CLASS_TWO(field) CLASS("11112224-3333-4444-5555-000000000000", "1", "B", field)
#define PROCESS          "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"

static void import(enum wire_registry_kind kind, const char *text)
{
	const struct etw_bytes bytes = {(const uint8_t *)text, strlen(text)};
	struct etw_registry_change *change;
	struct etw_registry_item item;

	assert_int_equal(etw_registry_item_parse(kind, bytes, "/from", &item, NULL), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_add(change, &item), 0);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	etw_registry_item_done(&item);
}

static struct etw_schema_store *open_store(void)
{
	struct etw_schema_store *store;
	struct etw_registry *registry;

	assert_int_equal(etw_schema_store_create(&store), 0);
	assert_int_equal(etw_registry_open(&registry), 0);
	etw_registry_attach(registry, store);
	return store;
}

static void check_symbol(struct etw_schema_store *store, unsigned number, const char *symbol)
{
	EVENT_RECORD record = {.EventHeader = {.ProviderId = fixture_guid(number)}};
	const struct etw_schema *schema;

	record.EventHeader.EventDescriptor.Id = 1;
	schema = etw_schema_store_find(store, &record, NULL);
	assert_non_null(schema);
	assert_string_equal(schema->symbol, symbol);
}

static const struct etw_schema *find_class(struct etw_schema_store *store, const GUID *guid,
					   uint8_t opcode, uint8_t version)
{
	EVENT_RECORD record = {
		.EventHeader = {.ProviderId = *guid, .Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER}};

	record.EventHeader.EventDescriptor.Opcode = opcode;
	record.EventHeader.EventDescriptor.Version = version;
	return etw_schema_store_find(store, &record, NULL);
}

static void check_class(struct etw_schema_store *store, unsigned number, const char *field)
{
	const GUID guid = fixture_guid(number);
	const struct etw_schema *schema = find_class(store, &guid, 1, 1);

	assert_non_null(schema);
	assert_string_equal(schema->fields[0].name, field);
}

static void test_registry_order__the_latest_counts_for_each_provider_of_a_file(void **state)
{
	const GUID two = fixture_guid(2);
	const struct etw_provider_schema *provider = NULL;
	struct etw_schema_store *store;

	(void)state;
	import(WIRE_REGISTRY_MANIFEST, BEGIN ONE("old1") TWO("old2") END);
	import(WIRE_REGISTRY_MANIFEST, BEGIN TWO("new2") END);
	for (unsigned i = 0; i < 2; i++) {
		store = open_store();
		check_symbol(store, i ? 2 : 1, i ? "new2" : "old1");
		assert_string_equal(etw_schema_store_provider_name(store, &two), "new2");
		check_symbol(store, i ? 1 : 2, i ? "old1" : "new2");
		check_symbol(store, 2, "new2");
		etw_schema_store_free(store);
	}
	store = open_store();
	check_symbol(store, 1, "old1");
	assert_int_equal(etw_schema_store_demand_provider(store, &two, &provider), 0);
	assert_string_equal(provider->name, "new2");
	etw_schema_store_free(store);
}

static void test_registry_order__an_import_meanwhile_counts_for_what_was_not_asked_for(void **state)
{
	struct etw_schema_store *store;

	(void)state;
	import(WIRE_REGISTRY_MANIFEST, BEGIN ONE("old1") TWO("old2") END);
	store = open_store();
	check_symbol(store, 1, "old1");
	import(WIRE_REGISTRY_MANIFEST, BEGIN TWO("new2") END);
	assert_true(etw_schema_store_look_again(store));
	check_symbol(store, 2, "new2");
	check_symbol(store, 1, "old1");
	etw_schema_store_free(store);
}

/* The classes of a MOF provider come in together, each is asked for by itself. */
static void test_registry_order__the_latest_counts_for_each_class_of_a_provider(void **state)
{
	const GUID provider = {0x11112229, 0x3333, 0x4444, {0x55, 0x55, 0, 0, 0, 0, 0, 0}};
	const struct etw_provider_schema *known = NULL;
	struct etw_schema_store *store;

	(void)state;
	import(WIRE_REGISTRY_MOF, MOF_PROVIDER CLASS_ONE("old1") CLASS_TWO("old2"));
	import(WIRE_REGISTRY_MOF, MOF_PROVIDER CLASS_TWO("new2"));
	for (unsigned i = 0; i < 2; i++) {
		store = open_store();
		check_class(store, i ? 2 : 1, i ? "new2" : "old1");
		check_class(store, i ? 1 : 2, i ? "old1" : "new2");
		/* Of the provider as a whole, the definition with more events counts. */
		assert_int_equal(etw_schema_store_demand_provider(store, &provider, &known), 0);
		assert_int_equal(known->schema_count, 2);
		etw_schema_store_free(store);
	}
	store = open_store();
	check_class(store, 1, "old1");
	import(WIRE_REGISTRY_MOF, MOF_PROVIDER CLASS_TWO("newest2"));
	assert_true(etw_schema_store_look_again(store));
	check_class(store, 2, "newest2");
	etw_schema_store_free(store);
}

static void add_mof(struct etw_schema_store *store, const char *text)
{
	assert_int_equal(etw_schema_store_add_mof(store, text, strlen(text), NULL, NULL), 0);
}

/* A class in the event's own version goes before older ones, built in or of the user, in whatever order. */
static void test_registry_order__the_installed_class_of_the_very_version_counts(void **state)
{
	const struct etw_schema *schema;
	struct etw_schema_store *store;
	GUID process;

	(void)state;
	assert_int_equal(etw_guid_parse(PROCESS, &process), 0);
	import(WIRE_REGISTRY_MOF, MOF_PROVIDER CLASS(PROCESS, "100", "A", "installed"));
	for (unsigned i = 0; i < 2; i++) {
		store = open_store();
		/* One that nobody knows made the store ask at all times. */
		schema = find_class(store, &process, i ? 250 : 1, 100);
		assert_int_equal(schema != NULL, !i);
		schema = find_class(store, &process, 1, 100);
		assert_string_equal(schema->fields[0].name, "installed");
		/* What the built-in classes cover is theirs. */
		schema = find_class(store, &process, 1, 4);
		assert_null(schema->owner);
		etw_schema_store_free(store);
	}
	store = open_store();
	add_mof(store, MOF_PROVIDER CLASS(PROCESS, "90", "A", "named90"));
	add_mof(store, MOF_PROVIDER CLASS(PROCESS, "110", "A", "named110"));
	assert_string_equal(find_class(store, &process, 1, 100)->fields[0].name, "installed");
	assert_string_equal(find_class(store, &process, 1, 90)->fields[0].name, "named90");
	etw_schema_store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_registry_order__the_latest_counts_for_each_provider_of_a_file),
		TEST(test_registry_order__an_import_meanwhile_counts_for_what_was_not_asked_for),
		TEST(test_registry_order__the_latest_counts_for_each_class_of_a_provider),
		TEST(test_registry_order__the_installed_class_of_the_very_version_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
