/* SPDX-License-Identifier: MIT */
/* What is in the files of a session of the storm. What is wrong with them ends the program. */
#ifndef ETW_TESTS_RECORDING_STORM_CHECK_H
#define ETW_TESTS_RECORDING_STORM_CHECK_H

#include <stdint.h>

#include <evntrace.h>

#include "recording/storm_shared.h"

/* What is known of the writers' threads when they pause. */
struct storm_calls {
	uint32_t count;           /* of threads, ever */
	const uint64_t *settled;  /* by thread: calls before this session */
	const uint64_t *returned; /* calls that have returned, ever */
};

struct storm_found {
	uint64_t last[STORM_WRITERS_MAX];  /* by thread: the highest number; 0: none is there */
	uint64_t first[STORM_WRITERS_MAX]; /* of those that storm_check_newest() looks for */
	uint64_t events[STORM_WRITERS_MAX];
	uint64_t count;
};

/* storm_check_file() - adds a file's events, each thread's in order and behind what is there of it already. */
void storm_check_file(const char *path, const struct storm_calls *calls, struct storm_found *found);

/* storm_check_tried() - what is there of each thread it has tried. */
void storm_check_tried(const struct storm_calls *calls, const struct storm_found *found);

/* storm_check_header() - that the file says what the session said when it stopped. */
void storm_check_header(const char *path, const EVENT_TRACE_PROPERTIES *properties);

/* storm_check_gaps() - how many events between each thread's first and last one are not there. */
uint64_t storm_check_gaps(const struct storm_calls *calls, const struct storm_found *found);

/*
 * storm_check_newest() - of a file in which newer events take the place of older ones: how many of those are not there
 * that came after the oldest buffer was written. From each thread's first one there on, each is to be there that it
 * has tried. Less than 0: calls that have not returned have written.
 */
int64_t storm_check_newest(const char *path, const struct storm_calls *calls,
			   struct storm_found *found);

#endif
