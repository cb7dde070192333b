/* SPDX-License-Identifier: MIT */
/*
 * Predicates against schemas made by hand: which types and operators go together, which values they take, what
 * they answer, and how fields are found behind others of every kind. Sources: PAYLOAD_FILTER_PREDICATE of
 * Microsoft's documentation; docs/format/payload-filter.md.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/tdh/payload_operand.h"
#include "api/tdh/payload_program.h"
#include "base/macros.h"
#include "base/utf.h"
#include "schema/types.h"

static const GUID provider = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
static struct etw_payload_blob blob;
static WCHAR wide[2][4096];

static WCHAR *widen(const char *text, unsigned slot)
{
	size_t units = etw_utf8_put_utf16(text, strlen(text), (uint8_t *)wide[slot]);

	wide[slot][units] = 0;
	return wide[slot];
}

static struct etw_field field_of(const char *name, uint16_t in_type)
{
	return (struct etw_field){.name = name, .in_type = in_type, .count = 1};
}

static int write_for(const struct etw_field *fields, uint16_t top, uint16_t all, const char *name,
		     uint16_t operation, const char *value)
{
	const struct etw_schema schema = {
		.provider = provider, .fields = fields, .top_count = top, .field_count = all};
	const PAYLOAD_FILTER_PREDICATE predicate = {
		.FieldName = name ? widen(name, 0) : NULL,
		.CompareOp = operation,
		.Value = value ? widen(value, 1) : NULL,
	};
	const struct etw_payload_wish wish = {
		.provider = &provider, .id = 7, .version = 1, .predicates = &predicate, .count = 1};

	return etw_payload_program_write(&schema, &wish, &blob);
}

static int write_one(uint16_t in_type, uint16_t operation, const char *value)
{
	const struct etw_field field = field_of("Field", in_type);

	return write_for(&field, 1, 1, "Field", operation, value);
}

static bool passes(const void *payload, size_t bytes)
{
	const EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)payload, .Size = (ULONG)bytes};
	const struct wire_payload_subject subject = {provider, 7, 1, 8, false, 1, &data};

	return wire_payload_filter_passes(blob.at, &subject);
}

/* Every in-type with every operator. */
static void test_payload_program__types_and_operators(void **state)
{
	static const uint16_t operators[] = {
		PAYLOADFIELD_EQ,
		PAYLOADFIELD_NE,
		PAYLOADFIELD_LE,
		PAYLOADFIELD_GT,
		PAYLOADFIELD_LT,
		PAYLOADFIELD_GE,
		PAYLOADFIELD_BETWEEN,
		PAYLOADFIELD_NOTBETWEEN,
		PAYLOADFIELD_MODULO,
		PAYLOADFIELD_CONTAINS,
		PAYLOADFIELD_DOESNTCONTAIN,
		PAYLOADFIELD_IS,
		PAYLOADFIELD_ISNOT,
		PAYLOADFIELD_INVALID,
		9,
		19,
		22,
		33,
		0xFFFF,
	};
	unsigned accepted = 0;

	(void)state;
	for (uint16_t in_type = 0; in_type <= TDH_INTYPE_WBEMSID; in_type++) {
		uint8_t kind = etw_payload_kind(in_type);

		for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
			uint16_t operation = operators[i];
			bool is_number = kind == WIRE_PAYLOAD_SIGNED ||
					 kind == WIRE_PAYLOAD_UNSIGNED;
			bool is_text = kind == WIRE_PAYLOAD_UTF16 || kind == WIRE_PAYLOAD_ANSI;
			bool is_pair = operation == PAYLOADFIELD_BETWEEN ||
				       operation == PAYLOADFIELD_NOTBETWEEN;
			const char *value = kind == WIRE_PAYLOAD_GUID
						    ? "{00112233-4455-6677-8899-aabbccddeeff}"
					    : is_pair ? "1,2"
						      : "1";
			bool is_expected =
				(is_number && operation <= PAYLOADFIELD_MODULO) ||
				(is_text && operation >= PAYLOADFIELD_CONTAINS &&
				 operation <= PAYLOADFIELD_ISNOT && operation != 22) ||
				(kind == WIRE_PAYLOAD_GUID &&
				 (operation == PAYLOADFIELD_IS || operation == PAYLOADFIELD_ISNOT));

			assert_int_equal(write_one(in_type, operation, value),
					 is_expected ? 0 : -EINVAL);
			accepted += is_expected;
		}
	}
	/* 11 types of numbers, 4 of strings, GUID. */
	assert_int_equal(accepted, 11 * 9 + 4 * 4 + 2);
}

struct value_row {
	uint16_t in_type, operation;
	const char *value;
	int result;
};

static void test_payload_program__values(void **state)
{
	static const struct value_row rows[] = {
		{TDH_INTYPE_INT8, PAYLOADFIELD_EQ, "-128", 0},
		{TDH_INTYPE_INT8, PAYLOADFIELD_EQ, "127", 0},
		{TDH_INTYPE_INT8, PAYLOADFIELD_EQ, "128", -EINVAL},
		{TDH_INTYPE_INT8, PAYLOADFIELD_EQ, "-129", -EINVAL},
		{TDH_INTYPE_INT16, PAYLOADFIELD_EQ, "-32769", -EINVAL},
		{TDH_INTYPE_INT32, PAYLOADFIELD_EQ, "-2147483648", 0},
		{TDH_INTYPE_INT32, PAYLOADFIELD_EQ, "2147483648", -EINVAL},
		{TDH_INTYPE_INT64, PAYLOADFIELD_EQ, "-9223372036854775808", 0},
		{TDH_INTYPE_INT64, PAYLOADFIELD_EQ, "9223372036854775808", -EINVAL},
		{TDH_INTYPE_UINT8, PAYLOADFIELD_EQ, "255", 0},
		{TDH_INTYPE_UINT8, PAYLOADFIELD_EQ, "256", -EINVAL},
		{TDH_INTYPE_UINT8, PAYLOADFIELD_EQ, "-1", -EINVAL},
		{TDH_INTYPE_UINT8, PAYLOADFIELD_EQ, "-0", 0},
		{TDH_INTYPE_UINT16, PAYLOADFIELD_EQ, "0xFfFf", 0},
		{TDH_INTYPE_UINT16, PAYLOADFIELD_EQ, "0x10000", -EINVAL},
		{TDH_INTYPE_UINT64, PAYLOADFIELD_EQ, "18446744073709551615", 0},
		{TDH_INTYPE_UINT64, PAYLOADFIELD_EQ, "18446744073709551616", -EINVAL},
		{TDH_INTYPE_HEXINT64, PAYLOADFIELD_EQ, "0xFFFFFFFFFFFFFFFF", 0},
		{TDH_INTYPE_HEXINT64, PAYLOADFIELD_EQ, "0x10000000000000000", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, " \t+7 ", 0},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, "", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, " ", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, "0x", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, "7 8", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, "7,8", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, "7a", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, "1.5", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_EQ, NULL, -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_BETWEEN, "7 , 8", 0},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_BETWEEN, "7,7", 0},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_BETWEEN, "8,7", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_BETWEEN, "7", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_BETWEEN, "7,", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_NOTBETWEEN, "7,8,9", -EINVAL},
		{TDH_INTYPE_INT32, PAYLOADFIELD_BETWEEN, "-7,7", 0},
		{TDH_INTYPE_INT32, PAYLOADFIELD_BETWEEN, "7,-7", -EINVAL},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_MODULO, "0", -EINVAL},
		{TDH_INTYPE_GUID, PAYLOADFIELD_IS, "00112233-4455-6677-8899-aabbccddeeff", -EINVAL},
		{TDH_INTYPE_GUID, PAYLOADFIELD_IS, "{00112233-4455-6677-8899-aabbccddeefg}",
		 -EINVAL},
		{TDH_INTYPE_GUID, PAYLOADFIELD_IS, "{00112233-4455-6677-8899-aabbccddeeff} ",
		 -EINVAL},
		{TDH_INTYPE_GUID, PAYLOADFIELD_IS, "{00112233-4455-6677-8899-aabbccddeef\xC3\xA4}",
		 -EINVAL},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_IS, "", 0},
		{TDH_INTYPE_ANSISTRING, PAYLOADFIELD_CONTAINS, "", 0},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_IS, NULL, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int result = write_one(rows[i].in_type, rows[i].operation, rows[i].value);

		if (result != rows[i].result)
			print_error("row %zu: %s\n", i, rows[i].value);
		assert_int_equal(result, rows[i].result);
	}
}

struct answer_row {
	uint16_t in_type, operation;
	const char *value;
	const char *payload;
	size_t bytes;
	bool passes;
};

#define BYTES(literal) literal, sizeof(literal) - 1

static void test_payload_program__answers(void **state)
{
	static const struct answer_row rows[] = {
		{TDH_INTYPE_INT8, PAYLOADFIELD_EQ, "-2", BYTES("\xFE"), true},
		{TDH_INTYPE_INT8, PAYLOADFIELD_LT, "1", BYTES("\xFE"), true},
		{TDH_INTYPE_UINT8, PAYLOADFIELD_LT, "1", BYTES("\xFE"), false},
		{TDH_INTYPE_INT16, PAYLOADFIELD_GT, "-300", BYTES("\xD5\xFE"), true},
		{TDH_INTYPE_INT16, PAYLOADFIELD_GT, "-299", BYTES("\xD5\xFE"), false},
		{TDH_INTYPE_INT16, PAYLOADFIELD_GE, "-299", BYTES("\xD5\xFE"), true},
		{TDH_INTYPE_INT32, PAYLOADFIELD_NE, "-1", BYTES("\xFF\xFF\xFF\xFF"), false},
		{TDH_INTYPE_UINT32, PAYLOADFIELD_NE, "0", BYTES("\xFF\xFF\xFF\xFF"), true},
		{TDH_INTYPE_INT64, PAYLOADFIELD_LE, "-9223372036854775808",
		 BYTES("\0\0\0\0\0\0\0\x80"), true},
		{TDH_INTYPE_UINT64, PAYLOADFIELD_LE, "1", BYTES("\0\0\0\0\0\0\0\x80"), false},
		{TDH_INTYPE_HEXINT32, PAYLOADFIELD_EQ, "0xC0000022", BYTES("\x22\0\0\xC0"), true},
		{TDH_INTYPE_FILETIME, PAYLOADFIELD_GE, "256", BYTES("\0\1\0\0\0\0\0\0"), true},
		{TDH_INTYPE_INT32, PAYLOADFIELD_BETWEEN, "-5,5", BYTES("\xFB\xFF\xFF\xFF"), true},
		{TDH_INTYPE_INT32, PAYLOADFIELD_BETWEEN, "-5,5", BYTES("\5\0\0\0"), true},
		{TDH_INTYPE_INT32, PAYLOADFIELD_BETWEEN, "-5,5", BYTES("\6\0\0\0"), false},
		{TDH_INTYPE_INT32, PAYLOADFIELD_NOTBETWEEN, "-5,5", BYTES("\6\0\0\0"), true},
		{TDH_INTYPE_INT32, PAYLOADFIELD_NOTBETWEEN, "-5,5", BYTES("\5\0\0\0"), false},
		{TDH_INTYPE_UINT16, PAYLOADFIELD_MODULO, "10", BYTES("\x1E\0"), true},
		{TDH_INTYPE_UINT16, PAYLOADFIELD_MODULO, "10", BYTES("\x1F\0"), false},
		{TDH_INTYPE_INT64, PAYLOADFIELD_MODULO, "-1", BYTES("\0\0\0\0\0\0\0\x80"), true},
		{TDH_INTYPE_INT8, PAYLOADFIELD_MODULO, "3", BYTES("\xFA"), true},
		/* Not there: nothing holds. */
		{TDH_INTYPE_UINT32, PAYLOADFIELD_NE, "0", BYTES("\1\1\1"), false},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_ISNOT, "x", BYTES(""), false},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_IS,
		 "\xC3\xA4"
		 "Bc",
		 BYTES("\xC4\0b\0C\0\0\0"), true},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_IS, "ab", BYTES("a\0b\0"), true},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_ISNOT, "ab", BYTES("a\0\0\0"), true},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_CONTAINS, "BC", BYTES("a\0b\0c\0d\0\0\0"),
		 true},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_DOESNTCONTAIN, "BC",
		 BYTES("a\0b\0c\0d\0\0\0"), false},
		{TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_DOESNTCONTAIN, "x", BYTES("\0\0"), true},
		{TDH_INTYPE_ANSISTRING, PAYLOADFIELD_IS, "Ab", BYTES("aB\0"), true},
		{TDH_INTYPE_ANSISTRING, PAYLOADFIELD_CONTAINS, "\xC3\xA4", BYTES("x\xC3\xA4y\0"),
		 true},
		{TDH_INTYPE_MANIFEST_COUNTEDSTRING, PAYLOADFIELD_IS, "ab", BYTES("\4\0A\0B\0"),
		 true},
		{TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, PAYLOADFIELD_IS, "ab", BYTES("\2\0AB"),
		 true},
		{TDH_INTYPE_GUID, PAYLOADFIELD_IS, "{00112233-4455-6677-8899-AABBCCDDEEFF}",
		 BYTES("\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff"), true},
		{TDH_INTYPE_GUID, PAYLOADFIELD_ISNOT, "{00112233-4455-6677-8899-AABBCCDDEEFF}",
		 BYTES("\x33\x22\x11\0\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff"), false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(write_one(rows[i].in_type, rows[i].operation, rows[i].value), 0);
		if (passes(rows[i].payload, rows[i].bytes) != rows[i].passes)
			fail_msg("row %zu: %s", i, rows[i].value);
	}
}

/* Fields that cannot be asked for. */
static void test_payload_program__fields(void **state)
{
	struct etw_field fields[4] = {field_of("Array", TDH_INTYPE_UINT32), field_of("Struct", 0),
				      field_of("Last", TDH_INTYPE_UINT32),
				      field_of("Member", TDH_INTYPE_UINT32)};

	(void)state;
	fields[0].count = 2;
	fields[1].flags = PropertyStruct;
	fields[1].struct_first = 3;
	fields[1].struct_count = 1;
	assert_int_equal(write_for(fields, 3, 4, "Array", PAYLOADFIELD_EQ, "1"), -EINVAL);
	assert_int_equal(write_for(fields, 3, 4, "Struct", PAYLOADFIELD_EQ, "1"), -EINVAL);
	assert_int_equal(write_for(fields, 3, 4, "Member", PAYLOADFIELD_EQ, "1"), -EINVAL);
	assert_int_equal(write_for(fields, 3, 4, "last", PAYLOADFIELD_EQ, "1"), -EINVAL);
	assert_int_equal(write_for(fields, 3, 4, NULL, PAYLOADFIELD_EQ, "1"), -EINVAL);
	assert_int_equal(write_for(fields, 3, 4, "Last", PAYLOADFIELD_EQ, "1"), 0);
	assert_true(passes("aaaabbbbmmmm\1\0\0\0", 16));
}

/* Behind numbers that say lengths and counts, structs with members that depend on each other, and more. */
static void test_payload_program__far_fields(void **state)
{
	struct etw_field fields[] = {
		field_of("Length", TDH_INTYPE_UINT8),
		field_of("Text", TDH_INTYPE_UNICODESTRING),
		field_of("Count", TDH_INTYPE_UINT16),
		field_of("List", TDH_INTYPE_UINT32),
		field_of("Struct", 0),
		field_of("Address", TDH_INTYPE_BINARY),
		field_of("Blob", TDH_INTYPE_BINARY),
		field_of("Sid", TDH_INTYPE_SID),
		field_of("Pointer", TDH_INTYPE_POINTER),
		field_of("Flag", TDH_INTYPE_BOOLEAN),
		field_of("When", TDH_INTYPE_SYSTEMTIME),
		field_of("Last", TDH_INTYPE_UINT32),
		field_of("Size", TDH_INTYPE_UINT8),
		field_of("Data", TDH_INTYPE_BINARY),
	};
	static const char payload[] = "\2"
				      "t\0x\0"
				      "\3\0"
				      "111122223333"
				      "\1a"
				      "\2bb"
				      "0123456789abcdef"
				      "blob"
				      "\1\1\0\0\0\0\0\5\1\0\0\0"
				      "pointer8"
				      "\1\0\0\0"
				      "0123456789abcdef"
				      "\1\0\0\0";

	(void)state;
	fields[1].flags = PropertyParamLength;
	fields[1].length = 0;
	fields[3].flags = PropertyParamCount;
	fields[3].count = 2;
	fields[4].flags = PropertyStruct;
	fields[4].struct_first = 12;
	fields[4].struct_count = 2;
	fields[4].count = 2;
	fields[5].out_type = TDH_OUTTYPE_IPV6;
	fields[6].flags = PropertyParamFixedLength;
	fields[6].length = 4;
	fields[13].flags = PropertyParamLength;
	fields[13].length = 12;
	assert_int_equal(write_for(fields, 12, 14, "Last", PAYLOADFIELD_EQ, "1"), 0);
	assert_true(passes(payload, sizeof(payload) - 1));
	assert_int_equal(write_for(fields, 12, 14, "Text", PAYLOADFIELD_IS, "TX"), 0);
	assert_true(passes(payload, sizeof(payload) - 1));
	/* Fields whose size a filter cannot tell. */
	fields[4].flags |= PropertyParamCount;
	fields[4].count = 2;
	assert_int_equal(write_for(fields, 12, 14, "Last", PAYLOADFIELD_EQ, "1"), -EOPNOTSUPP);
	assert_int_equal(write_for(fields, 12, 14, "Count", PAYLOADFIELD_EQ, "3"), 0);
	assert_true(passes(payload, sizeof(payload) - 1));
	fields[4].flags = PropertyStruct;
	fields[6].flags = 0;
	fields[6].length = 0;
	assert_int_equal(write_for(fields, 12, 14, "Last", PAYLOADFIELD_EQ, "1"), -EOPNOTSUPP);
	fields[6].in_type = TDH_INTYPE_WBEMSID;
	assert_int_equal(write_for(fields, 12, 14, "Last", PAYLOADFIELD_EQ, "1"), -EOPNOTSUPP);
	fields[0].in_type = TDH_INTYPE_GUID;
	assert_int_equal(write_for(fields, 12, 14, "Text", PAYLOADFIELD_IS, "TX"), -EOPNOTSUPP);
}

/* Plain fields in front share one step, so that hundreds of them fit. */
static void test_payload_program__many_fields(void **state)
{
	static struct etw_field fields[600];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i] = field_of(i + 1 < ARRAY_SIZE(fields) ? "f" : "Last", TDH_INTYPE_UINT64);
	assert_int_equal(write_for(fields, 600, 600, "Last", PAYLOADFIELD_EQ, "0"), 0);
	for (size_t i = 0; i + 1 < ARRAY_SIZE(fields); i++)
		fields[i].in_type = TDH_INTYPE_UNICODESTRING;
	assert_int_equal(write_for(fields, 600, 600, "Last", PAYLOADFIELD_EQ, "0"), -EMSGSIZE);
	/* More numbers to be remembered than there are slots. */
	for (uint16_t i = 0; i < 40; i += 2) {
		fields[i].in_type = TDH_INTYPE_UINT8;
		fields[i + 1].flags = PropertyParamLength;
		fields[i + 1].length = i;
	}
	fields[40] = field_of("Near", TDH_INTYPE_UINT8);
	assert_int_equal(write_for(fields, 600, 600, "Near", PAYLOADFIELD_EQ, "0"), -EOPNOTSUPP);
}

static struct etw_field struct_of(const char *name, uint16_t count, uint16_t first,
				  uint16_t members)
{
	return (struct etw_field){
		.name = name,
		.flags = PropertyStruct,
		.count = count,
		.struct_first = first,
		.struct_count = members,
	};
}

/* Empty structs in arrays within arrays would be gone over four thousand million times. */
static void test_payload_program__structs_without_end(void **state)
{
	const struct etw_field empty[] = {
		struct_of("Structs", UINT16_MAX, 2, 1),
		field_of("Field", TDH_INTYPE_UINT8),
		struct_of("Inner", UINT16_MAX, 3, 0),
	};
	const struct etw_field bytes[] = {
		struct_of("Structs", 40000, 2, 1),
		field_of("Field", TDH_INTYPE_UINT8),
		field_of("Byte", TDH_INTYPE_UINT8),
	};
	static uint8_t payload[40001] = {[40000] = 7};
	const struct etw_schema schema = {.fields = empty, .top_count = 2, .field_count = 3};

	(void)state;
	assert_null(etw_schema_fields_check(&schema));
	assert_int_equal(write_for(empty, 2, 3, "Field", PAYLOADFIELD_EQ, "7"), -EOPNOTSUPP);
	assert_int_equal(write_for(bytes, 2, 3, "Field", PAYLOADFIELD_EQ, "7"), 0);
	assert_true(passes(payload, sizeof(payload)));
}

static void test_payload_program__values_that_are_too_long(void **state)
{
	static char value[3000];

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	assert_int_equal(write_one(TDH_INTYPE_UNICODESTRING, PAYLOADFIELD_IS, value), -EMSGSIZE);
	assert_int_equal(write_one(TDH_INTYPE_ANSISTRING, PAYLOADFIELD_IS, value), 0);
	assert_true(passes(value, sizeof(value)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_payload_program__types_and_operators),
		cmocka_unit_test(test_payload_program__values),
		cmocka_unit_test(test_payload_program__answers),
		cmocka_unit_test(test_payload_program__fields),
		cmocka_unit_test(test_payload_program__far_fields),
		cmocka_unit_test(test_payload_program__many_fields),
		cmocka_unit_test(test_payload_program__structs_without_end),
		cmocka_unit_test(test_payload_program__values_that_are_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
