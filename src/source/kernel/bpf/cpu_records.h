/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs of frequent events put into the ring of their processor: switches, samples, system calls and their like. A
 * record is its head, a payload, and the frames of a stack. A payload has at least the bytes of its kind's struct; behind these a
 * path may follow (file_records.h). Payloads of disks, files, memory and the network are in headers of their own. Both sides
 * include this file. All ids are those of the initial pid namespace.
 *
 * A record is reserved first and reads its time then. A program that interrupts another between these two moments has
 * the earlier time and the later place: the reader puts them into order.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_CPU_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_CPU_RECORDS_H

#include <linux/types.h>

#define ETW_KERNEL_KERNEL_FRAMES 64  /* of a stack; deeper ones are cut at the outer end */
#define ETW_KERNEL_USER_FRAMES   127 /* sysctl kernel.perf_event_max_stack as it is by default */
#define ETW_KERNEL_FRAMES        192 /* as many as Windows writes */

/* Kinds of records; their bits say in struct etw_kernel_control which are wanted. */
enum etw_kernel_cpu_kind {
	ETW_KERNEL_SWITCH = 0,
	ETW_KERNEL_READY = 1,
	ETW_KERNEL_SAMPLE = 2,
	ETW_KERNEL_SYSCALL_ENTER = 3,
	ETW_KERNEL_SYSCALL_EXIT = 4,
	ETW_KERNEL_INTERRUPT = 5,
	ETW_KERNEL_SOFT_INTERRUPT = 6,
	ETW_KERNEL_PRIORITY = 7,
	ETW_KERNEL_IDLE_STATE = 8,
	ETW_KERNEL_FREQUENCY = 9,
	ETW_KERNEL_STACK_COPY = 10, /* no event: what user code had on its stack */
	ETW_KERNEL_COUNTER_SAMPLE = 11,
	ETW_KERNEL_DISK_BEGIN = 12,
	ETW_KERNEL_DISK_END = 13,
	ETW_KERNEL_FILE_NAME = 14,
	ETW_KERNEL_FILE_BEGIN = 15,
	ETW_KERNEL_FILE_END = 16,
	ETW_KERNEL_FAULT = 17,
	ETW_KERNEL_HARD_FAULT = 18,
	ETW_KERNEL_MEMORY = 19, /* of a process: taken, given back */
	ETW_KERNEL_VIEW = 20,   /* of a file, mapped or unmapped */
	ETW_KERNEL_NETWORK = 21,
	ETW_KERNEL_SPLIT = 22, /* a request for a disk that became several */
	ETW_KERNEL_CPU_KINDS = 23,
};

/* Of a stack that was asked for and is not there, one flag says why; none: no frame was found. */
enum etw_kernel_stack_flag {
	ETW_KERNEL_STACK_ASKED = 0x1,
	ETW_KERNEL_STACK_NOT_OUT = 0x2, /* the thread was not switched out before */
	ETW_KERNEL_STACK_COPIED =
		0x4, /* the one user frame is the moment of the copy to be unwound */
	ETW_KERNEL_STACK_NO_COPY =
		0x8,                  /* there was no room for it: the process's half is missing */
	ETW_KERNEL_STACK_IDLE = 0x10, /* of the idle thread, which has none */
	ETW_KERNEL_STACK_OUTSIDE = 0x20,   /* of a process that is not recorded */
	ETW_KERNEL_STACK_NO_THREAD = 0x40, /* nothing is kept of the thread */
};

struct etw_kernel_cpu_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u16 kind;    /* enum etw_kernel_cpu_kind */
	__u16 payload_bytes;
	__u8 kernel_frames,
		user_frames; /* behind the payload, the kernel's first, innermost first */
	__u8 stack_flags;    /* enum etw_kernel_stack_flag */
	__u8 reserved;
	__u32 stack_tid, stack_pid; /* whose stack it is */
};

#define ETW_KERNEL_COPY_BYTES 8192

/* The registers and the stack of user code, of whom the head says. The bytes follow. */
struct etw_kernel_stack_copy {
	__u64 key_ns; /* says with the thread which copy it is */
	__u64 pc, stack, frame;
	__u64 link; /* of arm64: where a leaf returns to */
	__u32 tid, pid;
	__u32 byte_count; /* from @stack on */
	__u32 reserved;
};

enum etw_kernel_switch_flag {
	ETW_KERNEL_SWITCH_PREEMPTED = 0x1,  /* the old thread could have run on */
	ETW_KERNEL_SWITCH_WAITS_IO = 0x2,   /* the old thread waits for a device */
	ETW_KERNEL_SWITCH_OLD_KERNEL = 0x4, /* the old thread is one of the kernel's */
};

struct etw_kernel_switch {
	__u32 new_tid, old_tid; /* 0: the processor's idle thread */
	__u64 waited_ns;        /* since the new thread was switched out; 0: not known */
	__u32 old_state;        /* TASK_* */
	__u16 old_ideal_cpu;
	__u8 new_priority, old_priority; /* 0 to 139 */
	__u32 flags;                     /* enum etw_kernel_switch_flag */
	__u8 new_policy, old_policy;     /* SCHED_* */
	__u8 idle_state; /* from the idle thread: the state that the processor was in last */
	__u8 reserved;
};

enum etw_kernel_ready_flag {
	ETW_KERNEL_READY_INTERRUPT =
		0x1, /* an interrupt does it, or a soft one: the thread that ran has no part in it */
	ETW_KERNEL_READY_NEW = 0x2, /* for the first time */
};

struct etw_kernel_ready {
	__u32 tid;   /* who may run now */
	__u32 flags; /* enum etw_kernel_ready_flag */
};

/* A thread's priority is seen to be another one than when it was looked at last. */
struct etw_kernel_priority {
	__u32 tid;
	__u8 is_base;                    /* what it has by itself; else what it runs with */
	__u8 old_priority, new_priority; /* 0 to 139; 255: deadline */
	__u8 is_old_idle, is_new_idle;   /* SCHED_IDLE, whose nice value does not count */
	__u8 reserved[7];
};

/* A processor begins or ends to be in an idle state. */
struct etw_kernel_idle_state {
	__u32 state; /* number of the driver; 0 is the lightest */
	__u32 is_end;
};

struct etw_kernel_frequency {
	__u32 cpu; /* which need not be the one that sets it */
	__u32 khz;
};

enum etw_kernel_sample_flag {
	ETW_KERNEL_SAMPLE_SOFT_INTERRUPT = 0x1, /* a soft interrupt was being served */
};

struct etw_kernel_sample {
	__u64 address;         /* of the instruction that was to come next */
	__u32 tid;             /* 0: the processor's idle thread */
	__u8 flags;            /* enum etw_kernel_sample_flag */
	__u8 priority, policy; /* as of a switch */
	__u8 reserved;
};

/* By another source than the clock. */
struct etw_kernel_counter_sample {
	__u64 address; /* as of a sample */
	__u32 tid;     /* likewise */
	__u32 source;  /* its number, which the event was attached with */
};

enum etw_kernel_syscall_flag {
	ETW_KERNEL_SYSCALL_COMPAT = 0x1, /* of a 32-bit program, which has numbers of its own */
};

struct etw_kernel_syscall_enter {
	__u32 number;
	__u32 flags; /* enum etw_kernel_syscall_flag */
};

struct etw_kernel_syscall_exit {
	__s64 result; /* negative errno where it failed */
};

enum etw_kernel_interrupt_flag {
	ETW_KERNEL_INTERRUPT_LOCAL = 0x1, /* of the processor itself: the number is the vector */
};

/* At its end. */
struct etw_kernel_interrupt {
	__u64 start_ns;
	__u64 routine; /* 0: known by the vector alone */
	__u32 number;  /* Linux' number of the line; or the vector */
	__u8 result;   /* irqreturn_t */
	__u8 flags;    /* enum etw_kernel_interrupt_flag */
	__u16 reserved;
};

#define ETW_KERNEL_SOFT_NUMBERS 10 /* NR_SOFTIRQS */

enum etw_kernel_soft_flag {
	ETW_KERNEL_SOFT_IN_THREAD = 0x1, /* ksoftirqd serves it */
};

/* At its end. */
struct etw_kernel_soft_interrupt {
	__u64 start_ns;
	__u32 number; /* HI_SOFTIRQ to RCU_SOFTIRQ */
	__u32 flags;  /* enum etw_kernel_soft_flag */
};

#endif
