/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store.h"
#include "schema/wpp/tmf.h"
#include "synthetic/wpp_messages.h"
#include "unit/schema/made_pdb.h"

static const char *const message_10[] = {
	"TMF:",
	SECTION,
	"#typev File_c7 10 \"%0 a=%10!d!\" //   LEVEL=L FLAGS=BIT_B",
	"{",
	"a, ItemLong -- 10",
	"}",
	NULL};
static const char *const message_11[] = {
	"TMF:", SECTION, "#typev File_c9 11 \"%0 plain\" //   LEVEL=L FLAGS=OTHER", "{", "}", NULL};
static const char *const control_one[] = {
	"TMC:", "586aa8b1-53a6-404f-9b3e-14483e514a2c", "OneTraceGuid", "BIT_A", "BIT_B", NULL};
static const char *const control_two[] = {"TMC:", "686aa8b1-53a6-404f-9b3e-14483e514a2c",
					  "TwoTraceGuid", "BIT_C", NULL};

static void refuse(const char *structure, const char *sentence)
{
	assert_int_equal(read_made(), -EBADMSG);
	assert_string_equal(fault.structure, structure);
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_pdb__identity(void **state)
{
	(void)state;
	read_modules();
	assert_memory_equal(&pdb.guid, &pdb_guid, sizeof(GUID));
	assert_int_equal(pdb.age, 3);
	assert_int_equal(pdb.messages.count, 0);
	assert_int_equal(pdb.control_count, 0);
	assert_int_equal(pdb.damage_count, 0);
}

static void test_pdb__without_dbi_stream(void **state)
{
	(void)state;
	free(maker.streams[3].at);
	maker.streams[3] = (struct pdb_stream){0};
	assert_int_equal(read_made(), 0);
	assert_int_equal(pdb.age, 10);
}

static void check_procedure(uint16_t kind)
{
	pdb_drop(&maker);
	pdb_begin(&maker, &pdb_guid, 3);
	pdb_add_module(&maker);
	pdb_add_annotation(&maker, message_11);
	pdb_add_procedure(&maker, kind, "DriverEntry");
	pdb_add_annotation(&maker, message_10);
	pdb_end_procedure(&maker);
	read_modules();
	assert_int_equal(pdb.damage_count, 0);
	assert_int_equal(pdb.messages.count, 2);
	assert_null(pdb.messages.at[0]->function);
	assert_string_equal(pdb.messages.at[1]->function, "DriverEntry");
	assert_string_equal(pdb.messages.at[1]->text, "%0 a=%10!d!");
	assert_int_equal(pdb.messages.at[1]->argument_count, 1);
}

static void test_pdb__the_enclosing_procedure_is_the_function(void **state)
{
	static const uint16_t kinds[] = {0x110F, 0x1110, 0x1146, 0x1147, 0x1155, 0x1156};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		check_procedure(kinds[i]);
}

/* However many messages stand in a function of a long name, their names are not much longer than the file. */
static void test_pdb__names_of_functions_are_in_proportion(void **state)
{
	char name[4001], line[64];
	const char *const strings[] = {"TMF:", SECTION, line, "{", "}", NULL};
	size_t named = 0;

	(void)state;
	memset(name, 'f', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	pdb_add_module(&maker);
	pdb_add_procedure(&maker, 0x1110, name);
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(line, sizeof(line), "#typev a %u \"x\"", i);
		pdb_add_annotation(&maker, strings);
	}
	pdb_end_procedure(&maker);
	read_modules();
	assert_int_equal(pdb.messages.count, 100);
	for (size_t i = 0; i < 100; i++)
		named += pdb.messages.at[i]->function != NULL;
	assert_in_range(named, 10, 50);
	assert_string_equal(pdb.messages.at[0]->function, name);
	assert_null(pdb.messages.at[99]->function);
	check_damage(100 - named, "the names of the functions are out of proportion to the file");
}

static void test_pdb__a_procedure_ends(void **state)
{
	(void)state;
	pdb_add_module(&maker);
	pdb_add_procedure(&maker, 0x1110, "f");
	pdb_end_procedure(&maker);
	pdb_add_annotation(&maker, message_10);
	read_modules();
	assert_null(pdb.messages.at[0]->function);
}

static void test_pdb__several_modules_in_scattered_blocks(void **state)
{
	char long_text[1500];
	const char *const big[] = {"TMF:", SECTION, long_text, "{", "}", NULL};

	(void)state;
	maker.is_scattered = true;
	memset(long_text, 'x', sizeof(long_text) - 1);
	memcpy(long_text, "#typev a 12 \"", 13);
	memcpy(long_text + sizeof(long_text) - 2, "\"", 2);
	add_annotated("one", message_10);
	add_annotated("two", big);
	add_annotated("three", message_11);
	read_modules();
	assert_int_equal(pdb.messages.count, 3);
	assert_string_equal(pdb.messages.at[1]->function, "two");
	assert_int_equal(strlen(pdb.messages.at[1]->text), 1500 - 13 - 2);
	assert_string_equal(pdb.messages.at[2]->function, "three");
}

static void test_pdb__a_message_counts_once(void **state)
{
	(void)state;
	add_annotated("one", message_10);
	add_annotated("two", message_10);
	read_modules();
	assert_int_equal(pdb.messages.count, 1);
	assert_string_equal(pdb.messages.at[0]->function, "one");
}

static void test_pdb__controls_and_their_flags(void **state)
{
	(void)state;
	add_annotated("one", control_one);
	add_annotated("two", control_two);
	add_annotated("three", control_one);
	add_annotated("four", message_10);
	add_annotated("five", message_11);
	read_modules();
	assert_int_equal(pdb.control_count, 2);
	assert_string_equal(pdb.controls[0].name, "OneTraceGuid");
	assert_int_equal(pdb.controls[0].guid.Data1, 0x586aa8b1);
	assert_int_equal(pdb.controls[0].source, DecodingSourceWPP);
	assert_int_equal(pdb.controls[0].keyword_count, 2);
	assert_string_equal(pdb.controls[0].keywords[1].name, "BIT_B");
	assert_int_equal(pdb.controls[0].keywords[1].value, 2);
	assert_ptr_equal(pdb.messages.at[0]->control, &pdb.controls[0]);
	assert_null(pdb.messages.at[1]->control);
}

static void test_pdb__the_only_control_enables_all(void **state)
{
	(void)state;
	add_annotated("one", control_one);
	add_annotated("two", message_11);
	read_modules();
	assert_ptr_equal(pdb.messages.at[0]->control, &pdb.controls[0]);
}

static void test_pdb__line_feeds_in_annotations(void **state)
{
	const char *const strings[] = {"TMF:",
				       "01e9b841-7d67-315a-7b92-23b2033356de A\nB // SRC=F.c",
				       "#typev a 10 \"x\ny\"",
				       "{",
				       "a\nb, ItemLong -- 10",
				       "}",
				       NULL};

	(void)state;
	add_annotated("f", strings);
	read_modules();
	assert_int_equal(pdb.messages.count, 1);
	assert_string_equal(pdb.messages.at[0]->module, "A B");
	assert_string_equal(pdb.messages.at[0]->text, "x\ny");
	assert_string_equal(pdb.messages.at[0]->arguments[0].expression, "a b");
}

static void test_pdb__foreign_annotations_are_passed_over(void **state)
{
	const char *const strings[] = {"SAL_something", "x", NULL};
	const char *const nothing[] = {NULL};

	(void)state;
	add_annotated("f", strings);
	add_annotated("f", nothing);
	read_modules();
	assert_int_equal(pdb.messages.count, 0);
	assert_int_equal(pdb.damage_count, 0);
}

static void test_pdb__damaged_annotations_cost_themselves(void **state)
{
	const char *const bad[] = {"TMF:", SECTION, "#typev a x", NULL};
	const char *const open[] = {"TMF:", SECTION, "#typev a 10 \"x\"", "{", NULL};

	(void)state;
	add_annotated("f", bad);
	add_annotated("g", open);
	add_annotated("h", message_11);
	read_modules();
	check_damage(2, "a message has no number below 65536");
	assert_int_equal(pdb.messages.count, 1);
	assert_string_equal(pdb.messages.at[0]->function, "h");
}

static void test_pdb__each_annotation_has_its_section(void **state)
{
	const char *const bare[] = {"TMF:", "#typev a 12 \"x\"", "{", "}", NULL};

	(void)state;
	add_annotated("f", message_10);
	add_annotated("g", bare);
	add_annotated("h", message_11);
	read_modules();
	check_damage(1, "a message stands before the GUID of its section");
	assert_int_equal(pdb.messages.count, 2);
	assert_string_equal(pdb.messages.at[1]->module, "Mod");
}

static void test_pdb__line_feeds_in_names(void **state)
{
	(void)state;
	add_annotated("f\r\ng", message_10);
	read_modules();
	assert_string_equal(pdb.messages.at[0]->function, "f  g");
}

static void test_pdb__an_open_annotation(void **state)
{
	const char *const open[] = {"TMF:", SECTION, "#typev a 10 \"x\"", "{", NULL};

	(void)state;
	add_annotated("g", open);
	read_modules();
	check_damage(1, "an annotation ends within its message");
}

static void test_pdb__a_control_without_guid(void **state)
{
	const char *const bad[] = {"TMC:", "586aa8b1", "Name", NULL};

	(void)state;
	add_annotated("f", bad);
	read_modules();
	check_damage(1, "a control annotation has no GUID and name");
	assert_int_equal(pdb.control_count, 0);
}

static void test_pdb__a_control_of_too_many_flags(void **state)
{
	const char *strings[3 + 65 + 1] = {"TMC:", "586aa8b1-53a6-404f-9b3e-14483e514a2c", "N"};

	(void)state;
	for (unsigned i = 3; i < 68; i++)
		strings[i] = "FLAG";
	add_annotated("f", strings);
	read_modules();
	check_damage(1, "a control GUID has more than 64 flags");
	assert_int_equal(pdb.controls[0].keyword_count, 64);
}

static void test_pdb__too_many_controls(void **state)
{
	(void)state;
	pdb_add_module(&maker);
	for (unsigned i = 0; i < 257; i++) {
		char guid[40];
		const char *const strings[] = {"TMC:", guid, "N", NULL};

		(void)snprintf(guid, sizeof(guid), "%08x-53a6-404f-9b3e-14483e514a2c", i);
		pdb_add_annotation(&maker, strings);
	}
	read_modules();
	check_damage(1, "there are more than 256 control GUIDs");
	assert_int_equal(pdb.control_count, 256);
}

static void test_pdb__a_symbol_beyond_its_module(void **state)
{
	(void)state;
	add_annotated("f", message_10);
	pdb_u32(&maker, PDB_FIRST_MODULE, 0x10191000);
	read_modules();
	check_damage(1, "a symbol is shorter than its head or reaches beyond its module");
	assert_int_equal(pdb.messages.count, 1);
}

static void test_pdb__a_symbol_shorter_than_its_head(void **state)
{
	(void)state;
	add_annotated("f", message_10);
	pdb_u32(&maker, PDB_FIRST_MODULE, 0x10190001);
	read_modules();
	check_damage(1, "a symbol is shorter than its head or reaches beyond its module");
}

static void test_pdb__a_module_of_another_format(void **state)
{
	(void)state;
	add_annotated("f", message_10);
	etw_store32(maker.streams[PDB_FIRST_MODULE].at, 2);
	read_modules();
	check_damage(1, "a module's symbols are of an unknown format");
}

static void test_pdb__a_module_whose_stream_is_not_there(void **state)
{
	(void)state;
	add_annotated("f", message_10);
	pdb_end_modules(&maker);
	etw_store16(maker.streams[3].at + 64 + 34, 99);
	assert_int_equal(read_made(), 0);
	check_damage(1, "a module names a stream that does not exist");
}

static void test_pdb__symbols_beyond_their_stream(void **state)
{
	(void)state;
	add_annotated("f", message_10);
	pdb_end_modules(&maker);
	etw_store32(maker.streams[3].at + 64 + 36, 100000);
	assert_int_equal(read_made(), 0);
	check_damage(1, "a module's symbols reach beyond its stream");
}

static void test_pdb__a_stream_is_walked_once(void **state)
{
	const char *const bad[] = {"TMC:", "586aa8b1", "Name", NULL};

	(void)state;
	add_annotated("f", bad);
	add_annotated("g", message_10);
	pdb_end_modules(&maker);
	etw_store16(maker.streams[3].at + 64 + 84 + 34, PDB_FIRST_MODULE);
	assert_int_equal(read_made(), 0);
	assert_int_equal(pdb.damage_count, 1);
	assert_int_equal(pdb.messages.count, 0);
}

static void test_pdb__refusals(void **state)
{
	(void)state;
	maker.streams[1].bytes = 27;
	refuse("PDB stream", "the file has no PDB stream of 28 bytes");
	(void)begin(NULL);
	maker.stream_count = 1;
	refuse("PDB stream", "the file has no PDB stream of 28 bytes");
	(void)begin(NULL);
	maker.streams[3].bytes = 63;
	refuse("DBI stream", "the stream ends within its header");
	(void)begin(NULL);
	etw_store32(maker.streams[3].at, 1);
	refuse("DBI stream", "the stream is of an unknown format");
	(void)begin(NULL);
	etw_store32(maker.streams[3].at + 24, 1);
	refuse("DBI stream", "the list of modules reaches beyond its stream");
	(void)begin(NULL);
	pdb_fill(&maker, 3, 65);
	maker.streams[3].at[64 + 64] = 'x';
	etw_store32(maker.streams[3].at + 24, 65);
	refuse("module list", "a module ends outside the list");
	(void)begin(NULL);
	pdb_fill(&maker, 3, 63);
	etw_store32(maker.streams[3].at + 24, 63);
	refuse("module list", "a module ends outside the list");
}

static void test_pdb__the_container_is_refused(void **state)
{
	static const uint8_t bytes[64] = {'M', 'Z'};

	(void)state;
	assert_int_equal(etw_pdb_read(&arena, (struct etw_bytes){bytes, 64}, &pdb, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, "the file is no MSF 7.00 file");
}

static void test_pdb__a_store_learns_it(void **state)
{
	const char *const bad[] = {"TMF:", SECTION, "#typev a x", NULL};
	const EVENT_RECORD record = {
		.EventHeader = {.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE,
				.ProviderId = {0x01e9b841,
					       0x7d67,
					       0x315a,
					       {0x7b, 0x92, 0x23, 0xb2, 0x03, 0x33, 0x56, 0xde}},
				.EventDescriptor = {.Id = 10}}};
	struct etw_schema_store *store;
	const struct etw_schema *schema;
	uint8_t *file;
	size_t bytes;

	(void)state;
	add_annotated("f", control_one);
	add_annotated("g", message_10);
	add_annotated("h", bad);
	add_annotated("i", bad);
	pdb_end_modules(&maker);
	file = pdb_finish(&maker, &bytes);
	assert_int_equal(etw_schema_store_create(&store), 0);
	assert_int_equal(etw_schema_store_add_pdb(store, file, bytes, &fault), 0);
	assert_int_equal(etw_schema_store_add_pdb(store, file, 10, &fault), -EBADMSG);
	free(file);
	assert_int_equal(etw_schema_store_damage(store, NULL), 2);
	schema = etw_schema_store_find(store, &record, NULL);
	assert_non_null(schema);
	assert_string_equal(schema->wpp->function, "g");
	assert_int_equal(schema->field_count, 1);
	assert_string_equal(schema->owner->name, "OneTraceGuid");
	assert_string_equal(etw_schema_store_provider_name(store, &schema->owner->guid),
			    "OneTraceGuid");
	etw_schema_store_free(store);
}

/* The symbols that a genuine PDB was dumped as, put into a PDB again. */
static bool rebuild(FILE *dump)
{
	char line[4096], texts[40][1024];
	const char *strings[41];
	unsigned count = 0;
	bool is_open = false;

	while (fgets(line, sizeof(line), dump)) {
		const char *name = strrchr(line, ',');

		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "** Module: ", 11) && maker.stream_count < PDB_STREAMS_MAX) {
			pdb_add_module(&maker);
			is_open = false;
		} else if (strstr(line, " S_GPROC32: [") && name) {
			pdb_add_procedure(&maker, 0x1110, name + 2);
			is_open = true;
		} else if (strstr(line, " S_END") && line[9] == 'S' && is_open) {
			pdb_end_procedure(&maker);
			is_open = false;
		}
		/* "              1: "TMF:"" */
		if (!strncmp(line, "      ", 6) && strstr(line, ": \"") && count < 40 &&
		    line[strlen(line) - 1] == '"') {
			const char *from = strstr(line, ": \"") + 3;

			(void)snprintf(texts[count], sizeof(texts[count]), "%.*s",
				       (int)strlen(from) - 1, from);
			strings[count] = texts[count];
			count++;
		} else if (count) {
			strings[count] = NULL;
			if (maker.module_count)
				pdb_add_annotation(&maker, strings);
			count = 0;
		}
	}
	return maker.module_count > 0;
}

static const struct etw_wpp_message *find_message(const struct etw_wpp_message *wanted)
{
	for (size_t i = 0; i < pdb.messages.count; i++) {
		const struct etw_wpp_message *message = pdb.messages.at[i];

		if (message->number == wanted->number &&
		    etw_guid_equal(&message->guid, &wanted->guid))
			return message;
	}
	return NULL;
}

/* What tracepdb made of the same program, FUNC= included. */
static void check_against_tmf(const char *data, const char *guid)
{
	struct etw_wpp_messages messages;
	char name[64], *text;
	size_t bytes;

	(void)snprintf(name, sizeof(name), "%s.tmf", guid);
	text = wpp_read_tmf(data, name, &bytes);
	assert_int_equal(etw_tmf_parse(&arena, text, bytes, &messages, &fault), 0);
	free(text);
	for (size_t i = 0; i < messages.count; i++) {
		const struct etw_wpp_message *wanted = messages.at[i];
		const struct etw_wpp_message *message = find_message(wanted);

		assert_non_null(message);
		wpp_check_same(message, wanted);
	}
	print_message("%s: %zu messages agree\n", guid, messages.count);
}

static void test_pdb__annotations_of_a_genuine_file(void **state)
{
	const char *data = getenv("ETW_TEST_DATA");
	char path[4096];
	size_t with_function = 0;
	FILE *dump;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/tmf/snapshots/BthPS3PSM.pdb-cvdump.txt",
		       data ? data : "");
	dump = data ? fopen(path, "re") : NULL;
	if (!dump) {
		print_message("skipped: ETW_TEST_DATA names no folder of genuine files\n");
		skip();
	}
	assert_true(rebuild(dump));
	(void)fclose(dump);
	read_modules();
	for (size_t i = 0; i < pdb.messages.count; i++)
		with_function += pdb.messages.at[i]->function != NULL;
	print_message("%zu messages, %zu of them in a function, %zu control GUIDs\n",
		      pdb.messages.count, with_function, pdb.control_count);
	assert_int_equal(pdb.damage_count, 0);
	assert_int_equal(pdb.messages.count, with_function);
	assert_true(pdb.messages.count > 40);
	assert_int_equal(pdb.control_count, 1);
	assert_string_equal(pdb.controls[0].name, "BthPS3PSMTraceGuid");
	assert_int_equal(pdb.controls[0].keyword_count, 7);
	check_against_tmf(data, "ca66b9c0-97d7-3776-3daf-3296492866aa");
	check_against_tmf(data, "324ed36d-6949-3aa1-d581-3e2dc9652ec2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pdb__identity, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__without_dbi_stream, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__names_of_functions_are_in_proportion,
						begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__the_enclosing_procedure_is_the_function,
						begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_procedure_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__several_modules_in_scattered_blocks,
						begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_message_counts_once, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__controls_and_their_flags, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__the_only_control_enables_all, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__line_feeds_in_annotations, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__foreign_annotations_are_passed_over,
						begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__damaged_annotations_cost_themselves,
						begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__each_annotation_has_its_section, begin,
						end),
		cmocka_unit_test_setup_teardown(test_pdb__line_feeds_in_names, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__an_open_annotation, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_control_without_guid, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_control_of_too_many_flags, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__too_many_controls, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_symbol_beyond_its_module, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_symbol_shorter_than_its_head, begin,
						end),
		cmocka_unit_test_setup_teardown(test_pdb__a_module_of_another_format, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_module_whose_stream_is_not_there, begin,
						end),
		cmocka_unit_test_setup_teardown(test_pdb__symbols_beyond_their_stream, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_stream_is_walked_once, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__the_container_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__a_store_learns_it, begin, end),
		cmocka_unit_test_setup_teardown(test_pdb__annotations_of_a_genuine_file, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
