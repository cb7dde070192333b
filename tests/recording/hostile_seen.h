/* SPDX-License-Identifier: MIT */
/* What arrives of the honest among attackers, in a file or live, and what of it is forged. */
#ifndef ETW_TESTS_RECORDING_HOSTILE_SEEN_H
#define ETW_TESTS_RECORDING_HOSTILE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include <evntcons.h>

#include "recording/storm_shared.h"

#define HOSTILE_HONEST  2 /* writers: root's and another user's */
#define HOSTILE_NUMBERS (1u << 24)

struct hostile_seen {
	uint32_t pids[HOSTILE_HONEST]; /* of the honest writers; atomics */
	uint32_t first_place;          /* theirs in struct storm_shared */
	uint64_t last[HOSTILE_HONEST]; /* numbers rise within a file; 0 where one begins */
	uint64_t count[HOSTILE_HONEST];
	uint8_t is_there[HOSTILE_HONEST][HOSTILE_NUMBERS / 8];
	uint64_t others;
	uint64_t forged_honest, forged_provider, forged_items, forged_pid;
};

/* hostile_see_event() - takes an event in; the context is a struct hostile_seen. */
void WINAPI hostile_see_event(PEVENT_RECORD record);

/*
 * hostile_judge() - ends the program when something is forged, or missing in silence.
 *
 * @writers: the honest ones' accounts
 * @lost:    what was reported as lost there
 * @has_all: what is neither there nor lost has to be; false where old events make room for new ones
 */
void hostile_judge(const struct hostile_seen *seen, const struct storm_writer *writers,
		   const char *where, uint64_t lost, bool has_all);

#endif
