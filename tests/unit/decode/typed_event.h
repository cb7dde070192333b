/* SPDX-License-Identifier: MIT */
/* An event with fields of many kinds, as its schema and as it is decoded. */
#ifndef ETW_TESTS_UNIT_DECODE_TYPED_EVENT_H
#define ETW_TESTS_UNIT_DECODE_TYPED_EVENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "decode/program.h"

#define TEST_GUID                                                      \
	{                                                              \
		0x11112222, 0x3333, 0x4444,                            \
		{                                                      \
			0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88 \
		}                                                      \
	}

static const struct etw_map_entry test_colours[] = {{1, "Red"}, {2, "Green"}, {4, "Dark Blue"}};
static const struct etw_map test_map = {"Colours", EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP, 3,
					test_colours};
static const struct etw_map test_bits = {"Bits", EVENTMAP_INFO_FLAG_MANIFEST_BITMAP, 3,
					 test_colours};

/* clang-format off */
static const struct etw_field test_fields[] = {
	{.name = "Byte", .in_type = TDH_INTYPE_UINT8, .out_type = TDH_OUTTYPE_UNSIGNEDBYTE, .count = 1},
	{.name = "Signed", .in_type = TDH_INTYPE_INT32, .out_type = TDH_OUTTYPE_INT, .count = 1},
	{.name = "Big", .in_type = TDH_INTYPE_UINT64, .out_type = TDH_OUTTYPE_UNSIGNEDLONG, .count = 1},
	{.name = "Hex", .in_type = TDH_INTYPE_UINT32, .out_type = TDH_OUTTYPE_HEXINT32, .count = 1},
	{.name = "Real", .in_type = TDH_INTYPE_DOUBLE, .out_type = TDH_OUTTYPE_DOUBLE, .count = 1},
	{.name = "Truth", .in_type = TDH_INTYPE_BOOLEAN, .out_type = TDH_OUTTYPE_BOOLEAN, .count = 1},
	{.name = "Id", .in_type = TDH_INTYPE_GUID, .out_type = TDH_OUTTYPE_GUID, .count = 1},
	{.name = "When", .in_type = TDH_INTYPE_FILETIME, .out_type = TDH_OUTTYPE_DATETIME, .count = 1},
	{.name = "Address", .in_type = TDH_INTYPE_UINT32, .out_type = TDH_OUTTYPE_IPV4, .count = 1},
	{.name = "Port", .in_type = TDH_INTYPE_UINT16, .out_type = TDH_OUTTYPE_PORT, .count = 1},
	{.name = "Colour", .in_type = TDH_INTYPE_UINT32, .out_type = TDH_OUTTYPE_UNSIGNEDINT, .count = 1,
	 .map = &test_map, .map_name = "Colours"},
	{.name = "Flags", .in_type = TDH_INTYPE_UINT32, .out_type = TDH_OUTTYPE_UNSIGNEDINT, .count = 1,
	 .map = &test_bits, .map_name = "Bits"},
	{.name = "Path", .in_type = TDH_INTYPE_UNICODESTRING, .out_type = TDH_OUTTYPE_STRING, .count = 1},
	{.name = "level", .in_type = TDH_INTYPE_ANSISTRING, .out_type = TDH_OUTTYPE_STRING, .count = 1},
	{.name = "User", .in_type = TDH_INTYPE_SID, .out_type = TDH_OUTTYPE_STRING, .count = 1},
	{.name = "List", .in_type = TDH_INTYPE_UINT16, .out_type = TDH_OUTTYPE_UNSIGNEDSHORT, .count = 3,
	 .flags = PropertyParamFixedCount},
	{.name = "Pairs", .count = 2, .flags = PropertyStruct | PropertyParamFixedCount, .struct_first = 18,
	 .struct_count = 2},
	{.name = "odd name", .in_type = TDH_INTYPE_UINT8, .out_type = TDH_OUTTYPE_UNSIGNEDBYTE, .count = 1},
	{.name = "Key", .in_type = TDH_INTYPE_UINT8, .out_type = TDH_OUTTYPE_UNSIGNEDBYTE, .count = 1},
	{.name = "Value", .in_type = TDH_INTYPE_ANSISTRING, .out_type = TDH_OUTTYPE_STRING, .count = 1},
};
/* clang-format on */

static const struct etw_schema test_schema = {
	.provider = TEST_GUID,
	.source = DecodingSourceXMLFile,
	.provider_name = "Test-Provider",
	.task_name = "Work ",
	.opcode_name = "win:Start",
	.event_name = "WorkBegins",
	.channel_name = "Test/Operational",
	.keywords = "First; Second ",
	.message = "The path is %13 now",
	.field_count = ARRAY_SIZE(test_fields),
	.top_count = 18,
	.fields = test_fields,
};

static const uint8_t test_payload[] =
	"\x05"                                                             /* Byte */
	"\xFB\xFF\xFF\xFF"                                                 /* Signed: -5 */
	"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"                                 /* Big */
	"\x1F\x00\x00\xC0"                                                 /* Hex */
	"\x00\x00\x00\x00\x00\x00\xF8\x3F"                                 /* Real: 1.5 */
	"\x01\x00\x00\x00"                                                 /* Truth */
	"\x22\x22\x11\x11\x33\x33\x44\x44\x55\x55\x66\x66\x77\x77\x88\x88" /* Id */
	"\x0A\x80\x3E\xD5\xDE\xB1\x9D\x01"                                 /* When: 1970, 1 us */
	"\x0A\x00\x00\x07"                                                 /* Address: 10.0.0.7 */
	"\x01\xBB"                                                         /* Port: 443 */
	"\x04\x00\x00\x00"                                                 /* Colour: Dark Blue */
	"\x03\x00\x00\x00"                                                 /* Flags: Red|Green */
	"C\0:\0\\\0T\0e\0m\0p\0\0\0"                                       /* Path */
	"High\0"                                                           /* level */
	"\x01\x01\x00\x00\x00\x00\x00\x05\x12\x00\x00\x00"                 /* User: S-1-5-18 */
	"\x01\x00\x02\x00\x03\x00"                                         /* List */
	"\x01one\0\x02two\0"                                               /* Pairs */
	"\x09";                                                            /* odd name */

struct typed_event {
	EVENT_RECORD record;
	struct etw_decoding decoding;
	struct etw_program *program; /* NULL without a schema */
	struct etw_walk walk;
};

/* @schema: test_schema or one with its fields; NULL: the event is of an unknown kind */
static inline void typed_event_begin(struct typed_event *event, const struct etw_schema *schema)
{
	memset(event, 0, sizeof(*event));
	event->record.UserData = (void *)(uintptr_t)test_payload;
	event->record.UserDataLength = sizeof(test_payload) - 1;
	event->decoding.record = &event->record;
	event->decoding.schema = schema;
	event->decoding.status = ETW_DECODE_NO_SCHEMA;
	etw_walk_init(&event->walk);
	if (!schema)
		return;
	assert_int_equal(etw_program_compile(schema, 8, &event->program), 0);
	assert_int_equal(etw_program_run(event->program, &event->walk, test_payload,
					 sizeof(test_payload) - 1, &event->decoding),
			 0);
	assert_int_equal(event->decoding.status, ETW_DECODE_COMPLETE);
}

static inline void typed_event_end(struct typed_event *event)
{
	etw_walk_done(&event->walk);
	etw_program_free(event->program);
}

#endif
