/* SPDX-License-Identifier: MIT */
/*
 * copies_private CORE FOLDER [PLUGIN] - a private session of a process with two copies of the provider's library: what is
 * started, enabled and controlled through CORE has the events of providers that are registered through another copy: that of
 * the program, or with PLUGIN that of the plugin.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#define EVENTS 100

#define CHECK(condition)                                                           \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "FAILED: %d: %s\n", __LINE__, #condition); \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

static const GUID provider = {0x6c5c0d61, 0x2b1f, 0x4d0e, {1, 2, 3, 4, 5, 6, 7, 8}};
static const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 1};

struct properties {
	EVENT_TRACE_PROPERTIES block;
	char name[256];
	char file[1024];
};

static struct properties properties;

/* Of the core, which the program is not linked with; or of the plugin, which lends its functions. */
#define FIND(library, name) \
	__typeof__(name) *core_##name = (__typeof__(name) *)dlsym(library, #name)

static void prepare(const char *folder, const char *of)
{
	memset(&properties, 0, sizeof(properties));
	properties.block.Wnode.BufferSize = sizeof(properties);
	properties.block.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	properties.block.LogFileMode = EVENT_TRACE_PRIVATE_LOGGER_MODE |
				       EVENT_TRACE_PRIVATE_IN_PROC |
				       EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	properties.block.Wnode.Guid = provider;
	properties.block.LoggerNameOffset = offsetof(struct properties, name);
	properties.block.LogFileNameOffset = offsetof(struct properties, file);
	(void)snprintf(properties.file, sizeof(properties.file), "%s/copies-%s-%d.etl", folder, of,
		       (int)getpid());
}

static uintptr_t borrow(void *plugin, const char *name)
{
	uintptr_t (*lend)(const char *name);

	*(void **)&lend = dlsym(plugin, "lend");
	CHECK(lend);
	return lend(name);
}

int main(int argc, char **argv)
{
	void *core = argc >= 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *plugin = argc == 4 ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL;
	__typeof__(EventRegister) *enter = EventRegister;
	__typeof__(EventWrite) *write_event = EventWrite;
	TRACEHANDLE session;
	REGHANDLE handle;
	char file[1024];

	CHECK(core && (argc < 4 || plugin));
	FIND(core, StartTraceA);
	FIND(core, EnableTraceEx2);
	FIND(core, ControlTraceA);
	CHECK(core_StartTraceA && core_EnableTraceEx2 && core_ControlTraceA);
	if (plugin) {
		enter = (__typeof__(enter))borrow(plugin, "EventRegister");
		write_event = (__typeof__(write_event))borrow(plugin, "EventWrite");
	}
	CHECK(enter(&provider, NULL, NULL, &handle) == ERROR_SUCCESS);
	prepare(argv[2], plugin ? "plugin" : "program");
	(void)snprintf(file, sizeof(file), "%s", properties.file);
	CHECK(core_StartTraceA(&session, "copies", &properties.block) == ERROR_SUCCESS);
	CHECK(core_EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0,
				  0, NULL) == ERROR_SUCCESS);
	CHECK(EventEnabled(handle, &event));
	for (unsigned i = 0; i < EVENTS; i++)
		CHECK(write_event(handle, &event, 0, NULL) == ERROR_SUCCESS);
	/* By its name, too. */
	prepare(argv[2], "none");
	CHECK(core_ControlTraceA(0, "copies", &properties.block, EVENT_TRACE_CONTROL_QUERY) ==
	      ERROR_SUCCESS);
	CHECK(properties.block.Wnode.HistoricalContext == session);
	prepare(argv[2], "none");
	CHECK(core_ControlTraceA(session, NULL, &properties.block, EVENT_TRACE_CONTROL_STOP) ==
	      ERROR_SUCCESS);
	CHECK(properties.block.EventsLost == 0 && properties.block.BuffersWritten >= 2);
	CHECK(!EventEnabled(handle, &event));
	CHECK(unlink(file) == 0);
	puts("a private session has the events of all copies");
	return 0;
}
