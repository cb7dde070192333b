/* SPDX-License-Identifier: MIT */
/* What is known of a provider besides its events: names, channels, maps, pattern maps and filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "unit/schema/manifest_text.h"

#define STRINGS                                                                            \
	"<localization><resources culture='en-US'><stringTable><string id='m' value='M'/>" \
	"</stringTable></resources></localization>"

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

static const struct etw_provider_schema *read_provider(const char *text)
{
	const struct etw_definition *definition = manifest_text_read(&arena, text);

	assert_int_equal(definition->provider_count, 1);
	return definition->providers;
}

struct expected_name {
	const char *name;
	uint64_t value;
	const char *message;
};

static void check_named(const struct etw_named *named, const struct expected_name *expected)
{
	assert_string_equal(named->name, expected->name);
	assert_int_equal(named->value, expected->value);
	if (expected->message)
		assert_string_equal(named->message, expected->message);
	else
		assert_null(named->message);
}

static void test_manifest_names__levels_and_keywords_in_the_order_of_numbers(void **state)
{
	static const struct expected_name levels[] = {
		{"win:Error", 2, "Error"},
		{"win:ReservedLevel8", 8, NULL},
		{"low", 20, NULL},
		{"high", 200, "M"},
	};
	static const struct expected_name keywords[] = {
		{"a", 1, NULL},
		{"b", 2, "M"},
		{"win:ResponseTime", UINT64_C(1) << 48, "Response Time"},
		{"win:ReservedKeyword57", UINT64_C(1) << 57, NULL},
	};
	const struct etw_provider_schema *provider = read_provider(
		MANIFEST_PROVIDER
		"<levels><level name='high' value='200' symbol='H' message='$(string.m)'/>"
		"<level name='low' value='20'/></levels><keywords><keyword name='b' mask='2' "
		"message='$(string.m)'/><keyword name='a' mask='1'/></keywords>"
		"<events><event value='1' level='win:ReservedLevel8' "
		"keywords='win:ReservedKeyword57 "
		"win:ResponseTime'/><event value='2' level='win:Error'/><event value='3' "
		"level='win:Error'/></events>" MANIFEST_TAIL STRINGS MANIFEST_END);

	(void)state;
	assert_int_equal(provider->level_count, ARRAY_SIZE(levels));
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		check_named(&provider->levels[i], &levels[i]);
	assert_string_equal(provider->levels[3].symbol, "H");
	assert_int_equal(provider->keyword_count, ARRAY_SIZE(keywords));
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		check_named(&provider->keywords[i], &keywords[i]);
}

static void test_manifest_names__tasks_and_opcodes(void **state)
{
	static const struct expected_name tasks[] = {
		{"second", 2, NULL}, {"first", 1, "M"}, {"win:None", 0, "None"}};
	static const struct expected_name opcodes[] = {
		{"win:DC_Start", 3, "DCStart"},
		{"every", 30, NULL},
		{"own", 12, NULL},
		{"own", 11, "M"},
	};
	const struct etw_provider_schema *provider = read_provider(
		MANIFEST_PROVIDER
		"<tasks><task name='second' value='2'><opcodes><opcode name='own' value='11' "
		"message='$(string.m)'/></opcodes></task><task name='first' value='1' "
		"message='$(string.m)'><opcodes><opcode name='own' value='12'/></opcodes></task>"
		"</tasks><opcodes><opcode name='every' value='30'/></opcodes>"
		"<events><event value='1' task='win:None' opcode='win:DC_Start'/>"
		"<event value='2' task='second' opcode='own'/></events>" MANIFEST_TAIL STRINGS
			MANIFEST_END);

	(void)state;
	assert_int_equal(provider->task_count, ARRAY_SIZE(tasks));
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		check_named(&provider->tasks[i].named, &tasks[i]);
	assert_int_equal(provider->opcode_count, ARRAY_SIZE(opcodes));
	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		check_named(&provider->opcodes[i].named, &opcodes[i]);
		assert_int_equal(provider->opcodes[i].is_task_given, i >= 2);
	}
	assert_int_equal(provider->opcodes[2].task, 1);
	assert_int_equal(provider->opcodes[3].task, 2);
	assert_int_equal(provider->schemas[1].descriptor.Opcode, 11);
}

static void test_manifest_names__winmeta_is_called_win(void **state)
{
	const struct etw_provider_schema *provider = read_provider(
		"<instrumentationManifest "
		"xmlns:w='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<instrumentation><events><provider name='P' "
		"guid='{11112222-3333-4444-5555-666677778888}'><events>"
		"<event value='1' level='w:Error' keywords='w:SQM'/></events>" MANIFEST_TAIL
			MANIFEST_END);

	(void)state;
	assert_string_equal(provider->levels[0].name, "win:Error");
	assert_string_equal(provider->schemas[0].level_name, "win:Error");
	assert_string_equal(provider->schemas[0].keywords, "win:SQM");
}

static void test_manifest_names__channels(void **state)
{
	const struct etw_provider_schema *provider = read_provider(
		MANIFEST_PROVIDER
		"<channels><channel name='c' chid='ci' symbol='S' type='Analytic' access='O:BAG' "
		"isolation='Custom' enabled='true' message='$(string.m)'/>"
		"<importChannel name='System' chid='sys'/><importChannel "
		"name='Foreign'/></channels>"
		"<events><event value='1' channel='Security'/></events>" MANIFEST_TAIL STRINGS
			MANIFEST_END);
	const struct etw_channel *channels = provider->channels;

	(void)state;
	assert_int_equal(provider->channel_count, 4);
	check_named(&channels[0].named, &(struct expected_name){"c", 16, "M"});
	assert_string_equal(channels[0].chid, "ci");
	assert_string_equal(channels[0].named.symbol, "S");
	assert_string_equal(channels[0].access, "O:BAG");
	assert_string_equal(channels[0].isolation, "Custom");
	assert_int_equal(channels[0].type, ETW_CHANNEL_ANALYTIC);
	assert_true(channels[0].is_enabled);
	assert_false(channels[0].is_imported);
	assert_int_equal(channels[0].keyword, UINT64_C(1) << 63);
	check_named(&channels[1].named, &(struct expected_name){"System", 8, "System"});
	assert_true(channels[1].is_imported);
	assert_int_equal(channels[1].keyword, UINT64_C(1) << 62);
	check_named(&channels[2].named, &(struct expected_name){"Foreign", 17, NULL});
	/* Used without being listed. */
	check_named(&channels[3].named, &(struct expected_name){"Security", 10, "Security"});
	assert_true(channels[3].is_imported);
	assert_int_equal(channels[3].keyword, 0);
	assert_int_equal(provider->schemas[0].descriptor.Keyword, 0);
}

static void test_manifest_names__identity(void **state)
{
	const struct etw_provider_schema *provider = read_provider(
		MANIFEST_HEAD
		"<provider name='P' guid='{11112222-3333-4444-5555-666677778888}' symbol='S' "
		"controlGuid='{11112222-3333-4444-5555-666677778889}' resourceFileName='r' "
		"messageFileName='m' parameterFileName='p' helpLink='h' message='$(string.m)'>"
		"<traits groupGuid='{11112222-3333-4444-5555-66667777888a}'/>" MANIFEST_TAIL STRINGS
			MANIFEST_END);

	(void)state;
	assert_int_equal(provider->control_guid.Data4[7], 0x89);
	assert_int_equal(provider->group_guid.Data4[7], 0x8a);
	assert_string_equal(provider->symbol, "S");
	assert_string_equal(provider->resource_file, "r");
	assert_string_equal(provider->message_file, "m");
	assert_string_equal(provider->parameter_file, "p");
	assert_string_equal(provider->help_link, "h");
	assert_string_equal(provider->message, "M");
	assert_int_equal(provider->source, DecodingSourceXMLFile);
}

static void test_manifest_names__maps_patterns_and_filters(void **state)
{
	const struct etw_provider_schema *provider = read_provider(
		MANIFEST_PROVIDER
		"<maps><valueMap name='b'><map value='2' message='$(string.m)'/><map value='1' "
		"message='$(string.m)'/></valueMap><bitMap name='a'/></maps>"
		"<namedQueries><patternMaps><patternMap name='p' format='f'><map name='n' "
		"value='v'/>"
		"</patternMap></patternMaps><patternMaps><patternMap name='q' format='g'/>"
		"</patternMaps></namedQueries><namedQueries/><namedQueries><patternMaps>"
		"<patternMap name='r' format='h'/></patternMaps></namedQueries>"
		"<templates><template tid='t'><data name='d' inType='win:UInt8'/></template>"
		"</templates><filters><filter name='x' value='1' version='0x2' tid='t' "
		"message='$(string.m)'/><filter name='y' value='3'/></filters>"
		"<events><event value='3'/><event value='1' attributes='A=1' "
		"symbol='s'/></events>" MANIFEST_TAIL STRINGS MANIFEST_END);

	(void)state;
	assert_int_equal(provider->map_count, 2);
	assert_string_equal(provider->maps[0].name, "a");
	assert_string_equal(provider->maps[1].name, "b");
	assert_int_equal(provider->maps[1].entries[0].value, 1);
	assert_int_equal(provider->pattern_map_count, 3);
	assert_string_equal(provider->pattern_maps[0].patterns[0].value, "v");
	assert_string_equal(provider->pattern_maps[1].format, "g");
	assert_string_equal(provider->pattern_maps[2].name, "r");
	assert_int_equal(provider->filter_count, 2);
	assert_int_equal(provider->filters[0].value, 1);
	assert_int_equal(provider->filters[0].version, 2);
	assert_string_equal(provider->filters[0].message, "M");
	assert_int_equal(provider->filters[0].field_count, 1);
	assert_string_equal(provider->filters[0].fields[0].name, "d");
	assert_int_equal(provider->filters[1].field_count, 0);
	assert_int_equal(provider->schemas[0].descriptor.Id, 1);
	assert_string_equal(provider->schemas[0].attributes, "A=1");
	assert_string_equal(provider->schemas[0].symbol, "s");
	assert_ptr_equal(provider->schemas[0].owner, provider);
}

/* A compiler refuses them; the reader shows them all the same. */
static void test_manifest_names__a_filter_with_a_struct(void **state)
{
	const struct etw_provider_schema *provider = read_provider(
		MANIFEST_PROVIDER
		"<maps><valueMap name='b'/></maps>"
		"<templates><template tid='t'><data name='k' inType='win:UInt8' map='b'/>"
		"<struct name='s'><data name='m' inType='win:UInt8' count='2'/></struct>"
		"<data name='l' inType='win:UInt32'/></template></templates>"
		"<filters><filter name='x' value='1' tid='t'/></filters>" MANIFEST_TAIL
			MANIFEST_END);
	const struct etw_filter_schema *filter = &provider->filters[0];

	(void)state;
	assert_int_equal(filter->field_count, 4);
	assert_int_equal(filter->top_count, 3);
	assert_string_equal(filter->fields[0].map_name, "b");
	assert_int_equal(filter->fields[1].flags, PropertyStruct);
	assert_int_equal(filter->fields[1].struct_first, 3);
	assert_int_equal(filter->fields[1].struct_count, 1);
	assert_string_equal(filter->fields[3].name, "m");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_manifest_names__levels_and_keywords_in_the_order_of_numbers),
		TEST(test_manifest_names__tasks_and_opcodes),
		TEST(test_manifest_names__winmeta_is_called_win),
		TEST(test_manifest_names__channels),
		TEST(test_manifest_names__identity),
		TEST(test_manifest_names__maps_patterns_and_filters),
		TEST(test_manifest_names__a_filter_with_a_struct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
