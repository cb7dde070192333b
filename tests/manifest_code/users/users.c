/* SPDX-License-Identifier: MIT */
/* A program that uses a generated header in the ways that published ones do. Exits with 1 when one fails. */
#define _DEFAULT_SOURCE 1 /* usleep() */
#include <evntprov.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "users.h"

/* Called for each change, after the header's own code. */
static void note_change(ULONG code, UCHAR level, const void *context);
#define MCGEN_PRIVATE_ENABLE_CALLBACK_V2(SourceId, ControlCode, Level, Any, All, Filter, Context) \
	note_change(ControlCode, Level, Context)
#define MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION
#include USERS_HEADER

#define MILLISECONDS 600000

static volatile ULONG enables, own_enables;
static int failures;

static void note_change(ULONG code, UCHAR level, const void *context)
{
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER && context == &USERS_Context && level)
		enables++;
}

static void expect(int is, const char *what)
{
	if (!is)
		failures += printf("failed: %s\n", what) > 0;
}

static void await(const volatile ULONG *what)
{
	for (int i = 0; i < MILLISECONDS && !*what; i++)
		(void)usleep(1000);
	expect(*what != 0, "a session enables the provider");
}

/* Before registration nothing is enabled, and writing succeeds without doing anything. */
static void check_disabled(void)
{
	expect(!EventEnabledUsersStep(), "EventEnabled is false at first");
	expect(EventWriteUsersStep(0, "never") == 0, "writing what is disabled succeeds");
	expect(!MCGEN_ENABLE_CHECK(USERS_Context, UsersStep), "MCGEN_ENABLE_CHECK is false");
	expect(EventUnregisterLibetw_Test_Users() == 0, "unregistering nothing succeeds");
	expect(USERS_EventWriteActivity == 0, "the macros have no activity");
	expect(UsersStep_value == 1 && UsersStep.Id == 1, "descriptors have their number");
}

static void check_registered(void)
{
	expect(EventRegisterLibetw_Test_Users() == 0, "EventRegister");
	expect(EventRegisterLibetw_Test_Users() == 0, "registering twice succeeds");
	await(&enables);
	expect(EventEnabledUsersStep() != 0, "EventEnabled");
	expect(MCGEN_ENABLE_CHECK(USERS_Context, UsersRare), "MCGEN_ENABLE_CHECK");
	expect(McGenEventEnabled(&USERS_Context, &UsersStep), "McGenEventEnabled");
	expect(EventWriteUsersStep(1, "C") == 0, "EventWrite");
	expect(EventWriteUsersStep_AssumeEnabled(2, NULL) == 0, "_AssumeEnabled, NULL");
	expect(EventWriteUsersRare() == 0, "an event without data");
	expect(users_other(3) == &USERS_Context, "all files have one context");
	expect(EventWrite(Libetw_Test_UsersHandle, &UsersRare, 0, NULL) == 0, "the handle");
	expect(EventUnregisterLibetw_Test_Users() == 0, "EventUnregister");
	expect(Libetw_Test_UsersHandle == 0, "the handle is gone");
}

static void NTAPI own_callback(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any,
			       ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	McGenControlCallbackV2(source, code, level, any, all, filter, context);
	own_enables += code == EVENT_CONTROL_CODE_ENABLE_PROVIDER;
}

/* A program's own callback, which calls the header's. */
static void check_own_callback(void)
{
	expect(McGenEventRegister(&USERS, own_callback, &USERS_Context, &Libetw_Test_UsersHandle) ==
		       0,
	       "McGenEventRegister");
	await(&own_enables);
	expect(EventWriteUsersStep(4, "own callback") == 0, "EventWrite");
	expect(EventUnregisterLibetw_Test_Users() == 0, "EventUnregister");
}

static void check_context(void)
{
	McGenContext_Libetw_Test_Users context;

	expect(EventRegisterLibetw_Test_Users_ForContext(&context) == 0, "_ForContext");
	await(&context.Context.IsEnabled);
	expect(EventEnabledUsersStep_ForContext(&context) != 0, "EventEnabled_ForContext");
	expect(EventWriteUsersStep_ForContext(&context, 5, "context") == 0, "EventWrite");
	expect(EventWriteUsersStep_ForContextAssumeEnabled(&context, 6, "assumed") == 0, "assumed");
	expect(Libetw_Test_UsersHandle_ForContext(&context) != 0, "Handle_ForContext");
	expect(EventUnregisterLibetw_Test_Users_ForContext(&context) == 0, "EventUnregister");
}

/* The provider's traits go with its events, and not into their data. */
static void check_traits(void)
{
	expect(EventRegister_TRAITS() == 0, "EventRegister_TRAITS");
	expect(EventRegister_TRAITS() == ERROR_INVALID_PARAMETER, "registering traits twice fails");
	await(&TRAITS_Context.IsEnabled);
	expect(EventWriteTraitsEvent(7) == 0, "EventWriteTraitsEvent");
	expect(TRAITS_Handle != 0, "TRAITS_Handle");
	expect(EventUnregister_TRAITS() == 0, "EventUnregister_TRAITS");
}

int main(void)
{
	check_disabled();
	check_registered();
	check_own_callback();
	check_context();
	check_traits();
	expect(users_custom() == 0, "functions of the program's own");
	return failures != 0;
}
