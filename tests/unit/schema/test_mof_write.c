/* SPDX-License-Identifier: MIT */
#include "schema/compare.h"
#include "schema/mof/mof_write.h"
#include "unit/schema/mof_text.h"

static void check_round_trip(const struct etw_definition *definition)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(etw_text_done) struct etw_text difference = {0};
	const struct etw_definition *again;
	struct etw_fault fault = {0};

	if (etw_mof_write(definition, &text, &fault) < 0)
		fail_msg("%s", fault.sentence);
	again = parse(etw_text_string(&text));
	assert_int_equal(again->complaint_total, 0);
	if (!etw_definition_compare(definition, again, 0, &difference))
		fail_msg("%s\n%s", etw_text_string(&difference), etw_text_string(&text));
}

static void test_mof_write__reads_back(void **state)
{
	const struct etw_definition *definition = parse(
		"[Guid(\"{" PROVIDER_GUID
		"}\"), Description(\"quote \\\" and \\\\ and \\n\\x1\")]\n"
		"class P : EventTrace { [Values{\"a\", \"b\"}, ValueMap{\"1\", "
		"\"0xffffffffffffffff\"}] uint32 Flags;\n"
		"[Values{\"l\"}, ValueMap{\"5\"}, DefineValues{\"L\"}, "
		"ValueDescriptions{\"level\"}] uint32 Level; };\n" EVENT
		/* Names that the writer would have made up itself. */
		"[EventType{1, 2}, EventTypeName{\"One\"}, Description(\"text\")] class Thing_V1 : "
		"E {\n"
		"[WmiDataId(1), Values{\"a\"}, extension(\"NoPrint\")] uint8 n;\n"
		"[WmiDataId(2), WmiSizeIs(\"n\"), format(\"x\")] uint16 b[];\n"
		"[WmiDataId(3), extension(\"Guid\"), ActivityID, RelatedActivityID] object c;\n"
		"[WmiDataId(4), BitMap{\"1\"}, BitValues{\"x\"}, XMLFragment] uint32 d[3];\n"
		"[WmiDataId(5), extension(\"NoPrint\")] datetime e;\n"
		"[WmiDataId(6), ValueMap{\"-1\"}, Values{\"x\"}, ValueType(\"flag\")] sint32 f;\n"
		"[WmiDataId(7)] datetime g; };\n"
		"[EventType(3)] class U : P { };\n"
		"[Guid(\"" EVENT_GUID "\"), DisplayName(\"Th\xc3\xbcng\")] class F : P {};\n"
		"[EventType(1)] class V : F { [WmiDataId(1), BitValues{\"x\"}] uint32 a; };\n"
		"[Guid(\"41112222-3333-4444-5555-666677778888\"), DisplayName(\"\"), "
		"Description(\"unused\")] class G : P {};\n"
		"[Guid(\"31112222-3333-4444-5555-666677778888\")] class Q : EventTrace {};\n"
		"[Guid(\"" EVENT_GUID
		"\"), EventVersion(1), DisplayName(\"Thing\")] class H : Q {};\n"
		"[EventType(1)] class W : H {};\n");

	(void)state;
	assert_int_equal(definition->complaint_total, 0);
	assert_int_equal(definition->schema_count, 5);
	check_round_trip(definition);
}

static void test_mof_write__writes_every_type(void **state)
{
	static const char *const types[] = {
		"[WmiDataId(1)] sint8 a",
		"[WmiDataId(1)] uint8 a",
		"[WmiDataId(1)] sint16 a",
		"[WmiDataId(1)] uint16 a",
		"[WmiDataId(1)] sint32 a",
		"[WmiDataId(1)] uint32 a",
		"[WmiDataId(1)] sint64 a",
		"[WmiDataId(1)] uint64 a",
		"[WmiDataId(1)] real32 a",
		"[WmiDataId(1)] real64 a",
		"[WmiDataId(1)] boolean a",
		"[WmiDataId(1)] char16 a",
		"[WmiDataId(1)] datetime a",
		"[WmiDataId(1), format(\"x\")] sint8 a",
		"[WmiDataId(1), format(\"x\")] uint8 a",
		"[WmiDataId(1), format(\"x\")] sint16 a",
		"[WmiDataId(1), format(\"x\")] uint16 a",
		"[WmiDataId(1), format(\"x\")] uint32 a",
		"[WmiDataId(1), format(\"x\")] uint64 a",
		"[WmiDataId(1), format(\"c\")] uint8 a",
		"[WmiDataId(1), format(\"s\")] uint8 a[4]",
		"[WmiDataId(1), format(\"s\")] char16 a[4]",
		"[WmiDataId(1), pointer] uint32 a",
		"[WmiDataId(1), pointer, extension(\"NoPrint\")] uint32 a",
		"[WmiDataId(1), extension(\"NoPrint\")] string a",
		"[WmiDataId(1), extension(\"SizeT\")] object a",
		"[WmiDataId(1), extension(\"Guid\")] object a",
		"[WmiDataId(1), extension(\"Sid\")] object a",
		"[WmiDataId(1), extension(\"Variant\")] object a",
		"[WmiDataId(1), extension(\"Port\")] object a",
		"[WmiDataId(1), extension(\"IPAddr\")] object a",
		"[WmiDataId(1), extension(\"IPAddrV6\")] object a[2]",
		"[WmiDataId(1), extension(\"WmiTime\")] object a",
		"[WmiDataId(1), extension(\"RString\")] object a",
		"[WmiDataId(1), extension(\"RWString\")] object a",
		"[WmiDataId(1)] string a",
		"[WmiDataId(1), format(\"w\")] string a",
		"[WmiDataId(1), StringTermination(\"Counted\")] string a",
		"[WmiDataId(1), StringTermination(\"Counted\"), format(\"w\")] string a",
		"[WmiDataId(1), StringTermination(\"ReverseCounted\")] string a",
		"[WmiDataId(1), StringTermination(\"ReverseCounted\"), format(\"w\")] string a",
		"[WmiDataId(1), StringTermination(\"NotCounted\")] string a",
		"[WmiDataId(1), StringTermination(\"NotCounted\"), format(\"w\")] string a",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), HEAD "[EventType(1)] class T : E { %s; };",
			       types[i]);
		check_round_trip(parse(text));
	}
}

/* A provider with one event that MOF can say, for tests to spoil. */
struct made {
	struct etw_field fields[2];
	struct etw_schema schemas[2];
	struct etw_provider_schema provider;
	struct etw_definition definition;
};

static void make(struct made *made)
{
	*made = (struct made){0};
	for (size_t i = 0; i < 2; i++) {
		made->fields[i] = (struct etw_field){.name = i ? "b" : "a",
						     .in_type = TDH_INTYPE_UINT8,
						     .out_type = TDH_OUTTYPE_UNSIGNEDBYTE,
						     .count = 1,
						     .length = 1};
		made->schemas[i] = (struct etw_schema){.event_guid = {.Data1 = 2},
						       .descriptor = {.Opcode = (uint8_t)i},
						       .source = DecodingSourceWbem,
						       .field_count = 2,
						       .top_count = 2,
						       .fields = made->fields};
	}
	made->provider = (struct etw_provider_schema){.guid = {.Data1 = 1},
						      .source = DecodingSourceWbem,
						      .name = "P",
						      .schemas = made->schemas,
						      .schema_count = 2};
	made->definition = (struct etw_definition){&made->provider, 1, 2, NULL, 0, 0};
}

static void test_mof_write__makes_names_up(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *again;
	struct etw_fault fault = {0};
	struct made made;

	(void)state;
	make(&made);
	made.schemas[0].opcode_name = "\xc3\xa4 1";
	made.schemas[0].task_name = "P";
	made.schemas[1].task_name = "P";
	made.schemas[1].opcode_name = "P";
	assert_int_equal(etw_mof_write(&made.definition, &text, &fault), 0);
	again = parse(etw_text_string(&text));
	assert_int_equal(again->complaint_total, 0);
	assert_int_equal(again->schema_count, 2);
	assert_string_equal(again->providers[0].schemas[0].opcode_name, "\xc3\xa4 1");
}

static void refuse_write(struct made *made, const char *sentence)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct etw_fault fault = {0};

	etw_text_puts(&text, "before");
	assert_int_equal(etw_mof_write(&made->definition, &text, &fault), -EOPNOTSUPP);
	assert_string_equal(fault.sentence, sentence);
	assert_string_equal(etw_text_string(&text), "before");
	make(made);
}

static void test_mof_write__refuses_what_mof_cannot_say(void **state)
{
	static const struct etw_map map = {"m", EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, 0, NULL};
	struct made made;

	(void)state;
	make(&made);
	made.provider.source = DecodingSourceXMLFile;
	refuse_write(&made, "the provider's schemas are no MOF classes");
	made.provider.name = "A-Provider";
	refuse_write(&made, "the name of the provider is no identifier");
	made.provider.name = NULL;
	refuse_write(&made, "the name of the provider is no identifier");
	made.schemas[0].symbol = "1";
	refuse_write(&made, "the name of a class is no identifier");
	made.schemas[0].symbol = "p";
	refuse_write(&made, "two classes have the same name");
	made.fields[0].flags = PropertyStruct;
	refuse_write(&made, "MOF has no structs");
	made.fields[0].flags = PropertyParamLength;
	refuse_write(&made, "a field has a property that MOF cannot say");
	made.fields[0].flags = ETW_FIELD_OPTIONAL;
	refuse_write(&made, "a field has a property that MOF cannot say");
	made.fields[0].name = "a b";
	refuse_write(&made, "the name of a field is no identifier");
	made.fields[0].map = &map;
	refuse_write(&made, "a map is of a kind that MOF does not have");
	made.fields[0].in_type = TDH_INTYPE_SYSTEMTIME;
	refuse_write(&made, "the type of a field has no words in MOF");
	made.fields[0].flags = PropertyParamFixedLength;
	refuse_write(&made, "the type of a field has no words in MOF");
	made.fields[0].in_type = TDH_INTYPE_GUID;
	made.fields[0].out_type = TDH_OUTTYPE_NOPRINT;
	refuse_write(&made, "the type of a field has no words in MOF");
	made.fields[0].count = 2;
	refuse_write(&made, "an array has a count that MOF cannot say");
}

/* Made-up names stay short enough to be read, however many event classes are called the same. */
static void test_mof_write__numbers_names_that_are_taken(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(&text, PROVIDER);
	for (unsigned i = 0; i < 200; i++)
		etw_text_printf(&text,
				"[Guid(\"2111%04x-3333-4444-5555-666677778888\"), EventVersion(1), "
				"DisplayName(\"Thing\")] class E%u : P {};\n"
				"[EventType(1)] class T%u : E%u {};\n",
				i, i, i, i);
	definition = parse(etw_text_string(&text));
	assert_int_equal(definition->schema_count, 200);
	check_round_trip(definition);
}

/* A model that somebody has made may have a task without a name. */
static void test_mof_write__a_task_without_name(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_task task = {.event_guid = {.Data1 = 1}};
	struct etw_provider_schema provider = {
		.source = DecodingSourceWbem, .name = "P", .tasks = &task, .task_count = 1};
	const struct etw_definition definition = {.providers = &provider, .provider_count = 1};

	(void)state;
	assert_int_equal(etw_mof_write(&definition, &text, NULL), 0);
	assert_non_null(strstr(etw_text_string(&text), "DisplayName(\"\")"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mof_write__reads_back, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_write__writes_every_type, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_write__makes_names_up, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_write__refuses_what_mof_cannot_say, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof_write__a_task_without_name, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_write__numbers_names_that_are_taken, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
