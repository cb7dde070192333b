/* SPDX-License-Identifier: MIT */
/*
 * What the functions about events refuse, in all the ways in which a call may be out of order, and what TDH does
 * about maps and lengths. Each documented error of each function has a row in test_documented_errors.c. Source of a
 * row: [n] the section of docs/format/contract-tdh.md, [HERE] a decision of this project where it is silent.
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

/* One argument that is not in order; all others are. */
enum provoked {
	NOTHING,
	NO_EVENT,
	NO_BUFFER,
	NO_SIZE,
	NO_CONTEXTS, /* a count and no list */
	NO_NAME,
	NAME_OF_NOTHING,
	NAME_OF_NO_TEXT, /* published programs ask with the blob itself where a property has no map */
	NO_DESCRIPTORS,
	NO_DESCRIPTOR_COUNT,
	UNNAMED_DESCRIPTOR,
	SHORT_BUFFER,
	EMPTY_BUFFER,
};

enum asked {
	EVENT_INFORMATION,
	MAP_INFORMATION,
	PROPERTY_SIZE,
	PROPERTY,
};

struct error_row {
	enum asked asked;
	ULONG error;
	enum provoked provoked;
	const struct made_record *made; /* the event */
	const char *source;
};

static const struct error_row error_rows[] = {
	{EVENT_INFORMATION, ERROR_INVALID_PARAMETER, NO_EVENT, &known, "[3]"},
	{EVENT_INFORMATION, ERROR_INVALID_PARAMETER, NO_SIZE, &known, "[3]"},
	{EVENT_INFORMATION, ERROR_INVALID_PARAMETER, NO_BUFFER, &known, "[3]"},
	{EVENT_INFORMATION, ERROR_INVALID_PARAMETER, NO_CONTEXTS, &known, "[3]"},
	{EVENT_INFORMATION, ERROR_NOT_FOUND, NOTHING, &unknown, "[3], [4]: schema"},
	{EVENT_INFORMATION, ERROR_NOT_FOUND, NOTHING, &wpp, "[3], [4]: message"},
	{EVENT_INFORMATION, ERROR_NOT_FOUND, NOTHING, &plain_string, "[3], [4]: no schema"},
	{EVENT_INFORMATION, ERROR_NOT_FOUND, NOTHING, &damaged, "[3], [4]: its metadata"},
	{EVENT_INFORMATION, ERROR_INSUFFICIENT_BUFFER, EMPTY_BUFFER, &known, "[3]"},
	/* ERROR_INSUFFICIENT_BUFFER: test_information.c, with an event that has a map. */
	{MAP_INFORMATION, ERROR_INVALID_PARAMETER, NO_EVENT, &known, "[3]"},
	{MAP_INFORMATION, ERROR_INVALID_PARAMETER, NO_NAME, &known, "[3]"},
	{MAP_INFORMATION, ERROR_INVALID_PARAMETER, NO_SIZE, &known, "[3]"},
	{MAP_INFORMATION, ERROR_INVALID_PARAMETER, NO_BUFFER, &known, "[3]"},
	{MAP_INFORMATION, ERROR_NOT_FOUND, NOTHING, &unknown, "[3]: schema"},
	{MAP_INFORMATION, ERROR_NOT_FOUND, NAME_OF_NOTHING, &known, "[3]: map"},
	{MAP_INFORMATION, ERROR_NOT_FOUND, NAME_OF_NO_TEXT, &known, "[3]: map"},
	{MAP_INFORMATION, ERROR_NOT_FOUND, NOTHING, &wpp, "[3]: message"},
	{PROPERTY_SIZE, ERROR_INVALID_PARAMETER, NO_EVENT, &known, "[3]"},
	{PROPERTY_SIZE, ERROR_INVALID_PARAMETER, NO_DESCRIPTOR_COUNT, &known, "[3]"},
	{PROPERTY_SIZE, ERROR_INVALID_PARAMETER, NO_DESCRIPTORS, &known, "[3]"},
	{PROPERTY_SIZE, ERROR_INVALID_PARAMETER, NO_SIZE, &known, "[3]"},
	{PROPERTY_SIZE, ERROR_INVALID_PARAMETER, UNNAMED_DESCRIPTOR, &known, "[3]"},
	{PROPERTY_SIZE, ERROR_INVALID_PARAMETER, NO_CONTEXTS, &known, "[3]"},
	{PROPERTY_SIZE, ERROR_NOT_FOUND, NOTHING, &unknown, "[3]: schema"},
	{PROPERTY_SIZE, ERROR_NOT_FOUND, NAME_OF_NOTHING, &known, "[3]: property"},
	{PROPERTY, ERROR_INVALID_PARAMETER, NO_EVENT, &known, "[3]"},
	{PROPERTY, ERROR_INVALID_PARAMETER, NO_DESCRIPTOR_COUNT, &known, "[3]"},
	{PROPERTY, ERROR_INVALID_PARAMETER, NO_DESCRIPTORS, &known, "[3]"},
	{PROPERTY, ERROR_INVALID_PARAMETER, NO_BUFFER, &known, "[3]"},
	{PROPERTY, ERROR_NOT_FOUND, NOTHING, &unknown, "[3]: schema"},
	{PROPERTY, ERROR_NOT_FOUND, NAME_OF_NOTHING, &known, "[3]: property"},
	{PROPERTY, ERROR_INSUFFICIENT_BUFFER, SHORT_BUFFER, &known, "[3]"},
	{PROPERTY, ERROR_INSUFFICIENT_BUFFER, EMPTY_BUFFER, &known, "[3]"},
};

static LPWSTR name_of(enum provoked provoked)
{
	static GUID no_text = {0x00410042, 0x0043, 0x0044, {0}};

	switch (provoked) {
	case NO_NAME:
		return NULL;
	case NAME_OF_NOTHING:
		return nothing;
	case NAME_OF_NO_TEXT:
		return (LPWSTR)(void *)&no_text;
	default:
		return number;
	}
}

/* How large the buffer is said to be; what is asked for takes 4 bytes of a property, and more of else. */
static ULONG size_of(enum provoked provoked)
{
	switch (provoked) {
	case EMPTY_BUFFER:
		return 0;
	case SHORT_BUFFER:
		return 3;
	default:
		return sizeof(buffer);
	}
}

static ULONG ask(const struct error_row *row)
{
	const enum provoked provoked = row->provoked;
	EVENT_RECORD record = row->made->record;
	PEVENT_RECORD event = provoked == NO_EVENT ? NULL : &record;
	BYTE *to = provoked == NO_BUFFER || provoked == EMPTY_BUFFER ? NULL : buffer;
	ULONG context_count = provoked == NO_CONTEXTS, size = size_of(provoked);
	ULONG *size_to = provoked == NO_SIZE ? NULL : &size;
	PROPERTY_DATA_DESCRIPTOR one = {
		.PropertyName = provoked == UNNAMED_DESCRIPTOR
					? 0
					: (ULONGLONG)(uintptr_t)name_of(provoked)};
	PROPERTY_DATA_DESCRIPTOR *descriptor = provoked == NO_DESCRIPTORS ? NULL : &one;
	ULONG count = provoked != NO_DESCRIPTOR_COUNT;

	switch (row->asked) {
	case EVENT_INFORMATION:
		return TdhGetEventInformation(event, context_count, NULL,
					      (PTRACE_EVENT_INFO)(void *)to, size_to);
	case MAP_INFORMATION:
		return TdhGetEventMapInformation(event, name_of(provoked),
						 (PEVENT_MAP_INFO)(void *)to, size_to);
	case PROPERTY_SIZE:
		return TdhGetPropertySize(event, context_count, NULL, count, descriptor, size_to);
	default:
		return TdhGetProperty(event, context_count, NULL, count, descriptor, size, to);
	}
}

/* Each call of the table is in order but for what its row says: the same call of a good event succeeds. */
static void errors__as_documented(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(error_rows) / sizeof(error_rows[0]); i++) {
		const struct error_row *row = &error_rows[i];
		struct error_row good = {row->asked, ERROR_SUCCESS, NOTHING, &known, ""};
		ULONG error = ask(row);

		if (error != row->error)
			fail_msg("row %zu (%s): %u", i, row->source, error);
		if (row->asked != MAP_INFORMATION)
			assert_int_equal(ask(&good), ERROR_SUCCESS);
	}
	print_message("%zu rows\n", sizeof(error_rows) / sizeof(error_rows[0]));
}

/* [HERE]: put together by hand, it says that it has what is not there. */
static void refuse(EVENT_RECORD *record)
{
	PROPERTY_DATA_DESCRIPTOR descriptor = {.PropertyName = (ULONGLONG)(uintptr_t)number};
	PTRACE_EVENT_INFO infos[1] = {NULL};
	ULONG size = 0, index, count;
	TDH_HANDLE handle;

	assert_int_equal(TdhGetEventInformation(record, 0, NULL, NULL, &size),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetEventMapInformation(record, number, NULL, &size),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetPropertySize(record, 0, NULL, 1, &descriptor, &size),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetProperty(record, 0, NULL, 1, &descriptor, sizeof(buffer), buffer),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhGetAllEventsInformation(record, NULL, &index, &count, infos, &size),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhOpenDecodingHandle(&handle), ERROR_SUCCESS);
	assert_int_equal(TdhGetWppMessage(handle, record, &size, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(TdhCloseDecodingHandle(handle), ERROR_SUCCESS);
}

static void errors__a_record_must_have_what_it_says(void **state)
{
	EVENT_RECORD record = known.record;
	EVENT_HEADER_EXTENDED_DATA_ITEM item = record.ExtendedData[0];

	(void)state;
	record.UserData = NULL;
	refuse(&record);
	record = known.record;
	record.ExtendedData = NULL;
	refuse(&record);
	record.ExtendedData = &item;
	item.DataPtr = 0;
	refuse(&record);
}

static void errors__the_size_is_told(void **state)
{
	ULONG size = 0;

	(void)state;
	assert_int_equal(TdhGetEventInformation(&known.record, 0, NULL, NULL, &size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_true(size > sizeof(TRACE_EVENT_INFO));
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

enum format_provoked {
	NO_INFO,
	NO_DATA,
	NO_FORMAT_SIZE,
	NO_TEXT,
	NO_CONSUMED,
	FORMAT_IN_ORDER,
};

/* [3]: INVALID_PARAMETER, in this order. */
static ULONG format_without(enum format_provoked provoked)
{
	BYTE data[4] = {1, 0, 0, 0};
	USHORT used = 0;
	WCHAR text[8];
	ULONG size = sizeof(text);

	return TdhFormatProperty(
		provoked == NO_INFO ? NULL : info, NULL, 8, TDH_INTYPE_UINT32, 0, 0, 4,
		provoked == NO_DATA ? NULL : data, provoked == NO_FORMAT_SIZE ? NULL : &size,
		provoked == NO_TEXT ? NULL : text, provoked == NO_CONSUMED ? NULL : &used);
}

static void errors__format_property_arguments(void **state)
{
	WCHAR text[8];
	ULONG size = 3;
	USHORT used = 7;
	BYTE data[4] = {1, 0, 0, 0};

	(void)state;
	for (enum format_provoked i = NO_INFO; i < FORMAT_IN_ORDER; i++)
		assert_int_equal(format_without(i), ERROR_INVALID_PARAMETER);
	assert_int_equal(format_without(FORMAT_IN_ORDER), ERROR_SUCCESS);
	/* INSUFFICIENT_BUFFER [3]: the size is in bytes, and nothing is consumed */
	assert_int_equal(TdhFormatProperty(info, NULL, 8, TDH_INTYPE_UINT32, 0, 0, 4, data, &size,
					   text, &used),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, 4);
	assert_int_equal(used, 7);
	/* No data at all, and none is needed. */
	size = sizeof(text);
	assert_int_equal(TdhFormatProperty(info, NULL, 8, TDH_INTYPE_NONNULLTERMINATEDSTRING, 0, 0,
					   0, NULL, &size, text, &used),
			 ERROR_SUCCESS);
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
		cmocka_unit_test(errors__as_documented),
		cmocka_unit_test(errors__a_record_must_have_what_it_says),
		cmocka_unit_test(errors__the_size_is_told),
		cmocka_unit_test(errors__format_property_data),
		cmocka_unit_test(errors__format_property_arguments),
		cmocka_unit_test(errors__format_property_maps),
		cmocka_unit_test(errors__map_of_strings),
		cmocka_unit_test(errors__surrogate),
	};

	return cmocka_run_group_tests(tests, make_records, NULL);
}
