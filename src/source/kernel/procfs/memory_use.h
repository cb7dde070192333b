/* SPDX-License-Identifier: MIT */
/* How memory is used now, as procfs tells it: of the machine, and of a process. */
#ifndef ETW_SOURCE_KERNEL_PROCFS_MEMORY_USE_H
#define ETW_SOURCE_KERNEL_PROCFS_MEMORY_USE_H

#include <stdint.h>

/* Of the machine, in pages. */
struct etw_kernel_memory_use {
	uint64_t free_pages;
	uint64_t dirty_pages;  /* of files, being written among them */
	uint64_t cached_pages; /* that can be given to others at once: clean, and of no process */
	uint64_t bad_pages;
	uint64_t swap_cached_pages;
	uint64_t reclaimed_pages; /* since the machine was started: taken from the cache */
};

/* Of a process, in pages. */
struct etw_kernel_working_set {
	uint32_t pid;
	uint64_t resident_pages, private_pages, virtual_pages, writable_pages;
};

/* etw_kernel_memory_use_read() - of the machine. @root_fd: of /proc. Returns 0; -EBADMSG when procfs makes no sense. */
int etw_kernel_memory_use_read(int root_fd, struct etw_kernel_memory_use *ret);

/* etw_kernel_working_set_read() - of @ret->pid. Returns 0; -ESRCH when it has gone, or has no memory. */
int etw_kernel_working_set_read(int root_fd, struct etw_kernel_working_set *ret);

#endif
