/* SPDX-License-Identifier: MIT */
/*
 * test_com FOLDER - the rules of ITraceRelogger, ITraceEvent and ITraceEventCallback, and copies of every trace in
 * FOLDER, which hold the same events as their originals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COBJMACROS
#include <etw/relogger.h>

#include "base/guid.h"
#include "base/utf.h"
#include "wire/hook.h"

static const char *folder;
static char copy_path[] = "/tmp/etw-test-com-XXXXXX";
static const GUID other_provider = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

enum doing {
	COUNT,
	COPY,
	RENAME,
	FAIL,
	STOP
};

struct callback {
	ITraceEventCallback base;
	ULONG refs;
	enum doing doing;
	ULONG begun, events, ended, renamed;
	uint64_t sum; /* of all events, in any order */
	HRESULT inject_status;
};

static struct callback *self(ITraceEventCallback *callback)
{
	return (struct callback *)callback;
}

static HRESULT query_interface(ITraceEventCallback *this, REFIID iid, void **ret)
{
	(void)this, (void)iid;
	*ret = NULL;
	return E_NOINTERFACE;
}

static ULONG add_ref(ITraceEventCallback *this)
{
	return ++self(this)->refs;
}

static ULONG release(ITraceEventCallback *this)
{
	return --self(this)->refs;
}

static HRESULT on_begin(ITraceEventCallback *this, ITraceEvent *event, ITraceRelogger *relogger)
{
	PEVENT_RECORD record;

	(void)relogger;
	assert_int_equal(ITraceEvent_GetEventRecord(event, &record), S_OK);
	assert_true(etw_guid_equal(&record->EventHeader.ProviderId, &etw_event_trace_guid));
	self(this)->begun++;
	return S_OK;
}

static uint64_t mix(uint64_t sum, const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ ((const uint8_t *)at)[i]) * UINT64_C(1099511628211);
	return sum;
}

static uint64_t sum_of(const EVENT_RECORD *record)
{
	EVENT_HEADER header = record->EventHeader;
	uint64_t sum = UINT64_C(14695981039346656037);
	/* Both take the time of their neighbours. */
	int has_time = !(header.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) &&
		       !etw_guid_equal(&header.ProviderId, &etw_lost_event_guid);

	if (!has_time)
		header.TimeStamp.QuadPart = 0;
	/* The header buffers of relogged files number their processor in the old form. */
	if (etw_guid_equal(&header.ProviderId, &etw_event_trace_guid))
		header.Flags &= (USHORT)~EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	else
		sum = mix(sum, &record->BufferContext.ProcessorIndex, 2);
	sum = mix(sum, &header, sizeof(header));
	sum = mix(sum, record->UserData, record->UserDataLength);
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		sum = mix(sum, &item->ExtType, sizeof(item->ExtType));
		sum = mix(sum, (const void *)(uintptr_t)item->DataPtr, item->DataSize);
	}
	return sum;
}

static HRESULT on_event(ITraceEventCallback *this, ITraceEvent *event, ITraceRelogger *relogger)
{
	struct callback *callback = self(this);
	PEVENT_RECORD record;

	assert_int_equal(ITraceEvent_GetEventRecord(event, &record), S_OK);
	callback->events++;
	callback->sum += sum_of(record);
	callback->renamed += etw_guid_equal(&record->EventHeader.ProviderId, &other_provider);
	if (callback->doing == FAIL)
		return E_NOTIMPL;
	if (callback->doing == STOP)
		assert_int_equal(ITraceRelogger_Cancel(relogger), S_OK);
	if (callback->doing == RENAME)
		assert_int_equal(ITraceEvent_SetProviderId(event, &other_provider), S_OK);
	if (callback->doing != COUNT)
		callback->inject_status = ITraceRelogger_Inject(relogger, event);
	return callback->inject_status;
}

static HRESULT on_end(ITraceEventCallback *this, ITraceRelogger *relogger)
{
	(void)relogger;
	self(this)->ended++;
	return S_OK;
}

static const ITraceEventCallbackVtbl vtable = {query_interface, add_ref, release,
					       on_begin,        on_end,  on_event};

static BSTR wide(const char *text)
{
	void *made = etw_utf8_to_utf16(text, NULL);

	assert_non_null(made);
	return made;
}

static HRESULT run(const char *input, const char *output, BOOLEAN is_compressed,
		   struct callback *callback)
{
	BSTR in = wide(input), out = output ? wide(output) : NULL;
	ITraceRelogger *relogger;
	TRACEHANDLE trace = 0;
	HRESULT status;

	callback->base.lpVtbl = &vtable;
	callback->refs = 1;
	assert_int_equal(EtwCreateTraceRelogger(&relogger), S_OK);
	assert_int_equal(ITraceRelogger_AddLogfileTraceStream(relogger, in, NULL, &trace), S_OK);
	assert_int_equal(trace, 1);
	if (out)
		assert_int_equal(ITraceRelogger_SetOutputFilename(relogger, out), S_OK);
	assert_int_equal(ITraceRelogger_SetCompressionMode(relogger, is_compressed), S_OK);
	assert_int_equal(ITraceRelogger_RegisterCallback(relogger, &callback->base), S_OK);
	assert_int_equal(callback->refs, 2);
	status = ITraceRelogger_ProcessTrace(relogger);
	assert_int_equal(ITraceRelogger_Release(relogger), 0);
	assert_int_equal(callback->refs, 1);
	free(in);
	free(out);
	return status;
}

static void each_trace(void (*check)(const char *path))
{
	char pattern[4096];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), "%s/*.etl", folder);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check(found.gl_pathv[i]);
	globfree(&found);
}

static void check_copies(const char *path)
{
	struct callback wanted = {.doing = COUNT};

	assert_int_equal(run(path, NULL, FALSE, &wanted), S_OK);
	assert_int_equal(wanted.begun, 1);
	assert_int_equal(wanted.ended, 1);
	for (BOOLEAN is_compressed = 0; is_compressed < 2; is_compressed++) {
		struct callback copied = {.doing = COPY}, got = {.doing = COUNT};

		assert_int_equal(run(path, copy_path, is_compressed, &copied), S_OK);
		assert_int_equal(run(copy_path, NULL, FALSE, &got), S_OK);
		if (got.events != wanted.events || got.sum != wanted.sum)
			print_message("%s, compressed %d: %u events, expected %u\n", path,
				      is_compressed, got.events, wanted.events);
		assert_int_equal(got.events, wanted.events);
		assert_true(got.sum == wanted.sum);
	}
}

static void test_copies_are_the_same(void **state)
{
	(void)state;
	each_trace(check_copies);
}

static void check_renamed(const char *path)
{
	struct callback change = {.doing = RENAME}, got = {.doing = COUNT};

	if (run(path, copy_path, TRUE, &change) != S_OK) {
		/* Counters of the kernel's events have no place in another header. */
		assert_int_equal(change.inject_status, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
		return;
	}
	assert_int_equal(run(copy_path, NULL, FALSE, &got), S_OK);
	assert_int_equal(got.events, change.events);
	/* But for companions of the header event, which stay as they were, and losses. */
	assert_true(got.renamed + 8 >= got.events || got.renamed * 2 > got.events);
}

static void test_another_provider(void **state)
{
	(void)state;
	each_trace(check_renamed);
}

static void check_ends(const char *path)
{
	struct callback fail = {.doing = FAIL}, stop = {.doing = STOP}, got = {.doing = COUNT};
	HRESULT status = run(path, copy_path, TRUE, &fail);

	assert_int_equal(status, fail.events ? E_NOTIMPL : S_OK);
	assert_int_equal(run(copy_path, NULL, FALSE, &got), S_OK);
	status = run(path, copy_path, TRUE, &stop);
	if (stop.events > 0 && status != S_OK)
		assert_int_equal(status, HRESULT_FROM_WIN32(ERROR_CANCELLED));
	assert_int_equal(run(copy_path, NULL, FALSE, &got), S_OK);
}

static void test_ended_early(void **state)
{
	(void)state;
	each_trace(check_ends);
}

static void test_rules(void **state)
{
	struct callback callback = {.base.lpVtbl = &vtable, .refs = 1};
	ITraceRelogger *relogger, *same = NULL;
	BSTR missing = wide("/nowhere/at/all.etl");
	ITraceEvent *event = (ITraceEvent *)&callback;
	TRACEHANDLE trace;

	(void)state;
	assert_int_equal(EtwCreateTraceRelogger(NULL), E_POINTER);
	assert_int_equal(EtwCreateInstance(&IID_IUnknown, &IID_IUnknown, (void **)&same),
			 REGDB_E_CLASSNOTREG);
	assert_int_equal(EtwCreateInstance(&CLSID_CTraceRelogger, &IID_ITraceEvent, (void **)&same),
			 E_NOINTERFACE);
	assert_null(same);
	assert_int_equal(
		EtwCreateInstance(&CLSID_CTraceRelogger, &IID_ITraceRelogger, (void **)&relogger),
		S_OK);
	assert_int_equal(ITraceRelogger_QueryInterface(relogger, &IID_IUnknown, (void **)&same),
			 S_OK);
	assert_ptr_equal(same, relogger);
	assert_int_equal(ITraceRelogger_Release(same), 1);
	assert_int_equal(ITraceRelogger_QueryInterface(relogger, &IID_ITraceEvent, (void **)&same),
			 E_NOINTERFACE);
	assert_int_equal(ITraceRelogger_AddLogfileTraceStream(relogger, NULL, NULL, &trace),
			 E_POINTER);
	assert_int_equal(ITraceRelogger_AddLogfileTraceStream(relogger, missing, NULL, &trace),
			 HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND));
	assert_int_equal(ITraceRelogger_ProcessTrace(relogger), E_UNEXPECTED);
	assert_int_equal(ITraceRelogger_RegisterCallback(relogger, NULL), E_POINTER);
	assert_int_equal(ITraceRelogger_Inject(relogger, NULL), E_POINTER);
	assert_int_equal(ITraceRelogger_Inject(relogger, event), E_INVALIDARG);
	assert_int_equal(ITraceRelogger_CreateEventInstance(relogger, 1, 0, &event), E_INVALIDARG);
	assert_int_equal(ITraceRelogger_Release(relogger), 0);
	free(missing);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_copies_are_the_same),
		cmocka_unit_test(test_another_provider),
		cmocka_unit_test(test_ended_early),
	};
	int fd = mkstemp(copy_path), result;

	if (count < 2 || fd < 0)
		return 2;
	(void)close(fd);
	folder = arguments[1];
	result = cmocka_run_group_tests_name("com", tests, NULL, NULL);
	(void)unlink(copy_path);
	return result;
}
