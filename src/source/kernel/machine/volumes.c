/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/volumes.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "source/kernel/machine/facts.h"

#define DEPTH_MAX 8 /* of volumes made of volumes */

struct walk {
	const char *root;
	const struct etw_kernel_disks *disks;
	const struct etw_kernel_mounts *mounts;
	etw_kernel_volume_told *told;
	void *context;
	uint32_t disk; /* whose partitions are listed */
	uint32_t count;
};

/* A file system that a process serves may make whoever asks it wait for that process. */
static bool may_ask(const struct etw_kernel_mount *mount)
{
	return strncmp(mount->file_system, "fuse", 4) != 0;
}

static void ask_file_system(const struct walk *walk, struct etw_kernel_volume *volume)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];
	struct statvfs facts;

	if (!volume->mount || !may_ask(volume->mount))
		return;
	(void)snprintf(path, sizeof(path), "%s%s", walk->root, volume->mount->point);
	if (statvfs(path, &facts) || !volume->sector_bytes)
		return;
	volume->sectors_per_cluster = (uint32_t)(facts.f_frsize / volume->sector_bytes);
	volume->cluster_count = facts.f_blocks;
	volume->free_clusters = facts.f_bfree;
}

static bool tell(struct walk *walk, struct etw_kernel_volume *volume)
{
	if (walk->count++ == ETW_KERNEL_VOLUMES_MAX)
		return false;
	ask_file_system(walk, volume);
	walk->told(walk->context, volume);
	return true;
}

static bool tell_partition(void *context, const char *name)
{
	struct walk *walk = context;
	const struct etw_kernel_disk *disk = &walk->disks->at[walk->disk];
	struct etw_kernel_volume volume = {
		.disk = walk->disk,
		.sector_bytes = disk->sector_bytes,
	};
	uint64_t device;

	volume.partition = (uint32_t)etw_kernel_fact_number(
		walk->root, 0, "sys/block/%s/%s/partition", disk->name, name);
	if (!volume.partition || strlen(name) >= sizeof(volume.name))
		return true;
	memcpy(volume.name, name, strlen(name) + 1);
	volume.start_bytes = etw_kernel_fact_number(walk->root, 0, "sys/block/%s/%s/start",
						    disk->name, name) *
			     ETW_KERNEL_BLOCK_BYTES;
	volume.bytes = etw_kernel_fact_number(walk->root, 0, "sys/block/%s/%s/size", disk->name,
					      name) *
		       ETW_KERNEL_BLOCK_BYTES;
	device = etw_kernel_fact_device(walk->root, "sys/block/%s/%s/dev", disk->name, name);
	volume.mount = etw_kernel_mounts_find(walk->mounts, device, name);
	return tell(walk, &volume);
}

static void tell_disk(struct walk *walk)
{
	const struct etw_kernel_disk *disk = &walk->disks->at[walk->disk];
	char path[64];

	(void)snprintf(path, sizeof(path), "sys/block/%s", disk->name);
	etw_kernel_fact_list(walk->root, path, tell_partition, walk);
	if (etw_kernel_mounts_find(walk->mounts, disk->device, disk->name)) {
		struct etw_kernel_volume volume = {
			.bytes = disk->bytes,
			.disk = walk->disk,
			.sector_bytes = disk->sector_bytes,
			.mount = etw_kernel_mounts_find(walk->mounts, disk->device, disk->name),
		};

		memcpy(volume.name, disk->name, sizeof(volume.name));
		(void)tell(walk, &volume);
	}
}

static bool take_first(void *context, const char *name)
{
	char *first = context;

	(void)snprintf(first, 32, "%s", name);
	return false;
}

/* A partition's folder lies in its disk's, and in no other. */
static uint32_t disk_of_partition(const struct walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->disks->count; i++)
		if (etw_kernel_fact_exists(walk->root, "sys/block/%s/%s/partition",
					   walk->disks->at[i].name, name))
			return (uint32_t)i;
	return ETW_KERNEL_NO_DISK;
}

/* Of several disks the first: the field has room for one. */
static uint32_t disk_below(const struct walk *walk, const char *name)
{
	char below[32], path[64];

	(void)snprintf(below, sizeof(below), "%s", name);
	for (int depth = 0; depth < DEPTH_MAX && below[0]; depth++) {
		uint32_t disk = etw_kernel_disks_find(walk->disks, below);

		if (disk == ETW_KERNEL_NO_DISK)
			disk = disk_of_partition(walk, below);
		if (disk != ETW_KERNEL_NO_DISK)
			return disk;
		(void)snprintf(path, sizeof(path), "sys/block/%s/slaves", below);
		below[0] = '\0';
		etw_kernel_fact_list(walk->root, path, take_first, below);
	}
	return ETW_KERNEL_NO_DISK;
}

static bool tell_made(void *context, const char *name)
{
	struct walk *walk = context;
	struct etw_kernel_volume volume = {.is_made = true};
	uint64_t device;

	if ((strncmp(name, "dm-", 3) != 0 && strncmp(name, "md", 2) != 0) ||
	    strlen(name) >= sizeof(volume.name))
		return true;
	memcpy(volume.name, name, strlen(name) + 1);
	device = etw_kernel_fact_device(walk->root, "sys/block/%s/dev", name);
	volume.mount = etw_kernel_mounts_find(walk->mounts, device, name);
	if (!volume.mount)
		return true;
	volume.disk = disk_below(walk, name);
	volume.bytes = etw_kernel_fact_number(walk->root, 0, "sys/block/%s/size", name) *
		       ETW_KERNEL_BLOCK_BYTES;
	volume.sector_bytes = (uint32_t)etw_kernel_fact_number(
		walk->root, ETW_KERNEL_BLOCK_BYTES, "sys/block/%s/queue/logical_block_size", name);
	return tell(walk, &volume);
}

void etw_kernel_volumes_tell(const char *root, const struct etw_kernel_disks *disks,
			     const struct etw_kernel_mounts *mounts, etw_kernel_volume_told *told,
			     void *context)
{
	struct walk walk = {root, disks, mounts, told, context, 0, 0};

	for (; walk.disk < disks->count; walk.disk++)
		tell_disk(&walk);
	etw_kernel_fact_list(root, "sys/block", tell_made, &walk);
}
