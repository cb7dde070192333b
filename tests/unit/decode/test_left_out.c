/* SPDX-License-Identifier: MIT */
/* Payloads that go on behind the fields of a manifest, decoded with those that it leaves out. */
#include "sample.h"

#include "decode/decode.h"
#include "schema/left_out.h"
#include "schema/mend.h"

static const GUID runtime = {
	0xe13c0d23, 0xccbc, 0x4e12, {0x93, 0x1b, 0xd9, 0xcc, 0x2e, 0xee, 0x27, 0xe4}};
static const GUID private = {
	0x763fd754, 0x7086, 0x4dfe, {0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca}};

/* A manifest's schema of the event with these fields. */
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

/* Decodes @bytes of payload with the nth mended schema; returns whether they are used up. */
static bool uses_up(const struct etw_schema *schema, unsigned nth, unsigned pointer_bytes,
		    const uint8_t *payload, uint32_t bytes)
{
	CLEANUP(freep) struct etw_schema *mended = NULL;
	CLEANUP(etw_program_freep) struct etw_program *program = NULL;
	EVENT_RECORD record = {0};
	struct etw_decoding decoding = {.record = &record};
	struct etw_walk walk;

	assert_int_equal(etw_schema_mend(schema, nth, &mended), 0);
	assert_non_null(mended);
	etw_walk_init(&walk);
	assert_int_equal(etw_program_compile(mended, pointer_bytes, &program), 0);
	assert_int_equal(etw_program_run(program, &walk, payload, bytes, &decoding), 0);
	etw_walk_done(&walk);
	return decoding.status == ETW_DECODE_COMPLETE;
}

/* Sizes in docs/format/dotnet-gc.md, from genuine events where there are any. */
static void regress_left_out__sizes(void **state)
{
	struct etw_schema none = make_schema(&runtime, 205, 4, NULL, 0);
	const struct etw_left_out *layout = etw_left_out_find(&none, 0);
	struct etw_schema nothing = make_schema(&private, 4, 2, NULL, 0);
	struct etw_schema global = make_schema(&runtime, 205, 4, layout->fields, 12);
	struct etw_schema heap = make_schema(&runtime, 204, 3, NULL, 0);
	struct etw_schema stats = make_schema(&runtime, 4, 2, NULL, 0);
	uint8_t payload[1024] = {0};

	(void)state;
	assert_true(uses_up(&nothing, 0, 4, payload, 50 * 4 + 33));
	assert_true(uses_up(&nothing, 0, 8, payload, 50 * 8 + 33));
	assert_true(uses_up(&nothing, 1, 4, payload, 50 * 4 + 25));
	assert_false(uses_up(&nothing, 0, 4, payload, 50 * 4 + 25));
	payload[46] = 8;
	assert_true(uses_up(&global, 0, 8, payload, 82));
	payload[46] = 5;
	assert_true(uses_up(&global, 0, 4, payload, 70));
	assert_false(uses_up(&global, 0, 4, payload, 82));
	payload[46] = 0;
	assert_true(uses_up(&stats, 0, 8, payload, 110));
	payload[2 + 6 * 8 + 24 + 8] = 5;
	assert_true(uses_up(&heap, 0, 8, payload, 486));
	payload[2 + 6 * 8 + 24 + 8] = 0;
	payload[2 + 6 * 4 + 24 + 4] = 4;
	assert_true(uses_up(&heap, 0, 4, payload, 58 + 160));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regress_left_out__sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
