/* SPDX-License-Identifier: MIT */
/*
 * The functions of tdh.h about tracepoints, which are providers of the machine: listing, events, keywords, payload filters; and
 * how etw/schemas.h has them. All of it is a decision of this project: docs/tracepoints.md.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <etw/schemas.h>
#include <etw/session.h>
#include <tdh.h>
#include <winerror.h>

#include "base/guid_name.h"
#include "base/utf.h"
#include "synthetic/made_tracefs.h"

static GUID made;

static union {
	PROVIDER_ENUMERATION_INFO providers;
	PROVIDER_FIELD_INFOARRAY fields;
	PROVIDER_EVENT_INFO events;
	TRACE_EVENT_INFO event;
	BYTE bytes[65536];
} out;

static int begin(void **state)
{
	(void)state;
	return made_tracefs_begin() || setenv("ETW_PROVIDERS_DIR", "/nonexistent", 1) ||
			       etw_guid_of_name("linux:made", &made)
		       ? -1
		       : 0;
}

static int end(void **state)
{
	(void)state;
	return made_tracefs_end();
}

static void check_text(ULONG offset, const char *expected)
{
	uint8_t *wide = etw_utf8_to_utf16(expected, NULL);

	assert_true(offset);
	assert_memory_equal(out.bytes + offset, wide, 2 * strlen(expected) + 2);
	free(wide);
}

static void test_tracepoints__are_listed(void **state)
{
	ULONG size = sizeof(out);

	(void)state;
	assert_int_equal(TdhEnumerateProviders(&out.providers, &size), ERROR_SUCCESS);
	assert_int_equal(out.providers.NumberOfProviders, 2); /* and the kernel's classes */
	for (ULONG i = 0; i < 2; i++) {
		const TRACE_PROVIDER_INFO *info = &out.providers.TraceProviderInfoArray[i];

		if (memcmp(&info->ProviderGuid, &made, sizeof(made)) != 0)
			continue;
		assert_int_equal(info->SchemaSource, 0);
		check_text(info->ProviderNameOffset, "linux:made");
		return;
	}
	fail();
}

static void list_events(ULONG count)
{
	ULONG size = sizeof(out);

	assert_int_equal(TdhEnumerateManifestProviderEvents(&made, &out.events, &size),
			 ERROR_SUCCESS);
	assert_int_equal(out.events.NumberOfEvents, count);
	for (ULONG i = 0; i < count; i++) {
		assert_int_equal(out.events.EventDescriptorsArray[i].Id, i + 1);
		assert_int_equal(out.events.EventDescriptorsArray[i].Level, 4);
		assert_int_equal(out.events.EventDescriptorsArray[i].Keyword, 1 << i);
	}
}

static void test_tracepoints__have_events(void **state)
{
	/* More than the one that the type has. */
	const EVENT_PROPERTY_INFO *properties = out.event.EventPropertyInfoArray;
	EVENT_DESCRIPTOR wanted = {.Id = 2};
	ULONG size = sizeof(out);

	(void)state;
	list_events(2);
	assert_int_equal(TdhGetManifestEventInformation(&made, &wanted, &out.event, &size),
			 ERROR_SUCCESS);
	check_text(out.event.ProviderNameOffset, "linux:made");
	check_text(out.event.TaskNameOffset, "finish");
	assert_true(out.event.TopLevelPropertyCount >= 3);
	check_text(properties[0].NameOffset, "comm");
	check_text(properties[1].NameOffset, "pid");
	assert_int_equal(properties[1].nonStructType.InType, TDH_INTYPE_INT32);
	wanted.Id = 3;
	size = sizeof(out);
	assert_int_equal(TdhGetManifestEventInformation(&made, &wanted, &out.event, &size),
			 ERROR_NOT_FOUND);
	/* One that comes meanwhile is there at the next call. */
	assert_int_equal(made_tracefs_add("later"), 0);
	list_events(3);
}

static void test_tracepoints__have_keywords(void **state)
{
	ULONG size = sizeof(out);

	(void)state;
	assert_int_equal(TdhEnumerateProviderFieldInformation(&made, EventKeywordInformation,
							      &out.fields, &size),
			 ERROR_SUCCESS);
	assert_int_equal(out.fields.NumberOfElements, 2);
	check_text(out.fields.FieldInfoArray[0].NameOffset, "begin");
	size = sizeof(out);
	assert_int_equal(TdhQueryProviderFieldInformation(&made, 2, EventKeywordInformation,
							  &out.fields, &size),
			 ERROR_SUCCESS);
	assert_int_equal(out.fields.NumberOfElements, 1);
	assert_int_equal(out.fields.FieldInfoArray[0].Value, 2);
	check_text(out.fields.FieldInfoArray[0].NameOffset, "finish");
}

static void test_tracepoints__make_payload_filters(void **state)
{
	static WCHAR pid[] = {'p', 'i', 'd', 0}, value[] = {'4', '2', 0};
	static WCHAR no_field[] = {'x', 0};
	PAYLOAD_FILTER_PREDICATE predicate = {pid, PAYLOADFIELD_EQ, value};
	EVENT_DESCRIPTOR wanted = {.Id = 1};
	EVENT_FILTER_DESCRIPTOR descriptor;
	void *filter = NULL;

	(void)state;
	assert_int_equal(TdhCreatePayloadFilter(&made, &wanted, FALSE, 1, &predicate, &filter),
			 ERROR_SUCCESS);
	assert_int_equal(TdhAggregatePayloadFilters(1, &filter, NULL, &descriptor), ERROR_SUCCESS);
	assert_int_equal(descriptor.Type, EVENT_FILTER_TYPE_PAYLOAD);
	assert_int_equal(TdhCleanupPayloadEventFilterDescriptor(&descriptor), ERROR_SUCCESS);
	assert_int_equal(TdhDeletePayloadFilter(&filter), ERROR_SUCCESS);
	wanted.Id = 9;
	assert_int_equal(TdhCreatePayloadFilter(&made, &wanted, FALSE, 1, &predicate, &filter),
			 ERROR_NOT_FOUND);
	wanted.Id = 1;
	predicate.FieldName = no_field;
	assert_int_not_equal(TdhCreatePayloadFilter(&made, &wanted, FALSE, 1, &predicate, &filter),
			     ERROR_SUCCESS);
}

static int note_provider(void *context, const GUID *guid, const char *name, size_t event_count)
{
	if (memcmp(guid, &made, sizeof(made)) != 0)
		return 0;
	assert_string_equal(name, "linux:made");
	assert_int_equal(event_count, 2);
	++*(int *)context;
	return 0;
}

static int note_event(void *context, const struct libetw_schema *schema)
{
	static const char *const names[] = {"begin", "finish"};

	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_TASK_NAME),
			    names[(*(int *)context)++]);
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_ORIGIN), "installed");
	return 0;
}

static void test_tracepoints__are_known_to_schemas(void **state)
{
	struct libetw_schemas *schemas;
	int providers = 0, events = 0;
	GUID guid;

	(void)state;
	assert_int_equal(libetw_schemas_create(&schemas), 0);
	assert_int_equal(libetw_schemas_each_provider(schemas, note_provider, &providers), 0);
	assert_int_equal(providers, 1);
	assert_int_equal(libetw_schemas_find_provider(schemas, "linux:made", &guid), 0);
	assert_memory_equal(&guid, &made, sizeof(made));
	assert_int_equal(libetw_schemas_each_event(schemas, &made, note_event, &events), 0);
	assert_int_equal(events, 2);
	libetw_schemas_free(schemas);
	assert_int_equal(libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED, &schemas), 0);
	assert_int_equal(libetw_schemas_each_provider(schemas, note_provider, &providers), 0);
	assert_int_equal(providers, 1);
	libetw_schemas_free(schemas);
}

/* Names that are none are refused before any host is asked. */
static void test_tracepoints__names_to_enable(void **state)
{
	(void)state;
	assert_int_equal(libetw_session_enable_named(NULL, NULL, "linux:no-such", NULL), -ESRCH);
	assert_int_equal(libetw_session_enable_named(NULL, NULL, "linux:made:no*", NULL), -ESRCH);
	assert_int_equal(libetw_session_enable_named(NULL, NULL, "linux:made:", NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tracepoints__are_listed, begin, end),
		cmocka_unit_test_setup_teardown(test_tracepoints__have_events, begin, end),
		cmocka_unit_test_setup_teardown(test_tracepoints__have_keywords, begin, end),
		cmocka_unit_test_setup_teardown(test_tracepoints__make_payload_filters, begin, end),
		cmocka_unit_test_setup_teardown(test_tracepoints__are_known_to_schemas, begin, end),
		cmocka_unit_test_setup_teardown(test_tracepoints__names_to_enable, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
