/* SPDX-License-Identifier: MIT */
/*
 * The host's clock: decides how this machine counts QueryPerformanceCounter's ticks, and makes the page that
 * tells every process.
 * Source: docs/design/recording.md "Clock".
 */
#ifndef ETW_SESSION_CLOCK_HOST_H
#define ETW_SESSION_CLOCK_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/clock.h"
#include "session/suspend_watch.h"

/* What the kernel says about the CPU's counter. */
struct etw_clock_evidence {
	bool is_clocksource; /* the kernel's own clocksource is the counter */
	bool is_constant;    /* it has one speed, and does not stop in idle states */
	bool has_user_time;  /* perf tells how to make time of it: it is stable */
	uint64_t frequency;  /* exact, from perf or the processor; 0: not known */
};

/*
 * etw_clock_evidence_gather() - asks the kernel.
 *
 * @root: in front of /sys and /proc, "" for the real ones
 *
 * What is not allowed or not there is false and 0.
 */
void etw_clock_evidence_gather(const char *root, struct etw_clock_evidence *ret);

/* etw_clock_evidence_is_counter() - whether the evidence is enough to count by the CPU's counter. */
bool etw_clock_evidence_is_counter(const struct etw_clock_evidence *evidence);

/*
 * etw_clock_measure() - the frequency of the CPU's counter, by CLOCK_MONOTONIC_RAW over 20 ms.
 *
 * Each end is the best of several tries. Both readings are off by at most half of the best try, some 20 ns
 * together: 1 ppm, a second in 12 days. Where the machine is so busy that no try is good it is worse.
 */
uint64_t etw_clock_measure(void);

/* The clock of a host. */
struct etw_clock_host {
	int fd; /* owned; the page: for WELCOME and for the keeper */
	struct etw_clock_page clock;
	struct etw_suspend_watch watch;
};

/*
 * etw_clock_host_make() - makes the page of the first host: a memfd that nobody but this process can ever
 * map to write, and nobody can resize.
 *
 * @evidence: NULL: gathered here
 *
 * Returns 0; errno of memfd_create, ftruncate, mmap, fcntl.
 */
int etw_clock_host_make(const struct etw_clock_evidence *evidence, struct etw_clock_host *ret);

/*
 * etw_clock_host_adopt() - goes on with the page of a host that died.
 *
 * @fd: taken, also on failure
 *
 * Returns 0; -EPROTO for what is no clock page, or lacks a seal; errno of fcntl, mmap.
 */
int etw_clock_host_adopt(int fd, struct etw_clock_host *ret);

/* etw_clock_host_done() - takes a zeroed one with fd -1 too. */
void etw_clock_host_done(struct etw_clock_host *host);

/* etw_clock_host_counter() - etw_counter_read of QPC; @context: struct etw_clock_host. Fenced. */
int64_t etw_clock_host_counter(void *context);

#endif
