/* SPDX-License-Identifier: MIT */
/* The processes of the machines that traces come from. Traces of one machine share what they tell. */
#ifndef ETW_TOOLS_COMMON_MACHINE_PROCESSES_H
#define ETW_TOOLS_COMMON_MACHINE_PROCESSES_H

#include "consumer/trace.h"
#include "process/collect.h"
#include "process/processes.h"

struct etw_machine_processes {
	struct etw_processes **of_trace; /* borrowed from `machines`, one for each trace */
	struct etw_processes **machines; /* owned */
	struct etw_process_collector **collectors; /* owned, one for each machine */
	size_t traces, count;                      /* `count` machines */
};

/*
 * etw_machine_processes_init() - one machine for all traces whose headers are of the same one.
 *
 * Two headers are of the same machine when build, processors and the time of boot agree: ids of different boots mean
 * different processes. Returns 0 or -ENOMEM; etw_machine_processes_done() in both cases.
 */
int etw_machine_processes_init(struct etw_machine_processes *processes,
			       struct etw_trace *const *traces, size_t count);
void etw_machine_processes_done(struct etw_machine_processes *processes);

/* etw_machine_processes_keep() - keeps an event of this trace with raw time, when it tells of a process. Returns 0 or -ENOMEM. */
int etw_machine_processes_keep(struct etw_machine_processes *processes, size_t trace,
			       const struct etw_clock *clock, const EVENT_RECORD *record);

/* etw_machine_processes_teach() - takes in what was kept. Returns 0 or -ENOMEM. */
int etw_machine_processes_teach(struct etw_machine_processes *processes,
				struct etw_decoder *decoder);

/* etw_machine_processes_is_empty() - whether no trace tells of any process or thread. */
bool etw_machine_processes_is_empty(const struct etw_machine_processes *processes);

/* etw_machine_processes_of() - the processes of a trace's machine; NULL when nobody wanted to know them. */
static inline struct etw_processes *etw_machine_processes_of(
	const struct etw_machine_processes *processes, size_t trace)
{
	return processes->of_trace ? processes->of_trace[trace] : NULL;
}

#endif
