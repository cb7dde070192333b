/* SPDX-License-Identifier: MIT */
/* Where values lie: every in-type, counts and lengths, structs, cut and over-long payloads. */
#include <stdio.h>

#include "sample.h"

/* A payload in hexadecimal digits; blanks are skipped. */
static size_t from_hex(const char *text, uint8_t *ret)
{
	size_t digits = 0;

	for (; *text; text++) {
		if (*text == ' ')
			continue;
		int digit = *text <= '9' ? *text - '0' : *text - 'A' + 10;

		ret[digits / 2] = (uint8_t)(digits % 2 ? ret[digits / 2] << 4 | digit : digit);
		digits++;
	}
	return digits / 2;
}

/* One field; the value proper is at @offset, of @bytes, and @taken bytes are used. */
struct one_field {
	struct etw_field field;
	const char *payload;
	unsigned pointer_bytes;
	enum etw_decode_status status;
	uint32_t offset;
	uint32_t bytes;
	uint32_t taken;
	const char *reason;
};

#define TYPE(in)                                                    \
	{                                                           \
		.name = "f", .in_type = TDH_INTYPE_##in, .count = 1 \
	}
#define SIZED(in, units, f)                                                             \
	{                                                                               \
		.name = "f", .in_type = TDH_INTYPE_##in, .count = 1, .length = (units), \
		.flags = (f)                                                            \
	}
#define BEFORE      "the payload ends before this field"
#define WITHIN      "the payload ends within this field"
#define EXTRA_BYTES "bytes follow the last field of the schema"

static const struct one_field one_field_table[] = {
	{TYPE(NULL), "", 8, ETW_DECODE_COMPLETE, 0, 0, 0, NULL},
	{TYPE(INT8), "80", 8, ETW_DECODE_COMPLETE, 0, 1, 1, NULL},
	{TYPE(UINT8), "FF", 8, ETW_DECODE_COMPLETE, 0, 1, 1, NULL},
	{TYPE(INT16), "0080", 8, ETW_DECODE_COMPLETE, 0, 2, 2, NULL},
	{TYPE(UINT16), "FFFF", 8, ETW_DECODE_COMPLETE, 0, 2, 2, NULL},
	{TYPE(INT32), "00000080", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(UINT32), "FFFFFFFF", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(INT64), "0000000000000080", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(UINT64), "FFFFFFFFFFFFFFFF", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(FLOAT), "0000803F", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(DOUBLE), "000000000000F03F", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(BOOLEAN), "01000000", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(BOOLEAN), "01", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(GUID), "000102030405060708090A0B0C0D0E0F", 8, ETW_DECODE_COMPLETE, 0, 16, 16, NULL},
	{TYPE(POINTER), "0102030405060708", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(POINTER), "01020304", 4, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(POINTER), "01020304", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(SIZET), "0102030405060708", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(SIZET), "01020304", 4, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(FILETIME), "0000000000000000", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(SYSTEMTIME), "00000000000000000000000000000000", 8, ETW_DECODE_COMPLETE, 0, 16, 16,
	 NULL},
	{TYPE(HEXINT32), "00000000", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(HEXINT64), "0000000000000000", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(UNICODECHAR), "4100", 8, ETW_DECODE_COMPLETE, 0, 2, 2, NULL},
	{TYPE(ANSICHAR), "41", 8, ETW_DECODE_COMPLETE, 0, 1, 1, NULL},
	{TYPE(RESERVED24), "41", 8, ETW_DECODE_MALFORMED, 0, 0, 0,
	 "the type of this field is unknown"},
	/* Texts up to a NUL, which may be missing at the end. */
	{TYPE(UNICODESTRING), "41004200 0000", 8, ETW_DECODE_COMPLETE, 0, 4, 6, NULL},
	{TYPE(UNICODESTRING), "41004200 0000 4300", 8, ETW_DECODE_EXTRA, 0, 4, 6, EXTRA_BYTES},
	{TYPE(UNICODESTRING), "0000", 8, ETW_DECODE_COMPLETE, 0, 0, 2, NULL},
	{TYPE(UNICODESTRING), "41004200", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(UNICODESTRING), "4100420000", 8, ETW_DECODE_COMPLETE, 0, 4, 5, NULL},
	{TYPE(UNICODESTRING), "41", 8, ETW_DECODE_COMPLETE, 0, 0, 1, NULL},
	{TYPE(UNICODESTRING), "", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, BEFORE},
	{TYPE(ANSISTRING), "414200", 8, ETW_DECODE_COMPLETE, 0, 2, 3, NULL},
	{TYPE(ANSISTRING), "4142", 8, ETW_DECODE_COMPLETE, 0, 2, 2, NULL},
	{TYPE(ANSISTRING), "00", 8, ETW_DECODE_COMPLETE, 0, 0, 1, NULL},
	{TYPE(ANSISTRING), "", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, BEFORE},
	/* Texts of a fixed number of units. */
	{SIZED(UNICODESTRING, 3, 0), "4100 0000 4200", 8, ETW_DECODE_COMPLETE, 0, 2, 6, NULL},
	{SIZED(UNICODESTRING, 3, 0), "4100 0000 42", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{SIZED(UNICODESTRING, 0, PropertyParamFixedLength), "", 8, ETW_DECODE_COMPLETE, 0, 0, 0,
	 NULL},
	{SIZED(ANSISTRING, 3, PropertyParamFixedLength), "414243", 8, ETW_DECODE_COMPLETE, 0, 3, 3,
	 NULL},
	{SIZED(ANSISTRING, 3, 0), "410043", 8, ETW_DECODE_COMPLETE, 0, 1, 3, NULL},
	{SIZED(ANSISTRING, 3, 0), "4100", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	/* Counts in front. */
	{TYPE(MANIFEST_COUNTEDSTRING), "0400 41004200", 8, ETW_DECODE_COMPLETE, 2, 4, 6, NULL},
	{TYPE(MANIFEST_COUNTEDANSISTRING), "0200 4142", 8, ETW_DECODE_COMPLETE, 2, 2, 4, NULL},
	{TYPE(MANIFEST_COUNTEDBINARY), "0300 414243", 8, ETW_DECODE_COMPLETE, 2, 3, 5, NULL},
	{TYPE(MANIFEST_COUNTEDBINARY), "0400 414243", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(MANIFEST_COUNTEDBINARY), "04", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(COUNTEDSTRING), "0000", 8, ETW_DECODE_COMPLETE, 2, 0, 2, NULL},
	{TYPE(COUNTEDANSISTRING), "FFFF 41", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(REVERSEDCOUNTEDSTRING), "0002 4100", 8, ETW_DECODE_COMPLETE, 2, 2, 4, NULL},
	{TYPE(REVERSEDCOUNTEDANSISTRING), "0001 41", 8, ETW_DECODE_COMPLETE, 2, 1, 3, NULL},
	{TYPE(HEXDUMP), "02000000 4142", 8, ETW_DECODE_COMPLETE, 4, 2, 6, NULL},
	{TYPE(HEXDUMP), "020000", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(HEXDUMP), "FFFFFFFF 41", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(NONNULLTERMINATEDSTRING), "41004200", 8, ETW_DECODE_COMPLETE, 0, 4, 4, NULL},
	{TYPE(NONNULLTERMINATEDSTRING), "", 8, ETW_DECODE_COMPLETE, 0, 0, 0, NULL},
	{TYPE(NONNULLTERMINATEDANSISTRING), "414200", 8, ETW_DECODE_COMPLETE, 0, 3, 3, NULL},
	/* SIDs. */
	{TYPE(SID), "0101 000000000005 12000000", 8, ETW_DECODE_COMPLETE, 0, 12, 12, NULL},
	{TYPE(SID), "0100 000000000005", 8, ETW_DECODE_COMPLETE, 0, 8, 8, NULL},
	{TYPE(SID), "0102 000000000005 12000000", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(SID), "01", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(SID), "0110 000000000005", 8, ETW_DECODE_MALFORMED, 0, 0, 0,
	 "the SID has more than 15 sub-authorities"},
	{TYPE(WBEMSID), "00000000", 8, ETW_DECODE_COMPLETE, 4, 0, 4, NULL},
	{TYPE(WBEMSID), "000000", 8, ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(WBEMSID), "01000000 00000000 0101 000000000005 12000000", 4, ETW_DECODE_COMPLETE, 8,
	 12, 20, NULL},
	{TYPE(WBEMSID), "01000000 00000000 00000000 00000000 0101 000000000005 12000000", 8,
	 ETW_DECODE_COMPLETE, 16, 12, 28, NULL},
	{TYPE(WBEMSID), "01000000 00000000 00000000 00000000 0101 000000000005 120000", 8,
	 ETW_DECODE_TRUNCATED, 0, 0, 0, WITHIN},
	{TYPE(WBEMSID), "01000000 00000000 00000000 00000000 01", 8, ETW_DECODE_TRUNCATED, 0, 0, 0,
	 WITHIN},
	/* Binary. */
	{SIZED(BINARY, 3, 0), "414243", 8, ETW_DECODE_COMPLETE, 0, 3, 3, NULL},
	{SIZED(BINARY, 0, PropertyParamFixedLength), "", 8, ETW_DECODE_COMPLETE, 0, 0, 0, NULL},
	{TYPE(BINARY), "414243", 8, ETW_DECODE_MALFORMED, 0, 0, 0,
	 "the schema gives no length for this binary field"},
	{{.name = "f", .in_type = TDH_INTYPE_BINARY, .out_type = TDH_OUTTYPE_IPV6, .count = 1},
	 "000102030405060708090A0B0C0D0E0F",
	 8,
	 ETW_DECODE_COMPLETE,
	 0,
	 16,
	 16,
	 NULL},
};

static void test_program__one_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(one_field_table); i++) {
		const struct one_field *row = &one_field_table[i];
		struct etw_schema schema = {
			.field_count = 1, .top_count = 1, .fields = &row->field};
		uint8_t payload[64];
		size_t bytes = from_hex(row->payload, payload);
		struct sample sample;
		const struct etw_decoding *decoding = &sample.decoding;

		print_message("row %zu\n", i);
		sample_run(&sample, &schema, row->pointer_bytes, payload, bytes);
		sample_check_items(decoding, (uint32_t)bytes);
		assert_int_equal(decoding->status, row->status);
		if (row->reason)
			assert_string_equal(decoding->reason, row->reason);
		else
			assert_null(decoding->reason);
		if (row->status == ETW_DECODE_TRUNCATED || row->status == ETW_DECODE_MALFORMED) {
			assert_int_equal(decoding->item_count, 0);
			assert_int_equal(decoding->failed_field, 0);
		} else {
			assert_int_equal(decoding->item_count, 1);
			assert_int_equal(decoding->items[0].kind, ETW_ITEM_VALUE);
			assert_int_equal(decoding->items[0].offset, row->offset);
			assert_int_equal(decoding->items[0].bytes, row->bytes);
			assert_int_equal(decoding->items[0].taken, row->taken);
			assert_int_equal(decoding->consumed, row->taken);
		}
		sample_done(&sample);
	}
}

/* A layout with everything in it, whose items are written as text: kind, field, index, offset+bytes. */
static void describe(const struct etw_decoding *decoding, char *ret, size_t room)
{
	size_t at = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < decoding->item_count; i++) {
		const struct etw_item *item = &decoding->items[i];

		at += (size_t)snprintf(ret + at, room - at, "%s%.*s%c%u", i ? " " : "", item->depth,
				       "................", "VAS"[item->kind], item -> field);
		if (item->kind == ETW_ITEM_ARRAY)
			at += (size_t)snprintf(ret + at, room - at, "x%u", item->count);
		if (item->index)
			at += (size_t)snprintf(ret + at, room - at, "#%u", item->index);
		at += (size_t)snprintf(ret + at, room - at, "@%u+%u", item->offset, item->bytes);
	}
}

struct layout {
	const char *name;
	const struct etw_field *fields;
	uint16_t field_count;
	uint16_t top_count;
	const char *payload;
	enum etw_decode_status status;
	uint16_t failed_field;
	const char *reason;
	const char *items;
};

#define FIELD(in, ...)                                                             \
	{                                                                          \
		.name = "f", .in_type = TDH_INTYPE_##in, .count = 1, ##__VA_ARGS__ \
	}
#define ARRAY_OF(in, n, ...)                                                         \
	{                                                                            \
		.name = "f", .in_type = TDH_INTYPE_##in, .count = (n), ##__VA_ARGS__ \
	}
#define STRUCT_OF(n, first, members, more_flags)                                   \
	{                                                                          \
		.name = "s", .flags = PropertyStruct | (more_flags), .count = (n), \
		.struct_first = (first), .struct_count = (members),                \
	}
#define FLAGS(x) .flags = (x)

static const struct etw_field fixed_fields[] = {
	FIELD(UINT8),          FIELD(UINT16), ARRAY_OF(UINT16, 2),
	STRUCT_OF(1, 4, 2, 0), FIELD(UINT8),  FIELD(UINT32),
};
static const struct etw_field fixed_structs[] = {STRUCT_OF(2, 1, 2, 0), FIELD(UINT8),
						 ARRAY_OF(UINT8, 2)};
static const struct etw_field counted_fields[] = {
	FIELD(UINT8),
	FIELD(UINT16),
	ARRAY_OF(UINT16, 0, FLAGS(PropertyParamCount)),
	FIELD(UNICODESTRING, FLAGS(PropertyParamLength), .length = 1),
	FIELD(UINT8),
};
static const struct etw_field binary_fields[] = {
	FIELD(UINT32), FIELD(BINARY, FLAGS(PropertyParamLength), .length = 0), FIELD(UINT8)};
static const struct etw_field signed_fields[] = {
	FIELD(INT8), ARRAY_OF(NULL, 0, FLAGS(PropertyParamCount)), FIELD(UINT8)};
static const struct etw_field string_arrays[] = {ARRAY_OF(UNICODESTRING, 2),
						 ARRAY_OF(ANSISTRING, 2)};
static const struct etw_field sized_strings[] = {ARRAY_OF(ANSISTRING, 2, .length = 3)};
static const struct etw_field array_of_one[] = {ARRAY_OF(UINT8, 1, FLAGS(PropertyParamFixedCount)),
						ARRAY_OF(UINT8, 0), FIELD(UINT8)};
static const struct etw_field variable_structs[] = {
	FIELD(UINT8), STRUCT_OF(0, 2, 3, PropertyParamCount), FIELD(UINT8),
	FIELD(BINARY, FLAGS(PropertyParamLength), .length = 2), FIELD(UINT8)};
static const struct etw_field nested_structs[] = {STRUCT_OF(1, 1, 2, 0), STRUCT_OF(2, 3, 2, 0),
						  FIELD(ANSISTRING), FIELD(UINT8),
						  FIELD(ANSISTRING)};
static const struct etw_field optional_fields[] = {
	FIELD(UINT8), FIELD(UINT16, FLAGS(ETW_FIELD_OPTIONAL)),
	FIELD(UINT16, FLAGS(ETW_FIELD_OPTIONAL)), FIELD(ANSISTRING, FLAGS(ETW_FIELD_OPTIONAL))};
static const struct etw_field optional_count[] = {
	FIELD(UINT8, FLAGS(ETW_FIELD_OPTIONAL)),
	ARRAY_OF(UINT8, 0, FLAGS(ETW_FIELD_OPTIONAL | PropertyParamCount))};
static const struct etw_field optional_zero[] = {FIELD(UINT8, FLAGS(ETW_FIELD_OPTIONAL)),
						 ARRAY_OF(UINT8, 0, FLAGS(PropertyParamCount))};
static const struct etw_field to_end_pointers[] = {FIELD(UINT8),
						   ARRAY_OF(POINTER, 0, FLAGS(ETW_FIELD_TO_END))};
static const struct etw_field to_end_strings[] = {ARRAY_OF(ANSISTRING, 0, FLAGS(ETW_FIELD_TO_END))};
static const struct etw_field to_end_nothing[] = {ARRAY_OF(NULL, 0, FLAGS(ETW_FIELD_TO_END))};
static const struct etw_field to_end_counted[] = {
	ARRAY_OF(COUNTEDANSISTRING, 0, FLAGS(ETW_FIELD_TO_END))};
static const struct etw_field to_end_structs[] = {STRUCT_OF(0, 1, 2, ETW_FIELD_TO_END),
						  FIELD(UINT8), FIELD(UINT16)};
static const struct etw_field to_end_empty_structs[] = {STRUCT_OF(0, 1, 0, ETW_FIELD_TO_END)};
static const struct etw_field count_missing[] = {FIELD(UINT8),
						 ARRAY_OF(UINT8, 7, FLAGS(PropertyParamCount))};
static const struct etw_field length_missing[] = {
	FIELD(UINT8), FIELD(BINARY, FLAGS(PropertyParamLength), .length = 2)};
static const struct etw_field count_is_text[] = {FIELD(ANSISTRING),
						 ARRAY_OF(UINT8, 0, FLAGS(PropertyParamCount))};
static const struct etw_field count_is_later[] = {ARRAY_OF(UINT8, 1, FLAGS(PropertyParamCount)),
						  FIELD(UINT8)};
static const struct etw_field count_is_itself[] = {FIELD(UINT8),
						   ARRAY_OF(UINT8, 1, FLAGS(PropertyParamCount))};
static const struct etw_field struct_outside[] = {FIELD(UINT8), STRUCT_OF(1, 1, 2, 0)};
static const struct etw_field struct_of_itself[] = {FIELD(UINT8), STRUCT_OF(1, 1, 1, 0)};
static const struct etw_field zero_bytes[] = {FIELD(UINT32),
					      ARRAY_OF(NULL, 0, FLAGS(PropertyParamCount))};
static const struct etw_field zero_structs[] = {FIELD(UINT32),
						STRUCT_OF(0, 2, 0, PropertyParamCount)};
static const struct etw_field hidden_count[] = {
	STRUCT_OF(1, 2, 1, 0), ARRAY_OF(UINT8, 2, FLAGS(PropertyParamCount)), FIELD(UINT8)};

#define LAYOUT(name, top) #name, name, ARRAY_SIZE(name), top
#define TOO_MANY          "the event has more values than the decoder allows"

static const struct layout layouts[] = {
	{LAYOUT(fixed_fields, 4), "01 0202 0303 0404 05 06060606", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+1 V1@1+2 A2x2@3+4 .V2@3+2 .V2#1@5+2 S3@7+5 .V4@7+1 .V5@8+4"},
	{LAYOUT(fixed_fields, 4), "01 0202 0303 0404 05 06060606 07", ETW_DECODE_EXTRA, 0,
	 EXTRA_BYTES, "V0@0+1 V1@1+2 A2x2@3+4 .V2@3+2 .V2#1@5+2 S3@7+5 .V4@7+1 .V5@8+4"},
	{LAYOUT(fixed_fields, 4), "01 0202 0303 0404 05 060606", ETW_DECODE_TRUNCATED, 5, WITHIN,
	 "V0@0+1 V1@1+2 A2x2@3+4 .V2@3+2 .V2#1@5+2 S3@7+1 .V4@7+1"},
	{LAYOUT(fixed_fields, 4), "01 0202 0303 0404", ETW_DECODE_TRUNCATED, 4, BEFORE,
	 "V0@0+1 V1@1+2 A2x2@3+4 .V2@3+2 .V2#1@5+2"},
	{LAYOUT(fixed_fields, 4), "01 0202 0303 04", ETW_DECODE_TRUNCATED, 2, WITHIN,
	 "V0@0+1 V1@1+2 A2x1@3+2 .V2@3+2"},
	{LAYOUT(fixed_fields, 4), "01 0202", ETW_DECODE_TRUNCATED, 2, BEFORE, "V0@0+1 V1@1+2"},
	{LAYOUT(fixed_fields, 4), "", ETW_DECODE_TRUNCATED, 0, BEFORE, ""},
	{LAYOUT(fixed_structs, 1), "01 0202 03 0404", ETW_DECODE_COMPLETE, 0, NULL,
	 "A0x2@0+6 .S0@0+3 ..V1@0+1 ..A2x2@1+2 ...V2@1+1 ...V2#1@2+1 "
	 ".S0#1@3+3 ..V1@3+1 ..A2x2@4+2 ...V2@4+1 ...V2#1@5+1"},
	{LAYOUT(fixed_structs, 1), "01 0202 03", ETW_DECODE_TRUNCATED, 2, BEFORE,
	 "A0x2@0+4 .S0@0+3 ..V1@0+1 ..A2x2@1+2 ...V2@1+1 ...V2#1@2+1 .S0#1@3+1 ..V1@3+1"},
	{LAYOUT(fixed_structs, 1), "01 0202", ETW_DECODE_TRUNCATED, 1, BEFORE,
	 "A0x1@0+3 .S0@0+3 ..V1@0+1 ..A2x2@1+2 ...V2@1+1 ...V2#1@2+1"},
	{LAYOUT(counted_fields, 5), "02 0300 1111 2222 410042004300 05", ETW_DECODE_COMPLETE, 0,
	 NULL, "V0@0+1 V1@1+2 A2x2@3+4 .V2@3+2 .V2#1@5+2 V3@7+6 V4@13+1"},
	{LAYOUT(counted_fields, 5), "00 0000 05", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+1 V1@1+2 A2x0@3+0 V3@3+0 V4@3+1"},
	{LAYOUT(counted_fields, 5), "03 0000 1111 2222", ETW_DECODE_TRUNCATED, 2, BEFORE,
	 "V0@0+1 V1@1+2 A2x2@3+4 .V2@3+2 .V2#1@5+2"},
	{LAYOUT(counted_fields, 5), "03 0000", ETW_DECODE_TRUNCATED, 2, BEFORE, "V0@0+1 V1@1+2"},
	{LAYOUT(binary_fields, 3), "02000000 4142 05", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+4 V1@4+2 V2@6+1"},
	{LAYOUT(binary_fields, 3), "FFFFFFFF 4142 05", ETW_DECODE_TRUNCATED, 1, WITHIN, "V0@0+4"},
	{LAYOUT(signed_fields, 3), "02 05", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+1 A1x2@1+0 .V1@1+0 .V1#1@1+0 V2@1+1"},
	{LAYOUT(signed_fields, 3), "FF 05", ETW_DECODE_MALFORMED, 1, TOO_MANY, "V0@0+1"},
	{LAYOUT(string_arrays, 2), "41000000 42000000 4300 4400", ETW_DECODE_COMPLETE, 0, NULL,
	 "A0x2@0+8 .V0@0+2 .V0#1@4+2 A1x2@8+4 .V1@8+1 .V1#1@10+1"},
	{LAYOUT(sized_strings, 1), "414243 440000", ETW_DECODE_COMPLETE, 0, NULL,
	 "A0x2@0+6 .V0@0+3 .V0#1@3+1"},
	{LAYOUT(sized_strings, 1), "414243 4400", ETW_DECODE_TRUNCATED, 0, WITHIN,
	 "A0x1@0+3 .V0@0+3"},
	{LAYOUT(array_of_one, 3), "01 02", ETW_DECODE_COMPLETE, 0, NULL,
	 "A0x1@0+1 .V0@0+1 A1x0@1+0 V2@1+1"},
	{LAYOUT(variable_structs, 2), "02 01AA11 02BBCC22", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+1 A1x2@1+7 .S1@1+3 ..V2@1+1 ..V3@2+1 ..V4@3+1 "
	 ".S1#1@4+4 ..V2@4+1 ..V3@5+2 ..V4@7+1"},
	{LAYOUT(variable_structs, 2), "02 01AA11 02BB", ETW_DECODE_TRUNCATED, 3, WITHIN,
	 "V0@0+1 A1x2@1+4 .S1@1+3 ..V2@1+1 ..V3@2+1 ..V4@3+1 .S1#1@4+1 ..V2@4+1"},
	{LAYOUT(variable_structs, 2), "02", ETW_DECODE_TRUNCATED, 2, BEFORE, "V0@0+1"},
	{LAYOUT(nested_structs, 1), "01 4100 02 00 4300", ETW_DECODE_COMPLETE, 0, NULL,
	 "S0@0+7 .A1x2@0+5 ..S1@0+3 ...V3@0+1 ...V4@1+1 ..S1#1@3+2 ...V3@3+1 ...V4@4+0 .V2@5+1"},
	{LAYOUT(optional_fields, 4), "01", ETW_DECODE_COMPLETE, 0, NULL, "V0@0+1"},
	{LAYOUT(optional_fields, 4), "01 0202", ETW_DECODE_COMPLETE, 0, NULL, "V0@0+1 V1@1+2"},
	{LAYOUT(optional_fields, 4), "01 0202 03", ETW_DECODE_TRUNCATED, 2, WITHIN,
	 "V0@0+1 V1@1+2"},
	{LAYOUT(optional_fields, 4), "01 0202 0303 41", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+1 V1@1+2 V2@3+2 V3@5+1"},
	{LAYOUT(optional_count, 2), "", ETW_DECODE_COMPLETE, 0, NULL, ""},
	{LAYOUT(optional_count, 2), "01 02", ETW_DECODE_COMPLETE, 0, NULL,
	 "V0@0+1 A1x1@1+1 .V1@1+1"},
	{LAYOUT(optional_zero, 2), "00", ETW_DECODE_COMPLETE, 0, NULL, "V0@0+1 A1x0@1+0"},
	{LAYOUT(optional_zero, 2), "", ETW_DECODE_MALFORMED, 1,
	 "the count or length refers to a field that comes later", ""},
	{LAYOUT(to_end_pointers, 2), "01 0000000000000001 0000000000000002", ETW_DECODE_COMPLETE, 0,
	 NULL, "V0@0+1 A1x2@1+16 .V1@1+8 .V1#1@9+8"},
	{LAYOUT(to_end_pointers, 2), "01", ETW_DECODE_COMPLETE, 0, NULL, "V0@0+1 A1x0@1+0"},
	{LAYOUT(to_end_pointers, 2), "01 0000000000000001 02", ETW_DECODE_EXTRA, 0, EXTRA_BYTES,
	 "V0@0+1 A1x1@1+8 .V1@1+8"},
	{LAYOUT(to_end_strings, 1), "4100 00 4242", ETW_DECODE_COMPLETE, 0, NULL,
	 "A0x3@0+5 .V0@0+1 .V0#1@2+0 .V0#2@3+2"},
	{LAYOUT(to_end_nothing, 1), "41", ETW_DECODE_EXTRA, 0, EXTRA_BYTES, "A0x0@0+0"},
	{LAYOUT(to_end_counted, 1), "010041 0200", ETW_DECODE_TRUNCATED, 0, WITHIN,
	 "A0x1@0+3 .V0@2+1"},
	{LAYOUT(to_end_structs, 1), "01 0202 03 0404", ETW_DECODE_COMPLETE, 0, NULL,
	 "A0x2@0+6 .S0@0+3 ..V1@0+1 ..V2@1+2 .S0#1@3+3 ..V1@3+1 ..V2@4+2"},
	{LAYOUT(to_end_structs, 1), "01 0202 03", ETW_DECODE_EXTRA, 0, EXTRA_BYTES,
	 "A0x1@0+3 .S0@0+3 ..V1@0+1 ..V2@1+2"},
	{LAYOUT(to_end_empty_structs, 1), "01", ETW_DECODE_EXTRA, 0, EXTRA_BYTES,
	 "A0x1@0+0 .S0@0+0"},
	{LAYOUT(count_missing, 2), "01 02", ETW_DECODE_MALFORMED, 1,
	 "the count or length refers to a field that does not exist", "V0@0+1"},
	{LAYOUT(length_missing, 2), "01 02", ETW_DECODE_MALFORMED, 1,
	 "the count or length refers to a field that does not exist", "V0@0+1"},
	{LAYOUT(count_is_text, 2), "4100 02", ETW_DECODE_MALFORMED, 1,
	 "the count or length refers to a field that is not an integer", "V0@0+1"},
	{LAYOUT(count_is_later, 2), "01 02", ETW_DECODE_MALFORMED, 0,
	 "the count or length refers to a field that comes later", ""},
	{LAYOUT(count_is_itself, 2), "01 02", ETW_DECODE_MALFORMED, 1,
	 "the count or length refers to a field that is not an integer", "V0@0+1"},
	{LAYOUT(struct_outside, 2), "01 02", ETW_DECODE_MALFORMED, 1,
	 "the members of this struct lie outside the schema", "V0@0+1"},
	{LAYOUT(struct_of_itself, 2), "01 02", ETW_DECODE_MALFORMED, 1,
	 "structs are nested too deeply", "V0@0+1"},
	{LAYOUT(zero_bytes, 2), "00000100", ETW_DECODE_MALFORMED, 1, TOO_MANY, "V0@0+4"},
	{LAYOUT(hidden_count, 2), "02 0303", ETW_DECODE_COMPLETE, 0, NULL,
	 "S0@0+1 .V2@0+1 A1x2@1+2 .V1@1+1 .V1#1@2+1"},
};

static void test_program__layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *row = &layouts[i];
		struct etw_schema schema = {.field_count = row->field_count,
					    .top_count = row->top_count,
					    .fields = row->fields};
		uint8_t payload[64];
		size_t bytes = from_hex(row->payload, payload);
		char items[512];
		struct sample sample;
		const struct etw_decoding *decoding = &sample.decoding;

		print_message("row %zu, %s\n", i, row->name);
		sample_run(&sample, &schema, 8, payload, bytes);
		sample_check_items(decoding, (uint32_t)bytes);
		describe(decoding, items, sizeof(items));
		assert_string_equal(items, row->items);
		assert_int_equal(decoding->status, row->status);
		assert_int_equal(decoding->failed_field, row->failed_field);
		if (row->reason)
			assert_string_equal(decoding->reason, row->reason);
		else
			assert_null(decoding->reason);
		sample_done(&sample);
	}
}

/* Every prefix of a whole payload is truncated (or complete where that is right) and well-formed. */
static void test_program__cut_at_every_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *row = &layouts[i];
		struct etw_schema schema = {.field_count = row->field_count,
					    .top_count = row->top_count,
					    .fields = row->fields};
		uint8_t payload[64];
		size_t bytes = from_hex(row->payload, payload);

		for (unsigned pointer_bytes = 4; pointer_bytes <= 8; pointer_bytes += 4) {
			for (size_t cut = 0; cut <= bytes; cut++) {
				struct sample sample;

				sample_run(&sample, &schema, pointer_bytes, payload, cut);
				sample_check_items(&sample.decoding, (uint32_t)cut);
				assert_true((sample.decoding.reason == NULL) ==
					    (sample.decoding.status == ETW_DECODE_COMPLETE));
				sample_done(&sample);
			}
		}
	}
}

static void test_program__too_many_structs(void **state)
{
	const uint8_t payload[] = {0xFF, 0xFF, 0xFF, 0x7F};
	struct etw_schema schema = SCHEMA(zero_structs, 2);
	struct sample sample;

	(void)state;
	sample_run(&sample, &schema, 8, payload, sizeof(payload));
	assert_int_equal(sample.decoding.status, ETW_DECODE_MALFORMED);
	assert_string_equal(sample.decoding.reason, TOO_MANY);
	assert_int_equal(sample.decoding.item_count, ETW_PROGRAM_ITEMS_MAX);
	sample_check_items(&sample.decoding, sizeof(payload));
	sample_done(&sample);
}

/* Structs that each hold the next twice: 2^16 of them if nothing stopped it. */
static void test_program__doubling_structs(void **state)
{
	struct etw_field fields[40];
	struct etw_schema schema = {.field_count = 40, .top_count = 2, .fields = fields};
	struct sample sample;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		fields[i] = (struct etw_field)STRUCT_OF(2, (uint16_t)(i / 2 * 2 + 2), 2, 0);
	fields[38] = fields[39] = (struct etw_field)FIELD(ANSISTRING);
	sample_run(&sample, &schema, 8, "", 0);
	sample_check_items(&sample.decoding, 0);
	assert_int_not_equal(sample.decoding.status, ETW_DECODE_COMPLETE);
	sample_done(&sample);
}

/* Optional fields of structs give no items, so that steps are limited, too. */
static void test_program__too_much_work(void **state)
{
	struct etw_field fields[102];
	struct etw_schema schema = {.field_count = 102, .top_count = 2, .fields = fields};
	const uint8_t payload[] = {0xFF, 0xFF};
	struct sample sample;

	(void)state;
	fields[0] = (struct etw_field)FIELD(UINT16);
	fields[1] = (struct etw_field)STRUCT_OF(0, 2, 100, PropertyParamCount);
	for (unsigned i = 2; i < 102; i++)
		fields[i] = (struct etw_field)FIELD(UINT8, FLAGS(ETW_FIELD_OPTIONAL));
	sample_run(&sample, &schema, 8, payload, sizeof(payload));
	sample_check_items(&sample.decoding, sizeof(payload));
	assert_int_equal(sample.decoding.status, ETW_DECODE_MALFORMED);
	assert_string_equal(sample.decoding.reason, TOO_MANY);
	sample_done(&sample);
}

static void test_program__large_fixed_array(void **state)
{
	static uint8_t payload[60000];
	const struct etw_field fields[] = {ARRAY_OF(UINT8, 60000)};
	struct etw_schema schema = SCHEMA(fields, 1);
	struct sample sample;

	(void)state;
	sample_run(&sample, &schema, 8, payload, sizeof(payload));
	assert_int_equal(sample.decoding.status, ETW_DECODE_COMPLETE);
	assert_int_equal(sample.decoding.item_count, 60001);
	sample_check_items(&sample.decoding, sizeof(payload));
	sample_done(&sample);
}

static void test_program__no_fields(void **state)
{
	struct etw_schema schema = {0};
	struct sample sample;

	(void)state;
	sample_run(&sample, &schema, 8, "", 0);
	assert_int_equal(sample.decoding.status, ETW_DECODE_COMPLETE);
	assert_int_equal(sample.decoding.item_count, 0);
	sample_done(&sample);
	sample_run(&sample, &schema, 8, "x", 1);
	assert_int_equal(sample.decoding.status, ETW_DECODE_EXTRA);
	sample_done(&sample);
}

/* A walk is used again for another program, smaller and larger. */
static void test_program__walk_is_reused(void **state)
{
	struct etw_schema wide = SCHEMA(counted_fields, 5);
	struct etw_schema small = SCHEMA(optional_fields, 4);
	struct etw_walk walk;
	struct etw_program *programs[2];
	const uint8_t payload[] = {2, 0, 0, 1, 1, 2, 2, 5};
	struct etw_decoding decoding;

	(void)state;
	etw_walk_init(&walk);
	assert_int_equal(etw_program_compile(&wide, 8, &programs[0]), 0);
	assert_int_equal(etw_program_compile(&small, 8, &programs[1]), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(etw_program_run(programs[i % 2], &walk, payload, sizeof(payload),
						 &decoding),
				 0);
		assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
		assert_int_equal(decoding.item_count, i % 2 ? 4 : 7);
	}
	etw_program_freep(&programs[0]);
	etw_program_freep(&programs[1]);
	etw_program_free(NULL);
	etw_walk_done(&walk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program__one_field),
		cmocka_unit_test(test_program__layouts),
		cmocka_unit_test(test_program__cut_at_every_byte),
		cmocka_unit_test(test_program__too_many_structs),
		cmocka_unit_test(test_program__doubling_structs),
		cmocka_unit_test(test_program__too_much_work),
		cmocka_unit_test(test_program__large_fixed_array),
		cmocka_unit_test(test_program__no_fields),
		cmocka_unit_test(test_program__walk_is_reused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
