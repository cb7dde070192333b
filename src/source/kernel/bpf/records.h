/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the BPF programs put into the ring: one record for each thing that a task did. Both sides include
 * this file, so it has Linux' fixed types only. All ids are those of the initial pid namespace.
 *
 * A record is reserved first and reads its time then: whatever is reserved after a look at the
 * producer's position is later than that look.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_RECORDS_H

#include <linux/types.h>

#define ETW_KERNEL_NAME_BYTES      16   /* TASK_COMM_LEN */
#define ETW_KERNEL_FILE_BYTES      256  /* of the path given to execve; longer ones are cut */
#define ETW_KERNEL_ARGUMENTS_BYTES 4096 /* of a command line; the rest is cut */
#define ETW_KERNEL_MODULE_BYTES    56   /* MODULE_NAME_LEN */

enum etw_kernel_record_kind {
	ETW_KERNEL_NEW_TASK = 1,
	ETW_KERNEL_EXEC = 2,
	ETW_KERNEL_EXIT = 3,
	ETW_KERNEL_UNMAP = 4,
	ETW_KERNEL_RENAME = 5,
	ETW_KERNEL_MODULE = 6,
	ETW_KERNEL_MAP = 7, /* stack_records.h */
};

enum etw_kernel_task_flag {
	ETW_KERNEL_TASK_KTHREAD = 0x1,
	ETW_KERNEL_TASK_SHARES_MEMORY = 0x2, /* made with CLONE_VM */
	ETW_KERNEL_TASK_IS_32_BIT = 0x4,     /* its memory ends below 4 GiB */
	ETW_KERNEL_TASK_HAS_MEMORY = 0x8,    /* and what that says of it is known */
};

/* The one value of the control map. It outlives the host, like the maps. */
struct etw_kernel_control {
	__u32 collected;   /* enum etw_kernel_collect; 0: the programs of tasks return at once */
	__u32 cpu_kinds;   /* frequent events that are wanted: a bit for each etw_kernel_cpu_kind */
	__u32 stack_kinds; /* those of them with stacks */
	__u32 options;     /* enum etw_kernel_option */
	__u32 only_pid; /* frequent events of this process and its descendants alone; 0: of all */
	__u32 stack_events; /* enum etw_kernel_stack_event: of what tasks do, soft interrupts, disks */
	/* CLOCK_BOOTTIME of a rundown whose events are not all safe; 0: none. The programs do not look. */
	__u64 rundown_ns;
	/* CLOCK_MONOTONIC: a file that was named before counts as one without a name. */
	__u64 names_ns;
	__u32 network_stacks; /* etw_kernel_network_stack_bit() of those with stacks */
	__u32 file_stacks;    /* types of file operations with stacks: bits from 64 on */
	__u32 memory_stacks;  /* enum etw_kernel_memory_stack: of faults, memory and views */
	__u32 reserved;
};

enum etw_kernel_option {
	ETW_KERNEL_COPY_STACKS = 0x1, /* instead of following frame pointers */
	/* The walk over threads finds the priorities that were seen last, and leaves them. */
	ETW_KERNEL_KEEP_PRIORITIES = 0x2,
};

enum etw_kernel_stack_event {
	ETW_KERNEL_STACK_PROCESS_START = 0x1,
	ETW_KERNEL_STACK_PROCESS_END = 0x2,
	ETW_KERNEL_STACK_THREAD_START = 0x4,
	ETW_KERNEL_STACK_THREAD_END = 0x8,
	ETW_KERNEL_STACK_IMAGE_LOAD = 0x10,
	ETW_KERNEL_STACK_IMAGE_UNLOAD = 0x20,
	ETW_KERNEL_STACK_DPC = 0x40,
	ETW_KERNEL_STACK_TIMER_DPC = 0x80,
	ETW_KERNEL_STACK_THREADED_DPC = 0x100,
	ETW_KERNEL_STACK_DISK_READ = 0x200, /* in the order of enum etw_kernel_disk_operation */
	ETW_KERNEL_STACK_DISK_WRITE = 0x400,
	ETW_KERNEL_STACK_DISK_FLUSH = 0x800,
	ETW_KERNEL_STACK_DISK_READ_END = 0x1000, /* in the same order */
	ETW_KERNEL_STACK_DISK_WRITE_END = 0x2000,
	ETW_KERNEL_STACK_DISK_FLUSH_END = 0x4000,
};

enum etw_kernel_collect {
	ETW_KERNEL_COLLECT_TASKS = 0x1,
	ETW_KERNEL_COLLECT_UNMAPS = 0x2,
	ETW_KERNEL_COLLECT_THREADS = 0x4,  /* what frequent events want to know of each thread */
	ETW_KERNEL_COLLECT_COUNTERS = 0x8, /* of processes, at their end */
	ETW_KERNEL_COLLECT_NAMES = 0x10,   /* that threads get */
	ETW_KERNEL_COLLECT_MODULES = 0x20,
};

struct etw_kernel_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 cpu;
	__u32 kind; /* enum etw_kernel_record_kind */
	__u32 tid;  /* who acts */
	__u32 pid;
	__u32 stack_bytes; /* the last so many are the stack of who acts (stack_records.h); 0: none */
	__u32 has_user;    /* whoever acts had all that it can have of user code to be looked at */
};

/*
 * A process is known by its id and by when its main thread started, which is what procfs says. Any thread
 * may be the last, and tell the end. One that execs becomes the main thread and takes over its start time.
 */
struct etw_kernel_task {
	__u64 start_ns;         /* of the thread; CLOCK_BOOTTIME */
	__u64 process_start_ns; /* of the group's main thread, also when that has ended */
	__u64 runtime_ns;       /* on a CPU so far, up to the scheduler's last look at its clock */
	__u64 clock_ns;         /* what that clock showed, of the CPU of who acts; 0: not known */
	__u64 user_ns, system_ns; /* as the clock's ticks found it: their relation is what counts */
	__u32 tid;
	__u32 pid; /* thread group */
	__u32 parent_pid;
	__u32 uid;        /* effective, of the initial user namespace */
	__u32 session_id; /* audit's login session; ~0: none */
	__u32 flags;      /* enum etw_kernel_task_flag */
	char name[ETW_KERNEL_NAME_BYTES];
	__u64 affinity;    /* processors 0 to 63 */
	__u64 user_stack;  /* where it began; 0: not known */
	__u64 entry;       /* of the program, of its main thread; 0: not known */
	__s32 priority;    /* 0 to 139, without what others lend; -1: deadline */
	__u16 policy;      /* SCHED_* */
	__u16 io_priority; /* class << 13, level; 0: by the nice value */
};

/* What a process used, in pages of memory. */
struct etw_kernel_counters {
	__u64 virtual_pages, peak_virtual_pages;
	__u64 resident_pages, peak_resident_pages;
	__u64 private_pages;  /* anonymous: resident, and swapped out */
	__u64 writable_pages; /* private and writable, used or not: data and stack */
	__u64 fault_count;
	__u32 file_count;
	__u32 is_known; /* else nobody asked */
};

struct etw_kernel_new_task {
	struct etw_kernel_record head;
	struct etw_kernel_task task;
};

struct etw_kernel_exit {
	struct etw_kernel_record head;
	struct etw_kernel_task task;
	__u32 status;  /* of the group, as waitpid() gives it; only with is_last */
	__u32 is_last; /* the thread group ends with this thread */
	struct etw_kernel_counters counters; /* of the group, with is_last */
};

/* A thread has this name now, its own doing or another's. */
struct etw_kernel_rename {
	struct etw_kernel_record head;
	__u32 tid, pid;
	char name[ETW_KERNEL_NAME_BYTES];
};

/* @file is the path that execve was given, with a NUL. The room behind it may be larger than @argument_bytes. */
struct etw_kernel_exec {
	struct etw_kernel_record head;
	struct etw_kernel_task task;
	__u32 old_tid;        /* of the thread that called; its id is task.tid now */
	__u32 file_bytes;     /* with the NUL; 0: not readable */
	__u32 argument_bytes; /* of @arguments that hold something */
	__u32 is_cut;         /* there were more arguments */
	char file[ETW_KERNEL_FILE_BYTES];
	char arguments[]; /* NUL after each */
};

/* A module of the kernel came, or goes. */
struct etw_kernel_module {
	struct etw_kernel_record head;
	__u64 base;
	__u64 byte_count; /* as /proc/modules counts: with data that lie elsewhere */
	__u32 is_loaded;
	__u32 reserved;
	char name[ETW_KERNEL_MODULE_BYTES];
};

struct etw_kernel_unmap {
	struct etw_kernel_record head;
	__u64 start;
	__u64 byte_count;
};

#endif
