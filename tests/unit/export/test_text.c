/* SPDX-License-Identifier: MIT */
#include "sample.h"

#define HEAD "2011-01-23T22:06:37.4768585Z   3      7      8 "

static void test_text__fields_and_quotes(void **state)
{
	struct sample sample;
	char payload[] = "plain\0two words\0say \"hi\"\0";

	(void)state;
	sample_init(&sample, payload, sizeof(payload) - 1);
	sample_add(&sample, "a", TDH_INTYPE_ANSISTRING, 0, 5);
	sample_add(&sample, "b", TDH_INTYPE_ANSISTRING, 6, 9);
	sample_add(&sample, "c", TDH_INTYPE_ANSISTRING, 16, 8);
	sample_add(&sample, "d", TDH_INTYPE_ANSISTRING, 25, 0);
	sample_expect(&sample, &etw_export_text,
		      HEAD "Maker/Task/Go a=plain b=\"two words\" c=\"say \\\"hi\\\"\" d=\"\"\n");
}

static void test_text__backslashes_in_quotes(void **state)
{
	struct sample sample;
	char payload[] = "C:\\a\\\0C:\\a b\\\0\\\" x\\n\0";

	(void)state;
	sample_init(&sample, payload, sizeof(payload) - 1);
	sample_add(&sample, "a", TDH_INTYPE_ANSISTRING, 0, 5);
	sample_add(&sample, "b", TDH_INTYPE_ANSISTRING, 6, 7);
	sample_add(&sample, "c", TDH_INTYPE_ANSISTRING, 14, 6);
	sample_expect(&sample, &etw_export_text,
		      HEAD "Maker/Task/Go a=C:\\a\\ b=\"C:\\a b\\\\\" c=\"\\\\\\\" x\\n\"\n");
}

static void test_text__control_characters_are_harmless(void **state)
{
	struct sample sample;
	/* ESC, newline, C1 (U+009B as UTF-8), right-to-left override, and a plain umlaut. */
	char payload[] = "\033[2J\n\xC2\x9B\xE2\x80\xAE\xC3\xA4";

	(void)state;
	sample_init(&sample, payload, sizeof(payload) - 1);
	sample_add(&sample, "x", TDH_INTYPE_ANSISTRING, 0, sizeof(payload) - 1);
	sample_expect(&sample, &etw_export_text,
		      HEAD "Maker/Task/Go x=\\x1b[2J\\n\\x9b\\u202e\xC3\xA4\n");
}

static void test_text__message_of_a_manifest(void **state)
{
	struct sample sample;
	char payload[] = "GET\0\033[2J";

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "verb", TDH_INTYPE_ANSISTRING, 0, 3);
	sample_add(&sample, "url", TDH_INTYPE_ANSISTRING, 4, 4);
	sample.schema.message = "100%% %1 of \"%2\"%nand %7";
	sample_expect(&sample, &etw_export_text,
		      HEAD "Maker/Task/Go \"100% GET of \\\"\\x1b[2J\\\"\\nand %7\" verb=GET "
			   "url=\\x1b[2J\n");
	sample.schema.message = "";
	sample_expect(&sample, &etw_export_text, HEAD "Maker/Task/Go verb=GET url=\\x1b[2J\n");
}

static void test_text__undecoded_is_cut_unless_full(void **state)
{
	struct sample sample;
	uint8_t payload[40] = {1, 2};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample.decoding = (struct etw_decoding){
		.record = &sample.record, .status = ETW_DECODE_NO_SCHEMA, .reason = "nobody knows"};
	sample_expect(&sample, &etw_export_text,
		      HEAD
		      "Maker/#12 [40 bytes 0102000000000000000000000000000000000000000000000000"
		      "000000000000...; nobody knows]\n");
	sample.event.flags = ETW_EXPORT_FULL;
	sample_expect(&sample, &etw_export_text,
		      HEAD
		      "Maker/#12 [40 bytes 0102000000000000000000000000000000000000000000000000"
		      "0000000000000000000000000000; nobody knows]\n");
}

static void test_text__bytes_left_over(void **state)
{
	struct sample sample;
	uint8_t payload[3] = {5, 0xAB, 0xCD};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "n", TDH_INTYPE_UINT8, 0, 1);
	sample.decoding.status = ETW_DECODE_EXTRA;
	sample.decoding.reason = "bytes follow";
	sample_expect(&sample, &etw_export_text,
		      HEAD "Maker/Task/Go n=5 [2 bytes abcd; bytes follow]\n");
}

static void test_text__times_and_absent_ids(void **state)
{
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.record.EventHeader.ProcessId = sample.record.EventHeader.ThreadId = UINT32_MAX;
	sample.event.flags = ETW_EXPORT_TIME_RELATIVE;
	sample_expect(&sample, &etw_export_text,
		      "    +1.5000000   3      -      - Maker/Task/Go\n");
	sample.event.start_ft += 15000001;
	sample_expect(&sample, &etw_export_text,
		      "    -0.0000001   3      -      - Maker/Task/Go\n");
	sample.event.flags = ETW_EXPORT_TIME_RAW | ETW_EXPORT_FILES;
	sample.event.raw_time = 123456;
	sample.event.trace = 1;
	sample_expect(&sample, &etw_export_text, "123456 @2   3      -      - Maker/Task/Go\n");
}

/* Linux counts processes up to 4194304. */
static void test_text__columns_do_not_run_together(void **state)
{
	struct sample sample;
	uint8_t payload[1] = {5};

	(void)state;
	sample_init(&sample, payload, sizeof(payload));
	sample_add(&sample, "n", TDH_INTYPE_UINT8, 0, 1);
	sample.record.EventHeader.ProcessId = 1234567;
	sample.record.EventHeader.ThreadId = 12345678;
	sample.event.processor = 1023;
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z 1023 1234567 12345678 Maker/Task/Go n=5\n");
	sample.record.EventHeader.ProcessId = 999999;
	sample.record.EventHeader.ThreadId = 4294967294;
	sample.event.processor = 999;
	sample_expect(&sample, &etw_export_text,
		      "2011-01-23T22:06:37.4768585Z 999 999999 4294967294 Maker/Task/Go n=5\n");
}

static void test_text__names(void **state)
{
	struct sample sample;

	(void)state;
	sample_init(&sample, NULL, 0);
	sample.event.provider_name = NULL;
	sample.schema.provider_name = NULL;
	sample.schema.task_name = sample.schema.opcode_name = NULL;
	sample_expect(&sample, &etw_export_text,
		      HEAD "{00000000-0000-0000-0000-000000000000}/#12\n");
	sample.schema.source = DecodingSourceWbem;
	sample.schema.task_name = "Process";
	sample.schema.opcode_name = "Start";
	sample_expect(&sample, &etw_export_text, HEAD "Process/Start\n");
	sample.schema.source = DecodingSourceTlg;
	sample.schema.task_name = "Save";
	sample.schema.opcode_name = NULL;
	sample.record.EventHeader.EventDescriptor.Opcode = 2;
	sample.event.provider_name = "Maker";
	sample_expect(&sample, &etw_export_text, HEAD "Maker/Save/Stop\n");
}

static void test_text__nothing_tried(void **state)
{
	struct sample sample;
	uint8_t payload[1] = {0xFF};

	(void)state;
	sample_init(&sample, payload, 1);
	sample.event.decoding = NULL;
	sample.record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
	sample_expect(&sample, &etw_export_text, HEAD "Maker/op 9 [1 byte ff]\n");
}

/* One character at every place of a text: words and what is left over are looked at alike. */
static void test_text__harm_at_every_place(void **state)
{
	static const char *const characters[] = {"\x01", "\x1f", "\x7f", "\xc2\x85",
						 "\xe2\x80\xae"};
	static const char *const harmless[] = {" ", "~", "\xc3\xa9", "\xe2\x82\xac", "\xc2\xa9"};

	(void)state;
	for (unsigned i = 0; i < 5 * 24; i++) {
		struct etw_text text = {0};
		const unsigned before = i / 5;

		for (unsigned k = 0; k < 2; k++) {
			etw_text_clear(&text);
			for (unsigned j = 0; j < before; j++)
				etw_text_putc(&text, 'a');
			etw_text_puts(&text, k ? harmless[i % 5] : characters[i % 5]);
			etw_text_puts(&text, "end");
			assert_int_equal(etw_export_clean(&text, 0), k == 0);
			assert_int_equal(strchr(etw_text_string(&text), '\\') != NULL, k == 0);
		}
		etw_text_done(&text);
	}
}

/* What is harmless on both sides of what is not, in runs of every length, stays what it is. */
static void test_text__runs_between_escapes(void **state)
{
	static const struct {
		const char *dirty, *clean;
	} cases[] = {
		{"\n", "\\n"},
		{"\r\n\t", "\\r\\n\\t"},
		{"\x7f", "\\x7f"},
		{"\xc2\x85", "\\x85"},
		{"\xe2\x80\xae", "\\u202e"},
		{"\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x1b",
		 "\\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\x1b"},
		/* Bytes that are no UTF-8 next to one that is harmful. */
		{"\n\xff\xc3", "\\n\\xff\\xc3"},
	};
	static const char run[] = "0123456789 abcdefghij ~";

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases) * sizeof(run); i++) {
		const unsigned k = i % ARRAY_SIZE(cases);
		const int bytes = (int)(i / ARRAY_SIZE(cases));
		struct etw_text text = {0}, expected = {0};

		etw_text_printf(&text, "\n%.*s%s%.*s%s", bytes, run, cases[k].dirty, bytes, run,
				cases[k].dirty);
		etw_text_printf(&expected, "\n%.*s%s%.*s%s", bytes, run, cases[k].clean, bytes, run,
				cases[k].clean);
		assert_int_equal(etw_export_clean(&text, 1), 1);
		assert_string_equal(etw_text_string(&text), etw_text_string(&expected));
		etw_text_done(&text);
		etw_text_done(&expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text__harm_at_every_place),
		cmocka_unit_test(test_text__runs_between_escapes),
		cmocka_unit_test(test_text__fields_and_quotes),
		cmocka_unit_test(test_text__backslashes_in_quotes),
		cmocka_unit_test(test_text__control_characters_are_harmless),
		cmocka_unit_test(test_text__message_of_a_manifest),
		cmocka_unit_test(test_text__undecoded_is_cut_unless_full),
		cmocka_unit_test(test_text__bytes_left_over),
		cmocka_unit_test(test_text__times_and_absent_ids),
		cmocka_unit_test(test_text__columns_do_not_run_together),
		cmocka_unit_test(test_text__names),
		cmocka_unit_test(test_text__nothing_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
