/* SPDX-License-Identifier: MIT */
/*
 * How wide the pointers of classic events are: what a file's events prove of it, and images of version 0, whose
 * payload fits either size to the last byte.
 */
#include "sample.h"

#include "base/bytes.h"
#include "decode/decode.h"
#include "decode/widths.h"

static const GUID image = {
	0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0x00, 0xa0, 0xc9, 0x11, 0xf5, 0x18}};
static const GUID other = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

static void add(struct etw_widths *widths, uint32_t file, const GUID *guid, unsigned count,
		bool is_narrow, bool is_wide)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(etw_widths_add(widths, file, guid, is_narrow, is_wide), 0);
}

static void test_widths__nothing_is_known(void **state)
{
	struct etw_widths widths = {0};

	(void)state;
	assert_true(etw_widths_wants(&widths, 0));
	assert_false(etw_widths_is_wide(&widths, 0, &image));
	add(&widths, 0, &image, 5, true, true);
	assert_false(etw_widths_is_wide(&widths, 0, &image));
	assert_false(widths.has_wide);
	etw_widths_done(&widths);
}

/* What is proved of a class counts for it, in that file, and for nothing else: the header event is another class. */
static void test_widths__classes_and_files(void **state)
{
	struct etw_widths widths = {0};

	(void)state;
	add(&widths, 0, &image, 2, true, true);
	add(&widths, 0, &other, 1, false, true);
	assert_true(widths.has_wide);
	assert_true(etw_widths_is_wide(&widths, 0, &other));
	assert_false(etw_widths_is_wide(&widths, 1, &other));
	assert_false(etw_widths_is_wide(&widths, 0, &image));
	add(&widths, 0, &image, 1, true, false);
	add(&widths, 0, &image, 1, false, true);
	assert_false(etw_widths_is_wide(&widths, 0, &image));
	add(&widths, 0, &image, 1, false, true);
	assert_true(etw_widths_is_wide(&widths, 0, &image));
	etw_widths_done(&widths);
}

static void test_widths__one_damaged_event_proves_little(void **state)
{
	struct etw_widths widths = {0};

	(void)state;
	add(&widths, 0, &image, 9, true, true);
	add(&widths, 0, &image, 1, false, true);
	assert_false(etw_widths_is_wide(&widths, 0, &image));
	add(&widths, 0, &image, 3, false, true);
	assert_true(etw_widths_is_wide(&widths, 0, &image));
	etw_widths_done(&widths);
}

static void test_widths__bounds(void **state)
{
	struct etw_widths widths = {0};

	(void)state;
	for (uint32_t i = 0; i < 2 * ETW_WIDTHS_ROWS_MAX; i++) {
		GUID guid = other;

		guid.Data1 += i;
		add(&widths, 0, &guid, 1, false, true);
	}
	assert_int_equal(widths.count, ETW_WIDTHS_ROWS_MAX);
	assert_true(etw_widths_wants(&widths, 0));
	add(&widths, 0, &image, ETW_WIDTHS_EVENTS_MAX, false, true);
	assert_false(etw_widths_wants(&widths, 0));
	etw_widths_done(&widths);
}

/* An image event of version 0: a base, a size of 4 bytes, a name. */
struct sample_event {
	EVENT_RECORD record;
	uint8_t payload[128];
};

static void make_event(struct sample_event *event, unsigned pointer_bytes, uint32_t size)
{
	static const uint16_t name[] = u"C:\\Windows\\ntdll.dll";

	memset(event, 0, sizeof(*event));
	event->record.EventHeader.ProviderId = image;
	event->record.EventHeader.EventDescriptor.Opcode = 10;
	event->record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER |
					  EVENT_HEADER_FLAG_32_BIT_HEADER;
	event->record.UserData = event->payload;
	event->record.UserDataLength = (USHORT)(pointer_bytes + 4 + sizeof(name));
	etw_store32(event->payload, 0x76E10000);
	etw_store32(event->payload + pointer_bytes, size);
	memcpy(event->payload + pointer_bytes + 4, name, sizeof(name));
}

static struct etw_schema_store *store;
static struct etw_decoder *decoder;

static int begin(void **state)
{
	(void)state;
	if (etw_schema_store_create(&store) || etw_decoder_create(store, &decoder))
		return -1;
	etw_decoder_mend(decoder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_decoder_free(decoder);
	etw_schema_store_free(store);
	return 0;
}

static void assert_size(const struct sample_event *event, uint64_t expected)
{
	struct etw_decoding decoding;
	uint64_t value = 0;

	assert_int_equal(etw_decoder_run(decoder, &event->record, &decoding), 0);
	assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	assert_true(
		etw_decoding_u64(&decoding, etw_decoding_find(&decoding, "ModuleSize"), &value));
	assert_int_equal(value, expected);
}

/* Half of the size in the name gives the wrong reading away: U+E000 U+0019. */
static void regress_widths__size_in_the_name(void **state)
{
	struct sample_event event;

	(void)state;
	make_event(&event, 8, 0x0019E000);
	assert_size(&event, 0x0019E000);
	make_event(&event, 8, 0x00127000);
	assert_size(&event, 0x00127000);
	make_event(&event, 4, 0x0019E000);
	assert_size(&event, 0x0019E000);
}

/* A size whose halves are letters gives nothing away; what the others of its file prove is taken. */
static void regress_widths__size_that_reads_like_text(void **state)
{
	struct sample_event wide, letters, narrow;

	(void)state;
	make_event(&wide, 8, 0x0019E000);
	make_event(&letters, 8, 0x00415000);
	make_event(&narrow, 4, 0x00415000);
	assert_size(&letters, 0);
	for (uint32_t file = 0; file < 2; file++) {
		etw_decoder_set_file(decoder, file);
		for (int i = 0; i < 3; i++)
			assert_int_equal(
				etw_decoder_weigh(decoder, file ? &narrow.record : &wide.record),
				0);
	}
	etw_decoder_set_file(decoder, 0);
	assert_size(&letters, 0x00415000);
	etw_decoder_set_file(decoder, 1);
	assert_size(&narrow, 0x00415000);
	etw_decoder_set_file(decoder, 2);
	assert_size(&letters, 0);
}

/* Names on Linux hold what their owner likes: nobody lowers another's share of decoded events by a file's name. */
static void regress_widths__text_of_a_trusted_file(void **state)
{
	struct sample_event event;
	struct etw_decoding decoding;

	(void)state;
	make_event(&event, 4, 0x00415000);
	event.payload[4 + 4 + 2 * 5] = 1;
	assert_int_equal(etw_decoder_trust_text(decoder, 3), 0);
	for (uint32_t file = 2; file <= 4; file++) {
		etw_decoder_set_file(decoder, file);
		assert_int_equal(etw_decoder_run(decoder, &event.record, &decoding), 0);
		assert_int_equal(decoding.status,
				 file == 3 ? ETW_DECODE_COMPLETE : ETW_DECODE_MALFORMED);
	}
	etw_decoder_set_file(decoder, 0);
}

/* Text that is none under either size: every field is there, and the reading is not called complete. */
static void regress_widths__text_that_is_none(void **state)
{
	struct sample_event event;
	struct etw_decoder *trusting;
	struct etw_decoding decoding;

	(void)state;
	make_event(&event, 4, 0x00415000);
	event.payload[4 + 4 + 2 * 5] = 1;
	assert_int_equal(etw_decoder_run(decoder, &event.record, &decoding), 0);
	assert_int_equal(decoding.status, ETW_DECODE_MALFORMED);
	assert_int_equal(decoding.item_count, 3);
	assert_int_equal(decoding.failed_field, 2);
	assert_string_equal(decoding.reason, "what should be text has characters that no text has");
	/* TDH, whose decoder mends nothing, shows it as it is. */
	assert_int_equal(etw_decoder_create(store, &trusting), 0);
	assert_int_equal(etw_decoder_run(trusting, &event.record, &decoding), 0);
	assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	etw_decoder_free(trusting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths__nothing_is_known),
		cmocka_unit_test(test_widths__classes_and_files),
		cmocka_unit_test(test_widths__one_damaged_event_proves_little),
		cmocka_unit_test(test_widths__bounds),
		cmocka_unit_test_setup_teardown(regress_widths__size_in_the_name, begin, end),
		cmocka_unit_test_setup_teardown(regress_widths__size_that_reads_like_text, begin,
						end),
		cmocka_unit_test_setup_teardown(regress_widths__text_that_is_none, begin, end),
		cmocka_unit_test_setup_teardown(regress_widths__text_of_a_trusted_file, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
