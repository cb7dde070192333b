/* SPDX-License-Identifier: MIT */
/* What the scenarios of statistics.c record, and what is held against each other then (statistics_check.c). */
#ifndef ETW_TESTS_RECORDING_STATISTICS_H
#define ETW_TESTS_RECORDING_STATISTICS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <evntcons.h>
#include <evntrace.h>

#include "wire/message.h"

#define WRITERS  2
#define CPUS_MAX 2048

enum consumer {
	NOBODY,
	PROMPT, /* from the start, and reads all the time */
	SLOW,   /* from the start, and stands at its first event until everything is written */
	LATE,   /* comes when everything is written */
	DEAD,   /* as SLOW, and then it is killed there */
};

struct scenario {
	const char *name;
	bool has_file, is_realtime;
	enum consumer consumer;
	uint32_t events, payload; /* of each writer, that succeed */
	ULONG buffers;            /* of 4 KB, in all */
	ULONG maximum_mib, mode, clock;
	bool has_two_uids, loses_buffers;
	bool is_overrun; /* a consumer may lose buffers, or not: its memory is as small as the session's */
	bool kills_host; /* when everything is written */
};

/* Shared with the writers. */
struct shared {
	uint32_t is_begun; /* atomic */
	uint32_t goes_on;  /* behind the first event; atomic */
	struct {
		uint32_t begins, is_at_gate, gate; /* atomics */
	} dead;
	struct {
		uint32_t is_ready; /* atomic */
		uint64_t succeeded, refused;
	} writers[WRITERS];
};

/* What a reader of a file, or a consumer, finds. */
struct seen {
	uint64_t of[CPUS_MAX];
	uint64_t lost_events_of[CPUS_MAX]; /* RT_LostEvent */
	uint64_t events, notes, lost_events, lost_buffers, others;
	uint32_t *gate; /* at the first event: until it is 1; atomic. NULL: none */
	uint32_t *is_at_gate;
};

/* What the session says of itself when everything is written. */
struct told {
	struct wire_statistics sums;
	struct wire_cpu_statistics cpus[CPUS_MAX];
	struct wire_cpu_statistics all;
	EVENT_TRACE_PROPERTIES query, stop;
};

struct live {
	struct seen seen;
	TRACEHANDLE trace;
	pthread_t thread;
	ULONG result;
	TRACE_LOGFILE_HEADER header;
	uint32_t gate, is_at_gate;
};

extern const GUID statistics_provider;
extern struct told statistics_told;
extern struct live statistics_live;

/* statistics_is_series() - whether it writes one file after the other. */
bool statistics_is_series(const struct scenario *scenario);

/* statistics_expect(), statistics_expect_whether() - end the program where it is not so. */
void statistics_expect(const char *what, uint64_t found, uint64_t expected);
void statistics_expect_whether(const char *what, bool found, bool expected);

/* statistics_see() - counts an event for the struct seen that is its context. */
void WINAPI statistics_see(PEVENT_RECORD record);

/* statistics_check() - everything, when the session has ended. */
void statistics_check(const struct scenario *scenario, const struct shared *shared,
		      const char *file);

#endif
