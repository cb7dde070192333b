/* SPDX-License-Identifier: MIT */
/*
 * TdhGetEventInformation and TdhGetEventMapInformation: layout and contents of the blobs for each source of
 * schemas, the protocol of buffers, and what a trace teaches. Sources: [n] the section of
 * docs/format/contract-tdh.md,
 * [HERE] a decision of this project.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>

#include "base/utf.h"
#include "records.h"

static struct made_record made;
static union {
	TRACE_EVENT_INFO info;
	EVENT_MAP_INFO map;
	BYTE bytes[65536];
} out;

static const GUID process_class = {
	0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};
static const GUID stack_walk_class = {
	0xdef2fe46, 0x7bd6, 0x4b80, {0xbd, 0x94, 0xf5, 0x7f, 0xe2, 0x0d, 0x0c, 0xe3}};
static const GUID thread_class = {
	0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* The string at an offset of the blob, as UTF-8 in a static buffer; NULL for offset 0. */
static const char *text_at(ULONG offset)
{
	static char texts[8][256];
	static unsigned next;
	char *to = texts[next++ % 8], *text;
	size_t units = 0;

	if (!offset)
		return NULL;
	units = etw_utf16_length(out.bytes + offset, (sizeof(out) - offset) / 2);
	text = etw_utf16_to_utf8(out.bytes + offset, units);
	(void)snprintf(to, sizeof(texts[0]), "%s", text);
	free(text);
	return to;
}

/* By the protocol: the needed size first, one byte less is too little, the size itself is enough. */
static ULONG inform(EVENT_RECORD *record)
{
	ULONG needed = 0, size;

	assert_int_equal(TdhGetEventInformation(record, 0, NULL, NULL, &needed),
			 ERROR_INSUFFICIENT_BUFFER);
	size = needed - 1;
	assert_int_equal(TdhGetEventInformation(record, 0, NULL, &out.info, &size),
			 ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, needed);
	memset(&out, 0xEE, sizeof(out));
	size = sizeof(out);
	assert_int_equal(TdhGetEventInformation(record, 0, NULL, &out.info, &size), ERROR_SUCCESS);
	assert_int_equal(size, needed);
	assert_int_equal(out.bytes[needed], 0xEE);
	return needed;
}

static const char *property_name(ULONG index)
{
	return text_at(out.info.EventPropertyInfoArray[index].NameOffset);
}

/* [2.2], [5.3]: head, order and placement of strings; the synthesised length of binary data. */
static void information__tracelogging(void **state)
{
	const EVENT_PROPERTY_INFO *property = out.info.EventPropertyInfoArray;
	ULONG bytes;

	(void)state;
	record_tracelogging(&made, "Hello");
	record_field(&made, "Number", TDH_INTYPE_UINT32, 0, 0);
	record_field(&made, "Blob", TDH_INTYPE_BINARY, 0, 0);
	record_field(&made, "List", TDH_INTYPE_UINT16 | 0x40, 0, 0);
	record_field(&made, "Fixed", TDH_INTYPE_UINT8 | 0x20, 0, 3);
	record_field(&made, "Outer", 24, 1, 0);
	record_field(&made, "Inner", 24, 1, 0);
	record_field(&made, "Leaf", TDH_INTYPE_INT8, 0, 0);
	bytes = inform(&made.record);
	assert_int_equal(out.info.DecodingSource, DecodingSourceTlg);
	assert_memory_equal(&out.info.ProviderGuid, &made.record.EventHeader.ProviderId, 16);
	assert_memory_equal(&out.info.EventDescriptor, &made.record.EventHeader.EventDescriptor,
			    sizeof(EVENT_DESCRIPTOR));
	assert_string_equal(text_at(out.info.TaskNameOffset), "Hello");
	assert_int_equal(out.info.EventNameOffset, out.info.TaskNameOffset);
	assert_string_equal(text_at(out.info.LevelNameOffset), "win:Informational");
	assert_int_equal(out.info.EventMessageOffset, 0);
	assert_int_equal(out.info.BinaryXMLOffset, 0);
	assert_int_equal(out.info.Flags, TEMPLATE_EVENT_DATA);
	assert_int_equal(out.info.TopLevelPropertyCount, 7);
	assert_int_equal(out.info.PropertyCount, 9);
	assert_int_equal(property[0].NameOffset, 112 + 24 * 9);
	assert_int_equal(property[1].NameOffset, 112 + 24 * 9 + sizeof("Number") * 2);
	assert_string_equal(property_name(1), "Blob.Length");
	assert_int_equal(property[1].nonStructType.InType, TDH_INTYPE_UINT16);
	assert_string_equal(property_name(2), "Blob");
	assert_int_equal(property[2].Flags, PropertyParamLength);
	assert_int_equal(property[2].lengthPropertyIndex, 1);
	assert_string_equal(property_name(3), "List.Count");
	assert_int_equal(property[4].Flags, PropertyParamCount);
	assert_int_equal(property[4].countPropertyIndex, 3);
	assert_int_equal(property[5].Flags, PropertyParamFixedCount);
	assert_int_equal(property[5].count, 3);
	assert_int_equal(property[6].Flags, PropertyStruct);
	assert_int_equal(property[6].structType.StructStartIndex, 7);
	assert_int_equal(property[6].structType.NumOfStructMembers, 1);
	assert_int_equal(property[7].structType.StructStartIndex, 8);
	assert_string_equal(property_name(8), "Leaf");
	assert_int_equal(property[0].nonStructType.OutType, TDH_OUTTYPE_UNSIGNEDINT);
	/* The last string ends the blob. */
	assert_true(bytes > out.info.TaskNameOffset);
}

/* [2.2]: a class; GUIDs, names, and the descriptor of the event at hand. */
static void information__class(void **state)
{
	(void)state;
	record_classic(&made, &process_class, 1, 4);
	made.record.EventHeader.EventDescriptor.Level = 3;
	(void)inform(&made.record);
	assert_int_equal(out.info.DecodingSource, DecodingSourceWbem);
	assert_memory_equal(&out.info.EventGuid, &process_class, 16);
	assert_memory_equal(&out.info.ProviderGuid, &SystemTraceControlGuid, 16);
	assert_string_equal(text_at(out.info.ProviderNameOffset), "MSNT_SystemTrace");
	assert_string_equal(text_at(out.info.TaskNameOffset), "Process");
	assert_string_equal(text_at(out.info.OpcodeNameOffset), "Start");
	assert_int_equal(out.info.EventDescriptor.Opcode, 1);
	assert_int_equal(out.info.EventDescriptor.Version, 4);
	assert_int_equal(out.info.EventDescriptor.Level, 3);
	assert_int_equal(out.info.ActivityIDNameOffset, 0);
	assert_string_equal(property_name(0), "UniqueProcessKey");
	assert_int_equal(out.info.EventPropertyInfoArray[0].nonStructType.InType,
			 TDH_INTYPE_POINTER);
}

/* [HERE]: an array that goes to the end of the payload has as many elements as the event at hand. */
static void information__count_of_event(void **state)
{
	static const BYTE payload[16 + 3 * 8];
	ULONG last;

	(void)state;
	record_classic(&made, &stack_walk_class, 32, 2);
	record_put(&made, payload, sizeof(payload));
	(void)inform(&made.record);
	last = out.info.TopLevelPropertyCount - 1;
	assert_int_equal(out.info.EventPropertyInfoArray[last].count, 3);
	assert_int_equal(out.info.EventPropertyInfoArray[last].Flags, PropertyParamFixedCount);
	made.record.UserDataLength = 16 + 8;
	(void)inform(&made.record);
	assert_int_equal(out.info.EventPropertyInfoArray[last].count, 1);
}

/* [HERE]: fields that an older kernel did not write yet are left out where the payload ends before them. */
static void information__absent_fields(void **state)
{
	static const BYTE payload[128];
	ULONG all;

	(void)state;
	record_classic(&made, &thread_class, 36, 1);
	record_put(&made, payload, 20);
	(void)inform(&made.record);
	all = out.info.TopLevelPropertyCount;
	assert_string_equal(property_name(all - 1), "NewThreadWaitTime");
	made.record.UserDataLength = 16;
	(void)inform(&made.record);
	assert_int_equal(out.info.TopLevelPropertyCount, all - 1);
	assert_int_equal(out.info.PropertyCount, all - 1);
	/* A payload that ends within the others is cut: everything is named. */
	made.record.UserDataLength = 10;
	(void)inform(&made.record);
	assert_int_equal(out.info.TopLevelPropertyCount, all);
}

/* What the callbacks of the file saw. */
static struct {
	TDHSTATUS status;
	unsigned events;
	unsigned maps;
} seen;

static const WCHAR *kind_map(void)
{
	static const WCHAR name[] = {'K', 'i', 'n', 'd', 'M', 'a', 'p', 0};

	return name;
}

static ULONG map_of(EVENT_RECORD *record)
{
	ULONG size = sizeof(out);

	return TdhGetEventMapInformation(record, (LPWSTR)(uintptr_t)kind_map(), &out.map, &size);
}

static VOID WINAPI on_record(EVENT_RECORD *record)
{
	ULONG size = sizeof(out);

	if (memcmp(&record->EventHeader.ProviderId, &record_provider, sizeof(GUID)))
		return;
	seen.events++;
	seen.status = TdhGetEventInformation(record, 0, NULL, &out.info, &size);
	seen.maps += map_of(record) == ERROR_SUCCESS;
}

/* [2.2]: a description of a manifest's event, that lies behind the event in its file. */
static void check_described(EVENT_RECORD *record)
{
	const EVENT_PROPERTY_INFO *property = out.info.EventPropertyInfoArray;

	(void)inform(record);
	assert_int_equal(out.info.DecodingSource, DecodingSourceXMLFile);
	assert_string_equal(text_at(out.info.ProviderNameOffset), "Some-Provider");
	assert_string_equal(text_at(out.info.LevelNameOffset), "win:Error");
	assert_string_equal(text_at(out.info.OpcodeNameOffset), "win:Start");
	/* A multi-string: names, each with its NUL, and an empty one. */
	assert_string_equal(text_at(out.info.KeywordsNameOffset), "One");
	assert_string_equal(text_at(out.info.KeywordsNameOffset + 8), "Two");
	assert_string_equal(text_at(out.info.KeywordsNameOffset + 16), "");
	assert_int_equal(out.info.TaskNameOffset, out.info.KeywordsNameOffset + 18);
	/* The blank of the message's line end. */
	assert_string_equal(text_at(out.info.EventMessageOffset), "Value %1  ");
	assert_string_equal(text_at(out.info.EventNameOffset), "Name");
	assert_string_equal(text_at(property[1].nonStructType.MapNameOffset), "KindMap");
	assert_int_equal(property[1].nonStructType.MapNameOffset, property[1].NameOffset + 10);
	assert_int_equal(out.info.Flags, TEMPLATE_EVENT_DATA);
}

/* [2.3], [7.4]: one spare entry, then the name and the texts, each with its blank. */
static void check_map(EVENT_RECORD *record)
{
	const EVENT_MAP_ENTRY *entries = out.map.MapEntryArray;
	ULONG size = 0, needed;

	assert_int_equal(
		TdhGetEventMapInformation(record, (LPWSTR)(uintptr_t)kind_map(), NULL, &size),
		ERROR_INSUFFICIENT_BUFFER);
	needed = size--;
	assert_int_equal(
		TdhGetEventMapInformation(record, (LPWSTR)(uintptr_t)kind_map(), &out.map, &size),
		ERROR_INSUFFICIENT_BUFFER);
	assert_int_equal(size, needed);
	assert_int_equal(map_of(record), ERROR_SUCCESS);
	assert_int_equal(out.map.Flag, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(out.map.EntryCount, 2);
	assert_int_equal(out.map.NameOffset, 16 + 8 * 3);
	assert_int_equal(entries[0].OutputOffset, 16 + 8 * 3 + 16);
	assert_string_equal(text_at(out.map.NameOffset), "KindMap");
	assert_string_equal(text_at(entries[0].OutputOffset), "None ");
	assert_string_equal(text_at(entries[1].OutputOffset), "Some ");
	assert_int_equal(entries[1].Value, 1);
}

/* [HERE]: what a trace carries is known to TDH from its first event on and stays known when it is closed. */
static void information__of_trace(void **state)
{
	char path[] = "/tmp/etw-tdh-XXXXXX";
	EVENT_TRACE_LOGFILEA logfile = {
		.LogFileName = path,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = on_record,
	};
	PROCESSTRACE_HANDLE handle;
	ULONG size = sizeof(out);
	int file = mkstemp(path);

	(void)state;
	assert_true(file >= 0);
	(void)close(file);
	record_file_make(path);
	record_file_event(&made);
	assert_int_equal(TdhGetEventInformation(&made.record, 0, NULL, &out.info, &size),
			 ERROR_NOT_FOUND);
	handle = OpenTraceA(&logfile);
	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(seen.events, 1);
	assert_int_equal(seen.status, ERROR_SUCCESS);
	assert_int_equal(seen.maps, 1);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	(void)unlink(path);
	check_described(&made.record);
	check_map(&made.record);
}

static void *inform_often(void *context)
{
	struct made_record *own = context;

	for (unsigned i = 0; i < 2000; i++) {
		BYTE buffer[4096];
		ULONG size = sizeof(buffer);
		ULONG status = TdhGetEventInformation(&own->record, 0, NULL,
						      (TRACE_EVENT_INFO *)(void *)buffer, &size);

		if (status)
			return own;
	}
	return NULL;
}

/* [HERE]: any thread may call, also with schemas that nobody has seen before. */
static void information__threads(void **state)
{
	static struct made_record records[4];
	pthread_t threads[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "Threads%u", i % 2);
		record_tracelogging(&records[i], name);
		record_field(&records[i], "Number", TDH_INTYPE_UINT32, 0, 0);
		assert_int_equal(pthread_create(&threads[i], NULL, inform_often, &records[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		void *failed = &records[i];

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(information__tracelogging),
		cmocka_unit_test(information__class),
		cmocka_unit_test(information__count_of_event),
		cmocka_unit_test(information__absent_fields),
		cmocka_unit_test(information__of_trace),
		cmocka_unit_test(information__threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
