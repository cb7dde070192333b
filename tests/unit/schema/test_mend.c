/* SPDX-License-Identifier: MIT */
/* Known errors of schemas are put right, and only those. Values: docs/format/decode-leftovers.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/mend.h"

static const GUID network = {
	0x7dd42a49, 0x5329, 0x4832, {0x8d, 0xfd, 0x43, 0xd9, 0x79, 0x15, 0x3a, 0x88}};

static const GUID runtimes[] = {
	{0xe13c0d23, 0xccbc, 0x4e12, {0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}},
	{0xa669021c, 0xc450, 0x4609, {0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18}},
	{0xcc2bcbba, 0x16b6, 0x4cf3, {0x89, 0x90, 0xd7, 0x4c, 0x2e, 0x8a, 0xf5, 0x00}},
	{0x763fd754, 0x7086, 0x4dfe, {0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca}},
};

#define FIELD(field_name, type, number)                                               \
	{                                                                             \
		.name = (field_name), .in_type = TDH_INTYPE_##type, .count = (number) \
	}

static const struct etw_field connection[] = {FIELD("seqnum", UINT32, 1),
					      FIELD("connid", UINT32, 1)};
static const struct etw_field stack[] = {FIELD("FrameCount", UINT32, 1),
					 FIELD("Stack", POINTER, 2)};

static struct etw_schema make_schema(const GUID *provider, const struct etw_field *fields)
{
	return (struct etw_schema){.provider = *provider,
				   .source = DecodingSourceXMLFile,
				   .provider_name = "someone",
				   .field_count = 2,
				   .top_count = 2,
				   .fields = fields};
}

static struct etw_schema *mend(const struct etw_schema *schema)
{
	struct etw_schema *mended = (struct etw_schema *)-1;

	assert_int_equal(etw_schema_mend(schema, 0, &mended), 0);
	return mended;
}

static void test_mend__connection_is_a_pointer(void **state)
{
	struct etw_schema schema = make_schema(&network, connection);
	struct etw_schema *mended = mend(&schema);

	(void)state;
	assert_non_null(mended);
	assert_string_equal(mended->provider_name, "someone");
	assert_int_equal(mended->field_count, 2);
	assert_int_equal(mended->fields[0].in_type, TDH_INTYPE_UINT32);
	assert_int_equal(mended->fields[1].in_type, TDH_INTYPE_POINTER);
	assert_int_equal(mended->fields[1].out_type, TDH_OUTTYPE_HEXINT64);
	assert_string_equal(mended->fields[1].name, "connid");
	assert_int_equal(connection[1].in_type, TDH_INTYPE_UINT32);
	free(mended);
}

static void test_mend__stack_has_as_many_frames_as_are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		struct etw_schema schema = make_schema(&runtimes[i], stack);
		struct etw_schema *mended = mend(&schema);

		assert_non_null(mended);
		assert_int_equal(mended->fields[1].flags, PropertyParamCount);
		assert_int_equal(mended->fields[1].count, 0);
		free(mended);
	}
}

static void test_mend__what_has_no_known_error_stays(void **state)
{
	static const struct etw_field fields[][2] = {
		{FIELD("seqnum", UINT32, 1), FIELD("connid", POINTER, 1)},
		{FIELD("seqnum", UINT32, 1), FIELD("connid", UINT32, 2)},
		{FIELD("connid", UINT32, 1), FIELD("seqnum", UINT32, 1)},
		{FIELD("FrameCount", UINT32, 1), FIELD("Stack", POINTER, 3)},
		{FIELD("FrameCount", UINT32, 1), FIELD("Stack", UINT64, 2)},
		{FIELD("FrameCount", UINT16, 1), FIELD("Stack", POINTER, 2)},
		{FIELD("FrameCount", UINT32, 2), FIELD("Stack", POINTER, 2)},
		{FIELD("Frames", UINT32, 1), FIELD("Stack", POINTER, 2)},
	};
	struct etw_schema schema = make_schema(&network, stack);

	(void)state;
	assert_null(mend(&schema)); /* another provider's error */
	schema = make_schema(&runtimes[0], connection);
	assert_null(mend(&schema));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		schema = make_schema(&network, fields[i]);
		assert_null(mend(&schema));
		schema = make_schema(&runtimes[0], fields[i]);
		assert_null(mend(&schema));
	}
	schema = make_schema(&runtimes[0], &stack[1]);
	schema.field_count = schema.top_count = 1;
	assert_null(mend(&schema)); /* nothing before the array */
	schema.field_count = schema.top_count = 0;
	assert_null(mend(&schema));
	schema = make_schema(&network, connection);
	schema.source = DecodingSourceTlg;
	assert_null(mend(&schema));
	schema = make_schema(&(GUID){0}, connection);
	assert_null(mend(&schema));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mend__connection_is_a_pointer),
		cmocka_unit_test(test_mend__stack_has_as_many_frames_as_are_counted),
		cmocka_unit_test(test_mend__what_has_no_known_error_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
