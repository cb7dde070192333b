/* SPDX-License-Identifier: MIT */
#include "source/kernel/procfs/memory_use.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"

#define TEXT_BYTES    16384
#define BYTES_PER_KIB 1024

static int read_text(int root_fd, const char *name, char text[TEXT_BYTES])
{
	CLEANUP(etw_file_closep) int fd = openat(root_fd, name, O_RDONLY | O_CLOEXEC);
	size_t bytes;

	if (fd < 0 || etw_file_read_all(fd, text, TEXT_BYTES - 1, &bytes) || !bytes)
		return -ESRCH;
	text[bytes] = '\0';
	return 0;
}

/* The number behind "NAME" at the beginning of a line; 0 without one. @name: with what separates them */
static uint64_t find(const char *text, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += bytes)
		if (at == text || at[-1] == '\n')
			return strtoull(at + bytes, NULL, 10);
	return 0;
}

static uint64_t find_pages(const char *text, const char *name)
{
	return find(text, name) * BYTES_PER_KIB / (uint64_t)sysconf(_SC_PAGESIZE);
}

int etw_kernel_memory_use_read(int root_fd, struct etw_kernel_memory_use *ret)
{
	char text[TEXT_BYTES];
	uint64_t used;

	if (read_text(root_fd, "meminfo", text) || !find(text, "MemTotal:"))
		return -EBADMSG;
	*ret = (struct etw_kernel_memory_use){
		.free_pages = find_pages(text, "MemFree:"),
		.dirty_pages = find_pages(text, "Dirty:") + find_pages(text, "Writeback:"),
		.cached_pages = find_pages(text, "Cached:") + find_pages(text, "Buffers:"),
		.bad_pages = find_pages(text, "HardwareCorrupted:"),
		.swap_cached_pages = find_pages(text, "SwapCached:"),
	};
	/* What is mapped is in working sets, and what shares memory has nowhere else to be. */
	used = ret->dirty_pages + find_pages(text, "Mapped:") + find_pages(text, "Shmem:");
	ret->cached_pages -= used < ret->cached_pages ? used : ret->cached_pages;
	if (read_text(root_fd, "vmstat", text) == 0)
		ret->reclaimed_pages = find(text, "pgsteal_kswapd ") +
				       find(text, "pgsteal_direct ");
	return 0;
}

int etw_kernel_working_set_read(int root_fd, struct etw_kernel_working_set *ret)
{
	uint64_t size, resident, shared, text_pages, library, data;
	char text[TEXT_BYTES], name[32];

	(void)snprintf(name, sizeof(name), "%" PRIu32 "/statm", ret->pid);
	if (read_text(root_fd, name, text) ||
	    sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &size, &resident, &shared, &text_pages, &library, &data) != 6 ||
	    !size)
		return -ESRCH;
	ret->virtual_pages = size;
	ret->resident_pages = resident;
	ret->private_pages = resident > shared ? resident - shared : 0;
	ret->writable_pages = data;
	return 0;
}
