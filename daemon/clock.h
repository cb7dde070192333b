/* SPDX-License-Identifier: MIT */
/*
 * The host's clock: the page that every process maps, kept across hosts, and the pairs of samples by which
 * the kernel's times become session time.
 */
#ifndef ETW_DAEMON_CLOCK_H
#define ETW_DAEMON_CLOCK_H

#include <stdint.h>

#include "base/time_pairs.h"
#include "daemon/keeper_store.h"
#include "session/clock_host.h"

#define ETWD_SAMPLE_MS 10

struct etwd_clock {
	struct etw_clock_host page;
	struct etw_time_pairs pairs; /* sampled by the loop, read by the sessions' threads */
	uint64_t next_sample_ms;     /* 0: not sampling */
};

/*
 * etwd_clock_open() - takes over the last host's page, or makes one.
 *
 * Returns 0; the errno of etw_clock_host_make(); -EPROTO for a page that is none.
 */
int etwd_clock_open(struct etwd_clock *clock, struct etwd_keeper_store *store);

/* etwd_clock_done() - takes a zeroed one with page.fd -1. */
void etwd_clock_done(struct etwd_clock *clock);

/*
 * etwd_clock_check() - samples when it is time to.
 *
 * @is_wanted: a session uses the kernel's times
 *
 * Returns the time of the next sample; UINT64_MAX: none.
 */
uint64_t etwd_clock_check(struct etwd_clock *clock, bool is_wanted, uint64_t now_ms);

#endif
