/* SPDX-License-Identifier: MIT */
#include "conformance/evntrace/private_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <winerror.h>

const GUID private_provider_guid = {
	0x7d1f3a52, 0x0c11, 0x4e6e, {0x9b, 0x52, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66}};
const GUID private_other_guid = {
	0x7d1f3a53, 0x0c11, 0x4e6e, {0x9b, 0x52, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66}};
const EVENT_DESCRIPTOR private_event = {.Id = 7, .Level = PRIVATE_LEVEL, .Keyword = 0x10};

static char folder[256];

const char *private_path_of(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

void private_init_block(struct private_block *block, ULONG mode, const char *file)
{
	*block = (struct private_block){
		.properties =
			{
				.Wnode.BufferSize = sizeof(*block),
				.Wnode.Flags = WNODE_FLAG_TRACED_GUID,
				.Wnode.ClientContext = 1,
				.BufferSize = 16,
				.MinimumBuffers = 4,
				.LogFileMode = mode,
				.LoggerNameOffset = offsetof(struct private_block, logger),
				.LogFileNameOffset = offsetof(struct private_block, file),
			},
	};
	if (file)
		(void)snprintf(block->file, sizeof(block->file), "%s", private_path_of(file));
}

ULONG private_start_as(const char *name, ULONG mode, const char *file, struct private_block *block,
		       TRACEHANDLE *ret)
{
	private_init_block(block, PRIVATE_IN_PROC | mode, file);
	if (mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_NEWFILE))
		block->properties.MaximumFileSize = 1;
	return StartTraceA(ret, name, &block->properties);
}

TRACEHANDLE private_start(const char *name, ULONG mode, const char *file)
{
	struct private_block block;
	TRACEHANDLE handle = 0;

	assert_int_equal(private_start_as(name, mode, file, &block, &handle), ERROR_SUCCESS);
	assert_true(handle != 0);
	return handle;
}

ULONG private_control(TRACEHANDLE handle, ULONG code, struct private_block *block)
{
	private_init_block(block, 0, NULL);
	return ControlTraceA(handle, NULL, &block->properties, code);
}

void private_stop(TRACEHANDLE handle)
{
	struct private_block block;

	assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_STOP, &block), ERROR_SUCCESS);
}

void private_enable(TRACEHANDLE handle, const GUID *provider)
{
	assert_int_equal(EnableTraceEx2(handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
					PRIVATE_LEVEL, 0, 0, 0, NULL),
			 ERROR_SUCCESS);
}

REGHANDLE private_register(const GUID *provider)
{
	REGHANDLE handle = 0;

	assert_int_equal(EventRegister(provider, NULL, NULL, &handle), ERROR_SUCCESS);
	return handle;
}

void private_write_number(REGHANDLE handle, uint32_t number)
{
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &number, sizeof(number));
	assert_int_equal(EventWrite(handle, &private_event, 1, &data), ERROR_SUCCESS);
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct private_contents *contents = record->UserContext;
	uint32_t number = 0;

	if (memcmp(&record->EventHeader.ProviderId, &private_provider_guid, sizeof(GUID)) == 0) {
		if (record->UserDataLength >= sizeof(number))
			memcpy(&number, record->UserData, sizeof(number));
		contents->count++;
		contents->sum += number;
		contents->flags |= record->EventHeader.Flags;
		contents->process_id = record->EventHeader.ProcessId;
	} else if (memcmp(&record->EventHeader.ProviderId, &private_other_guid, sizeof(GUID)) ==
		   0) {
		contents->classic++;
	}
}

static struct private_contents read_path(const char *path)
{
	struct private_contents contents = {0};
	EVENT_TRACE_LOGFILEA file = {
		.LogFileName = (char *)(uintptr_t)path,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = on_event,
		.Context = &contents,
	};
	TRACEHANDLE handle = OpenTraceA(&file);

	assert_true(handle != INVALID_PROCESSTRACE_HANDLE);
	contents.log_file_mode = file.LogfileHeader.LogFileMode;
	contents.events_lost = file.LogfileHeader.EventsLost;
	contents.buffers_lost = file.LogfileHeader.BuffersLost;
	assert_int_equal(ProcessTrace(&handle, 1, NULL, NULL), ERROR_SUCCESS);
	assert_int_equal(CloseTrace(handle), ERROR_SUCCESS);
	return contents;
}

struct private_contents private_read_file(const char *name)
{
	return read_path(private_path_of(name));
}

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct private_told *told = context;

	(void)source;
	(void)all;
	(void)filter;
	told->code = code;
	told->level = level;
	told->any = any;
	told->calls++;
	if (told->session) {
		TRACEHANDLE session = told->session;

		told->session = 0;
		private_stop(session);
	}
}

REGHANDLE private_register_with(struct private_told *told)
{
	assert_int_equal(EventRegister(&private_provider_guid, on_enable, told, &told->provider),
			 ERROR_SUCCESS);
	return told->provider;
}

int private_make_folder(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/etw-private-XXXXXX",
		       getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(folder))
		return -1;
	/* A host cannot be there, nor be started. */
	return setenv("ETW_RUNTIME_DIR", private_path_of("none"), 1) ||
	       setenv("ETW_ETWD", "/nonexistent/etwd", 1);
}

int private_remove_folder(void **state)
{
	char command[512];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf -- '%s'", folder);
	return system(command);
}
