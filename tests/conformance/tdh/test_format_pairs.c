/* SPDX-License-Identifier: MIT */
/*
 * TdhFormatProperty: every pair of in-type and out-type at edge values, for 32 and 64 bit where they differ. A
 * row gives the text of its in-type, and those of the out-types that mean something else; every other out-type
 * must give the first, which is the rule for pairs that mean nothing ([1.2]).
 *
 * Sources: [n] the section of docs/format/contract-tdh.md (types 1,
 * sizes 5.2 and 7.5, texts 7, network 7.1, times 7.2, errors 7.3); [text] a choice of docs/format/tdh-text.md
 * where Windows is silent; [HERE] one of docs/design/tdh.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tdh.h>
#include <winerror.h>

#include "base/utf.h"

#define EXCEPTIONS_MAX 8
#define OUT_REDUCED    39 /* bits of the out-types from 300 on */
#define OUT_NOPRINT    40

#define O(type) (UINT64_C(1) << TDH_OUTTYPE_##type)
#define HEXES \
	(O(HEXINT8) | O(HEXINT16) | O(HEXINT32) | O(HEXINT64) | O(CODE_POINTER) | O(ERRORCODE))
#define NUMBERS (O(PID) | O(TID) | O(ETWTIME))
#define DATES   (O(DATETIME) | O(CULTURE_INSENSITIVE_DATETIME) | O(DATETIME_UTC))

struct exception {
	uint64_t outs;
	const char *text;
};

struct row {
	USHORT in_type;
	UCHAR pointer_bytes; /* 0: both */
	USHORT length;       /* PropertyLength */
	const char *payload;
	USHORT bytes;
	USHORT consumed;
	const char *source;
	const char *text; /* UTF-8 */
	struct exception exceptions[EXCEPTIONS_MAX];
};

#define ROW(in, pointer, length, payload, consumed, source, text, ...)                            \
	{                                                                                         \
		TDH_INTYPE_##in, pointer, length, payload, sizeof(payload) - 1, consumed, source, \
			text,                                                                     \
		{                                                                                 \
			__VA_ARGS__                                                               \
		}                                                                                 \
	}

#define IPV6_LOOPBACK "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"
#define SOCKET_V4     "\x02\0\x01\xBB\x0A\0\0\1\0\0\0\0\0\0\0\0"
#define SOCKET_V6     "\x17\0\x01\xBB\0\0\0\0" IPV6_LOOPBACK "\5\0\0\0"
#define SID_SYSTEM    "\1\1\0\0\0\0\0\5\x12\0\0\0"
#define ZEROS_16      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ONES_16       "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
#define GUID_BYTES    "\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF"

/* The text of so many sub-authorities of 0xFFFFFFFF. */
#define MOST_1 "-4294967295"
#define MOST_2 MOST_1 MOST_1
#define MOST_4 MOST_2 MOST_2
#define MOST_8 MOST_4 MOST_4

static const struct row rows[] = {
#include "format_rows.inc"
};

/* The pairs that were tried. */
static size_t pairs;
static TRACE_EVENT_INFO info;

static USHORT out_type_of(unsigned bit)
{
	if (bit == OUT_REDUCED)
		return TDH_OUTTYPE_REDUCEDSTRING;
	return bit == OUT_NOPRINT ? TDH_OUTTYPE_NOPRINT : (USHORT)bit;
}

static const char *expected_text(const struct row *row, unsigned bit)
{
	for (unsigned i = 0; i < EXCEPTIONS_MAX && row->exceptions[i].text; i++) {
		if (row->exceptions[i].outs >> bit & 1)
			return row->exceptions[i].text;
	}
	return row->text;
}

static void check_pair(size_t index, unsigned bit, ULONG pointer_bytes)
{
	const struct row *row = &rows[index];
	const char *expected = expected_text(row, bit);
	PBYTE payload = (PBYTE)(uintptr_t)row->payload;
	USHORT out_type = out_type_of(bit);
	ULONG size = 0, needed;
	USHORT consumed = 0xABCD;
	WCHAR *buffer;
	char *text;

	assert_int_equal(TdhFormatProperty(&info, NULL, pointer_bytes, row->in_type, out_type,
					   row->length, row->bytes, payload, &size, NULL,
					   &consumed),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(consumed, 0xABCD);
	needed = size;
	buffer = malloc(needed + 2);
	size = needed - 1;
	assert_int_equal(TdhFormatProperty(&info, NULL, pointer_bytes, row->in_type, out_type,
					   row->length, row->bytes, payload, &size, buffer,
					   &consumed),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, needed);
	size = needed + 2;
	assert_int_equal(TdhFormatProperty(&info, NULL, pointer_bytes, row->in_type, out_type,
					   row->length, row->bytes, payload, &size, buffer,
					   &consumed),
			 ERROR_SUCCESS);
	assert_int_equal(size, needed);
	text = etw_utf16_to_utf8((const uint8_t *)buffer, needed / 2 - 1);
	if (strcmp(text, expected) != 0 || consumed != row->consumed)
		fail_msg("row %zu (in %u, out %u, pointers of %u, %s): \"%s\", %u bytes used, not "
			 "\"%s\", %u",
			 index, row->in_type, out_type, pointer_bytes, row->source, text, consumed,
			 expected, row->consumed);
	assert_int_equal(buffer[needed / 2 - 1], 0);
	free(text);
	free(buffer);
	pairs++;
}

static void format_pairs__every_pair(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned bit = 0; bit <= OUT_NOPRINT; bit++) {
			if (rows[i].pointer_bytes != 8)
				check_pair(i, bit, 4);
			if (rows[i].pointer_bytes != 4)
				check_pair(i, bit, 8);
		}
	}
	print_message("%zu rows, %zu pairs with their values\n", sizeof(rows) / sizeof(rows[0]),
		      pairs);
}

/* [5.2], [7.5]: strings that a NUL ends and those that go to the end take what is there, others need all. */
static ULONG short_error(const struct row *row, USHORT bytes)
{
	switch (row->in_type) {
	case TDH_INTYPE_UNICODESTRING:
	case TDH_INTYPE_ANSISTRING:
		return row->length || !bytes ? ERROR_EVT_INVALID_EVENT_DATA : ERROR_SUCCESS;
	case TDH_INTYPE_NONNULLTERMINATEDSTRING:
	case TDH_INTYPE_NONNULLTERMINATEDANSISTRING:
		return ERROR_SUCCESS;
	default:
		return ERROR_EVT_INVALID_EVENT_DATA;
	}
}

/* The row's payload without its end, in memory of its own, so that a sanitizer sees what is read behind it. */
static void check_short(size_t index, USHORT out_type, ULONG pointer_bytes, USHORT bytes)
{
	const struct row *row = &rows[index];
	const ULONG expected = short_error(row, bytes);
	PBYTE payload = malloc(bytes ? bytes : 1);
	WCHAR buffer[256];
	ULONG size = sizeof(buffer), error;
	USHORT consumed = 0xABCD;

	memcpy(payload, row->payload, bytes);
	error = TdhFormatProperty(&info, NULL, pointer_bytes, row->in_type, out_type, row->length,
				  bytes, payload, &size, buffer, &consumed);
	free(payload);
	if (error != expected || consumed != (expected ? 0xABCD : bytes))
		fail_msg("row %zu (in %u, out %u, pointers of %u) cut to %u bytes: %u, %u bytes "
			 "used",
			 index, row->in_type, out_type, pointer_bytes, bytes, error, consumed);
}

static void format_pairs__too_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned bit = 0; bit <= OUT_NOPRINT; bit++) {
			for (USHORT bytes = 0; bytes < rows[i].consumed; bytes++) {
				if (rows[i].pointer_bytes != 8)
					check_short(i, out_type_of(bit), 4, bytes);
				if (rows[i].pointer_bytes != 4)
					check_short(i, out_type_of(bit), 8, bytes);
			}
		}
	}
}

static bool is_in_type(unsigned in)
{
	if (in == TDH_INTYPE_NULL || in == TDH_INTYPE_RESERVED24)
		return false;
	return in <= TDH_INTYPE_MANIFEST_COUNTEDBINARY ||
	       (in >= TDH_INTYPE_COUNTEDSTRING && in <= TDH_INTYPE_WBEMSID);
}

/* [7] NULL is rejected; [HERE] so is what [1.1] does not have. */
static void format_pairs__no_in_type(void **state)
{
	BYTE payload[64] = {0};
	WCHAR buffer[64];

	(void)state;
	for (unsigned in = 0; in <= 0x10000; in += in < 400 ? 1 : 0x7FF) {
		const USHORT in_type = (USHORT)(in > 0xFFFF ? 0xFFFF : in);

		for (unsigned bit = 0; bit <= OUT_NOPRINT && !is_in_type(in_type); bit++) {
			ULONG size = sizeof(buffer);
			USHORT consumed;

			assert_int_equal(TdhFormatProperty(&info, NULL, 8, in_type,
							   out_type_of(bit), 0, sizeof(payload),
							   payload, &size, buffer, &consumed),
					 ERROR_INVALID_PARAMETER);
		}
	}
}

/* Each in-type of [1.1] but NULL and the reserved 24 has a row. */
static void format_pairs__every_in_type(void **state)
{
	(void)state;
	for (unsigned in = TDH_INTYPE_UNICODESTRING; in <= TDH_INTYPE_WBEMSID; in++) {
		size_t found = 0;

		if (!is_in_type(in))
			continue;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			found += rows[i].in_type == in;
		if (!found)
			fail_msg("in-type %u has no row", in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(format_pairs__every_pair),
		cmocka_unit_test(format_pairs__too_short),
		cmocka_unit_test(format_pairs__no_in_type),
		cmocka_unit_test(format_pairs__every_in_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
