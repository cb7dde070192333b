/* SPDX-License-Identifier: MIT */
/*
 * Messages of TraceMessage with each combination of its flags, recorded by a host, and read as a TMF file says.
 * Sources: [MSD] Microsoft's page of the function, [HERE] a decision of this project: time and writer are in every message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>

#include "base/macros.h"
#include "base/utf.h"
#include "conformance/evntrace/classic_session.h"
#include "conformance/evntrace/host.h"

#define LIMIT_S       1500
#define COMBINATIONS  256 /* of the flags that there are */
#define NUMBER        31
#define COMPONENT     0x4711
#define TEXT_MAX      512
#define TMF_NAME      "messages.tmf"
#define WIDE_TMF_NAME 256

static const GUID class = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x71}};

static const char tmf[] =
	"5e1c9b1a-3d53-4c7e-9a41-0c6f7d218871 Driver // SRC=Driver.c MJ= MN=\n"
	"#typev Driver_c7 31 \"%0%10!d! %11!x! %12!s! %13!S! %14!p! %15!.2f! %16!s!\" // "
	"LEVEL=INFO\n"
	"{\n"
	"number, ItemLong -- 10\nmask, ItemNTSTATUS -- 11\nname, ItemString -- 12\n"
	"path, ItemWString -- 13\nobject, ItemPtr -- 14\nratio, ItemDouble -- 15\n"
	"irql, ItemListByte(Low,APC,DPC) -- 16\n}\n";

static struct {
	ULONG next;     /* combination that is to be read */
	ULONG sequence; /* the last number */
	LONGLONG time;
	TDH_HANDLE decoding;
} seen;

/* What a message says, of a program whose pointers are of that many bytes. */
static ULONG write_message(TRACEHANDLE logger, ULONG flags)
{
	static const WCHAR path[] = {'/', 'd', 'e', 'v', 0};
	const GUID component = {.Data1 = COMPONENT};
	const LONG number = -(LONG)flags;
	const ULONG mask = 0xC0000000 | flags;
	const ULONG64 object = flags & TRACE_MESSAGE_POINTER32 ? 0x89ABCDEF : 0x123456789ABCDEF;
	const size_t pointer_bytes = flags & TRACE_MESSAGE_POINTER32 ? 4 : 8;
	const double ratio = flags / 4.0;
	const UCHAR irql = (UCHAR)(flags % 3);

	return TraceMessage(logger, flags, flags & TRACE_MESSAGE_COMPONENTID ? &component : &class,
			    NUMBER, &number, sizeof(number), &mask, sizeof(mask), "name", (size_t)5,
			    path, sizeof(path), &object, pointer_bytes, &ratio, sizeof(ratio),
			    &irql, sizeof(irql), NULL);
}

static void check_text(PEVENT_RECORD record, ULONG flags)
{
	static const char *const levels[] = {"Low", "APC", "DPC"};
	const bool is_32 = flags & TRACE_MESSAGE_POINTER32;
	uint8_t wide[TEXT_MAX * sizeof(WCHAR)];
	char expected[TEXT_MAX];
	ULONG bytes = sizeof(wide);
	char *text;

	(void)snprintf(expected, sizeof(expected), "%d %x name /dev %s %.2f 0x%08x(%s)",
		       -(int)flags, 0xC0000000 | flags, is_32 ? "89ABCDEF" : "0123456789ABCDEF",
		       flags / 4.0, flags % 3, levels[flags % 3]);
	assert_int_equal(TdhGetWppMessage(seen.decoding, record, &bytes, wide), ERROR_SUCCESS);
	text = etw_utf16_to_utf8(wide, bytes / sizeof(WCHAR) - 1);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

/* [MSD] Numbers start at one; each has one more than the last one of the session that has a number. */
static void check_sequence(const EVENT_RECORD *record, ULONG flags)
{
	EVENT_EXTENDED_ITEM_INSTANCE instance = {0};

	for (USHORT i = 0; i < record->ExtendedDataCount; i++) {
		if (record->ExtendedData[i].ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO)
			memcpy(&instance, (const void *)(uintptr_t)record->ExtendedData[i].DataPtr,
			       sizeof(instance));
	}
	if (flags & TRACE_MESSAGE_SEQUENCE)
		seen.sequence++;
	assert_int_equal(instance.InstanceId, flags & TRACE_MESSAGE_SEQUENCE ? seen.sequence : 0);
}

static void check_header(const EVENT_RECORD *record, ULONG flags)
{
	const EVENT_HEADER *header = &record->EventHeader;
	const bool is_32 = flags & TRACE_MESSAGE_POINTER32;

	assert_true(header->Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE);
	assert_int_equal(header->Flags & EVENT_HEADER_FLAG_32_BIT_HEADER,
			 is_32 ? EVENT_HEADER_FLAG_32_BIT_HEADER : 0);
	assert_int_equal(header->Flags & EVENT_HEADER_FLAG_64_BIT_HEADER,
			 is_32 ? 0 : EVENT_HEADER_FLAG_64_BIT_HEADER);
	assert_int_equal(header->EventDescriptor.Id, NUMBER);
	/* [HERE] Whatever the flags say. */
	assert_int_equal(header->ProcessId, getpid());
	assert_int_equal(header->ThreadId, gettid());
	assert_true(header->TimeStamp.QuadPart >= seen.time);
	seen.time = header->TimeStamp.QuadPart;
}

static void WINAPI on_message(PEVENT_RECORD record)
{
	const GUID none = {0};
	const ULONG flags = seen.next++;

	assert_true(flags < COMBINATIONS);
	check_header(record, flags);
	check_sequence(record, flags);
	/* [MSD] The component's number goes before the GUID. */
	if (flags & TRACE_MESSAGE_COMPONENTID) {
		assert_int_equal(record->EventHeader.ProviderId.Data1, COMPONENT);
	} else if (flags & TRACE_MESSAGE_GUID) {
		assert_true(IsEqualGUID(&record->EventHeader.ProviderId, &class));
		check_text(record, flags);
	} else {
		assert_true(IsEqualGUID(&record->EventHeader.ProviderId, &none));
	}
	assert_int_equal(record->UserDataLength,
			 (flags & TRACE_MESSAGE_POINTER32 ? 4 : 8) + 4 + 4 + 5 + 10 + 8 + 1);
}

static void open_decoding(void)
{
	const char *path = host_path(TMF_NAME);
	WCHAR wide[WIDE_TMF_NAME] = {0};
	TDH_CONTEXT context = {.ParameterType = TDH_CONTEXT_WPP_TMFFILE,
			       .ParameterValue = (ULONGLONG)(uintptr_t)wide};
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(tmf, 1, sizeof(tmf) - 1, file), sizeof(tmf) - 1);
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; path[i] && i < ARRAY_SIZE(wide) - 1; i++)
		wide[i] = (WCHAR)path[i];
	assert_int_equal(TdhOpenDecodingHandle(&seen.decoding), ERROR_SUCCESS);
	assert_int_equal(TdhSetDecodingParameter(seen.decoding, &context), ERROR_SUCCESS);
}

static void test_messages__of_all_flags(void **state)
{
	TRACE_GUID_REGISTRATION classes[] = {{&class, NULL}};
	struct classic_session session;

	(void)state;
	open_decoding();
	classic_session_start(&session, "messages.etl",
			      EVENT_TRACE_USE_LOCAL_SEQUENCE |
				      EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
			      64, classes, 1);
	for (ULONG flags = 0; flags < COMBINATIONS; flags++)
		assert_int_equal(write_message(session.logger, flags), ERROR_SUCCESS);
	assert_int_equal(classic_session_stop(&session, on_message), 0);
	assert_int_equal(seen.next, COMBINATIONS);
	assert_int_equal(seen.sequence, COMBINATIONS / 2);
	assert_int_equal(TdhCloseDecodingHandle(seen.decoding), ERROR_SUCCESS);
}

static int run_all(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages__of_all_flags),
	};

	return cmocka_run_group_tests_name("messages of classic providers", tests, NULL, NULL);
}

int main(void)
{
	return host_run(run_all, LIMIT_S);
}
