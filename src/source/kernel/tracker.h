/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads of the machine, kept up to date by the records in the order of their time,
 * and turned into events as they change. A fork is a start; an exec is an end and a start with the same
 * pid; a thread group's end is its end.
 *
 * What a record does not say (the command line of a fork, the images of a process that ends) comes from
 * here. Rundown fills the table with what was there before.
 *
 * Context: the session's thread. Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_TRACKER_H
#define ETW_SOURCE_KERNEL_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/bpf/records.h"
#include "source/kernel/images.h"
#include "source/kernel/out.h"
#include "source/kernel/shared_text.h"

#define ETW_KERNEL_PROCESSES_MAX (UINT32_C(1) << 18)
#define ETW_KERNEL_THREADS_MAX   (UINT32_C(1) << 20)
#define ETW_KERNEL_BUCKETS       16384 /* a power of two */

struct etw_kernel_thread {
	struct etw_kernel_thread *next_in_bucket;
	struct etw_kernel_thread *next; /* of the same process */
	struct etw_kernel_process *process;
	uint64_t start_ticks;
	uint64_t spent_ns; /* CPU time before it took its program: told with the program's end */
	uint32_t tid;
	bool is_ended; /* its end went out with its process'; its own record is still to come */
	char name[ETW_KERNEL_NAME_BYTES];
};

struct etw_kernel_process {
	struct etw_kernel_process *next_in_bucket;
	struct etw_kernel_thread *threads;     /* owned */
	struct etw_kernel_text *name;          /* base name of the program; owned */
	struct etw_kernel_text *command_line;  /* UTF-16LE; NULL: none. Owned */
	struct etw_kernel_images *images;      /* owned */
	struct etw_kernel_images *next_images; /* of the program that an exec is bringing; owned */
	uint64_t start_ticks;                  /* as /proc/<pid>/stat says it */
	uint32_t pid, parent_pid, uid, session_id;
	bool is_kernel;
	bool is_ended;
	bool is_in_exec; /* the old program is gone, the new one has not started */
	bool is_there;   /* for checks against procfs */
	bool is_guessed; /* known from a record of one of its threads alone: nobody was told of it */
};

struct etw_kernel_tracker {
	struct etw_kernel_out *out; /* borrowed */
	uint32_t flags;             /* EVENT_TRACE_FLAG_*: which events go out */
	uint64_t ns_per_tick;
	uint64_t cpu_tick_ns; /* of CPU times in headers: what the file says as TimerResolution */
	/* CLOCK_MONOTONIC minus the scheduler's clock, the least of this second and of the one before. */
	uint64_t behind_since_ns;
	int64_t behind_ns, behind_before_ns;
	uint32_t process_count, thread_count;
	uint64_t incomplete; /* events with fields that nobody knew */
	struct etw_kernel_process *processes[ETW_KERNEL_BUCKETS];
	struct etw_kernel_thread *threads[ETW_KERNEL_BUCKETS];
};

/* etw_kernel_tracker_new() - an empty tracker, owned; NULL without memory. @out is borrowed. */
struct etw_kernel_tracker *etw_kernel_tracker_new(struct etw_kernel_out *out);

/* etw_kernel_tracker_free() - takes NULL. */
void etw_kernel_tracker_free(struct etw_kernel_tracker *tracker);

/*
 * etw_kernel_tracker_apply() - one record of the BPF ring, after etw_kernel_out_begin().
 *
 * @record: of @byte_count bytes; what is too short or unknown is ignored
 */
void etw_kernel_tracker_apply(struct etw_kernel_tracker *tracker,
			      const struct etw_kernel_record *record, uint32_t byte_count);

/*
 * etw_kernel_tracker_map() - a process mapped a piece of a file.
 *
 * @tid, @pid: who did it
 */
void etw_kernel_tracker_map(struct etw_kernel_tracker *tracker, uint32_t tid, uint32_t pid,
			    const struct etw_kernel_mapping *mapping);

/* etw_kernel_tracker_begin_exec() - a process threw its old program away. */
void etw_kernel_tracker_begin_exec(struct etw_kernel_tracker *tracker, uint32_t pid);

/* etw_kernel_tracker_find() - the process, also one that ended a moment ago; or NULL. */
struct etw_kernel_process *etw_kernel_tracker_find(struct etw_kernel_tracker *tracker,
						   uint32_t pid);

/* etw_kernel_tracker_find_thread() - the thread, or NULL. */
struct etw_kernel_thread *etw_kernel_tracker_find_thread(struct etw_kernel_tracker *tracker,
							 uint32_t tid);

/*
 * etw_kernel_tracker_add() - a process that the table does not have, without any event.
 *
 * Returns it for the caller to fill in, or NULL when there is no memory or no room.
 */
struct etw_kernel_process *etw_kernel_tracker_add(struct etw_kernel_tracker *tracker, uint32_t pid);

/* etw_kernel_tracker_add_thread() - the same for a thread. @name: NUL-terminated, cut as needed. */
struct etw_kernel_thread *etw_kernel_tracker_add_thread(struct etw_kernel_tracker *tracker,
							struct etw_kernel_process *process,
							uint32_t tid, const char *name);

/* etw_kernel_tracker_remove() - a process and its threads, without any event. */
void etw_kernel_tracker_remove(struct etw_kernel_tracker *tracker,
			       struct etw_kernel_process *process);

/*
 * etw_kernel_tracker_describe() - DCStart or DCEnd of a process, its threads and images.
 *
 * @is_end: DCEnd
 */
void etw_kernel_tracker_describe(struct etw_kernel_tracker *tracker,
				 struct etw_kernel_process *process, bool is_end);

/* etw_kernel_tracker_describe_images() - DCStart of a process' images alone. */
void etw_kernel_tracker_describe_images(struct etw_kernel_tracker *tracker,
					const struct etw_kernel_process *process);

#endif
