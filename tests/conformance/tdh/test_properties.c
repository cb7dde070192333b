/* SPDX-License-Identifier: MIT */
/*
 * TdhGetProperty and TdhGetPropertySize: how a property is named, and which bytes are its value. Sources:
 * [3.1], [5.2] to [5.4] of docs/format/contract-tdh.md, [HERE] a decision of this project where they are silent.
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

#define ALL       0xFFFFFFFFu
#define DEPTH_MAX 3

static struct made_record made;

struct step {
	const char *name;
	ULONG index;
};

struct row {
	struct step steps[DEPTH_MAX];
	ULONG count;
	ULONG error;
	const char *bytes;
	ULONG byte_count;
	const char *source;
};

#define VALUE(source, bytes, ...)                                                          \
	{                                                                                  \
		{__VA_ARGS__}, sizeof((struct step[]){__VA_ARGS__}) / sizeof(struct step), \
			ERROR_SUCCESS, bytes, sizeof(bytes) - 1, source                    \
	}
#define FAILS(source, error, ...)                                                                 \
	{                                                                                         \
		{__VA_ARGS__}, sizeof((struct step[]){__VA_ARGS__}) / sizeof(struct step), error, \
			NULL, 0, source                                                           \
	}

/* Of the event that make_event() makes. */
static const struct row rows[] = {
	VALUE("[3.1]", "\1\2\3\4", {"Number", ALL}),
	VALUE("[3.1]", "\1\2\3\4", {"Number", 0}),
	VALUE("[3.1]: with its terminator", "h\0i\0\0\0", {"Wide", ALL}),
	VALUE("[3.1]: with its terminator", "yo\0", {"Narrow", ALL}),
	VALUE("[3.1]: without its count", "a\0b\0", {"Counted", ALL}),
	VALUE("[5.3]: the length is a property", "\3\0", {"Blob.Length", ALL}),
	VALUE("[5.3]", "\x0A\x0B\x0C", {"Blob", ALL}),
	VALUE("[5.3]: so is the count", "\2\0", {"List.Count", ALL}),
	VALUE("[3.1]: the whole array", "\1\0\2\0", {"List", ALL}),
	VALUE("[3.1]: one element", "\2\0", {"List", 1}),
	VALUE("[HERE]: a whole array of counted values keeps the counts", "\1\0x\2\0yz",
	      {"Texts", ALL}),
	VALUE("[3.1]", "yz", {"Texts", 1}),
	VALUE("[3.1]: a member", "\x21", {"Outer", 0}, {"First", ALL}),
	VALUE("[HERE]: a scalar struct has no other element", "\x21", {"Outer", ALL}, {"First", 0}),
	VALUE("[3.1]: structs nest in TraceLogging", "\x22\x23", {"Outer", 0}, {"Inner", 0},
	      {"Leaf", ALL}),
	VALUE("[HERE]: the bytes of a whole struct", "\x21\x22\x23", {"Outer", 0}),
	VALUE("[3.1]: a member of an element", "\x32", {"Pairs", 1}, {"Left", ALL}),
	VALUE("[HERE]", "\x31\x41\x32\x42", {"Pairs", ALL}),
	VALUE("[5.1]: no elements", "\0\0", {"None.Count", ALL}),
	VALUE("[5.1]: no elements", "", {"None", ALL}),
	FAILS("[HERE]: no such element", ERROR_INVALID_PARAMETER, {"None", 0}),
	VALUE("[5.1]: nothing", "\0\0", {"Empty.Length", ALL}),
	VALUE("[5.1]: nothing", "", {"Empty", ALL}),
	VALUE("[3.1]: with its terminator", "\0\0", {"Blank", ALL}),
	VALUE("[1.1]: without its count", "", {"Nil", ALL}),
	VALUE("[5.2]: the rest, ended", "e\0\0\0", {"Last", ALL}),
	FAILS("[3.1]: names are case-sensitive", ERROR_NOT_FOUND, {"number", ALL}),
	FAILS("[3]", ERROR_NOT_FOUND, {"Num", ALL}),
	FAILS("[3]", ERROR_NOT_FOUND, {"Numbers", ALL}),
	FAILS("[3]", ERROR_NOT_FOUND, {"Outer", 0}, {"Leaf", ALL}),
	FAILS("[HERE]: a member is none of the event's own", ERROR_NOT_FOUND, {"First", ALL}),
	FAILS("[HERE]: no such element", ERROR_INVALID_PARAMETER, {"List", 2}),
	FAILS("[HERE]: no such element", ERROR_INVALID_PARAMETER, {"Number", 1}),
	FAILS("[HERE]: which of the structs", ERROR_INVALID_PARAMETER, {"Pairs", ALL},
	      {"Left", ALL}),
	FAILS("[HERE]: no such struct", ERROR_INVALID_PARAMETER, {"Pairs", 2}, {"Left", ALL}),
	FAILS("[HERE]: no struct", ERROR_INVALID_PARAMETER, {"Number", 0}, {"Left", ALL}),
	FAILS("[HERE]: the payload ends before it", ERROR_EVT_INVALID_EVENT_DATA, {"Missing", ALL}),
};

static void make_event(void)
{
	static const char payload[] = "\1\2\3\4"         /* Number */
				      "h\0i\0\0\0"       /* Wide */
				      "yo\0"             /* Narrow */
				      "\4\0a\0b\0"       /* Counted */
				      "\3\0\x0A\x0B\x0C" /* Blob */
				      "\2\0\1\0\2\0"     /* List */
				      "\2\0\1\0x\2\0yz"  /* Texts */
				      "\x21\x22\x23"     /* Outer */
				      "\x31\x41\x32\x42" /* Pairs */
				      "\0\0"             /* None, an array of 0 */
				      "\0\0"             /* Empty, binary of 0 bytes */
				      "\0\0"             /* Blank */
				      "\0\0"             /* Nil, counted */
				      "e\0";             /* Last, without its NUL */

	record_tracelogging(&made, "Properties");
	record_field(&made, "Number", TDH_INTYPE_UINT32, 0, 0);
	record_field(&made, "Wide", TDH_INTYPE_UNICODESTRING, 0, 0);
	record_field(&made, "Narrow", TDH_INTYPE_ANSISTRING, 0, 0);
	record_field(&made, "Counted", TDH_INTYPE_MANIFEST_COUNTEDSTRING, 0, 0);
	record_field(&made, "Blob", TDH_INTYPE_BINARY, 0, 0);
	record_field(&made, "List", TDH_INTYPE_UINT16 | 0x40, 0, 0);
	record_field(&made, "Texts", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING | 0x40, 0, 0);
	record_field(&made, "Outer", 24, 2, 0);
	record_field(&made, "First", TDH_INTYPE_UINT8, 0, 0);
	record_field(&made, "Inner", 24, 1, 0);
	record_field(&made, "Leaf", TDH_INTYPE_UINT16, 0, 0);
	record_field(&made, "Pairs", 24 | 0x20, 2, 2);
	record_field(&made, "Left", TDH_INTYPE_UINT8, 0, 0);
	record_field(&made, "Right", TDH_INTYPE_UINT8, 0, 0);
	record_field(&made, "None", TDH_INTYPE_UINT32 | 0x40, 0, 0);
	record_field(&made, "Empty", TDH_INTYPE_BINARY, 0, 0);
	record_field(&made, "Blank", TDH_INTYPE_UNICODESTRING, 0, 0);
	record_field(&made, "Nil", TDH_INTYPE_MANIFEST_COUNTEDSTRING, 0, 0);
	record_field(&made, "Last", TDH_INTYPE_UNICODESTRING, 0, 0);
	record_field(&made, "Missing", TDH_INTYPE_UINT8, 0, 0);
	record_put(&made, payload, sizeof(payload) - 1);
}

static ULONG describe(const struct row *row, PROPERTY_DATA_DESCRIPTOR *ret)
{
	static WCHAR names[DEPTH_MAX][32];

	for (ULONG i = 0; i < row->count; i++) {
		size_t units = 0;

		for (; row->steps[i].name[units]; units++)
			names[i][units] = (WCHAR)row->steps[i].name[units];
		names[i][units] = 0;
		ret[i] = (PROPERTY_DATA_DESCRIPTOR){
			.PropertyName = (ULONGLONG)(uintptr_t)names[i],
			.ArrayIndex = row->steps[i].index,
		};
	}
	return row->count;
}

static void properties__table(void **state)
{
	(void)state;
	make_event();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		PROPERTY_DATA_DESCRIPTOR descriptors[DEPTH_MAX];
		ULONG count = describe(row, descriptors), size = 0xABCD;
		BYTE buffer[64];
		ULONG error = TdhGetPropertySize(&made.record, 0, NULL, count, descriptors, &size);

		if (error != row->error || (!error && size != row->byte_count))
			fail_msg("row %zu (%s, %s): error %u, size %u", i, row->steps[0].name,
				 row->source, error, size);
		memset(buffer, 0xEE, sizeof(buffer));
		if (row->error) {
			assert_int_equal(size, 0xABCD);
			assert_int_equal(TdhGetProperty(&made.record, 0, NULL, count, descriptors,
							sizeof(buffer), buffer),
					 row->error);
			continue;
		}
		if (size)
			assert_int_equal(TdhGetProperty(&made.record, 0, NULL, count, descriptors,
							size - 1, buffer),
					 ERROR_INSUFFICIENT_BUFFER);
		assert_int_equal(buffer[0], 0xEE);
		assert_int_equal(
			TdhGetProperty(&made.record, 0, NULL, count, descriptors, size, buffer),
			ERROR_SUCCESS);
		if (memcmp(buffer, row->bytes, size) != 0 || buffer[size] != 0xEE)
			fail_msg("row %zu (%s, %s): the bytes differ", i, row->steps[0].name,
				 row->source);
	}
	print_message("%zu rows\n", sizeof(rows) / sizeof(rows[0]));
}

/* [4], [3]: the event's header tells the size of pointers, and where it does not, a context may. */
static void properties__pointer_size(void **state)
{
	static const char payload[16] = "\1\2\3\4\5\6\7\x08zzzzzzz";
	struct row row = VALUE("[4]", "", {"After", ALL});
	TDH_CONTEXT context = {.ParameterType = TDH_CONTEXT_POINTERSIZE, .ParameterValue = 4};
	PROPERTY_DATA_DESCRIPTOR descriptor;
	BYTE byte = 0;

	(void)state;
	record_tracelogging(&made, "Pointers");
	record_field(&made, "Pointer", TDH_INTYPE_POINTER, 0, 0);
	record_field(&made, "After", TDH_INTYPE_UINT8, 0, 0);
	record_put(&made, payload, sizeof(payload));
	(void)describe(&row, &descriptor);
	assert_int_equal(TdhGetProperty(&made.record, 1, &context, 1, &descriptor, 1, &byte), 0);
	assert_int_equal(byte, 'z');
	made.record.EventHeader.Flags = EVENT_HEADER_FLAG_32_BIT_HEADER;
	assert_int_equal(TdhGetProperty(&made.record, 0, NULL, 1, &descriptor, 1, &byte), 0);
	assert_int_equal(byte, 5);
	made.record.EventHeader.Flags = 0;
	assert_int_equal(TdhGetProperty(&made.record, 1, &context, 1, &descriptor, 1, &byte), 0);
	assert_int_equal(byte, 5);
	context.ParameterValue = 8;
	assert_int_equal(TdhGetProperty(&made.record, 1, &context, 1, &descriptor, 1, &byte), 0);
	assert_int_equal(byte, 'z');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(properties__table),
		cmocka_unit_test(properties__pointer_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
