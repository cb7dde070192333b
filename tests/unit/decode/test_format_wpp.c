/* SPDX-License-Identifier: MIT */
/* WPP messages from TMF text and payload to their text: the store, the walk and the formatter together. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "decode/decode.h"
#include "decode/format.h"
#include "decode/format_wpp.h"
#include "synthetic/wpp_messages.h"

#define HEADER "01e9b841-7d67-315a-7b92-23b2033356de Mod // SRC=File.c MJ=Comp MN=Sub\n"

#define PAYLOAD(literal) literal, sizeof(literal) - 1

static const GUID message_guid = {
	0x01e9b841, 0x7d67, 0x315a, {0x7b, 0x92, 0x23, 0xb2, 0x03, 0x33, 0x56, 0xde}};

static struct etw_schema_store *store;
static struct etw_decoder *decoder;
static struct etw_text text;
static EVENT_RECORD record;
static struct etw_decoding decoding;
static uint8_t *payload_copy;

static int begin(void **state)
{
	(void)state;
	assert_int_equal(etw_schema_store_create(&store), 0);
	assert_int_equal(etw_decoder_create(store, &decoder), 0);
	etw_text_init(&text);
	record = wpp_event(&message_guid, 10);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_decoder_free(decoder);
	etw_schema_store_free(store);
	etw_text_done(&text);
	free(payload_copy);
	payload_copy = NULL;
	return 0;
}

/* @message: in quotes as TMF has it; @arguments: lines */
static void learn(const char *message, const char *arguments)
{
	struct etw_fault fault = {0};
	char tmf[4096];
	int bytes = snprintf(tmf, sizeof(tmf),
			     HEADER "#typev File_c77 10 %s // LEVEL=LEV FLAGS=FLG FUNC=Fun\n"
				    "{\n%s\n}\n#enumv E\n{\nOne,1\nTwo,2\nSix,0x6\n}\n",
			     message, arguments);
	int r = etw_schema_store_add_tmf(store, tmf, (size_t)bytes, &fault);

	if (r < 0)
		print_error("line %d: %s\n", (int)fault.offset, fault.sentence);
	assert_int_equal(r, 0);
}

static void decode(const void *payload, size_t bytes)
{
	free(payload_copy);
	payload_copy = malloc(bytes ? bytes : 1);
	assert_non_null(payload_copy);
	if (bytes)
		memcpy(payload_copy, payload, bytes);
	record.UserData = payload_copy;
	record.UserDataLength = (USHORT)bytes;
	assert_int_equal(etw_decoder_run(decoder, &record, &decoding), 0);
	assert_non_null(decoding.schema);
}

/* What the pieces that the decoder found give; the same without them. */
static const char *format(const struct etw_wpp_options *options)
{
	struct etw_decoding bare = decoding;
	struct etw_text again = {0};

	etw_text_clear(&text);
	assert_non_null(decoding.wpp_form);
	assert_true(etw_format_wpp(&decoding, options, &text));
	assert_int_equal(etw_text_error(&text), 0);
	bare.wpp_form = NULL;
	assert_true(etw_format_wpp(&bare, options, &again));
	assert_string_equal(etw_text_string(&again), etw_text_string(&text));
	etw_text_done(&again);
	return etw_text_string(&text);
}

/* One argument of this item by this insert. */
static void check(const char *item, const char *insert, const void *payload, size_t bytes,
		  const char *expected)
{
	char message[256], argument[512];

	(void)snprintf(message, sizeof(message), "\"<%%10%s>\"", insert);
	(void)snprintf(argument, sizeof(argument), "x, %s -- 10", item);
	learn(message, argument);
	decode(payload, bytes);
	assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	(void)snprintf(argument, sizeof(argument), "<%s>", expected);
	assert_string_equal(format(NULL), argument);
}

static void test_format_wpp__integers(void **state)
{
	(void)state;
	check("ItemChar", "!d!", PAYLOAD("\xfe"), "-2");
	check("ItemChar", "!c!", PAYLOAD("A"), "A");
	check("ItemChar", "!s!", PAYLOAD("A"), "A");
	check("ItemChar", "!02X!", PAYLOAD("\xfe"), "FE");
	check("ItemUChar", "!u!", PAYLOAD("\xfe"), "254");
	check("ItemUChar", "!c!", PAYLOAD("\xe9"), "\xc3\xa9");
	check("ItemShort", "!hd!", PAYLOAD("\xfe\xff"), "-2");
	check("ItemShort", "!hu!", PAYLOAD("\xfe\xff"), "65534");
	check("ItemShort", "!04hX!", PAYLOAD("\xab\x0c"), "0CAB");
	check("ItemShort", "!c!", PAYLOAD("\xe9\x00"), "\xc3\xa9");
	check("ItemUShort", "!d!", PAYLOAD("\x01\x00"), "1");
	check("ItemLong", "!d!", PAYLOAD("\xfe\xff\xff\xff"), "-2");
	check("ItemLong", "!i!", PAYLOAD("\xfe\xff\xff\xff"), "-2");
	check("ItemLong", "!ld!", PAYLOAD("\xfe\xff\xff\xff"), "-2");
	check("ItemLong", "!u!", PAYLOAD("\xfe\xff\xff\xff"), "4294967294");
	check("ItemLong", "!x!", PAYLOAD("\xab\x00\x00\x00"), "ab");
	check("ItemLong", "!08X!", PAYLOAD("\xab\x00\x00\x00"), "000000AB");
	check("ItemLong", "!#x!", PAYLOAD("\xab\x00\x00\x00"), "0xab");
	check("ItemLong", "!#X!", PAYLOAD("\xab\x00\x00\x00"), "0XAB");
	check("ItemLong", "!#x!", PAYLOAD("\0\0\0\0"), "0");
	check("ItemLong", "!o!", PAYLOAD("\0\0\0\0"), "0");
	check("ItemLong", "!o!", PAYLOAD("\x3f\0\0\0"), "77");
	check("ItemLong", "!o!", PAYLOAD("\xff\xff\xff\xff"), "37777777777");
	check("ItemLong", "!o!", PAYLOAD("\x08\x00\x00\x00"), "10");
	check("ItemLong", "!#o!", PAYLOAD("\x08\x00\x00\x00"), "010");
	check("ItemLong", "!hd!", PAYLOAD("\xff\xff\x00\x00"), "-1");
	check("ItemLong", "!hhu!", PAYLOAD("\x01\x02\x03\x04"), "1");
	check("ItemLong", "!s!", PAYLOAD("\xfe\xff\xff\xff"), "-2");
	check("ItemLong", "", PAYLOAD("\xfe\xff\xff\xff"), "-2");
	check("ItemULong", "!s!", PAYLOAD("\xfe\xff\xff\xff"), "4294967294");
	check("ItemULongX", "!s!", PAYLOAD("\xab\x00\x00\x00"), "0xab");
	check("ItemLongLong", "!I64d!", PAYLOAD("\xfe\xff\xff\xff\xff\xff\xff\xff"), "-2");
	check("ItemLongLong", "!lld!", PAYLOAD("\0\0\0\0\0\0\0\x80"), "-9223372036854775808");
	check("ItemULongLong", "!I64u!", PAYLOAD("\xff\xff\xff\xff\xff\xff\xff\xff"),
	      "18446744073709551615");
	check("ItemLongLongX", "!I64x!", PAYLOAD("\xab\xcd\0\0\0\0\0\0"), "cdab");
	check("ItemLongLongXX", "!012I64X!", PAYLOAD("\xab\xcd\0\0\0\0\0\0"), "00000000CDAB");
	check("ItemLongLongXX", "!s!", PAYLOAD("\xab\xcd\0\0\0\0\0\0"), "CDAB");
	check("ItemLongLongO", "!I64o!", PAYLOAD("\x08\0\0\0\0\0\0\0"), "10");
	check("ItemLongLongO", "!s!", PAYLOAD("\x08\0\0\0\0\0\0\0"), "10");
	check("ItemLongLong", "!I32u!", PAYLOAD("\x08\0\0\0\x01\0\0\0"), "8");
}

static void test_format_wpp__widths_flags_precisions(void **state)
{
	(void)state;
	check("ItemLong", "!5d!", PAYLOAD("\x07\0\0\0"), "    7");
	check("ItemLong", "!-5d!", PAYLOAD("\x07\0\0\0"), "7    ");
	check("ItemLong", "!05d!", PAYLOAD("\xf9\xff\xff\xff"), "-0007");
	check("ItemLong", "!+d!", PAYLOAD("\x07\0\0\0"), "+7");
	check("ItemLong", "! d!", PAYLOAD("\x07\0\0\0"), " 7");
	check("ItemLong", "!.3d!", PAYLOAD("\x07\0\0\0"), "007");
	check("ItemLong", "!06.3d!", PAYLOAD("\x07\0\0\0"), "   007");
	check("ItemLong", "!.0d!", PAYLOAD("\0\0\0\0"), "");
	check("ItemLong", "!#06x!", PAYLOAD("\xab\0\0\0"), "0x00ab");
	check("ItemString", "!5s!", PAYLOAD("ab\0"), "   ab");
	check("ItemString", "!-5s!", PAYLOAD("ab\0"), "ab   ");
	check("ItemString", "!.1s!", PAYLOAD("ab\0"), "a");
	check("ItemString", "!5.1s!", PAYLOAD("\xc3\xa9z\0"), "    \xc3\xa9");
	check("ItemString", "!05s!", PAYLOAD("ab\0"), "   ab");
	check("ItemString", "!d!", PAYLOAD("ab\0"), "ab");
	check("ItemString", "!.1d!", PAYLOAD("ab\0"), "ab");
	check("ItemChar", "!3c!", PAYLOAD("A"), "  A");
}

static void test_format_wpp__pointers(void **state)
{
	(void)state;
	check("ItemPtr", "!p!", PAYLOAD("\x20\x21\xe0\x0b\x82\x95\xff\xff"), "FFFF95820BE02120");
	check("ItemPtr", "!Iu!", PAYLOAD("\x20\0\0\0\0\0\0\0"), "32");
	check("ItemPtr", "!s!", PAYLOAD("\x20\0\0\0\0\0\0\0"), "0000000000000020");
	record.EventHeader.Flags ^= EVENT_HEADER_FLAG_64_BIT_HEADER |
				    EVENT_HEADER_FLAG_32_BIT_HEADER;
	check("ItemPtr", "!p!", PAYLOAD("\xab\0\0\x80"), "800000AB");
}

static void test_format_wpp__floats(void **state)
{
	(void)state;
	check("ItemDouble", "!s!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "1.5");
	check("ItemDouble", "!f!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "1.500000");
	check("ItemDouble", "!.2f!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "1.50");
	check("ItemDouble", "!e!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "1.500000e+00");
	check("ItemDouble", "!G!", PAYLOAD("\0\0\0\0\0\0\xf8\xbf"), "-1.5");
	check("ItemDouble", "!+.1f!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "+1.5");
	check("ItemDouble", "!08.2f!", PAYLOAD("\0\0\0\0\0\0\xf8\xbf"), "-0001.50");
	check("ItemDouble", "!8.2f!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "    1.50");
	check("ItemDouble", "!-8.2f!", PAYLOAD("\0\0\0\0\0\0\xf8\x3f"), "1.50    ");
	check("ItemFloat", "!g!", PAYLOAD("\0\0\xc0\x3f"), "1.5");
	check("ItemDouble", "!g!", PAYLOAD("\0\0\0\0\0\0\xf0\x7f"), "inf");
	check("ItemDouble", "!s!", PAYLOAD("\xff\xff\xff\xff\xff\xff\xef\x7f"), "1.79769e+308");
}

static void test_format_wpp__strings(void **state)
{
	(void)state;
	check("ItemString", "!s!", PAYLOAD("caf\xe9\0"), "caf\xc3\xa9");
	check("ItemString", "!s!", PAYLOAD("NULL\0"), "NULL");
	check("ItemRString", "!s!", PAYLOAD("x\0"), "x");
	check("ItemString", "!s!", PAYLOAD("no end"), "no end");
	check("ItemWString", "!s!", PAYLOAD("a\0\xe9\0\0\0"), "a\xc3\xa9");
	check("ItemWString", "!S!", PAYLOAD("a\0\0\0"), "a");
	check("ItemRWString", "!ws!", PAYLOAD("a\0\0\0"), "a");
	check("ItemPString", "!Z!", PAYLOAD("\x03\0abc"), "abc");
	check("ItemPWString", "!wZ!", PAYLOAD("\x04\0a\0b\0"), "ab");
	check("ItemPWString", "!s!", PAYLOAD("\0\0"), "");
	check("ItemChar4", "!s!", PAYLOAD("NV12"), "NV12");
}

static void test_format_wpp__identities(void **state)
{
	static const char guid[] =
		"\x0a\x5a\xca\x8a\x0c\xdd\xaa\x4a\x8e\x5f\x44\x0d\x8d\x7a\x2c\x1e";

	(void)state;
	check("ItemGuid", "!s!", guid, 16, "8aca5a0a-dd0c-4aaa-8e5f-440d8d7a2c1e");
	check("ItemCLSID", "!s!", guid, 16, "8aca5a0a-dd0c-4aaa-8e5f-440d8d7a2c1e");
	check("ItemSid", "!s!", PAYLOAD("\x01\x01\0\0\0\0\0\x05\x12\0\0\0"), "S-1-5-18");
	check("ItemIPAddr", "!s!", PAYLOAD("\x7f\0\0\x01"), "127.0.0.1");
	check("ItemIPV6Addr", "!s!", PAYLOAD("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"), "::1");
	check("ItemPort", "!s!", PAYLOAD("\x01\xbb"), "443");
	check("ItemMACAddr", "!s!", PAYLOAD("\x01\x02\x03\x0a\x0b\xff"), "01-02-03-0A-0B-FF");
	check("ItemHEXDump", "!s!", PAYLOAD("\x03\0\x01\x02\xff"), "01 02 FF");
	check("ItemHEXDump", "!s!", PAYLOAD("\0\0"), "");
}

static void test_format_wpp__status_codes(void **state)
{
	(void)state;
	check("ItemNTSTATUS", "!s!", PAYLOAD("\x22\0\0\xc0"), "0xc0000022(STATUS_ACCESS_DENIED)");
	check("ItemNTSTATUS", "!s!", PAYLOAD("\x78\x56\x34\xc2"), "0xc2345678");
	check("ItemNTSTATUS", "!x!", PAYLOAD("\x22\0\0\xc0"), "c0000022");
	check("ItemNTSTATUS", "!08X!", PAYLOAD("\0\0\0\0"), "00000000");
	check("ItemWINERROR", "!s!", PAYLOAD("\x05\0\0\0"), "5(ERROR_ACCESS_DENIED)");
	check("ItemWINERROR", "!s!", PAYLOAD("\xff\xff\x01\0"), "131071");
	check("ItemHRESULT", "!s!", PAYLOAD("\x05\x40\0\x80"), "0x80004005(E_FAIL)");
	check("ItemHRESULT", "!s!", PAYLOAD("\x05\0\x07\x80"), "0x80070005(ERROR_ACCESS_DENIED)");
	check("ItemHRESULT", "!d!", PAYLOAD("\xff\xff\xff\xff"), "-1");
	check("ItemNDIS_STATUS", "!s!", PAYLOAD("\x01\0\x01\xc0"), "0xc0010001");
}

static void test_format_wpp__times(void **state)
{
	(void)state;
	check("ItemTimestamp", "!s!", PAYLOAD("\0\0\0\0\0\0\0\0"), "01/01/1601-00:00:00.000");
	check("ItemTimestamp", "!s!", PAYLOAD("\xff\xff\xff\xff\xff\xff\xff\xff"), "-1");
	check("ItemTimeDelta", "!s!", PAYLOAD("\x88\x13\0\0\0\0\0\0"), "0~0:0:5");
	check("ItemTimeDelta", "!s!", PAYLOAD("\x08\xe2\x6a\x05\0\0\0\0"), "1~1:14:50");
	check("ItemTimeDelta", "!s!", PAYLOAD("\x18\xfc\xff\xff\xff\xff\xff\xff"), "-0~0:0:1");
	check("ItemWaitTime", "!s!", PAYLOAD("\x80\x96\x98\0\0\0\0\0"), "01/01/1601-00:00:01.000");
	check("ItemWaitTime", "!s!", PAYLOAD("\x80\x69\x67\xff\xff\xff\xff\xff"), "0~0:0:1");
}

static void test_format_wpp__lists_sets_enums(void **state)
{
	(void)state;
	check("ItemListByte(Low,APC,DPC)", "!s!", PAYLOAD("\x02"), "0x00000002(DPC)");
	check("ItemListByte(Low,APC,DPC)", "!s!", PAYLOAD("\x03"), "0x00000003");
	check("ItemListShort(false, true)", "!s!", PAYLOAD("\x01\0"), "0x00000001(true)");
	check("ItemListLong(FALSE,TRUE)", "!s!", PAYLOAD("\x01\0\0\0"), "0x00000001(TRUE)");
	check("ItemListByte(Low,APC,DPC)", "!d!", PAYLOAD("\x02"), "2");
	check("ItemSetByte(a,b,c)", "!s!", PAYLOAD("\x05"), "[a,c]");
	check("ItemSetByte(a,b,c)", "!s!", PAYLOAD("\0"), "[]");
	check("ItemSetShort(a,b,c)", "!s!", PAYLOAD("\x09\0"), "[a,0x8]");
	check("ItemSetLong(a)", "!s!", PAYLOAD("\0\0\0\x80"), "[0x80000000]");
	check("ItemEnum(E)", "!s!", PAYLOAD("\x02\0\0\0"), "Two");
	check("ItemEnum(E)", "!s!", PAYLOAD("\x03\0\0\0"), "0x3");
	check("ItemEnum(Nobody)", "!s!", PAYLOAD("\x03\0\0\0"), "0x3");
	check("ItemFlagsEnum(E)", "!s!", PAYLOAD("\x03\0\0\0"), "One | Two(0x3)");
	check("ItemFlagsEnum(E)", "!s!", PAYLOAD("\x08\0\0\0"), "0x8");
}

static void check_message(const char *message, const struct etw_wpp_options *options,
			  const char *expected)
{
	learn(message, "x, ItemLong -- 10");
	decode("\x07\0\0\0", 4);
	assert_string_equal(format(options), expected);
}

static void test_format_wpp__names(void **state)
{
	(void)state;
	check_message("\"%0[%!FUNC!] %!LEVEL! %!FLAGS! %!FILE!:%!LINE!\"", NULL,
		      "[Fun] LEV FLG File.c:77");
	check_message("\"%!COMPNAME! %!SUBCOMP! %!MOD! %!TYP!\"", NULL, "Comp Sub Mod File_c77");
	check_message("\"%!TID! %!PID! %!CPU! %!SEQ!\"", NULL, "b10 a5c 3 0");
	check_message("\"%!func! %!OTHER! %! %!!\"", NULL, "Fun %!OTHER! %! %!!");
	check_message("\"%!NOW!\"", NULL, "07/16/2003-15:22:33.456");
}

static void test_format_wpp__escapes(void **state)
{
	(void)state;
	check_message("\"100%% %n%r%t%b%.%q %\"", NULL, "100% \n\r\t .q %");
	check_message("\"%10!d! %10!d! %99!d! %11\"", NULL, "7 7 %99!d! %11");
	check_message("\"%10!d %10!! %10!99999d\"", NULL, "7!d 7!! 7!99999d");
	check_message("\"\"", NULL, "");
}

static void test_format_wpp__the_usual_prefix(void **state)
{
	const struct etw_wpp_options options = {.prefix = ETW_WPP_PREFIX};

	(void)state;
	check_message("\"%0text %10!d!\"", &options,
		      "[3]0A5C.0B10::07/16/2003-15:22:33.456 [Mod]text 7");
	check_message("\"no prefix\"", &options, "no prefix");
	check_message("\"%!STDPREFIX!x\"", &options,
		      "[3]0A5C.0B10::07/16/2003-15:22:33.456 [Mod]x");
}

static void test_format_wpp__prefixes_of_ones_own(void **state)
{
	struct etw_wpp_options options = {
		.prefix = "%7!08x! %2!s! %5!s! %6!s! %!FUNC! %4!s!: %0",
		.utc_offset_minutes = -90,
		.has_long_times = true,
	};
	EVENT_EXTENDED_ITEM_INSTANCE instance = {.InstanceId = 0x1234};
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = EVENT_HEADER_EXT_TYPE_INSTANCE_INFO,
						.DataSize = sizeof(instance),
						.DataPtr = (uintptr_t)&instance};

	(void)state;
	record.ExtendedData = &item;
	record.ExtendedDataCount = 1;
	record.EventHeader.KernelTime = 5;
	record.EventHeader.UserTime = 6;
	check_message("\"%0text\"", &options,
		      "00001234 File_c77 5 6 Fun 07/16/2003-13:52:33.4560000: text");
	/* An item that ends within the number is none. */
	item.DataSize = 3;
	options.prefix = "%7!d! ";
	check_message("\"%0text\"", &options, "0 text");
	options.prefix = "%1!8s!|";
	check_message("\"%0text\"", &options, "     Mod|text");
}

static void test_format_wpp__the_processor_index(void **state)
{
	(void)state;
	record.EventHeader.Flags |= EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	record.BufferContext.ProcessorIndex = 300;
	check_message("\"%9!d!\"", NULL, "300");
}

static void test_format_wpp__a_cut_payload(void **state)
{
	(void)state;
	learn("\"a=%10!d! b=%11!d! c=%12!d!\"",
	      "a, ItemLong -- 10\nb, ItemLong -- 11\nc, ItemLong -- 12");
	decode("\x07\0\0\0\x08\0", 6);
	assert_int_equal(decoding.status, ETW_DECODE_TRUNCATED);
	assert_string_equal(format(NULL),
			    "a=7 b=***parameter 11: the payload ends within this field*** "
			    "c=***parameter 12: an earlier parameter cannot be read***");
	decode("\x07\0\0\0", 4);
	assert_string_equal(format(NULL),
			    "a=7 b=***parameter 11: the payload ends before this field*** "
			    "c=***parameter 12: an earlier parameter cannot be read***");
}

static void test_format_wpp__an_unknown_item(void **state)
{
	(void)state;
	learn("\"a=%10!d! b=%11!s! c=%12!d!\"",
	      "a, ItemLong -- 10\nb, ItemSrb -- 11\nc, ItemLong -- 12");
	decode("\x07\0\0\0\x08\0\0\0\x09\0\0\0", 12);
	assert_int_equal(decoding.status, ETW_DECODE_MALFORMED);
	assert_int_equal(decoding.failed_field, 1);
	assert_string_equal(format(NULL), "a=7 b=***parameter 11: its item is unknown*** "
					  "c=***parameter 12: an earlier parameter cannot be "
					  "read***");
}

static void test_format_wpp__more_payload_than_arguments(void **state)
{
	(void)state;
	learn("\"%10!d!\"", "a, ItemLong -- 10");
	decode("\x07\0\0\0\x08", 5);
	assert_int_equal(decoding.status, ETW_DECODE_EXTRA);
	assert_string_equal(format(NULL), "7");
}

static void test_format_wpp__numbers_need_not_follow_each_other(void **state)
{
	(void)state;
	learn("\"%20!d! %10!d!\"", "a, ItemLong -- 10\nb, ItemLong -- 20");
	decode("\x07\0\0\0\x08\0\0\0", 8);
	assert_string_equal(format(NULL), "8 7");
}

/* What a precision cuts away has been written before: 30 values of 60,000 bytes are more than is allowed. */
static void test_format_wpp__what_is_cut_is_bounded(void **state)
{
#define SIX "%10!.1s!%10!.1s!%10!.1s!%10!.1s!%10!.1s!%10!.1s!"
	static char payload[60001];

	(void)state;
	memset(payload, 'x', sizeof(payload) - 1);
	learn("\"" SIX SIX SIX SIX SIX "\"", "a, ItemString -- 10");
	decode(payload, sizeof(payload));
	assert_string_equal(format(NULL), "xxxxxxxxxxxxxxxxxx...");
	learn("\"" SIX SIX "\"", "a, ItemString -- 10");
	decode(payload, sizeof(payload));
	assert_string_equal(format(NULL), "xxxxxxxxxxxx");
#undef SIX
}

static void test_format_wpp__the_text_is_bounded(void **state)
{
	const struct etw_wpp_options options = {.bytes_max = 10};

	(void)state;
	learn("\"%10!1024s!%10!1024s!\"", "a, ItemString -- 10");
	decode("x", 2);
	assert_int_equal(strlen(format(NULL)), 2048);
	assert_string_equal(format(&options), "          ...");
	learn("\"12345678\xc3\xa9\xc3\xa9\"", "a, ItemString -- 10");
	decode("x", 2);
	assert_string_equal(format(&options), "12345678\xc3\xa9...");
	learn("\"123456789\xc3\xa9\"", "a, ItemString -- 10");
	decode("x", 2);
	assert_string_equal(format(&options), "123456789...");
}

static void test_format_wpp__widths_are_bounded(void **state)
{
	(void)state;
	learn("\"%10!99999999d!\"", "a, ItemLong -- 10");
	decode("\x07\0\0\0", 4);
	assert_int_equal(strlen(format(NULL)), 1024);
	learn("\"%10!.9999f!\"", "a, ItemDouble -- 10");
	decode("\xff\xff\xff\xff\xff\xff\xef\x7f", 8);
	assert_int_equal(strlen(format(NULL)), 309 + 1 + 64);
}

static void test_format_wpp__fields(void **state)
{
	(void)state;
	learn("\"x\"", "Params->IoStatus.Status, ItemNTSTATUS -- 10\n"
		       "f(a, b), ItemLong -- 11\n"
		       "irql, ItemListByte(Low,APC) -- 12\n"
		       "4x, ItemLong -- 13");
	decode("\x22\0\0\xc0\x07\0\0\0\x01\x09\0\0\0", 13);
	assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	assert_int_equal(decoding.schema->source, DecodingSourceWPP);
	assert_non_null(decoding.schema->wpp);
	assert_string_equal(decoding.schema->provider_name, "Mod");
	assert_string_equal(decoding.schema->fields[0].name, "Params->IoStatus.Status");
	assert_string_equal(decoding.schema->fields[1].name, "Arg11");
	assert_string_equal(decoding.schema->fields[3].name, "Arg13");
	etw_format_item(&decoding, etw_decoding_find(&decoding, "irql"), &text);
	assert_string_equal(etw_text_string(&text), "APC");
	assert_string_equal(etw_schema_store_provider_name(store, &message_guid), "Mod");
}

static void test_format_wpp__other_events_are_none(void **state)
{
	(void)state;
	record.EventHeader.EventDescriptor.Id = 11;
	record.UserData = NULL;
	record.UserDataLength = 0;
	learn("\"x\"", "");
	assert_int_equal(etw_decoder_run(decoder, &record, &decoding), 0);
	assert_int_equal(decoding.miss, ETW_SCHEMA_WPP);
	assert_false(etw_format_wpp(&decoding, NULL, &text));
}

static void test_format_wpp__the_latest_file_counts(void **state)
{
	(void)state;
	check_message("\"old\"", NULL, "old");
	check_message("\"new\"", NULL, "new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(test_format_wpp__##name, begin, end)
		CASE(integers),
		CASE(widths_flags_precisions),
		CASE(pointers),
		CASE(floats),
		CASE(strings),
		CASE(identities),
		CASE(status_codes),
		CASE(times),
		CASE(lists_sets_enums),
		CASE(names),
		CASE(escapes),
		CASE(the_usual_prefix),
		CASE(prefixes_of_ones_own),
		CASE(the_processor_index),
		CASE(a_cut_payload),
		CASE(an_unknown_item),
		CASE(more_payload_than_arguments),
		CASE(numbers_need_not_follow_each_other),
		CASE(what_is_cut_is_bounded),
		CASE(the_text_is_bounded),
		CASE(widths_are_bounded),
		CASE(fields),
		CASE(other_events_are_none),
		CASE(the_latest_file_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
