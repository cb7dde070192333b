/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs of disks put into the ring of their processor: a transfer begins, a transfer ends, and a part of one that
 * was split. Both sides include this file.
 * Source: docs/kernel-events/disk.md.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_DISK_RECORDS_H
#define ETW_SOURCE_KERNEL_BPF_DISK_RECORDS_H

#include <linux/types.h>

#include "records.h"

#define ETW_KERNEL_DISK_SECTOR_BYTES \
	512                           /* of the kernel's positions, whatever a disk's sectors are */
#define ETW_KERNEL_DISK_MINOR_BITS 20 /* of a device number */

enum etw_kernel_disk_operation {
	ETW_KERNEL_DISK_READ = 0,
	ETW_KERNEL_DISK_WRITE = 1,
	ETW_KERNEL_DISK_FLUSH = 2, /* of the disk's own cache */
	ETW_KERNEL_DISK_OPERATIONS = 3,
};

enum etw_kernel_disk_flag {
	ETW_KERNEL_DISK_CACHED = 0x1, /* from or to the cache of a file */
	ETW_KERNEL_DISK_PAGED = 0x2,  /* swapped in or out */
	ETW_KERNEL_DISK_SYNC = 0x4,   /* somebody waits for a write */
	ETW_KERNEL_DISK_AHEAD = 0x8,  /* nobody asked for it yet */
};

/* etw_kernel_disk_stack_event() - which of enum etw_kernel_stack_event the beginning of a transfer is. */
static inline __u32 etw_kernel_disk_stack_event(__u32 operation)
{
	return (__u32)ETW_KERNEL_STACK_DISK_READ << operation;
}

/* etw_kernel_disk_end_stack_event() - the same of its end. */
static inline __u32 etw_kernel_disk_end_stack_event(__u32 operation)
{
	return (__u32)ETW_KERNEL_STACK_DISK_READ_END << operation;
}

/* A transfer is known by the address of its request, or of its bio where the disk has no requests. */
struct etw_kernel_disk_begin {
	__u64 transfer;
	__u32 tid, pid;  /* who asked for it */
	__u32 operation; /* enum etw_kernel_disk_operation */
	__u32 reserved;
};

struct etw_kernel_disk_end {
	__u64 transfer;
	__u64 begin_ns; /* CLOCK_MONOTONIC */
	__u64 file_key; /* 0: none */
	__u64 sector;   /* from the beginning of the disk */
	__u32 device;   /* major << ETW_KERNEL_DISK_MINOR_BITS | minor */
	__u32 byte_count;
	__u32 tid;         /* who asked for it */
	__u16 io_priority; /* class << 13, level */
	__u8 operation;    /* enum etw_kernel_disk_operation */
	__u8 flags;        /* enum etw_kernel_disk_flag */
};

struct etw_kernel_split {
	__u64 whole; /* address of the bio that was split */
	__u64 transfer;
};

#endif
