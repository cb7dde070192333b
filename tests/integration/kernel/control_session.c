/* SPDX-License-Identifier: MIT */
/*
 * Starts a session of one process tree, and does with it what lines on standard input say, through the public API:
 *
 *     control_session NAME FILE ENABLE_FLAGS PID
 *
 *     enable GUID LEVEL ANY ALL PROPERTY in|out ID,ID    a provider; "in -" for no filter of event ids
 *     flush                                              what happened so far is recorded as it was wanted
 *
 * Numbers other than ids and processes are hexadecimal. Each line, and the start, is answered by "ok" or "error NUMBER". The session is
 * stopped at the end of the input; then comes a line with the events lost. With flags it is a system logger. PID 0 is everybody.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntcons.h>
#include <evntrace.h>
#include <winerror.h>

#include "base/guid.h"
#include "control/control.h"
#include "control/instance.h"
#include "wire/group_masks.h"

#define IDS_MAX    64
#define TEXT_BYTES 256
#define ENABLE_MS  10000

/* What StartTrace cannot say is which process is recorded alone. Returns 0 or negative errno. */
static int start(char *const *arguments, struct etw_controller **ret_controller, TRACEHANDLE *ret)
{
	static struct wire_session_config config;
	static struct wire_session_info info;
	int result = etw_controller_open(ETW_INSTANCE_SYSTEM, /* is_starting= */ true, NULL,
					 ret_controller);

	if (result)
		return result;
	config = (struct wire_session_config){
		.buffer_kib = 256,
		.minimum_buffers = 32,
		.maximum_buffers = 64,
		.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.kernel = {.parts = WIRE_KERNEL_PARTS},
		.controller_pid = (uint32_t)getpid(),
		.file_mode = 0600,
		.is_leased = 1,
	};
	etw_group_masks_of_flags((uint32_t)strtoul(arguments[3], NULL, 16),
				 config.kernel.group_masks);
	config.kernel.only_pid = (uint32_t)strtoul(arguments[4], NULL, 10);
	if (config.kernel.group_masks[0] || config.kernel.only_pid)
		config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	(void)snprintf(config.name, sizeof(config.name), "%s", arguments[1]);
	(void)snprintf(config.log_file, sizeof(config.log_file), "%s", arguments[2]);
	(void)snprintf(config.log_file_shown, sizeof(config.log_file_shown), "%s", arguments[2]);
	result = etw_control_start(*ret_controller, &config, &info);
	*ret = info.handle;
	return result;
}

/* Returns the events lost, or negative errno. */
static long control(struct etw_controller *controller, TRACEHANDLE session, uint32_t code)
{
	static struct wire_session_info info;
	static struct wire_control request;
	int result;

	request.code = code;
	request.handle = session;
	result = etw_control(controller, &request, &info);
	return result ? result : (long)info.events_lost;
}

static void answer(ULONG error)
{
	if (error)
		printf("error %u\n", (unsigned)error);
	else
		printf("ok\n");
	(void)fflush(stdout);
}

/* Numbers with commas. Returns how many they are. */
static unsigned read_ids(const char *words, USHORT *to)
{
	unsigned count = 0;
	char *end = NULL;

	while (count < IDS_MAX) {
		to[count] = (USHORT)strtoul(words, &end, 10);
		if (end == words)
			return count;
		count++;
		words = end + (*end == ',');
	}
	return count;
}

static ULONG enable(TRACEHANDLE session, const char *line)
{
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};
	static _Alignas(8) UCHAR room[sizeof(EVENT_FILTER_EVENT_ID) + IDS_MAX * sizeof(USHORT)];
	EVENT_FILTER_EVENT_ID *filter = (void *)room;
	EVENT_FILTER_DESCRIPTOR descriptor = {.Ptr = (ULONGLONG)(ULONG_PTR)filter,
					      .Type = EVENT_FILTER_TYPE_EVENT_ID};
	unsigned level, property;
	unsigned long long any, all;
	char text[64], way[8], ids[TEXT_BYTES];
	GUID provider;

	if (sscanf(line, "enable %63s %x %llx %llx %x %7s %255s", text, &level, &any, &all,
		   &property, way, ids) != 7 ||
	    etw_guid_parse(text, &provider))
		return ERROR_INVALID_PARAMETER;
	parameters.EnableProperty = property;
	memset(room, 0, sizeof(room));
	filter->FilterIn = strcmp(way, "in") == 0;
	filter->Count = (USHORT)read_ids(ids, filter->Events);
	if (filter->Count) {
		descriptor.Size = (ULONG)(offsetof(EVENT_FILTER_EVENT_ID, Events) +
					  filter->Count * sizeof(USHORT));
		parameters.EnableFilterDesc = &descriptor;
		parameters.FilterDescCount = 1;
	}
	return EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, (UCHAR)level,
			      any, all, ENABLE_MS, &parameters);
}

int main(int argc, char **argv)
{
	struct etw_controller *controller;
	TRACEHANDLE session = 0;
	char line[2048];
	int result;

	if (argc != 5)
		return 2;
	result = start(argv, &controller, &session);
	answer((ULONG)-result);
	if (result)
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "enable ", 7) == 0)
			answer(enable(session, line));
		else if (strncmp(line, "flush", 5) == 0)
			answer(control(controller, session, WIRE_CONTROL_FLUSH) < 0);
		else
			answer(ERROR_INVALID_FUNCTION);
	}
	printf("%ld\n", control(controller, session, WIRE_CONTROL_STOP));
	etw_controller_close(controller);
	return 0;
}
