/* SPDX-License-Identifier: MIT */
/*
 * WPP events: decoding handles with their parameters, TdhGetWppProperty and TdhGetWppMessage, and the same events
 * by way of TDH_CONTEXT lists; then a made trace with a TMF file, from end to end. Sources: [3], [6] the
 * sections of docs/format/contract-tdh.md, [DOC] Microsoft's page of the function or structure, [HERE] a decision of this project:
 * docs/design/tdh.md.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/utf.h"
#include "synthetic/pdb_maker.h"
#include "synthetic/presets.h"
#include "synthetic/wpp_messages.h"

#define GUID_TEXT "1d0c5d2b-3c4d-4a5b-8c07-060504030201"
#define HEADER    GUID_TEXT " Driver // SRC=Device.c MJ=Comp MN=Sub\n"

static const char tmf[] = HEADER
	"#typev Device_c41 10 \"%0[%!FUNC!] --> Entry\" // LEVEL=VERBOSE FLAGS=DEVICE FUNC=Add\n"
	"{\n}\n"
	"#typev Device_c57 11 \"%0open %11!s! for %12!p!: %10!x!\" // LEVEL=ERROR FLAGS=IO\n"
	"{\nstatus, ItemNTSTATUS -- 10\npath, ItemString -- 11\nobject, ItemPtr -- 12\n}\n"
	"#typev Device_c80 12 \"%0irql %10!d! name %11!S! ratio %12!.2f!\" // LEVEL=INFO\n"
	"{\nirql, ItemListByte(Low,APC,DPC) -- 10\nname, ItemWString -- 11\n"
	"ratio, ItemDouble -- 12\n}\n"
	"#typev Device_c99 14 \"%0object %10!p!\"\n{\nobject, ItemPtr -- 10\n}\n";

static const char other_tmf[] = HEADER "#typev Device_c41 10 \"%0other\"\n{\n}\n";

static char folder[] = "/tmp/etw-tdh-wpp-XXXXXX";
static TDH_HANDLE handle;
static EVENT_RECORD record;
static EVENT_EXTENDED_ITEM_INSTANCE sequence = {.InstanceId = 77};
static EVENT_HEADER_EXTENDED_DATA_ITEM item;
static BYTE buffer[8192];

static WCHAR *widen(const char *text)
{
	static WCHAR wide[8][256];
	static unsigned next;
	WCHAR *to = wide[next++ % 8];

	to[etw_utf8_put_utf16(text, strlen(text), (uint8_t *)to)] = 0;
	return to;
}

static const char *in_folder(const char *name)
{
	static char path[8][256];
	static unsigned next;
	char *to = path[next++ % 8];

	(void)snprintf(to, sizeof(path[0]), "%s/%s", folder, name);
	return to;
}

static void write_file(const char *name, const void *at, size_t bytes)
{
	FILE *file = fopen(in_folder(name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static TDH_CONTEXT context_of(TDH_CONTEXT_TYPE type, const void *path, ULONGLONG value)
{
	return (TDH_CONTEXT){.ParameterType = type,
			     .ParameterValue = path ? (ULONGLONG)(uintptr_t)path : value};
}

static ULONG set_path(TDH_CONTEXT_TYPE type, const char *path)
{
	TDH_CONTEXT context = context_of(type, path ? widen(path) : NULL, 0);

	return TdhSetDecodingParameter(handle, &context);
}

static ULONG set_number(TDH_CONTEXT_TYPE type, ULONGLONG value)
{
	TDH_CONTEXT context = context_of(type, NULL, value);

	return TdhSetDecodingParameter(handle, &context);
}

static void make_record(USHORT number)
{
	record = wpp_event(&preset_class, number);
	record.EventHeader.KernelTime = 5;
	record.EventHeader.UserTime = 6;
	item.ExtType = EVENT_HEADER_EXT_TYPE_INSTANCE_INFO;
	item.DataSize = sizeof(sequence);
	item.DataPtr = (ULONGLONG)(uintptr_t)&sequence;
	record.ExtendedData = &item;
	record.ExtendedDataCount = 1;
}

static int make_files(void **state)
{
	static char no_folder[] = "TRACE_FORMAT_SEARCH_PATH";

	(void)state;
	(void)unsetenv(no_folder);
	(void)setenv("TZ", "TST-2", 1);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(mkdir(in_folder("found"), 0700), 0);
	assert_int_equal(mkdir(in_folder("empty"), 0700), 0);
	write_file("driver.tmf", tmf, sizeof(tmf) - 1);
	write_file("other.tmf", other_tmf, sizeof(other_tmf) - 1);
	write_file("found/" GUID_TEXT ".tmf", tmf, sizeof(tmf) - 1);
	write_file("bad.tmf", "#typev", 6);
	return 0;
}

static int remove_files(void **state)
{
	char command[256];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static int open_handle(void **state)
{
	(void)state;
	make_record(10);
	return (int)TdhOpenDecodingHandle(&handle);
}

static int close_handle(void **state)
{
	(void)state;
	return (int)TdhCloseDecodingHandle(handle);
}

/* A text of ours, from the UTF-16 in the buffer. */
static const char *text_of(ULONG bytes)
{
	static char texts[4][512];
	static unsigned next;
	char *to = texts[next++ % 4], *text;

	assert_true(bytes >= 2 && bytes % 2 == 0);
	assert_int_equal(buffer[bytes - 2] | buffer[bytes - 1], 0);
	text = etw_utf16_to_utf8(buffer, bytes / 2 - 1);
	(void)snprintf(to, sizeof(texts[0]), "%s", text);
	free(text);
	return to;
}

static ULONG message_size;

static ULONG get_message(void)
{
	message_size = sizeof(buffer);
	return TdhGetWppMessage(handle, &record, &message_size, buffer);
}

static void assert_message(const char *expected)
{
	assert_int_equal(get_message(), ERROR_SUCCESS);
	assert_string_equal(text_of(message_size), expected);
}

static void wpp__handles(void **state)
{
	TDH_CONTEXT gmt = context_of(TDH_CONTEXT_WPP_GMT, NULL, 0);
	TDH_HANDLE first, second;
	ULONG size = 0;

	(void)state;
	/* [3] INVALID_PARAMETER */
	assert_int_equal(TdhOpenDecodingHandle(NULL), 87);
	assert_int_equal(TdhCloseDecodingHandle(NULL), 87);
	assert_int_equal(TdhOpenDecodingHandle(&first), 0);
	assert_int_equal(TdhOpenDecodingHandle(&second), 0);
	assert_ptr_not_equal(first, second);
	assert_int_equal(TdhCloseDecodingHandle(first), 0);
	assert_int_equal(TdhCloseDecodingHandle(first), 87);
	/* [HERE] a closed handle stays closed when its place is taken again. */
	for (unsigned i = 0; i < 100; i++) {
		TDH_HANDLE third;

		assert_int_equal(TdhOpenDecodingHandle(&third), 0);
		assert_ptr_not_equal(third, first);
		assert_int_equal(TdhCloseDecodingHandle(third), 0);
	}
	assert_int_equal(TdhSetDecodingParameter(first, &gmt), 87);
	assert_int_equal(TdhGetDecodingParameter(first, &gmt), 87);
	assert_int_equal(TdhGetWppMessage(first, &record, &size, NULL), 87);
	assert_int_equal(TdhGetWppProperty(first, &record, widen("Version"), &size, NULL), 87);
	assert_int_equal(TdhSetDecodingParameter((TDH_HANDLE)(uintptr_t)0xFFFFFFFF, &gmt), 87);
	assert_int_equal(TdhCloseDecodingHandle(second), 0);
}

/* [HERE] there may be 4096 at a time. */
static void wpp__too_many_handles(void **state)
{
	static TDH_HANDLE many[4096];
	TDH_HANDLE more;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		assert_int_equal(TdhOpenDecodingHandle(&many[i]), 0);
	assert_int_equal(TdhOpenDecodingHandle(&more), ERROR_NOT_ENOUGH_MEMORY);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		assert_int_equal(TdhCloseDecodingHandle(many[i]), 0);
}

/* Each type of parameter: what it refuses, and that it comes back. */
static void wpp__parameters(void **state)
{
	static const struct {
		TDH_CONTEXT_TYPE type;
		ULONGLONG value;
		ULONG error;
		const char *source;
	} rows[] = {
		{TDH_CONTEXT_WPP_GMT, 1, 0, "[DOC]"},
		{TDH_CONTEXT_WPP_GMT, 0, 0, "[DOC]"},
		{TDH_CONTEXT_WPP_GMT, 2, 87, "[HERE]"},
		{TDH_CONTEXT_POINTERSIZE, 4, 0, "[DOC]"},
		{TDH_CONTEXT_POINTERSIZE, 8, 0, "[DOC]"},
		{TDH_CONTEXT_POINTERSIZE, 0, 87, "[HERE]"},
		{TDH_CONTEXT_POINTERSIZE, 5, 87, "[HERE]"},
		{TDH_CONTEXT_WPP_TMFFILE, 0, 87, "[3]"},
		{TDH_CONTEXT_WPP_TMFSEARCHPATH, 0, 87, "[3]"},
		{TDH_CONTEXT_PDB_PATH, 0, 87, "[3]"},
		{TDH_CONTEXT_MAXIMUM, 0, 87, "[3]"},
	};
	TDH_CONTEXT back;

	(void)state;
	/* [HERE] unset: no path, local time, this machine's pointers. */
	back = context_of(TDH_CONTEXT_WPP_TMFFILE, NULL, 0);
	assert_int_equal(TdhGetDecodingParameter(handle, &back), 87);
	back.ParameterType = TDH_CONTEXT_WPP_TMFSEARCHPATH;
	assert_int_equal(TdhGetDecodingParameter(handle, &back), 87);
	back.ParameterType = TDH_CONTEXT_PDB_PATH;
	assert_int_equal(TdhGetDecodingParameter(handle, &back), 87);
	back.ParameterType = TDH_CONTEXT_MAXIMUM;
	assert_int_equal(TdhGetDecodingParameter(handle, &back), 87);
	back.ParameterType = TDH_CONTEXT_POINTERSIZE;
	assert_int_equal(TdhGetDecodingParameter(handle, &back), 0);
	assert_int_equal(back.ParameterValue, sizeof(void *));
	assert_int_equal(TdhGetDecodingParameter(handle, NULL), 87);
	assert_int_equal(TdhSetDecodingParameter(handle, NULL), 87);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(set_number(rows[i].type, rows[i].value), rows[i].error);
		if (rows[i].error)
			continue;
		back = context_of(rows[i].type, NULL, 99);
		assert_int_equal(TdhGetDecodingParameter(handle, &back), 0);
		assert_int_equal(back.ParameterValue, rows[i].value);
	}
}

/* [3] a path that does not exist; [DOC] folders apart by semicolons, TRACE_FORMAT_SEARCH_PATH. */
static void wpp__paths(void **state)
{
	TDH_CONTEXT back = context_of(TDH_CONTEXT_WPP_TMFFILE, NULL, 0);
	const char *found = in_folder("found");
	char several[512];

	(void)state;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("none.tmf")), 87);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, found), 87);
	assert_int_equal(set_path(TDH_CONTEXT_PDB_PATH, in_folder("none.pdb")), 87);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, in_folder("none")), 87);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, ";;"), 87);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	assert_int_equal(TdhGetDecodingParameter(handle, &back), 0);
	assert_memory_equal((const void *)(uintptr_t)back.ParameterValue,
			    widen(in_folder("driver.tmf")),
			    2 * (strlen(in_folder("driver.tmf")) + 1));
	/* A name without a folder, in the search path and in the environment. */
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, "driver.tmf"), 87);
	(void)snprintf(several, sizeof(several), "%s/none;;%s", folder, folder);
	assert_int_equal(setenv("TRACE_FORMAT_SEARCH_PATH", several, 1), 0);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, "driver.tmf"), 0);
	assert_message("[Add] --> Entry");
	assert_int_equal(unsetenv("TRACE_FORMAT_SEARCH_PATH"), 0);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, several), 0);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, "other.tmf"), 0);
	assert_message("other");
}

/* Where messages are looked for, and that what was read goes with the parameter. */
static void wpp__lookup(void **state)
{
	char here[256];

	(void)state;
	/* [3] NOT_FOUND: nobody describes it; it is no WPP event. */
	assert_int_equal(get_message(), ERROR_NOT_FOUND);
	record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER;
	assert_int_equal(get_message(), ERROR_NOT_FOUND);
	make_record(10);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, in_folder("empty")), 0);
	assert_int_equal(get_message(), ERROR_NOT_FOUND);
	/* [3] only <message-guid>.tmf counts. */
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, folder), 0);
	assert_int_equal(get_message(), ERROR_NOT_FOUND);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, in_folder("found")), 0);
	assert_message("[Add] --> Entry");
	/* [HERE] the file that is named goes before the search path. */
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("other.tmf")), 0);
	assert_message("other");
	make_record(14);
	record.UserData = (PVOID)(uintptr_t) "\1\2\3\4\5\6\7\10";
	record.UserDataLength = 8;
	assert_message("object 0807060504030201");
	make_record(13);
	assert_int_equal(get_message(), ERROR_NOT_FOUND);
	/* [HERE] a file that cannot be read says so; one that is gone likewise. */
	make_record(10);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, in_folder("empty")), 0);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("bad.tmf")), 0);
	assert_int_equal(get_message(), ERROR_FILE_CORRUPT);
	write_file("gone.tmf", tmf, sizeof(tmf) - 1);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("gone.tmf")), 0);
	assert_int_equal(unlink(in_folder("gone.tmf")), 0);
	assert_int_equal(get_message(), ERROR_FILE_NOT_FOUND);
	assert_int_equal(close_handle(NULL) | open_handle(NULL), 0);
	/* [DOC] the current folder. */
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(in_folder("found")), 0);
	assert_message("[Add] --> Entry");
	assert_int_equal(chdir(here), 0);
	/* [HERE] read once: the file may go. */
	assert_message("[Add] --> Entry");
}

/* [DOC] a PDB in place of a TMF file. */
static void wpp__pdb(void **state)
{
	static const char *const strings[] = {
		"TMF:",
		GUID_TEXT " Driver // SRC=Device.c MJ= MN=",
		"#typev Device_c41 10 \"%0from the PDB\" //   LEVEL=VERBOSE",
		"{",
		"}",
		NULL};
	static struct pdb_maker maker;
	uint8_t *at;
	size_t bytes;

	(void)state;
	pdb_begin(&maker, &preset_class, 1);
	pdb_add_module(&maker);
	pdb_add_annotation(&maker, strings);
	pdb_end_modules(&maker);
	at = pdb_finish(&maker, &bytes);
	write_file("driver.pdb", at, bytes);
	free(at);
	assert_int_equal(set_path(TDH_CONTEXT_PDB_PATH, in_folder("driver.pdb")), 0);
	assert_message("from the PDB");
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("other.tmf")), 0);
	assert_message("other");
	assert_int_equal(set_path(TDH_CONTEXT_PDB_PATH, in_folder("bad.tmf")), 0);
	make_record(14);
	assert_int_equal(get_message(), ERROR_FILE_CORRUPT);
}

struct property_row {
	const char *name;
	USHORT in_type;
	const char *text; /* of texts */
	uint64_t number;  /* of the others: their first bytes */
	ULONG bytes;
};

/* [6], in its order. */
static const struct property_row properties[] = {
	{"Version", TDH_INTYPE_UINT32, NULL, 0, 4},
	{"TraceGuid", TDH_INTYPE_GUID, NULL, UINT64_C(0x4a5b3c4d1d0c5d2b), 16},
	{"GuidName", TDH_INTYPE_UNICODESTRING, "Driver", 0, 0},
	{"GuidTypeName", TDH_INTYPE_UNICODESTRING, "Device_c41", 0, 0},
	{"ThreadId", TDH_INTYPE_UINT32, NULL, 0xB10, 4},
	{"SystemTime", TDH_INTYPE_SYSTEMTIME, NULL, UINT64_C(0x00100003000707D3), 16},
	{"UserTime", TDH_INTYPE_UINT32, NULL, 6, 4},
	{"KernelTime", TDH_INTYPE_UINT32, NULL, 5, 4},
	{"SequenceNum", TDH_INTYPE_UINT32, NULL, 77, 4},
	{"ProcessId", TDH_INTYPE_UINT32, NULL, 0xA5C, 4},
	{"CpuNumber", TDH_INTYPE_UINT32, NULL, 3, 4},
	{"Indent", TDH_INTYPE_UINT32, NULL, 0, 4},
	{"FlagsName", TDH_INTYPE_UNICODESTRING, "DEVICE", 0, 0},
	{"LevelName", TDH_INTYPE_UNICODESTRING, "VERBOSE", 0, 0},
	{"FunctionName", TDH_INTYPE_UNICODESTRING, "Add", 0, 0},
	{"ComponentName", TDH_INTYPE_UNICODESTRING, "Comp", 0, 0},
	{"SubComponentName", TDH_INTYPE_UNICODESTRING, "Sub", 0, 0},
	{"FormattedString", TDH_INTYPE_UNICODESTRING, "[Add] --> Entry", 0, 0},
	{"RawSystemTime", TDH_INTYPE_FILETIME, NULL, UINT64_C(127028425534560000), 8},
	{"ProviderGuid", TDH_INTYPE_GUID, NULL, 0, 16},
};

static void assert_property(const struct property_row *row, ULONG bytes)
{
	if (row->text) {
		assert_string_equal(text_of(bytes), row->text);
		return;
	}
	assert_int_equal(bytes, row->bytes);
	assert_int_equal(bytes == 4 ? etw_load32(buffer) : etw_load64(buffer), row->number);
}

static void wpp__properties(void **state)
{
	(void)state;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	assert_int_equal(set_number(TDH_CONTEXT_WPP_GMT, 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		const struct property_row *row = &properties[i];
		ULONG needed = 0, size;

		/* [DOC] called twice. */
		assert_int_equal(
			TdhGetWppProperty(handle, &record, widen(row->name), &needed, NULL),
			ERROR_INSUFFICIENT_BUFFER);
		size = needed - 1;
		assert_int_equal(
			TdhGetWppProperty(handle, &record, widen(row->name), &size, buffer),
			ERROR_INSUFFICIENT_BUFFER);
		assert_int_equal(size, needed);
		memset(buffer, 0xEE, sizeof(buffer));
		assert_int_equal(
			TdhGetWppProperty(handle, &record, widen(row->name), &size, buffer),
			ERROR_SUCCESS);
		assert_int_equal(buffer[size], 0xEE);
		assert_property(row, size);
	}
	print_message("%zu properties\n", ARRAY_SIZE(properties));
}

/* [DOC]: local time unless WPP_GMT says otherwise; the zone of this test is two hours ahead. */
static void wpp__local_time(void **state)
{
	ULONG size = sizeof(buffer);
	WCHAR *name = widen("SystemTime");

	(void)state;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	assert_int_equal(TdhGetWppProperty(handle, &record, name, &size, buffer), 0);
	assert_int_equal(etw_load16(buffer + 8), 17);
	assert_int_equal(set_number(TDH_CONTEXT_WPP_GMT, 1), 0);
	assert_int_equal(TdhGetWppProperty(handle, &record, name, &size, buffer), 0);
	assert_int_equal(etw_load16(buffer + 8), 15);
	assert_int_equal(etw_load16(buffer + 10), 22);
	assert_int_equal(etw_load16(buffer + 12), 33);
	assert_int_equal(etw_load16(buffer + 14), 456);
}

/* [HERE] a time that is no date has zeros in the place of one, in any zone. */
static void wpp__times_that_are_none(void **state)
{
	static const uint8_t zeros[16];
	static const int64_t times[] = {INT64_MIN, -1, INT64_MAX};
	WCHAR *name = widen("SystemTime");

	(void)state;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		ULONG size = sizeof(buffer);

		record.EventHeader.TimeStamp.QuadPart = times[i];
		assert_int_equal(TdhGetWppProperty(handle, &record, name, &size, buffer), 0);
		assert_int_equal(size, sizeof(zeros));
		if (times[i] < 0)
			assert_memory_equal(buffer, zeros, sizeof(zeros));
		assert_int_equal(get_message(), ERROR_SUCCESS);
	}
}

static void wpp__errors_of_properties(void **state)
{
	WCHAR *name = widen("Version");
	ULONG size = sizeof(buffer);

	(void)state;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	/* INVALID_PARAMETER [DOC] */
	assert_int_equal(TdhGetWppProperty(NULL, &record, name, &size, buffer), 87);
	assert_int_equal(TdhGetWppProperty(handle, NULL, name, &size, buffer), 87);
	assert_int_equal(TdhGetWppProperty(handle, &record, NULL, &size, buffer), 87);
	assert_int_equal(TdhGetWppProperty(handle, &record, name, NULL, buffer), 87);
	assert_int_equal(TdhGetWppProperty(handle, &record, name, &size, NULL), 87);
	assert_int_equal(TdhGetWppMessage(NULL, &record, &size, buffer), 87);
	assert_int_equal(TdhGetWppMessage(handle, NULL, &size, buffer), 87);
	assert_int_equal(TdhGetWppMessage(handle, &record, NULL, buffer), 87);
	assert_int_equal(TdhGetWppMessage(handle, &record, &size, NULL), 87);
	/* NOT_FOUND [DOC]; names have their case. */
	assert_int_equal(TdhGetWppProperty(handle, &record, widen("version"), &size, buffer), 1168);
	assert_int_equal(TdhGetWppProperty(handle, &record, widen(""), &size, buffer), 1168);
	/* [HERE] a message that was written without a number. */
	record.ExtendedDataCount = 0;
	assert_int_equal(TdhGetWppProperty(handle, &record, widen("SequenceNum"), &size, buffer),
			 1168);
	/* INSUFFICIENT_BUFFER [DOC] */
	size = 0;
	assert_int_equal(TdhGetWppMessage(handle, &record, &size, NULL), 122);
	assert_int_equal(size, sizeof("[Add] --> Entry") * 2);
	size--;
	assert_int_equal(TdhGetWppMessage(handle, &record, &size, buffer), 122);
	/* [HERE] what the message does not say is empty. */
	make_record(14);
	size = sizeof(buffer);
	assert_int_equal(TdhGetWppProperty(handle, &record, widen("FunctionName"), &size, buffer),
			 0);
	assert_string_equal(text_of(size), "");
}

/* [DOC] POINTERSIZE is for events that do not tell. */
static void wpp__pointer_size(void **state)
{
	(void)state;
	make_record(14);
	record.UserData = (PVOID)(uintptr_t) "\1\2\3\4\5\6\7\10";
	record.UserDataLength = 8;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	assert_int_equal(set_number(TDH_CONTEXT_POINTERSIZE, 4), 0);
	assert_message("object 0807060504030201");
	record.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
	assert_message("object 04030201");
	assert_int_equal(set_number(TDH_CONTEXT_POINTERSIZE, 8), 0);
	assert_message("object 0807060504030201");
}

/* A wide copy that later calls of widen() leave alone. */
static void keep(WCHAR *to, const char *text)
{
	memcpy(to, widen(text), 2 * (strlen(text) + 1));
}

/* The same by TDH_CONTEXT lists: [3], [6]. */
static void wpp__contexts(void **state)
{
	static WCHAR driver[256], found[256];
	TDH_CONTEXT file = context_of(TDH_CONTEXT_WPP_TMFFILE, driver, 0);
	TDH_CONTEXT path = context_of(TDH_CONTEXT_WPP_TMFSEARCHPATH, found, 0);
	const TRACE_EVENT_INFO *info = (const void *)buffer;
	PROPERTY_DATA_DESCRIPTOR descriptor = {.ArrayIndex = UINT32_MAX};
	ULONG needed = 0, size;

	(void)state;
	keep(driver, in_folder("driver.tmf"));
	keep(found, in_folder("found"));
	assert_int_equal(TdhGetEventInformation(&record, 0, NULL, NULL, &needed), 1168);
	assert_int_equal(TdhGetEventInformation(&record, 1, &path, NULL, &needed), 122);
	size = needed - 1;
	assert_int_equal(TdhGetEventInformation(&record, 1, &file, (void *)buffer, &size), 122);
	assert_int_equal(TdhGetEventInformation(&record, 1, &file, (void *)buffer, &size), 0);
	assert_int_equal(size, needed);
	assert_int_equal(info->DecodingSource, DecodingSourceWPP);
	assert_true(etw_guid_is_null(&info->ProviderGuid));
	assert_memory_equal(&info->EventGuid, &preset_class, sizeof(GUID));
	assert_int_equal(info->EventDescriptor.Id, 10);
	assert_int_equal(info->PropertyCount, ARRAY_SIZE(properties));
	assert_int_equal(info->TopLevelPropertyCount, ARRAY_SIZE(properties));
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		const EVENT_PROPERTY_INFO *property = &info->EventPropertyInfoArray[i];

		assert_int_equal(property->nonStructType.InType, properties[i].in_type);
		assert_memory_equal(buffer + property->NameOffset, widen(properties[i].name),
				    2 * (strlen(properties[i].name) + 1));
	}
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		descriptor.PropertyName = (ULONGLONG)(uintptr_t)widen(properties[i].name);
		assert_int_equal(TdhGetPropertySize(&record, 1, &path, 1, &descriptor, &size), 0);
		assert_int_equal(
			TdhGetProperty(&record, 1, &path, 1, &descriptor, size - 1, buffer), 122);
		assert_int_equal(TdhGetProperty(&record, 1, &path, 1, &descriptor, size, buffer),
				 0);
		/* Lists do not say UTC: [3]. */
		if (strcmp(properties[i].name, "SystemTime") != 0)
			assert_property(&properties[i], size);
		else
			assert_int_equal(etw_load16(buffer + 8), 17);
	}
	/* [6] one descriptor, of what is no array. */
	assert_int_equal(TdhGetPropertySize(&record, 1, &path, 2, &descriptor, &size), 87);
	descriptor.ArrayIndex = 1;
	assert_int_equal(TdhGetPropertySize(&record, 1, &path, 1, &descriptor, &size), 87);
	descriptor = (PROPERTY_DATA_DESCRIPTOR){0};
	assert_int_equal(TdhGetPropertySize(&record, 1, &path, 1, &descriptor, &size), 87);
	descriptor.PropertyName = (ULONGLONG)(uintptr_t)widen("Nothing");
	assert_int_equal(TdhGetPropertySize(&record, 1, &path, 1, &descriptor, &size), 1168);
	assert_int_equal(TdhGetProperty(&record, 1, &path, 1, &descriptor, 8192, buffer), 1168);
	size = sizeof(buffer);
	/* [3] maps are not for WPP. */
	assert_int_equal(TdhGetEventMapInformation(&record, widen("Map"), (void *)buffer, &size),
			 1168);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
}

/* [HERE] More lists than the process keeps symbols for. */
static void wpp__many_contexts(void **state)
{
	char name[32];

	(void)state;
	for (unsigned i = 0; i < 80; i++) {
		TDH_CONTEXT file;
		ULONG size = 0;

		(void)snprintf(name, sizeof(name), "many%u.tmf", i % 40);
		write_file(name, tmf, sizeof(tmf) - 1);
		file = context_of(TDH_CONTEXT_WPP_TMFFILE, widen(in_folder(name)), 0);
		assert_int_equal(TdhGetEventInformation(&record, 1, &file, NULL, &size), 122);
	}
}

/* --- From end to end */

static unsigned seen;

static VOID WINAPI count_message(PEVENT_RECORD event)
{
	static const char *const expected[] = {
		"[Add] --> Entry",
		"open path with \"quotes\" for FFFF95820BE02120: c0000022",
		"irql 2 name wide ratio 1.50",
		"irql 1 name cut ratio ***parameter 12: the payload ends within this field***",
		NULL,
		"object 80001000",
	};
	ULONG size = sizeof(buffer), error;

	if (!(event->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE))
		return;
	assert_true(seen < ARRAY_SIZE(expected));
	error = TdhGetWppMessage(handle, event, &size, buffer);
	assert_int_equal(error, expected[seen] ? ERROR_SUCCESS : ERROR_NOT_FOUND);
	if (!error) {
		assert_string_equal(text_of(size), expected[seen]);
		size = sizeof(buffer);
		assert_int_equal(
			TdhGetWppProperty(handle, event, widen("SequenceNum"), &size, buffer), 0);
		assert_int_equal(etw_load32(buffer), 1);
	}
	seen++;
}

static void wpp__trace(void **state)
{
	FILE *file = fopen(in_folder("wpp.etl"), "w+b");
	EVENT_TRACE_LOGFILEW logfile = {
		.LogFileName = widen(in_folder("wpp.etl")),
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = count_message,
	};
	TRACEHANDLE trace;

	(void)state;
	assert_non_null(file);
	preset_write(preset_find("wpp"), file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, in_folder("found")), 0);
	trace = OpenTraceW(&logfile);
	assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), 0);
	assert_int_equal(CloseTrace(trace), 0);
	assert_int_equal(seen, 6);
}

/* --- Threads: [HERE] any thread may use any handle, also while others close theirs */

static void *decode_in_turns(void *argument)
{
	static BYTE room[4][512];
	BYTE *to = room[*(const unsigned *)argument];

	for (unsigned i = 0; i < 300; i++) {
		ULONG size = sizeof(room[0]);
		TDH_HANDLE own;

		if (TdhGetWppMessage(handle, &record, &size, to) ||
		    size != sizeof("[Add] --> Entry") * 2)
			return argument;
		if (TdhOpenDecodingHandle(&own) || TdhCloseDecodingHandle(own))
			return argument;
	}
	return NULL;
}

static void wpp__threads(void **state)
{
	static unsigned numbers[4] = {0, 1, 2, 3};
	pthread_t threads[4];

	(void)state;
	assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFSEARCHPATH, in_folder("found")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, decode_in_turns, &numbers[i]),
				 0);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(set_path(TDH_CONTEXT_WPP_TMFFILE, in_folder("driver.tmf")), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		void *failed;

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wpp__handles),
		cmocka_unit_test(wpp__too_many_handles),
		cmocka_unit_test_setup_teardown(wpp__parameters, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__paths, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__lookup, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__pdb, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__properties, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__local_time, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__times_that_are_none, open_handle,
						close_handle),
		cmocka_unit_test_setup_teardown(wpp__errors_of_properties, open_handle,
						close_handle),
		cmocka_unit_test_setup_teardown(wpp__pointer_size, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__contexts, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__many_contexts, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__trace, open_handle, close_handle),
		cmocka_unit_test_setup_teardown(wpp__threads, open_handle, close_handle),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
