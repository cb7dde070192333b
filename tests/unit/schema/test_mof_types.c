/* SPDX-License-Identifier: MIT */
#include "unit/schema/mof_text.h"

/* A property's type and qualifiers, and the field that they make. */
struct type_row {
	const char *qualifiers;
	const char *type;
	const char *brackets;
	uint16_t in_type;
	uint16_t out_type;
	uint32_t flags;
	uint16_t count;
	uint16_t length;
};

#define PLAIN(type, in, out, length)                                               \
	{                                                                          \
		"read", type, "", TDH_INTYPE_##in, TDH_OUTTYPE_##out, 0, 1, length \
	}
#define FORMAT(format, type, in, out, length)                                                 \
	{                                                                                     \
		"format(\"" format "\")", type, "", TDH_INTYPE_##in, TDH_OUTTYPE_##out, 0, 1, \
			length                                                                \
	}
#define EXTENSION(name, type, in, out, length)                                                 \
	{                                                                                      \
		"extension(\"" name "\")", type, "", TDH_INTYPE_##in, TDH_OUTTYPE_##out, 0, 1, \
			length                                                                 \
	}
#define STRING(how, ansi, wide)                                                                   \
	{"StringTermination(\"" how "\")",                                                        \
	 "string",                                                                                \
	 "",                                                                                      \
	 TDH_INTYPE_##ansi,                                                                       \
	 TDH_OUTTYPE_STRING,                                                                      \
	 0,                                                                                       \
	 1,                                                                                       \
	 0},                                                                                      \
	{                                                                                         \
		"StringTermination(\"" how "\"), format(\"w\")", "string", "", TDH_INTYPE_##wide, \
			TDH_OUTTYPE_STRING, 0, 1, 0                                               \
	}

static const struct type_row rows[] = {
	PLAIN("sint8", INT8, BYTE, 1),
	PLAIN("uint8", UINT8, UNSIGNEDBYTE, 1),
	PLAIN("sint16", INT16, SHORT, 2),
	PLAIN("uint16", UINT16, UNSIGNEDSHORT, 2),
	PLAIN("sint32", INT32, INT, 4),
	PLAIN("uint32", UINT32, UNSIGNEDINT, 4),
	PLAIN("sint64", INT64, LONG, 8),
	PLAIN("uint64", UINT64, UNSIGNEDLONG, 8),
	PLAIN("real32", FLOAT, FLOAT, 4),
	PLAIN("real64", DOUBLE, DOUBLE, 8),
	PLAIN("boolean", BOOLEAN, BOOLEAN, 4),
	PLAIN("char16", UNICODECHAR, STRING, 2),
	PLAIN("string", ANSISTRING, STRING, 0),
	FORMAT("x", "sint8", INT8, HEXINT8, 1),
	FORMAT("x", "uint8", UINT8, HEXINT8, 1),
	FORMAT("x", "sint16", INT16, HEXINT16, 2),
	FORMAT("x", "uint16", UINT16, HEXINT16, 2),
	FORMAT("x", "sint32", HEXINT32, HEXINT32, 4),
	FORMAT("x", "uint32", HEXINT32, HEXINT32, 4),
	FORMAT("x", "sint64", HEXINT64, HEXINT64, 8),
	FORMAT("X", "uint64", HEXINT64, HEXINT64, 8),
	FORMAT("x", "real32", FLOAT, FLOAT, 4),
	FORMAT("x", "boolean", BOOLEAN, BOOLEAN, 4),
	FORMAT("c", "uint8", ANSICHAR, STRING, 1),
	FORMAT("c", "sint8", ANSICHAR, STRING, 1),
	FORMAT("c", "char16", UNICODECHAR, STRING, 2),
	FORMAT("c", "uint32", UINT32, UNSIGNEDINT, 4),
	FORMAT("s", "uint8", UINT8, UNSIGNEDBYTE, 1),
	FORMAT("a", "string", ANSISTRING, STRING, 0),
	FORMAT("w", "string", UNICODESTRING, STRING, 0),
	STRING("NullTerminated", ANSISTRING, UNICODESTRING),
	STRING("Counted", COUNTEDANSISTRING, COUNTEDSTRING),
	STRING("ReverseCounted", REVERSEDCOUNTEDANSISTRING, REVERSEDCOUNTEDSTRING),
	STRING("NotCounted", NONNULLTERMINATEDANSISTRING, NONNULLTERMINATEDSTRING),
	EXTENSION("Guid", "object", GUID, GUID, 16),
	EXTENSION("Sid", "object", WBEMSID, STRING, 0),
	EXTENSION("SizeT", "object", SIZET, HEXINT64, 8),
	EXTENSION("sizet", "uint32", SIZET, HEXINT64, 8),
	EXTENSION("Port", "object", UINT16, PORT, 2),
	EXTENSION("IPAddr", "object", UINT32, IPV4, 4),
	EXTENSION("IPAddrV4", "object", UINT32, IPV4, 4),
	EXTENSION("IPAddrV6", "object", BINARY, IPV6, 16),
	EXTENSION("WmiTime", "object", UINT64, ETWTIME, 8),
	EXTENSION("Variant", "object", HEXDUMP, HEXBINARY, 0),
	EXTENSION("RString", "object", ANSISTRING, REDUCEDSTRING, 0),
	EXTENSION("RWString", "object", UNICODESTRING, REDUCEDSTRING, 0),
	EXTENSION("NoPrint", "uint32", UINT32, NOPRINT, 4),
	EXTENSION("Unknown", "uint32", UINT32, UNSIGNEDINT, 4),
	{"extension(\"SizeT\"), pointer", "object", "", TDH_INTYPE_SIZET, TDH_OUTTYPE_HEXINT64, 0,
	 1, 8},
	{"extension(\"Guid\"), pointer", "object", "", TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64, 0,
	 1, 8},
	{"pointer", "uint32", "", TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64, 0, 1, 8},
	{"PointerType, format(\"x\")", "uint32", "", TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64, 0, 1,
	 8},
	{"pointer, extension(\"NoPrint\")", "object", "", TDH_INTYPE_POINTER, TDH_OUTTYPE_NOPRINT,
	 0, 1, 8},
	{"read", "datetime", "", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_CIMDATETIME,
	 PropertyParamFixedLength, 1, 25},
	{"XMLFragment", "string", "", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_STRING,
	 PropertyWBEMXmlFragment, 1, 0},
	{"read", "uint16", "[3]", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT,
	 PropertyParamFixedCount, 3, 2},
	{"read", "uint16", "[1]", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT,
	 PropertyParamFixedCount, 1, 2},
	{"Max(16)", "uint8", "[]", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE,
	 PropertyParamFixedCount, 16, 1},
	{"Max(16)", "uint8", "", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE, 0, 1, 1},
	{"ArraySize(4)", "uint8", "", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE,
	 PropertyParamFixedCount, 4, 1},
	{"format(\"s\")", "uint8", "[8]", TDH_INTYPE_ANSICHAR, TDH_OUTTYPE_STRING,
	 PropertyParamFixedCount, 8, 1},
	{"format(\"s\")", "char16", "[8]", TDH_INTYPE_UNICODECHAR, TDH_OUTTYPE_STRING,
	 PropertyParamFixedCount, 8, 2},
};

static void test_mof_types__reads_every_type(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct type_row *row = &rows[i];
		const struct etw_schema *schema =
			parse_event("[EventType(1)] class T : E { [WmiDataId(1), %s] %s Name%s; };",
				    row->qualifiers, row->type, row->brackets);
		const struct etw_field *field = schema->fields;

		assert_int_equal(schema->field_count, 1);
		assert_string_equal(field->name, "Name");
		if (field->in_type != row->in_type || field->out_type != row->out_type)
			fail_msg("row %zu: %u, %u", i, field->in_type, field->out_type);
		assert_int_equal(field->flags, row->flags);
		assert_int_equal(field->count, row->count);
		assert_int_equal(field->length, row->length);
	}
}

static void test_mof_types__counts_by_an_earlier_field(void **state)
{
	const struct etw_schema *schema = parse_event(
		"[EventType(1)] class T : E { [WmiDataId(2), WmiSizeIs(\"count\")] uint8 b[];\n"
		"[WmiDataId(1)] uint16 Count; };");

	(void)state;
	assert_int_equal(schema->fields[1].flags, PropertyParamCount);
	assert_int_equal(schema->fields[1].count, 0);
}

/* In each, the property stands on the third line behind HEAD's. */
static const struct {
	const char *property;
	const char *sentence;
} bad[] = {
	{"[WmiDataId(1), StringTermination(\"Odd\")] string a;", "a StringTermination is unknown"},
	{"[WmiDataId(1), StringTermination(5)] string a;", "a StringTermination is unknown"},
	{"[WmiDataId(1)] Other a;", "the type of a property has no layout"},
	{"[WmiDataId(1)] Other ref a;", "a reference has no layout"},
	{"[WmiDataId(1)] object a;", "an object has no extension that tells its layout"},
	{"[WmiDataId(1), extension(\"Odd\")] object a;",
	 "an object has no extension that tells its layout"},
	{"[WmiDataId(1), extension(\"NoPrint\")] object a;",
	 "an object has no extension that tells its layout"},
	{"[WmiDataId(1)] uint8 a[];", "an array has no size"},
	{"[WmiDataId(1), Max(\"x\")] uint8 a[];", "an array has no size"},
	{"[WmiDataId(1)] uint8 a[65536];", "an array has too many elements"},
	{"[WmiDataId(1), WmiSizeIs(\"b\")] uint8 a[];",
	 "the WmiSizeIs of an array names no integer before it"},
	{"[WmiDataId(1), WmiSizeIs(\"a\")] uint8 a[];",
	 "the WmiSizeIs of an array names no integer before it"},
};

static void test_mof_types__leaves_out_what_has_no_layout(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct etw_definition *definition;
		char text[1024];

		(void)snprintf(text, sizeof(text),
			       HEAD "[EventType(1)] class T : E {\n\n%s };\n"
				    "[EventType(2)] class U : E {};",
			       bad[i].property);
		definition = complain(text, FIRST_LINE + 2, "T", bad[i].sentence);
		assert_int_equal(definition->schema_count, 1);
	}
}

static void test_mof_types__limits_arrays_of_variable_size(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	etw_text_puts(&text, HEAD "[EventType(1)] class T : E { [WmiDataId(1)] uint8 n;");
	for (unsigned i = 2; i < 260; i++)
		etw_text_printf(&text, "[WmiDataId(%u), WmiSizeIs(\"n\")] uint8 a%u[];", i, i);
	etw_text_puts(&text, "};");
	(void)complain(etw_text_string(&text), FIRST_LINE, "T",
		       "an event has too many arrays of variable size");
}

static const struct etw_map *parse_map(const char *qualifiers, const char *type)
{
	return parse_event("[EventType(1)] class T : E { [WmiDataId(1), %s] %s Name; };",
			   qualifiers, type)
		->fields->map;
}

static void test_mof_types__reads_maps(void **state)
{
	static const struct {
		const char *qualifiers;
		uint32_t flags;
		uint32_t values[2];
	} maps[] = {
		{"ValueMap{\"0x10\", \"2\"}, Values{\"a\", \"b\"}",
		 EVENTMAP_INFO_FLAG_WBEM_VALUEMAP,
		 {16, 2}},
		{"ValueMap{\"-1\", \"0\"}, Values{\"a\", \"b\"}, ValueType(\"index\")",
		 EVENTMAP_INFO_FLAG_WBEM_VALUEMAP,
		 {UINT32_MAX, 0}},
		{"ValueMap{1, 2}, Values{\"a\", \"b\"}, ValueType(\"flag\")",
		 EVENTMAP_INFO_FLAG_WBEM_VALUEMAP | EVENTMAP_INFO_FLAG_WBEM_FLAG,
		 {1, 2}},
		{"Values{\"a\", \"b\"}",
		 EVENTMAP_INFO_FLAG_WBEM_VALUEMAP | EVENTMAP_INFO_FLAG_WBEM_NO_MAP,
		 {0, 1}},
		{"BitMap{\"3\", \"7\"}, BitValues{\"a\", \"b\"}",
		 EVENTMAP_INFO_FLAG_WBEM_BITMAP,
		 {3, 7}},
		{"BitValues{\"a\", \"b\"}",
		 EVENTMAP_INFO_FLAG_WBEM_BITMAP | EVENTMAP_INFO_FLAG_WBEM_NO_MAP,
		 {0, 1}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		const struct etw_map *map = parse_map(maps[i].qualifiers, "uint32");

		assert_non_null(map);
		assert_string_equal(map->name, "T_Name");
		assert_int_equal(map->flags, maps[i].flags);
		assert_int_equal(map->count, 2);
		assert_string_equal(map->entries[0].text, "a");
		assert_string_equal(map->entries[1].text, "b");
		assert_int_equal(map->entries[0].value, maps[i].values[0]);
		assert_int_equal(map->entries[1].value, maps[i].values[1]);
	}
	assert_non_null(parse_map("format(\"x\"), Values{\"a\"}", "sint32"));
	assert_non_null(parse_map("Values{\"a\"}", "uint8"));
	assert_null(parse_map("Values{\"a\"}", "uint64"));
	assert_null(parse_map("Values{\"a\"}", "string"));
	assert_null(parse_map("ValueMap{\"1\"}", "uint32"));
	assert_null(parse_map("Values{}", "uint32"));
}

static void test_mof_types__complains_about_bad_maps(void **state)
{
	static const struct {
		const char *qualifiers;
		const char *sentence;
		uint32_t count;
	} maps[] = {
		{"Values{\"a\", 5}", "a list of names holds what is no string", 0},
		{"ValueMap{\"1\"}, Values{\"a\", \"b\"}",
		 "a list of names and its list of numbers differ in length", 1},
		{"BitMap{\"1\", \"2\"}, BitValues{\"a\"}",
		 "a list of names and its list of numbers differ in length", 1},
		{"ValueMap{\"1\", \"x\"}, Values{\"a\", \"b\"}",
		 "a list of numbers holds what is none", 0},
		{"ValueMap{\"1..5\"}, Values{\"a\"}", "a list of numbers holds what is none", 0},
		{"ValueMap{\"4294967296\"}, Values{\"a\"}", "a list of numbers holds what is none",
		 0},
		{"ValueMap{\"-2147483649\"}, Values{\"a\"}", "a list of numbers holds what is none",
		 0},
		{"ValueMap{true}, Values{\"a\"}", "a list of numbers holds what is none", 0},
		{"ValueMap{\"\"}, Values{\"a\"}", "a list of numbers holds what is none", 0},
		{"ValueMap{\"99999999999999999999\"}, Values{\"a\"}",
		 "a list of numbers holds what is none", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		const struct etw_definition *definition;
		char text[1024];

		(void)snprintf(text, sizeof(text),
			       HEAD "[EventType(1)] class T : E {\n[WmiDataId(1), %s] uint32 a; };",
			       maps[i].qualifiers);
		definition = complain(text, FIRST_LINE + 1, "T", maps[i].sentence);
		assert_int_equal(definition->schema_count, 1);
		assert_int_equal(definition->providers[0].map_count, maps[i].count ? 1 : 0);
		if (maps[i].count)
			assert_int_equal(definition->providers[0].maps[0].count, maps[i].count);
	}
}

static void limit_map(unsigned names, unsigned numbers)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_text_puts(&text, HEAD "[EventType(1)] class T : E { [WmiDataId(1), Values{");
	for (unsigned i = 0; i < names; i++)
		etw_text_puts(&text, "\"\",");
	if (numbers)
		etw_text_puts(&text, "}, ValueMap{");
	for (unsigned i = 0; i < numbers; i++)
		etw_text_puts(&text, "\"1\",");
	etw_text_puts(&text, "}] uint8 a; };");
	(void)complain(etw_text_string(&text), FIRST_LINE, "T", "a list of names is too long");
}

static void test_mof_types__limits_maps(void **state)
{
	(void)state;
	limit_map(ETW_SCHEMA_MAP_ENTRIES_MAX + 1, 0);
	limit_map(ETW_SCHEMA_MAP_ENTRIES_MAX + 2, ETW_SCHEMA_MAP_ENTRIES_MAX + 1);
}

/* Types that inherit a property share its entries, not its name. */
static void test_mof_types__names_maps_by_event_type(void **state)
{
	const struct etw_schema *schemas = parse_event(
		"class B : E { [WmiDataId(1), Values{\"a\"}] uint8 n; };\n"
		"[EventType(1)] class T : B {}; [EventType(2)] class U : B {};");

	(void)state;
	assert_string_equal(schemas[0].fields->map_name, "T_n");
	assert_string_equal(schemas[1].fields->map_name, "U_n");
	assert_ptr_equal(schemas[0].fields->map->entries, schemas[1].fields->map->entries);
	assert_int_equal(schemas->owner->map_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mof_types__reads_every_type, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_types__counts_by_an_earlier_field, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof_types__leaves_out_what_has_no_layout,
						begin, end),
		cmocka_unit_test_setup_teardown(test_mof_types__limits_arrays_of_variable_size,
						begin, end),
		cmocka_unit_test_setup_teardown(test_mof_types__reads_maps, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_types__complains_about_bad_maps, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof_types__limits_maps, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_types__names_maps_by_event_type, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
