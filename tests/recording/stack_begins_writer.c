/* SPDX-License-Identifier: MIT */
/*
 * stack_begins_writer [PLUGIN] FD PLACE - writes an event by each function, from one function of its own; in a PLUGIN, which
 * is this file too, with that one's copy of the library. Each event says where the function that wrote it lies.
 */
#include <stdint.h>

#include <TraceLoggingProvider.h>
#include <winerror.h>

#include "recording/stack_begins.h"
#include "recording/wait.h"

#if !defined(STACK_BEGINS_STATIC) && !defined(STACK_BEGINS_PLUGIN)
#include <dlfcn.h>
#endif

TRACELOGGING_DEFINE_PROVIDER(logging, "StackBegins",
			     (0x5e1c9b1a, 0x3d53, 0x4c7e, 0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88,
			      0x53));

typedef void (*stack_begins_write)(void);

void stack_begins_write_all(void);

/* The keyword tells where this function begins. */
static __attribute__((noinline)) void write_by_each(REGHANDLE handle)
{
	static const WCHAR text[] = {'t', 'e', 'x', 't', 0};
	const uint64_t here = (uintptr_t)write_by_each;
	const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4, .Keyword = here};

	if (EventWrite(handle, &event, 0, NULL) != ERROR_SUCCESS ||
	    EventWriteString(handle, 4, here, text) != ERROR_SUCCESS ||
	    EventWriteTransfer(handle, &event, NULL, NULL, 0, NULL) != ERROR_SUCCESS ||
	    EventWriteEx(handle, &event, 0, 0, NULL, NULL, 0, NULL) != ERROR_SUCCESS)
		fail("an event cannot be written");
	TraceLoggingWrite(logging, "Event", TraceLoggingUInt64(here, "Here"));
	__asm__ volatile("" : : : "memory"); /* no jump in place of a call */
}

__attribute__((visibility("default"))) void stack_begins_write_all(void)
{
	struct wait wait = wait_for("the providers are not enabled");
	REGHANDLE handle;

	if (EventRegister(&stack_begins_provider, NULL, NULL, &handle) != ERROR_SUCCESS ||
	    TraceLoggingRegister(logging) != ERROR_SUCCESS)
		fail("the providers cannot be registered");
	while (!EventProviderEnabled(handle, 4, 0) || !TraceLoggingProviderEnabled(logging, 4, 0))
		wait_on(&wait);
	write_by_each(handle);
	(void)EventUnregister(handle);
	TraceLoggingUnregister(logging);
}

#ifndef STACK_BEGINS_PLUGIN
static stack_begins_write find_writer(int argc, char **argv)
{
	stack_begins_write write = stack_begins_write_all;

#ifndef STACK_BEGINS_STATIC
	void *plugin = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (argc == 4 && !plugin)
		fail("%s", dlerror());
	if (plugin)
		*(void **)&write = dlsym(plugin, "stack_begins_write_all");
#else
	(void)argc;
	(void)argv;
#endif
	return write;
}

int main(int argc, char **argv)
{
	const stack_begins_write write = find_writer(argc, argv);

	if (!write)
		fail("the plugin does not write");
	write();
	return 0;
}
#endif
