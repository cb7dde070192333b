/* SPDX-License-Identifier: MIT */
/*
 * The host's clock: the page that every process maps, kept across hosts, and the pairs of samples by which
 * the kernel's times become session time.
 */
#ifndef ETW_DAEMON_CLOCK_H
#define ETW_DAEMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time_pairs.h"
#include "daemon/keeper_store.h"
#include "session/clock_host.h"

#define ETWD_SAMPLE_MS 10

struct etwd_clock {
	struct etw_clock_host page;
	struct etw_time_pairs pairs; /* sampled by the loop, read by the sessions' threads */
	uint64_t next_sample_ms;     /* 0: not sampling */
	int set_fd; /* a timer that tells when the clock is set, as at the end of a suspend */
};

/*
 * etwd_clock_open() - takes over the last host's page, or makes one.
 *
 * Returns 0; the errno of etw_clock_host_make(), timerfd_create; -EPROTO for a page that is none.
 */
int etwd_clock_open(struct etwd_clock *clock, struct etwd_keeper_store *store);

/* etwd_clock_done() - takes a zeroed one with page.fd and set_fd -1. */
void etwd_clock_done(struct etwd_clock *clock);

/*
 * etwd_clock_check() - samples when it is time to.
 *
 * @is_wanted: a session uses the kernel's times
 *
 * Returns the time of the next sample; UINT64_MAX: none.
 */
uint64_t etwd_clock_check(struct etwd_clock *clock, bool is_wanted, uint64_t now_ms);

/*
 * etwd_clock_look() - whether the machine was suspended since the last look; the page and the pairs go on behind it then.
 * Wanted in each round of the loop, which `set_fd` wakes behind a suspend.
 */
bool etwd_clock_look(struct etwd_clock *clock);

/* etwd_clock_rearm() - when `set_fd` is readable. */
void etwd_clock_rearm(struct etwd_clock *clock);

#endif
