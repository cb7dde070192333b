/* SPDX-License-Identifier: MIT */
#include "unit/schema/mof_text.h"

static void test_mof__reads_an_empty_file(void **state)
{
	const struct etw_definition *definition = parse("");

	(void)state;
	assert_int_equal(definition->provider_count, 0);
	assert_int_equal(definition->schema_count, 0);
	assert_int_equal(definition->complaint_total, 0);
}

static void test_mof__reads_all_encodings(void **state)
{
	static const char text[] = PROVIDER;
	char wide[2 * sizeof(text) + 2] = "\xff\xfe";
	char swapped[2 * sizeof(text) + 2] = "\xfe\xff";
	size_t bytes = 2 * strlen(text);

	(void)state;
	for (size_t i = 0; i < strlen(text); i++) {
		wide[2 * i + 2] = text[i];
		swapped[2 * i + 3] = text[i];
	}
	assert_int_equal(parse_bytes(wide, bytes + 2)->provider_count, 1);
	assert_int_equal(parse_bytes(wide + 2, bytes)->provider_count, 1);
	assert_int_equal(parse_bytes(swapped, bytes + 2)->provider_count, 1);
	assert_int_equal(parse("\xef\xbb\xbf" PROVIDER)->provider_count, 1);
	/* Windows-1252 */
	assert_string_equal(parse("[Guid(\"" PROVIDER_GUID "\"), Description(\"\xa9 \x80\")]\n"
				  "class P : EventTrace {};")
				    ->providers[0]
				    .message,
			    "\xc2\xa9 \xe2\x82\xac");
}

/* UTF-16 with its high byte first is swapped piece by piece; a pair of surrogates is never cut. */
static void test_mof__swaps_long_texts(void **state)
{
	static const char head[] = "[Guid(\"" PROVIDER_GUID "\"), Description(\"";
	static const char tail[] = "\")] class P : EventTrace {};";
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	for (size_t shift = 0; shift < 2; shift++) {
		etw_text_clear(&text);
		etw_text_append(&text, "\xfe\xff", 2);
		for (const char *at = head; *at; at++)
			etw_text_append(&text, (char[]){0, *at}, 2);
		if (shift)
			etw_text_append(&text, "\0x", 2);
		for (size_t i = 0; i < 1000; i++)
			etw_text_append(&text, "\xd8\x3d\xde\x00", 4);
		for (const char *at = tail; *at; at++)
			etw_text_append(&text, (char[]){0, *at}, 2);
		definition = parse_bytes(text.at, text.bytes);
		assert_int_equal(strlen(definition->providers[0].message), 4000 + shift);
		assert_memory_equal(definition->providers[0].message + shift + 3996,
				    "\xf0\x9f\x98\x80", 4);
	}
}

static void test_mof__joins_strings_and_reads_escapes(void **state)
{
	const struct etw_definition *definition = parse(
		"[Guid(\"{" PROVIDER_GUID "}\"), Description(\"a\\\"\\\\\\'\" // one\n"
		" /* two\n */ \"\\b\\t\\n\\f\\r\" "
		"\"\\x41\\X0042c\\xd83d\\xde00\\xd800z\\xd83d\\x41\")]\n"
		"class P : EventTrace {};");

	(void)state;
	assert_string_equal(definition->providers[0].message,
			    "a\"\\'\b\t\n\f\rAB"
			    "c\xf0\x9f\x98\x80\xef\xbf\xbdz\xef\xbf\xbd");
}

static void test_mof__steps_over_what_it_need_not_know(void **state)
{
	const struct etw_definition *definition = parse(
		"#pragma autorecover\n"
		"#PRAGMA classflags(\"forceupdate\", \"safe\")\n"
		"#pragma namespace (\"\\\\\\\\.\\\\root\\\\wmi\") ;\n"
		"Qualifier Unknown : string = null, Scope(class, property), Flavor(ToSubclass);\n"
		"instance of Something as $Alias { a = 1; b = {\"x;}\", $Other}; c = instance of D "
		"{ e = 'f'; }; };\n"
		"[Unknown(+1.5e-3) : ToInstance ToSubclass, A(-0x1F), B(0101b), C(017), D(true), "
		"E('\\x41'), F($x),\n"
		" G{1, 2,}, H, I(null), J(1e5), K('z')]\n"
		"class Wmi as $Wmi : Base\n"
		"{\n"
		"    [key, read] string InstanceName;\n"
		"    [in, out] uint32 Method([in] uint32 a, [out] Wmi ref b[]);\n"
		"    uint32 Size = 5;\n"
		"    uint32 List[] = {1, 2, 3};\n"
		"    Wmi ref Other;\n"
		"    Wmi Inner;\n"
		"};;\n" PROVIDER "\x1a");

	(void)state;
	assert_int_equal(definition->provider_count, 1);
	assert_int_equal(definition->complaint_total, 0);
}

static void test_mof__knows_no_case(void **state)
{
	const struct etw_definition *definition = parse(
		"[GUID(\"{" PROVIDER_GUID "}\")] CLASS P : eventtrace {};\n"
		"[guid(\"{" EVENT_GUID "}\")] Class E : p {};\n"
		"[EVENTTYPE(1)] class T : e { [wmidataid(1)] UINT8 a; };\n");

	(void)state;
	assert_int_equal(definition->schema_count, 1);
	assert_int_equal(definition->providers[0].schemas[0].fields[0].in_type, TDH_INTYPE_UINT8);
}

struct sentence_row {
	const char *text;
	uint64_t line;
	const char *sentence;
};

static const struct sentence_row tokens[] = {
	{"\n/* open", 2, "a comment is not closed"},
	{"[a(\"\\xg\")]", 1, "an escape \\x has no hexadecimal digits"},
	{"[a(\"\\xd83d\\xg\")]", 1, "an escape \\x has no hexadecimal digits"},
	{"[a(\"\\x0000\")]", 1, "a string holds a NUL"},
	{"[a(\"\\q\")]", 1, "a string has an unknown escape"},
	{"[a(\"\\", 1, "a string does not end on its line"},
	{"[a(\"open\n\")]", 1, "a string does not end on its line"},
	{"[a(\"open", 1, "a string does not end on its line"},
	{"[a('')]", 1, "a character constant is malformed"},
	{"[a('ab')]", 1, "a character constant is malformed"},
	{"[a('", 1, "a character constant is malformed"},
	{"[a(12c)]", 1, "a number is malformed"},
	{"[a(0x)]", 1, "a number is malformed"},
	{"[a(0xfg)]", 1, "a number is malformed"},
	{"[a(08)]", 1, "a number is malformed"},
	{"[a(12b)]", 1, "a number is malformed"},
	{"[a(1.5f)]", 1, "a number is malformed"},
	{"[a(18446744073709551616)]", 1, "a number does not fit into 64 bits"},
	{"[a(0x1ffffffffffffffff)]", 1, "a number does not fit into 64 bits"},
	{"[a(-b)]", 1, "a sign stands before no number"},
	{"\n\n#include <x>", 3, "a directive is not #pragma"},
	{"%", 1, "a character has no meaning here"},
	{"$ ", 1, "a character has no meaning here"},
};

static const struct sentence_row grammar[] = {
	{"instance of A )", 1, "a bracket closes nothing"},
	{"\ninstance of A {", 2, "the file ends within a declaration"},
	{"[a()]", 1, "a qualifier lacks a value"},
	{"[a{1", 1, "the values of a list are not separated by commas"},
	{"[a{,}]", 1, "a qualifier lacks a value"},
	{"[a{1 2}]", 1, "the values of a list are not separated by commas"},
	{"[a(1, 2)]", 1, "the value of a qualifier does not end with a parenthesis"},
	{"[(1)]", 1, "a qualifier has no name"},
	{"[a,\n", 2, "a qualifier has no name"},
	{"[a :]", 1, "a colon is followed by no flavour"},
	{"[a(1) b]", 1, "qualifiers are not separated by commas"},
	{"class A { uint8 a[0]; };", 1, "an array has no elements"},
	{"class A { uint8 a[-1]; };", 1, "an array has no elements"},
	{"class A { uint8 a[b]; };", 1, "the size of an array is no number in brackets"},
	{"class A { 5 };", 1, "a property has no type"},
	{"class A { uint8; };", 1, "a property has no name"},
	{"class A { uint8 a }", 1, "a property does not end with a semicolon"},
	{"class A {\n", 2, "the file ends within a class"},
	{"class A {}\nclass", 2, "a class does not end with a semicolon"},
	{"class {};", 1, "a class has no name"},
	{"class A as B {};", 1, "an alias does not begin with a dollar sign"},
	{"class A : {};", 1, "a colon is followed by no superclass"},
	{"class A;", 1, "a class has no body"},
	{"#pragma (1)", 1, "a pragma has no name"},
	{"#pragma a(1 2)", 1, "a pragma does not end with a parenthesis"},
	{"\n[a] uint8 b;", 2, "a declaration begins neither a class nor an instance"},
	{"}", 1, "a declaration begins neither a class nor an instance"},
};

static void test_mof__refuses_bad_tokens(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++)
		refuse(tokens[i].text, tokens[i].line, tokens[i].sentence);
}

static void test_mof__refuses_bad_grammar(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(grammar); i++)
		refuse(grammar[i].text, grammar[i].line, grammar[i].sentence);
}

static void test_mof__refuses_nuls(void **state)
{
	(void)state;
	refuse_bytes("class A {};\0", 12, 1, "the text holds a NUL");
}

/* @count qualifiers, the last of which is the Guid of a provider. */
static void put_qualifiers(struct etw_text *text, size_t count)
{
	etw_text_clear(text);
	etw_text_puts(text, "\n[");
	for (size_t i = 1; i < count; i++)
		etw_text_printf(text, "q%u(1), ", (unsigned)i);
	etw_text_puts(text, "Guid(\"" PROVIDER_GUID "\")]\nclass P : EventTrace {};");
}

static void test_mof__limits_the_qualifiers_of_a_declaration(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	put_qualifiers(&text, ETW_MOF_QUALIFIERS_MAX);
	assert_int_equal(parse(etw_text_string(&text))->provider_count, 1);
	put_qualifiers(&text, ETW_MOF_QUALIFIERS_MAX + 1);
	refuse(etw_text_string(&text), 2, "a declaration has more than 64 qualifiers");
	etw_text_clear(&text);
	etw_text_puts(&text, "class A {\n\n[");
	for (size_t i = 0; i <= ETW_MOF_QUALIFIERS_MAX; i++)
		etw_text_puts(&text, "q,");
	refuse(etw_text_string(&text), 3, "a declaration has more than 64 qualifiers");
}

static void test_mof__has_limits(void **state)
{
	CLEANUP(freep) char *large = calloc(1, ETW_MOF_BYTES_MAX + 1);
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	assert_non_null(large);
	refuse_bytes(large, ETW_MOF_BYTES_MAX + 1, 1, "the file is too large");
	etw_text_puts(&text, "class A");
	for (size_t i = 0; i < ETW_MOF_NAME_BYTES_MAX; i++)
		etw_text_putc(&text, 'a');
	refuse(etw_text_string(&text), 1, "a name is too long");
	etw_text_clear(&text);
	etw_text_puts(&text, "class A {");
	for (size_t i = 0; i <= ETW_SCHEMA_FIELDS_MAX; i++)
		etw_text_puts(&text, "uint8 a;");
	refuse(etw_text_string(&text), 1, "a class has too many properties");
	etw_text_clear(&text);
	for (size_t i = 0; i <= ETW_MOF_CLASSES_MAX; i++)
		etw_text_printf(&text, "class A%zu {};", i);
	refuse(etw_text_string(&text), 1, "the file has too many classes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mof__reads_an_empty_file, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__reads_all_encodings, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__swaps_long_texts, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__joins_strings_and_reads_escapes, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof__steps_over_what_it_need_not_know, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof__knows_no_case, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__refuses_bad_tokens, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__refuses_bad_grammar, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__refuses_nuls, begin, end),
		cmocka_unit_test_setup_teardown(test_mof__limits_the_qualifiers_of_a_declaration,
						begin, end),
		cmocka_unit_test_setup_teardown(test_mof__has_limits, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
