/* SPDX-License-Identifier: MIT */
#include "documented_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/utf.h"
#include "registered.h"
#include "synthetic/made_wevt.h"
#include "synthetic/wpp_messages.h"

#define MANIFEST(provider)                                                                 \
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'" \
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"          \
	"<instrumentation><events>" provider "</events></instrumentation>"                 \
	"</instrumentationManifest>"

static const char loaded[] = MANIFEST(
	"<provider name='Made' guid='{0000abcd-1111-2222-3333-666666666666}' symbol='P'>"
	"<keywords><keyword name='Disk' mask='0x1'/></keywords>"
	"<templates><template tid='T'><data name='Count' inType='win:UInt32' map='Kinds'/>"
	"<data name='Text' inType='win:UnicodeString'/></template>"
	"<template tid='F'><data name='Limit' inType='win:UInt32' outType='xs:unsignedInt'/>"
	"</template></templates>"
	"<maps><valueMap name='Kinds'><map value='1' message='$(string.k)'/></valueMap></maps>"
	"<filters><filter name='Most' value='9' version='2' tid='F' symbol='M'/></filters>"
	"<events><event value='7' version='1' template='T'/></events></provider>"
	"<provider name='Bare' guid='{0000abce-1111-2222-3333-666666666666}' symbol='B'/>");

static const char registered[] = MANIFEST(
	"<provider name='Gone' guid='{0000abcf-1111-2222-3333-666666666666}' symbol='G'>"
	"<events><event value='7' version='1'/></events></provider>");

/* Another one, so that loading and unloading it leaves the first alone. */
static const char brought[] = MANIFEST(
	"<provider name='Brought' guid='{0000abd0-1111-2222-3333-666666666666}' symbol='R'>"
	"<events><event value='7' version='1'/></events></provider>");

static const char tmf[] = "1d0c5d2b-3c4d-4a5b-8c07-060504030201 Driver // SRC=Device.c MJ= MN=\n"
			  "#typev Device_c41 10 \"%0hello\" // LEVEL=INFO\n{\n}\n";

static GUID made = {0x0000abcd, 0x1111, 0x2222, {0x33, 0x33, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}};
static GUID bare = {0x0000abce, 0x1111, 0x2222, {0x33, 0x33, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}};
static GUID gone = {0x0000abcf, 0x1111, 0x2222, {0x33, 0x33, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66}};
static const GUID message = {
	0x1d0c5d2b, 0x3c4d, 0x4a5b, {0x8c, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01}};
static GUID nobody = {0x0000abff, 0x1111, 0x2222, {0}};

static char folder[] = "/tmp/etw-tdh-documented-XXXXXX";
static TDH_HANDLE handle, spare;
static PVOID filter;
static EVENT_FILTER_DESCRIPTOR aggregated;

static union {
	PROVIDER_ENUMERATION_INFO providers;
	PROVIDER_FIELD_INFOARRAY fields;
	PROVIDER_EVENT_INFO events;
	PPROVIDER_FILTER_INFO filters[2];
	TRACE_EVENT_INFO event;
	EVENT_MAP_INFO map;
	WCHAR text[4];
	BYTE bytes[65536];
} out;

static WCHAR *widen(const char *text)
{
	static WCHAR wide[4][4096];
	static unsigned next;
	WCHAR *to = wide[next++ % 4];

	to[etw_utf8_put_utf16(text, strlen(text), (uint8_t *)to)] = 0;
	return to;
}

static WCHAR *in_folder(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return widen(path);
}

static void write_file(const char *name, const void *at, size_t bytes)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void write_binaries(void)
{
	static struct made_wevt wevt;
	static struct made_pe pe;
	struct made_resource resource = {.name = 1, .language = 0x409, .at = wevt.at};

	made_wevt_init(&wevt, 5);
	resource.bytes = wevt.bytes;
	made_pe_init(&pe, /* is_64bit= */ true, &resource, 1);
	write_file("made.dll", pe.at, pe.bytes);
	made_pe_init(&pe, /* is_64bit= */ true, NULL, 0);
	write_file("bare.dll", pe.at, pe.bytes);
}

static ULONG set_tmf(const char *name)
{
	TDH_CONTEXT context = {.ParameterType = TDH_CONTEXT_WPP_TMFFILE,
			       .ParameterValue = (ULONGLONG)(uintptr_t)in_folder(name)};

	return TdhSetDecodingParameter(handle, &context);
}

int documented_begin(void **state)
{
	char command[256];

	(void)state;
	if (!mkdtemp(folder) || setenv("ETW_PROVIDERS_DIR", folder, 1))
		return -1;
	registered_import(folder, WIRE_REGISTRY_MANIFEST, registered);
	(void)snprintf(command, sizeof(command), "rm -r %s/definitions", folder);
	if (system(command) != 0)
		return -1;
	write_file("made.man", brought, sizeof(brought) - 1);
	write_file("bad.man", "<oops", 5);
	write_file("made.tmf", tmf, sizeof(tmf) - 1);
	write_binaries();
	return TdhLoadManifestFromMemory(loaded, sizeof(loaded) - 1) ||
	       TdhOpenDecodingHandle(&handle) || set_tmf("made.tmf");
}

int documented_end(void **state)
{
	char command[256];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return TdhCloseDecodingHandle(handle) ||
	       TdhUnloadManifestFromMemory(loaded, sizeof(loaded) - 1) || system(command) != 0;
}

static GUID *guid_of(enum cause cause)
{
	switch (cause) {
	case NO_POINTER:
		return NULL;
	case NOBODY:
		return &nobody;
	case GONE:
		return &gone;
	case NO_EVENTS:
		return &bare;
	default:
		return &made;
	}
}

static EVENT_RECORD *event_of(enum cause cause)
{
	static const BYTE payload[] = {1, 0, 0, 0, 'a', 0, 0, 0};
	static EVENT_RECORD record;

	if (cause == NO_POINTER)
		return NULL;
	record = (EVENT_RECORD){.UserData = (PVOID)(uintptr_t)payload,
				.UserDataLength = sizeof(payload)};
	record.EventHeader.ProviderId = *guid_of(cause);
	record.EventHeader.EventDescriptor = (EVENT_DESCRIPTOR){.Id = 7, .Version = 1};
	return &record;
}

static void *room_of(enum cause cause, ULONG *ret_size)
{
	*ret_size = cause == NO_ROOM ? 0 : sizeof(out);
	return cause == NO_ROOM ? NULL : &out;
}

/* --- The functions, each with one thing out of order */

static ULONG event_information(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhGetEventInformation(event_of(cause), 0, NULL, to, &size);
}

static ULONG map_information(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhGetEventMapInformation(event_of(cause),
					 widen(cause == UNNAMED ? "None" : "Kinds"), to, &size);
}

static PROPERTY_DATA_DESCRIPTOR descriptor_of(enum cause cause)
{
	return (PROPERTY_DATA_DESCRIPTOR){
		.PropertyName = (ULONGLONG)(uintptr_t)widen(cause == UNNAMED ? "None" : "Count")};
}

static ULONG property_size(enum cause cause)
{
	PROPERTY_DATA_DESCRIPTOR descriptor = descriptor_of(cause);
	ULONG size;

	return TdhGetPropertySize(event_of(cause), 0, NULL, 1, &descriptor, &size);
}

static ULONG property(enum cause cause)
{
	PROPERTY_DATA_DESCRIPTOR descriptor = descriptor_of(cause);
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhGetProperty(event_of(cause), 0, NULL, 1, &descriptor, size, to);
}

static ULONG format_property(enum cause cause)
{
	static BYTE value[4];
	USHORT consumed, bytes = cause == BAD_DATA ? 3 : 4;
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhFormatProperty(cause == NO_POINTER ? NULL : &out.event, NULL, 8,
				 TDH_INTYPE_UINT32, 0, 4, bytes, value, &size, to, &consumed);
}

static ULONG providers(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhEnumerateProviders(to, cause == NO_POINTER ? NULL : &size);
}

static ULONG providers_of_source(enum cause cause)
{
	ULONG size, needed;
	void *to = room_of(cause, &size);

	return TdhEnumerateProvidersForDecodingSource(DecodingSourceXMLFile, to, size,
						      cause == NO_POINTER ? NULL : &needed);
}

/* The made provider has keywords and no channels. */
static EVENT_FIELD_TYPE type_of(enum cause cause)
{
	if (cause == BAD_TYPE)
		return EventInformationMax;
	return cause == UNNAMED ? EventChannelInformation : EventKeywordInformation;
}

static ULONG fields(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhEnumerateProviderFieldInformation(guid_of(cause), type_of(cause), to, &size);
}

static ULONG queried_field(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhQueryProviderFieldInformation(guid_of(cause), 1, type_of(cause), to, &size);
}

static ULONG manifest_events(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhEnumerateManifestProviderEvents(guid_of(cause), to, &size);
}

static ULONG manifest_event(enum cause cause)
{
	EVENT_DESCRIPTOR descriptor = {.Id = cause == UNNAMED ? 99 : 7, .Version = 1};
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhGetManifestEventInformation(guid_of(cause), &descriptor, to, &size);
}

static ULONG provider_filters(enum cause cause)
{
	ULONG count, size;
	void *to = room_of(cause, &size);

	return TdhEnumerateProviderFilters(guid_of(cause), 0, NULL, &count, to, &size);
}

static WCHAR *file_of(enum cause cause, const char *good)
{
	switch (cause) {
	case NO_POINTER:
		return NULL;
	case NO_FILE:
		return in_folder("none");
	case BAD_XML:
		return in_folder("bad.man");
	case NO_RESOURCE:
		return in_folder("bare.dll");
	default:
		return in_folder(good);
	}
}

static ULONG load(enum cause cause)
{
	return TdhLoadManifest(file_of(cause, "made.man"));
}

static ULONG unload(enum cause cause)
{
	return TdhUnloadManifest(file_of(cause, "made.man"));
}

static ULONG load_binary(enum cause cause)
{
	return TdhLoadManifestFromBinary(file_of(cause, "made.dll"));
}

static ULONG unload_binary(enum cause cause)
{
	return TdhUnloadManifest(file_of(cause, "made.dll"));
}

static const char *text_of(enum cause cause, ULONG *ret_bytes)
{
	*ret_bytes = cause == BAD_XML ? 5 : sizeof(brought) - 1;
	if (cause == NO_POINTER)
		return NULL;
	return cause == BAD_XML ? "<oops" : brought;
}

static ULONG load_text(enum cause cause)
{
	ULONG bytes;
	const char *text = text_of(cause, &bytes);

	return TdhLoadManifestFromMemory(text, bytes);
}

static ULONG unload_text(enum cause cause)
{
	ULONG bytes;
	const char *text = text_of(cause, &bytes);

	return TdhUnloadManifestFromMemory(text, bytes);
}

static ULONG open_handle(enum cause cause)
{
	return TdhOpenDecodingHandle(cause == NO_POINTER ? NULL : &spare);
}

static ULONG close_handle(enum cause cause)
{
	return TdhCloseDecodingHandle(cause == NO_POINTER ? NULL : spare);
}

static ULONG set_parameter(enum cause cause)
{
	TDH_CONTEXT context = {.ParameterType = TDH_CONTEXT_WPP_TMFFILE};

	context.ParameterValue = (ULONGLONG)(uintptr_t)file_of(cause, "made.tmf");
	return TdhSetDecodingParameter(handle, &context);
}

static ULONG get_parameter(enum cause cause)
{
	TDH_CONTEXT context = {.ParameterType = TDH_CONTEXT_WPP_TMFFILE};

	return TdhGetDecodingParameter(handle, cause == NO_POINTER ? NULL : &context);
}

static EVENT_RECORD *message_of(enum cause cause)
{
	static EVENT_RECORD record;

	record = wpp_event(cause == NOBODY ? &nobody : &message, 10);
	return cause == NO_POINTER ? NULL : &record;
}

static ULONG wpp_property(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhGetWppProperty(handle, message_of(cause),
				 widen(cause == UNNAMED ? "None" : "Version"), &size, to);
}

static ULONG wpp_message(enum cause cause)
{
	ULONG size;
	void *to = room_of(cause, &size);

	return TdhGetWppMessage(handle, message_of(cause), &size, to);
}

static ULONG create_filter(enum cause cause)
{
	static char text[2048];
	PAYLOAD_FILTER_PREDICATE predicate = {widen("Text"), PAYLOADFIELD_IS, NULL};
	EVENT_DESCRIPTOR descriptor = {.Id = cause == UNNAMED ? 99 : 7, .Version = 1};

	memset(text, 'x', sizeof(text) - 1);
	text[cause == TOO_LONG ? sizeof(text) - 1 : 3] = 0;
	predicate.Value = widen(text);
	return TdhCreatePayloadFilter(guid_of(cause), &descriptor, FALSE, 1, &predicate, &filter);
}

static ULONG delete_filter(enum cause cause)
{
	return TdhDeletePayloadFilter(cause == NO_POINTER ? NULL : &filter);
}

static ULONG aggregate(enum cause cause)
{
	return TdhAggregatePayloadFilters(1, cause == NO_POINTER ? NULL : &filter, NULL,
					  &aggregated);
}

/* With what the aggregate is made of. */
static ULONG clean_up(enum cause cause)
{
	ULONG error = TdhCleanupPayloadEventFilterDescriptor(&aggregated);

	return error ? error : delete_filter(cause);
}

static const struct documented_call calls[] = {
	{"TdhGetEventInformation", event_information, NULL, NULL},
	{"TdhGetEventMapInformation", map_information, NULL, NULL},
	{"TdhGetPropertySize", property_size, NULL, NULL},
	{"TdhGetProperty", property, NULL, NULL},
	{"TdhFormatProperty", format_property, NULL, NULL},
	{"TdhEnumerateProviders", providers, NULL, NULL},
	{"TdhEnumerateProvidersForDecodingSource", providers_of_source, NULL, NULL},
	{"TdhEnumerateProviderFieldInformation", fields, NULL, NULL},
	{"TdhQueryProviderFieldInformation", queried_field, NULL, NULL},
	{"TdhEnumerateManifestProviderEvents", manifest_events, NULL, NULL},
	{"TdhGetManifestEventInformation", manifest_event, NULL, NULL},
	{"TdhEnumerateProviderFilters", provider_filters, NULL, NULL},
	{"TdhLoadManifest", load, NULL, unload},
	{"TdhUnloadManifest", unload, load, NULL},
	{"TdhLoadManifestFromBinary", load_binary, NULL, unload_binary},
	{"TdhLoadManifestFromMemory", load_text, NULL, unload_text},
	{"TdhUnloadManifestFromMemory", unload_text, load_text, NULL},
	{"TdhOpenDecodingHandle", open_handle, NULL, close_handle},
	{"TdhCloseDecodingHandle", close_handle, open_handle, NULL},
	{"TdhSetDecodingParameter", set_parameter, NULL, NULL},
	{"TdhGetDecodingParameter", get_parameter, NULL, NULL},
	{"TdhGetWppProperty", wpp_property, NULL, NULL},
	{"TdhGetWppMessage", wpp_message, NULL, NULL},
	{"TdhCreatePayloadFilter", create_filter, NULL, delete_filter},
	{"TdhDeletePayloadFilter", delete_filter, create_filter, NULL},
	{"TdhAggregatePayloadFilters", aggregate, create_filter, clean_up},
};

const struct documented_call *documented_call(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	}
	return NULL;
}
