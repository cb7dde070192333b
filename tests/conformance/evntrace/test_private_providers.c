/* SPDX-License-Identifier: MIT */
/*
 * The providers of private sessions: what their callbacks hear, and what they write.
 * Sources: as in private_session.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#include "conformance/evntrace/private_session.h"

/* [MSD] EnableTraceEx2: the callback hears of level, keywords and capture state. */
static void private__callbacks(void **state)
{
	ENABLE_TRACE_PARAMETERS of_group = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP,
	};
	struct private_told told = {0};
	REGHANDLE provider = private_register_with(&told);
	TRACEHANDLE first = private_start("first", 0, "a.etl"),
		    second = private_start("second", 0, "b.etl");

	(void)state;
	assert_int_equal(told.calls, 0);
	assert_int_equal(EnableTraceEx2(first, &private_provider_guid, 1, 2, 0x10, 0, 0, NULL), 0);
	/* [MSD] Provider Traits: private sessions cannot control groups. */
	assert_int_equal(EnableTraceEx2(first, &private_provider_guid, 1, 2, 0x10, 0, 0, &of_group),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.level, 2);
	assert_true(told.any == 0x10);
	assert_int_equal(EnableTraceEx2(second, &private_provider_guid, 1, 5, 0x20, 0, 0, NULL), 0);
	assert_int_equal(told.level, 5); /* of all sessions together */
	assert_true(told.any == 0x30);
	assert_int_equal(EnableTraceEx2(first, &private_provider_guid,
					EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, 0, NULL),
			 0);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_CAPTURE_STATE);
	private_stop(second);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.level, 2);
	/* A callback may do what a program may. */
	told.session = first;
	assert_int_equal(EnableTraceEx2(first, &private_provider_guid, 1, 3, 0x10, 0, 0, NULL), 0);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] since version 1703 a provider need not be registered when it is enabled. */
static void private__enabled_before_it_is_registered(void **state)
{
	TRACEHANDLE handle = private_start("early", 0, "early.etl");
	struct private_told told = {0};
	REGHANDLE provider;

	(void)state;
	private_enable(handle, &private_provider_guid);
	provider = private_register_with(&told);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.level, PRIVATE_LEVEL);
	private_write_number(provider, 5);
	private_stop(handle);
	assert_int_equal(private_read_file("early.etl").sum, 5);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [HERE] four private sessions can have a provider; of PRIVATE_IN_PROC there are three at most. */
static void private__every_session_gets_its_own(void **state)
{
	static const char *const names[3] = {"x.etl", "y.etl", "z.etl"};
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handles[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		handles[i] = private_start(names[i], 0, names[i]);
		private_enable(handles[i], &private_provider_guid);
		private_write_number(provider, 1);
	}
	for (int i = 0; i < 3; i++)
		private_stop(handles[i]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(private_read_file(names[i]).count, 3 - i);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* Where a classic provider's callback puts the session that it writes to. */
static ULONG WINAPI on_control(WMIDPREQUESTCODE code, PVOID context, ULONG *reserved, PVOID buffer)
{
	TRACEHANDLE *session = context;

	(void)reserved;
	*session = code == WMI_ENABLE_EVENTS ? GetTraceLoggerHandle(buffer) : 0;
	return ERROR_SUCCESS;
}

static ULONG write_classic(TRACEHANDLE session)
{
	struct {
		EVENT_TRACE_HEADER header;
		uint32_t number;
	} written = {
		.header = {.Size = sizeof(written),
			   .Class.Type = 1,
			   .Guid = private_other_guid,
			   .Flags = WNODE_FLAG_TRACED_GUID},
		.number = 3,
	};

	return TraceEvent(session, &written.header);
}

/* [MSD] a classic provider is one session's: the last that enabled it. */
static void private__classic_provider(void **state)
{
	TRACEHANDLE session = 0, registration = 0;
	TRACEHANDLE first = private_start("first", 0, "first.etl"),
		    second = private_start("second", 0, "second.etl");
	TRACE_GUID_REGISTRATION class = {.Guid = &private_other_guid};

	(void)state;
	assert_int_equal(RegisterTraceGuidsA(on_control, &session, &private_provider_guid, 1,
					     &class, NULL, NULL, &registration),
			 ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 0x55, 3, &private_provider_guid, first), ERROR_SUCCESS);
	assert_int_equal(GetTraceEnableFlags(session), 0x55);
	assert_int_equal(GetTraceEnableLevel(session), 3);
	assert_int_equal(write_classic(session), ERROR_SUCCESS);
	assert_int_equal(EnableTrace(TRUE, 0x66, 4, &private_provider_guid, second), ERROR_SUCCESS);
	assert_int_equal(GetTraceEnableFlags(session), 0x66);
	assert_int_equal(write_classic(session), ERROR_SUCCESS);
	assert_int_equal(write_classic(session), ERROR_SUCCESS);
	private_stop(first);
	private_stop(second);
	assert_true(session == 0);
	assert_int_equal(private_read_file("first.etl").classic, 1);
	assert_int_equal(private_read_file("second.etl").classic, 2);
	assert_int_equal(UnregisterTraceGuids(registration), ERROR_SUCCESS);
}

struct writer {
	REGHANDLE provider;
	uint32_t written;
	uint32_t is_over;
};

static void *write_until_over(void *context)
{
	struct writer *writer = context;

	while (!__atomic_load_n(&writer->is_over, __ATOMIC_ACQUIRE)) {
		if (EventWrite(writer->provider, &private_event, 0, NULL) == ERROR_SUCCESS)
			writer->written++;
	}
	return NULL;
}

/* Threads write on while sessions come and go; the account of each holds. */
static void private__stopped_while_writing(void **state)
{
	struct writer writer = {.provider = private_register(&private_provider_guid)};
	struct private_block block;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_until_over, &writer), 0);
	for (int i = 0; i < 20; i++) {
		TRACEHANDLE handle = private_start("busy", 0, "busy.etl");
		struct private_contents contents;

		private_enable(handle, &private_provider_guid);
		assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_STOP, &block),
				 ERROR_SUCCESS);
		contents = private_read_file("busy.etl");
		assert_int_equal(contents.events_lost, block.properties.EventsLost);
	}
	__atomic_store_n(&writer.is_over, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(EventUnregister(writer.provider), ERROR_SUCCESS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(private__callbacks),
		cmocka_unit_test(private__enabled_before_it_is_registered),
		cmocka_unit_test(private__every_session_gets_its_own),
		cmocka_unit_test(private__classic_provider),
		cmocka_unit_test(private__stopped_while_writing),
	};

	return cmocka_run_group_tests(tests, private_make_folder, private_remove_folder);
}
