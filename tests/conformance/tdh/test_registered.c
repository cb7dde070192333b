/* SPDX-License-Identifier: MIT */
/*
 * The functions of tdh.h about registered providers: what a process sees of a registry that changes while it runs,
 * and what it is told of definitions that are gone. Sources: [3] the functions in docs/format/contract-tdh.md,
 * [HERE] a decision of this project: docs/design/registry.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "registered.h"
#include "synthetic/scarce_memory.h"

static char folder[] = "/tmp/etw-tdh-registered-XXXXXX";

static union {
	PROVIDER_ENUMERATION_INFO providers;
	PROVIDER_FIELD_INFOARRAY fields;
	PROVIDER_EVENT_INFO events;
	TRACE_EVENT_INFO event;
	EVENT_MAP_INFO map;
	BYTE bytes[65536];
} out;

static GUID guid_of(unsigned number)
{
	GUID guid = {0x0000beef, 0x1111, 0x2222, {0x33, 0x33, 0, 0, 0, 0, 0, 0}};

	guid.Data1 += number << 16;
	return guid;
}

/* Registers a provider whose event 1 has @fields fields. */
static void import(unsigned number, unsigned fields)
{
	char guid[ETW_GUID_BRACED_BYTES], text[1024];
	const GUID id = guid_of(number);

	etw_guid_format_braced(&id, guid);
	(void)snprintf(
		text, sizeof(text),
		"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'"
		" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<instrumentation><events><provider name='P%u' guid='%s' symbol='P'>"
		"<templates><template tid='T'>%s%s</template></templates>"
		"<events><event value='1' template='T'/></events></provider></events>"
		"</instrumentation></instrumentationManifest>",
		number, guid, "<data name='A' inType='win:UInt32'/>",
		fields > 1 ? "<data name='B' inType='win:UInt32'/>" : "");
	registered_import(folder, WIRE_REGISTRY_MANIFEST, text);
}

static void run(const char *command)
{
	char line[256];

	(void)snprintf(line, sizeof(line), "cd %s && %s", folder, command);
	assert_int_equal(system(line), 0);
}

static int begin(void **state)
{
	(void)state;
	return !mkdtemp(folder) || setenv("ETW_PROVIDERS_DIR", folder, 1) ||
	       setenv("ETW_TRACEFS", "", 1);
}

static int end(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static EVENT_RECORD event_of(unsigned number)
{
	EVENT_RECORD record = {0};

	record.EventHeader.ProviderId = guid_of(number);
	record.EventHeader.EventDescriptor.Id = 1;
	return record;
}

static ULONG ask_event(unsigned number)
{
	EVENT_RECORD record = event_of(number);
	ULONG size = sizeof(out);

	return TdhGetEventInformation(&record, 0, NULL, &out.event, &size);
}

static ULONG ask_events(unsigned number)
{
	GUID guid = guid_of(number);
	ULONG size = sizeof(out);

	return TdhEnumerateManifestProviderEvents(&guid, &out.events, &size);
}

static bool is_listed(unsigned number)
{
	const GUID guid = guid_of(number);
	ULONG size = sizeof(out);

	assert_int_equal(TdhEnumerateProviders(&out.providers, &size), ERROR_SUCCESS);
	for (ULONG i = 0; i < out.providers.NumberOfProviders; i++) {
		if (etw_guid_equal(&out.providers.TraceProviderInfoArray[i].ProviderGuid, &guid))
			return true;
	}
	return false;
}

/* [HERE] Questions about providers see every import, and events do from then on. */
static void test_registered__an_import_is_seen(void **state)
{
	(void)state;
	assert_int_equal(ask_event(1), ERROR_NOT_FOUND);
	assert_int_equal(ask_events(1), ERROR_NOT_FOUND);
	assert_false(is_listed(1));
	import(1, 1);
	assert_true(is_listed(1));
	assert_int_equal(ask_event(1), ERROR_SUCCESS);
	assert_int_equal(ask_events(2), ERROR_NOT_FOUND);
	import(2, 1);
	assert_int_equal(ask_events(2), ERROR_SUCCESS);
	assert_int_equal(ask_event(2), ERROR_SUCCESS);
}

/* [HERE] Events that nobody knows look for themselves, though not each of them. */
static void test_registered__an_unknown_event_sees_it_after_a_while(void **state)
{
	ULONG error = ERROR_NOT_FOUND;

	(void)state;
	assert_int_equal(ask_event(3), ERROR_NOT_FOUND);
	import(3, 1);
	for (unsigned i = 0; i < 1000 && error == ERROR_NOT_FOUND; i++) {
		error = ask_event(3);
		(void)usleep(20000);
	}
	assert_int_equal(error, ERROR_SUCCESS);
}

static void WINAPI drop(PEVENT_RECORD record)
{
	(void)record;
}

/* [HERE] A newer definition counts for the traces that are opened behind it. */
static void test_registered__an_opened_trace_sees_it(void **state)
{
	static WCHAR nobody[] = {'n', 'o', 'n', 'e', 0};
	EVENT_TRACE_LOGFILEW logfile = {0};
	TRACEHANDLE trace;

	(void)state;
	import(4, 1);
	assert_true(is_listed(4));
	assert_int_equal(ask_event(4), ERROR_SUCCESS);
	assert_int_equal(out.event.PropertyCount, 1);
	import(4, 2);
	assert_int_equal(ask_event(4), ERROR_SUCCESS);
	assert_int_equal(out.event.PropertyCount, 1);
	logfile.LoggerName = nobody;
	logfile.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD;
	logfile.EventRecordCallback = drop;
	trace = OpenTraceW(&logfile);
	assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
	assert_int_equal(ask_event(4), ERROR_SUCCESS);
	assert_int_equal(out.event.PropertyCount, 2);
}

static ULONG ask_map(unsigned number)
{
	static WCHAR name[] = {'M', 0};
	EVENT_RECORD record = event_of(number);
	ULONG size = sizeof(out);

	return TdhGetEventMapInformation(&record, name, &out.map, &size);
}

static ULONG ask_property(unsigned number)
{
	static const WCHAR name[] = {'A', 0};
	PROPERTY_DATA_DESCRIPTOR descriptor = {(ULONGLONG)(uintptr_t)name, UINT32_MAX, 0};
	EVENT_RECORD record = event_of(number);

	return TdhGetProperty(&record, 0, NULL, 1, &descriptor, sizeof(out), out.bytes);
}

static ULONG ask_property_size(unsigned number)
{
	static const WCHAR name[] = {'A', 0};
	PROPERTY_DATA_DESCRIPTOR descriptor = {(ULONGLONG)(uintptr_t)name, UINT32_MAX, 0};
	EVENT_RECORD record = event_of(number);
	ULONG size;

	return TdhGetPropertySize(&record, 0, NULL, 1, &descriptor, &size);
}

static ULONG ask_fields(unsigned number)
{
	GUID guid = guid_of(number);
	ULONG size = sizeof(out);

	return TdhEnumerateProviderFieldInformation(&guid, EventTaskInformation, &out.fields,
						    &size);
}

static ULONG ask_manifest_event(unsigned number)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1};
	GUID guid = guid_of(number);
	ULONG size = sizeof(out);

	return TdhGetManifestEventInformation(&guid, &descriptor, &out.event, &size);
}

/* [3] What documents FILE_NOT_FOUND for a registered definition that is gone; damage is no better. */
static ULONG (*const questions[])(unsigned number) = {
	ask_event,          ask_map,    ask_property, ask_property_size,
	ask_manifest_event, ask_fields, ask_events,
};

static void check_questions(unsigned number, ULONG error)
{
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		assert_int_equal(questions[i](number), error);
		assert_int_equal(questions[i](number), error);
	}
}

static void test_registered__a_definition_that_is_gone_is_no_unknown_provider(void **state)
{
	(void)state;
	import(5, 1);
	assert_true(is_listed(5));
	run("mv definitions kept && mkdir definitions");
	check_questions(5, ERROR_FILE_NOT_FOUND);
	check_questions(99, ERROR_NOT_FOUND);
	run("rm -r definitions && mv kept definitions");
}

static void test_registered__a_damaged_definition_is_none(void **state)
{
	(void)state;
	import(6, 1);
	assert_true(is_listed(6));
	run("sed -i s/P6/P7/ definitions/*.man");
	check_questions(6, ERROR_FILE_NOT_FOUND);
}

/* [HERE] Root may read everything, so it is somebody else who asks. */
static void test_registered__a_definition_that_may_not_be_read_is_told(void **state)
{
	uid_t own = geteuid();

	(void)state;
	import(7, 1);
	assert_true(is_listed(7));
	run("chmod 755 . && chmod 000 $(grep -l P7 definitions/*.man)");
	assert_int_equal(own ? 0 : seteuid(65534), 0);
	check_questions(7, ERROR_ACCESS_DENIED);
	assert_int_equal(seteuid(own), 0);
}

/* A manifest of one event that stays, and of a thousand that no other version has. */
static void write_version(const char *path, long version)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	(void)fprintf(file,
		      "<instrumentationManifest><instrumentation><events><provider name='P8' "
		      "guid='{0008beef-1111-2222-3333-000000000000}'><events><event value='1'/>");
	for (unsigned i = 1000; i < 2000; i++)
		(void)fprintf(file, "<event value='%u' version='%ld'/>", i, version);
	assert_true(fputs("</events></provider></events></instrumentation>"
			  "</instrumentationManifest>",
			  file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* [HERE] Whichever allocation fails: what was loaded from the file before still counts. */
static void test_registered__loading_again_in_vain_leaves_the_old_one(void **state)
{
	ULONG error = ERROR_NOT_ENOUGH_MEMORY;
	char path[64];
	WCHAR *wide;

	(void)state;
	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer's allocator ends the program instead\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/loaded.man", folder);
	wide = (WCHAR *)(void *)etw_utf8_to_utf16(path, NULL);
	assert_non_null(wide);
	write_version(path, 0);
	assert_int_equal(TdhLoadManifest(wide), ERROR_SUCCESS);
	for (long i = 1; error; i++) {
		assert_true(i < 256);
		write_version(path, i);
		scarce_begin(i);
		error = TdhLoadManifest(wide);
		assert_int_equal(scarce_end(), error != ERROR_SUCCESS);
		assert_int_equal(ask_event(8), ERROR_SUCCESS);
		assert_int_equal(ask_events(8), ERROR_SUCCESS);
	}
	assert_int_equal(TdhUnloadManifest(wide), ERROR_SUCCESS);
	assert_int_equal(ask_event(8), ERROR_NOT_FOUND);
	free(wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registered__an_import_is_seen),
		cmocka_unit_test(test_registered__an_unknown_event_sees_it_after_a_while),
		cmocka_unit_test(test_registered__an_opened_trace_sees_it),
		cmocka_unit_test(test_registered__a_definition_that_is_gone_is_no_unknown_provider),
		cmocka_unit_test(test_registered__a_damaged_definition_is_none),
		cmocka_unit_test(test_registered__a_definition_that_may_not_be_read_is_told),
		cmocka_unit_test(test_registered__loading_again_in_vain_leaves_the_old_one),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
