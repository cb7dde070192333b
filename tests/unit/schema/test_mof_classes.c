/* SPDX-License-Identifier: MIT */
#include "base/guid.h"
#include "schema/mof/mof_internal.h"
#include "unit/schema/mof_text.h"

static void test_mof_classes__reads_a_provider(void **state)
{
	const struct etw_definition *definition = parse(
		"[Guid(\"" PROVIDER_GUID "\"), Description(\"All of it\") : amended]\n"
		"class P : EventTrace\n{\n"
		"[Values{\"one\", \"two\"}, ValueMap{\"0x1\", \"0x8000000000000000\"},\n"
		" DefineValues{\"F_ONE\", \"F_TWO\"}, ValueDescriptions{\"first\", \"second\"} : "
		"amended]\n"
		"uint32 Flags;\n"
		/* A comma is missing, as in Microsoft's own example. */
		"[DefineValues{\"L_FATAL\" \"L_ERROR\"}, Values{\"Fatal\", \"Error\"}, "
		"ValueMap{\"1\", \"0x2\"}]\n"
		"uint32 Level;\n"
		"[Values{\"no\"}, ValueMap{\"1\"}] uint32 flags; };\n"
		"[Guid(\"31112222-3333-4444-5555-666677778888\")] class Q : EventTrace\n"
		"{ [DefineValues{\"F_ONE\"}, ValueMap{\"1\"}] uint32 Flags; uint32 Level; };");
	const struct etw_provider_schema *provider = &definition->providers[0];

	(void)state;
	assert_int_equal(definition->complaint_total, 0);
	assert_int_equal(definition->provider_count, 2);
	assert_string_equal(provider->name, "P");
	assert_string_equal(provider->message, "All of it");
	assert_int_equal(provider->source, DecodingSourceWbem);
	assert_int_equal(provider->guid.Data1, 0x11112222);
	assert_int_equal(provider->keyword_count, 2);
	assert_true(provider->keywords[1].value == UINT64_C(1) << 63);
	assert_string_equal(provider->keywords[1].name, "two");
	assert_string_equal(provider->keywords[1].symbol, "F_TWO");
	assert_string_equal(provider->keywords[1].message, "second");
	assert_int_equal(provider->level_count, 2);
	assert_int_equal(provider->levels[1].value, 2);
	assert_string_equal(provider->levels[1].name, "Error");
	assert_null(provider->levels[1].symbol);
	assert_null(provider->levels[1].message);
	assert_string_equal(provider[1].keywords[0].name, "F_ONE");
	assert_int_equal(provider[1].level_count, 0);
}

static void test_mof_classes__reads_events(void **state)
{
	const struct etw_schema *schemas = parse_event(
		"[EventType{1, 2, 39}, EventTypeName{\"Start\", \"End\"} : amended, "
		"Description(\"It\")]\n"
		"class T : E { [WmiDataId(2), extension(\"Guid\"), ActivityID] object A;\n"
		"[WmiDataId(1), extension(\"Guid\"), RelatedActivityID] object R; };\n"
		"[EventType(\"0x10\"), EventTypeName(\"Other\")] class U : E {};");
	const struct etw_provider_schema *provider = schemas->owner;
	GUID guid;

	(void)state;
	assert_int_equal(etw_guid_parse(EVENT_GUID, &guid), 0);
	assert_int_equal(provider->schema_count, 4);
	assert_true(etw_guid_equal(&schemas->event_guid, &guid));
	assert_true(etw_guid_equal(&schemas->provider, &provider->guid));
	assert_int_equal(schemas[0].source, DecodingSourceWbem);
	assert_int_equal(schemas[0].descriptor.Version, 1);
	assert_int_equal(schemas[1].descriptor.Opcode, 2);
	assert_string_equal(schemas[0].provider_name, "P");
	assert_string_equal(schemas[0].task_name, "Thing");
	assert_string_equal(schemas[0].opcode_name, "Start");
	assert_string_equal(schemas[1].opcode_name, "End");
	assert_null(schemas[2].opcode_name);
	assert_string_equal(schemas[0].message, "It");
	assert_string_equal(schemas[0].symbol, "T");
	assert_string_equal(schemas[0].activity_id_name, "A");
	assert_string_equal(schemas[0].related_activity_id_name, "R");
	assert_string_equal(schemas[0].fields[0].name, "R");
	assert_ptr_equal(schemas[0].fields, schemas[2].fields);
	assert_int_equal(schemas[3].descriptor.Opcode, 16);
	assert_int_equal(schemas[3].field_count, 0);
	assert_null(schemas[3].activity_id_name);
	assert_int_equal(provider->task_count, 1);
	assert_string_equal(provider->tasks[0].named.name, "Thing");
	assert_true(etw_guid_equal(&provider->tasks[0].event_guid, &guid));
}

static void test_mof_classes__numbers_versions(void **state)
{
	const struct etw_definition *definition = parse(
		PROVIDER "[EventType(1)] class T : E {};\n" /* before the classes above it */
			 "[Guid(\"" EVENT_GUID "\"), EventVersion(3)] class E3 : P {};\n"
			 "[Guid(\"" EVENT_GUID "\")] class E : P {};\n"
			 "[EventType(1)] class T3 : E3 {};\n"
			 "[EventType(1), EventVersion(7)] class T7 : E {};\n"
			 "[Guid(\"31112222-3333-4444-5555-666677778888\")] class F : P {};\n"
			 "[EventType(1)] class U : F {};\n"
			 "[EventType(9)] class V : P {};\n");
	const struct etw_provider_schema *provider = definition->providers;

	(void)state;
	assert_int_equal(definition->complaint_total, 0);
	assert_int_equal(provider->schema_count, 5);
	/* What has no version is the latest. */
	assert_int_equal(provider->schemas[0].descriptor.Version, 8);
	assert_int_equal(provider->schemas[1].descriptor.Version, 3);
	assert_int_equal(provider->schemas[2].descriptor.Version, 7);
	assert_int_equal(provider->schemas[3].descriptor.Version, 0);
	assert_string_equal(provider->schemas[3].task_name, "F");
	assert_true(etw_guid_equal(&provider->schemas[4].event_guid, &provider->guid));
	assert_string_equal(provider->schemas[4].task_name, "P");
	assert_int_equal(provider->task_count, 3);
}

static void test_mof_classes__the_last_version_has_no_next(void **state)
{
	const struct etw_schema *schema = parse_event("[Guid(\"" EVENT_GUID
						      "\"), EventVersion(255)] class F : P {};\n"
						      "[Guid(\"" EVENT_GUID "\")] class G : P {};\n"
						      "[EventType(1)] class T : G {};");

	(void)state;
	assert_int_equal(schema->descriptor.Version, 255);
}

static void test_mof_classes__inherits_properties(void **state)
{
	const struct etw_schema *schema = parse_event(
		"class B : E { [WmiDataId(1)] uint8 a; [WmiDataId(2)] uint8 b; };\n"
		"[EventType(1)] class T : B { [WmiDataId(2)] uint32 B; "
		"[WmiDataId(3)] uint8 c; };");

	(void)state;
	assert_int_equal(schema->field_count, 3);
	assert_string_equal(schema->fields[0].name, "a");
	assert_string_equal(schema->fields[1].name, "B");
	assert_int_equal(schema->fields[1].in_type, TDH_INTYPE_UINT32);
	assert_string_equal(schema->fields[2].name, "c");
}

static void test_mof_classes__ignores_other_languages(void **state)
{
	const struct etw_definition *definition = parse(
		"#pragma namespace(\"a\")\n" HEAD "#pragma namespace(\"a\\\\ms_407\")\n" HEAD);

	(void)state;
	assert_int_equal(definition->complaint_total, 0);
	assert_int_equal(definition->provider_count, 1);
}

/* Texts behind HEAD; the complaint is about its second line unless the row says otherwise. */
static const struct {
	const char *text;
	const char *name;
	const char *sentence;
} rows[] = {
	{"\n#pragma include(\"other.mof\")", NULL, "a file that is included is not read"},
	{"\nclass P {};", "P", "a class is defined twice"},
	{"\n[EventType(1)] class T {};", "T", "the class does not descend from EventTrace"},
	{"class A {};\n[EventType(1)] class T : A {};", "T",
	 "the class does not descend from EventTrace"},
	{"\n[EventType(1)] class T : Unknown {};", "T", "a superclass is not in the file"},
	{"\n[EventType(1)] class T : T {};", "T", "the class descends from too many others"},
	{"\n[EventType(1)] class T : EventTrace {};", "T",
	 "neither the class nor one above it has a Guid"},
	{"\n[Guid(\"1\")] class T : E {};", "T", "a Guid is malformed"},
	{"\n[Guid] class T : EventTrace {};", "T", "a Guid is malformed"},
	{"\n[Guid(\"" EVENT_GUID "\"), EventVersion(256)] class F : P {};", "F",
	 "an EventVersion is no number up to 255"},
	{"\n[EventType(1), EventVersion] class T : E {};", "T",
	 "an EventVersion is no number up to 255"},
	{"\n[EventType] class T : E {};", "T", "an EventType lists nothing"},
	{"\n[EventType{}] class T : E {};", "T", "an EventType lists nothing"},
	{"\n[EventType(256)] class T : E {};", "T", "an EventType is no number up to 255"},
	{"\n[EventType(-1)] class T : E {};", "T", "an EventType is no number up to 255"},
	{"\n[EventType{1, 2, 1}] class T : E {};", "T", "an EventType is listed twice"},
	{"\n[EventType(1), EventTypeName(1)] class T : E {};", "T",
	 "an EventTypeName is no string"},
	{"\n[EventType(1), EventTypeName{\"a\", \"b\"}] class T : E {};", "T",
	 "there are more EventTypeNames than EventTypes"},
	{"\n[EventType(1), Guid(\"" EVENT_GUID "\")] class T : EventTrace {};", "T",
	 "a provider has an EventType"},
	{"[EventType(1)] class T : E {\nuint8 a; };", "T", "a property of an event has no number"},
	{"[EventType(1)] class T : E {\n[WmiDataId(0)] uint8 a; };", "T",
	 "a property of an event has no number"},
	{"[EventType(1)] class T : E { [WmiDataId(1)] uint8 a;\n[WmiDataId(2)] uint8 A; };", "T",
	 "two properties of a class have the same name"},
	{"[EventType(1)] class T : E {\n[WmiDataId(1)] uint8 a; [WmiDataId(1)] uint8 b; };", "T",
	 "two properties of an event have the same number"},
	{"[EventType(1)] class T : E { [WmiDataId(1)] uint8 a;\n[WmiDataId(3)] uint8 b; };", "T",
	 "the numbers of an event's properties have a gap"},
	{"[Guid(\"" EVENT_GUID "\")] class Q : EventTrace {\n[Values{\"a\"}] uint32 Flags; };", "Q",
	 "the names of flags or levels have no ValueMap"},
	{"[Guid(\"" EVENT_GUID "\")] class Q : EventTrace {\n"
	 "[Values{\"a\"}, ValueMap{\"256\"}] uint32 Level; };",
	 "Q", "a list of numbers holds what is none"},
	{"[Guid(\"" EVENT_GUID "\")] class Q : EventTrace {\n"
	 "[Values{\"a\", \"b\"}, ValueMap{\"1\"}] uint32 Level; };",
	 "Q", "a list of names and its list of numbers differ in length"},
};

static void test_mof_classes__complains(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[1024];

		(void)snprintf(text, sizeof(text), HEAD "%s", rows[i].text);
		(void)complain(text, FIRST_LINE + 1, rows[i].name, rows[i].sentence);
	}
}

static void test_mof_classes__a_bad_provider_takes_its_events_along(void **state)
{
	const struct etw_definition *definition = parse(
		"[Guid(\"x\")] class P : EventTrace {};\n" EVENT "[EventType(1)] class T : E {};");

	(void)state;
	assert_int_equal(definition->provider_count, 0);
	assert_int_equal(definition->complaint_count, 2);
	assert_string_equal(definition->complaints[0].sentence, "a Guid is malformed");
	assert_string_equal(definition->complaints[1].sentence,
			    "the Guid of the provider is malformed");
	assert_string_equal(definition->complaints[1].name, "T");
}

static void test_mof_classes__a_bad_class_leaves_the_others(void **state)
{
	const struct etw_definition *definition =
		complain(HEAD "[EventType(1)] class T : E {\n[WmiDataId(1)] object a; };\n"
			      "[EventType(2)] class U : E {};",
			 FIRST_LINE + 1, "T", "an object has no extension that tells its layout");

	(void)state;
	assert_int_equal(definition->schema_count, 1);
	assert_int_equal(definition->providers[0].schemas[0].descriptor.Opcode, 2);
}

static void test_mof_classes__keeps_so_many_complaints(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	for (size_t i = 0; i < ETW_COMPLAINTS_MAX + 5; i++)
		etw_text_printf(&text, "[EventType(1)] class T%zu {};\n", i);
	definition = parse(etw_text_string(&text));
	assert_int_equal(definition->complaint_count, ETW_COMPLAINTS_MAX);
	assert_int_equal(definition->complaint_total, ETW_COMPLAINTS_MAX + 5);
	assert_int_equal(definition->complaints[ETW_COMPLAINTS_MAX - 1].line, ETW_COMPLAINTS_MAX);
}

static void put_properties(struct etw_text *text, const char *stem, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		etw_text_printf(text, "[WmiDataId(%u)]uint8 %s%u;", first + i, stem, i);
	etw_text_puts(text, "};\n");
}

static void test_mof_classes__limits_fields(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	(void)state;
	etw_text_puts(&text, HEAD "class B : E {");
	put_properties(&text, "a", 1, 4000);
	etw_text_puts(&text, "[EventType(1)] class T : B {");
	put_properties(&text, "b", 4001, 97);
	(void)complain(etw_text_string(&text), FIRST_LINE + 1, "T", "an event has too many fields");
}

static void test_mof_classes__limits_inheritance(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(&text, HEAD "class B : E {");
	put_properties(&text, "a", 1, 4000);
	for (unsigned i = 0; i < 100; i++)
		etw_text_printf(&text, "[EventType(1)]class T%u:B{};", i);
	definition = parse(etw_text_string(&text));
	assert_true(definition->complaint_total > 90);
	assert_string_equal(definition->complaints[0].sentence,
			    "the classes of the file inherit too many properties");
	assert_true(etw_arena_bytes(&arena) < 40 * text.bytes);
}

static void test_mof_classes__hashes_names_with_the_seed(void **state)
{
	uint64_t hash;

	(void)state;
	etw_hash_seed_set(1);
	hash = etw_mof_hash_name("EventTrace");
	assert_true(etw_mof_hash_name("eventTRACE") == hash);
	assert_true(etw_mof_hash_name("EventTracf") != hash);
	etw_hash_seed_set(2);
	assert_true(etw_mof_hash_name("EventTrace") != hash);
	etw_hash_seed_set(0);
}

static void put_long(struct etw_text *text, char c, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		etw_text_putc(text, c);
}

/* However many event types show the name of their class, it is kept once. */
static void test_mof_classes__a_name_is_kept_once(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_provider_schema *provider;
	const size_t bytes = (size_t)256 * 1024;

	(void)state;
	etw_text_puts(&text, PROVIDER "[Guid(\"" EVENT_GUID "\"), DisplayName(\"");
	put_long(&text, 'n', bytes);
	etw_text_puts(&text, "\")] class E : P {};\n");
	for (unsigned i = 0; i < 1000; i++)
		etw_text_printf(&text, "[EventType(%u)] class T%u : E {};\n", i % 256, i);
	provider = parse(etw_text_string(&text))->providers;
	assert_int_equal(provider->schema_count, 1000);
	assert_int_equal(strlen(provider->tasks[0].named.name), bytes);
	for (size_t i = 0; i < 1000; i++)
		assert_ptr_equal(provider->schemas[i].task_name, provider->tasks[0].named.name);
	assert_true(etw_arena_bytes(&arena) < 8 * bytes);
}

/* What each class reads again that inherits it, or is compared with, has an end. */
static void test_mof_classes__what_is_read_often_is_short(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(&text, PROVIDER "[Guid(\"" EVENT_GUID "\"), EventVersion(\"");
	put_long(&text, '0', 63);
	etw_text_puts(&text, "7\")] class E : P {};\n[EventType(1)] class T : E {};\n");
	definition = parse(etw_text_string(&text));
	assert_int_equal(definition->complaint_total, 0);
	assert_int_equal(definition->providers[0].schemas[0].descriptor.Version, 7);
	etw_text_clear(&text);
	etw_text_puts(&text, PROVIDER "[Guid(\"" EVENT_GUID "\"), EventVersion(\"");
	put_long(&text, '0', 64);
	etw_text_puts(&text, "7\")] class E : P {};\n[EventType(1)] class T : E {};\n");
	(void)complain(etw_text_string(&text), 2, "E", "an EventVersion is no number up to 255");
	etw_text_clear(&text);
	etw_text_puts(&text, PROVIDER "#pragma namespace(\"");
	put_long(&text, 'r', ETW_MOF_NAME_BYTES_MAX);
	etw_text_puts(&text, "\")\n");
	(void)parse(etw_text_string(&text));
	text.bytes -= strlen("\")\n");
	etw_text_puts(&text, "r\")\n\n");
	refuse(etw_text_string(&text), 4, "the name of a namespace is too long");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_mof_classes__reads_a_provider, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__reads_events, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__numbers_versions, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__the_last_version_has_no_next,
						begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__inherits_properties, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__ignores_other_languages, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof_classes__complains, begin, end),
		cmocka_unit_test_setup_teardown(
			test_mof_classes__a_bad_provider_takes_its_events_along, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__a_bad_class_leaves_the_others,
						begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__keeps_so_many_complaints, begin,
						end),
		cmocka_unit_test_setup_teardown(test_mof_classes__limits_fields, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__limits_inheritance, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__a_name_is_kept_once, begin, end),
		cmocka_unit_test_setup_teardown(test_mof_classes__what_is_read_often_is_short,
						begin, end),
		cmocka_unit_test(test_mof_classes__hashes_names_with_the_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
