/* SPDX-License-Identifier: MIT */
/* See recording/filtering.h. */
#include "recording/filtering.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <evntcons.h>
#include <winerror.h>

#include "base/macros.h"
#include "recording/enabled.h"

#define NAME_AT 3 /* in a TraceLogging event's metadata: behind their size and a byte of tags */

const GUID filtering_provider = {
	0x2f1d6b1c, 0x8a53, 0x4b0e, {0x9c, 0x35, 0x11, 0x4e, 0x0b, 0x77, 0x2a, 0x61}};

static const char *etw; /* the tool */

void filtering_start(struct filtering_session *session, const char *name)
{
	const struct recording_options options = {
		.name = session->name, .file = session->file, .buffer_kib = 64, .buffers = 16};

	memset(session, 0, sizeof(*session));
	(void)snprintf(session->name, sizeof(session->name), "%s", name);
	(void)snprintf(session->file, sizeof(session->file), "%s/%s.etl", test_home(), name);
	recording_start(&session->recording, &options);
}

static void see(struct filtering_session *session, char what)
{
	if (session->seen_count + 1 < sizeof(session->seen))
		session->seen[session->seen_count++] = what;
}

static void count_event(PEVENT_RECORD record)
{
	struct filtering_session *session = record->UserContext;
	const USHORT id = record->EventHeader.EventDescriptor.Id;
	const char *name = NULL;
	bool has_stack = false;

	if (!IsEqualGUID(&record->EventHeader.ProviderId, &filtering_provider))
		return;
	for (USHORT i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];

		if (item->ExtType == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL)
			name = (const char *)(uintptr_t)item->DataPtr + NAME_AT;
		has_stack |= item->ExtType == EVENT_HEADER_EXT_TYPE_STACK_TRACE64;
	}
	if (name) {
		session->named++;
		see(session, *name);
	} else {
		if (id >= FILTERING_IDS)
			fail("an event of id %u", id);
		session->ids[id]++;
		see(session, (char)('0' + id));
	}
	if (has_stack)
		see(session, '+');
}

void filtering_end(struct filtering_session *session)
{
	recording_control(&session->recording, EVENT_TRACE_CONTROL_STOP);
	session->lost = recording_read(session->file, count_event, session);
	if (session->lost)
		fail("%s: %u events lost", session->name, (unsigned)session->lost);
}

void filtering_expect_ids(const struct filtering_session *session, const char *wanted)
{
	for (unsigned i = 0; wanted[i]; i++) {
		if (session->ids[i + 1] != (unsigned)(wanted[i] - '0'))
			fail("%s: %u events of id %u, not %c", session->name, session->ids[i + 1],
			     i + 1, wanted[i]);
	}
}

void filtering_expect_seen(const struct filtering_session *session, const char *wanted)
{
	if (strcmp(session->seen, wanted) != 0)
		fail("%s: \"%s\" and not \"%s\"", session->name, session->seen, wanted);
}

void filtering_tool(const char *path)
{
	etw = path;
}

unsigned filtering_count(const struct filtering_session *session)
{
	static const char nothing_lost[] = "  events lost: 0\n";
	static const char some_filtered[] = "  events filtered: ";
	char command[600], text[8192], name[FILTERING_NAME_ROOM + 32];
	unsigned filtered = 0;
	const char *line;
	size_t bytes;
	FILE *pipe;

	(void)snprintf(command, sizeof(command), "'%s' sessions --verbose", etw);
	pipe = popen(command, "re");
	if (!pipe)
		fail("popen: %s", strerror(errno));
	bytes = fread(text, 1, sizeof(text) - 1, pipe);
	text[bytes] = '\0';
	if (pclose(pipe) != 0)
		fail("etw sessions: %s", text);
	(void)snprintf(name, sizeof(name), "\n%s:\n", session->name);
	line = strstr(text, name);
	line = line ? strstr(line, "  events lost") : NULL;
	if (!line || strncmp(line, nothing_lost, strlen(nothing_lost)) != 0)
		fail("etw sessions does not say of %s that nothing is lost: %s", session->name,
		     text);
	line += strlen(nothing_lost);
	/* Of none there is no line; of thousands there are commas. */
	if (strncmp(line, some_filtered, strlen(some_filtered)) != 0)
		return 0;
	for (line += strlen(some_filtered); (*line >= '0' && *line <= '9') || *line == ','; line++)
		filtered = *line == ',' ? filtered : filtered * 10 + (unsigned)(*line - '0');
	if (*line != '\n')
		fail("etw sessions says of %s: %s", session->name, line);
	return filtered;
}

void filtering_expect_filtered(const struct filtering_session *session, unsigned wanted)
{
	const unsigned filtered = filtering_count(session);

	if (filtered != wanted)
		fail("%s: %u events filtered, not %u", session->name, filtered, wanted);
}

void filtering_add(struct filtering_filters *filters, ULONG type, const void *data, size_t bytes)
{
	filters->descriptors[filters->count++] =
		(EVENT_FILTER_DESCRIPTOR){(ULONGLONG)(ULONG_PTR)data, (ULONG)bytes, type};
}

void filtering_control(struct filtering_session *session, ULONG code,
		       const struct filtering_filters *filters)
{
	ENABLE_TRACE_PARAMETERS parameters = {
		.Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
		.EnableProperty = filters->property,
		.EnableFilterDesc = (PEVENT_FILTER_DESCRIPTOR)(ULONG_PTR)filters->descriptors,
		.FilterDescCount = filters->count,
	};
	ULONG error = EnableTraceEx2(session->recording.handle, &filtering_provider, code, 0, 0, 0,
				     FILTERING_CALL_MS, &parameters);

	if (error)
		fail("EnableTraceEx2: error %u", (unsigned)error);
}

void filtering_enable(struct filtering_session *session, const struct filtering_filters *filters)
{
	filtering_control(session, EVENT_CONTROL_CODE_ENABLE_PROVIDER, filters);
}

REGHANDLE filtering_register(void)
{
	REGHANDLE provider;

	if (EventRegister(&filtering_provider, NULL, NULL, &provider))
		fail("EventRegister failed");
	if (!becomes_enabled(provider))
		fail("the provider is not enabled");
	return provider;
}

void filtering_write(REGHANDLE provider, USHORT id, UINT32 value)
{
	EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;
	ULONG error;

	EventDataDescCreate(&data, &value, sizeof(value));
	error = EventWrite(provider, &descriptor, 1, &data);
	if (error)
		fail("EventWrite of id %u: error %u", id, (unsigned)error);
}

void filtering_write_named(REGHANDLE provider, const char *name, UCHAR level, ULONGLONG keyword)
{
	EVENT_DESCRIPTOR descriptor = {.Channel = 11, .Level = level, .Keyword = keyword};
	EVENT_DATA_DESCRIPTOR data[2];
	uint8_t metadata[NAME_AT + FILTERING_NAME_ROOM] = {0};
	const size_t bytes = NAME_AT + strlen(name) + 1;
	BOOLEAN is_typed = TRUE;
	UINT32 value = 1;

	if (EventSetInformation(provider, EventProviderUseDescriptorType, &is_typed,
				sizeof(is_typed)))
		fail("EventSetInformation failed");
	metadata[0] = (uint8_t)bytes;
	memcpy(metadata + NAME_AT, name, strlen(name) + 1);
	EventDataDescCreate(&data[0], metadata, (ULONG)bytes);
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[1], &value, sizeof(value));
	if (EventWriteTransfer(provider, &descriptor, NULL, NULL, ARRAY_SIZE(data), data))
		fail("EventWriteTransfer of %s failed", name);
}
