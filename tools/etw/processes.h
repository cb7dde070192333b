/* SPDX-License-Identifier: MIT */
/*
 * Which processes a trace is about: their names from Process events, their CPU time from context
 * switches or, without those, from profile samples; the number of their events in any case.
 */
#ifndef ETW_TOOLS_ETW_PROCESSES_H
#define ETW_TOOLS_ETW_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "decode/decode.h"

struct process {
	uint32_t pid;
	const char *name; /* NULL when unknown; in the arena */
	uint64_t events;
	uint64_t switch_ft;  /* CPU time by context switches, 100 ns */
	uint64_t samples_ft; /* CPU time by samples, 100 ns */
};

enum process_measure {
	PROCESS_BY_EVENTS,
	PROCESS_BY_SAMPLES,
	PROCESS_BY_SWITCHES,
};

#define PROCESS_CPUS_MAX 2048

struct processes {
	struct etw_arena arena;
	struct etw_table processes, threads; /* items in the arena */
	int64_t *switched_ft;                /* owned; by processor, 0: not yet */
	int64_t sample_ft;                   /* between two samples of a processor */
	struct process **sorted;             /* set by processes_sort(); in the arena */
	enum process_measure measure;
};

/* processes_done() - frees everything; takes a zeroed struct. */
void processes_done(struct processes *processes);

/* processes_add() - takes in one event, in order of time. Returns 0 or -ENOMEM. */
int processes_add(struct processes *processes, const struct etw_decoding *decoding,
		  uint32_t processor);

/* processes_sort() - busiest first, by the best measure there is. Returns 0 or -ENOMEM. */
int processes_sort(struct processes *processes);

/* processes_time() - CPU time by the measure that was chosen, 100 ns. */
uint64_t processes_time(const struct processes *processes, const struct process *process);

#endif
