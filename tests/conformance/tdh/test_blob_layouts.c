/* SPDX-License-Identifier: MIT */
/*
 * Blobs of events that a manifest, a MOF class or the event itself defines, string by string in the order in which TDH lays them
 * down, and flag by flag. test_genuine_blobs.c holds the same writer against what Windows wrote; here is what no
 * genuine blob shows. Sources: [n] the section of docs/format/contract-tdh.md, [HERE] a decision of this project:
 * docs/design/tdh.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tdh.h>
#include <winerror.h>

#include "base/macros.h"
#include "base/utf.h"
#include "records.h"
#include "registered.h"

#define CONTROLLED "Made-0000abcf-1111-2222-3333-777777777777"

static const char manifest[] =
	"<instrumentationManifest xmlns='http://schemas.microsoft.com/win/2004/08/events'"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='Made' guid='{0000abce-1111-2222-3333-777777777777}' symbol='P'"
	" message='$(string.p)'>"
	"<channels><channel name='Made/Op' chid='C' type='Operational'/></channels>"
	"<tasks><task name='Work' value='3' eventGUID='{0000abcd-1111-2222-3333-777777777777}'>"
	"<opcodes><opcode name='own' value='11'/></opcodes></task></tasks>"
	"<keywords><keyword name='Disk' mask='0x1'/><keyword name='Net' mask='0x4'/></keywords>"
	"<maps><valueMap name='Kinds'><map value='7' message='$(string.one)'/>"
	"<map value='2' message='$(string.two)'/></valueMap>"
	"<bitMap name='Bits'><map value='0x4' message='$(string.one)'/></bitMap></maps>"
	"<templates><template tid='T'>"
	"<data name='Wide' inType='win:UnicodeString'/><data name='Narrow' "
	"inType='win:AnsiString'/>"
	"<data name='I1' inType='win:Int8'/><data name='U1' inType='win:UInt8'/>"
	"<data name='I2' inType='win:Int16'/><data name='U2' inType='win:UInt16'/>"
	"<data name='I4' inType='win:Int32'/><data name='U4' inType='win:UInt32' map='Kinds'/>"
	"<data name='I8' inType='win:Int64'/><data name='U8' inType='win:UInt64'/>"
	"<data name='F4' inType='win:Float'/><data name='F8' inType='win:Double'/>"
	"<data name='Bool' inType='win:Boolean'/>"
	"<data name='Fixed' inType='win:Binary' length='5'/>"
	"<data name='Address' inType='win:Binary' outType='win:IPv6'/>"
	"<data name='Id' inType='win:GUID'/><data name='Pointer' inType='win:Pointer'/>"
	"<data name='When' inType='win:FILETIME'/><data name='Then' inType='win:SYSTEMTIME'/>"
	"<data name='Who' inType='win:SID'/><data name='X4' inType='win:HexInt32' map='Bits'/>"
	"<data name='X8' inType='win:HexInt64'/>"
	"<data name='Told' inType='win:Binary' length='U2'/>"
	"<data name='Four' inType='win:UnicodeString' length='4'/>"
	"<data name='Some' inType='win:UInt16' count='U2'/>"
	"<data name='One' inType='win:UInt16' count='1'/>"
	"<data name='Three' inType='win:UInt16' count='3'/>"
	"<struct name='Pair' count='2'><data name='Left' inType='win:UInt8'/>"
	"<data name='Right' inType='win:UInt8' outType='win:HexInt8'/></struct>"
	"<data name='Last' inType='win:UInt8' outType='xs:boolean'/>"
	"</template>"
	"<template tid='U'><data name='Own' inType='win:UInt32'/>"
	"<UserData><Own xmlns='own'><Value>%1</Value></Own></UserData></template></templates>"
	"<events>"
	"<event value='1' version='2' level='win:Error' channel='C' task='Work' opcode='own'"
	" keywords='Disk Net' template='T' message='$(string.m)' name='First'"
	" attributes='FILE=a.c;LINE=7'/>"
	"<event value='2'/><event value='3' template='U' opcode='win:Info' level='win:LogAlways'/>"
	"</events></provider>"
	"<provider name='" CONTROLLED "' guid='{0000abcf-1111-2222-3333-777777777777}'"
	" controlGuid='{0000abd0-1111-2222-3333-777777777777}' symbol='Q'>"
	"<events><event value='1'/></events></provider>"
	"</events></instrumentation><localization><resources culture='en-US'><stringTable>"
	"<string id='p' value='About'/><string id='one' value='one'/><string id='two' value='two'/>"
	"<string id='m' value='Value %1 of%n100%%'/>"
	"</stringTable></resources></localization></instrumentationManifest>";

static const char mof[] =
	"[Guid(\"{11112222-3333-4444-5555-777777777777}\")] class P : EventTrace {};\n"
	"[Guid(\"{21112222-3333-4444-5555-777777777777}\"), EventVersion(1),"
	" DisplayName(\"Thing\")] class E : P {};\n"
	"[EventType(1), EventTypeName(\"Begin\"), Description(\"About\")] class T : E {\n"
	"[WmiDataId(1), extension(\"Guid\"), ActivityID] object Own;\n"
	"[WmiDataId(2), extension(\"Guid\"), RelatedActivityID] object Other;\n"
	"[WmiDataId(3), XMLFragment] string Text; };\n";

static const GUID made = {
	0x0000abce, 0x1111, 0x2222, {0x33, 0x33, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77}};
static const GUID controlled = {
	0x0000abcf, 0x1111, 0x2222, {0x33, 0x33, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77}};
static const GUID control = {
	0x0000abd0, 0x1111, 0x2222, {0x33, 0x33, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77}};
static const GUID task = {
	0x0000abcd, 0x1111, 0x2222, {0x33, 0x33, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77}};
static const GUID mof_provider = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77}};
static const GUID mof_class = {
	0x21112222, 0x3333, 0x4444, {0x55, 0x55, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77}};

static char folder[] = "/tmp/etw-tdh-layouts-XXXXXX";
static struct made_record record;
static union {
	TRACE_EVENT_INFO info;
	EVENT_MAP_INFO map;
	BYTE bytes[65536];
} out;
static ULONG bytes; /* of the blob */
static ULONG at;    /* where the next string of it belongs */

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || setenv("ETW_PROVIDERS_DIR", folder, 1))
		return -1;
	registered_import(folder, WIRE_REGISTRY_MOF, mof);
	return (int)TdhLoadManifestFromMemory(manifest, sizeof(manifest) - 1);
}

static int end(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return (int)TdhUnloadManifestFromMemory(manifest, sizeof(manifest) - 1) || system(command);
}

/* The next string in the blob is this one, and this is its offset. */
static void expect_text(ULONG offset, const char *expected)
{
	size_t units = etw_utf16_length(out.bytes + offset, (sizeof(out) - offset) / 2);
	char *text = etw_utf16_to_utf8(out.bytes + offset, units);

	if (offset != at || strcmp(text, expected) != 0)
		fail_msg("\"%s\" at %u is not \"%s\" at %u", text, offset, expected, at);
	at += (ULONG)(2 * (units + 1));
	free(text);
}

static void inform(void)
{
	bytes = sizeof(out);
	memset(&out, 0xEE, sizeof(out));
	assert_int_equal(TdhGetEventInformation(&record.record, 0, NULL, &out.info, &bytes), 0);
	at = 112 + 24 * out.info.PropertyCount;
}

static void inform_of(const GUID *provider, USHORT id, UCHAR version)
{
	record_manifest(&record, provider, id, version);
	inform();
}

/* --- [1.3], [2.1], [2.2]: the properties of the manifest's event */

struct property_row {
	const char *name;
	const char *map;
	ULONG flags;
	USHORT in, out, count, length;
};

#define PLAIN(name, in, out, length)                                         \
	{                                                                    \
		name, NULL, 0, TDH_INTYPE_##in, TDH_OUTTYPE_##out, 1, length \
	}

/* [2.2] the out-type is always there; the length of types of one size, 0 of strings that end with a NUL. */
static const struct property_row properties[] = {
	PLAIN("Wide", UNICODESTRING, STRING, 0),
	PLAIN("Narrow", ANSISTRING, STRING, 0),
	PLAIN("I1", INT8, BYTE, 1),
	PLAIN("U1", UINT8, UNSIGNEDBYTE, 1),
	PLAIN("I2", INT16, SHORT, 2),
	PLAIN("U2", UINT16, UNSIGNEDSHORT, 2),
	PLAIN("I4", INT32, INT, 4),
	{"U4", "Kinds", 0, TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT, 1, 4},
	PLAIN("I8", INT64, LONG, 8),
	PLAIN("U8", UINT64, UNSIGNEDLONG, 8),
	PLAIN("F4", FLOAT, FLOAT, 4),
	PLAIN("F8", DOUBLE, DOUBLE, 8),
	PLAIN("Bool", BOOLEAN, BOOLEAN, 4),
	{"Fixed", NULL, PropertyParamFixedLength, TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY, 1, 5},
	PLAIN("Address", BINARY, IPV6, 0),
	PLAIN("Id", GUID, GUID, 16),
	PLAIN("Pointer", POINTER, HEXINT64, 8),
	PLAIN("When", FILETIME, DATETIME, 8),
	PLAIN("Then", SYSTEMTIME, DATETIME, 16),
	PLAIN("Who", SID, STRING, 0),
	{"X4", "Bits", 0, TDH_INTYPE_HEXINT32, TDH_OUTTYPE_HEXINT32, 1, 4},
	PLAIN("X8", HEXINT64, HEXINT64, 8),
	/* An index stands in place of a length or a count. */
	{"Told", NULL, PropertyParamLength, TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY, 1, 5},
	{"Four", NULL, PropertyParamFixedLength, TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_STRING, 1,
	 4},
	{"Some", NULL, PropertyParamCount, TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 5, 2},
	{"One", NULL, PropertyParamFixedCount, TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 1, 2},
	{"Three", NULL, PropertyParamFixedCount, TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT, 3,
	 2},
	/* Where the members begin, and how many they are. */
	{"Pair", NULL, PropertyStruct | PropertyParamFixedCount, 29, 2, 2, 0},
	PLAIN("Last", UINT8, BOOLEAN, 1),
	/* Members lie behind the properties of the top level. */
	PLAIN("Left", UINT8, UNSIGNEDBYTE, 1),
	PLAIN("Right", UINT8, HEXINT8, 1),
};

static void check_property(const struct property_row *row, const EVENT_PROPERTY_INFO *property)
{
	expect_text(property->NameOffset, row->name);
	if (row->map)
		expect_text(property->nonStructType.MapNameOffset, row->map);
	else
		assert_int_equal(property->nonStructType.MapNameOffset, 0);
	if (property->Flags != row->flags || property->nonStructType.InType != row->in ||
	    property->nonStructType.OutType != row->out || property->count != row->count ||
	    property->length != row->length || property->Reserved)
		fail_msg("%s: flags %#x, types %u and %u, count %u, length %u", row->name,
			 property->Flags, property->nonStructType.InType,
			 property->nonStructType.OutType, property->count, property->length);
}

static void test_blob_layouts__manifest_event(void **state)
{
	const TRACE_EVENT_INFO *info = &out.info;

	(void)state;
	inform_of(&made, 1, 2);
	assert_int_equal(info->PropertyCount, ARRAY_SIZE(properties));
	assert_int_equal(info->TopLevelPropertyCount, ARRAY_SIZE(properties) - 2);
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++)
		check_property(&properties[i], &info->EventPropertyInfoArray[i]);
	expect_text(info->ProviderNameOffset, "Made");
	expect_text(info->LevelNameOffset, "win:Error");
	expect_text(info->ChannelNameOffset, "Made/Op");
	expect_text(info->KeywordsNameOffset, "Disk");
	expect_text(at, "Net");
	expect_text(at, "");
	expect_text(info->TaskNameOffset, "Work");
	expect_text(info->OpcodeNameOffset, "own");
	/* One blank behind texts of message tables; inserts stay. */
	expect_text(info->EventMessageOffset, "Value %1 of\r\n100%% ");
	expect_text(info->ProviderMessageOffset, "About ");
	expect_text(info->EventNameOffset, "First");
	expect_text(info->EventAttributesOffset, "FILE=a.c;LINE=7");
	assert_int_equal(bytes, at);
	assert_int_equal(info->DecodingSource, DecodingSourceXMLFile);
	assert_int_equal(info->Flags, TEMPLATE_EVENT_DATA);
	assert_memory_equal(&info->ProviderGuid, &made, sizeof(GUID));
	assert_memory_equal(&info->EventGuid, &task, sizeof(GUID));
	assert_int_equal(info->EventDescriptor.Id, 1);
	assert_int_equal(info->EventDescriptor.Version, 2);
	assert_int_equal(info->EventDescriptor.Level, 2);
	assert_int_equal(info->EventDescriptor.Channel, 16);
	assert_int_equal(info->EventDescriptor.Opcode, 11);
	assert_int_equal(info->EventDescriptor.Task, 3);
	/* The channel has a bit, and no name. */
	assert_true(info->EventDescriptor.Keyword == UINT64_C(0x8000000000000005));
}

/* [2.2]: what the event does not say has offset 0. */
static void test_blob_layouts__bare_event(void **state)
{
	static const GUID none;
	const TRACE_EVENT_INFO *info = &out.info;

	(void)state;
	inform_of(&made, 2, 0);
	assert_int_equal(info->PropertyCount, 0);
	assert_int_equal(info->Flags, 0);
	expect_text(info->ProviderNameOffset, "Made");
	expect_text(info->ProviderMessageOffset, "About ");
	assert_int_equal(bytes, at);
	assert_int_equal(info->LevelNameOffset | info->OpcodeNameOffset | info->ChannelNameOffset |
				 info->KeywordsNameOffset | info->TaskNameOffset |
				 info->EventMessageOffset | info->EventNameOffset |
				 info->EventAttributesOffset | info->BinaryXMLOffset |
				 info->BinaryXMLSize,
			 0);
	assert_memory_equal(&info->EventGuid, &none, sizeof(GUID));
}

/* [2.2]: level 0 and opcode 0 have names, where the event names them. */
static void test_blob_layouts__template_flags(void **state)
{
	(void)state;
	inform_of(&made, 3, 0);
	expect_text(out.info.EventPropertyInfoArray[0].NameOffset, "Own");
	expect_text(out.info.ProviderNameOffset, "Made");
	expect_text(out.info.LevelNameOffset, "win:LogAlways");
	expect_text(out.info.OpcodeNameOffset, "win:Info");
	assert_int_equal(out.info.Flags, TEMPLATE_USER_DATA);
	inform_of(&controlled, 1, 0);
	assert_int_equal(out.info.Flags, TEMPLATE_CONTROL_GUID);
	assert_memory_equal(&out.info.ProviderGuid, &controlled, sizeof(GUID));
	assert_memory_equal(&out.info.EventGuid, &control, sizeof(GUID));
}

static void map_of(const char *name)
{
	WCHAR wide[16];

	record_manifest(&record, &made, 1, 2);
	wide[etw_utf8_put_utf16(name, strlen(name), (uint8_t *)wide)] = 0;
	bytes = sizeof(out);
	memset(&out, 0xEE, sizeof(out));
	assert_int_equal(TdhGetEventMapInformation(&record.record, wide, &out.map, &bytes), 0);
	at = 16 + 8 * (out.map.EntryCount + 1);
	expect_text(out.map.NameOffset, name);
}

/* [2.3]: one entry to spare, the name, the texts in the order of their values, each with its blank. */
static void test_blob_layouts__maps(void **state)
{
	const EVENT_MAP_ENTRY *entries = out.map.MapEntryArray;

	(void)state;
	map_of("Kinds");
	assert_int_equal(out.map.Flag, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(out.map.EntryCount, 2);
	assert_int_equal(out.map.MapEntryValueType, EVENTMAP_ENTRY_VALUETYPE_ULONG);
	assert_int_equal(entries[0].Value, 2);
	assert_int_equal(entries[1].Value, 7);
	expect_text(entries[0].OutputOffset, "two ");
	expect_text(entries[1].OutputOffset, "one ");
	assert_int_equal(bytes, at);
	map_of("Bits");
	assert_int_equal(out.map.Flag, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	assert_int_equal(out.map.EntryCount, 1);
	assert_int_equal(entries[0].Value, 4);
	expect_text(entries[0].OutputOffset, "one ");
}

/* [2.2], MOF: names of the fields that are activities' ids; [1.3] XMLFragment. */
static void test_blob_layouts__class(void **state)
{
	const TRACE_EVENT_INFO *info = &out.info;
	const EVENT_PROPERTY_INFO *property = info->EventPropertyInfoArray;

	(void)state;
	record_classic(&record, &mof_class, 1, 1);
	inform();
	assert_int_equal(info->DecodingSource, DecodingSourceWbem);
	assert_memory_equal(&info->ProviderGuid, &mof_provider, sizeof(GUID));
	assert_memory_equal(&info->EventGuid, &mof_class, sizeof(GUID));
	assert_int_equal(info->PropertyCount, 3);
	expect_text(property[0].NameOffset, "Own");
	expect_text(property[1].NameOffset, "Other");
	expect_text(property[2].NameOffset, "Text");
	assert_int_equal(property[0].Flags | property[1].Flags, 0);
	assert_int_equal(property[2].Flags, PropertyWBEMXmlFragment);
	expect_text(info->ProviderNameOffset, "P");
	expect_text(info->TaskNameOffset, "Thing");
	expect_text(info->OpcodeNameOffset, "Begin");
	expect_text(info->EventMessageOffset, "About");
	expect_text(info->ActivityIDNameOffset, "Own");
	expect_text(info->RelatedActivityIDNameOffset, "Other");
	assert_int_equal(bytes, at);
}

/* [1.3], [2.1], [2.2]: tags of an event and of its fields, and a custom schema, which TraceLogging alone has. */
static void test_blob_layouts__tags_and_custom_schemas(void **state)
{
	/* Tags of the event; two fields: tags; type, protocol 5 with tags, three bytes. */
	static const BYTE metadata[] = "\0\0\1E\0"
				       "a\0\x88\x82\x40"
				       "b\0\xE8\x85\1\3\0\7\x08\x09";
	const EVENT_PROPERTY_INFO *property = out.info.EventPropertyInfoArray;

	(void)state;
	record_tracelogging(&record, "");
	memcpy(record.metadata, metadata, sizeof(metadata) - 1);
	record.metadata[0] = sizeof(metadata) - 1;
	record.items[0].DataSize = sizeof(metadata) - 1;
	inform();
	assert_int_equal(out.info.PropertyCount, 2);
	assert_int_equal(out.info.Flags & 15, TEMPLATE_EVENT_DATA);
	assert_int_equal(out.info.Tags, 1 << 21);
	assert_int_equal(property[0].Flags, PropertyHasTags);
	assert_int_equal(property[0].Tags, 0x40 << 21);
	expect_text(property[0].NameOffset, "a");
	assert_int_equal(property[1].Flags, PropertyHasTags | PropertyHasCustomSchema);
	assert_int_equal(property[1].Tags, 1 << 21);
	assert_int_equal(property[1].customSchemaType.InType, TDH_INTYPE_UINT32);
	assert_int_equal(property[1].customSchemaType.OutType, TDH_OUTTYPE_UNSIGNEDINT);
	expect_text(property[1].NameOffset, "b");
	assert_int_equal(property[1].customSchemaType.CustomSchemaOffset, at);
	assert_memory_equal(out.bytes + at, "\5\0\3\0\7\x08\x09", 8);
	at += 8;
	expect_text(out.info.LevelNameOffset, "win:Informational");
	expect_text(out.info.TaskNameOffset, "E");
	assert_int_equal(bytes, at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blob_layouts__manifest_event),
		cmocka_unit_test(test_blob_layouts__bare_event),
		cmocka_unit_test(test_blob_layouts__template_flags),
		cmocka_unit_test(test_blob_layouts__maps),
		cmocka_unit_test(test_blob_layouts__class),
		cmocka_unit_test(test_blob_layouts__tags_and_custom_schemas),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
