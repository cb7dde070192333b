/* SPDX-License-Identifier: MIT */
/*
 * write_tracelogging [COUNT] - a TraceLogging provider: the events carry their own description, so that nobody needs a
 * manifest to read them. Writes COUNT downloads (3 by default), each an activity of three events. To see them:
 *
 *   etw record --provider Libetw-Examples-TraceLogging -o t.etl -- ./write_tracelogging && etw dump t.etl
 *
 * Builds with `pkg-config --cflags --libs etw`.
 */
#include <stdio.h>
#include <stdlib.h>

#include <TraceLoggingProvider.h>
#include <winerror.h>
#include <winmeta.h>

/* The id is derived from the name, which is what `etw record --provider NAME` does with a name that it does not know. */
TRACELOGGING_DEFINE_PROVIDER(provider, "Libetw-Examples-TraceLogging",
			     (0xc161b599, 0x004e, 0x505a, 0x5d, 0xc1, 0xea, 0x64, 0xf6, 0x6c, 0xeb,
			      0xf5));

#define KEYWORD_DOWNLOAD 0x1

struct block {
	UINT32 offset;
	UINT16 bytes;
};

static void write_download(UINT32 number)
{
	const struct block blocks[] = {{0, 512}, {512, 128}};
	const UINT16 sizes[] = {blocks[0].bytes, blocks[1].bytes};
	GUID activity;

	(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &activity);
	TraceLoggingWriteActivity(
		provider, "Download", &activity, NULL, TraceLoggingOpcode(WINEVENT_OPCODE_START),
		TraceLoggingKeyword(KEYWORD_DOWNLOAD), TraceLoggingUInt32(number, "Number"),
		TraceLoggingString("https://example.org/a", "Url"));
	TraceLoggingWriteActivity(
		provider, "Received", &activity, NULL, TraceLoggingLevel(WINEVENT_LEVEL_VERBOSE),
		TraceLoggingKeyword(KEYWORD_DOWNLOAD),
		TraceLoggingUInt16FixedArray(sizes, 2, "Sizes"), TraceLoggingStruct(2, "LastBlock"),
		TraceLoggingUInt32(blocks[1].offset, "Offset"),
		TraceLoggingUInt16(blocks[1].bytes, "Bytes"));
	TraceLoggingWriteActivity(
		provider, "Download", &activity, NULL, TraceLoggingOpcode(WINEVENT_OPCODE_STOP),
		TraceLoggingKeyword(KEYWORD_DOWNLOAD), TraceLoggingHResult(0, "Result"));
}

int main(int argc, char **argv)
{
	const UINT32 count = argc > 1 ? (UINT32)strtoul(argv[1], NULL, 10) : 3;
	TLG_STATUS status;

	if (argc > 2) {
		fprintf(stderr, "usage: write_tracelogging [COUNT]\n");
		return 2;
	}
	status = TraceLoggingRegister(provider);
	if (status) {
		fprintf(stderr, "write_tracelogging: TraceLoggingRegister: error %u\n",
			(unsigned)status);
		return 1;
	}
	for (UINT32 i = 0; i < count; i++)
		write_download(i);
	printf("%u downloads written, %s\n", (unsigned)count,
	       TraceLoggingProviderEnabled(provider, 0, 0) ? "enabled" : "not enabled");
	TraceLoggingUnregister(provider);
	return 0;
}
