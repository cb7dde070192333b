/* SPDX-License-Identifier: MIT */
/* The clocks of a session that are not the CPU's counter, and the mapping of the host's page. */
#include "ring/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/time.h"
#include "base/time_namespace.h"

#define CLOCK_PAGE_VERSION 1

/* By how much this process's CLOCK_MONOTONIC_RAW is ahead of the kernel's; atomic. */
static int64_t ahead_ns;

void etw_clock_find_namespace(void)
{
	struct etw_time_namespace found;

	/*
	 * Who cannot tell keeps what was found before: a process whose children alone are in another namespace has not
	 * left its own.
	 */
	if (etw_time_namespace_read(&found) == 0)
		store_relaxed(&ahead_ns, found.monotonic_ns);
}

int64_t etw_clock_now_slow(const struct wire_clock_page *page, uint32_t clock_type)
{
	int64_t ticks;

	switch (clock_type) {
	case ETW_CLOCK_SYSTEM:
		return etw_filetime_now();
	case ETW_CLOCK_CYCLE:
		return (int64_t)etw_cpu_counter();
	default:
		break;
	}
	/* Unsigned, because a page of a host gone wrong must not make the addition undefined. */
	ticks = load_relaxed(&page->kind) == WIRE_CLOCK_TSC
			? (int64_t)etw_cpu_counter()
			: (int64_t)(etw_time_read_ns(CLOCK_MONOTONIC_RAW) -
				    (uint64_t)load_relaxed(&ahead_ns));
	return (int64_t)((uint64_t)ticks + (uint64_t)load_relaxed(&page->offset));
}

static bool is_sound(const struct wire_clock_page *page)
{
	uint32_t kind = load_relaxed(&page->kind);

	return page->magic == WIRE_CLOCK_PAGE_MAGIC && page->version == CLOCK_PAGE_VERSION &&
	       (kind == WIRE_CLOCK_TSC || kind == WIRE_CLOCK_MONOTONIC_RAW) && page->frequency;
}

int etw_clock_page_map(int fd, struct etw_clock_page *ret)
{
	struct stat status;
	void *memory;
	int seals;

	if (fstat(fd, &status) < 0)
		return -errno;
	/* A page behind the end of its file, or one that is cut off later, would be a SIGBUS at the next event. */
	seals = fcntl(fd, F_GET_SEALS);
	if (status.st_size < WIRE_CLOCK_PAGE_BYTES || seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPROTO;
	memory = mmap(NULL, WIRE_CLOCK_PAGE_BYTES, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	if (!is_sound(memory)) {
		(void)munmap(memory, WIRE_CLOCK_PAGE_BYTES);
		return -EPROTO;
	}
	ret->page = memory;
	etw_clock_find_namespace();
	return 0;
}

void etw_clock_page_unmap(struct etw_clock_page *clock)
{
	if (clock->page)
		(void)munmap((void *)(uintptr_t)clock->page, WIRE_CLOCK_PAGE_BYTES);
	clock->page = NULL;
}
