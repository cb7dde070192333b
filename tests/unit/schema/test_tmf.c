/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/wpp/tmf.h"
#include "synthetic/wpp_messages.h"

#define HEADER "01e9b841-7d67-315a-7b92-23b2033356de Mod // SRC=File.c MJ= MN=\n"
#define EMPTY  "{\n}\n"

static struct etw_arena arena;
static struct etw_wpp_messages messages;
static struct etw_fault fault;

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	messages = (struct etw_wpp_messages){0};
	fault = (struct etw_fault){0};
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

static int parse_bytes(const char *text, size_t bytes)
{
	/* Memory of exactly the text's size: a sanitizer sees a read beyond it. */
	char *copy = malloc(bytes ? bytes : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, text, bytes);
	r = etw_tmf_parse(&arena, copy, bytes, &messages, &fault);
	free(copy);
	return r;
}

static void parse(const char *text)
{
	int r = parse_bytes(text, strlen(text));

	if (r < 0)
		print_error("line %d: %s\n", (int)fault.offset, fault.sentence);
	assert_int_equal(r, 0);
}

static const struct etw_wpp_message *parse_one(const char *text)
{
	parse(text);
	assert_int_equal(messages.count, 1);
	return messages.at[0];
}

static void refuse(const char *text, uint64_t line, const char *sentence)
{
	assert_int_equal(parse_bytes(text, strlen(text)), -EBADMSG);
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(fault.offset, line);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_tmf__everything_of_a_message(void **state)
{
	const struct etw_wpp_message *message = parse_one(
		"// PDB:  a.pdb\r\n"
		"01e9b841-7d67-315a-7b92-23b2033356de My Module // SRC=L2CAP.c MJ=Comp MN=Sub\r\n"
		"#typev L2CAP_c141 15 \"%0 [%!FUNC!] a=%10!d!\" //   LEVEL=TRACE_LEVEL_ERROR "
		"FLAGS=TRACE_L2CAP FUNC=Class<int, 3>::operator()\r\n"
		"{\r\n"
		"f(a, \"x, y\"), ItemListByte(Low,APC, DPC) -- 10\r\n"
		"status, ItemNTSTATUS -- 11\r\n"
		"}\r\n");
	char guid[ETW_GUID_BARE_BYTES];

	(void)state;
	etw_guid_format(&message->guid, guid);
	assert_string_equal(guid, "01e9b841-7d67-315a-7b92-23b2033356de");
	assert_int_equal(message->number, 15);
	assert_int_equal(message->line, 141);
	assert_string_equal(message->module, "My Module");
	assert_string_equal(message->type_name, "L2CAP_c141");
	assert_string_equal(message->source_file, "L2CAP.c");
	assert_string_equal(message->component, "Comp");
	assert_string_equal(message->subcomponent, "Sub");
	assert_string_equal(message->level, "TRACE_LEVEL_ERROR");
	assert_string_equal(message->flags, "TRACE_L2CAP");
	assert_string_equal(message->function, "Class<int, 3>::operator()");
	assert_string_equal(message->text, "%0 [%!FUNC!] a=%10!d!");
	assert_int_equal(message->argument_count, 2);
	assert_string_equal(message->arguments[0].expression, "f(a, \"x, y\")");
	assert_string_equal(message->arguments[0].item_name, "ItemListByte");
	assert_string_equal(message->arguments[0].list, "Low,APC, DPC");
	assert_int_equal(message->arguments[0].item, ETW_WPP_LIST_BYTE);
	assert_int_equal(message->arguments[0].names->count, 3);
	assert_string_equal(message->arguments[0].names->entries[2].text, "DPC");
	assert_int_equal(message->arguments[1].number, 11);
	assert_int_equal(message->arguments[1].item, ETW_WPP_NTSTATUS);
}

static void test_tmf__absent_parts_are_null(void **state)
{
	const struct etw_wpp_message *message =
		parse_one("01e9b841-7d67-315a-7b92-23b2033356de\n#type odd 0 \"\"\n" EMPTY);

	(void)state;
	assert_null(message->module);
	assert_null(message->source_file);
	assert_null(message->component);
	assert_null(message->level);
	assert_null(message->function);
	assert_string_equal(message->text, "");
	assert_int_equal(message->line, 0);
	assert_int_equal(message->argument_count, 0);
}

static void test_tmf__an_empty_comment_is_no_part_of_the_module(void **state)
{
	const struct etw_wpp_message *message = parse_one(
		"01e9b841-7d67-315a-7b92-23b2033356de Mod //\n#typev a_c1 10 \"x\" //\n" EMPTY);

	(void)state;
	assert_string_equal(message->module, "Mod");
}

static void test_tmf__escapes_and_quotes_within_the_text(void **state)
{
	const struct etw_wpp_message *message = parse_one(
		HEADER
		"#typev a_c1 10 \"say \\\"x\\\" \"y\" c:\\\\d\\q\\n\\t\" // LEVEL=1\n" EMPTY);

	(void)state;
	assert_string_equal(message->text, "say \"x\" \"y\" c:\\d\\q\n\t");
	assert_string_equal(message->level, "1");
}

static void test_tmf__attributes_in_other_spellings(void **state)
{
	const struct etw_wpp_message *message = parse_one(
		HEADER "#typev a_c1 10 \"x\" // FUNC=f Flag=A | B noise=1 level=2\n" EMPTY);

	(void)state;
	assert_string_equal(message->function, "f");
	assert_string_equal(message->flags, "A | B");
	assert_string_equal(message->level, "2");
}

static void test_tmf__several_sections(void **state)
{
	(void)state;
	parse(HEADER "#typev a_c1 10 \"x\"\n" EMPTY "\n// between\n"
		     "028f1450-e0d5-3b03-31cd-6226d77778f9 Two // SRC=b.c\n"
		     "#typev b_c1 10 \"y\"\n" EMPTY);
	assert_int_equal(messages.count, 2);
	assert_string_equal(messages.at[0]->module, "Mod");
	assert_string_equal(messages.at[1]->module, "Two");
	assert_int_equal(messages.at[1]->guid.Data1, 0x028f1450);
}

static void test_tmf__lines_of_type_names(void **state)
{
	(void)state;
	parse(HEADER "#typev a_c141 10 \"x\"\n" EMPTY "#typev a_7 11 \"x\"\n" EMPTY
		     "#typev a7 12 \"x\"\n" EMPTY "#typev a_c99999999999 13 \"x\"\n" EMPTY
		     "#typev 5 14 \"x\"\n" EMPTY);
	assert_int_equal(messages.at[0]->line, 141);
	assert_int_equal(messages.at[1]->line, 7);
	assert_int_equal(messages.at[2]->line, 0);
	assert_int_equal(messages.at[3]->line, 0);
	assert_int_equal(messages.at[4]->line, 0);
}

static void test_tmf__items(void **state)
{
	static const struct {
		const char *name;
		enum etw_wpp_item item;
	} cases[] = {
		{"ItemChar", ETW_WPP_CHAR},
		{"ItemUChar", ETW_WPP_UCHAR},
		{"ItemShort", ETW_WPP_SHORT},
		{"ItemLong", ETW_WPP_LONG},
		{"ItemLongLong", ETW_WPP_LONGLONG},
		{"ItemULongLong", ETW_WPP_ULONGLONG},
		{"ItemLongLongX", ETW_WPP_LONGLONG_HEX},
		{"ItemLongLongXX", ETW_WPP_LONGLONG_HEX},
		{"ItemLongLongO", ETW_WPP_LONGLONG_OCTAL},
		{"ItemDouble", ETW_WPP_DOUBLE},
		{"ItemPtr", ETW_WPP_POINTER},
		{"ItemRString", ETW_WPP_STRING},
		{"ItemRWString", ETW_WPP_WSTRING},
		{"ItemPString", ETW_WPP_COUNTED_STRING},
		{"ItemPWString", ETW_WPP_COUNTED_WSTRING},
		{"ItemCLSID", ETW_WPP_GUID},
		{"ItemIPAddr", ETW_WPP_IPV4},
		{"ItemTimeStamp", ETW_WPP_TIMESTAMP},
		{"ItemTimestamp", ETW_WPP_TIMESTAMP},
		{"ItemHexDump", ETW_WPP_HEX_DUMP},
		{"ItemSrb", ETW_WPP_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256];

		(void)snprintf(text, sizeof(text),
			       HEADER "#typev a_c1 10 \"x\"\n{\nx, %s -- 10\n}\n", cases[i].name);
		assert_int_equal(parse_one(text)->arguments[0].item, cases[i].item);
		assert_string_equal(messages.at[0]->arguments[0].item_name, cases[i].name);
	}
}

static void test_tmf__sets_have_a_bit_for_each_name(void **state)
{
	const struct etw_wpp_argument *argument =
		parse_one(HEADER "#typev a_c1 10 \"x\"\n{\nx, "
				 "ItemSetByte(a,b,c,d,e,f,g,h,beyond) -- 10\n}\n")
			->arguments;

	(void)state;
	assert_int_equal(argument->names->count, 8);
	assert_int_equal(argument->names->entries[7].value, 0x80);
	assert_string_equal(argument->list, "a,b,c,d,e,f,g,h,beyond");
}

static void test_tmf__enumerations_may_follow_their_use(void **state)
{
	(void)state;
	parse(HEADER "#typev a_c1 10 \"x\"\n{\nx, ItemEnum(Color) -- 10\ny, ItemFlagsEnum(Color) "
		     "-- 11\nz, ItemEnum(Other) -- 12\n}\n"
		     "#enumv Color\n{\nRed,0x1\nGreen, 2\nMinus,-1\n}\n"
		     "#enumv Color\n{\nIgnored,5\n}\n");
	const struct etw_wpp_argument *arguments = messages.at[0]->arguments;

	assert_int_equal(arguments[0].names->count, 3);
	assert_string_equal(arguments[0].names->entries[1].text, "Green");
	assert_int_equal(arguments[0].names->entries[2].value, UINT32_MAX);
	assert_int_equal(arguments[1].names->flags, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	assert_null(arguments[2].names);
}

static void test_tmf__encodings(void **state)
{
	static const char ansi[] = HEADER "#typev a_c1 10 \"caf\xe9\"\n" EMPTY;
	static const char utf8[] = "\xef\xbb\xbf" HEADER "#typev a_c1 10 \"caf\xc3\xa9\"\n" EMPTY;
	char wide[2 * sizeof(ansi)] = "\xff\xfe";
	size_t bytes = 2;

	(void)state;
	assert_string_equal(parse_one(ansi)->text, "caf\xc3\xa9");
	assert_string_equal(parse_one(utf8)->text, "caf\xc3\xa9");
	for (const char *at = ansi; *at; at++) {
		wide[bytes++] = *at;
		wide[bytes++] = '\0';
	}
	assert_int_equal(parse_bytes(wide, bytes), 0);
	assert_string_equal(messages.at[0]->text, "caf\xc3\xa9");
}

static void test_tmf__refusals(void **state)
{
	(void)state;
	refuse("", 1, "there is no section in the file");
	refuse("// only a comment\n", 1, "there is no section in the file");
	refuse("<xml/>\n", 1, "the line is no section, no message and no comment");
	refuse(HEADER "{\n", 2, "the line is no section, no message and no comment");
	refuse("#typev a_c1 10 \"x\"\n", 1, "a message stands before the GUID of its section");
	refuse(HEADER "#typev\n", 2, "a message has no name");
	refuse(HEADER "#typev a x\n", 2, "a message has no number below 65536");
	refuse(HEADER "#typev a\n", 2, "a message has no number below 65536");
	refuse(HEADER "#typev a 65536 \"x\"\n", 2, "a message has no number below 65536");
	refuse(HEADER "#typev a 1234567890 \"x\"\n", 2, "a message has no number below 65536");
	refuse(HEADER "#typev a 1 x\n", 2, "a message's text is not in quotes");
	refuse(HEADER "#typev a 1 \"x\n", 2, "a message's text has no closing quote");
	refuse(HEADER "#typev a 1 \"x\\\"\n", 2, "a message's text has no closing quote");
	refuse(HEADER "#typev a 1 \"x\"\nx, ItemLong -- 10\n", 3, "an opening brace is missing");
	refuse(HEADER "#typev a 1 \"x\"\n{\n", 3, "the file ends within a message or enumeration");
	refuse(HEADER "#enumv\n", 2, "an enumeration has no name");
	refuse(HEADER "#enumv E\n{\nx\n}\n", 4, "a name has no comma and number behind it");
	refuse(HEADER "#enumv E\n{\nx,1y\n}\n", 4, "a name has no comma and number behind it");
}

static void refuse_argument(const char *line, const char *sentence)
{
	char text[256];

	(void)snprintf(text, sizeof(text), HEADER "#typev a 1 \"x\"\n{\n%s\n}\n", line);
	refuse(text, 4, sentence);
}

static void test_tmf__refused_arguments(void **state)
{
	(void)state;
	refuse_argument("x, ItemLong",
			"an argument does not end with its number behind two dashes");
	refuse_argument("x, ItemLong - 10",
			"an argument does not end with its number behind two dashes");
	refuse_argument("10", "an argument does not end with its number behind two dashes");
	refuse_argument("x, ItemLong -- 9", "an argument's number is below 10 or too large");
	refuse_argument("x, ItemLong -- 65536", "an argument's number is below 10 or too large");
	refuse_argument("x, ItemList a,b) -- 10", "the list of an argument's names is not opened");
	refuse_argument("x ItemLong -- 10", "an argument has no comma and item before its number");
	refuse_argument("-- 10", "an argument has no comma and item before its number");
	refuse(HEADER "#typev a 1 \"x\"\n{\nx, ItemLong -- 11\ny, ItemLong -- 11\n}\n", 5,
	       "the numbers of the arguments do not ascend");
}

static void test_tmf__too_many_arguments(void **state)
{
	size_t room = 257 * 32 + 256, bytes;
	char *text = malloc(room);

	(void)state;
	assert_non_null(text);
	bytes = (size_t)snprintf(text, room, HEADER "#typev a 1 \"x\"\n{\n");
	for (unsigned i = 0; i < 257; i++)
		bytes += (size_t)snprintf(text + bytes, room - bytes, "x, ItemLong -- %u\n",
					  10 + i);
	(void)snprintf(text + bytes, room - bytes, "}\n");
	refuse(text, 260, "a message has more than 256 arguments");
	free(text);
}

static void test_tmf__too_many_enumerators(void **state)
{
	struct etw_text text = {0};

	(void)state;
	etw_text_puts(&text, HEADER "#enumv E\n{\n");
	for (unsigned i = 0; i <= ETW_SCHEMA_MAP_ENTRIES_MAX; i++)
		etw_text_puts(&text, "a,1\n");
	refuse(etw_text_string(&text), 3 + 65537, "an enumeration has more than 65536 names");
	etw_text_done(&text);
}

static void test_tmf__nul_characters(void **state)
{
	static const char text[] = HEADER "#typev a 1 \"x\0y\"\n" EMPTY;

	(void)state;
	assert_int_equal(parse_bytes(text, sizeof(text) - 1), -EBADMSG);
	assert_string_equal(fault.sentence, "the line holds a NUL character");
}

/* What was read is written and read again. */
static void check_round_trip(void)
{
	struct etw_wpp_messages first = messages;
	struct etw_text text = {0};

	etw_tmf_write(&first, &text);
	assert_int_equal(etw_text_error(&text), 0);
	parse(etw_text_string(&text));
	assert_int_equal(messages.count, first.count);
	for (size_t i = 0; i < first.count; i++)
		wpp_check_same(first.at[i], messages.at[i]);
	etw_text_done(&text);
}

static void test_tmf__written_and_read_again(void **state)
{
	(void)state;
	parse(HEADER "#typev a_c1 10 \"say \\\"x\\\" \\\\ \\q\\n\\t\" // FLAGS=A | B FUNC=f\n"
		     "{\nf(\"a, b\"), ItemListByte(a, b) -- 10\nx, ItemEnum(Color) -- 12\n}\n"
		     "#enumv Color\n{\nRed,0x1\nGreen, 2\n}\n"
		     "#typev a_c2 11 \"\"\n" EMPTY
		     "028f1450-e0d5-3b03-31cd-6226d77778f9 // SRC=b.c MJ=C MN=D\n"
		     "#typev b_c1 10 \"y\"\n" EMPTY);
	check_round_trip();
}

/* The genuine files are read without complaint, every item but invented ones is known, and round trip. */
static void test_tmf__genuine_files(void **state)
{
	const char *data = getenv("ETW_TEST_DATA");
	size_t files = 0, count = 0, arguments = 0;
	char folder[2048];
	struct dirent *entry;
	DIR *dir;

	(void)state;
	if (!data) {
		print_message("skipped: ETW_TEST_DATA is not set\n");
		skip();
	}
	(void)snprintf(folder, sizeof(folder), "%s/tmf", data);
	dir = opendir(folder);
	if (!dir) {
		print_message("skipped: there is no %s\n", folder);
		skip();
	}
	while ((entry = readdir(dir))) {
		size_t bytes;
		char *text;

		if (!strstr(entry->d_name, ".tmf"))
			continue;
		text = wpp_read_tmf(data, entry->d_name, &bytes);
		assert_int_equal(parse_bytes(text, bytes), 0);
		free(text);
		files++;
		count += messages.count;
		for (size_t i = 0; i < messages.count; i++) {
			const struct etw_wpp_message *message = messages.at[i];

			assert_non_null(message->source_file);
			assert_non_null(message->level);
			assert_non_null(message->function);
			assert_int_not_equal(message->line, 0);
			arguments += message->argument_count;
			for (size_t k = 0; k < message->argument_count; k++)
				assert_int_not_equal(message->arguments[k].item, ETW_WPP_UNKNOWN);
		}
		check_round_trip();
	}
	(void)closedir(dir);
	print_message("%zu files, %zu messages, %zu arguments\n", files, count, arguments);
	assert_int_equal(files, 62);
	assert_true(count > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tmf__everything_of_a_message, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__absent_parts_are_null, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__an_empty_comment_is_no_part_of_the_module,
						begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__escapes_and_quotes_within_the_text, begin,
						end),
		cmocka_unit_test_setup_teardown(test_tmf__attributes_in_other_spellings, begin,
						end),
		cmocka_unit_test_setup_teardown(test_tmf__several_sections, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__lines_of_type_names, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__items, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__sets_have_a_bit_for_each_name, begin,
						end),
		cmocka_unit_test_setup_teardown(test_tmf__enumerations_may_follow_their_use, begin,
						end),
		cmocka_unit_test_setup_teardown(test_tmf__encodings, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__refusals, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__refused_arguments, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__too_many_arguments, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__too_many_enumerators, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__nul_characters, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__written_and_read_again, begin, end),
		cmocka_unit_test_setup_teardown(test_tmf__genuine_files, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
