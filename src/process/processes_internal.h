/* SPDX-License-Identifier: MIT */
/* The inside of what is known of processes: processes.c answers, learn.c takes in. Private to src/process. */
#ifndef ETW_PROCESS_PROCESSES_INTERNAL_H
#define ETW_PROCESS_PROCESSES_INTERNAL_H

#include "base/arena.h"
#include "process/processes.h"
#include "process/timeline.h"

struct known_thread {
	uint32_t tid, pid;
	const char *name; /* NULL: none */
	bool has_end;
	int64_t end_ft;
};

struct etw_processes {
	struct etw_arena arena;
	struct etw_timelines pids; /* of struct etw_process_program */
	struct etw_timelines tids; /* of struct known_thread */
	struct etw_process **all;  /* owned; by number */
	size_t count, room;
	int64_t last_ft; /* of the events so far */
	uint64_t dropped;
	bool is_linux; /* some process is one of Linux */
};

#endif
