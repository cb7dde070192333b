/* SPDX-License-Identifier: MIT */
/*
 * The table of the machine's processes and threads, without any event. What records do to it: tracker.h.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_TASKS_H
#define ETW_SOURCE_KERNEL_PROCESSES_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/bpf/records.h"
#include "source/kernel/processes/images.h"
#include "source/kernel/processes/shared_text.h"
#include "source/kernel/processes/thread_facts.h"

#define ETW_KERNEL_PROCESSES_MAX (UINT32_C(1) << 18)
#define ETW_KERNEL_THREADS_MAX   (UINT32_C(1) << 20)
#define ETW_KERNEL_BUCKETS       16384 /* a power of two */

struct etw_kernel_map_stack; /* source/kernel/events/task_stacks.h */

struct etw_kernel_thread {
	struct etw_kernel_thread *next_in_bucket;
	struct etw_kernel_thread *next; /* of the same process */
	struct etw_kernel_process *process;
	uint64_t start_ticks;
	uint64_t spent_ns; /* CPU time before it took its program: told with the program's end */
	uint32_t tid;
	bool is_ended; /* its end went out with its process'; its own record is still to come */
	struct etw_kernel_thread_facts facts;
	struct etw_kernel_map_stack *map_stack; /* owned; NULL: none */
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
	bool is_32_bit;
	bool is_ended;
	bool is_in_exec; /* the old program is gone, the new one has not started */
	bool is_inside;  /* of the process tree whose images alone are wanted */
	bool is_there;   /* for checks against procfs */
	bool is_guessed; /* known from a record of one of its threads alone: nobody was told of it */
};

#define ETW_KERNEL_GONE 1024 /* a power of two */

/* What stays known of a process for a while when it is gone. */
struct etw_kernel_process_facts {
	uint64_t start_ticks;
	uint32_t pid, uid, session_id;
};

struct etw_kernel_tasks {
	/* Of some of the last that are not in the table any more, by their ids. */
	struct {
		uint32_t tid, pid;
	} gone_threads[ETW_KERNEL_GONE];
	struct etw_kernel_process_facts gone[ETW_KERNEL_GONE];
	uint32_t process_count, thread_count;
	struct etw_kernel_process *processes[ETW_KERNEL_BUCKETS]; /* owned, as the threads are */
	struct etw_kernel_thread *threads[ETW_KERNEL_BUCKETS];
};

/* etw_kernel_tasks_clear() - frees all that is in the table, which may be used on. */
void etw_kernel_tasks_clear(struct etw_kernel_tasks *tasks);

/* etw_kernel_tasks_find() - the process, also one that ended a moment ago; or NULL. */
struct etw_kernel_process *etw_kernel_tasks_find(struct etw_kernel_tasks *tasks, uint32_t pid);

/* etw_kernel_tasks_find_thread() - the thread, or NULL. */
struct etw_kernel_thread *etw_kernel_tasks_find_thread(struct etw_kernel_tasks *tasks,
						       uint32_t tid);

/* etw_kernel_tasks_process_of() - of a thread, also of one that ended a moment ago; 0: it is not known. */
uint32_t etw_kernel_tasks_process_of(struct etw_kernel_tasks *tasks, uint32_t tid);

/* etw_kernel_tasks_facts() - of a process, also of one that is gone. Returns false where nothing is known. */
bool etw_kernel_tasks_facts(struct etw_kernel_tasks *tasks, uint32_t pid,
			    struct etw_kernel_process_facts *ret);

/*
 * etw_kernel_tasks_add() - a process that the table does not have, without any event.
 *
 * Returns it for the caller to fill in, or NULL when there is no memory or no room.
 */
struct etw_kernel_process *etw_kernel_tasks_add(struct etw_kernel_tasks *tasks, uint32_t pid);

/* etw_kernel_tasks_add_thread() - the same for a thread. @name: NUL-terminated, cut as needed. */
struct etw_kernel_thread *etw_kernel_tasks_add_thread(struct etw_kernel_tasks *tasks,
						      struct etw_kernel_process *process,
						      uint32_t tid, const char *name);

/* etw_kernel_tasks_remove() - a process and its threads, without any event. */
void etw_kernel_tasks_remove(struct etw_kernel_tasks *tasks, struct etw_kernel_process *process);

/* etw_kernel_tasks_remove_thread() - a thread, without any event. */
void etw_kernel_tasks_remove_thread(struct etw_kernel_tasks *tasks,
				    struct etw_kernel_thread *thread);

#endif
