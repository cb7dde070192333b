/* SPDX-License-Identifier: MIT */
/*
 * write_events [COUNT [PAUSE_MS]] - a provider, as a Windows program would have one: registers, writes an event
 * for its start, COUNT pieces of work (10 by default) and its end, and says when a session enables or disables
 * it. Builds with `pkg-config --cflags --libs etw`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <winmeta.h>

/* {2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31} */
static const GUID provider_id = {
	0x2b7f4f6e, 0x8f0c, 0x4a5e, {0x9d, 0x11, 0x6f, 0x1f, 0x5c, 0x0a, 0x7e, 0x31}};

#define KEYWORD_LIFE 0x1
#define KEYWORD_WORK 0x2

/* Id, version, channel, level, opcode, task, keyword. */
static const EVENT_DESCRIPTOR started = {
	1, 0, 0, WINEVENT_LEVEL_INFO, WINEVENT_OPCODE_START, 1, KEYWORD_LIFE};
static const EVENT_DESCRIPTOR worked = {
	2, 0, 0, WINEVENT_LEVEL_VERBOSE, WINEVENT_OPCODE_INFO, 1, KEYWORD_WORK};
static const EVENT_DESCRIPTOR stopped = {
	3, 0, 0, WINEVENT_LEVEL_INFO, WINEVENT_OPCODE_STOP, 1, KEYWORD_LIFE};

static REGHANDLE provider;

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)all;
	(void)filter;
	(void)context;
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER)
		fprintf(stderr, "write_events: enabled, level %u, keywords 0x%" PRIx64 "\n", level,
			(uint64_t)any);
	else if (code == EVENT_CONTROL_CODE_DISABLE_PROVIDER)
		fprintf(stderr, "write_events: disabled\n");
}

/* An event of three fields: a number, a measurement and text. */
static ULONG write_work(uint32_t number, double seconds, const char *text)
{
	EVENT_DATA_DESCRIPTOR fields[3];

	EventDataDescCreate(&fields[0], &number, sizeof(number));
	EventDataDescCreate(&fields[1], &seconds, sizeof(seconds));
	EventDataDescCreate(&fields[2], text, (ULONG)strlen(text) + 1);
	return EventWrite(provider, &worked, 3, fields);
}

static ULONG write_count(const EVENT_DESCRIPTOR *descriptor, uint32_t count)
{
	EVENT_DATA_DESCRIPTOR field;

	EventDataDescCreate(&field, &count, sizeof(count));
	return EventWrite(provider, descriptor, 1, &field);
}

static uint32_t parse(const char *text, uint32_t otherwise)
{
	return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	const uint32_t count = parse(argc > 1 ? argv[1] : NULL, 10);
	const uint32_t pause_ms = parse(argc > 2 ? argv[2] : NULL, 0);
	const struct timespec pause = {pause_ms / 1000, (long)(pause_ms % 1000) * 1000000};
	uint32_t lost = 0;
	ULONG error;

	if (argc > 3) {
		fprintf(stderr, "usage: write_events [COUNT [PAUSE_MS]]\n");
		return 2;
	}
	error = EventRegister(&provider_id, on_enable, NULL, &provider);
	if (error) {
		fprintf(stderr, "write_events: EventRegister: error %u\n", (unsigned)error);
		return 1;
	}
	lost += write_count(&started, count) != ERROR_SUCCESS;
	for (uint32_t i = 0; i < count; i++) {
		lost += write_work(i, i / 8.0, "a piece of work") != ERROR_SUCCESS;
		if (pause_ms)
			(void)nanosleep(&pause, NULL);
	}
	lost += write_count(&stopped, count) != ERROR_SUCCESS;
	printf("%u events written, %u refused, %s\n", (unsigned)(count + 2 - lost), (unsigned)lost,
	       EventEnabled(provider, &started) ? "enabled" : "not enabled");
	(void)EventUnregister(provider);
	return 0;
}
