/* SPDX-License-Identifier: MIT */
/*
 * What processes cost: their CPU time, by the best measure that the trace has, what they read and wrote, and the events that
 * are about them.
 * The processes themselves are known before (process/collect.h); events are added in order of time.
 *
 * Context: one owner thread.
 */
#ifndef ETW_PROCESS_USAGE_H
#define ETW_PROCESS_USAGE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "process/io.h"
#include "process/processes.h"

/* Each is better than those before it. */
enum etw_process_measure {
	ETW_PROCESS_BY_EVENTS,
	ETW_PROCESS_BY_TICKS,    /* what ending threads had used; of Linux' recordings */
	ETW_PROCESS_BY_SAMPLES,  /* profile samples times their distance */
	ETW_PROCESS_BY_SWITCHES, /* between context switches */
	ETW_PROCESS_MEASURES,
};

#define ETW_PROCESS_CPUS_MAX 2048

struct etw_process_share {
	const struct etw_processes *of;    /* of which machine */
	const struct etw_process *process; /* NULL: the trace only has the id */
	uint32_t pid;
	uint64_t events;
	uint64_t cpu_ft[ETW_PROCESS_MEASURES]; /* 100 ns; not ETW_PROCESS_BY_EVENTS */
	struct etw_process_io io;
};

struct etw_process_machine; /* what is kept of a machine */

struct etw_process_usage {
	struct etw_arena arena;
	struct etw_table shares;  /* in the arena */
	struct etw_table threads; /* in the arena: what ended threads had used */
	struct etw_process_machine *machines;
	struct etw_process_share *last;    /* the one found last, or NULL */
	struct etw_process_share **sorted; /* set by etw_process_usage_sort(); in the arena */
	enum etw_process_measure measure;
	struct etw_process_io_state io;
};

/* etw_process_usage_done() - frees everything; takes a zeroed usage. */
void etw_process_usage_done(struct etw_process_usage *usage);

/*
 * etw_process_usage_add() - takes in one event.
 *
 * @processes: of the event's machine; must outlive the usage
 * @tick_ft:   what one tick in an event's header is (TimerResolution)
 *
 * Returns 0 or -ENOMEM.
 */
int etw_process_usage_add(struct etw_process_usage *usage, const struct etw_processes *processes,
			  const struct etw_decoding *decoding, uint32_t processor,
			  uint32_t tick_ft);

/* etw_process_usage_sort() - busiest first, by the best measure there is. Returns 0 or -ENOMEM. */
int etw_process_usage_sort(struct etw_process_usage *usage);

/* etw_process_usage_find() - of a known process; NULL when no event is about it. */
const struct etw_process_share *etw_process_usage_find(const struct etw_process_usage *usage,
						       const struct etw_processes *processes,
						       const struct etw_process *process);

/* etw_process_usage_time() - CPU time by the measure that was chosen, 100 ns. */
uint64_t etw_process_usage_time(const struct etw_process_usage *usage,
				const struct etw_process_share *share);

#endif
