/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/compare.h"
#include "schema/manifest/manifest_write.h"
#include "unit/schema/manifest_text.h"

static struct etw_arena arena;
static struct etw_text text;

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	etw_text_init(&text);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_text_done(&text);
	etw_arena_done(&arena);
	return 0;
}

/* What is read of what was written, which must be the same. */
static const struct etw_definition *write_and_read(const struct etw_definition *definition)
{
	CLEANUP(etw_text_done) struct etw_text difference = {0};
	const struct etw_definition *again;

	etw_text_clear(&text);
	assert_int_equal(etw_manifest_write(definition, &text), 0);
	again = manifest_text_read(&arena, etw_text_string(&text));
	if (!etw_definition_compare(definition, again, 0, &difference))
		fail_msg("%s", etw_text_string(&difference));
	return again;
}

static size_t count_of(const char *needle)
{
	size_t count = 0;

	for (const char *at = etw_text_string(&text); (at = strstr(at, needle)); at++)
		count++;
	return count;
}

static void test_manifest_write__every_part(void **state)
{
	const struct etw_definition *definition = manifest_text_read(
		&arena, MANIFEST_HEAD
		"<provider name='P' guid='{11112222-3333-4444-5555-666677778888}' symbol='PS' "
		"resourceFileName='r' messageFileName='m' parameterFileName='p' helpLink='h&amp;' "
		"message='$(string.s)' controlGuid='{11112222-3333-4444-5555-666677778880}'>"
		"<traits groupGuid='{11112222-3333-4444-5555-666677778881}'/>"
		"<channels><channel name='a' chid='A' symbol='CS' type='Admin' access='O:BAG' "
		"isolation='System' enabled='1' message='$(string.s)'/><importChannel "
		"name='System'/>"
		"<importChannel name='x' chid='y'/><channel name='b' value='40' type='Debug'/>"
		"</channels>"
		"<levels><level name='l' value='16' symbol='LS' message='$(string.s)'/></levels>"
		"<tasks><task name='t' value='9' symbol='TS' "
		"eventGUID='{11112222-3333-4444-5555-666677778882}' message='$(string.s)'>"
		"<opcodes><opcode name='o' value='20' symbol='OS'/></opcodes></task>"
		"<task name='u' value='3'/></tasks>"
		"<opcodes><opcode name='o' value='21' message='$(string.s)'/></opcodes>"
		"<keywords><keyword name='k' mask='0x8000' symbol='KS' message='$(string.s)'/>"
		"</keywords>"
		"<maps><bitMap name='B'><map value='0x80000000' message='$(string.s)'/></bitMap>"
		"<valueMap name='A'><map value='9' message='$(string.s)'/><map value='3' "
		"message='$(string.s)'/></valueMap></maps>"
		"<namedQueries><patternMaps><patternMap name='q' format='f'><map name='n' "
		"value='v'/>"
		"</patternMap></patternMaps></namedQueries>"
		"<templates><template tid='t'><data name='n' inType='win:UInt16'/>"
		"<data name='s' inType='win:UnicodeString' length='n' outType='win:Xml'/>"
		"<data name='d' inType='win:UInt32' map='A' count='1'/>"
		"<struct name='z' count='n'><data name='c' inType='win:UInt8'/>"
		"<data name='b' inType='win:Binary' length='c'/></struct>"
		"<data name='f' inType='win:AnsiString' length='7' count='3'/>"
		"<UserData><x/></UserData></template>"
		"<template tid='e'/><template tid='f'><data name='a' "
		"inType='win:UInt8'/></template>"
		"</templates>"
		"<filters><filter name='f' value='1' version='2' tid='f' message='$(string.s)'/>"
		"</filters><events>"
		"<event value='9' version='3' symbol='ES' name='N' attributes='A=\"1\";B=2' "
		"channel='A' level='l' task='t' opcode='o' keywords='k win:SQM' template='t' "
		"message='$(string.s)'/>"
		"<event value='2' channel='TraceLogging' level='win:Error' task='win:None' "
		"opcode='win:Stop' template='e'/><event value='3' channel='y' template='f'/>"
		"<event value='4' task='u' opcode='o'/></events>" MANIFEST_TAIL
		"<localization><resources culture='en-US'><stringTable>"
		"<string id='s' value='a &lt;b&gt; &quot;c&quot; %n%t%r %% %1 &#10;&#9;%'/>"
		"</stringTable></resources></localization>" MANIFEST_END);

	(void)state;
	(void)write_and_read(definition);
	/* Winmeta's own are not defined, and the channel that nobody listed is not imported. */
	assert_int_equal(count_of("name=\"win:"), 0);
	assert_int_equal(count_of("<importChannel"), 2);
}

static void test_manifest_write__equal_templates_become_one(void **state)
{
	const struct etw_definition *definition = manifest_text_read(
		&arena, MANIFEST_PROVIDER
		"<templates><template tid='a'><data name='n' inType='win:UInt8'/></template>"
		"<template tid='b'><data name='n' inType='win:UInt8'/></template>"
		"<template tid='c'><data name='n' inType='win:UInt16'/></template>"
		"<template tid='d'><data name='n' inType='win:UInt8'/><UserData><x/></UserData>"
		"</template><template tid='unused'/></templates>"
		"<filters><filter name='f' value='1' tid='b'/></filters>"
		"<events><event value='1' template='a'/><event value='2' template='b'/>"
		"<event value='3' template='c'/><event value='4' "
		"template='d'/></events>" MANIFEST_TAIL MANIFEST_END);

	(void)state;
	(void)write_and_read(definition);
	assert_int_equal(count_of("<template "), 3);
	assert_int_equal(count_of("\"template.1\""), 4);
}

static void test_manifest_write__no_providers(void **state)
{
	const struct etw_definition nothing = {0};

	(void)state;
	assert_int_equal(write_and_read(&nothing)->provider_count, 0);
}

static int write_one(struct etw_provider_schema *provider)
{
	const struct etw_definition definition = {.providers = provider, .provider_count = 1};

	return etw_manifest_write(&definition, &text);
}

static void test_manifest_write__one_provider(void **state)
{
	const struct etw_definition *definition = manifest_text_read(
		&arena, MANIFEST_PROVIDER
		"</provider><provider name='Second' "
		"guid='{11112222-3333-4444-5555-666677778881}'>" MANIFEST_TAIL MANIFEST_END);

	(void)state;
	assert_int_equal(write_one(&definition->providers[1]), 0);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->provider_count, 1);
	assert_string_equal(definition->providers[0].name, "Second");
}

/* Compiled resources may have numbers without names, and texts that XML cannot say. */
static void test_manifest_write__what_a_manifest_says_otherwise(void **state)
{
	struct etw_schema schema = {.source = DecodingSourceXMLFile,
				    .descriptor = {.Id = 1, .Level = 2, .Opcode = 1},
				    .message = "bell \x07 none \xef\xbf\xbe %\xef\xbf\xbf"};
	struct etw_provider_schema provider = {.source = DecodingSourceXMLFile,
					       .name = "P",
					       .schemas = &schema,
					       .schema_count = 1};
	const struct etw_schema *again;

	(void)state;
	assert_int_equal(write_one(&provider), 0);
	again = manifest_text_read(&arena, etw_text_string(&text))->providers[0].schemas;
	assert_string_equal(again->level_name, "win:Error");
	assert_string_equal(again->opcode_name, "win:Start");
	assert_string_equal(again->message, "bell \xef\xbf\xbd none \xef\xbf\xbd %\xef\xbf\xbd");
}

/* Names of somebody else's manifest reach a terminal through `etw providers NAME --manifest`. */
static void test_manifest_write__sends_no_commands_to_a_terminal(void **state)
{
	struct etw_schema schema = {.source = DecodingSourceXMLFile,
				    .descriptor = {.Id = 1},
				    .message = "\xc2\x9b"
					       "2J \x7f \xc2\xa0"};
	struct etw_provider_schema provider = {.source = DecodingSourceXMLFile,
					       .name = "P",
					       .schemas = &schema,
					       .schema_count = 1};
	const struct etw_schema *again;

	(void)state;
	assert_int_equal(write_one(&provider), 0);
	assert_null(strstr(etw_text_string(&text), "\xc2\x9b"));
	assert_null(strchr(etw_text_string(&text), '\x7f'));
	again = manifest_text_read(&arena, etw_text_string(&text))->providers[0].schemas;
	assert_string_equal(again->message, schema.message);
}

static void test_manifest_write__what_a_manifest_cannot_say(void **state)
{
	struct etw_field fields[2] = {
		{.name = "a", .in_type = TDH_INTYPE_COUNTEDSTRING, .count = 1},
		{.name = "b", .in_type = TDH_INTYPE_UINT8, .count = 1},
	};
	struct etw_schema schema = {.source = DecodingSourceXMLFile,
				    .fields = fields,
				    .field_count = 2,
				    .top_count = 1};
	struct etw_provider_schema provider = {
		.source = DecodingSourceXMLFile, .schemas = &schema, .schema_count = 1};

	(void)state;
	assert_int_equal(write_one(&provider), -EOPNOTSUPP);
	/* Structs of manifests neither nest nor reach beyond the fields. */
	fields[0] = (struct etw_field){.name = "s", .flags = PropertyStruct, .count = 1};
	fields[0].struct_first = fields[0].struct_count = 1;
	assert_int_equal(write_one(&provider), 0);
	fields[1].flags = PropertyStruct;
	assert_int_equal(write_one(&provider), -EOPNOTSUPP);
	fields[0].struct_count = 2;
	assert_int_equal(write_one(&provider), -EOPNOTSUPP);
	provider.schema_count = 0;
	provider.source = DecodingSourceWbem;
	assert_int_equal(write_one(&provider), -EOPNOTSUPP);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_manifest_write__every_part),
		TEST(test_manifest_write__equal_templates_become_one),
		TEST(test_manifest_write__no_providers),
		TEST(test_manifest_write__one_provider),
		TEST(test_manifest_write__what_a_manifest_says_otherwise),
		TEST(test_manifest_write__sends_no_commands_to_a_terminal),
		TEST(test_manifest_write__what_a_manifest_cannot_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
