/* SPDX-License-Identifier: MIT */
/*
 * Where a file system is to be found, by its device: all mounts of /proc/self/mountinfo of the host, read anew when the
 * kernel says that they have changed.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_MACHINE_MOUNT_POINTS_H
#define ETW_SOURCE_KERNEL_MACHINE_MOUNT_POINTS_H

#include <stddef.h>
#include <stdint.h>

#define ETW_KERNEL_MOUNT_POINTS_MAX 4096 /* more are left out */

struct etw_kernel_mount_point {
	uint32_t device; /* as the kernel has it: major << 20 | minor */
	char *within;    /* owned: the folder of the file system that is seen; "" for its root */
	char *point;     /* owned: where; "" for the root of all */
};

/* Zeroed: nothing was read. */
struct etw_kernel_mount_points {
	const char *root;                  /* in front of /proc; borrowed; NULL: none */
	int fd;                            /* owned; 0: nothing was read; -1: it cannot be read */
	struct etw_kernel_mount_point *at; /* owned; in mountinfo's order */
	size_t count;
};

/*
 * etw_kernel_mount_points_find() - where @path of a file system is seen.
 *
 * @path: bytes from the root of the file system on, with a slash in front; no NUL
 *
 * Returns the mount that shows the most of it, borrowed until the next call; NULL: none shows the path.
 */
const struct etw_kernel_mount_point *etw_kernel_mount_points_find(
	struct etw_kernel_mount_points *points, uint32_t device, const char *path, size_t bytes);

/* etw_kernel_mount_points_done() - frees all; takes what was zeroed. */
void etw_kernel_mount_points_done(struct etw_kernel_mount_points *points);

#endif
