/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/compare.h"
#include "unit/schema/manifest_text.h"

static const char whole[] = MANIFEST_HEAD
	"<provider name='P' guid='{11112222-3333-4444-5555-666677778888}' symbol='PS'"
	" controlGuid='{11112222-3333-4444-5555-666677778880}' helpLink='h'>"
	"<channels><channel name='C' chid='ci' type='Debug'/></channels>"
	"<levels><level name='L' value='16'/></levels>"
	"<tasks><task name='T' value='1'><opcodes><opcode name='O' value='11'/></opcodes></task>"
	"</tasks><keywords><keyword name='K' mask='0x1'/></keywords>"
	"<maps><valueMap name='M'><map value='1' message='$(string.m)'/></valueMap></maps>"
	"<namedQueries><patternMaps><patternMap name='Q' format='f'><map name='a' value='b'/>"
	"</patternMap></patternMaps></namedQueries>"
	"<templates><template tid='t'><data name='F' inType='win:UInt8' map='M'/></template>"
	"</templates><filters><filter name='X' value='1' tid='t'/></filters>"
	"<events><event value='7' symbol='ES' name='N' template='t' message='$(string.m)' "
	"task='T'/></events>" MANIFEST_TAIL
	"<localization><resources culture='en-US'><stringTable><string id='m' value='One'/>"
	"</stringTable></resources></localization>" MANIFEST_END;

/* A change to the text above, and the sentence about it. */
static const struct row {
	const char *from, *to;
	const char *sentence;
	bool is_compiled; /* compiled resources tell it as well */
} rows[] = {
	{"guid='{1", "guid='{2",
	 "provider 0 (P), GUID: \"{11112222-3333-4444-5555-666677778888}\" and "
	 "\"{21112222-3333-4444-5555-666677778888}\"",
	 true},
	{"8880", "8881",
	 "provider 0 (P), control GUID: \"{11112222-3333-4444-5555-666677778880}\" and "
	 "\"{11112222-3333-4444-5555-666677778881}\"",
	 true},
	{"name='P'", "name='R'", "provider 0 (P), name: \"P\" and \"R\"", true},
	{"symbol='PS'", "", "provider 0 (P), symbol: \"PS\" and nothing", false},
	{"helpLink='h'", "helpLink='i'", "provider 0 (P), help link: \"h\" and \"i\"", false},
	{"chid='ci'", "chid='cj'", "provider 0 (P), channel 0 (C), chid: \"ci\" and \"cj\"", false},
	{"type='Debug'", "type='Admin'", "provider 0 (P), channel 0 (C), type: 0x3 and 0x0", false},
	{"'Debug'/>", "'Debug'/><channel name='D' type='Debug'/>",
	 "provider 0 (P), number of channels: 0x1 and 0x2", true},
	{"value='16'", "value='17'", "provider 0 (P), level 0 (L), value: 0x10 and 0x11", true},
	{"<level name='L' value='16'/>", "", "provider 0 (P), number of levels: 0x1 and 0x0", true},
	{"'T' value='1'", "'T' value='2'", "provider 0 (P), task 0 (T), value: 0x1 and 0x2", true},
	{"</tasks>", "<task name='U' value='9'/></tasks>",
	 "provider 0 (P), number of tasks: 0x1 and 0x2", true},
	{"'O' value='11'", "'O' value='12'", "provider 0 (P), opcode 0 (O), value: 0xb and 0xc",
	 true},
	{"</opcodes>", "<opcode name='R' value='20'/></opcodes>",
	 "provider 0 (P), number of opcodes: 0x1 and 0x2", true},
	{"mask='0x1'", "mask='0x2'", "provider 0 (P), keyword 0 (K), value: 0x1 and 0x2", true},
	{"valueMap name='M'", "valueMap name='W'",
	 "provider 0 (P), map 0 (M), name: \"M\" and \"W\"", true},
	{"<map value='1'", "<map value='2'",
	 "provider 0 (P), map 0 (M), entry 0, value: 0x1 and 0x2", true},
	{"'m' value='One'", "'m' value='Two'",
	 "provider 0 (P), map 0 (M), entry 0, text: \"One\" and \"Two\"", true},
	{"format='f'", "format='g'", "provider 0 (P), pattern map 0 (Q), format: \"f\" and \"g\"",
	 true},
	{"value='b'", "value='c'",
	 "provider 0 (P), pattern map 0 (Q), value of a pattern: \"b\" and \"c\"", true},
	{"filter name='X' value='1'", "filter name='X' value='2'",
	 "provider 0 (P), filter 0 (X), value: 0x1 and 0x2", true},
	{"name='X' value='1' tid='t'", "name='X' value='1'",
	 "provider 0 (P), filter 0 (X), number of fields: 0x1 and 0x0", true},
	{"name='F'", "name='G'", "provider 0 (P), filter 0 (X), field 0 (F), name: \"F\" and \"G\"",
	 true},
	{"value='7'", "value='8'", "provider 0 (P), event 7, id: 0x7 and 0x8", true},
	{"name='N'", "name='O'", "provider 0 (P), event 7, name: \"N\" and \"O\"", true},
	{"symbol='ES'", "symbol='ET'", "provider 0 (P), event 7, symbol: \"ES\" and \"ET\"", false},
	{" task='T'/", "/", "provider 0 (P), event 7, task: 0x1 and 0x0", true},
	{"</provider>",
	 "</provider><provider name='Z' guid='{11112222-3333-4444-5555-666677778801}'/>",
	 "number of providers: 0x1 and 0x2", true},
};

static void change(struct etw_text *text, const struct row *row)
{
	const char *at = strstr(whole, row->from);

	assert_non_null(at);
	etw_text_clear(text);
	etw_text_append(text, whole, (size_t)(at - whole));
	etw_text_puts(text, row->to);
	etw_text_puts(text, at + strlen(row->from));
}

static void test_compare__each_part_has_its_sentence(void **state)
{
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *left = manifest_text_read(&arena, whole);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(etw_text_done) struct etw_text difference = {0};
		const struct etw_definition *right;

		change(&text, &rows[i]);
		right = manifest_text_read(&arena, etw_text_string(&text));
		assert_false(etw_definition_compare(left, right, 0, &difference));
		assert_string_equal(etw_text_string(&difference), rows[i].sentence);
		etw_text_clear(&difference);
		assert_int_equal(
			etw_definition_compare(left, right, ETW_COMPARE_COMPILED, &difference),
			!rows[i].is_compiled);
	}
}

static void test_compare__equal_models(void **state)
{
	CLEANUP(etw_arena_done) struct etw_arena arena = {0};
	CLEANUP(etw_text_done) struct etw_text difference = {0};
	const struct etw_definition *left = manifest_text_read(&arena, whole);
	const struct etw_definition *right = manifest_text_read(&arena, whole);

	(void)state;
	assert_true(etw_definition_compare(left, right, 0, &difference));
	assert_string_equal(etw_text_string(&difference), "");
	right->providers[0].schemas[0].descriptor.Level = 3;
	assert_false(etw_definition_compare(left, right, 0, &difference));
	assert_string_equal(etw_text_string(&difference),
			    "provider 0 (P), event 7, level: 0x0 and 0x3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare__each_part_has_its_sentence),
		cmocka_unit_test(test_compare__equal_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
