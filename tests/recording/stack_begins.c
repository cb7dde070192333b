/* SPDX-License-Identifier: MIT */
/*
 * stack_begins WRITER [PLUGIN] - the stack of each function's event begins in the function that calls it, wherever the
 * library is: shared, in a program that is fully static, or a copy that hands its callers on to another one.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <winerror.h>

#include "recording/children.h"
#include "recording/stack_begins.h"
#include "recording/support.h"

#define FUNCTIONS      5
#define FUNCTION_BYTES 4096 /* of the one that writes, at most */

static void enable(const struct recording *recording, const GUID *provider)
{
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
					      .EnableProperty = EVENT_ENABLE_PROPERTY_STACK_TRACE};

	if (EnableTraceEx2(recording->handle, provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
			   TRACE_LEVEL_VERBOSE, 0, 0, 0, &parameters) != ERROR_SUCCESS)
		fail("the provider cannot be enabled");
}

/* The addresses of an event's stack. */
static const uint64_t *find_stack(const EVENT_RECORD *record, unsigned *ret_count)
{
	for (USHORT i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		if (item->ExtType != EVENT_HEADER_EXT_TYPE_STACK_TRACE64 || item->DataSize < 16)
			continue;
		*ret_count = item->DataSize / 8 - 1;
		return (const uint64_t *)(uintptr_t)item->DataPtr + 1;
	}
	fail("an event has no stack");
}

static void WINAPI on_event(PEVENT_RECORD record)
{
	const EVENT_HEADER *header = &record->EventHeader;
	const bool is_logging = IsEqualGUID(&header->ProviderId, &stack_begins_logging);
	uint64_t function = header->EventDescriptor.Keyword;
	unsigned *events = record->UserContext;
	const uint64_t *frames;
	unsigned count = 0;

	if (!is_logging && !IsEqualGUID(&header->ProviderId, &stack_begins_provider))
		return;
	if (is_logging)
		memcpy(&function, record->UserData, sizeof(function));
	frames = find_stack(record, &count);
	if (count < 3)
		fail("event %u: %u frames", *events, count);
	if (frames[0] - function >= FUNCTION_BYTES)
		fail("the stack of event %u begins at %" PRIx64 ", the function at %" PRIx64,
		     *events, frames[0], function);
	(*events)++;
}

int main(int argc, char **argv)
{
	struct recording recording;
	unsigned events = 0;
	char file[256];
	int fd = -1;

	if (argc < 2 || argc > 3)
		fail("WRITER [PLUGIN]");
	(void)snprintf(file, sizeof(file), "%s/begins.etl", test_home());
	recording_start(&recording, &(struct recording_options){.name = "stack begins",
								.file = file,
								.buffer_kib = 64});
	enable(&recording, &stack_begins_provider);
	enable(&recording, &stack_begins_logging);
	await_end(start_program(argv[1], argv[2], fd, 0), "the writer");
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	if (recording_read(file, on_event, &events) != 0 || events != FUNCTIONS)
		fail("%u events", events);
	return 0;
}
