/* SPDX-License-Identifier: MIT */
/*
 * Every pair of a function of this part of tdh.h and an error that Microsoft documents for it, with what TDH
 * does about maps and lengths that are not in order. Source of a row: [n] the section of the sheet of tdh.h,
 * [HERE] a decision of this project where it is silent. Two documented errors cannot happen here and have no
 * row: ERROR_FILE_NOT_FOUND (the binary that a registered provider names is gone: definitions are read when
 * they are registered) and ERROR_WMI_SERVER_UNAVAILABLE (classes do not come from a server).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tdh.h>
#include <winerror.h>

#include "records.h"

static struct made_record known, unknown, wpp, plain_string, damaged;
static BYTE buffer[4096];
static PTRACE_EVENT_INFO const info = (PTRACE_EVENT_INFO)(void *)buffer;
static PEVENT_MAP_INFO const map_info = (PEVENT_MAP_INFO)(void *)buffer;
static WCHAR number[] = {'N', 'u', 'm', 'b', 'e', 'r', 0};
static WCHAR nothing[] = {'N', 'o', 0};

static int make_records(void **state)
{
	static const GUID nobody = {0xBAD0BAD0, 0, 0, {0}};

	(void)state;
	record_tracelogging(&known, "Known");
	record_field(&known, "Number", TDH_INTYPE_UINT32, 0, 0);
	record_put(&known, "\1\0\0\0", 4);
	record_manifest(&unknown, &nobody, 1, 0);
	record_manifest(&wpp, &nobody, 1, 0);
	wpp.record.EventHeader.Flags |= EVENT_HEADER_FLAG_TRACE_MESSAGE;
	record_manifest(&plain_string, &nobody, 0, 0);
	plain_string.record.EventHeader.Flags |= EVENT_HEADER_FLAG_STRING_ONLY;
	record_put(&plain_string, "h\0i\0\0\0", 6);
	record_tracelogging(&damaged, "Damaged");
	damaged.metadata[2] = 0xFF;
	damaged.metadata[3] = 0xFF;
	damaged.metadata[4] = 0xFF;
	damaged.metadata[5] = 0xFF;
	return 0;
}

static TDH_CONTEXT context_of(TDH_CONTEXT_TYPE type, ULONGLONG value)
{
	return (TDH_CONTEXT){.ParameterType = type, .ParameterValue = value};
}

struct context_row {
	TDH_CONTEXT_TYPE type;
	ULONGLONG value;
	ULONG error;     /* of an event that has a schema */
	ULONG error_wpp; /* of a WPP message */
	const char *source;
};

static WCHAR path[] = {'a', '.', 't', 'm', 'f', 0};

static void errors__contexts(void **state)
{
	const ULONGLONG somewhere = (ULONGLONG)(uintptr_t)path;
	const struct context_row rows[] = {
		{TDH_CONTEXT_POINTERSIZE, 4, ERROR_SUCCESS, ERROR_NOT_FOUND, "[3]"},
		{TDH_CONTEXT_POINTERSIZE, 8, ERROR_SUCCESS, ERROR_NOT_FOUND, "[3]"},
		{TDH_CONTEXT_POINTERSIZE, 0, ERROR_INVALID_PARAMETER, ERROR_INVALID_PARAMETER,
		 "[HERE]"},
		{TDH_CONTEXT_POINTERSIZE, 16, ERROR_INVALID_PARAMETER, ERROR_INVALID_PARAMETER,
		 "[HERE]"},
		{TDH_CONTEXT_WPP_GMT, 1, ERROR_SUCCESS, ERROR_NOT_FOUND,
		 "[3]: decoding handles only"},
		{TDH_CONTEXT_PDB_PATH, somewhere, ERROR_SUCCESS, ERROR_NOT_FOUND, "[3]: likewise"},
		{TDH_CONTEXT_PDB_PATH, 0, ERROR_INVALID_PARAMETER, ERROR_INVALID_PARAMETER,
		 "[HERE]"},
		{TDH_CONTEXT_WPP_TMFFILE, somewhere, ERROR_SUCCESS, ERROR_FILE_NOT_FOUND,
		 "[HERE]: the file that is named"},
		{TDH_CONTEXT_WPP_TMFSEARCHPATH, somewhere, ERROR_SUCCESS, ERROR_NOT_FOUND,
		 "[3]: folders that may have it"},
		{TDH_CONTEXT_WPP_TMFFILE, 0, ERROR_INVALID_PARAMETER, ERROR_INVALID_PARAMETER,
		 "[HERE]"},
		{TDH_CONTEXT_WPP_TMFSEARCHPATH, 0, ERROR_INVALID_PARAMETER, ERROR_INVALID_PARAMETER,
		 "[HERE]"},
		{TDH_CONTEXT_MAXIMUM, 0, ERROR_INVALID_PARAMETER, ERROR_INVALID_PARAMETER, "[3]"},
	};
	PROPERTY_DATA_DESCRIPTOR descriptor = {.PropertyName = (ULONGLONG)(uintptr_t)number};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		TDH_CONTEXT list[2] = {context_of(TDH_CONTEXT_POINTERSIZE, 8),
				       context_of(rows[i].type, rows[i].value)};
		ULONG size = sizeof(buffer);

		assert_int_equal(TdhGetEventInformation(&known.record, 2, list, info, &size),
				 rows[i].error);
		size = sizeof(buffer);
		assert_int_equal(TdhGetEventInformation(&wpp.record, 2, list, info, &size),
				 rows[i].error_wpp);
		assert_int_equal(TdhGetPropertySize(&known.record, 2, list, 1, &descriptor, &size),
				 rows[i].error);
		assert_int_equal(TdhGetProperty(&known.record, 2, list, 1, &descriptor,
						sizeof(buffer), buffer),
				 rows[i].error);
	}
}

static void errors__event_information(void **state)
{
	ULONG size = sizeof(buffer);

	(void)state;
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhGetEventInformation(NULL, 0, NULL, info, &size), 87);
	assert_int_equal(TdhGetEventInformation(&known.record, 0, NULL, info, NULL), 87);
	assert_int_equal(TdhGetEventInformation(&known.record, 0, NULL, NULL, &size), 87);
	assert_int_equal(TdhGetEventInformation(&known.record, 1, NULL, info, &size), 87);
	/* NOT_FOUND [3], [4] */
	assert_int_equal(TdhGetEventInformation(&unknown.record, 0, NULL, info, &size), 1168);
	assert_int_equal(TdhGetEventInformation(&wpp.record, 0, NULL, info, &size), 1168);
	assert_int_equal(TdhGetEventInformation(&plain_string.record, 0, NULL, info, &size), 1168);
	assert_int_equal(TdhGetEventInformation(&damaged.record, 0, NULL, info, &size), 1168);
	/* INSUFFICIENT_BUFFER [3] */
	size = 0;
	assert_int_equal(TdhGetEventInformation(&known.record, 0, NULL, NULL, &size), 122);
	assert_true(size > sizeof(TRACE_EVENT_INFO));
}

static void errors__map_information(void **state)
{
	ULONG size = sizeof(buffer);
	GUID no_name = {0x00410042, 0x0043, 0x0044, {0}};

	(void)state;
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhGetEventMapInformation(NULL, number, map_info, &size), 87);
	assert_int_equal(TdhGetEventMapInformation(&known.record, NULL, map_info, &size), 87);
	assert_int_equal(TdhGetEventMapInformation(&known.record, number, map_info, NULL), 87);
	assert_int_equal(TdhGetEventMapInformation(&known.record, number, NULL, &size), 87);
	/* NOT_FOUND: schema, map [3]; published programs ask with the blob itself where a property has none */
	assert_int_equal(TdhGetEventMapInformation(&unknown.record, number, map_info, &size), 1168);
	assert_int_equal(TdhGetEventMapInformation(&known.record, nothing, map_info, &size), 1168);
	assert_int_equal(
		TdhGetEventMapInformation(&known.record, (LPWSTR)(void *)&no_name, map_info, &size),
		1168);
	assert_int_equal(TdhGetEventMapInformation(&wpp.record, number, map_info, &size), 1168);
	/* INSUFFICIENT_BUFFER: test_information.c, with an event that has a map */
}

static void errors__property(void **state)
{
	PROPERTY_DATA_DESCRIPTOR descriptor = {.PropertyName = (ULONGLONG)(uintptr_t)number};
	PROPERTY_DATA_DESCRIPTOR none = {.PropertyName = (ULONGLONG)(uintptr_t)nothing};
	PROPERTY_DATA_DESCRIPTOR unnamed = {.PropertyName = 0};
	ULONG size = 0;

	(void)state;
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhGetPropertySize(NULL, 0, NULL, 1, &descriptor, &size), 87);
	assert_int_equal(TdhGetPropertySize(&known.record, 0, NULL, 0, &descriptor, &size), 87);
	assert_int_equal(TdhGetPropertySize(&known.record, 0, NULL, 1, NULL, &size), 87);
	assert_int_equal(TdhGetPropertySize(&known.record, 0, NULL, 1, &descriptor, NULL), 87);
	assert_int_equal(TdhGetPropertySize(&known.record, 0, NULL, 1, &unnamed, &size), 87);
	assert_int_equal(TdhGetPropertySize(&known.record, 1, NULL, 1, &descriptor, &size), 87);
	assert_int_equal(TdhGetProperty(NULL, 0, NULL, 1, &descriptor, 4, buffer), 87);
	assert_int_equal(TdhGetProperty(&known.record, 0, NULL, 0, &descriptor, 4, buffer), 87);
	assert_int_equal(TdhGetProperty(&known.record, 0, NULL, 1, NULL, 4, buffer), 87);
	assert_int_equal(TdhGetProperty(&known.record, 0, NULL, 1, &descriptor, 4, NULL), 87);
	/* NOT_FOUND: schema, property [3] */
	assert_int_equal(TdhGetPropertySize(&unknown.record, 0, NULL, 1, &descriptor, &size), 1168);
	assert_int_equal(TdhGetPropertySize(&known.record, 0, NULL, 1, &none, &size), 1168);
	assert_int_equal(TdhGetProperty(&unknown.record, 0, NULL, 1, &descriptor, 4, buffer), 1168);
	assert_int_equal(TdhGetProperty(&known.record, 0, NULL, 1, &none, 4, buffer), 1168);
	/* INSUFFICIENT_BUFFER [3] */
	assert_int_equal(TdhGetProperty(&known.record, 0, NULL, 1, &descriptor, 3, buffer), 122);
	assert_int_equal(TdhGetProperty(&known.record, 0, NULL, 1, &descriptor, 0, NULL), 122);
}

/* One call with a large buffer. */
static ULONG format(PEVENT_MAP_INFO map, ULONG pointer_bytes, USHORT in_type, USHORT out_type,
		    USHORT length, const char *data, USHORT bytes, USHORT *consumed)
{
	ULONG size = sizeof(buffer);

	return TdhFormatProperty(info, map, pointer_bytes, in_type, out_type, length, bytes,
				 (PBYTE)(uintptr_t)data, &size, (PWCHAR)(void *)buffer, consumed);
}

struct format_row {
	USHORT in_type, out_type, length;
	ULONG pointer_bytes;
	const char *data;
	USHORT bytes;
	ULONG error;
	USHORT consumed;
	const char *source;
};

#define SID_16 "\1\x10\0\0\0\0\0\5aaaabbbbccccddddaaaabbbbccccddddaaaabbbbccccddddaaaabbbbccccdddd"

static const struct format_row format_rows[] = {
	/* Types. */
	{TDH_INTYPE_NULL, 0, 0, 8, "", 0, ERROR_INVALID_PARAMETER, 0, "[7]: rejected"},
	{TDH_INTYPE_RESERVED24, 0, 0, 8, "abcd", 4, ERROR_INVALID_PARAMETER, 0, "[1.1]"},
	{26, 0, 0, 8, "abcd", 4, ERROR_INVALID_PARAMETER, 0, "[HERE]: unknown type"},
	{311, 0, 0, 8, "abcd", 4, ERROR_INVALID_PARAMETER, 0, "[HERE]: unknown type"},
	{TDH_INTYPE_POINTER, 0, 0, 0, "abcdefgh", 8, ERROR_INVALID_PARAMETER, 0, "[HERE]"},
	{TDH_INTYPE_SIZET, 0, 0, 16, "abcdefgh", 8, ERROR_INVALID_PARAMETER, 0, "[HERE]"},
	{TDH_INTYPE_WBEMSID, 0, 0, 5, "abcdefgh", 8, ERROR_INVALID_PARAMETER, 0, "[HERE]"},
	{TDH_INTYPE_UINT32, 0, 0, 0, "abcd", 4, ERROR_SUCCESS, 4, "[HERE]: no matter"},
	/* A length that is not the type's. */
	{TDH_INTYPE_UINT8, 0, 2, 8, "abcd", 4, ERROR_EVT_INVALID_EVENT_DATA, 0, "[7.5]"},
	{TDH_INTYPE_UINT16, 0, 4, 8, "abcd", 4, ERROR_EVT_INVALID_EVENT_DATA, 0, "[7.5]"},
	{TDH_INTYPE_UINT32, 0, 2, 8, "abcd", 4, ERROR_EVT_INVALID_EVENT_DATA, 0, "[7.5]"},
	{TDH_INTYPE_INT64, 0, 4, 8, "abcdefgh", 8, ERROR_EVT_INVALID_EVENT_DATA, 0, "[7.5]"},
	{TDH_INTYPE_GUID, 0, 8, 8, "abcdefghabcdefgh", 16, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[7.5]"},
	{TDH_INTYPE_POINTER, 0, 4, 8, "abcdefgh", 8, ERROR_SUCCESS, 8, "[2.2]: of the event"},
	/* Too little data. */
	{TDH_INTYPE_UINT8, 0, 0, 8, "", 0, ERROR_EVT_INVALID_EVENT_DATA, 0, "[3]"},
	{TDH_INTYPE_UINT32, 0, 0, 8, "abc", 3, ERROR_EVT_INVALID_EVENT_DATA, 0, "[3]"},
	{TDH_INTYPE_DOUBLE, 0, 0, 8, "abcdefg", 7, ERROR_EVT_INVALID_EVENT_DATA, 0, "[3]"},
	{TDH_INTYPE_POINTER, 0, 0, 8, "abcdefg", 7, ERROR_EVT_INVALID_EVENT_DATA, 0, "[3]"},
	{TDH_INTYPE_POINTER, 0, 0, 4, "abc", 3, ERROR_EVT_INVALID_EVENT_DATA, 0, "[3]"},
	{TDH_INTYPE_UNICODESTRING, 0, 0, 8, "", 0, ERROR_EVT_INVALID_EVENT_DATA, 0, "[HERE]"},
	{TDH_INTYPE_UNICODESTRING, 0, 3, 8, "a\0b\0", 4, ERROR_EVT_INVALID_EVENT_DATA, 0, "[5.2]"},
	{TDH_INTYPE_ANSISTRING, 0, 3, 8, "ab", 2, ERROR_EVT_INVALID_EVENT_DATA, 0, "[5.2]"},
	{TDH_INTYPE_BINARY, 0, 3, 8, "ab", 2, ERROR_EVT_INVALID_EVENT_DATA, 0, "[7.5]"},
	{TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 0, 8, "abcdefghabcdefg", 15,
	 ERROR_EVT_INVALID_EVENT_DATA, 0, "[1.1]: 16 bytes"},
	{TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 0, 8, "abcdefghabcdefgh", 16, ERROR_SUCCESS, 16,
	 "[1.1]"},
	{TDH_INTYPE_BINARY, 0, 0, 8, "ab", 2, ERROR_SUCCESS, 0, "[7]: zero bytes"},
	{TDH_INTYPE_COUNTEDSTRING, 0, 0, 8, "\4", 1, ERROR_EVT_INVALID_EVENT_DATA, 0, "[1.1]"},
	{TDH_INTYPE_COUNTEDSTRING, 0, 0, 8, "\4\0a\0b", 5, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[1.1]"},
	{TDH_INTYPE_REVERSEDCOUNTEDSTRING, 0, 0, 8, "\1\0ab", 4, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[1.1]"},
	{TDH_INTYPE_MANIFEST_COUNTEDBINARY, 0, 0, 8, "\3\0ab", 4, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[1.1]"},
	{TDH_INTYPE_HEXDUMP, 0, 0, 8, "\0\0\1\0abcd", 8, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[7.5]: above 65535"},
	{TDH_INTYPE_SID, 0, 0, 8, "\1\1\0\0\0\0\0\5aaa", 11, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[1.1]"},
	{TDH_INTYPE_SID, 0, 0, 8, SID_16, sizeof(SID_16) - 1, ERROR_EVT_INVALID_EVENT_DATA, 0,
	 "[HERE]: more than 15"},
	{TDH_INTYPE_WBEMSID, 0, 0, 8, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 17,
	 ERROR_EVT_INVALID_EVENT_DATA, 0, "[5.4]"},
};

static void errors__format_property_data(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(format_rows) / sizeof(format_rows[0]); i++) {
		const struct format_row *row = &format_rows[i];
		USHORT consumed = 0;
		ULONG error = format(NULL, row->pointer_bytes, row->in_type, row->out_type,
				     row->length, row->data, row->bytes, &consumed);

		if (error != row->error || consumed != row->consumed)
			fail_msg("row %zu (in %u, %s): %u, %u bytes used", i, row->in_type,
				 row->source, error, consumed);
	}
	print_message("%zu rows\n", sizeof(format_rows) / sizeof(format_rows[0]));
}

static void errors__format_property_arguments(void **state)
{
	WCHAR text[8];
	ULONG size = sizeof(text);
	USHORT used = 7;
	BYTE data[4] = {1, 0, 0, 0};

	(void)state;
	/* INVALID_PARAMETER [3] */
	assert_int_equal(TdhFormatProperty(NULL, NULL, 8, 8, 0, 0, 4, data, &size, text, &used),
			 87);
	assert_int_equal(TdhFormatProperty(info, NULL, 8, 8, 0, 0, 4, NULL, &size, text, &used),
			 87);
	assert_int_equal(TdhFormatProperty(info, NULL, 8, 8, 0, 0, 4, data, NULL, text, &used), 87);
	assert_int_equal(TdhFormatProperty(info, NULL, 8, 8, 0, 0, 4, data, &size, NULL, &used),
			 87);
	assert_int_equal(TdhFormatProperty(info, NULL, 8, 8, 0, 0, 4, data, &size, text, NULL), 87);
	/* INSUFFICIENT_BUFFER [3]: the size is in bytes, and nothing is consumed */
	size = 3;
	assert_int_equal(TdhFormatProperty(info, NULL, 8, 8, 0, 0, 4, data, &size, text, &used),
			 122);
	assert_int_equal(size, 4);
	assert_int_equal(used, 7);
	/* No data at all, and none is needed. */
	size = sizeof(text);
	assert_int_equal(TdhFormatProperty(info, NULL, 8, TDH_INTYPE_NONNULLTERMINATEDSTRING, 0, 0,
					   0, NULL, &size, text, &used),
			 0);
	assert_int_equal(used, 0);
	assert_int_equal(size, 2);
}

/* A map as TDH lays it out: head, entries and texts. */
struct test_map {
	ULONG name, flags, count, type;
	EVENT_MAP_ENTRY entries[4];
	WCHAR texts[4][4];
};

#define TEXT_OF(index) (offsetof(struct test_map, texts) + (index) * sizeof(WCHAR[4]))

struct map_row {
	ULONG flags;
	ULONG type;
	ULONG values[4];
	USHORT in_type;
	ULONG value;
	const char *text; /* NULL: ERROR_EVT_INVALID_EVENT_DATA */
	const char *source;
};

/* Texts are "a ", "b ", "c ", "7 ". */
static const struct map_row map_rows[] = {
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 2, "b ", "[7.4]: the blank stays"},
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 3, NULL, "[7.4]: no entry"},
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT8, 4, "c ", "[5.1]"},
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT16, 1, "a ", "[5.1]"},
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_HEXINT32, 1, "a ", "[5.1]"},
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_INT32, 1, "1", "[5.1]: no map for it"},
	{1, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT64, 1, "1", "[5.1]: no map for it"},
	{2, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 4, "c ", "[7.4]"},
	{2, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 6, "b |c ", "[7.4], joining [HERE]"},
	{2, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 0x16, "b |c |0x10", "[7.4], joining [HERE]"},
	{2, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 0x10, NULL, "[7.4]"},
	{2, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 0, NULL, "[7.4]"},
	{2, 0, {0, 2, 4, 8}, TDH_INTYPE_UINT32, 0, "a ", "[HERE]: an entry for none"},
	{4, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 1, "1", "[7.4]: not for numbers"},
	{8, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 8, "7 ", "[7.4]: WBEM"},
	{0x48, 0, {9, 9, 9, 9}, TDH_INTYPE_UINT32, 2, "c ", "[7.4]: by place"},
	{0x48, 0, {9, 9, 9, 9}, TDH_INTYPE_UINT32, 4, NULL, "[7.4]: by place"},
	{0x28, 0, {1, 2, 4, 8}, TDH_INTYPE_UINT32, 3, "a |b ", "[7.4]: flags"},
	{0x10, 0, {0, 5, 31, 32}, TDH_INTYPE_UINT32, 0x80000021, "a |b |c ", "[7.4]: bit numbers"},
	{0x10, 0, {0, 5, 31, 32}, TDH_INTYPE_UINT32, 0, NULL, "[7.4]: bit numbers"},
	{0x50, 0, {9, 9, 9, 9}, TDH_INTYPE_UINT32, 5, "a |c ", "[7.4]: bits by place"},
	{8, 1, {0, 0, 0, TEXT_OF(3)}, TDH_INTYPE_UINT32, 7, NULL, "[7.4]: the text is no number"},
};

static void errors__format_property_maps(void **state)
{
	static const char texts[] = "abc7";

	(void)state;
	for (size_t i = 0; i < sizeof(map_rows) / sizeof(map_rows[0]); i++) {
		const struct map_row *row = &map_rows[i];
		struct test_map map = {.flags = row->flags, .count = 4, .type = row->type};
		char data[8] = {0}, text[32];
		USHORT consumed = 0;
		ULONG error;

		for (unsigned k = 0; k < 4; k++) {
			map.entries[k].OutputOffset = (ULONG)TEXT_OF(k);
			map.entries[k].Value = row->values[k];
			map.texts[k][0] = (WCHAR)texts[k];
			map.texts[k][1] = ' ';
		}
		memcpy(data, &row->value, sizeof(row->value));
		error = format((PEVENT_MAP_INFO)(void *)&map, 8, row->in_type, 0, 0, data, 8,
			       &consumed);
		for (unsigned k = 0; k < sizeof(text); k++)
			text[k] = (char)buffer[2 * k];
		if (error != (row->text ? ERROR_SUCCESS : ERROR_EVT_INVALID_EVENT_DATA) ||
		    (row->text && strcmp(text, row->text) != 0))
			fail_msg("row %zu (%s): %u, \"%s\"", i, row->source, error, text);
		/* The documented way on is without the map. */
		if (error)
			assert_int_equal(format(NULL, 8, row->in_type, 0, 0, data, 8, &consumed),
					 0);
	}
	print_message("%zu rows\n", sizeof(map_rows) / sizeof(map_rows[0]));
}

/* [7.4]: the value's digits are the input of the entry. */
static void errors__map_of_strings(void **state)
{
	struct test_map map = {.flags = 8, .count = 1, .type = 1};
	USHORT consumed;

	(void)state;
	map.entries[0].OutputOffset = TEXT_OF(0);
	map.entries[0].InputOffset = TEXT_OF(1);
	map.texts[0][0] = 'x';
	map.texts[1][0] = '1';
	map.texts[1][1] = '2';
	assert_int_equal(format((PEVENT_MAP_INFO)(void *)&map, 8, TDH_INTYPE_UINT8, 0, 0, "\x0C", 1,
				&consumed),
			 0);
	assert_int_equal(buffer[0], 'x');
	assert_int_equal(format((PEVENT_MAP_INFO)(void *)&map, 8, TDH_INTYPE_UINT8, 0, 0, "\x0D", 1,
				&consumed),
			 15005);
}

/* [HERE]: UTF-16 goes out as it came in, unpaired surrogates too. */
static void errors__surrogate(void **state)
{
	USHORT consumed;

	(void)state;
	assert_int_equal(format(NULL, 8, TDH_INTYPE_UNICODESTRING, 0, 0,
				"\0\xD8"
				"a\0\0\0",
				6, &consumed),
			 0);
	assert_memory_equal(buffer,
			    "\0\xD8"
			    "a\0\0\0",
			    6);
	assert_int_equal(format(NULL, 8, TDH_INTYPE_UNICODECHAR, 0, 0, "\0\xDC", 2, &consumed), 0);
	assert_memory_equal(buffer, "\0\xDC\0\0", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors__contexts),
		cmocka_unit_test(errors__event_information),
		cmocka_unit_test(errors__map_information),
		cmocka_unit_test(errors__property),
		cmocka_unit_test(errors__format_property_data),
		cmocka_unit_test(errors__format_property_arguments),
		cmocka_unit_test(errors__format_property_maps),
		cmocka_unit_test(errors__map_of_strings),
		cmocka_unit_test(errors__surrogate),
	};

	return cmocka_run_group_tests(tests, make_records, NULL);
}
