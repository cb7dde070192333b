/* SPDX-License-Identifier: MIT */
/*
 * Processes, threads and mappings as procfs shows them, for rundown. Everything is read below one
 * directory descriptor for each process: when the process ends meanwhile, reading fails and never shows
 * somebody else with the same pid.
 */
#ifndef ETW_SOURCE_KERNEL_PROCFS_PROCFS_H
#define ETW_SOURCE_KERNEL_PROCFS_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_PROC_NAME_BYTES 64
#define ETW_KERNEL_PROC_FILE_BYTES 256
#define ETW_KERNEL_PROC_LINE_BYTES 4096 /* of a command line; the rest is cut */

struct etw_kernel_proc_task {
	uint64_t start_ticks;
	uint32_t tid;
	uint32_t parent_pid;
	int32_t nice;
	uint32_t realtime_priority;
	uint32_t policy;     /* SCHED_* */
	uint64_t user_stack; /* where the program's began; 0: whoever asks may not know */
	bool is_kernel;
	bool is_exiting; /* has begun to end: its end may have been told already, or not */
	bool is_dead;    /* a zombie */
	char name[ETW_KERNEL_PROC_NAME_BYTES];
};

struct etw_kernel_proc_process {
	struct etw_kernel_proc_task task; /* of the main thread */
	uint32_t uid;                     /* effective */
	uint32_t session_id;              /* UINT32_MAX: none, or the kernel has no audit */
	uint64_t entry;                   /* of the program; 0: not known, or a 32-bit one */
	bool is_32_bit;
	char file[ETW_KERNEL_PROC_FILE_BYTES]; /* of the program, may be empty */
	size_t argument_bytes;
	char arguments[ETW_KERNEL_PROC_LINE_BYTES]; /* a NUL after each */
};

struct etw_kernel_proc_mapping {
	uint64_t start, end, file_offset;
	uint64_t device, inode;
	bool is_executable;
	const char *path; /* borrowed during the call */
};

/* Told of an id; a negative result ends the listing and is its result. */
typedef int (*etw_kernel_proc_id)(void *context, uint32_t id);

/* Told of a mapping of a file; as above. */
typedef int (*etw_kernel_proc_map)(void *context, const struct etw_kernel_proc_mapping *mapping);

/*
 * etw_kernel_proc_list() - every number in a directory.
 *
 * @at, @path: as for openat(): /proc, or `task` below a process
 *
 * Returns 0, negative errno, or what @told returned.
 */
int etw_kernel_proc_list(int at, const char *path, etw_kernel_proc_id told, void *context);

/* etw_kernel_proc_open() - a directory below @at by its number. Returns an owned descriptor, or negative
 * errno. */
int etw_kernel_proc_open(int at, uint32_t id);

/*
 * etw_kernel_proc_read_task() - the stat file of a task.
 *
 * @task_fd: of /proc/<pid> or /proc/<pid>/task/<tid>
 *
 * Returns 0; -ESRCH when the task is gone; -EBADMSG when the file makes no sense.
 */
int etw_kernel_proc_read_task(int task_fd, struct etw_kernel_proc_task *ret);

/* etw_kernel_proc_read() - what is to be known of a process. Returns as etw_kernel_proc_read_task(). */
int etw_kernel_proc_read(int process_fd, struct etw_kernel_proc_process *ret);

/* etw_kernel_proc_read_uid() - the effective uid. Returns 0; -ESRCH when the process is gone; -EBADMSG. */
int etw_kernel_proc_read_uid(int process_fd, uint32_t *ret);

/*
 * etw_kernel_proc_read_maps() - every mapping of a file.
 *
 * Returns 0; negative errno when the list cannot be read; what @told returned.
 */
int etw_kernel_proc_read_maps(int process_fd, etw_kernel_proc_map told, void *context);

/*
 * etw_kernel_proc_read_some_maps() - the same of the first @left lines of the list, which become less by those that were read.
 * Lines of memory without a file count, too: a process may have as many of them as it likes.
 */
int etw_kernel_proc_read_some_maps(int process_fd, uint32_t *left, etw_kernel_proc_map told,
				   void *context);

#endif
