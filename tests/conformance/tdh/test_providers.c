/* SPDX-License-Identifier: MIT */
/*
 * The functions of tdh.h about providers: loading and unloading, listing, fields, events, filters.
 * Each documented error has a row of its own in test_documented_errors.c. Sources: [3] the functions in
 * docs/format/contract-tdh.md, [DOC] Microsoft's page of the function, [HERE] a decision of this project: docs/design/registry.md.
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

#include <tdh.h>
#include <winerror.h>

#include "base/macros.h"
#include "base/utf.h"
#include "synthetic/made_wevt.h"

#define PROVIDER "{0000abcd-1111-2222-3333-444444444444}"

static const char manifest[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events><provider name='Made' guid='" PROVIDER "' symbol='P'>"
	"<channels><channel name='Made/Op' chid='C' type='Operational'/></channels>"
	"<tasks><task name='Work' value='3'><opcodes><opcode name='own' "
	"value='11'/></opcodes></task>"
	"</tasks><opcodes><opcode name='all' value='12'/></opcodes>"
	"<keywords><keyword name='Disk' mask='0x1' message='$(string.k)'/>"
	"<keyword name='Net' mask='0x4'/></keywords>"
	"<templates><template tid='T'><data name='Count' inType='win:UInt32'/></template>"
	"<template tid='F'><data name='Limit' inType='win:UInt32' "
	"outType='xs:unsignedInt'/></template>"
	"<template tid='G'><data name='Kind' inType='win:UInt32' map='Kinds'/>"
	"<struct name='Pair'><data name='Left' inType='win:UInt32'/>"
	"<data name='Right' inType='win:UInt32' count='2'/></struct></template>"
	"</templates><maps><valueMap name='Kinds'><map value='1' message='$(string.k)'/></valueMap>"
	"</maps>"
	"<filters><filter name='Most' value='9' version='2' tid='F' symbol='M'/>"
	"<filter name='Some' value='10' tid='G' symbol='N' message='$(string.k)'/></filters>"
	"<events><event value='7' version='1' channel='C' level='win:Error' task='Work' "
	"opcode='own'"
	" keywords='Disk' template='T'/><event value='8'/></events></provider>"
	"<provider name='Bare' guid='{0000abce-1111-2222-3333-444444444444}' symbol='B'/>"
	"</events></instrumentation><localization><resources culture='en-US'><stringTable>"
	"<string id='k' value='disk work'/></stringTable></resources></localization>"
	"</instrumentationManifest>";

static GUID made = {0x0000abcd, 0x1111, 0x2222, {0x33, 0x33, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44}};
static GUID bare = {0x0000abce, 0x1111, 0x2222, {0x33, 0x33, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44}};
static GUID nobody = {0x0000abcf, 0x1111, 0x2222, {0, 0, 0, 0, 0, 0, 0, 0}};
static GUID kernel = {0x9e814aad, 0x3204, 0x11d2, {0x9a, 0x82, 0x00, 0x60, 0x08, 0xa8, 0x69, 0x39}};

static char folder[] = "/tmp/etw-tdh-providers-XXXXXX";
static char path[128];
static WCHAR wide_path[128];

static union {
	PROVIDER_ENUMERATION_INFO providers;
	PROVIDER_FIELD_INFOARRAY fields;
	PROVIDER_EVENT_INFO events;
	TRACE_EVENT_INFO event;
	PPROVIDER_FILTER_INFO filters[2]; /* as many as there are */
	BYTE bytes[65536];
} out;

/* Whether the string at @at is this one. */
static bool is_text(const void *at, const char *expected)
{
	uint8_t *wide = etw_utf8_to_utf16(expected, NULL);
	bool is_equal = at && wide && etw_utf16_length(at, 1024) == strlen(expected) &&
			!memcmp(at, wide, 2 * strlen(expected));

	free(wide);
	return is_equal;
}

static int begin(void **state)
{
	FILE *file;
	uint8_t *wide;

	(void)state;
	if (!mkdtemp(folder) || setenv("ETW_PROVIDERS_DIR", folder, 1) ||
	    setenv("ETW_TRACEFS", "", 1))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/made.man", folder);
	file = fopen(path, "we");
	if (!file || fputs(manifest, file) < 0 || fclose(file))
		return -1;
	wide = etw_utf8_to_utf16(path, NULL);
	memcpy(wide_path, wide, 2 * strlen(path) + 2);
	free(wide);
	return 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static int load(void **state)
{
	(void)state;
	return TdhLoadManifest(wide_path) == ERROR_SUCCESS ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	return TdhUnloadManifest(wide_path) == ERROR_SUCCESS ? 0 : -1;
}

/* Besides test_documented_errors.c: paths that are none [3], and what is not loaded [HERE]. */
static void test_providers__what_cannot_be_loaded_or_unloaded(void **state)
{
	static WCHAR empty[] = {0};
	WCHAR longest[MAX_PATH + 2];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(longest) - 1; i++)
		longest[i] = 'a';
	longest[MAX_PATH + 1] = 0;
	assert_int_equal(TdhLoadManifest(empty), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhLoadManifest(longest), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhUnloadManifest(longest), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhLoadManifestFromBinary(longest), ERROR_INVALID_PARAMETER);
	longest[MAX_PATH] = 0;
	assert_int_equal(TdhLoadManifest(longest), ERROR_FILENAME_EXCED_RANGE); /* [HERE] */
	assert_int_equal(TdhLoadManifestFromMemory(manifest, 0), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhUnloadManifestFromMemory(manifest, 0), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhUnloadManifest(wide_path), ERROR_NOT_FOUND);
	assert_int_equal(TdhUnloadManifestFromMemory(manifest, sizeof(manifest) - 1),
			 ERROR_NOT_FOUND);
}

/* [3] A file that is gone is no hindrance to unloading what was read from it. */
static void test_providers__what_was_loaded_goes_without_its_file(void **state)
{
	char kept[160];

	(void)state;
	(void)snprintf(kept, sizeof(kept), "%s.kept", path);
	assert_int_equal(TdhLoadManifest(wide_path), ERROR_SUCCESS);
	assert_int_equal(rename(path, kept), 0);
	assert_int_equal(TdhUnloadManifest(wide_path), ERROR_SUCCESS);
	assert_int_equal(TdhUnloadManifest(wide_path), ERROR_FILE_NOT_FOUND);
	assert_int_equal(rename(kept, path), 0);
}

static WCHAR *wide_of(const char *name)
{
	static WCHAR wide[160];
	uint8_t *copy = etw_utf8_to_utf16(name, NULL);

	assert_true(copy && strlen(name) < ARRAY_SIZE(wide));
	memcpy(wide, copy, 2 * strlen(name) + 2);
	free(copy);
	return wide;
}

/* [3] The same by names that lead there: relative, through a link of a folder, by a link. */
static void test_providers__names_lead_to_what_was_loaded(void **state)
{
	static const char *const names[] = {"made.man", "./made.man", "there/made.man", "link.man"};
	char kept[160], *before = getcwd(NULL, 0);

	(void)state;
	(void)snprintf(kept, sizeof(kept), "%s.kept", path);
	assert_non_null(before);
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(symlink(folder, "there"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(symlink("made.man", "link.man"), 0);
		assert_int_equal(TdhLoadManifest(wide_of(names[i])), ERROR_SUCCESS);
		assert_int_equal(rename(path, kept), 0);
		assert_int_equal(unlink("link.man"), 0);
		assert_int_equal(TdhUnloadManifest(wide_of(names[i])), ERROR_SUCCESS);
		assert_int_equal(TdhUnloadManifest(wide_of(names[i])), ERROR_FILE_NOT_FOUND);
		assert_int_equal(rename(kept, path), 0);
		/* By the full path as well. */
		assert_int_equal(symlink("made.man", "link.man"), 0);
		assert_int_equal(TdhLoadManifest(wide_of(names[i])), ERROR_SUCCESS);
		assert_int_equal(TdhUnloadManifest(wide_path), ERROR_SUCCESS);
		assert_int_equal(unlink("link.man"), 0);
	}
	assert_int_equal(unlink("there"), 0);
	assert_int_equal(chdir(before), 0);
	free(before);
}

static ULONG events_of(GUID *guid)
{
	ULONG size = sizeof(out);

	return TdhEnumerateManifestProviderEvents(guid, &out.events, &size);
}

static void test_providers__what_is_loaded_can_be_unloaded_again_and_again(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(events_of(&made), ERROR_NOT_FOUND);
		assert_int_equal(TdhLoadManifest(wide_path), ERROR_SUCCESS);
		assert_int_equal(TdhLoadManifest(wide_path), ERROR_SUCCESS);
		assert_int_equal(events_of(&made), ERROR_SUCCESS);
		assert_int_equal(TdhLoadManifestFromMemory(manifest, sizeof(manifest) - 1),
				 ERROR_SUCCESS);
		assert_int_equal(TdhUnloadManifest(wide_path), ERROR_SUCCESS);
		assert_int_equal(events_of(&made), ERROR_SUCCESS);
		assert_int_equal(TdhUnloadManifestFromMemory(manifest, sizeof(manifest) - 1),
				 ERROR_SUCCESS);
	}
}

/* An event is decoded by a loaded manifest, and no longer when it is gone. */
static void test_providers__events_decode_while_it_is_loaded(void **state)
{
	EVENT_RECORD record = {0};
	ULONG size = sizeof(out);

	(void)state;
	record.EventHeader.ProviderId = made;
	record.EventHeader.EventDescriptor.Id = 7;
	record.EventHeader.EventDescriptor.Version = 1;
	assert_int_equal(TdhGetEventInformation(&record, 0, NULL, &out.event, &size),
			 ERROR_NOT_FOUND);
	assert_int_equal(TdhLoadManifest(wide_path), ERROR_SUCCESS);
	size = sizeof(out);
	assert_int_equal(TdhGetEventInformation(&record, 0, NULL, &out.event, &size),
			 ERROR_SUCCESS);
	assert_true(is_text(TEI_TASK_NAME(&out.event), "Work"));
	assert_int_equal(TdhUnloadManifest(wide_path), ERROR_SUCCESS);
	size = sizeof(out);
	assert_int_equal(TdhGetEventInformation(&record, 0, NULL, &out.event, &size),
			 ERROR_NOT_FOUND);
}

static const TRACE_PROVIDER_INFO *find_listed(const GUID *guid)
{
	for (ULONG i = 0; i < out.providers.NumberOfProviders; i++) {
		if (!memcmp(&out.providers.TraceProviderInfoArray[i].ProviderGuid, guid,
			    sizeof(*guid)))
			return &out.providers.TraceProviderInfoArray[i];
	}
	return NULL;
}

static void test_providers__are_listed(void **state)
{
	TRACE_PROVIDER_INFO info;
	ULONG size = 0, needed;

	(void)state;
	assert_int_equal(TdhEnumerateProviders(NULL, NULL), ERROR_INVALID_PARAMETER);    /* [3] */
	assert_int_equal(TdhEnumerateProviders(NULL, &size), ERROR_INSUFFICIENT_BUFFER); /* [3] */
	needed = size;
	size = needed - 1;
	assert_int_equal(TdhEnumerateProviders(&out.providers, &size), ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, needed);
	assert_int_equal(TdhEnumerateProviders(&out.providers, &size), ERROR_SUCCESS);
	assert_int_equal(out.providers.NumberOfProviders, 3);
	assert_non_null(find_listed(&made));
	info = *find_listed(&made);
	assert_int_equal(info.SchemaSource, 0); /* [2.3] manifest */
	assert_true(is_text(PEI_PROVIDER_NAME(&out.providers, &info), "Made"));
	info = *find_listed(&kernel); /* [HERE] */
	assert_int_equal(info.SchemaSource, 1);
	assert_true(is_text(PEI_PROVIDER_NAME(&out.providers, &info), "Windows Kernel Trace"));
	assert_null(find_listed(&nobody));
	size = 8;
	assert_int_equal(TdhEnumerateProviders(NULL, &size), ERROR_INVALID_PARAMETER);
}

static void test_providers__are_listed_by_source(void **state)
{
	static const struct {
		DECODING_SOURCE source;
		ULONG result;
		ULONG count;
	} rows[] = {
		{DecodingSourceXMLFile, ERROR_SUCCESS, 2},
		{DecodingSourceWbem, ERROR_SUCCESS, 1},
		{DecodingSourceWPP, ERROR_SUCCESS, 0},
		{DecodingSourceTlg, ERROR_SUCCESS, 0},
		{DecodingSourceMax, ERROR_INVALID_PARAMETER, 0},
	};
	ULONG needed;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		out.providers.NumberOfProviders = 0;
		assert_int_equal(TdhEnumerateProvidersForDecodingSource(
					 rows[i].source, &out.providers, sizeof(out), &needed),
				 rows[i].result);
		assert_int_equal(out.providers.NumberOfProviders, rows[i].count);
	}
	assert_int_equal(
		TdhEnumerateProvidersForDecodingSource(DecodingSourceXMLFile, NULL, 0, NULL),
		ERROR_INVALID_PARAMETER);
	assert_int_equal(
		TdhEnumerateProvidersForDecodingSource(DecodingSourceXMLFile, NULL, 0, &needed),
		ERROR_INSUFFICIENT_BUFFER);
}

#define ALL UINT64_MAX /* not one value: TdhEnumerateProviderFieldInformation */

/* What TdhEnumerateProviderFieldInformation and its query tell: [3], [DOC] EVENT_FIELD_TYPE. */
static const struct {
	GUID *guid;
	EVENT_FIELD_TYPE type;
	ULONGLONG wanted;
	ULONG result;
	ULONG count;
	ULONGLONG first_value;
	const char *first_name;
} field_rows[] = {
	{&made, EventKeywordInformation, ALL, ERROR_SUCCESS, 2, 1, "Disk"},
	{&made, EventKeywordInformation, 6, ERROR_SUCCESS, 1, 4, "Net"},
	{&made, EventKeywordInformation, 5, ERROR_SUCCESS, 2, 1, "Disk"},
	{&made, EventKeywordInformation, 2, ERROR_NOT_FOUND, 0, 0, NULL},
	{&made, EventKeywordInformation, 0, ERROR_NOT_FOUND, 0, 0, NULL},
	{&made, EventLevelInformation, ALL, ERROR_SUCCESS, 1, 2, "win:Error"},
	{&made, EventLevelInformation, 2, ERROR_SUCCESS, 1, 2, "win:Error"},
	{&made, EventLevelInformation, 4, ERROR_NOT_FOUND, 0, 0, NULL},
	{&made, EventChannelInformation, ALL, ERROR_SUCCESS, 1, 16, "Made/Op"},
	{&made, EventChannelInformation, 16, ERROR_SUCCESS, 1, 16, "Made/Op"},
	{&made, EventChannelInformation, 17, ERROR_NOT_FOUND, 0, 0, NULL},
	{&made, EventTaskInformation, ALL, ERROR_SUCCESS, 1, 3, "Work"},
	{&made, EventTaskInformation, 3, ERROR_SUCCESS, 1, 3, "Work"},
	{&made, EventTaskInformation, 4, ERROR_NOT_FOUND, 0, 0, NULL},
	{&made, EventOpcodeInformation, ALL, ERROR_SUCCESS, 2, 12 << 16, "all"},
	{&made, EventOpcodeInformation, 11 << 16 | 3, ERROR_SUCCESS, 1, 11 << 16 | 3, "own"},
	{&made, EventOpcodeInformation, 12 << 16 | 3, ERROR_SUCCESS, 1, 12 << 16, "all"},
	{&made, EventOpcodeInformation, 12 << 16, ERROR_SUCCESS, 1, 12 << 16, "all"},
	{&made, EventOpcodeInformation, 11 << 16, ERROR_NOT_FOUND, 0, 0, NULL},
	{&made, (EVENT_FIELD_TYPE)-1, ALL, ERROR_NOT_SUPPORTED, 0, 0, NULL},
	{&made, (EVENT_FIELD_TYPE)-1, 1, ERROR_NOT_SUPPORTED, 0, 0, NULL},
	{&bare, EventTaskInformation, ALL, ERROR_NOT_FOUND, 0, 0, NULL},
};

static ULONG ask_fields(size_t row, PROVIDER_FIELD_INFOARRAY *buffer, ULONG *size)
{
	if (field_rows[row].wanted == ALL)
		return TdhEnumerateProviderFieldInformation(field_rows[row].guid,
							    field_rows[row].type, buffer, size);
	return TdhQueryProviderFieldInformation(field_rows[row].guid, field_rows[row].wanted,
						field_rows[row].type, buffer, size);
}

static void test_providers__fields(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++) {
		ULONG size = sizeof(out), none = 0;
		PROVIDER_FIELD_INFO info;

		if (ask_fields(i, &out.fields, &size) != field_rows[i].result)
			fail_msg("row %zu is not %u", i, field_rows[i].result);
		if (field_rows[i].result)
			continue;
		assert_int_equal(ask_fields(i, NULL, &none), ERROR_INSUFFICIENT_BUFFER);
		assert_int_equal(none, size);
		assert_int_equal(out.fields.FieldType, field_rows[i].type);
		info = out.fields.FieldInfoArray[0];
		if (out.fields.NumberOfElements != field_rows[i].count ||
		    info.Value != field_rows[i].first_value)
			fail_msg("row %zu: %u, the first is %llu", i, out.fields.NumberOfElements,
				 (unsigned long long)info.Value);
		assert_true(is_text(PFI_FIELD_NAME(&out.fields, &info), field_rows[i].first_name));
		if (i == 0)
			assert_true(is_text(PFI_FIELD_MESSAGE(&out.fields, &info), "disk work "));
	}
}

static void test_providers__events(void **state)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 7, .Version = 1};
	ULONG size = 0;

	(void)state;
	assert_int_equal(TdhEnumerateManifestProviderEvents(&made, NULL, &size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, 8 + 2 * sizeof(EVENT_DESCRIPTOR));
	assert_int_equal(TdhEnumerateManifestProviderEvents(&made, &out.events, &size),
			 ERROR_SUCCESS);
	assert_int_equal(out.events.NumberOfEvents, 2);
	assert_int_equal(out.events.EventDescriptorsArray[0].Id, 7);
	assert_int_equal(out.events.EventDescriptorsArray[0].Opcode, 11);
	assert_int_equal(events_of(&bare), ERROR_EMPTY);
	assert_int_equal(events_of(&nobody), ERROR_NOT_FOUND);
	assert_int_equal(events_of(NULL), ERROR_INVALID_PARAMETER);
	size = 0;
	assert_int_equal(TdhGetManifestEventInformation(&made, &descriptor, NULL, &size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(TdhGetManifestEventInformation(&made, &descriptor, &out.event, &size),
			 ERROR_SUCCESS);
	assert_int_equal(out.event.PropertyCount, 1);
	assert_true(is_text(TEI_PROPERTY_NAME(&out.event, &out.event.EventPropertyInfoArray[0]),
			    "Count"));
	descriptor.Version = 2;
	assert_int_equal(TdhGetManifestEventInformation(&made, &descriptor, &out.event, &size),
			 ERROR_NOT_FOUND);
	assert_int_equal(TdhGetManifestEventInformation(&nobody, &descriptor, &out.event, &size),
			 ERROR_NOT_FOUND);
	assert_int_equal(TdhGetManifestEventInformation(&made, NULL, &out.event, &size),
			 ERROR_INVALID_PARAMETER);
}

static void test_providers__filters(void **state)
{
	ULONG size = 0, count = 0;
	PPROVIDER_FILTER_INFO filter;

	(void)state;
	assert_int_equal(TdhEnumerateProviderFilters(&made, 0, NULL, &count, NULL, &size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(TdhEnumerateProviderFilters(&made, 0, NULL, &count, out.filters, &size),
			 ERROR_SUCCESS);
	assert_int_equal(count, 2);
	filter = out.filters[0];
	assert_int_equal(filter->Id, 9);
	assert_int_equal(filter->Version, 2);
	assert_int_equal(filter->PropertyCount, 1);
	assert_true(
		is_text(PFI_PROPERTY_NAME(filter, &filter->EventPropertyInfoArray[0]), "Limit"));
	assert_int_equal(TdhEnumerateProviderFilters(&bare, 0, NULL, &count, out.filters, &size),
			 ERROR_NOT_FOUND);
	assert_int_equal(TdhEnumerateProviderFilters(&nobody, 0, NULL, &count, out.filters, &size),
			 ERROR_NOT_FOUND);
	assert_int_equal(TdhEnumerateProviderFilters(&made, 1, NULL, &count, out.filters, &size),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhEnumerateProviderFilters(&made, 0, NULL, NULL, out.filters, &size),
			 ERROR_INVALID_PARAMETER);
}

static EVENT_PROPERTY_INFO *property_of(PROVIDER_FILTER_INFO *filter, const char *name)
{
	for (ULONG i = 0; i < filter->PropertyCount; i++) {
		if (is_text(PFI_PROPERTY_NAME(filter, &filter->EventPropertyInfoArray[i]), name))
			return &filter->EventPropertyInfoArray[i];
	}
	return NULL;
}

static bool has_map(const PROVIDER_FILTER_INFO *filter, const EVENT_PROPERTY_INFO *property,
		    const char *name)
{
	return property->nonStructType.MapNameOffset &&
	       is_text((const BYTE *)filter + property->nonStructType.MapNameOffset, name);
}

/* [DOC] EVENT_PROPERTY_INFO: a filter's properties are described as an event's are. */
static void test_providers__filters_with_maps_and_structs(void **state)
{
	PROVIDER_FILTER_INFO *filter;
	const EVENT_PROPERTY_INFO *pair;
	ULONG size = sizeof(out), count = 0;

	(void)state;
	assert_int_equal(TdhEnumerateProviderFilters(&made, 0, NULL, &count, out.filters, &size),
			 ERROR_SUCCESS);
	filter = out.filters[1];
	assert_true(is_text(PFI_FILTER_MESSAGE(filter), "disk work "));
	assert_int_equal(filter->PropertyCount, 4);
	assert_true(has_map(filter, property_of(filter, "Kind"), "Kinds"));
	pair = property_of(filter, "Pair");
	assert_non_null(pair);
	assert_int_equal(pair->Flags, PropertyStruct);
	assert_int_equal(pair->structType.StructStartIndex, 2);
	assert_int_equal(pair->structType.NumOfStructMembers, 2);
	assert_ptr_equal(property_of(filter, "Right"), &filter->EventPropertyInfoArray[3]);
	assert_int_equal(filter->EventPropertyInfoArray[3].count, 2);
}

/* A compiled resource whose first filter has the template of its first event, which holds a struct and a map. */
static void write_binary(const char *where)
{
	static struct made_wevt wevt;
	static struct made_pe pe;
	struct made_resource resource = {.name = 1, .language = 0x409, .at = wevt.at};
	FILE *file = fopen(where, "we");

	made_wevt_init(&wevt, 5);
	made_wevt_set32(&wevt,
			wevt.lists[WIRE_WEVT_FILTERS] + sizeof(struct wire_wevt_list) +
				sizeof(le32) + offsetof(struct wire_wevt_filter, template),
			wevt.templates[0]);
	resource.bytes = wevt.bytes;
	made_pe_init(&pe, /* is_64bit= */ true, &resource, 1);
	assert_non_null(file);
	assert_int_equal(fwrite(pe.at, 1, pe.bytes, file), pe.bytes);
	assert_int_equal(fclose(file), 0);
}

static void test_providers__filters_of_a_binary(void **state)
{
	PROVIDER_FILTER_INFO *filter;
	const EVENT_PROPERTY_INFO *property;
	GUID guid = made_wevt_guid;
	ULONG size = sizeof(out), count = 0;
	WCHAR binary[128];
	char where[160];
	uint8_t *wide;

	(void)state;
	(void)snprintf(where, sizeof(where), "%s/made.dll", folder);
	write_binary(where);
	wide = etw_utf8_to_utf16(where, NULL);
	memcpy(binary, wide, 2 * strlen(where) + 2);
	free(wide);
	assert_int_equal(TdhLoadManifestFromBinary(binary), ERROR_SUCCESS);
	assert_int_equal(TdhEnumerateProviderFilters(&guid, 0, NULL, &count, out.filters, &size),
			 ERROR_SUCCESS);
	filter = out.filters[0];
	assert_int_equal(filter->PropertyCount, 9);
	property = filter->EventPropertyInfoArray + 3;
	assert_true(has_map(filter, property, "KindMap"));
	property = filter->EventPropertyInfoArray + 6;
	assert_int_equal(property->Flags, PropertyStruct | PropertyParamFixedCount);
	assert_int_equal(property->structType.StructStartIndex, 7);
	assert_int_equal(property->structType.NumOfStructMembers, 2);
	assert_int_equal(TdhUnloadManifest(binary), ERROR_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_providers__what_cannot_be_loaded_or_unloaded),
		cmocka_unit_test(test_providers__what_was_loaded_goes_without_its_file),
		cmocka_unit_test(test_providers__names_lead_to_what_was_loaded),
		cmocka_unit_test(test_providers__what_is_loaded_can_be_unloaded_again_and_again),
		cmocka_unit_test(test_providers__events_decode_while_it_is_loaded),
		cmocka_unit_test_setup_teardown(test_providers__are_listed, load, unload),
		cmocka_unit_test_setup_teardown(test_providers__are_listed_by_source, load, unload),
		cmocka_unit_test_setup_teardown(test_providers__fields, load, unload),
		cmocka_unit_test_setup_teardown(test_providers__events, load, unload),
		cmocka_unit_test_setup_teardown(test_providers__filters, load, unload),
		cmocka_unit_test_setup_teardown(test_providers__filters_with_maps_and_structs, load,
						unload),
		cmocka_unit_test(test_providers__filters_of_a_binary),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
