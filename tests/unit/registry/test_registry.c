/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fixture.h"
#include "registry/definition.h"
#include "schema/store/store_loans.h"
#include "synthetic/scarce_memory.h"

#define TEST(test) cmocka_unit_test_setup_teardown(test, fixture_begin, fixture_end)

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

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* As if a change had written the same index anew. */
static void touch_index(void)
{
	char command[320];

	(void)snprintf(command, sizeof(command), "cp %s/index %s/other && mv %s/other %s/index",
		       fixture_folder, fixture_folder, fixture_folder, fixture_folder);
	assert_int_equal(system(command), 0);
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

static void lose_definitions(void)
{
	char command[160];

	(void)snprintf(command, sizeof(command), "rm %s/definitions/*", fixture_folder);
	assert_int_equal(system(command), 0);
}

static void test_registry__a_lost_definition_is_told_and_remembered(void **state)
{
	const GUID guid = fixture_guid(1), unknown = fixture_guid(9);
	const struct etw_provider_schema *provider;
	struct etw_fault fault = {0};
	struct etw_schema_store *store;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	lose_definitions();
	store = open_store();
	for (int i = 0; i < 2; i++) {
		assert_null(symbol_of(store, 1));
		assert_null(symbol_of(store, 9));
		assert_int_equal(etw_schema_store_registry_error(store, &guid), -ENOENT);
		assert_int_equal(etw_schema_store_registry_error(store, &unknown), 0);
		assert_int_equal(etw_schema_store_demand_provider(store, &guid, &provider),
				 -ENOENT);
		assert_int_equal(etw_schema_store_demand_provider(store, &unknown, &provider),
				 -ESRCH);
		assert_int_equal(etw_schema_store_damage(store, &fault), 1);
		assert_string_equal(fault.sentence, "a definition in the registry is gone");
	}
	/* An import of the same file mends it. */
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_true(etw_schema_store_look_again(store));
	assert_string_equal(symbol_of(store, 1), "A");
	assert_int_equal(etw_schema_store_registry_error(store, &guid), 0);
	etw_schema_store_free(store);
}

/* Root may read everything, so it is somebody else who asks. */
static void test_registry__a_definition_that_may_not_be_read_is_told(void **state)
{
	const GUID guid = fixture_guid(1);
	struct etw_fault fault = {0};
	struct etw_schema_store *store;
	char command[192];
	uid_t own = geteuid();

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(command, sizeof(command), "chmod 755 %s && chmod 000 %s/definitions/*",
		       fixture_folder, fixture_folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(own ? 0 : seteuid(65534), 0);
	store = open_store();
	assert_null(symbol_of(store, 1));
	assert_int_equal(seteuid(own), 0);
	assert_int_equal(etw_schema_store_registry_error(store, &guid), -EACCES);
	assert_int_equal(etw_schema_store_damage(store, &fault), 1);
	assert_string_equal(fault.sentence, "this user may not read a definition in the registry");
	etw_schema_store_free(store);
}

static void count_complaint(void *context, const char *path, const struct etw_fault *fault)
{
	unsigned *count = context;

	assert_string_equal(path, "/from/here.man");
	assert_string_equal(fault->sentence, "a definition in the registry is gone");
	++*count;
}

static void test_registry__complaints_go_to_who_wants_them(void **state)
{
	struct etw_schema_store *store;
	struct etw_registry *registry;
	unsigned count = 0;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(fixture_import(1, "B"), 0);
	lose_definitions();
	assert_int_equal(etw_schema_store_create(&store), 0);
	assert_int_equal(etw_registry_open(&registry), 0);
	etw_registry_set_complain(registry, count_complaint, &count);
	etw_registry_attach(registry, store);
	assert_null(symbol_of(store, 1));
	assert_null(symbol_of(store, 1));
	assert_int_equal(count, 2);
	assert_int_equal(etw_schema_store_damage(store, NULL), 0);
	etw_schema_store_free(store);
}

/* Whichever allocation fails: there is no wrong answer, and the next question has the right one. */
static void test_registry__want_of_memory_is_not_remembered(void **state)
{
	const EVENT_RECORD record = event_of(1);
	bool has_failed = true;

	(void)state;
	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer's allocator ends the program instead\n");
		skip();
	}
	assert_int_equal(fixture_import(1, "earlier"), 0);
	assert_int_equal(fixture_import(1, "later"), 0);
	for (long i = 1; has_failed; i++) {
		struct etw_schema_store *store = open_store();
		const struct etw_schema *schema;
		enum etw_schema_miss why;

		scarce_begin(i);
		schema = etw_schema_store_find(store, &record, &why);
		has_failed = scarce_end();
		if (schema)
			assert_string_equal(schema->symbol, "later");
		else
			assert_int_equal(why, ETW_SCHEMA_NO_MEMORY);
		assert_true(has_failed || schema);
		assert_string_equal(symbol_of(store, 1), "later");
		assert_int_equal(etw_schema_store_damage(store, NULL), 0);
		etw_schema_store_free(store);
		assert_true(i < 1000);
	}
}

/* Descriptors come back as memory does: neither the index nor a definition is given up for want of one. */
static void test_registry__want_of_descriptors_is_not_remembered(void **state)
{
	struct etw_schema_store *store, *late;
	const GUID guid = fixture_guid(1);
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	store = open_store();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_null(symbol_of(store, 1));
	late = open_store();
	assert_null(symbol_of(late, 1));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(etw_schema_store_registry_error(store, &guid), 0);
	assert_string_equal(symbol_of(store, 1), "A");
	assert_int_equal(etw_schema_store_damage(store, NULL), 0);
	assert_true(etw_schema_store_look_again(late));
	assert_string_equal(symbol_of(late, 1), "A");
	etw_schema_store_free(store);
	etw_schema_store_free(late);
}

static void test_registry__an_import_is_seen_when_it_is_looked_at_again(void **state)
{
	const GUID one = fixture_guid(1), two = fixture_guid(2);
	const struct etw_schema *old;
	const EVENT_RECORD record = event_of(1);
	struct etw_schema_store *store;
	const char *name;

	(void)state;
	store = open_store();
	assert_null(symbol_of(store, 1));
	assert_int_equal(fixture_import(1, "first"), 0);
	assert_null(symbol_of(store, 1));
	assert_true(etw_schema_store_look_again(store));
	assert_false(etw_schema_store_look_again(store));
	assert_string_equal(symbol_of(store, 1), "first");
	old = etw_schema_store_find(store, &record, NULL);
	/* A newer one counts before the one that is in use; what was handed out stays. */
	assert_int_equal(fixture_import(2, "A"), 0);
	assert_int_equal(fixture_import(1, "second"), 0);
	assert_true(etw_schema_store_look_again(store));
	assert_string_equal(symbol_of(store, 1), "second");
	assert_string_equal(old->symbol, "first");
	/* Names outlive the index that they were in. */
	name = etw_schema_store_provider_name(store, &two);
	assert_string_equal(name, "P2");
	assert_int_equal(fixture_import(3, "A"), 0);
	assert_true(etw_schema_store_look_again(store));
	assert_string_equal(name, "P2");
	assert_ptr_equal(etw_schema_store_provider_name(store, &two), name);
	assert_string_equal(etw_schema_store_provider_name(store, &one), "P1");
	etw_schema_store_free(store);
}

/* Definitions that are as they were are not read again. */
static void test_registry__looking_again_takes_no_memory(void **state)
{
	struct etw_schema_store *store;
	size_t bytes;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	store = open_store();
	assert_string_equal(symbol_of(store, 1), "A");
	bytes = etw_arena_bytes(etw_schema_store_arena(store));
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(fixture_import(2, i % 2 ? "A" : "B"), i < 2 ? 0 : 1);
		touch_index();
		assert_true(etw_schema_store_look_again(store));
		assert_string_equal(symbol_of(store, 1), "A");
	}
	assert_int_equal(etw_arena_bytes(etw_schema_store_arena(store)), bytes);
	etw_schema_store_free(store);
}

/* What was taken in stays when it is removed, and a damaged index leaves the one that was read. */
static void test_registry__what_a_store_has_it_keeps(void **state)
{
	struct etw_registry_change *change;
	const GUID one = fixture_guid(1);
	struct etw_schema_store *store;
	char path[128];

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(fixture_import(2, "B"), 0);
	store = open_store();
	assert_string_equal(symbol_of(store, 1), "A");
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_remove(change, &one), 1);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	assert_true(etw_schema_store_look_again(store));
	assert_string_equal(symbol_of(store, 1), "A");
	(void)snprintf(path, sizeof(path), "%s/index", fixture_folder);
	assert_int_equal(unlink(path), 0);
	write_file(path, "damaged");
	assert_false(etw_schema_store_look_again(store));
	assert_string_equal(symbol_of(store, 2), "B");
	etw_schema_store_free(store);
}

/* A program that loads two manifests in turns, whose provider has two names. */
static void test_registry__loans_that_come_again_take_no_memory(void **state)
{
	struct etw_registry_definition definitions[2];
	struct etw_schema_store *store = open_store();
	struct etw_schema_loan loans[2] = {{0}};
	struct etw_registry_item items[2];
	size_t bytes = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(fixture_item(1, "A", &items[i]), 0);
		assert_int_equal(
			etw_registry_definition_parse(&items[i].arena, WIRE_REGISTRY_MANIFEST,
						      items[i].stored, &definitions[i], NULL),
			0);
		definitions[i].definition->providers->name = i ? "Second" : "First";
		loans[i].definition = definitions[i].definition;
	}
	for (unsigned i = 0; i < 1000; i++) {
		const GUID guid = fixture_guid(1);
		struct etw_schema_loan *loan = &loans[i % 2];

		assert_int_equal(etw_schema_store_lend(store, loan), 0);
		assert_string_equal(etw_schema_store_provider_name(store, &guid),
				    i % 2 ? "Second" : "First");
		etw_schema_store_take_back(store, loan);
		if (i == 2)
			bytes = etw_arena_bytes(etw_schema_store_arena(store));
	}
	assert_int_equal(etw_arena_bytes(etw_schema_store_arena(store)), bytes);
	etw_schema_store_free(store);
	for (unsigned i = 0; i < 2; i++)
		etw_registry_item_done(&items[i]);
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
		TEST(test_registry__an_empty_machine_has_none),
		TEST(test_registry__is_asked_when_nobody_else_knows),
		TEST(test_registry__the_latest_import_counts),
		TEST(test_registry__a_changed_definition_is_damage),
		TEST(test_registry__trouble_leaves_it_out),
		TEST(test_registry__a_lost_definition_is_told_and_remembered),
		TEST(test_registry__a_definition_that_may_not_be_read_is_told),
		TEST(test_registry__complaints_go_to_who_wants_them),
		TEST(test_registry__want_of_memory_is_not_remembered),
		TEST(test_registry__want_of_descriptors_is_not_remembered),
		TEST(test_registry__an_import_is_seen_when_it_is_looked_at_again),
		TEST(test_registry__looking_again_takes_no_memory),
		TEST(test_registry__what_a_store_has_it_keeps),
		TEST(test_registry__loans_that_come_again_take_no_memory),
		TEST(test_registry__a_removed_provider_stays_away_though_its_file_is_there),
		TEST(test_registry__a_loan_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
