/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "base/utf.h"
#include "schema/types.h"
#include "unit/schema/manifest_text.h"

#define HEAD       MANIFEST_PROVIDER
#define TAIL       MANIFEST_TAIL
#define END        MANIFEST_END
#define FIRST_LINE MANIFEST_FIRST_LINE

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

static const struct etw_definition *parse_bytes(const void *at, size_t bytes)
{
	struct etw_definition *manifest = NULL;
	struct etw_fault fault = {0};
	int r = etw_manifest_parse(&arena, at, bytes, &manifest, &fault);

	if (r < 0)
		fail_msg("line %u: %s", (unsigned)fault.offset, fault.sentence);
	return manifest;
}

static const struct etw_definition *parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

/* The first event of the first provider. */
static const struct etw_schema *parse_event(const char *text)
{
	const struct etw_definition *manifest = parse(text);

	assert_true(manifest->provider_count > 0 && manifest->providers[0].schema_count > 0);
	assert_null(etw_schema_fields_check(&manifest->providers[0].schemas[0]));
	return &manifest->providers[0].schemas[0];
}

static void refuse(const char *text, uint64_t line, const char *sentence)
{
	struct etw_definition *manifest = NULL;
	struct etw_fault fault = {0};

	assert_int_equal(etw_manifest_parse(&arena, text, strlen(text), &manifest, &fault),
			 -EBADMSG);
	assert_string_equal(fault.structure, "manifest");
	assert_string_equal(fault.sentence, sentence);
	assert_int_equal(fault.offset, line);
	assert_null(manifest);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_manifest__numbers_and_names(void **state)
{
	const struct etw_schema *event = parse_event(
		HEAD "<levels><level name='loud' value='0x10'/></levels>"
		     "<tasks><task name='T' value='7' "
		     "eventGUID='{11112222-3333-4444-5555-666677778889}'>"
		     "<opcodes><opcode name='go' value='20'/></opcodes></task></tasks>"
		     "<opcodes><opcode name='go' value='10'/></opcodes>"
		     "<keywords><keyword name='High' mask='0x4'/><keyword name='Low' "
		     "mask='1'/></keywords>"
		     "<channels><importChannel name='System' chid='sys'/>"
		     "<channel name='P/Op' chid='C' type='Operational'/></channels>"
		     "<events><event value='0x1F' version='2' level='loud' task='T' opcode='go' "
		     "channel='C'"
		     " keywords=' High  Low win:SQM' name='Happened'/></events>" TAIL END);
	GUID guid;

	(void)state;
	assert_int_equal(event->descriptor.Id, 31);
	assert_int_equal(event->descriptor.Version, 2);
	assert_int_equal(event->descriptor.Level, 16);
	assert_int_equal(event->descriptor.Task, 7);
	assert_int_equal(event->descriptor.Opcode, 20);
	assert_int_equal(event->descriptor.Channel, 16);
	/* The second listed channel has the second bit from the top. */
	assert_int_equal(event->descriptor.Keyword, UINT64_C(0x4008000000000005));
	assert_string_equal(event->provider_name, "Some-Provider");
	assert_string_equal(event->level_name, "loud");
	assert_string_equal(event->task_name, "T");
	assert_string_equal(event->opcode_name, "go");
	assert_string_equal(event->channel_name, "P/Op");
	assert_string_equal(event->keywords, "Low; High; win:SQM");
	assert_string_equal(event->event_name, "Happened");
	assert_int_equal(etw_guid_parse("11112222-3333-4444-5555-666677778889", &guid), 0);
	assert_true(etw_guid_equal(&event->event_guid, &guid));
	assert_int_equal(event->template_flags, 0);
	assert_int_equal(event->source, DecodingSourceXMLFile);
}

static void test_manifest__winmeta_values(void **state)
{
	static const struct {
		const char *level, *opcode;
		uint8_t level_value, opcode_value;
	} rows[] = {
		{"win:LogAlways", "win:Info", 0, 0},
		{"win:Critical", "win:Start", 1, 1},
		{"win:Error", "win:Stop", 2, 2},
		{"win:Warning", "win:DC_Start", 3, 3},
		{"win:Informational", "win:DC_Stop", 4, 4},
		{"win:Verbose", "win:Extension", 5, 5},
		{"win:ReservedLevel6", "win:Reply", 6, 6},
		{"win:ReservedLevel15", "win:Resume", 15, 7},
		{"win:ReservedLevel16", "win:Suspend", 0, 8},
		{"win:Nothing", "win:Send", 0, 9},
		{"Error", "win:Receive", 0, 240},
		{"", "win:ReservedOpcode255", 0, 255},
	};
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct etw_schema *event;

		etw_text_clear(&text);
		etw_text_printf(
			&text,
			HEAD "<events><event value='1' level='%s' opcode='%s'/></events>" TAIL END,
			rows[i].level, rows[i].opcode);
		event = parse_event(etw_text_string(&text));
		assert_int_equal(event->descriptor.Level, rows[i].level_value);
		assert_int_equal(event->descriptor.Opcode, rows[i].opcode_value);
	}
}

static void test_manifest__another_prefix_for_winmeta(void **state)
{
	const struct etw_schema *event = parse_event(
		"<e:instrumentationManifest "
		"xmlns:e='http://schemas.microsoft.com/win/2004/08/events'"
		" xmlns:w='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<e:instrumentation><e:events>"
		"<e:provider guid='{11112222-3333-4444-5555-666677778888}'><e:templates>"
		"<e:template tid='t'><e:data name='a' inType='w:UInt8'/></e:template></e:templates>"
		"<e:events><e:event value='1' level='w:Error' "
		"template='t'/></e:events></e:provider>"
		"</e:events></e:instrumentation></e:instrumentationManifest>");

	(void)state;
	assert_int_equal(event->descriptor.Level, 2);
	assert_int_equal(event->fields[0].in_type, TDH_INTYPE_UINT8);
	assert_null(event->provider_name);
}

static void test_manifest__channels_are_numbered(void **state)
{
	const struct etw_definition *manifest = parse(
		HEAD "<channels><channel name='a' type='Admin' value='20'/><channel name='b'/>"
		     "<channel name='c' value='16'/><importChannel name='Security'/>"
		     "<importChannel name='Other/Foreign' chid='f'/></channels><events>"
		     "<event value='1' channel='b'/><event value='2' channel='Security'/>"
		     "<event value='3' channel='f'/><event value='4' channel='TraceLogging'/>"
		     "<event value='5' channel='unknown'/></events>" TAIL END);
	const struct etw_schema *events = manifest->providers[0].schemas;

	(void)state;
	assert_int_equal(events[0].descriptor.Channel, 17);
	assert_int_equal(events[0].descriptor.Keyword, UINT64_C(0x4000000000000000));
	assert_int_equal(events[1].descriptor.Channel, 10);
	assert_int_equal(events[1].descriptor.Keyword, UINT64_C(0x1000000000000000));
	assert_int_equal(events[2].descriptor.Channel, 18);
	assert_string_equal(events[2].channel_name, "Other/Foreign");
	assert_int_equal(events[3].descriptor.Channel, 11);
	assert_int_equal(events[3].descriptor.Keyword, 0);
	assert_int_equal(events[4].descriptor.Channel, 0);
	assert_string_equal(events[4].channel_name, "unknown");
}

static void test_manifest__fields(void **state)
{
	const struct etw_schema *event = parse_event(
		HEAD "<maps><valueMap name='V'><map value='1' message='$(string.one)'/>"
		     "<map value='2' message='$(string.missing)'/></valueMap>"
		     "<bitMap name='B'><map value='0x80' message='$(string.one)'/></bitMap></maps>"
		     "<templates><template tid='t'>"
		     "<data name='n' inType='win:UInt16'/>"
		     "<data name='v' inType='win:UInt32' map='V'/>"
		     "<data name='b' inType='win:UInt32' map='B' outType='win:HexInt32'/>"
		     "<data name='u' inType='win:UInt32' map='Unknown' outType='xs:nonsense'/>"
		     "<data name='s' inType='win:UnicodeString' length='n'/>"
		     "<data name='f' inType='win:AnsiString' length='12'/>"
		     "<data name='z' inType='win:UnicodeString' length='0' count='0'/>"
		     "<data name='a' inType='win:Int64' count='1'/>"
		     "<data name='d' inType='win:GUID' count='n'/>"
		     "<UserData/></template></templates>"
		     "<events><event value='1' template='t'/></events>" TAIL
		     "<localization><resources culture='en-US'><stringTable><string id='one' "
		     "value='One'/>"
		     "</stringTable></resources></localization>" END);
	const struct etw_field *fields = event->fields;

	(void)state;
	assert_int_equal(event->template_flags, TEMPLATE_USER_DATA);
	assert_int_equal(event->field_count, 9);
	assert_int_equal(event->top_count, 9);
	assert_string_equal(fields[1].map_name, "V");
	assert_int_equal(fields[1].map->flags, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_string_equal(fields[1].map->entries[0].text, "One");
	assert_string_equal(fields[1].map->entries[1].text, "$(string.missing)");
	assert_int_equal(fields[2].map->flags, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	assert_int_equal(fields[2].map->entries[0].value, 0x80);
	assert_int_equal(fields[2].out_type, TDH_OUTTYPE_HEXINT32);
	assert_null(fields[3].map);
	assert_string_equal(fields[3].map_name, "Unknown");
	assert_int_equal(fields[3].out_type, TDH_OUTTYPE_UNSIGNEDINT);
	assert_int_equal(fields[4].flags, PropertyParamLength);
	assert_int_equal(fields[4].length, 0);
	assert_int_equal(fields[5].flags, PropertyParamFixedLength);
	assert_int_equal(fields[5].length, 12);
	assert_int_equal(fields[6].flags, 0);
	assert_int_equal(fields[6].count, 1);
	assert_int_equal(fields[7].flags, PropertyParamFixedCount);
	assert_int_equal(fields[7].length, 8);
	assert_int_equal(fields[8].flags, PropertyParamCount);
	assert_int_equal(fields[8].count, 0);
}

static void test_manifest__structs(void **state)
{
	const struct etw_schema *event = parse_event(
		HEAD
		"<templates><template tid='t'>"
		"<data name='n' inType='win:UInt16'/>"
		"<struct name='s' count='n'><data name='n' inType='win:UInt8'/>"
		"<data name='x' inType='win:AnsiString' length='n'/></struct>"
		"<data name='m' inType='win:UInt8'/>"
		"<struct name='r'><data name='y' inType='win:Binary' length='m'/></struct>"
		"<data name='last' inType='win:SID' length='9'/>"
		"</template></templates><events><event value='1' template='t'/></events>" TAIL END);
	const struct etw_field *fields = event->fields;

	(void)state;
	assert_int_equal(event->top_count, 5);
	assert_int_equal(event->field_count, 8);
	assert_int_equal(fields[1].flags, PropertyStruct | PropertyParamCount);
	assert_int_equal(fields[1].count, 0);
	assert_int_equal(fields[1].struct_first, 5);
	assert_int_equal(fields[1].struct_count, 2);
	/* A sibling comes before a field outside of the same name. */
	assert_int_equal(fields[6].length, 5);
	assert_int_equal(fields[3].struct_first, 7);
	assert_int_equal(fields[7].length, 2);
	/* A SID knows its own length. */
	assert_int_equal(fields[4].flags, 0);
	assert_int_equal(event->template_flags, TEMPLATE_EVENT_DATA);
}

static void test_manifest__messages(void **state)
{
	static const struct {
		const char *reference, *value, *expected;
	} rows[] = {
		{"$(string.m)", "%1 of%n%2%r%t%0hidden", "%1 of\r\n%2\r\t"},
		{"$(String.m)", "100%% sure%!%.%b%1!d!", "100%% sure%!%.%b%1!d!"},
		{"$(string.m)", "odd %", "odd %"},
		{"$(mc.M)", "by table", "by table"},
		{"$(mc.unknown)", "x", NULL},
		{"$(string.other)", "x", NULL},
		{"plain", "x", NULL},
		{"$(none)", "x", NULL},
	};
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct etw_schema *event;

		etw_text_clear(&text);
		etw_text_printf(
			&text,
			"<instrumentationManifest><instrumentation><events><provider"
			" guid='{11112222-3333-4444-5555-666677778888}'><events>"
			"<event value='1' message='%s'/></events></provider><messageTable>"
			"<message value='1' symbol='M' "
			"message='$(string.m)'/></messageTable></events>"
			"</instrumentation><localization><resources culture='en-US'><stringTable>"
			"<string id='m' value='%s'/></stringTable></resources></localization>"
			"</instrumentationManifest>",
			rows[i].reference, rows[i].value);
		event = parse_event(etw_text_string(&text));
		if (rows[i].expected)
			assert_string_equal(event->message, rows[i].expected);
		else
			assert_null(event->message);
	}
}

#define RESOURCES(culture, value)                                                    \
	"<resources culture='" culture "'><stringTable><string id='m' value='" value \
	"'/></stringTable></resources>"

static void test_manifest__cultures(void **state)
{
	static const struct {
		const char *localization, *expected;
	} rows[] = {
		{"<localization>" RESOURCES("ja-JP", "ja") RESOURCES("en-us", "en"), "en"},
		{"<localization fallbackCulture='de-DE'>" RESOURCES("en-US", "en")
			 RESOURCES("de-de", "de"),
		 "de"},
		{"<localization>" RESOURCES("fr-FR", "fr") RESOURCES("de-DE", "de"), "fr"},
		{"<localization><resources culture='en-US'/>" RESOURCES("de-DE", "de"), "de"},
	};
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		etw_text_clear(&text);
		etw_text_printf(&text,
				HEAD
				"<events><event value='1' message='$(string.m)'/></events>" TAIL
				"%s</localization>" END,
				rows[i].localization);
		assert_string_equal(parse_event(etw_text_string(&text))->message, rows[i].expected);
	}
}

static void test_manifest__events_grouped_by_task_and_opcode(void **state)
{
	const struct etw_definition *manifest = parse(
		HEAD
		"<tasks><task name='T' value='5'><opcodes><opcode name='o' value='12'/></opcodes>"
		"</task></tasks><events><task name='T'><event value='1'/><opcode name='o'>"
		"<event value='2'/></opcode></task><event value='3'/></events>" TAIL END);
	const struct etw_schema *events = manifest->providers[0].schemas;

	(void)state;
	assert_int_equal(manifest->schema_count, 3);
	assert_int_equal(events[0].descriptor.Task, 5);
	assert_int_equal(events[1].descriptor.Opcode, 12);
	assert_int_equal(events[2].descriptor.Task, 0);
	assert_null(events[2].task_name);
}

static void test_manifest__control_guid(void **state)
{
	const struct etw_schema *event = parse_event(
		"<instrumentationManifest><instrumentation><events><provider name='P'"
		" guid='{11112222-3333-4444-5555-666677778888}'"
		" controlGuid='{11112222-3333-4444-5555-666677778889}'>"
		"<events><event value='1'/></events>" TAIL END);

	(void)state;
	assert_int_equal(event->template_flags, TEMPLATE_CONTROL_GUID);
	assert_int_equal(event->event_guid.Data4[7], 0x89);
	assert_int_equal(event->provider.Data4[7], 0x88);
}

static void test_manifest__documents_without_providers(void **state)
{
	(void)state;
	assert_int_equal(parse("<instrumentationManifest/>")->provider_count, 0);
	assert_int_equal(parse("<instrumentationManifest><instrumentation><counters>"
			       "<provider providerGuid='x'/></counters></instrumentation>" END)
				 ->provider_count,
			 0);
}

static void test_manifest__assembly_and_several_lists(void **state)
{
	static const char text[] =
		"<assembly><instrumentation><events>"
		"<provider guid='{11112222-3333-4444-5555-666677778881}'/>"
		"<provider guid='{11112222-3333-4444-5555-666677778882}'/></events><events>"
		"<provider "
		"guid='{11112222-3333-4444-5555-666677778883}'/></events></instrumentation>"
		"<instrumentation/><instrumentation><events>"
		"<provider "
		"guid='{11112222-3333-4444-5555-666677778884}'/></events></instrumentation>"
		"</assembly>";
	const struct etw_definition *manifest = parse(text);

	(void)state;
	assert_int_equal(manifest->provider_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(manifest->providers[i].guid.Data4[7], 0x81 + i);
}

static void test_manifest__encodings(void **state)
{
	static const char text[] = "<?xml version='1.0' encoding='utf-16'?>" HEAD
				   "<events><event value='1' name='\xc3\xa4'/></events>" TAIL END;
	static const char latin[] = "<?xml version='1.0' encoding='ISO-8859-1'?>" HEAD
				    "<events><event value='1' name='\xe4'/></events>" TAIL END;
	static const char marked[] = "\xef\xbb\xbf" HEAD
				     "<events><event value='1' name='\xc3\xa4'/></events>" TAIL END;
	size_t units;
	uint8_t *wide = etw_utf8_to_utf16(text, &units);
	uint8_t *with_mark = malloc(2 * units + 2);

	(void)state;
	assert_non_null(with_mark);
	with_mark[0] = 0xff;
	with_mark[1] = 0xfe;
	memcpy(with_mark + 2, wide, 2 * units);
	assert_string_equal(
		parse_bytes(with_mark, 2 * units + 2)->providers[0].schemas[0].event_name,
		"\xc3\xa4");
	assert_string_equal(parse_bytes(wide, 2 * units)->providers[0].schemas[0].event_name,
			    "\xc3\xa4");
	/* The declaration is wrong here: the bytes are UTF-8. */
	assert_string_equal(parse_event(text)->event_name, "\xc3\xa4");
	assert_string_equal(parse_event(marked)->event_name, "\xc3\xa4");
	assert_string_equal(parse_event(latin)->event_name, "\xc3\xa4");
	free(with_mark);
	free(wide);
}

static void test_manifest__documents_that_are_refused(void **state)
{
	static char deep[80 * 3 + 1];
	static const char unknown[] = "<?xml version='1.0' encoding='x-none'?><a b='\xe4'/>";
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	refuse("", 1, "the text ends before its elements are closed");
	refuse("<a>\n<b>\n</a>", 3, "the end tag is of another element than the one that is open");
	refuse(unknown, 1, "the encoding is not supported");
	refuse("<!DOCTYPE a [\n<!ENTITY e 'x'>]><a>&e;</a>", 2,
	       "entity declarations are not accepted");
	refuse("<!DOCTYPE a [\n<!ATTLIST a b CDATA 'x'>]><a/>", 2,
	       "attribute declarations are not accepted");
	refuse("\n<other/>", 2, "the document is not an instrumentation manifest");
	etw_text_puts(&text, "<a\n");
	for (int i = 0; i <= ETW_MANIFEST_ATTRIBUTES_MAX; i++)
		etw_text_printf(&text, " a%d=''", i);
	etw_text_puts(&text, "/>");
	refuse(etw_text_string(&text), 1, "an element has too many attributes");
	for (size_t i = 0; i < 80; i++)
		memcpy(deep + 3 * i, "<a>", 3);
	refuse(deep, 1, "elements are nested too deeply");
}

static void test_manifest__sizes_that_are_refused(void **state)
{
	size_t bytes = ETW_MANIFEST_ELEMENTS_MAX * 4 + 64;
	char *many = malloc(bytes);
	struct etw_definition *manifest;
	struct etw_fault fault;

	(void)state;
	assert_non_null(many);
	memcpy(many, "<a>", 3);
	for (size_t i = 0; i < ETW_MANIFEST_ELEMENTS_MAX; i++)
		memcpy(many + 3 + 4 * i, "<b/>", 4);
	many[3 + 4 * ETW_MANIFEST_ELEMENTS_MAX] = '\0';
	refuse(many, 1, "the manifest has too many elements");
	free(many);
	assert_int_equal(
		etw_manifest_parse(&arena, "", ETW_MANIFEST_BYTES_MAX + 1, &manifest, &fault),
		-EBADMSG);
	assert_string_equal(fault.sentence, "the manifest is larger than the limit");
}

#define TEMPLATE(fields) \
	HEAD "<templates>\n<template tid='t'>\n" fields "</template></templates>" TAIL END

static void test_manifest__parts_that_are_refused(void **state)
{
	static const struct {
		const char *text;
		uint64_t line;
		const char *sentence;
	} rows[] = {
		{"<instrumentationManifest><instrumentation><events>\n<provider>" TAIL END, 2,
		 "a provider has no guid"},
		{"<instrumentationManifest><instrumentation><events><provider guid='{1}'>" TAIL END,
		 1, "the guid of a provider is malformed"},
		{HEAD "<events>\n<event/></events>" TAIL END, FIRST_LINE + 1,
		 "the value of an event is missing or no 16-bit number"},
		{HEAD "<events>\n<event value='65536'/></events>" TAIL END, FIRST_LINE + 1,
		 "the value of an event is missing or no 16-bit number"},
		{HEAD "<events>\n<event value='1x'/></events>" TAIL END, FIRST_LINE + 1,
		 "the value of an event is missing or no 16-bit number"},
		{HEAD "<events><event value='1' version='256'/></events>" TAIL END, FIRST_LINE,
		 "the version of an event is no 8-bit number"},
		{HEAD "<events><event value='1' template='t'/></events>" TAIL END, FIRST_LINE,
		 "the template of an event is not defined"},
		{HEAD "<templates><template/></templates>" TAIL END, FIRST_LINE,
		 "a template has no tid"},
		{HEAD "<maps><valueMap name='m'>\n<map message='x'/></valueMap></maps>" TAIL END,
		 FIRST_LINE + 1, "the value of a map entry is missing or no number"},
		{TEMPLATE("<data inType='win:UInt8'/>"), FIRST_LINE + 2, "a field has no name"},
		{TEMPLATE("<data name='a'/>"), FIRST_LINE + 2,
		 "the inType of a field is missing or unknown"},
		{TEMPLATE("<data name='a' inType='win:UInt7'/>"), FIRST_LINE + 2,
		 "the inType of a field is missing or unknown"},
		{TEMPLATE("<data name='a' inType='win:Binary' length='b'/>"
			  "<data name='b' inType='win:UInt8'/>"),
		 FIRST_LINE + 2, "a length or count is neither a number nor an earlier field"},
		{TEMPLATE("<struct name='s' count='70000'/>"), FIRST_LINE + 2,
		 "a length or count is neither a number nor an earlier field"},
		{TEMPLATE("<struct name='s'>\n<struct name='r'/></struct>"), FIRST_LINE + 3,
		 "a struct lies within a struct"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		refuse(rows[i].text, rows[i].line, rows[i].sentence);
}

static void test_manifest__counts_that_are_refused(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	etw_text_puts(&text, HEAD "<templates><template tid='t'>");
	for (int i = 0; i <= ETW_SCHEMA_FIELDS_MAX; i++)
		etw_text_puts(&text, "<data name='a' inType='win:UInt8'/>");
	etw_text_puts(&text, "</template></templates>" TAIL END);
	refuse(etw_text_string(&text), FIRST_LINE, "a template has more fields than the limit");
	etw_text_clear(&text);
	etw_text_puts(&text, HEAD "<maps><valueMap name='m'>");
	for (int i = 0; i <= ETW_SCHEMA_MAP_ENTRIES_MAX; i++)
		etw_text_puts(&text, "<map value='1'/>");
	etw_text_puts(&text, "</valueMap></maps>" TAIL END);
	refuse(etw_text_string(&text), FIRST_LINE, "a map has too many entries");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_manifest__numbers_and_names),
		TEST(test_manifest__winmeta_values),
		TEST(test_manifest__another_prefix_for_winmeta),
		TEST(test_manifest__channels_are_numbered),
		TEST(test_manifest__fields),
		TEST(test_manifest__structs),
		TEST(test_manifest__messages),
		TEST(test_manifest__cultures),
		TEST(test_manifest__events_grouped_by_task_and_opcode),
		TEST(test_manifest__control_guid),
		TEST(test_manifest__documents_without_providers),
		TEST(test_manifest__assembly_and_several_lists),
		TEST(test_manifest__encodings),
		TEST(test_manifest__documents_that_are_refused),
		TEST(test_manifest__sizes_that_are_refused),
		TEST(test_manifest__parts_that_are_refused),
		TEST(test_manifest__counts_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
