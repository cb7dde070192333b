/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/disks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "source/kernel/machine/facts.h"

#define SECTOR_BYTES 512 /* where the queue does not say */

struct partitions {
	const struct etw_kernel_disks *disks;
	const char *name; /* of the disk */
	uint32_t count;
};

static bool count_partition(void *context, const char *name)
{
	struct partitions *at = context;

	if (etw_kernel_fact_exists(at->disks->root, "sys/block/%s/%s/partition", at->name, name))
		at->count++;
	return true;
}

static uint32_t count_partitions(const struct etw_kernel_disks *disks, const char *name)
{
	struct partitions at = {.disks = disks, .name = name};
	char path[64];

	(void)snprintf(path, sizeof(path), "sys/block/%s", name);
	etw_kernel_fact_list(disks->root, path, count_partition, &at);
	return at.count;
}

/* SCSI disks have both, NVMe the model, virtual disks neither. Their vendor may be a number, which names nobody. */
static void name_model(const char *root, struct etw_kernel_disk *disk)
{
	char vendor[32], model[96];
	const char *blank;

	(void)etw_kernel_fact_text(root, vendor, sizeof(vendor), "sys/block/%s/device/vendor",
				   disk->name);
	(void)etw_kernel_fact_text(root, model, sizeof(model), "sys/block/%s/device/model",
				   disk->name);
	if (strncmp(vendor, "0x", 2) == 0)
		vendor[0] = '\0';
	blank = vendor[0] && model[0] ? " " : "";
	if (vendor[0] || model[0])
		(void)snprintf(disk->model, sizeof(disk->model), "%s%s%s (%s)", vendor, blank,
			       model, disk->name);
	else
		(void)snprintf(disk->model, sizeof(disk->model), "%s", disk->name);
}

/* The device of a SCSI disk is called by its four numbers: host, channel, id and unit. */
static void read_address(const char *root, struct etw_kernel_disk *disk)
{
	char link[ETW_KERNEL_FACT_PATH_BYTES];
	unsigned host, channel, id, lun;

	if (!etw_kernel_fact_link(root, link, sizeof(link), "sys/block/%s/device", disk->name) ||
	    sscanf(etw_kernel_fact_base(link), "%u:%u:%u:%u", &host, &channel, &id, &lun) != 4)
		return;
	disk->scsi_port = host;
	disk->scsi_path = channel;
	disk->scsi_target = id;
	disk->scsi_lun = lun;
}

static void read_disk(const struct etw_kernel_disks *disks, struct etw_kernel_disk *disk)
{
	const char *root = disks->root;
	char cache[16];

	disk->bytes = etw_kernel_fact_number(root, 0, "sys/block/%s/size", disk->name) *
		      ETW_KERNEL_BLOCK_BYTES;
	disk->sector_bytes = (uint32_t)etw_kernel_fact_number(
		root, SECTOR_BYTES, "sys/block/%s/queue/logical_block_size", disk->name);
	(void)etw_kernel_fact_text(root, cache, sizeof(cache), "sys/block/%s/queue/write_cache",
				   disk->name);
	disk->is_write_back = strcmp(cache, "write back") == 0;
	disk->partition_count = count_partitions(disks, disk->name);
	name_model(root, disk);
	read_address(root, disk);
}

static bool add_disk(void *context, const char *name)
{
	struct etw_kernel_disks *disks = context;
	struct etw_kernel_disk disk = {
		.device = etw_kernel_fact_device(disks->root, "sys/block/%s/dev", name),
	};

	if (!disk.device || strlen(name) >= sizeof(disk.name) || strncmp(name, "sr", 2) == 0 ||
	    !etw_kernel_fact_exists(disks->root, "sys/block/%s/device", name))
		return true;
	if (disks->count == ETW_KERNEL_DISKS_MAX)
		return false;
	if (disks->count == disks->room) {
		size_t room = disks->room ? disks->room * 2 : 8;
		void *more = reallocarray(disks->at, room, sizeof(disks->at[0]));

		if (!more) {
			disks->is_short = true;
			return false;
		}
		disks->at = more;
		disks->room = room;
	}
	memcpy(disk.name, name, strlen(name) + 1);
	read_disk(disks, &disk);
	disks->at[disks->count++] = disk;
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct etw_kernel_disk *a = left, *b = right;

	return a->device < b->device ? -1 : a->device > b->device;
}

int etw_kernel_disks_read(const char *root, struct etw_kernel_disks *ret)
{
	*ret = (struct etw_kernel_disks){.root = root};
	etw_kernel_fact_list(root, "sys/block", add_disk, ret);
	if (ret->is_short) {
		etw_kernel_disks_done(ret);
		return -ENOMEM;
	}
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(ret->at[0]), compare);
	return 0;
}

uint32_t etw_kernel_disks_find(const struct etw_kernel_disks *disks, const char *name)
{
	for (size_t i = 0; i < disks->count; i++)
		if (strcmp(disks->at[i].name, name) == 0)
			return (uint32_t)i;
	return ETW_KERNEL_NO_DISK;
}

uint32_t etw_kernel_disks_find_device(const struct etw_kernel_disks *disks, uint32_t major_number,
				      uint32_t minor_number)
{
	uint64_t device = makedev(major_number, minor_number);

	for (size_t i = 0; i < disks->count; i++)
		if (disks->at[i].device == device)
			return (uint32_t)i;
	return ETW_KERNEL_NO_DISK;
}

void etw_kernel_disks_done(struct etw_kernel_disks *disks)
{
	free(disks->at);
	*disks = (struct etw_kernel_disks){0};
}
