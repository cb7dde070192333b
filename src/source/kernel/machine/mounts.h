/* SPDX-License-Identifier: MIT */
/* What is mounted from block devices, as /proc/self/mountinfo of the host says it. */
#ifndef ETW_SOURCE_KERNEL_MACHINE_MOUNTS_H
#define ETW_SOURCE_KERNEL_MACHINE_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_MOUNTS_MAX 1024

struct etw_kernel_mount {
	uint64_t device;      /* 0: the file system has none of its own (btrfs), look at @source */
	char source[64];      /* "sda2": the device's name in /dev, links followed once */
	char point[256];      /* longer ones are left out */
	char file_system[16]; /* "ext4"; cut */
};

struct etw_kernel_mounts {
	struct etw_kernel_mount
		*at; /* owned; in mountinfo's order, without repetitions of a device */
	size_t count;
};

/*
 * etw_kernel_mounts_read() - of each device the mount that shows its root folder, else the first.
 *
 * Returns 0, also without mountinfo; -ENOMEM with nothing owned.
 */
int etw_kernel_mounts_read(const char *root, struct etw_kernel_mounts *ret);

/* etw_kernel_mounts_find() - the mount of a device, or NULL. @name: as in `source`. */
const struct etw_kernel_mount *etw_kernel_mounts_find(const struct etw_kernel_mounts *mounts,
						      uint64_t device, const char *name);

/*
 * etw_kernel_mount_unescape() - a word of mountinfo, which has blanks and backslashes as \040 and the like.
 *
 * @to: may be @from; always ends with a NUL
 *
 * Returns whether @to has room for all of it.
 */
bool etw_kernel_mount_unescape(const char *from, char *to, size_t room);

/* etw_kernel_mounts_done() - frees all; takes what was zeroed. */
void etw_kernel_mounts_done(struct etw_kernel_mounts *mounts);

#endif
