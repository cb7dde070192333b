/* SPDX-License-Identifier: MIT */
/*
 * copies LIBRARY - this program has a copy of the provider's library, LIBRARY is or has another. What one of them
 * registers the other knows, a thread has one activity and one last error, and one thread talks to hosts.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errhandlingapi.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#define CHECK(condition)                                                           \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "FAILED: %d: %s\n", __LINE__, #condition); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

#define BORROW(name) __typeof__(name) *other_##name = (__typeof__(name) *)borrow(library, #name)

static const GUID provider = {0x6c5c0d60, 0x2b1f, 0x4d0e, {1, 2, 3, 4, 5, 6, 7, 8}};
static const EVENT_DESCRIPTOR event = {.Id = 1};

/* A function of the other copy: exported, or lent by a plugin. */
static uintptr_t borrow(void *library, const char *name)
{
	uintptr_t (*lend)(const char *name);

	*(void **)&lend = dlsym(library, "lend");
	return lend ? lend(name) : (uintptr_t)dlsym(library, name);
}

static unsigned count_listeners(void)
{
	DIR *folder = opendir("/proc/self/task");
	unsigned count = 0;
	struct dirent *entry;

	CHECK(folder);
	while ((entry = readdir(folder))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(name, sizeof(name), file))
			count += strcmp(name, "etw-listener\n") == 0;
		if (file)
			fclose(file);
	}
	closedir(folder);
	return count;
}

static ULONG WINAPI hear(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)code;
	(void)context;
	(void)bytes;
	(void)buffer;
	return ERROR_SUCCESS;
}

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	const GUID activity = {.Data1 = 0x4711};
	TRACEHANDLE classic;
	REGHANDLE own, other;
	GUID seen = {0};

	CHECK(library);
	BORROW(EventRegister);
	BORROW(EventUnregister);
	BORROW(EventWrite);
	BORROW(EventActivityIdControl);
	BORROW(RegisterTraceGuidsW);
	BORROW(UnregisterTraceGuids);
	BORROW(GetLastError);
	BORROW(SetLastError);
	CHECK(other_EventRegister && other_EventRegister != EventRegister);

	CHECK(other_EventRegister(&provider, NULL, NULL, &other) == ERROR_SUCCESS);
	CHECK(EventRegister(&provider, NULL, NULL, &own) == ERROR_SUCCESS);
	CHECK(own != other);
	CHECK(count_listeners() == 1);
	CHECK(EventWrite(other, &event, 0, NULL) == ERROR_SUCCESS);
	CHECK(other_EventWrite(own, &event, 0, NULL) == ERROR_SUCCESS);
	CHECK(EventUnregister(other) == ERROR_SUCCESS);
	CHECK(other_EventUnregister(other) == ERROR_INVALID_HANDLE);
	CHECK(other_EventWrite(other, &event, 0, NULL) == ERROR_INVALID_HANDLE);
	CHECK(other_EventUnregister(own) == ERROR_SUCCESS);
	CHECK(other_RegisterTraceGuidsW(hear, NULL, &provider, 0, NULL, NULL, NULL, &classic) ==
	      ERROR_SUCCESS);
	CHECK(UnregisterTraceGuids(classic) == ERROR_SUCCESS);
	CHECK(other_UnregisterTraceGuids(classic) == ERROR_INVALID_PARAMETER);
	CHECK(count_listeners() == 1);

	seen = activity;
	CHECK(other_EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &seen) == ERROR_SUCCESS);
	memset(&seen, 0, sizeof(seen));
	CHECK(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_ID, &seen) == ERROR_SUCCESS);
	CHECK(memcmp(&seen, &activity, sizeof(seen)) == 0);
	other_SetLastError(4711);
	CHECK(GetLastError() == 4711);
	SetLastError(4712);
	CHECK(other_GetLastError() == 4712);

	/* A copy stays loaded: its callers and its thread are not asked. */
	CHECK(dlclose(library) == 0);
	CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD));
	CHECK(other_EventRegister(&provider, NULL, NULL, &other) == ERROR_SUCCESS);
	CHECK(other_EventUnregister(other) == ERROR_SUCCESS);
	puts("two copies have one state");
	return 0;
}
