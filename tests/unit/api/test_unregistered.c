/* SPDX-License-Identifier: MIT */
/* A program that writes before it has registered anything gets an error, and nothing else: there is no thread, no page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

static const EVENT_DESCRIPTOR descriptor = {.Id = 1};

static void refuse_all(uint64_t handle)
{
	static const WCHAR text[] = {'x', 0};
	BOOLEAN is_typed = TRUE;

	assert_int_equal(EventWrite(handle, &descriptor, 0, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(EventWriteTransfer(handle, &descriptor, NULL, NULL, 0, NULL),
			 ERROR_INVALID_HANDLE);
	assert_int_equal(EventWriteEx(handle, &descriptor, 0, 0, NULL, NULL, 0, NULL),
			 ERROR_INVALID_HANDLE);
	assert_int_equal(EventWriteString(handle, 0, 0, text), ERROR_INVALID_HANDLE);
	assert_int_equal(EventSetInformation(handle, EventProviderUseDescriptorType, &is_typed,
					     sizeof(is_typed)),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventUnregister(handle), ERROR_INVALID_HANDLE);
	assert_int_equal(UnregisterTraceGuids(handle), ERROR_INVALID_PARAMETER);
	assert_false(EventProviderEnabled(handle, 0, 0));
	assert_false(EventEnabled(handle, &descriptor));
}

static void test_unregistered__handles_are_refused(void **state)
{
	static const uint64_t handles[] = {0, 1, 32, 0xFFFF00000020, UINT64_MAX};
	EVENT_TRACE_HEADER header = {.Size = sizeof(header), .Flags = WNODE_FLAG_TRACED_GUID};

	(void)state;
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++)
		refuse_all(handles[i]);
	assert_int_equal(TraceEvent(1, &header), ERROR_INVALID_HANDLE);
	assert_int_equal(TraceMessage(1, 0, NULL, 1, NULL), ERROR_INVALID_HANDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unregistered__handles_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
