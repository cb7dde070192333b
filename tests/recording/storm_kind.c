/* SPDX-License-Identifier: MIT */
#include "recording/storm_kind.h"

#include <string.h>

#include "base/macros.h"

#define SEQUENTIAL EVENT_TRACE_FILE_MODE_SEQUENTIAL
#define CIRCULAR   (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_USE_KBYTES_FOR_SIZE)
#define SERIES     (EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE)
#define REAL_TIME  EVENT_TRACE_REAL_TIME_MODE
#define NUMBERS    (STORM_ASK_BUFFERS | STORM_ASK_TIMER)

static const struct storm_kind kinds[] = {
	{"sequential and real time", SEQUENTIAL | REAL_TIME, 0, NUMBERS | STORM_ASK_FILE, STORM_ALL,
	 STORM_LIVE_ALL},
	{"sequential", SEQUENTIAL, 0, NUMBERS | STORM_ASK_FILE | STORM_ASK_REAL_TIME, STORM_ALL,
	 STORM_LIVE_LOOSE},
	{"circular", CIRCULAR, 1024, NUMBERS | STORM_ASK_FILE, STORM_NEWEST, STORM_DEAF},
	{"circular and real time", CIRCULAR | REAL_TIME, 1024, NUMBERS, STORM_NEWEST,
	 STORM_LIVE_ALL},
	{"series", SERIES, 512, NUMBERS | STORM_ASK_NEXT | STORM_ASK_REAL_TIME, STORM_ALL,
	 STORM_LIVE_LOOSE},
	{"buffering", EVENT_TRACE_BUFFERING_MODE, 0, STORM_ASK_TIMER | STORM_ASK_FLUSH_TO,
	 STORM_NEWEST, STORM_DEAF},
	{"compressed and real time", SEQUENTIAL | EVENT_TRACE_COMPRESSED_MODE | REAL_TIME, 0,
	 NUMBERS | STORM_ASK_FILE, STORM_ALL, STORM_LIVE_ALL},
	{"real time", REAL_TIME, 0, NUMBERS, STORM_NO_FILE, STORM_LIVE_ALL},
	{"converted to real time", SEQUENTIAL | REAL_TIME, 0, NUMBERS | STORM_ASK_CONVERT,
	 STORM_FIRST, STORM_LIVE_ALL},
};

uint32_t storm_kind_count(void)
{
	return ARRAY_SIZE(kinds);
}

const struct storm_kind *storm_kind_at(uint32_t index)
{
	return &kinds[index];
}

uint32_t storm_kind_find(const char *name)
{
	uint32_t index = 0;

	while (index < ARRAY_SIZE(kinds) && strcmp(kinds[index].name, name) != 0)
		index++;
	return index;
}
