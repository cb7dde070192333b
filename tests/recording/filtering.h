/* SPDX-License-Identifier: MIT */
/*
 * What the tests of filters share: sessions into files, enables with filters, events of one provider, and what a file has
 * of them. Errors end the program.
 */
#ifndef ETW_TESTS_RECORDING_FILTERING_H
#define ETW_TESTS_RECORDING_FILTERING_H

#include <evntprov.h>
#include <evntrace.h>

#include "recording/support.h"

#define FILTERING_CALL_MS   600000
#define FILTERING_IDS       8 /* events have ids below */
#define FILTERING_NAME_ROOM 64
#define FILTERING_SEEN_ROOM 256

extern const GUID filtering_provider;

struct filtering_session {
	struct recording recording;
	char name[FILTERING_NAME_ROOM], file[256];
	/* What is in the file: */
	unsigned ids[FILTERING_IDS]; /* events of each id */
	unsigned named;              /* TraceLogging events */
	/* In their order: the digit of the id, or the first letter of the name; '+' behind those with a stack. */
	char seen[FILTERING_SEEN_ROOM];
	unsigned seen_count;
	ULONG lost;
};

/* filtering_start() - a session of this name. */
void filtering_start(struct filtering_session *session, const char *name);

/* filtering_end() - stops it and reads its file; nothing may be lost. */
void filtering_end(struct filtering_session *session);

/* filtering_expect_ids() - @wanted: a digit for each id from 1 on: how many events of it. */
void filtering_expect_ids(const struct filtering_session *session, const char *wanted);

/* filtering_expect_seen() - the file's events, as `seen` has them. */
void filtering_expect_seen(const struct filtering_session *session, const char *wanted);

/* filtering_tool() - `etw`, which says how many events were filtered. */
void filtering_tool(const char *path);

/* filtering_count() - what it says of a session that runs: how many; nothing may be lost. */
unsigned filtering_count(const struct filtering_session *session);
void filtering_expect_filtered(const struct filtering_session *session, unsigned wanted);

/* Filters of one enable; all of it zero: none. The data are borrowed. */
struct filtering_filters {
	EVENT_FILTER_DESCRIPTOR descriptors[MAX_EVENT_FILTERS_COUNT];
	ULONG count;
	ULONG property; /* EVENT_ENABLE_PROPERTY_* beside them */
};

void filtering_add(struct filtering_filters *filters, ULONG type, const void *data, size_t bytes);

/* filtering_control() - EnableTraceEx2 with @code; _enable() - to enable. Both wait for the callbacks. */
void filtering_control(struct filtering_session *session, ULONG code,
		       const struct filtering_filters *filters);
void filtering_enable(struct filtering_session *session, const struct filtering_filters *filters);

/* filtering_register() - the provider, and waits until it is enabled. */
REGHANDLE filtering_register(void);

/* filtering_write() - an event of level 4 and no keyword, with a number. */
void filtering_write(REGHANDLE provider, USHORT id, UINT32 value);

/* filtering_write_named() - an event as TraceLogging's macros make it. */
void filtering_write_named(REGHANDLE provider, const char *name, UCHAR level, ULONGLONG keyword);

#endif
