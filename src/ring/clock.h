/* SPDX-License-Identifier: MIT */
/* Reading a session's clock, as the host's clock page says. Both ends of a ring read it here. */
#ifndef ETW_RING_CLOCK_H
#define ETW_RING_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "wire/clock_page.h"

/* A mapped clock page; read only. */
struct etw_clock_page {
	const struct wire_clock_page *page;
};

/*
 * etw_cpu_counter() - the counter that WIRE_CLOCK_TSC means, unordered against earlier loads. By the compiler's own name of
 * the instruction: <x86intrin.h> takes a compiler longer than all else in a usual file.
 */
static inline uint64_t etw_cpu_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t counter;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(counter));
	return counter;
#else
#error "no counter for this processor"
#endif
}

/* etw_cpu_counter_fence() - the next etw_cpu_counter() is read after all loads before this. */
static inline void etw_cpu_counter_fence(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

/* etw_clock_now_slow() - clocks that are not the CPU's counter. */
int64_t etw_clock_now_slow(const struct wire_clock_page *page, uint32_t clock_type);

/*
 * etw_clock_find_namespace() - in which time namespace this process is: CLOCK_MONOTONIC_RAW of a page is the kernel's own, and
 * each process takes off by how much its own is ahead. Wanted where a page is made, and in a forked child, which may be in
 * another namespace than its parent; etw_clock_page_map() does it. Context: any thread, signal-safe.
 */
void etw_clock_find_namespace(void);

/* etw_clock_is_counter() - whether QPC is the CPU's counter now: etw_clock_of_counter() reads it. */
static inline bool etw_clock_is_counter(const struct wire_clock_page *page)
{
	return load_relaxed(&page->kind) == WIRE_CLOCK_TSC;
}

static inline int64_t etw_clock_of_counter(const struct wire_clock_page *page)
{
	/* Unsigned: as in etw_clock_now_slow(). */
	return (int64_t)(etw_cpu_counter() + (uint64_t)load_relaxed(&page->offset));
}

/* etw_clock_offset_at() - what QPC had above the counter at a time of CLOCK_MONOTONIC, behind the last change but one. */
static inline int64_t etw_clock_offset_at(const struct wire_clock_page *page, uint64_t monotonic_ns)
{
	/* Acquire: who sees when it changed sees what it was before; pairs with etw_suspend_watch_look(). */
	return monotonic_ns < load_acquire(&page->changed_ns) ? load_relaxed(&page->former_offset)
							      : load_relaxed(&page->offset);
}

/*
 * etw_clock_now() - raw time of a session whose clock is @clock_type (enum etw_clock_type).
 *
 * QPC ticks at page->frequency, FILETIME, or CPU cycles. Signal-safe, no system call where the vDSO serves
 * the clock.
 */
static inline int64_t etw_clock_now(const struct etw_clock_page *clock, uint32_t clock_type)
{
	const struct wire_clock_page *page = clock->page;

	if (LIKELY(clock_type == ETW_CLOCK_QPC && etw_clock_is_counter(page)))
		return etw_clock_of_counter(page);
	return etw_clock_now_slow(page, clock_type);
}

/* etw_clock_page_map() - maps a page of the host. @fd: borrowed. Returns 0, -EPROTO, errno of mmap. */
int etw_clock_page_map(int fd, struct etw_clock_page *ret);

/* etw_clock_page_unmap() - takes a zeroed one. */
void etw_clock_page_unmap(struct etw_clock_page *clock);

#endif
