/* SPDX-License-Identifier: MIT */
/*
 * The disks of the machine: what has a device behind it in /sys/block, without optical drives. Disks made of memory, files
 * or other disks (ram, loop, dm, md) have none.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_DISKS_H
#define ETW_SOURCE_KERNEL_MACHINE_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_DISKS_MAX   1024
#define ETW_KERNEL_NO_DISK     UINT32_MAX
#define ETW_KERNEL_BLOCK_BYTES 512 /* the unit of sizes in sysfs, whatever a disk's sectors are */

struct etw_kernel_disk {
	uint64_t device; /* as makedev() has it */
	uint64_t bytes;
	uint32_t sector_bytes;
	uint32_t partition_count;
	uint32_t scsi_port, scsi_path, scsi_target, scsi_lun;
	bool is_write_back;
	char name[32];   /* "nvme0n1" */
	char model[168]; /* vendor and model, with the name in parentheses; the name alone */
};

/* A disk's number is its place: they are in the order of their device numbers. */
struct etw_kernel_disks {
	struct etw_kernel_disk *at; /* owned */
	size_t count, room;
	const char *root; /* while they are read */
	bool is_short;    /* of memory */
};

/* etw_kernel_disks_read() - asks sysfs. Returns 0, or -ENOMEM with nothing owned. */
int etw_kernel_disks_read(const char *root, struct etw_kernel_disks *ret);

/* etw_kernel_disks_find() - number of the disk of this name, or ETW_KERNEL_NO_DISK. */
uint32_t etw_kernel_disks_find(const struct etw_kernel_disks *disks, const char *name);

/* etw_kernel_disks_find_device() - likewise, by its device number. */
uint32_t etw_kernel_disks_find_device(const struct etw_kernel_disks *disks, uint32_t major_number,
				      uint32_t minor_number);

/* etw_kernel_disks_done() - frees all; takes what was zeroed. */
void etw_kernel_disks_done(struct etw_kernel_disks *disks);

#endif
