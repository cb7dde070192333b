/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "schema/store/store.h"

#define PROVIDER   "[Guid(\"11112222-3333-4444-5555-666677778888\")] class P : EventTrace {};\n"
#define EVENT_GUID "21112222-3333-4444-5555-666677778888"
#define PROCESS    "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c"

/* A class with an event type 1 of one field. */
#define CLASS(guid, version, name, field)                                          \
	"[Guid(\"" guid "\"), EventVersion(" version ")] class " name " : P {};\n" \
	"[EventType(1)] class " name "_T : " name " { [WmiDataId(1)] uint8 " field "; };\n"

static struct etw_schema_store *store;

static int begin(void **state)
{
	(void)state;
	return etw_schema_store_create(&store);
}

static int end(void **state)
{
	(void)state;
	etw_schema_store_freep(&store);
	return 0;
}

static int add(const char *text, const struct etw_definition **ret)
{
	struct etw_fault fault = {0};
	int r = etw_schema_store_add_mof(store, text, strlen(text), ret, &fault);

	if (r == -EBADMSG)
		assert_non_null(fault.sentence);
	return r;
}

/* Twice: the second answer comes from the cache. */
static const struct etw_schema *find(const char *guid, uint8_t version, uint8_t opcode)
{
	EVENT_RECORD record = {.EventHeader = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER}};
	enum etw_schema_miss why = ETW_SCHEMA_WPP;
	const struct etw_schema *schema;

	assert_int_equal(etw_guid_parse(guid, &record.EventHeader.ProviderId), 0);
	record.EventHeader.EventDescriptor.Version = version;
	record.EventHeader.EventDescriptor.Opcode = opcode;
	schema = etw_schema_store_find(store, &record, &why);
	assert_int_equal(why, schema ? ETW_SCHEMA_FOUND : ETW_SCHEMA_NO_CLASS);
	assert_ptr_equal(etw_schema_store_find(store, &record, NULL), schema);
	return schema;
}

static void test_store_class__finds_what_a_mof_file_teaches(void **state)
{
	const struct etw_definition *definition = NULL;
	const struct etw_schema *schema;

	(void)state;
	assert_null(find(EVENT_GUID, 1, 1));
	assert_int_equal(add(PROVIDER CLASS(EVENT_GUID, "1", "A", "a"), &definition), 0);
	schema = find(EVENT_GUID, 1, 1);
	assert_non_null(schema);
	assert_string_equal(schema->fields[0].name, "a");
	assert_ptr_equal(schema->owner, &definition->providers[0]);
	assert_ptr_equal(etw_schema_store_provider(store, &schema->provider), schema->owner);
	assert_string_equal(etw_schema_store_provider_name(store, &schema->provider), "P");
	assert_null(find(EVENT_GUID, 1, 2));
}

static void test_store_class__unknown_versions_take_the_highest(void **state)
{
	(void)state;
	assert_int_equal(add(PROVIDER CLASS(EVENT_GUID, "1", "A", "a") CLASS(
				     EVENT_GUID, "4", "B", "b") CLASS(EVENT_GUID, "2", "C", "c"),
			     NULL),
			 0);
	assert_string_equal(find(EVENT_GUID, 2, 1)->fields[0].name, "c");
	assert_string_equal(find(EVENT_GUID, 0, 1)->fields[0].name, "b");
	assert_string_equal(find(EVENT_GUID, 9, 1)->fields[0].name, "b");
	/* The latest file counts, and the highest version of all files. */
	assert_int_equal(add(PROVIDER CLASS(EVENT_GUID, "3", "A", "d"), NULL), 0);
	assert_string_equal(find(EVENT_GUID, 3, 1)->fields[0].name, "d");
	assert_string_equal(find(EVENT_GUID, 9, 1)->fields[0].name, "b");
	assert_int_equal(add(PROVIDER CLASS(EVENT_GUID, "4", "A", "e"), NULL), 0);
	assert_string_equal(find(EVENT_GUID, 4, 1)->fields[0].name, "e");
	assert_string_equal(find(EVENT_GUID, 9, 1)->fields[0].name, "e");
}

static void test_store_class__built_in_classes_are_believed_in_their_versions(void **state)
{
	(void)state;
	assert_int_equal(add(PROVIDER CLASS(PROCESS, "2", "A", "a"), NULL), 0);
	assert_null(find(PROCESS, 2, 1)->owner);
	assert_null(find(PROCESS, 4, 1)->owner);
	/* A version that is newer than all built-in ones, and older than what the file gives. */
	assert_null(find(PROCESS, 200, 1)->owner);
	assert_int_equal(add(PROVIDER CLASS(PROCESS, "100", "A", "b"), NULL), 0);
	assert_string_equal(find(PROCESS, 100, 1)->fields[0].name, "b");
	assert_string_equal(find(PROCESS, 200, 1)->fields[0].name, "b");
	assert_null(find(PROCESS, 4, 1)->owner);
}

static void test_store_class__says_why_a_file_is_of_no_use(void **state)
{
	const struct etw_definition *definition = NULL;
	struct etw_fault fault = {0};
	static const char orphan[] = "\n[EventType(1)] class T {};";

	(void)state;
	assert_int_equal(add("class", NULL), -EBADMSG);
	assert_int_equal(add("class A {};", &definition), -ENODATA);
	assert_int_equal(etw_schema_store_add_mof(store, orphan, strlen(orphan), NULL, &fault),
			 -EBADMSG);
	assert_int_equal(fault.offset, 2);
	assert_string_equal(fault.sentence, "the class does not descend from EventTrace");
	assert_null(definition);
	/* The rest of a file is of use, and the definition says what is missing. */
	assert_int_equal(add(PROVIDER "[EventType(1)] class T {};", &definition), 0);
	assert_int_equal(definition->complaint_total, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_store_class__finds_what_a_mof_file_teaches,
						begin, end),
		cmocka_unit_test_setup_teardown(test_store_class__unknown_versions_take_the_highest,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_store_class__built_in_classes_are_believed_in_their_versions, begin,
			end),
		cmocka_unit_test_setup_teardown(test_store_class__says_why_a_file_is_of_no_use,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
