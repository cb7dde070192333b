/* SPDX-License-Identifier: MIT */
/* See clock.h. */
#include "daemon/clock.h"

#include <errno.h>

#include "base/macros.h"

#define PAGE_NAME "clock"

int etwd_clock_open(struct etwd_clock *clock, struct etwd_keeper_store *store)
{
	int fd = etwd_keeper_take(store, PAGE_NAME);
	int r;

	/* Without its page no session of the last host can go on, so that a broken one is an error. */
	if (fd >= 0)
		return etw_clock_host_adopt(fd, &clock->page);
	TRY(etw_clock_host_make(NULL, &clock->page));
	r = etwd_keeper_keep(store, PAGE_NAME, clock->page.fd);
	return r == -EPIPE || r == -EINPROGRESS ? 0 : r;
}

void etwd_clock_done(struct etwd_clock *clock)
{
	etw_clock_host_done(&clock->page);
}

uint64_t etwd_clock_check(struct etwd_clock *clock, bool is_wanted, uint64_t now_ms)
{
	if (!is_wanted) {
		clock->next_sample_ms = 0;
		return UINT64_MAX;
	}
	if (now_ms >= clock->next_sample_ms) {
		(void)etw_time_pairs_sample(&clock->pairs, etw_clock_host_counter, &clock->page);
		clock->next_sample_ms = now_ms + ETWD_SAMPLE_MS;
	}
	return clock->next_sample_ms;
}
