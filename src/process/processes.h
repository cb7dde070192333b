/* SPDX-License-Identifier: MIT */
/*
 * The processes of one machine as its events tell of them: names, command lines, parents, sessions, starts and ends;
 * and of which process each thread is. Ids are used again, and one process may run several programs, so every answer
 * is one for a time.
 *
 * The source is the classic Process and Thread events and Microsoft-Windows-Kernel-Process. They are taken in in order
 * of time: as they come (a session), or before anything else is asked (a file: process/collect.h), so that names are
 * known from the first event on even where the rundown is at the end of the trace.
 *
 * Strings are as the trace has them, in UTF-8, control characters included: who shows them makes them harmless.
 * Context: one owner thread.
 */
#ifndef ETW_PROCESS_PROCESSES_H
#define ETW_PROCESS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/decode.h"
#include "process/subject.h"

/* What is kept of hostile traces at most. */
#define ETW_PROCESSES_MAX          ((size_t)1 << 20)
#define ETW_PROCESS_THREADS_MAX    ((size_t)1 << 22)
#define ETW_PROCESS_TEXT_BYTES_MAX ((size_t)256 << 20)

/* A program that a process ran; on Linux an exec begins the next one. */
struct etw_process_program {
	struct etw_process *process;
	int64_t from_ft;          /* INT64_MIN: from the beginning */
	const char *name;         /* without its folder; NULL when unknown */
	const char *path;         /* as the trace has it; NULL when it only has the name */
	const char *command_line; /* NULL when the trace has none */
	const struct etw_process_program *before; /* NULL for the first */
};

struct etw_process {
	uint32_t pid;
	uint32_t parent_pid;                 /* ETW_PROCESS_NONE when unknown */
	uint32_t session_id;                 /* terminal session; ETW_PROCESS_NONE when unknown */
	uint32_t number;                     /* from 0, in the order in which they became known */
	uint64_t key;                        /* UniqueProcessKey; 0 when unknown */
	struct etw_process_program *program; /* the last one; never NULL */
	const char *user_sid;                /* "S-1-5-18"; NULL when unknown */
	int64_t from_ft; /* from here on events with this pid are its own; INT64_MIN: from the beginning */
	int64_t created_ft; /* as a rundown says it; 0 when it does not */
	int64_t start_ft;   /* when has_start */
	int64_t end_ft;     /* when has_end; 0: before the trace, nobody says when */
	bool has_start;     /* the trace has its start */
	bool has_end;
	bool has_exit_status;
	bool is_seen_at_end; /* the rundown at the end lists it: it was still running */
	bool is_linux;       /* exit_status is as waitpid() gives it */
	uint32_t exit_status;
	uint8_t starts, ends; /* who told: private to the module */
};

struct etw_processes;

/* etw_processes_create() - knows nothing yet. Returns 0 or -ENOMEM. */
int etw_processes_create(struct etw_processes **ret);

/* etw_processes_free() - frees all that was handed out; takes NULL. */
void etw_processes_free(struct etw_processes *processes);

/*
 * etw_processes_is_lifecycle() - whether an event can be of the lifecycle of a process or thread: a start, an end,
 * a rundown, a name.
 *
 * Cheap enough to ask of every event of a trace.
 */
bool etw_processes_is_lifecycle(const EVENT_RECORD *record);

/*
 * etw_processes_add() - takes in what one decoded event tells; events of other kinds are ignored.
 *
 * @time_ft: of the event, whatever its record says; not before that of the event before, or else it counts as that
 *
 * What goes beyond the limits above is dropped and counted. Returns 0 or -ENOMEM.
 */
int etw_processes_add(struct etw_processes *processes, const struct etw_decoding *decoding,
		      int64_t time_ft);

/*
 * etw_processes_find() - the process that had this id at this time.
 *
 * After its end a process is still the answer until another one has the id. Returns NULL when no event has told
 * of one, or when the first to have the id had not started yet.
 */
const struct etw_process *etw_processes_find(const struct etw_processes *processes, uint32_t pid,
					     int64_t time_ft);

/*
 * etw_processes_pid_of_thread() - the process that this thread belonged to at this time.
 *
 * Thread 0 is the idle thread of every processor, of process 0. Returns ETW_PROCESS_NONE when unknown.
 */
uint32_t etw_processes_pid_of_thread(const struct etw_processes *processes, uint32_t tid,
				     int64_t time_ft);

/*
 * etw_processes_thread_name() - as Windows 10's SetThreadDescription() and Linux' comm give it.
 *
 * Returns NULL when unknown or empty.
 */
const char *etw_processes_thread_name(const struct etw_processes *processes, uint32_t tid,
				      int64_t time_ft);

/* etw_processes_resolve() - fills in `pid` from `tid` where an event only names the thread. */
static inline void etw_processes_resolve(const struct etw_processes *processes,
					 struct etw_process_ids *ids, int64_t time_ft)
{
	if (ids->pid == ETW_PROCESS_NONE && ids->tid != ETW_PROCESS_NONE)
		ids->pid = etw_processes_pid_of_thread(processes, ids->tid, time_ft);
}

/* etw_processes_program() - what the process that had this id at this time ran then; NULL when unknown. */
const struct etw_process_program *etw_processes_program(const struct etw_processes *processes,
							uint32_t pid, int64_t time_ft);

/*
 * etw_processes_name() - the name of the process that had this id at this time.
 *
 * "Idle" and "System" for ids 0 and 4 of a Windows trace that does not name them. NULL when unknown.
 */
const char *etw_processes_name(const struct etw_processes *processes, uint32_t pid,
			       int64_t time_ft);

/*
 * etw_processes_parent() - the process that started this one, or NULL.
 *
 * Never the process itself; of processes whose start the trace does not have, circles are possible (process/tree.h
 * cuts them).
 */
const struct etw_process *etw_processes_parent(const struct etw_processes *processes,
					       const struct etw_process *process);

/* etw_processes_count() - and the process with this number; NULL at or above the count. */
size_t etw_processes_count(const struct etw_processes *processes);
const struct etw_process *etw_processes_at(const struct etw_processes *processes, size_t number);

/* etw_processes_threads() - how many threads the trace tells of. */
size_t etw_processes_threads(const struct etw_processes *processes);

/* etw_processes_dropped() - events of which something went beyond the limits. */
uint64_t etw_processes_dropped(const struct etw_processes *processes);

#endif
