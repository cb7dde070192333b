/* SPDX-License-Identifier: MIT */
#include "compat/win32/module_names.h"

#include <string.h>
#include <strings.h>

#include <windows.h>
#include <winternl.h>

static const char *const modules[] = {"advapi32",
				      "sechost",
				      "kernel32",
				      "kernelbase",
				      "ntdll",
				      "tdh",
				      "api-ms-win-eventing-provider-l1-1-0",
				      "api-ms-win-eventing-controller-l1-1-0",
				      "api-ms-win-eventing-consumer-l1-1-0",
				      "api-ms-win-eventing-tdh-l1-1-0"};

#define ROW(name)                                    \
	{                                            \
#name, (FARPROC)(void (*)(void))name \
	}
static const struct {
	const char *name;
	FARPROC function;
} functions[] = {
	ROW(NtQuerySystemInformation),
	ROW(NtSetSystemInformation),
	ROW(NtTraceControl),
	ROW(RtlGetVersion),
	ROW(RtlNtStatusToDosError),
	ROW(GetSystemTimePreciseAsFileTime),
	ROW(GetSystemTimeAsFileTime),
	ROW(GetTickCount64),
	ROW(GetNativeSystemInfo),
	ROW(GetThreadId),
	ROW(SetThreadDescription),
	ROW(QueryFullProcessImageNameA),
	ROW(QueryFullProcessImageNameW),
	ROW(QueryPerformanceCounter),
	ROW(InitializeSRWLock),
	ROW(AcquireSRWLockExclusive),
	ROW(ReleaseSRWLockExclusive),
};

BOOL etw_module_is_known(const char *name)
{
	size_t length = strlen(name);

	if (length > 4 && !strcasecmp(name + length - 4, ".dll"))
		length -= 4;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (strlen(modules[i]) == length && !strncasecmp(modules[i], name, length))
			return TRUE;
	}
	return FALSE;
}

FARPROC etw_module_function(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	}
	return NULL;
}
