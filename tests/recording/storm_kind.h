/* SPDX-License-Identifier: MIT */
/* What kinds of session the storm has: its modes, what controllers ask of it, and how it is settled. */
#ifndef ETW_TESTS_RECORDING_STORM_KIND_H
#define ETW_TESTS_RECORDING_STORM_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include <evntrace.h>

/* What of the events is in the files. */
enum storm_account {
	STORM_NO_FILE,
	STORM_ALL,   /* each, but for those that are counted as lost */
	STORM_FIRST, /* the same, up to the conversion to real time, if there was one */
	STORM_NEWEST, /* each since the oldest buffer of the last file was written; older ones may be */
};

enum storm_live {
	STORM_DEAF,       /* there are no consumers */
	STORM_LIVE_ALL,   /* the first consumer gets all, but for those that are counted as lost */
	STORM_LIVE_LOOSE, /* real-time mode comes and goes; consumers take what they get */
};

/* What a controller asks of the session beside QUERY and FLUSH. */
enum storm_request {
	STORM_ASK_BUFFERS = 1, /* UPDATE of MaximumBuffers */
	STORM_ASK_TIMER = 2,   /* UPDATE of FlushTimer */
	STORM_ASK_FILE = 4,    /* UPDATE of LogFileName */
	STORM_ASK_REAL_TIME =
		8,           /* UPDATE of LogFileMode: with or without EVENT_TRACE_REAL_TIME_MODE */
	STORM_ASK_NEXT = 16, /* INCREMENT_FILE */
	STORM_ASK_CONVERT = 32,  /* CONVERT_TO_REALTIME */
	STORM_ASK_FLUSH_TO = 64, /* FLUSH with a LogFileName */
};

struct storm_kind {
	const char *name;
	ULONG mode;
	ULONG file_kib;    /* MaximumFileSize; 0: none */
	uint32_t requests; /* enum storm_request */
	enum storm_account account;
	enum storm_live live;
};

/* storm_kind_count() - how many there are. storm_kind_at() - one of them. */
uint32_t storm_kind_count(void);
const struct storm_kind *storm_kind_at(uint32_t index);

/* storm_kind_find() - its index, by its name; storm_kind_count(): there is none. */
uint32_t storm_kind_find(const char *name);

#endif
