/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The payloads of records of memory (cpu_records.h): faults, what processes take and give back, and views of files. Both
 * sides include this file.
 * Source: docs/kernel-events/memory.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_MEMORY_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_MEMORY_RECORDS_H

#include <linux/types.h>

/* What a fault was: the type of the PageFault event. */
enum etw_kernel_fault_type {
	ETW_KERNEL_FAULT_TRANSITION = 10,
	ETW_KERNEL_FAULT_DEMAND_ZERO = 11,
	ETW_KERNEL_FAULT_COPY_ON_WRITE = 12,
	ETW_KERNEL_FAULT_GUARD_PAGE = 13,
	ETW_KERNEL_FAULT_HARD = 14,
	ETW_KERNEL_FAULT_ACCESS_VIOLATION = 15,
};

/* Which events are to have stacks, in struct etw_kernel_control. */
enum etw_kernel_memory_stack {
	ETW_KERNEL_STACK_FAULTS =
		0x3F, /* a bit for each enum etw_kernel_fault_type, in their order */
	ETW_KERNEL_STACK_ALLOC = 0x40,
	ETW_KERNEL_STACK_FREE = 0x80,
	ETW_KERNEL_STACK_MAP_VIEW = 0x100,
	ETW_KERNEL_STACK_UNMAP_VIEW = 0x200,
};

/* @type: enum etw_kernel_fault_type */
static inline __u32 etw_kernel_fault_stack_bit(__u32 type)
{
	return 1u << ((type - ETW_KERNEL_FAULT_TRANSITION) & 31) & ETW_KERNEL_STACK_FAULTS;
}

/* At its end; the thread that had it is that of the head's stack. */
struct etw_kernel_fault {
	__u64 address;
	__u64 pc;
	__u32 type; /* enum etw_kernel_fault_type */
	__u32 reserved;
};

/* A fault that something was read for, at its end. The thread, as above. */
struct etw_kernel_hard_fault {
	__u64 start_ns; /* CLOCK_MONOTONIC; 0: not known */
	__u64 offset;   /* in the file, of what was read */
	__u64 address;
	__u64 file_key; /* 0: no file, but swap */
	__u32 byte_count;
	__u32 reserved;
};

enum etw_kernel_memory_flag {
	ETW_KERNEL_MEMORY_COMMIT = 0x1000,   /* may be used from now on */
	ETW_KERNEL_MEMORY_RESERVE = 0x2000,  /* addresses are taken */
	ETW_KERNEL_MEMORY_DECOMMIT = 0x4000, /* what was there is given back, the addresses stay */
	ETW_KERNEL_MEMORY_RELEASE = 0x8000,  /* addresses are given back, with what was there */
};

#define ETW_KERNEL_MEMORY_FREES (ETW_KERNEL_MEMORY_DECOMMIT | ETW_KERNEL_MEMORY_RELEASE)

/* Memory without a file. */
struct etw_kernel_memory {
	__u64 base, byte_count;
	__u32 tid, pid; /* @pid: whose memory it is */
	__u32 flags;    /* enum etw_kernel_memory_flag */
	__u32 reserved;
};

enum etw_kernel_view_right {
	ETW_KERNEL_VIEW_READ = 0x1, /* the kernel's VM_READ and its like */
	ETW_KERNEL_VIEW_WRITE = 0x2,
	ETW_KERNEL_VIEW_EXECUTE = 0x4,
	ETW_KERNEL_VIEW_SHARED = 0x8, /* what is written comes to the file */
};

struct etw_kernel_view {
	__u64 base, byte_count;
	__u64 file_key;
	__u64 page_offset; /* of @base in the file, in pages of 4096 bytes */
	__u32 tid, pid;    /* @pid: in whose memory it is */
	__u32 rights;      /* enum etw_kernel_view_right */
	__u32 is_unmapped; /* else mapped */
};

/* What is mapped, as the walk over all processes finds it; in no ring. */
struct etw_kernel_mapped {
	__u64 base, byte_count;
	__u64 file_key;    /* 0: memory without a file */
	__u64 page_offset; /* as of a view */
	__u32 pid;
	__u32 rights; /* enum etw_kernel_view_right */
};

#endif
