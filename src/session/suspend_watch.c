/* SPDX-License-Identifier: MIT */
/* See suspend_watch.h. */
#include "session/suspend_watch.h"

#include <stdlib.h>
#include <sys/param.h>
#include <time.h>

#include "base/atomic.h"
#include "base/time.h"
#include "ring/clock.h"

#define TRIES        5
#define LEAST_NS     1000000      /* a shorter suspend is told with the next one */
#define REFRESH_NS   ETW_NS_PER_S /* a reading serves so long to compare the counter with */
#define TOLERANCE_NS INT64_C(2000000)
#define DRIFT_SHIFT  16 /* a measured frequency is off by less than a 2^16th */

void etw_clock_read_machine(const struct wire_clock_page *page, unsigned tries,
			    struct etw_clock_reading *ret)
{
	ret->width_ns = UINT64_MAX;
	for (unsigned i = 0; i < tries; i++) {
		struct etw_clock_reading now = {.monotonic_ns = etw_monotonic_ns()};

		now.boottime_ns = etw_time_read_ns(CLOCK_BOOTTIME);
		now.raw_ns = etw_time_read_ns(CLOCK_MONOTONIC_RAW);
		etw_cpu_counter_fence();
		now.counter = etw_clock_is_counter(page) ? etw_cpu_counter() : now.raw_ns;
		etw_cpu_counter_fence();
		now.width_ns = etw_monotonic_ns() - now.monotonic_ns;
		if (now.width_ns < ret->width_ns)
			*ret = now;
	}
}

static int64_t asleep_of(const struct etw_clock_reading *reading)
{
	return (int64_t)(reading->boottime_ns - reading->monotonic_ns);
}

static int64_t ns_of_ticks(const struct wire_clock_page *page, int64_t ticks)
{
	return (int64_t)((__int128)ticks * (int64_t)ETW_NS_PER_S / (__int128)page->frequency);
}

static int64_t ticks_of_ns(const struct wire_clock_page *page, int64_t ns)
{
	return (int64_t)((__int128)ns * (__int128)page->frequency / (int64_t)ETW_NS_PER_S);
}

static void remember(struct etw_suspend_watch *watch, const struct etw_clock_reading *reading)
{
	watch->last = *reading;
	if (!watch->writable)
		return;
	store_relaxed(&watch->writable->seen_counter, reading->counter);
	store_relaxed(&watch->writable->seen_raw_ns, reading->raw_ns);
	store_relaxed(&watch->writable->seen_asleep_ns, watch->asleep_ns);
}

void etw_suspend_watch_begin(struct etw_suspend_watch *watch, const struct wire_clock_page *page,
			     struct wire_clock_page *writable, etw_clock_read *read)
{
	struct etw_clock_reading now;

	*watch = (struct etw_suspend_watch){
		.page = page,
		.writable = writable,
		.read = read ? read : etw_clock_read_machine,
	};
	watch->read(page, TRIES, &now);
	watch->asleep_ns = asleep_of(&now);
	if (!load_relaxed(&page->seen_raw_ns)) {
		remember(watch, &now);
		return;
	}
	/* The next look finds what happened since the other host's last one. */
	watch->asleep_ns = load_relaxed(&page->seen_asleep_ns);
	watch->last = (struct etw_clock_reading){.counter = load_relaxed(&page->seen_counter),
						 .raw_ns = load_relaxed(&page->seen_raw_ns)};
}

/* How much of a suspend the counter did not count; negative where it began anew with a larger value. */
static int64_t find_behind(const struct etw_suspend_watch *watch,
			   const struct etw_clock_reading *now, int64_t asleep_ns)
{
	int64_t awake_ns = (int64_t)(now->raw_ns - watch->last.raw_ns);
	int64_t counted_ns =
		ns_of_ticks(watch->page, (int64_t)(now->counter - watch->last.counter)) - awake_ns;
	int64_t tolerance_ns = TOLERANCE_NS + (awake_ns >> DRIFT_SHIFT);
	int64_t stopped_ns = llabs(counted_ns), ran_on_ns = llabs(counted_ns - asleep_ns);

	if (MIN(stopped_ns, ran_on_ns) > tolerance_ns)
		return asleep_ns - counted_ns;
	return stopped_ns <= ran_on_ns ? asleep_ns : 0;
}

/*
 * A writer that has read the clock by the old offset and reserves behind one with the new one fails, and reads it anew:
 * times of a ring grow.
 */
static void put_right(const struct etw_suspend_watch *watch, uint64_t now_ns, int64_t behind_ns)
{
	struct wire_clock_page *page = watch->writable;
	int64_t offset = load_relaxed(&page->offset);

	store_relaxed(&page->former_offset, offset);
	store_release(&page->changed_ns, now_ns); /* pairs with etw_clock_offset_at() */
	store_relaxed(&page->offset, offset + ticks_of_ns(watch->page, behind_ns));
	store_relaxed(&page->changes, load_relaxed(&page->changes) + 1);
}

static void count(struct etw_suspend_watch *watch, int64_t asleep_ns, int64_t behind_ns)
{
	struct etw_suspends *sums = &watch->sums;
	uint64_t behind = behind_ns > 0 ? (uint64_t)behind_ns : 0;

	store_relaxed(&sums->asleep_ns, sums->asleep_ns + (uint64_t)asleep_ns);
	store_relaxed(&sums->behind_ns, sums->behind_ns + behind);
	if (!watch->writable)
		store_relaxed(&sums->missing_ns, sums->missing_ns + behind);
	store_relaxed(&sums->noticed_ft, etw_filetime_now());
	store_release(&sums->count, sums->count + 1); /* pairs with etw_suspend_watch_sums() */
}

bool etw_suspend_watch_look(struct etw_suspend_watch *watch, int64_t *ret_gap)
{
	struct etw_clock_reading now;
	int64_t asleep_ns, behind_ns;

	if (!watch->page)
		return false;
	watch->read(watch->page, 1, &now);
	if (asleep_of(&now) - watch->asleep_ns < LEAST_NS &&
	    now.raw_ns - watch->last.raw_ns < REFRESH_NS)
		return false;
	watch->read(watch->page, TRIES, &now);
	asleep_ns = asleep_of(&now) - watch->asleep_ns;
	if (asleep_ns < LEAST_NS || (uint64_t)asleep_ns <= now.width_ns) {
		remember(watch, &now);
		return false;
	}
	behind_ns = find_behind(watch, &now, asleep_ns);
	if (watch->writable && behind_ns != 0)
		put_right(watch, now.monotonic_ns, behind_ns);
	watch->asleep_ns += asleep_ns;
	remember(watch, &now);
	count(watch, asleep_ns, behind_ns);
	*ret_gap = ticks_of_ns(watch->page, watch->writable ? asleep_ns : asleep_ns - behind_ns);
	return true;
}

void etw_suspend_watch_sums(const struct etw_suspend_watch *watch, struct etw_suspends *ret)
{
	ret->count = load_acquire(&watch->sums.count); /* pairs with count() */
	ret->noticed_ft = load_relaxed(&watch->sums.noticed_ft);
	ret->asleep_ns = load_relaxed(&watch->sums.asleep_ns);
	ret->behind_ns = load_relaxed(&watch->sums.behind_ns);
	ret->missing_ns = load_relaxed(&watch->sums.missing_ns);
}
