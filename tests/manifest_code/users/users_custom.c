/* SPDX-License-Identifier: MIT */
/* Functions that the program puts in place of the library's, and a context that is enabled by hand. */
#include <evntprov.h>
#include <string.h>

#include "users.h"

static ULONG my_write(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, LPCGUID activity,
		      LPCGUID related, ULONG count, PEVENT_DATA_DESCRIPTOR data);
static ULONG my_register(LPCGUID provider, PENABLECALLBACK callback, PVOID context,
			 PREGHANDLE handle);
static ULONG my_unregister(REGHANDLE handle);
static ULONG my_information(REGHANDLE handle, EVENT_INFO_CLASS kind, PVOID information,
			    ULONG length);

#define MCGEN_EVENTWRITETRANSFER  my_write
#define MCGEN_EVENTREGISTER       my_register
#define MCGEN_EVENTUNREGISTER     my_unregister
#define MCGEN_EVENTSETINFORMATION my_information
#include USERS_HEADER

static EVENT_DATA_DESCRIPTOR written[4];
static ULONG written_count, information_length;
static PENABLECALLBACK registered;

static ULONG my_write(REGHANDLE handle, PCEVENT_DESCRIPTOR descriptor, LPCGUID activity,
		      LPCGUID related, ULONG count, PEVENT_DATA_DESCRIPTOR data)
{
	(void)handle;
	(void)descriptor;
	written_count = count;
	memcpy(written, data, (count < 4 ? count : 4) * sizeof(*data));
	return activity || related ? ERROR_INVALID_PARAMETER : 0;
}

static ULONG my_register(LPCGUID provider, PENABLECALLBACK callback, PVOID context,
			 PREGHANDLE handle)
{
	(void)provider;
	(void)context;
	registered = callback;
	*handle = 77;
	return 0;
}

static ULONG my_unregister(REGHANDLE handle)
{
	return handle == 77 ? 0 : ERROR_INVALID_HANDLE;
}

static ULONG my_information(REGHANDLE handle, EVENT_INFO_CLASS kind, PVOID information,
			    ULONG length)
{
	(void)information;
	information_length = handle == 77 && kind == EventProviderSetTraits ? length : 0;
	return 0;
}

static int check_levels(void)
{
	registered(&USERS, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 4, 1, 0, NULL, &USERS_Context);
	if (!EventEnabledUsersStep() || !EventEnabledUsersRare() || EventEnabledUsersVerbose())
		return 1;
	registered(&USERS, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 2, 0, NULL, &USERS_Context);
	if (!EventEnabledUsersStep() || EventEnabledUsersRare() || !EventEnabledUsersVerbose())
		return 1;
	registered(&USERS, EVENT_CONTROL_CODE_CAPTURE_STATE, 0, 0, 0, NULL, &USERS_Context);
	if (!EventEnabledUsersStep())
		return 1;
	registered(&USERS, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL, NULL);
	if (!EventEnabledUsersStep())
		return 1;
	registered(&USERS, EVENT_CONTROL_CODE_DISABLE_PROVIDER, 0, 0, 0, NULL, &USERS_Context);
	return EventEnabledUsersStep() || USERS_Context.IsEnabled;
}

static int check_write(void)
{
	if (EventWriteUsersStep_AssumeEnabled(9, "nine") || written_count != 3)
		return 1;
	if (written[0].Size || written[0].Ptr || written[1].Size != 4 || written[2].Size != 5)
		return 1;
	if (EventWriteTraitsEvent_AssumeEnabled(3) || written_count != 2 || written[1].Size != 2)
		return 1;
	return written[0].Reserved != 2 || written[0].Ptr != TRAITS_Context.Logger ||
	       written[0].Size != information_length || !information_length;
}

int users_custom(void)
{
	int failures = 0;

	failures += EventRegisterLibetw_Test_Users() != 0;
	failures += EventRegisterByGuid_TRAITS(USERS) != 0;
	failures += check_levels() + check_write();
	failures += EventUnregisterLibetw_Test_Users() != 0;
	failures += EventUnregister_TRAITS() != 0;
	return failures;
}
