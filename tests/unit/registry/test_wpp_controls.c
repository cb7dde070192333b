/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "fixture.h"
#include "registry/wpp_controls.h"
#include "synthetic/pdb_maker.h"

#define CONTROL "11112223-3333-4444-5555-000000000000" /* fixture_guid(1) */
#define OTHER   "11112224-3333-4444-5555-000000000000"

static struct etw_arena arena;
static struct etw_definition *definition;

static int begin(void **state)
{
	definition = NULL;
	return fixture_begin(state);
}

static int end(void **state)
{
	etw_arena_done(&arena);
	return fixture_end(state);
}

static void read_text(const char *text, size_t bytes)
{
	assert_int_equal(
		etw_registry_controls_read(&arena, (struct etw_bytes){(const uint8_t *)text, bytes},
					   &definition),
		0);
}

static void test_wpp_controls__what_is_written_is_read(void **state)
{
	const struct etw_named flags[] = {{.value = 1, .name = "INIT"},
					  {.value = 2, .name = "READ\nWRITE"}};
	const struct etw_provider_schema controls[] = {
		{.guid = fixture_guid(1), .name = "Driver", .keywords = flags, .keyword_count = 2},
		{.guid = fixture_guid(2), .name = ""},
	};
	struct etw_text text = {0};

	(void)state;
	etw_registry_controls_write(controls, ARRAY_SIZE(controls), &text);
	read_text(etw_text_string(&text), text.bytes);
	etw_text_done(&text);
	assert_non_null(definition);
	assert_int_equal(definition->provider_count, 2);
	assert_true(etw_guid_equal(&definition->providers[0].guid, &controls[0].guid));
	assert_string_equal(definition->providers[0].name, "Driver");
	assert_int_equal(definition->providers[0].keyword_count, 2);
	assert_int_equal(definition->providers[0].keywords[1].value, 2);
	assert_string_equal(definition->providers[0].keywords[0].name, "INIT");
	assert_string_equal(definition->providers[0].keywords[1].name, "READ WRITE");
	assert_string_equal(definition->providers[1].name, "");
	assert_int_equal(definition->providers[1].keyword_count, 0);
}

static void test_wpp_controls__what_is_none_is_passed_over(void **state)
{
	static const char text[] = "// TMC: nothing\n// TMC_FLAG: nobody's\n// TMC:\nTMC\n"
				   "// TMC: 11112223-3333-4444-5555-00000000000x X\n\n// TMC: ";

	(void)state;
	read_text(text, sizeof(text) - 1);
	assert_null(definition);
	read_text("", 0);
	assert_null(definition);
}

/* As in a TMF file of another code page, with line ends of Windows. */
static void test_wpp_controls__names_are_utf_8(void **state)
{
	static const char text[] = "// TMC: " CONTROL " Gr\xfc\xdf"
				   "e\r\n// TMC_FLAG: Gr\xc3\xbc\xc3\x9f"
				   "e\r\n";

	(void)state;
	read_text(text, sizeof(text) - 1);
	assert_non_null(definition);
	assert_string_equal(definition->providers[0].name, "Gr\xc3\xbc\xc3\x9f"
							   "e");
	assert_string_equal(definition->providers[0].keywords[0].name, "Gr\xc3\xbc\xc3\x9f"
								       "e");
}

static void test_wpp_controls__stops_at_its_limits(void **state)
{
	struct etw_text text = {0};

	(void)state;
	etw_text_puts(&text, "// TMC: " CONTROL " First\n");
	for (unsigned i = 0; i < ETW_PDB_CONTROL_FLAGS_MAX + 1; i++)
		etw_text_puts(&text, "// TMC_FLAG: F\n");
	for (unsigned i = 0; i < ETW_PDB_CONTROLS_MAX; i++)
		etw_text_puts(&text, "// TMC: " CONTROL " Other\n");
	read_text(etw_text_string(&text), text.bytes);
	etw_text_done(&text);
	assert_int_equal(definition->provider_count, ETW_PDB_CONTROLS_MAX);
	assert_int_equal(definition->providers[0].keyword_count, ETW_PDB_CONTROL_FLAGS_MAX);
	assert_int_equal(definition->providers[0].keywords[ETW_PDB_CONTROL_FLAGS_MAX - 1].value,
			 UINT64_C(1) << (ETW_PDB_CONTROL_FLAGS_MAX - 1));
}

/* A PDB with the control GUID and flags of a component, and a message or none. */
static void write_pdb(const char *path, bool has_message)
{
	static const char *const control[] = {"TMC:", CONTROL, "Driver", "INIT", "IO", NULL};
	static const char *const other[] = {"TMC:", OTHER, "Other", "NOISE", NULL};
	static const char *const message[] = {
		"TMF:",
		"21112223-3333-4444-5555-000000000000 driver // SRC=a.c MJ= MN=",
		"#typev a_c10 10 \"%0hello\" // LEVEL=NOISE FLAGS=INIT",
		"{",
		"}",
		NULL};
	const GUID guid = fixture_guid(100);
	struct pdb_maker maker = {0};
	FILE *file = fopen(path, "we");
	size_t bytes;
	uint8_t *at;

	pdb_begin(&maker, &guid, 1);
	pdb_add_module(&maker);
	pdb_add_annotation(&maker, other);
	pdb_add_annotation(&maker, control);
	if (has_message)
		pdb_add_annotation(&maker, message);
	pdb_end_modules(&maker);
	at = pdb_finish(&maker, &bytes);
	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
	free(at);
	pdb_drop(&maker);
}

/* The message of write_pdb() and who enables it, by its flag. */
static void check_message(struct etw_schema_store *store)
{
	EVENT_RECORD record = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE}};
	const GUID control = fixture_guid(1);
	const struct etw_schema *schema;

	assert_int_equal(etw_guid_parse("21112223-3333-4444-5555-000000000000",
					&record.EventHeader.ProviderId),
			 0);
	record.EventHeader.EventDescriptor.Id = 10;
	schema = etw_schema_store_find(store, &record, NULL);
	assert_non_null(schema);
	assert_non_null(schema->owner);
	assert_true(etw_guid_equal(&schema->owner->guid, &control));
	assert_ptr_equal(schema->wpp->control, schema->owner);
}

static void check_pdb(bool has_message)
{
	const GUID control = fixture_guid(1);
	const struct etw_provider_schema *provider = NULL;
	struct etw_registry_change *change;
	struct etw_registry_item item;
	struct etw_schema_store *store;
	struct etw_registry *registry;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/driver.pdb", fixture_folder);
	write_pdb(path, has_message);
	assert_int_equal(etw_registry_item_read(path, NULL, &item, NULL), 0);
	assert_int_equal(item.event_count, has_message);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_add(change, &item), 0);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	etw_registry_item_done(&item);
	assert_int_equal(etw_schema_store_create(&store), 0);
	assert_int_equal(etw_registry_open(&registry), 0);
	etw_registry_attach(registry, store);
	if (has_message)
		check_message(store);
	assert_int_equal(etw_schema_store_demand_provider(store, &control, &provider), 0);
	assert_int_equal(provider->source, DecodingSourceWPP);
	assert_string_equal(provider->name, "Driver");
	assert_int_equal(provider->keyword_count, 2);
	assert_string_equal(provider->keywords[1].name, "IO");
	etw_schema_store_free(store);
}

static void test_wpp_controls__flags_of_a_pdb_are_kept(void **state)
{
	(void)state;
	check_pdb(/* has_message= */ true);
}

static void test_wpp_controls__a_pdb_without_messages_is_taken(void **state)
{
	(void)state;
	check_pdb(/* has_message= */ false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wpp_controls__what_is_written_is_read, begin,
						end),
		cmocka_unit_test_setup_teardown(test_wpp_controls__what_is_none_is_passed_over,
						begin, end),
		cmocka_unit_test_setup_teardown(test_wpp_controls__names_are_utf_8, begin, end),
		cmocka_unit_test_setup_teardown(test_wpp_controls__stops_at_its_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_wpp_controls__flags_of_a_pdb_are_kept, begin,
						end),
		cmocka_unit_test_setup_teardown(test_wpp_controls__a_pdb_without_messages_is_taken,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
