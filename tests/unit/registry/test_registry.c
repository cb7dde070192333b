/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

static EVENT_RECORD event_of(unsigned number)
{
	EVENT_RECORD record = {0};

	record.EventHeader.ProviderId = fixture_guid(number);
	record.EventHeader.EventDescriptor.Id = 1;
	return record;
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

static const char *symbol_of(struct etw_schema_store *store, unsigned number)
{
	const EVENT_RECORD record = event_of(number);
	const struct etw_schema *schema = etw_schema_store_find(store, &record, NULL);

	return schema ? schema->symbol : NULL;
}

static int user_says(struct etw_schema_store *store, const char *word)
{
	struct etw_registry_item item;
	int r;

	assert_int_equal(fixture_item(1, word, &item), 0);
	r = etw_schema_store_add_manifest(store, (const char *)item.stored.at, item.stored.left,
					  NULL);
	etw_registry_item_done(&item);
	return r;
}

static void test_registry__an_empty_machine_has_none(void **state)
{
	struct etw_registry *registry;
	struct etw_schema_store *store = open_store();

	(void)state;
	assert_int_equal(etw_registry_open(&registry), 0);
	assert_int_equal(etw_registry_count(registry), 0);
	etw_registry_close(registry);
	assert_null(symbol_of(store, 1));
	etw_schema_store_free(store);
}

static void test_registry__is_asked_when_nobody_else_knows(void **state)
{
	const GUID guid = fixture_guid(1);
	struct etw_schema_store *store;

	(void)state;
	assert_int_equal(fixture_import(1, "registered"), 0);
	store = open_store();
	assert_string_equal(etw_schema_store_provider_name(store, &guid), "P1");
	assert_string_equal(symbol_of(store, 1), "registered");
	assert_int_equal(user_says(store, "named"), 0);
	assert_string_equal(symbol_of(store, 1), "named");
	etw_schema_store_free(store);
	store = open_store();
	assert_int_equal(user_says(store, "named"), 0);
	assert_string_equal(symbol_of(store, 1), "named");
	etw_schema_store_free(store);
}

static void test_registry__the_latest_import_counts(void **state)
{
	struct etw_schema_store *store;

	(void)state;
	assert_int_equal(fixture_import(1, "first"), 0);
	assert_int_equal(fixture_import(1, "second"), 0);
	store = open_store();
	assert_string_equal(symbol_of(store, 1), "second");
	etw_schema_store_free(store);
}

static void test_registry__a_changed_definition_is_damage(void **state)
{
	struct etw_fault fault = {0};
	struct etw_schema_store *store;
	char command[160];

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(command, sizeof(command), "sed -i s/P1/P2/ %s/definitions/*",
		       fixture_folder);
	assert_int_equal(system(command), 0);
	store = open_store();
	assert_null(symbol_of(store, 1));
	assert_int_equal(etw_schema_store_damage(store, &fault), 1);
	assert_string_equal(fault.sentence,
			    "a definition in the registry has changed since it was stored");
	etw_schema_store_free(store);
}

static void test_registry__trouble_leaves_it_out(void **state)
{
	struct etw_registry *registry;
	struct etw_fault fault = {0};
	const char *folder;
	char path[128];

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(path, sizeof(path), "%s/index", fixture_folder);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(etw_registry_open(&registry), 0);
	assert_int_equal(etw_registry_trouble(registry, &folder, &fault), -EBADMSG);
	assert_string_equal(folder, fixture_folder);
	assert_int_equal(etw_registry_count(registry), 0);
	etw_registry_close(registry);
}

static void test_registry__knows_when_it_is_stale(void **state)
{
	struct etw_registry *registry;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(etw_registry_open(&registry), 0);
	assert_false(etw_registry_is_stale(registry));
	assert_int_equal(fixture_import(2, "A"), 0);
	assert_true(etw_registry_is_stale(registry));
	etw_registry_close(registry);
}

static void test_registry__a_removed_provider_stays_away_though_its_file_is_there(void **state)
{
	static const char text[] =
		"<instrumentationManifest><instrumentation><events>"
		"<provider name='P1' guid='{11112223-3333-4444-5555-000000000000}'>"
		"<events><event value='1' symbol='one'/></events></provider>"
		"<provider name='P2' guid='{11112224-3333-4444-5555-000000000000}'>"
		"<events><event value='1' symbol='two'/></events></provider>"
		"</events></instrumentation></instrumentationManifest>";
	const struct etw_bytes bytes = {(const uint8_t *)text, sizeof(text) - 1};
	const GUID one = fixture_guid(1);
	struct etw_registry_change *change;
	struct etw_registry_item item;
	struct etw_schema_store *store;

	(void)state;
	assert_int_equal(etw_registry_item_parse(WIRE_REGISTRY_MANIFEST, bytes, "x", &item, NULL),
			 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_add(change, &item), 0);
	assert_int_equal(etw_registry_change_remove(change, &one), 1);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	etw_registry_item_done(&item);
	store = open_store();
	assert_string_equal(symbol_of(store, 2), "two");
	assert_null(symbol_of(store, 1));
	etw_schema_store_free(store);
}

/* What a loan says counts before the registry; taken back, the registry counts again. */
static void test_registry__a_loan_comes_and_goes(void **state)
{
	struct etw_schema_loan loans[2] = {{0}};
	struct etw_registry_item items[2];
	struct etw_registry_definition definitions[2];
	struct etw_schema_store *store;

	(void)state;
	assert_int_equal(fixture_import(1, "registered"), 0);
	store = open_store();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fixture_item(1, i ? "later" : "earlier", &items[i]), 0);
		assert_int_equal(
			etw_registry_definition_parse(&items[i].arena, WIRE_REGISTRY_MANIFEST,
						      items[i].stored, &definitions[i], NULL),
			0);
		loans[i].definition = definitions[i].definition;
		assert_int_equal(etw_schema_store_lend(store, &loans[i]), 0);
	}
	assert_string_equal(symbol_of(store, 1), "later");
	etw_schema_store_take_back(store, &loans[1]);
	etw_registry_item_done(&items[1]);
	assert_string_equal(symbol_of(store, 1), "earlier");
	etw_schema_store_take_back(store, &loans[0]);
	etw_registry_item_done(&items[0]);
	assert_string_equal(symbol_of(store, 1), "registered");
	etw_schema_store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_registry__an_empty_machine_has_none,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_registry__is_asked_when_nobody_else_knows,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_registry__the_latest_import_counts,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_registry__a_changed_definition_is_damage,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_registry__trouble_leaves_it_out, fixture_begin,
						fixture_end),
		cmocka_unit_test_setup_teardown(test_registry__knows_when_it_is_stale,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(
			test_registry__a_removed_provider_stays_away_though_its_file_is_there,
			fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_registry__a_loan_comes_and_goes, fixture_begin,
						fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
