/* SPDX-License-Identifier: MIT */
/*
 * Where file systems can be: the partitions of disks, disks without partitions that have one, and volumes that are made of
 * others (dm, md) and mounted.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_VOLUMES_H
#define ETW_SOURCE_KERNEL_MACHINE_VOLUMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/kernel/machine/disks.h"
#include "source/kernel/machine/mounts.h"

#define ETW_KERNEL_VOLUMES_MAX 4096

struct etw_kernel_volume {
	uint64_t start_bytes, bytes;
	uint64_t cluster_count, free_clusters; /* 0: not mounted, or the file system is not asked */
	uint32_t disk;                         /* its number; of a made volume, one of its disks */
	uint32_t partition;                    /* 0: the whole disk */
	uint32_t sector_bytes;
	uint32_t sectors_per_cluster;
	bool is_made;                         /* of other volumes */
	const struct etw_kernel_mount *mount; /* borrowed; NULL: not mounted */
	char name[32];                        /* "sda2" */
};

/* Told of a volume, borrowed for the call. */
typedef void etw_kernel_volume_told(void *context, const struct etw_kernel_volume *volume);

/* etw_kernel_volumes_tell() - tells of each, disk by disk, then of those that are made. */
void etw_kernel_volumes_tell(const char *root, const struct etw_kernel_disks *disks,
			     const struct etw_kernel_mounts *mounts, etw_kernel_volume_told *told,
			     void *context);

#endif
