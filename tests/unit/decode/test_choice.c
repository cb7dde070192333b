/* SPDX-License-Identifier: MIT */
/* Store and decoder together: of several layouts of an event, the one that uses up the payload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decode/decode.h"

#define GUID_TEXT "{11112222-3333-4444-5555-666677778888}"
#define MANIFEST(fields)                                                 \
	"<instrumentationManifest><instrumentation><events>"             \
	"<provider name='P' guid='" GUID_TEXT "'>"                       \
	"<templates><template tid='t'>" fields "</template></templates>" \
	"<events><event value='7' template='t'/></events>"               \
	"</provider></events></instrumentation></instrumentationManifest>"

static const GUID provider = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88}};

static struct etw_schema_store *store;
static struct etw_decoder *decoder;
static struct etw_decoding decoding;

static int begin(void **state)
{
	(void)state;
	return etw_schema_store_create(&store) || etw_decoder_create(store, &decoder);
}

static int end(void **state)
{
	(void)state;
	etw_decoder_free(decoder);
	etw_schema_store_free(store);
	return 0;
}

static void add(const char *text)
{
	assert_int_equal(etw_schema_store_add_manifest(store, text, strlen(text), NULL), 0);
}

static const char *first_field(unsigned bytes)
{
	static uint8_t payload[16];
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = (USHORT)bytes};

	record.EventHeader.ProviderId = provider;
	record.EventHeader.EventDescriptor.Id = 7;
	assert_int_equal(etw_decoder_run(decoder, &record, &decoding), 0);
	assert_non_null(decoding.schema);
	return decoding.schema->fields[0].name;
}

static void test_choice__the_layout_that_fits_wins(void **state)
{
	(void)state;
	add(MANIFEST("<data name='two' inType='win:UInt16'/>"));
	add(MANIFEST("<data name='four' inType='win:UInt32'/>"));
	add(MANIFEST("<data name='six' inType='win:UInt16'/><data name='b' inType='win:UInt32'/>"));
	for (unsigned round = 0; round < 2; round++) {
		assert_string_equal(first_field(2), "two");
		assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
		assert_string_equal(first_field(4), "four");
		assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
		assert_string_equal(first_field(6), "six");
		assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	}
}

/* Where none fits, it is the one that counts most, as it was when there was only that one. */
static void test_choice__where_none_fits_the_first_counts(void **state)
{
	(void)state;
	add(MANIFEST("<data name='two' inType='win:UInt16'/>"));
	add(MANIFEST("<data name='four' inType='win:UInt32'/>"));
	assert_string_equal(first_field(3), "four");
	assert_int_equal(decoding.status, ETW_DECODE_TRUNCATED);
	assert_int_equal(decoding.consumed, 0);
	assert_non_null(decoding.reason);
	assert_string_equal(first_field(5), "four");
	assert_int_equal(decoding.status, ETW_DECODE_EXTRA);
	assert_int_equal(decoding.consumed, 4);
}

static void test_choice__what_is_chosen_is_what_is_decoded(void **state)
{
	static uint8_t payload[2];
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = 2};
	const struct etw_schema *schema;
	enum etw_schema_miss why;

	(void)state;
	record.EventHeader.ProviderId = provider;
	record.EventHeader.EventDescriptor.Id = 7;
	assert_int_equal(etw_decoder_choose(decoder, &record, &schema, &why), 0);
	assert_null(schema);
	assert_int_equal(why, ETW_SCHEMA_NO_PROVIDER);
	add(MANIFEST("<data name='four' inType='win:UInt32'/>"));
	/* The only one, though it does not fit. */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(etw_decoder_choose(decoder, &record, &schema, &why), 0);
		assert_string_equal(schema->fields[0].name, "four");
		assert_int_equal(why, ETW_SCHEMA_FOUND);
	}
	add(MANIFEST("<data name='two' inType='win:UInt16'/>"));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(etw_decoder_choose(decoder, &record, &schema, &why), 0);
		assert_string_equal(schema->fields[0].name, "two");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_choice__the_layout_that_fits_wins, begin, end),
		cmocka_unit_test_setup_teardown(test_choice__where_none_fits_the_first_counts,
						begin, end),
		cmocka_unit_test_setup_teardown(test_choice__what_is_chosen_is_what_is_decoded,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
