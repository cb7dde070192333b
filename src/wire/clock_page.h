/* SPDX-License-Identifier: MIT */
/*
 * The clock page: one page of memory that the host owns and every provider, consumer and source maps to
 * read. It says how this machine counts QueryPerformanceCounter's ticks.
 * Source: docs/design/recording.md "Clock".
 */
#ifndef ETW_WIRE_CLOCK_PAGE_H
#define ETW_WIRE_CLOCK_PAGE_H

#include <assert.h>
#include <stdint.h>

#define WIRE_CLOCK_PAGE_BYTES 4096
#define WIRE_CLOCK_PAGE_MAGIC UINT32_C(0x4B434C45) /* "ELCK" */

enum wire_clock_kind {
	WIRE_CLOCK_TSC = 1, /* the CPU's counter (x86 TSC, ARM cntvct) + offset */
	WIRE_CLOCK_MONOTONIC_RAW =
		2, /* CLOCK_MONOTONIC_RAW of the initial time namespace in ns + offset */
};

/* Native byte order: both ends run on one machine. Written by the host alone; readers load relaxed. */
struct wire_clock_page {
	uint32_t magic;
	uint32_t version; /* 1 */
	uint32_t kind;    /* enum wire_clock_kind; atomic */
	uint32_t changes; /* counts changes of kind or offset; atomic */
	int64_t offset; /* added to the counter; atomic; changes only when the machine was suspended */
	uint64_t frequency; /* ticks per second */
	uint64_t reserved[4];
	/*
	 * For the next host, which finds by them whether the machine was suspended in between: what the clocks were when this
	 * one looked last. On a cache line of their own, because writers read none of it. All atomic.
	 */
	uint64_t seen_counter;  /* without offset */
	uint64_t seen_raw_ns;   /* CLOCK_MONOTONIC_RAW; 0: nothing was seen */
	int64_t seen_asleep_ns; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	int64_t former_offset;  /* before `changed_ns` */
	uint64_t changed_ns;    /* when the offset changed; CLOCK_MONOTONIC */
	uint64_t reserved2[51];
};
static_assert(sizeof(struct wire_clock_page) == 512, "layout");

#endif
