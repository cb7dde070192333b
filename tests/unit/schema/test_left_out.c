/* SPDX-License-Identifier: MIT */
/* Layouts that go on behind the fields of a manifest: found for what they belong to, and well-formed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/left_out.h"
#include "schema/types.h"

static const GUID runtime = {
	0xe13c0d23, 0xccbc, 0x4e12, {0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}};
static const GUID private = {
	0x763fd754, 0x7086, 0x4dfe, {0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca}};

/* A manifest's schema of the event with the first @count fields of what is known of it. */
static struct etw_schema make_schema(const GUID *provider, uint16_t id, uint8_t version,
				     const struct etw_field *fields, uint16_t count)
{
	struct etw_schema schema = {.provider = *provider, .source = DecodingSourceXMLFile};

	schema.descriptor.Id = id;
	schema.descriptor.Version = version;
	schema.fields = fields;
	schema.field_count = schema.top_count = count;
	return schema;
}

static const struct etw_left_out *find(const GUID *provider, uint16_t id, uint8_t version,
				       unsigned nth)
{
	struct etw_schema schema = make_schema(provider, id, version, NULL, 0);

	return etw_left_out_find(&schema, nth);
}

static void test_left_out__for_which_events(void **state)
{
	(void)state;
	assert_non_null(find(&private, 4, 2, 0));
	assert_non_null(find(&private, 4, 2, 1));
	assert_null(find(&private, 4, 2, 2));
	assert_non_null(find(&runtime, 4, 2, 0));
	assert_non_null(find(&runtime, 204, 3, 0));
	assert_non_null(find(&runtime, 205, 4, 0));
	assert_null(find(&runtime, 205, 4, 1));
	assert_null(find(&runtime, 205, 3, 0));
	assert_null(find(&private, 205, 4, 0));
	assert_null(find(&private, 4, 1, 0));
}

/* All that is known hangs together, as a reader of a manifest would ask. */
static void test_left_out__layouts_are_sound(void **state)
{
	static const struct {
		const GUID *provider;
		uint16_t id;
		uint8_t version;
	} rows[] = {{&private, 4, 2}, {&runtime, 4, 2}, {&runtime, 204, 3}, {&runtime, 205, 4}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct etw_left_out *layout;

		for (unsigned nth = 0;
		     (layout = find(rows[i].provider, rows[i].id, rows[i].version, nth)); nth++) {
			struct etw_schema schema = make_schema(rows[i].provider, rows[i].id,
							       rows[i].version, layout->fields,
							       layout->field_count);

			schema.top_count = layout->top_count;
			assert_null(etw_schema_fields_check(&schema));
			for (uint16_t j = 0; j < layout->field_count; j++)
				assert_non_null(layout->fields[j].name);
		}
	}
}

/* Only what begins as the manifest does goes on behind it. */
static void test_left_out__only_behind_the_same_fields(void **state)
{
	const struct etw_left_out *layout = find(&runtime, 205, 4, 0);
	struct etw_field fields[16];
	struct etw_schema schema;

	(void)state;
	memcpy(fields, layout->fields, layout->field_count * sizeof(*fields));
	schema = make_schema(&runtime, 205, 4, fields, 12);
	assert_ptr_equal(etw_left_out_find(&schema, 0), layout);
	fields[3].in_type = TDH_INTYPE_UINT64;
	assert_null(etw_left_out_find(&schema, 0));
	fields[3] = layout->fields[3];
	fields[11].name = "Number";
	assert_null(etw_left_out_find(&schema, 0));
	fields[11] = layout->fields[11];
	schema.top_count = 13;
	schema.field_count = 14;
	assert_null(etw_left_out_find(&schema, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left_out__for_which_events),
		cmocka_unit_test(test_left_out__layouts_are_sound),
		cmocka_unit_test(test_left_out__only_behind_the_same_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
