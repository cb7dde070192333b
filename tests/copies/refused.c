/* SPDX-License-Identifier: MIT */
/* A process whose first copy of the library is of another version: the second one says so, and does nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include <etw/image.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

static ULONG WINAPI hear(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	(void)code;
	(void)context;
	(void)bytes;
	(void)buffer;
	return ERROR_SUCCESS;
}

/* A private session in this process, where no provider can be registered; @library: has StartTrace. */
static ULONG start_private(const char *library)
{
	static struct {
		EVENT_TRACE_PROPERTIES block;
		char names[2][64];
	} properties;
	void *core = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	__typeof__(StartTraceA) *start =
		core ? (__typeof__(StartTraceA) *)dlsym(core, "StartTraceA") : NULL;
	TRACEHANDLE session;

	properties.block.Wnode.BufferSize = sizeof(properties);
	properties.block.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	properties.block.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE |
				       EVENT_TRACE_PRIVATE_IN_PROC | EVENT_TRACE_BUFFERING_MODE;
	properties.block.LoggerNameOffset = sizeof(properties.block);
	properties.block.LogFileNameOffset = sizeof(properties.block) + sizeof(properties.names[0]);
	return start ? start(&session, "strange", &properties.block) : ERROR_SUCCESS;
}

/* Whether every function of etw/image.h says that the other version has the work, before it looks at anything. */
static int refuses_images(void)
{
	uint64_t number;

	return libetw_image_announce(NULL, &number) == -EOPNOTSUPP &&
	       libetw_image_add_symbols(1, NULL, 0) == -EOPNOTSUPP &&
	       libetw_image_add_symbol_file(1, NULL, LIBETW_SYMBOLS_ELF) == -EOPNOTSUPP &&
	       libetw_image_withdraw(1) == -EOPNOTSUPP;
}

int main(int argc, char **argv)
{
	static const GUID provider = {0x6c5c0d5f, 0x2b1f, 0x4d0e, {1, 2, 3, 4, 5, 6, 7, 8}};
	static const EVENT_DESCRIPTOR event = {.Id = 1};
	TRACEHANDLE classic = 0;
	REGHANDLE handle = 0;
	const ULONG modern = EventRegister(&provider, NULL, NULL, &handle);
	const ULONG old = RegisterTraceGuidsA(hear, NULL, &provider, 0, NULL, NULL, NULL, &classic);

	printf("registering is refused with %u and %u\n", (unsigned)modern, (unsigned)old);
	if (!refuses_images())
		return 1;
	if (argc != 2 || start_private(argv[1]) != ERROR_NOT_SUPPORTED)
		return 1;
	return modern != ERROR_REVISION_MISMATCH || old != ERROR_REVISION_MISMATCH ||
	       EventWrite(handle, &event, 0, NULL) != ERROR_INVALID_HANDLE;
}
