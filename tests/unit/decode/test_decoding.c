/* SPDX-License-Identifier: MIT */
/* Looking into what decoding an event gave; test_decode.c looks for fields by name. */
#include "sample.h"

#include "decode/decoding.h"

/* Every in-type that is an integer, by its width; the payload is all ones. */
static void test_decoding__integer_types(void **state)
{
	static const struct {
		uint16_t in_type;
		bool is_integer;
		uint64_t value;
	} rows[] = {
		{TDH_INTYPE_INT8, true, UINT64_MAX},
		{TDH_INTYPE_UINT8, true, 0xFF},
		{TDH_INTYPE_INT16, true, UINT64_MAX},
		{TDH_INTYPE_UINT16, true, 0xFFFF},
		{TDH_INTYPE_INT32, true, UINT64_MAX},
		{TDH_INTYPE_UINT32, true, UINT32_MAX},
		{TDH_INTYPE_INT64, true, UINT64_MAX},
		{TDH_INTYPE_UINT64, true, UINT64_MAX},
		{TDH_INTYPE_BOOLEAN, true, UINT32_MAX},
		{TDH_INTYPE_POINTER, true, UINT64_MAX},
		{TDH_INTYPE_SIZET, true, UINT64_MAX},
		{TDH_INTYPE_FILETIME, true, UINT64_MAX},
		{TDH_INTYPE_HEXINT32, true, UINT32_MAX},
		{TDH_INTYPE_HEXINT64, true, UINT64_MAX},
		{TDH_INTYPE_UNICODECHAR, true, 0xFFFF},
		{TDH_INTYPE_ANSICHAR, true, 0xFF},
		{TDH_INTYPE_FLOAT, false, 0},
		{TDH_INTYPE_DOUBLE, false, 0},
		{TDH_INTYPE_GUID, false, 0},
		{TDH_INTYPE_SYSTEMTIME, false, 0},
		{TDH_INTYPE_NULL, false, 0},
	};
	uint8_t payload[16];

	(void)state;
	memset(payload, 0xFF, sizeof(payload));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_field field = {.name = "f", .in_type = rows[i].in_type, .count = 1};
		struct etw_schema schema = {.field_count = 1, .top_count = 1, .fields = &field};
		struct sample sample;
		uint64_t value = 0;

		sample_run(&sample, &schema, 8, payload, sizeof(payload));
		assert_true(etw_decoding_u64(&sample.decoding, sample.decoding.items, &value) ==
			    rows[i].is_integer);
		assert_true(value == rows[i].value);
		sample_done(&sample);
	}
}

static void test_decoding__arrays_are_no_integers(void **state)
{
	struct etw_field field = {.name = "f", .in_type = TDH_INTYPE_UINT8, .count = 4};
	struct etw_schema schema = {.field_count = 1, .top_count = 1, .fields = &field};
	struct sample sample;
	uint64_t value;

	(void)state;
	sample_run(&sample, &schema, 8, "abcd", 4);
	assert_false(etw_decoding_u64(&sample.decoding, &sample.decoding.items[0], &value));
	assert_true(etw_decoding_u64(&sample.decoding, &sample.decoding.items[4], &value));
	assert_int_equal(value, 'd');
	sample_done(&sample);
}

static void test_decoding__names_of_every_status(void **state)
{
	(void)state;
	assert_string_equal(etw_decode_status_name(ETW_DECODE_COMPLETE), "complete");
	assert_string_equal(etw_decode_status_name(ETW_DECODE_EXTRA), "extra");
	assert_string_equal(etw_decode_status_name(ETW_DECODE_TRUNCATED), "truncated");
	assert_string_equal(etw_decode_status_name(ETW_DECODE_MALFORMED), "malformed");
	assert_string_equal(etw_decode_status_name(ETW_DECODE_NO_SCHEMA), "no-schema");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decoding__integer_types),
		cmocka_unit_test(test_decoding__arrays_are_no_integers),
		cmocka_unit_test(test_decoding__names_of_every_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
