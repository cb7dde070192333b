/* SPDX-License-Identifier: MIT */
/* How much time on a processor a warm etw_schema_store_find() takes per kind of event. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/store/store.h"

#define ROUNDS 20000000

static const char manifest[] = "<instrumentationManifest><instrumentation><events>"
			       "<provider name='P' guid='{11112222-3333-4444-5555-666677778888}'>"
			       "<events><event value='1'/><event value='2'/></events>"
			       "</provider></events></instrumentation></instrumentationManifest>";

static double now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Two events in turn, so that the answer is not always the same. */
static void measure(struct etw_schema_store *store, const char *name, EVENT_RECORD records[2])
{
	double begin = now_ns();
	uint64_t found = 0;

	for (int i = 0; i < ROUNDS; i++)
		found += etw_schema_store_find(store, &records[i & 1], NULL) != NULL;
	printf("%-14s %6.1f ns per event, %5.1f %% found\n", name, (now_ns() - begin) / ROUNDS,
	       100.0 * (double)found / ROUNDS);
}

int main(void)
{
	static const uint8_t metadata[] =
		"\x2f\0\0SomeEventName\0FirstField\0\x08Second\0\x01Third";
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {
		.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
		.DataSize = sizeof(metadata),
		.DataPtr = (uintptr_t)metadata,
	};
	EVENT_RECORD records[2] = {0};
	struct etw_schema_store *store;

	if (etw_schema_store_create(&store) < 0 ||
	    etw_schema_store_add_manifest(store, manifest, sizeof(manifest) - 1, NULL) < 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		(void)etw_guid_parse("11112222-3333-4444-5555-666677778888",
				     &records[i].EventHeader.ProviderId);
		records[i].EventHeader.EventDescriptor.Id = (USHORT)(i + 1);
	}
	measure(store, "manifest", records);
	records[1].EventHeader.EventDescriptor.Id = 99;
	measure(store, "half unknown", records);
	for (int i = 0; i < 2; i++) {
		records[i].ExtendedData = &item;
		records[i].ExtendedDataCount = 1;
	}
	measure(store, "TraceLogging", records);
	for (int i = 0; i < 2; i++) {
		(void)etw_guid_parse("3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
				     &records[i].EventHeader.ProviderId);
		records[i].EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
		records[i].EventHeader.EventDescriptor.Opcode = (UCHAR)(i + 1);
		records[i].EventHeader.EventDescriptor.Version = 3;
	}
	measure(store, "classic", records);
	etw_schema_store_free(store);
	return 0;
}
