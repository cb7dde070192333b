/* SPDX-License-Identifier: MIT */
/* What values look like: text and JSON of every pair of types, maps, arrays and structs. */
#include "sample.h"

#include <stdio.h>

#include "base/utf.h"
#include "decode/format.h"
#include "decode/format_internal.h"

/* One value; @json is the JSON form, or NULL where it is the text as a JSON string. */
struct value {
	uint16_t in_type;
	uint16_t out_type;
	const char *bytes; /* as a C string literal, so that NULs may be inside */
	size_t count;
	const char *text;
	const char *json;
};

#define V(in, out, raw, text, json)                                                  \
	{                                                                            \
		TDH_INTYPE_##in, TDH_OUTTYPE_##out, raw, sizeof(raw) - 1, text, json \
	}
#define FF8 "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"

static const struct value integer_values[] = {
	V(INT8, NULL, "\x80", "-128", "-128"),
	V(INT8, BYTE, "\x7F", "127", "127"),
	V(INT8, STRING, "A", "A", NULL),
	V(INT8, HEXINT8, "\xFF", "0xFF", NULL),
	V(UINT8, NULL, "\xFF", "255", "255"),
	V(UINT8, BYTE, "\xFF", "-1", "-1"),
	V(UINT8, HEXINT8, "\x0A", "0xA", NULL),
	V(UINT8, BOOLEAN, "\x00", "false", "false"),
	V(UINT8, BOOLEAN, "\x02", "true", "true"),
	V(UINT8, STRING, "\"", "\"", "\"\\\"\""),
	V(UINT8, STRING, "\0", "", NULL),
	V(UINT8, PORT, "\x05", "5", "5"),
	V(INT16, NULL, "\x00\x80", "-32768", "-32768"),
	V(UINT16, NULL, "\xFF\xFF", "65535", "65535"),
	V(UINT16, PORT, "\x01\xBB", "443", "443"),
	V(UINT16, STRING, "\xAC\x20", "\xE2\x82\xAC", NULL),
	V(UINT16, HEXINT16, "\xCD\xAB", "0xABCD", NULL),
	V(INT32, NULL, "\x00\x00\x00\x80", "-2147483648", "-2147483648"),
	V(INT32, BOOLEAN, "\x00\x01\x00\x00", "true", "true"),
	V(INT32, UNSIGNEDINT, "\xFF\xFF\xFF\xFF", "4294967295", "4294967295"),
	V(UINT32, UNSIGNEDINT, "\xFF\xFF\xFF\xFF", "4294967295", "4294967295"),
	V(UINT32, HEXINT32, "\x00\x00\x00\x00", "0x0", NULL),
	V(UINT32, HEXINT64, "\xEF\xBE\xAD\xDE", "0xDEADBEEF", NULL),
	V(UINT32, PID, "\x04\x00\x00\x00", "4", "4"),
	V(UINT32, TID, "\x08\x00\x00\x00", "8", "8"),
	V(UINT32, IPV4, "\x7F\x00\x00\x01", "127.0.0.1", NULL),
	V(UINT32, ERRORCODE, "\x05\x00\x00\x00", "0x5", NULL),
	V(UINT32, NOPRINT, "\x05\x00\x00\x00", "5", "5"),
	V(UINT32, GUID, "\x05\x00\x00\x00", "5", "5"),
	V(UINT32, PORT, "\x05\x00\x00\x00", "5", "5"),
	V(INT64, NULL, "\x00\x00\x00\x00\x00\x00\x00\x80", "-9223372036854775808", NULL),
	V(INT64, NULL, FF8, "-1", "-1"),
	V(INT64, NULL, "\x00\x00\x00\x00\x00\x00\x20\x00", "9007199254740992", "9007199254740992"),
	V(INT64, NULL, "\x01\x00\x00\x00\x00\x00\x20\x00", "9007199254740993", NULL),
	V(INT64, DATETIME, "\x80\x96\x98\x00\x00\x00\x00\x00", "1601-01-01T00:00:01.000000000Z",
	  NULL),
	V(UINT64, NULL, FF8, "18446744073709551615", NULL),
	V(UINT64, NULL, "\x00\x00\x00\x00\x00\x00\x20\x00", "9007199254740992", "9007199254740992"),
	V(UINT64, NULL, "\x01\x00\x00\x00\x00\x00\x20\x00", "9007199254740993", NULL),
	V(UINT64, ETWTIME, "\x10\x27\x00\x00\x00\x00\x00\x00", "10000", "10000"),
	V(UINT64, HEXINT64, FF8, "0xFFFFFFFFFFFFFFFF", NULL),
	V(UINT64, CODE_POINTER, "\xFF\x0F\x00\x00\x00\x00\x00\x00", "0xFFF", NULL),
	V(HEXINT32, NULL, "\x0A\x00\x00\x00", "0xA", NULL),
	V(HEXINT32, INT, "\xFF\xFF\xFF\xFF", "-1", "-1"),
	V(HEXINT32, UNSIGNEDINT, "\xFF\xFF\xFF\xFF", "4294967295", "4294967295"),
	V(HEXINT32, STRING, "\x0A\x00\x00\x00", "0xA", NULL),
	V(HEXINT64, NULL, FF8, "0xFFFFFFFFFFFFFFFF", NULL),
	V(POINTER, NULL, "\x00\x10\x00\x00", "0x1000", NULL),
	V(POINTER, HEXINT64, "\x00\x00\x00\x00\x00\xF8\xFF\xFF", "0xFFFFF80000000000", NULL),
	V(POINTER, LONG, "\xFF\xFF\xFF\xFF", "-1", "-1"),
	V(POINTER, UNSIGNEDLONG, "\xFF\xFF\xFF\xFF", "4294967295", "4294967295"),
	V(POINTER, NULL, "\x00\x10\x00", "0x001000", NULL),
	V(SIZET, NULL, "\x10\x00\x00\x00\x00\x00\x00\x00", "0x10", NULL),
	V(BOOLEAN, NULL, "\x00\x00\x00\x00", "false", "false"),
	V(BOOLEAN, NULL, "\x00\x00\x00\x80", "true", "true"),
	/* A size that the type cannot have is shown as it is. */
	V(UINT32, NULL, "\x01\x02", "0x0102", NULL),
	V(GUID, NULL, "\x01", "0x01", NULL),
	V(NULL, NULL, "", "", "null"),
	V(RESERVED24, NULL, "\x01", "0x01", NULL),
};

static const struct value float_values[] = {
	V(FLOAT, NULL, "\x00\x00\x00\x00", "0", "0"),
	V(FLOAT, FLOAT, "\x00\x00\x80\x3F", "1", "1"),
	V(FLOAT, FLOAT, "\xCD\xCC\xCC\x3D", "0.1", "0.1"),
	V(FLOAT, FLOAT, "\x00\x00\xC0\xBF", "-1.5", "-1.5"),
	V(FLOAT, FLOAT, "\xDB\x0F\x49\x40", "3.1415927", "3.1415927"),
	V(FLOAT, FLOAT, "\xFF\xFF\x7F\x7F", "3.4028235e+38", "3.4028235e+38"),
	V(FLOAT, FLOAT, "\x01\x00\x00\x00", "1.4013e-45", "1.4013e-45"),
	V(FLOAT, FLOAT, "\x00\x00\x80\x7F", "Infinity", NULL),
	V(FLOAT, FLOAT, "\x00\x00\xC0\x7F", "NaN", NULL),
	V(DOUBLE, DOUBLE, "\x00\x00\x00\x00\x00\x00\x00\x80", "-0", "-0"),
	V(DOUBLE, DOUBLE, "\x9A\x99\x99\x99\x99\x99\xB9\x3F", "0.1", "0.1"),
	V(DOUBLE, DOUBLE, "\x18\x2D\x44\x54\xFB\x21\x09\x40", "3.141592653589793",
	  "3.141592653589793"),
	V(DOUBLE, DOUBLE, "\x00\x00\x00\x00\x00\x00\x4E\x40", "60", "60"),
	V(DOUBLE, DOUBLE, "\x00\x00\xA0\x89\xB0\x63\x79\x44", "7.49363191309892e+21",
	  "7.49363191309892e+21"),
	V(DOUBLE, DOUBLE, "\xFF\xFF\xFF\xFF\xFF\xFF\xEF\x7F", "1.7976931348623157e+308",
	  "1.7976931348623157e+308"),
	V(DOUBLE, DOUBLE, "\x00\x00\x00\x00\x00\x00\xF0\xFF", "-Infinity", NULL),
};

static const struct value string_values[] = {
	V(UNICODESTRING, STRING, "A\0B\0", "AB", NULL),
	V(UNICODESTRING, XML, "A\0\0\0B\0", "A", NULL),
	V(UNICODESTRING, STRING, "A\0\"\0\\\0\n\0\x01\0", "A\"\\\n\x01", "\"A\\\"\\\\\\n\\u0001\""),
	V(UNICODESTRING, STRING, "\x3D\xD8\x00\xDE", "\xF0\x9F\x98\x80", NULL),
	V(UNICODESTRING, STRING, "\x3D\xD8", "\xEF\xBF\xBD", NULL),
	V(UNICODESTRING, STRING, "A\0B", "A", NULL),
	V(UNICODESTRING, STRING, "", "", NULL),
	V(UNICODESTRING, CIMDATETIME, "2\0", "2", NULL),
	V(UNICODESTRING, DATETIME, "2\0", "2", NULL),
	V(ANSISTRING, STRING, "abc", "abc", NULL),
	V(ANSISTRING, STRING, "a\0c", "a", NULL),
	V(ANSISTRING, UTF8, "\xE2\x82\xAC", "\xE2\x82\xAC", NULL),
	V(ANSISTRING, STRING, "\x80\x22", "\xE2\x82\xAC\"", "\"\xE2\x82\xAC\\\"\""),
	V(MANIFEST_COUNTEDSTRING, NULL, "A\0", "A", NULL),
	V(MANIFEST_COUNTEDANSISTRING, JSON, "{}", "{}", NULL),
	V(COUNTEDSTRING, NULL, "A\0", "A", NULL),
	V(COUNTEDANSISTRING, REDUCEDSTRING, "A", "A", NULL),
	V(REVERSEDCOUNTEDSTRING, NULL, "A\0", "A", NULL),
	V(REVERSEDCOUNTEDANSISTRING, NULL, "A", "A", NULL),
	V(NONNULLTERMINATEDSTRING, NULL, "A\0", "A", NULL),
	V(NONNULLTERMINATEDANSISTRING, NULL, "A", "A", NULL),
	V(UNICODECHAR, STRING, "A\0", "A", NULL),
	V(UNICODECHAR, NULL, "\0\0", "", NULL),
	V(ANSICHAR, NULL, "A", "A", NULL),
};

static const struct value special_values[] = {
	V(BINARY, HEXBINARY, "\x00\xAB\xCD", "0x00ABCD", NULL),
	V(BINARY, NULL, "", "", NULL),
	V(BINARY, PKCS7_WITH_TYPE_INFO, "\x30", "0x30", NULL),
	V(MANIFEST_COUNTEDBINARY, NULL, "\x01", "0x01", NULL),
	V(HEXDUMP, NULL, "\x01", "0x01", NULL),
	V(GUID, NULL, "\x33\x22\x11\x00\x55\x44\x77\x66\x88\x99\xAA\xBB\xCC\xDD\xEE\xFF",
	  "{00112233-4455-6677-8899-aabbccddeeff}", NULL),
	V(SID, STRING, "\x01\x02\0\0\0\0\0\x05\x20\0\0\0\x20\x02\0\0", "S-1-5-32-544", NULL),
	V(SID, STRING, "\x01\x01\0\0\0\0\0\x05\x12\0\0\0", "S-1-5-18", NULL),
	V(SID, STRING, "\x01\x00\x00\x01\x00\x00\x00\x0A", "S-1-0x00010000000a", NULL),
	V(SID, STRING, "\x01\x02\0\0\0\0\0\x05\x20\0\0\0", "0x010200000000000520000000", NULL),
	V(WBEMSID, NULL, "\x01\x00\0\0\0\0\0\x05", "S-1-5", NULL),
	V(WBEMSID, NULL, "", "", NULL),
	/* 2011-01-23T22:06:37.4768585Z */
	V(FILETIME, DATETIME, "\xC9\x57\x16\xCE\x49\xBB\xCB\x01", "2011-01-23T22:06:37.476858500Z",
	  NULL),
	V(FILETIME, DATETIME_UTC, "\0\0\0\0\0\0\0\0", "1601-01-01T00:00:00.000000000Z", NULL),
	V(FILETIME, CULTURE_INSENSITIVE_DATETIME, "\xFF\x7F\xE6\x24\xD0\xF4\x35\x7F",
	  "30648-06-28T01:45:39.197337500Z", NULL),
	V(FILETIME, NULL, FF8, "4294967295:4294967295", NULL),
	V(FILETIME, ETWTIME, "\x05\0\0\0\0\0\0\0", "5", "5"),
	V(SYSTEMTIME, DATETIME, "\xDB\x07\x01\x00\x00\x00\x17\x00\x16\x00\x06\x00\x25\x00\xDC\x01",
	  "2011-01-23T22:06:37.476Z", NULL),
	V(SYSTEMTIME, NULL, "\xDB\x07\x0D\x00\x00\x00\x17\x00\x16\x00\x06\x00\x25\x00\xDC\x01",
	  "2011:13:0:23:22:6:37:476", NULL),
	V(UINT32, WIN32ERROR, "\x05\x00\x00\x00", "ERROR_ACCESS_DENIED", NULL),
	V(UINT32, WIN32ERROR, "\xFF\xFF\xFF\x7F", "Unknown Win32 Error code: 0x7FFFFFFF", NULL),
	V(UINT32, NTSTATUS, "\x22\x00\x00\xC0", "STATUS_ACCESS_DENIED", NULL),
	V(HEXINT32, NTSTATUS, "\xFF\xFF\x00\xC0", "Unknown NTSTATUS Error code: 0xC000FFFF", NULL),
	V(INT32, HRESULT, "\x05\x40\x00\x80", "E_FAIL", NULL),
	V(INT32, HRESULT, "\x02\x00\x07\x80", "ERROR_FILE_NOT_FOUND", NULL),
	V(INT32, HRESULT, "\xEF\xBE\x07\x80", "Unknown HResult Error code: 0x8007BEEF", NULL),
};

#define IPV6(raw, text)   V(BINARY, IPV6, raw, text, NULL)
#define SOCKET(raw, text) V(BINARY, SOCKETADDRESS, raw, text, NULL)

static const struct value network_values[] = {
	IPV6("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "::"),
	IPV6("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", "::1"),
	IPV6("\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\4", "::1.2.3.4"),
	IPV6("\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xC0\xA8\0\1", "::ffff:192.168.0.1"),
	IPV6("\0\0\0\0\0\0\0\0\xFF\xFF\0\0\1\2\3\4", "::ffff:0:1.2.3.4"),
	IPV6("\xFE\x80\0\0\0\0\0\0\0\0\x5E\xFE\1\2\3\4", "fe80::5efe:1.2.3.4"),
	IPV6("\x20\1\0\1\0\2\0\3\2\0\x5E\xFE\1\2\3\4", "2001:1:2:3:200:5efe:1.2.3.4"),
	IPV6("\xFE\x80\0\0\0\0\0\0\0\1\0\2\0\3\0\4", "fe80::1:2:3:4"),
	IPV6("\x20\1\x0D\xB8\0\0\0\1\0\0\0\0\0\0\0\1", "2001:db8:0:1::1"),
	IPV6("\x20\1\x0D\xB8\0\0\0\0\0\1\0\0\0\0\0\1", "2001:db8::1:0:0:1"),
	IPV6("\x20\1\x0D\xB8\0\1\0\1\0\1\0\1\0\1\0\1", "2001:db8:1:1:1:1:1:1"),
	IPV6("\x20\1\x0D\xB8\0\0\0\1\0\1\0\1\0\1\0\1", "2001:db8:0:1:1:1:1:1"),
	IPV6("\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "1::"),
	IPV6("\xAB\xCD", "0xABCD"),
	SOCKET("\2\0\x01\xBB\x0A\0\0\1\0\0\0\0\0\0\0\0", "10.0.0.1:443"),
	SOCKET("\2\0\0\0\x0A\0\0\1\0\0\0\0\0\0\0\0", "10.0.0.1"),
	SOCKET("\x17\0\x01\xBB\0\0\0\0\xFE\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1\5\0\0\0",
	       "[fe80::1%5]:443"),
	SOCKET("\x17\0\0\0\0\0\0\0\xFE\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", "fe80::1"),
	SOCKET("\x21\0\x01\x02\x03\x04\x05\xAB\0\0\0\0\0\0", "01-02-03-04-05-AB"),
	SOCKET("\x21\0\x01\x02\x03\x04\x05\xAB\0\1\0\0\0\0", "01-02-03-04-05-AB-00-01"),
	SOCKET("\x21\0\x01\x02\x03\x04\x05\xAB", "01-02-03-04-05-AB"),
	SOCKET("\x21\0\x01\x02\x03\x04\x05", "0x21000102030405"),
	SOCKET("\x01\0\1\0\6\2\6\0", "0x0100010006020600"),
	SOCKET("\2\0", "0x0200"),
};

static void check_values(const struct value *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct value *row = &values[i];
		struct etw_field field = {.name = "f",
					  .in_type = row->in_type,
					  .out_type = row->out_type,
					  .count = 1};
		struct etw_schema schema = {.field_count = 1, .top_count = 1, .fields = &field};
		struct etw_item item = {.end = 1, .bytes = (uint32_t)row->count};
		uint8_t *payload = malloc(row->count ? row->count : 1);
		EVENT_RECORD record = {.UserData = payload};
		struct etw_decoding decoding = {
			.record = &record, .schema = &schema, .items = &item, .item_count = 1};
		struct etw_text text;
		struct etw_text quoted;

		print_message("row %zu: %s\n", i, row->text);
		assert_non_null(payload);
		memcpy(payload, row->bytes, row->count);
		/* The walk ends such strings at a NUL. */
		if (row->in_type == TDH_INTYPE_UNICODESTRING)
			item.bytes = (uint32_t)(2 * etw_utf16_length(payload, row->count / 2));
		if (row->in_type == TDH_INTYPE_ANSISTRING)
			item.bytes = (uint32_t)strnlen(row->bytes, row->count);
		etw_text_init(&text);
		etw_text_init(&quoted);
		etw_format_value(row->in_type, row->out_type, NULL, payload, row->count, &text);
		assert_string_equal(etw_text_string(&text), row->text);
		etw_text_clear(&text);
		etw_format_item(&decoding, &item, &text);
		assert_string_equal(etw_text_string(&text), row->text);
		etw_text_json_string(&quoted, row->text, strlen(row->text));
		etw_text_clear(&text);
		etw_format_item_json(&decoding, &item, &text);
		assert_string_equal(etw_text_string(&text),
				    row->json ? row->json : etw_text_string(&quoted));
		etw_text_done(&text);
		etw_text_done(&quoted);
		free(payload);
	}
}

static void test_format__integers(void **state)
{
	(void)state;
	check_values(integer_values, ARRAY_SIZE(integer_values));
}

static void test_format__floats(void **state)
{
	(void)state;
	check_values(float_values, ARRAY_SIZE(float_values));
}

static void test_format__strings(void **state)
{
	(void)state;
	check_values(string_values, ARRAY_SIZE(string_values));
}

static void test_format__special_forms(void **state)
{
	(void)state;
	check_values(special_values, ARRAY_SIZE(special_values));
}

static void test_format__network(void **state)
{
	(void)state;
	check_values(network_values, ARRAY_SIZE(network_values));
}

/* Whatever the bits are, the text reads back as the same number. */
static void test_format__floats_round_trip(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		struct etw_text text;
		double value;
		uint64_t bits;

		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		bits = seed;
		memcpy(&value, &bits, 8);
		if (i % 4 == 1)
			value = (double)(int64_t)(seed >> 40) / 1000;
		if (i % 4 == 2)
			value = (double)(seed >> 12) / 65536;
		if (value != value || value - value != 0)
			continue;
		memcpy(&bits, &value, 8);
		etw_text_init(&text);
		etw_format_value(TDH_INTYPE_DOUBLE, TDH_OUTTYPE_DOUBLE, NULL, (uint8_t *)&bits, 8,
				 &text);
		assert_true(strtod(etw_text_string(&text), NULL) == value);
		etw_text_clear(&text);
		float single = (float)value;

		if (single - single == 0) {
			etw_format_value(TDH_INTYPE_FLOAT, TDH_OUTTYPE_FLOAT, NULL,
					 (uint8_t *)&single, 4, &text);
			assert_true(strtof(etw_text_string(&text), NULL) == single);
		}
		etw_text_done(&text);
	}
}

static const struct etw_map_entry small_entries[] = {
	{0, "None"}, {1, "One"}, {2, "Two"}, {8, "\"8\""}};
static const struct etw_map_entry bit_numbers[] = {{0, "A"}, {3, "D"}, {31, "Z"}, {32, "Never"}};
static const struct etw_map_entry wide_masks[] = {
	{3, "Both"}, {1, "Low"}, {2, "High"}, {0x10, "Five"}};
static const struct etw_map_entry places[] = {{0, "first"}, {0, "second"}, {0, "third"}};

#define MAP(flags, entries)                                                     \
	{                                                                       \
		"map", EVENTMAP_INFO_FLAG_##flags, ARRAY_SIZE(entries), entries \
	}

static const struct etw_map value_map = MAP(MANIFEST_VALUEMAP, small_entries);
static const struct etw_map bit_map = MAP(MANIFEST_BITMAP, small_entries);
static const struct etw_map wide_map = MAP(MANIFEST_BITMAP, wide_masks);
static const struct etw_map pattern_map = MAP(MANIFEST_PATTERNMAP, small_entries);
static const struct etw_map wbem_values = MAP(WBEM_VALUEMAP, small_entries);
static const struct etw_map wbem_flags = MAP(WBEM_VALUEMAP | EVENTMAP_INFO_FLAG_WBEM_FLAG,
					     small_entries);
static const struct etw_map wbem_places = MAP(WBEM_VALUEMAP | EVENTMAP_INFO_FLAG_WBEM_NO_MAP,
					      places);
static const struct etw_map wbem_bits = MAP(WBEM_BITMAP, bit_numbers);
static const struct etw_map wbem_bit_places = MAP(WBEM_BITMAP | EVENTMAP_INFO_FLAG_WBEM_NO_MAP,
						  places);
static const struct etw_map empty_map = {"map", EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, 0, NULL};

static const struct {
	const struct etw_map *map;
	uint16_t in_type;
	uint32_t value;
	const char *text;
	const char *json;
} map_rows[] = {
	{&value_map, TDH_INTYPE_UINT32, 1, "One", "\"One\""},
	{&value_map, TDH_INTYPE_UINT16, 2, "Two", "\"Two\""},
	{&value_map, TDH_INTYPE_UINT8, 8, "\"8\"", "\"\\\"8\\\"\""},
	{&value_map, TDH_INTYPE_UINT32, 3, "3", "3"},
	{&value_map, TDH_INTYPE_HEXINT32, 0x1A, "0x1A", "\"0x1A\""},
	{&value_map, TDH_INTYPE_INT32, 0, "None", "\"None\""},
	{&value_map, TDH_INTYPE_BOOLEAN, 1, "true", "true"},
	{&empty_map, TDH_INTYPE_UINT32, 0, "0", "0"},
	{&pattern_map, TDH_INTYPE_UINT32, 1, "1", "1"},
	{&bit_map, TDH_INTYPE_UINT32, 0, "None", "\"None\""},
	{&bit_map, TDH_INTYPE_UINT32, 3, "One|Two", "\"One|Two\""},
	{&bit_map, TDH_INTYPE_UINT32, 8 + 1, "One|\"8\"", "\"One|\\\"8\\\"\""},
	{&bit_map, TDH_INTYPE_UINT32, 0x91, "One|0x90", "\"One|0x90\""},
	{&bit_map, TDH_INTYPE_UINT32, 0x90, "144", "144"},
	{&bit_map, TDH_INTYPE_HEXINT32, 0x90, "0x90", "\"0x90\""},
	{&wide_map, TDH_INTYPE_UINT32, 3, "Both", "\"Both\""},
	{&wide_map, TDH_INTYPE_UINT32, 0x13, "Both|Five", "\"Both|Five\""},
	{&wide_map, TDH_INTYPE_UINT32, 0x12, "High|Five", "\"High|Five\""},
	{&wide_map, TDH_INTYPE_UINT32, 0, "0", "0"},
	{&wbem_values, TDH_INTYPE_UINT32, 2, "Two", "\"Two\""},
	{&wbem_values, TDH_INTYPE_UINT32, 3, "3", "3"},
	{&wbem_flags, TDH_INTYPE_UINT32, 3, "One|Two", "\"One|Two\""},
	{&wbem_places, TDH_INTYPE_UINT8, 2, "third", "\"third\""},
	{&wbem_places, TDH_INTYPE_UINT8, 3, "3", "3"},
	{&wbem_bits, TDH_INTYPE_UINT32, 0, "0", "0"},
	{&wbem_bits, TDH_INTYPE_UINT32, 8, "D", "\"D\""},
	{&wbem_bits, TDH_INTYPE_UINT32, 0x80000009, "A|D|Z", "\"A|D|Z\""},
	{&wbem_bit_places, TDH_INTYPE_UINT32, 6, "second|third", "\"second|third\""},
};

static void test_format__maps(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(map_rows); i++) {
		const struct etw_field field = {.name = "f",
						.map = map_rows[i].map,
						.in_type = map_rows[i].in_type,
						.count = 1};
		struct etw_schema schema = {.field_count = 1, .top_count = 1, .fields = &field};
		static const uint8_t widths[] = {[TDH_INTYPE_UINT8] = 1, [TDH_INTYPE_UINT16] = 2};
		size_t bytes = field.in_type <= TDH_INTYPE_UINT16 ? widths[field.in_type] : 4;
		struct sample sample;
		struct etw_text text;

		print_message("row %zu: %s\n", i, map_rows[i].text);
		sample_run(&sample, &schema, 8, &map_rows[i].value, bytes);
		etw_text_init(&text);
		etw_format_item(&sample.decoding, sample.decoding.items, &text);
		assert_string_equal(etw_text_string(&text), map_rows[i].text);
		etw_text_clear(&text);
		etw_format_item_json(&sample.decoding, sample.decoding.items, &text);
		assert_string_equal(etw_text_string(&text), map_rows[i].json);
		etw_text_done(&text);
		sample_done(&sample);
	}
}

static void check_item(const struct etw_field *fields, uint16_t count, const void *payload,
		       size_t bytes, const char *expect, const char *expect_json)
{
	struct etw_schema schema = {.field_count = count, .top_count = 1, .fields = fields};
	struct sample sample;
	struct etw_text text;

	sample_run(&sample, &schema, 8, payload, bytes);
	assert_int_equal(sample.decoding.status, ETW_DECODE_COMPLETE);
	etw_text_init(&text);
	etw_format_item(&sample.decoding, sample.decoding.items, &text);
	assert_string_equal(etw_text_string(&text), expect);
	etw_text_clear(&text);
	etw_format_item_json(&sample.decoding, sample.decoding.items, &text);
	assert_string_equal(etw_text_string(&text), expect_json);
	etw_text_done(&text);
	sample_done(&sample);
}

static void test_format__arrays_and_structs(void **state)
{
	static const struct etw_field numbers[] = {
		{.name = "n", .in_type = TDH_INTYPE_UINT8, .count = 3}};
	static const struct etw_field strings[] = {
		{.name = "s", .in_type = TDH_INTYPE_ANSISTRING, .count = 2}};
	static const struct etw_field nothing[] = {
		{.name = "n", .in_type = TDH_INTYPE_UINT8, .count = 0}};
	static const struct etw_field structs[] = {
		{.name = "s",
		 .flags = PropertyStruct,
		 .count = 2,
		 .struct_first = 1,
		 .struct_count = 2},
		{.name = "id", .in_type = TDH_INTYPE_UINT8, .count = 1},
		{.name = "a \"name\"", .in_type = TDH_INTYPE_ANSISTRING, .count = 1},
	};
	static const struct etw_field empty_struct[] = {
		{.name = "s", .flags = PropertyStruct, .count = 1, .struct_first = 1}};

	(void)state;
	check_item(numbers, 1, "\1\2\3", 3, "[1, 2, 3]", "[1,2,3]");
	check_item(strings, 1, "ab\0c\0", 5, "[ab, c]", "[\"ab\",\"c\"]");
	check_item(nothing, 1, "", 0, "[]", "[]");
	check_item(empty_struct, 1, "", 0, "{}", "{}");
	check_item(structs, 3, "\1x\0\2y\0", 6, "[{id=1, a \"name\"=x}, {id=2, a \"name\"=y}]",
		   "[{\"id\":1,\"a \\\"name\\\"\":\"x\"},{\"id\":2,\"a \\\"name\\\"\":\"y\"}]");
}

static void test_format__character_arrays(void **state)
{
	static const struct etw_field wide[] = {
		{.name = "c", .in_type = TDH_INTYPE_UNICODECHAR, .out_type = 1, .count = 4}};
	static const struct etw_field narrow[] = {
		{.name = "c", .in_type = TDH_INTYPE_ANSICHAR, .count = 3}};
	static const struct etw_field bytes[] = {
		{.name = "c", .in_type = TDH_INTYPE_UINT8, .out_type = 1, .count = 2}};
	static const struct etw_field units[] = {
		{.name = "c", .in_type = TDH_INTYPE_UINT16, .out_type = 1, .count = 2}};
	static const struct etw_field none[] = {
		{.name = "c", .in_type = TDH_INTYPE_UNICODECHAR, .count = 0}};

	(void)state;
	check_item(wide, 1, "a\0b\0\0\0x\0", 8, "ab", "\"ab\"");
	check_item(narrow, 1, "a\"c", 3, "a\"c", "\"a\\\"c\"");
	check_item(bytes, 1, "ab", 2, "ab", "\"ab\"");
	check_item(units, 1, "a\0\xAC\x20", 4, "a\xE2\x82\xAC", "\"a\xE2\x82\xAC\"");
	check_item(none, 1, "", 0, "", "\"\"");
}

static void test_format__filetime(void **state)
{
	static const struct {
		int64_t filetime;
		const char *text;
	} rows[] = {
		{INT64_C(129402939974768585), "2011-01-23T22:06:37.4768585Z"},
		{0, "1601-01-01T00:00:00.0000000Z"},
		{1, "1601-01-01T00:00:00.0000001Z"},
		{INT64_C(116444736000000000), "1970-01-01T00:00:00.0000000Z"},
		{INT64_C(125962559999999999), "2000-02-28T23:59:59.9999999Z"},
		{INT64_C(125962560000000000), "2000-02-29T00:00:00.0000000Z"},
		{INT64_C(2650467743999999999), "9999-12-31T23:59:59.9999999Z"},
		{INT64_C(2650467744000000000), "10000-01-01T00:00:00.0000000Z"},
		{-1, "-1"},
	};
	struct etw_text text;

	(void)state;
	etw_text_init(&text);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		etw_text_clear(&text);
		etw_format_filetime(rows[i].filetime, &text);
		assert_string_equal(etw_text_string(&text), rows[i].text);
	}
	etw_text_done(&text);
}

/* Persian has a decimal point of two bytes; the locale itself is seldom installed. */
static void test_format__points_of_locales(void **state)
{
	static const char *const rows[][2] = {
		{"3.14", "3.14"},
		{"3,14", "3.14"},
		{"-3\xD9\xAB"
		 "14e-05",
		 "-3.14e-05"},
		{"0x1\xD9\xAB"
		 "8p+1",
		 "0x1.8p+1"},
		{"17", "17"},
		{"inf", "inf"},
		{"3\xD9\xAB", "3."},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char number[32];

		(void)snprintf(number, sizeof(number), "%s", rows[i][0]);
		etw_form_point(number);
		assert_string_equal(number, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format__integers),
		cmocka_unit_test(test_format__floats),
		cmocka_unit_test(test_format__floats_round_trip),
		cmocka_unit_test(test_format__strings),
		cmocka_unit_test(test_format__special_forms),
		cmocka_unit_test(test_format__network),
		cmocka_unit_test(test_format__maps),
		cmocka_unit_test(test_format__arrays_and_structs),
		cmocka_unit_test(test_format__character_arrays),
		cmocka_unit_test(test_format__filetime),
		cmocka_unit_test(test_format__points_of_locales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
