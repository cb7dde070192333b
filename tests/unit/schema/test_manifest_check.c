/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/text.h"
#include "unit/schema/manifest_text.h"

static struct etw_arena arena;

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

struct row {
	const char *text; /* of the provider */
	const char *sentence;
	const char *name;
};

/* Each of them gets one complaint, about the second line of the provider. */
static void check_rows(const struct row *rows, size_t count)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	for (size_t i = 0; i < count; i++) {
		const struct etw_definition *definition;

		etw_text_clear(&text);
		etw_text_printf(&text,
				MANIFEST_PROVIDER
				"%s" MANIFEST_TAIL "<localization><resources culture='en-US'>"
				"<stringTable><string id='m' value='text %%1'/>"
				"<string id='open' value='%%1!d'/><string id='no' "
				"value='%%%% %%n'/>"
				"</stringTable></resources></localization>" MANIFEST_END,
				rows[i].text);
		definition = manifest_text_read(&arena, etw_text_string(&text));
		if (definition->complaint_count != 1)
			fail_msg("%s: %u complaints", rows[i].text,
				 (unsigned)definition->complaint_count);
		assert_string_equal(definition->complaints[0].sentence, rows[i].sentence);
		assert_int_equal(definition->complaints[0].line, MANIFEST_FIRST_LINE + 1);
		assert_int_equal(definition->complaint_total, 1);
		if (rows[i].name)
			assert_string_equal(definition->complaints[0].name, rows[i].name);
		else
			assert_null(definition->complaints[0].name);
	}
}

static void test_manifest_check__names(void **state)
{
	static const struct row rows[] = {
		{"<levels>\n<level name='a' value='256'/></levels>",
		 "a level lacks its name or its value from 0 to 255", "a"},
		{"<levels>\n<level value='16'/></levels>",
		 "a level lacks its name or its value from 0 to 255", NULL},
		{"<levels>\n<level name='a' value='15'/></levels>",
		 "the value of a level is not from 16 to 255", "a"},
		{"<levels><level name='a' value='16'/>\n<level name='a' value='17'/></levels>",
		 "the name of a level is taken", "a"},
		{"<levels><level name='a' value='16'/>\n<level name='b' value='16'/></levels>",
		 "the value of a level is taken", "10"},
		{"<levels><level name='a' value='16' symbol='s'/>\n"
		 "<level name='b' value='17' symbol='s'/></levels>",
		 "the symbol of a level is taken", "s"},
		{"<tasks>\n<task name='t'/></tasks>",
		 "a task lacks its name or its value from 0 to 65535", "t"},
		{"<tasks>\n<task name='t' value='0'/></tasks>", "the value of a task is 0", "t"},
		{"<tasks><task name='t' value='1'/>\n<task name='t' value='2'/></tasks>",
		 "the name of a task is taken", "t"},
		{"<tasks><task name='t' value='1'/>\n<task name='u' value='1'/></tasks>",
		 "the value of a task is taken", "1"},
		{"<tasks>\n<task name='t' value='1' eventGUID='?'/></tasks>",
		 "the eventGUID of a task is malformed", "?"},
		{"<tasks><task name='t' value='1' "
		 "eventGUID='{aaaabbbb-0000-0000-0000-000000000001}'/>"
		 "\n<task name='u' value='2' "
		 "eventGUID='{AAAABBBB-0000-0000-0000-000000000001}'/></tasks>",
		 "the eventGUID of a task is taken", "aaaabbbb-0000-0000-0000-000000000001"},
		{"<opcodes>\n<opcode name='o'/></opcodes>",
		 "an opcode lacks its name or its value from 0 to 255", "o"},
		{"<opcodes>\n<opcode name='o' value='9'/></opcodes>",
		 "the value of an opcode is not from 10 to 239", "o"},
		{"<opcodes>\n<opcode name='o' value='240'/></opcodes>",
		 "the value of an opcode is not from 10 to 239", "o"},
		{"<opcodes><opcode name='o' value='10'/>\n<opcode name='o' value='11'/></opcodes>",
		 "the name of an opcode is taken", "o"},
		{"<tasks><task name='t' value='1'><opcodes><opcode name='o' value='10'/>\n"
		 "<opcode name='p' value='10'/></opcodes></task></tasks>",
		 "the value of an opcode is taken", "a"},
		{"<tasks><task name='t' value='1'><opcodes>\n<opcode name='win:Go' value='10'/>"
		 "</opcodes></task></tasks>",
		 "a task's own opcode has a name of winmeta", "win:Go"},
		{"<keywords>\n<keyword name='k'/></keywords>",
		 "a keyword lacks its name or its mask", "k"},
		{"<keywords>\n<keyword name='k' mask='0x3'/></keywords>",
		 "the mask of a keyword is not one of the lower 48 bits", "k"},
		{"<keywords>\n<keyword name='k' mask='0x1000000000000'/></keywords>",
		 "the mask of a keyword is not one of the lower 48 bits", "k"},
		{"<keywords><keyword name='k' mask='0x1'/>\n<keyword name='l' mask='0x1'/>"
		 "</keywords>",
		 "the mask of a keyword is taken", "1"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_manifest_check__channels(void **state)
{
	static const struct row rows[] = {
		{"<channels>\n<channel name='a&lt;' type='Admin'/></channels>",
		 "the name of a channel is missing, too long or has a character that is not "
		 "allowed",
		 "a<"},
		{"<channels>\n<channel name='a' chid='' type='Admin'/></channels>",
		 "the chid of a channel is empty", "a"},
		{"<channels>\n<channel name='a' value='15' type='Admin'/></channels>",
		 "the value of a channel is not from 16 to 255, or it is imported", "15"},
		{"<channels>\n<importChannel name='a' value='16'/></channels>",
		 "the value of a channel is not from 16 to 255, or it is imported", "16"},
		{"<channels>\n<channel name='a' type='Loud'/></channels>",
		 "a channel has no type that is known", "Loud"},
		{"<channels><channel name='a' type='Debug'/>\n<importChannel name='a'/></channels>",
		 "the name or chid of a channel is taken", "a"},
		{"<channels><channel name='a' chid='b' type='Debug'/>\n<channel name='b' "
		 "type='Debug'/></channels>",
		 "the name or chid of a channel is taken", "b"},
		{"<channels><channel name='a' value='16' type='Debug'/>\n<channel name='b' "
		 "value='16' type='Debug'/></channels>",
		 "the value of a channel is taken", "10"},
		{"<channels><importChannel name='1'/><importChannel name='2'/>"
		 "<importChannel name='3'/><importChannel name='4'/><importChannel name='5'/>"
		 "<importChannel name='6'/><importChannel name='7'/><importChannel name='8'/>\n"
		 "<importChannel name='9'/></channels>",
		 "a provider has more than 8 channels", "9"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

#define FIELDS(fields) "<templates><template tid='t'>" fields "</template></templates>"

static void test_manifest_check__fields(void **state)
{
	static const struct row rows[] = {
		{FIELDS("\n<data name='a' inType='win:UInt8' outType='xs:none'/>"),
		 "the outType of a field is unknown", "xs:none"},
		{FIELDS("\n<data name='a' inType='win:UInt8' outType='xs:long'/>"),
		 "the outType of a field does not go with its inType", "a"},
		{FIELDS("\n<data name='a' inType='win:UInt8' map='m'/>"),
		 "the map of a field is not defined", "m"},
		{"<maps><valueMap name='m'/></maps>" FIELDS(
			 "\n<data name='a' inType='win:UInt64' map='m'/>"),
		 "a field has a map and an inType that takes none", "a"},
		{FIELDS("\n<data name='a' inType='win:CountedBinary' length='2'/>"),
		 "a counted field has a length as well", "a"},
		{FIELDS("\n<data name='a' inType='win:Binary'/>"), "a binary field has no length",
		 "a"},
		{FIELDS("<data name='n' inType='win:GUID'/>\n<data name='a' inType='win:UInt8' "
			"count='n'/>"),
		 "a length or count refers to a field that is no integer", "a"},
		{FIELDS("<data name='n' inType='win:UInt8' count='2'/>\n<data name='a' "
			"inType='win:AnsiString' length='n'/>"),
		 "a length or count refers to a field that is no integer", "a"},
		{FIELDS("<data name='a' inType='win:UInt8'/>\n<data name='a' inType='win:UInt8'/>"),
		 "the name of a field is taken", "a"},
		{"<templates>\n<template tid='t'><data name='a' inType='win:UInt64' "
		 "count='8192'/></template></templates>",
		 "the fields of a template are larger than an event", "t"},
		{"<templates>\n<template tid='t'><UserData/></template></templates>",
		 "the UserData of a template has not one root element", "t"},
		{"<templates>\n<template tid='t'><UserData><a/><b/></UserData></template>"
		 "</templates>",
		 "the UserData of a template has not one root element", "t"},
		{"<templates><template tid='t'/>\n<template tid='t'/></templates>",
		 "the tid of a template is taken", "t"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_manifest_check__maps_filters_and_patterns(void **state)
{
	static const struct row rows[] = {
		{"<maps><valueMap name='m'/>\n<bitMap name='m'/></maps>",
		 "the name of a map is taken", "m"},
		{"<maps><valueMap name='m' symbol='s'/>\n<bitMap name='n' symbol='s'/></maps>",
		 "the symbol of a map is taken", "s"},
		{"<maps><valueMap name='m'><map value='1' message='$(string.m)'/>\n"
		 "<map value='1' message='$(string.m)'/></valueMap></maps>",
		 "the value of a map entry is taken", "1"},
		{"<maps><valueMap name='m'>\n<map value='1'/></valueMap></maps>",
		 "a map entry has no message", NULL},
		{"<filters>\n<filter name='f' value='256'/></filters>",
		 "a filter lacks its name or its value and version from 0 to 255", "f"},
		{"<filters><filter name='f' value='1'/>\n<filter name='f' value='2'/></filters>",
		 "the name of a filter is taken", "f"},
		{"<filters><filter name='f' value='1'/>\n<filter name='g' value='1'/></filters>",
		 "the value and version of a filter are taken", "100"},
		{"<filters><filter name='f' value='1' symbol='s'/>\n"
		 "<filter name='g' value='2' symbol='s'/></filters>",
		 "the symbol of a filter is taken", "s"},
		{"<filters>\n<filter name='f' value='1' tid='t'/></filters>",
		 "the template of a filter is not defined", "t"},
		{FIELDS("<UserData><a/></UserData>") "<filters>\n<filter name='f' value='1' "
						     "tid='t'/></filters>",
		 "the template of a filter has UserData", "t"},
		{FIELDS("<struct name='s'/>") "<filters>\n<filter name='f' value='1' "
					      "tid='t'/></filters>",
		 "the template of a filter has a struct", "t"},
		{FIELDS("<data name='a' inType='win:UInt8' count='3'/>") "<filters>\n<filter "
									 "name='f' "
									 "value='1' "
									 "tid='t'/></filters>",
		 "the template of a filter has an array or a map", "a"},
		{"<namedQueries><patternMaps>\n<patternMap name='p'/></patternMaps></namedQueries>",
		 "a pattern map lacks its name or format", "p"},
		{"<namedQueries><patternMaps><patternMap name='p' format='f'/>\n"
		 "<patternMap name='p' format='f'/></patternMaps></namedQueries>",
		 "the name of a pattern map is taken", "p"},
		{"<namedQueries><patternMaps><patternMap name='p' format='f'>\n<map name='n'/>"
		 "</patternMap></patternMaps></namedQueries>",
		 "a pattern lacks its name or value", "n"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

#define ADMIN "<channels><channel name='c' type='Admin'/></channels>"

static void test_manifest_check__events(void **state)
{
	static const struct row rows[] = {
		{"<events><event value='1'/>\n<event value='1'/></events>",
		 "the value and version of an event are taken", "100"},
		{"<events><event value='1' symbol='s'/>\n<event value='2' symbol='s'/></events>",
		 "the symbol of an event is taken", "s"},
		{"<events>\n<event value='1' level='win:Loud'/></events>",
		 "an event refers to a name that is not defined", "win:Loud"},
		{"<events>\n<event value='1' task='t'/></events>",
		 "an event refers to a name that is not defined", "t"},
		{"<events>\n<event value='1' opcode='o'/></events>",
		 "an event refers to a name that is not defined", "o"},
		{"<events>\n<event value='1' keywords='win:SQM k'/></events>",
		 "an event refers to a name that is not defined", "k"},
		{"<events>\n<event value='1' channel='c'/></events>",
		 "an event refers to a channel that is not defined", "c"},
		{ADMIN "<events>\n<event value='7' channel='c' level='win:Error'/></events>",
		 "an event in an Admin channel has no message", "7"},
		{ADMIN "<events>\n<event value='7' channel='c' level='win:Verbose' "
		       "message='$(string.no)'/></events>",
		 "an event in an Admin channel has a level other than Critical to Informational",
		 "7"},
		{"<events>\n<event value='7' message='$(string.m)'/></events>",
		 "a message inserts a field that the event does not have", "7"},
		{FIELDS("<data name='a' inType='win:UInt8'/>") "<events>\n<event value='7' "
							       "template='t' "
							       "message='$(string.open)'/></"
							       "events>",
		 "the format of an insert in a message does not end", "7"},
		{"<events>\n<event value='7' message='$(string.q)'/></events>",
		 "a message refers to a string that no table has", "$(string.q)"},
		{"<tasks><task name='t' value='1'><opcodes><opcode name='o' value='10'/></opcodes>"
		 "</task></tasks><opcodes><opcode name='p' value='10'/></opcodes>"
		 "<events>\n<event value='7' task='t' opcode='p'/></events>",
		 "the value of an event's opcode is that of its task's own one", "p"},
	};

	(void)state;
	check_rows(rows, ARRAY_SIZE(rows));
}

static void test_manifest_check__providers(void **state)
{
	static const struct row rows[] = {
		{MANIFEST_HEAD "\n<provider guid='{11112222-3333-4444-5555-666677778888}'>",
		 "the name of a provider is missing, too long or has a character that is not "
		 "allowed",
		 NULL},
		{MANIFEST_HEAD
		 "\n<provider name='a*' guid='{11112222-3333-4444-5555-666677778888}'>",
		 "the name of a provider is missing, too long or has a character that is not "
		 "allowed",
		 "a*"},
		{MANIFEST_HEAD "\n<provider name='a' guid='{11112222-3333-4444-5555-666677778888}'"
			       " controlGuid='x'>",
		 "a controlGuid is malformed", "x"},
		{MANIFEST_HEAD "\n<provider name='a' guid='{11112222-3333-4444-5555-666677778888}'>"
			       "<traits groupGuid='y'/>",
		 "a groupGuid is malformed", "y"},
		{MANIFEST_HEAD "\n<provider name='abc-11112222.3333444455556666777788ff'"
			       " guid='{11112222-3333-4444-5555-666677778888}'"
			       " controlGuid='{11112222-3333-4444-5555-666677778889}'>",
		 "the name of a provider with a controlGuid does not end with its guid",
		 "abc-11112222.3333444455556666777788ff"},
		{MANIFEST_PROVIDER "</provider><provider name='Some-Provider' "
				   "guid='{11112222-3333-4444-5555-666677778889}'>",
		 "the name of a provider is taken", "Some-Provider"},
		{MANIFEST_PROVIDER "</provider><provider name='Other' "
				   "guid='{11112222-3333-4444-5555-666677778888}'>",
		 "the guid of a provider is taken", "11112222-3333-4444-5555-666677778888"},
	};
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct etw_definition *definition;

		etw_text_clear(&text);
		etw_text_printf(&text, "%s" MANIFEST_TAIL MANIFEST_END, rows[i].text);
		definition = manifest_text_read(&arena, etw_text_string(&text));
		assert_int_equal(definition->complaint_total, 1);
		assert_string_equal(definition->complaints[0].sentence, rows[i].sentence);
		assert_int_equal(definition->complaints[0].line, MANIFEST_FIRST_LINE);
		if (rows[i].name)
			assert_string_equal(definition->complaints[0].name, rows[i].name);
	}
}

static void test_manifest_check__strings(void **state)
{
	const struct etw_definition *definition = manifest_text_read(
		&arena, MANIFEST_PROVIDER
		"<events><event value='1' message='$(string.a)'/></events>" MANIFEST_TAIL
		"<localization><resources culture='en-US'><stringTable><string id='a' value='b'/>\n"
		"<string id='a' value='c'/><string id='d'/></stringTable></resources>"
		"<resources culture='de-DE'><stringTable/></resources>"
		"</localization>" MANIFEST_END);

	(void)state;
	assert_int_equal(definition->complaint_total, 3);
	assert_string_equal(definition->complaints[0].sentence,
			    "a string id occurs twice in one culture");
	assert_int_equal(definition->complaints[0].line, MANIFEST_FIRST_LINE + 2);
	assert_string_equal(definition->complaints[1].sentence, "a string lacks its id or value");
	assert_string_equal(definition->complaints[2].sentence,
			    "a message refers to a string that a culture lacks");
	assert_string_equal(definition->providers[0].schemas[0].message, "b");
}

static void test_manifest_check__limits(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(&text, MANIFEST_PROVIDER "<events>");
	for (int i = 0; i < ETW_COMPLAINTS_MAX + 10; i++)
		etw_text_printf(&text, "<event value='%d' level='x'/>", i);
	etw_text_puts(&text, "</events>" MANIFEST_TAIL MANIFEST_END);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->complaint_count, ETW_COMPLAINTS_MAX);
	assert_int_equal(definition->complaint_total, ETW_COMPLAINTS_MAX + 10);
	etw_text_clear(&text);
	etw_text_puts(&text, MANIFEST_PROVIDER "<templates><template tid='t'>");
	for (int i = 0; i < 100; i++)
		etw_text_printf(&text, "<data name='f%d' inType='win:UInt8'/>", i);
	etw_text_puts(&text, "</template></templates><events><event value='1' keywords='");
	for (int i = 0; i < 65; i++)
		etw_text_puts(&text, "win:SQM ");
	etw_text_puts(&text, "'/></events>" MANIFEST_TAIL MANIFEST_END);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->complaint_total, 2);
	assert_string_equal(definition->complaints[0].sentence,
			    "a template has more than 99 fields");
	assert_string_equal(definition->complaints[1].sentence,
			    "an event lists more than 64 keywords");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_manifest_check__names),
		TEST(test_manifest_check__channels),
		TEST(test_manifest_check__fields),
		TEST(test_manifest_check__maps_filters_and_patterns),
		TEST(test_manifest_check__events),
		TEST(test_manifest_check__providers),
		TEST(test_manifest_check__strings),
		TEST(test_manifest_check__limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
