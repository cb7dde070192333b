/* SPDX-License-Identifier: MIT */
/*
 * Functions that docs/coverage.md calls not built: each fails as the page says, with
 * ERROR_CALL_NOT_IMPLEMENTED as its result, or behind an invalid handle or 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntrace.h>
#include <winerror.h>

#define UNBUILT(call) assert_int_equal(call, ERROR_CALL_NOT_IMPLEMENTED)

/* A result that is no error code: the code is in GetLastError(). */
#define UNBUILT_GIVES(call, result)                                           \
	do {                                                                  \
		SetLastError(ERROR_SUCCESS);                                  \
		assert_true((call) == (result));                              \
		assert_int_equal(GetLastError(), ERROR_CALL_NOT_IMPLEMENTED); \
	} while (0)

/* Not USHORT: a type that grows when it is handed over cannot stand before the other arguments. */
static ULONG write_message(int number, ...)
{
	va_list arguments;
	ULONG error;

	va_start(arguments, number);
	error = TraceMessageVa(1, 0, NULL, (USHORT)number, arguments);
	va_end(arguments);
	return error;
}

static void unbuilt__of_classic_providers(void **state)
{
	TRACEHANDLE handle = 0;

	(void)state;
	UNBUILT(CreateTraceInstanceId(NULL, NULL));
	UNBUILT(TraceEvent(1, NULL));
	UNBUILT(TraceEventInstance(1, NULL, NULL, NULL));
	UNBUILT(RegisterTraceGuidsW(NULL, NULL, NULL, 0, NULL, NULL, NULL, &handle));
	UNBUILT(RegisterTraceGuidsA(NULL, NULL, NULL, 0, NULL, NULL, NULL, &handle));
	UNBUILT(UnregisterTraceGuids(1));
	UNBUILT(TraceMessage(1, 0, NULL, 0, NULL));
	UNBUILT(write_message(0));
	UNBUILT_GIVES(GetTraceLoggerHandle(NULL), (TRACEHANDLE)(ULONG_PTR)INVALID_HANDLE_VALUE);
	UNBUILT_GIVES(GetTraceEnableLevel(1), 0);
	UNBUILT_GIVES(GetTraceEnableFlags(1), 0u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unbuilt__of_classic_providers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
