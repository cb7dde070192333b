/* SPDX-License-Identifier: MIT */
/* See clock.h. */
#include "daemon/clock.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/macros.h"

#define PAGE_NAME "clock"

/*
 * No clock gets there; but a timer like this one is cancelled when CLOCK_REALTIME is set, and the kernel sets it at the end
 * of a suspend. So nothing has to be polled.
 */
static void arm(int fd)
{
	const struct itimerspec never = {
		.it_value.tv_sec = (time_t)(sizeof(time_t) == 8 ? INT64_MAX : INT32_MAX)};

	(void)timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

void etwd_clock_rearm(struct etwd_clock *clock)
{
	uint64_t count;

	(void)!read(clock->set_fd, &count, sizeof(count)); /* -ECANCELED is what it is for */
	arm(clock->set_fd);
}

int etwd_clock_open(struct etwd_clock *clock, struct etwd_keeper_store *store)
{
	int fd = etwd_keeper_take(store, PAGE_NAME);
	int r;

	clock->set_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (clock->set_fd < 0) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	arm(clock->set_fd);
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
	if (clock->set_fd >= 0)
		close(clock->set_fd);
	clock->set_fd = -1;
}

bool etwd_clock_look(struct etwd_clock *clock)
{
	int64_t gap;

	if (!etw_suspend_watch_look(&clock->page.watch, &gap))
		return false;
	(void)etw_time_pairs_sample_gap(&clock->pairs, etw_clock_host_counter, &clock->page, gap);
	return true;
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
