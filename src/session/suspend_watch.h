/* SPDX-License-Identifier: MIT */
/*
 * Suspends of the machine: found by CLOCK_BOOTTIME, which counts them, beside CLOCK_MONOTONIC, which does not; and the
 * clock page's offset, by which QPC goes on behind one as if the counter had counted it.
 *
 * Counters differ in what they do in a suspend: they stop, run on, or begin anew. CLOCK_MONOTONIC_RAW stops always and is not
 * slewed, so that the counter beside it tells which.
 *
 * | operation                 | the thread that watches | any other thread |
 * |---------------------------|-------------------------|------------------|
 * | etw_suspend_watch_begin() | once, before the others | no               |
 * | etw_suspend_watch_look()  | yes                     | no               |
 * | etw_suspend_watch_sums()  | yes                     | yes              |
 *
 * Source: docs/design/recording.md "Suspend".
 */
#ifndef ETW_SESSION_SUSPEND_WATCH_H
#define ETW_SESSION_SUSPEND_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "session/common/suspends.h"
#include "wire/clock_page.h"

/* The clocks at one moment. */
struct etw_clock_reading {
	uint64_t counter; /* what the page counts by, without its offset */
	uint64_t raw_ns;  /* CLOCK_MONOTONIC_RAW */
	uint64_t monotonic_ns, boottime_ns;
	uint64_t width_ns; /* of CLOCK_MONOTONIC, that the reading took: so far apart they may be */
};

/* Reads them; of as many tries as @tries the best. */
typedef void etw_clock_read(const struct wire_clock_page *page, unsigned tries,
			    struct etw_clock_reading *ret);

/* Zeroed: of no page; looks find nothing. */
struct etw_suspend_watch {
	const struct wire_clock_page *page;
	struct wire_clock_page
		*writable; /* the same; NULL: another host made it, and this one cannot write it */
	etw_clock_read *read;
	struct etw_clock_reading last;
	int64_t asleep_ns;        /* CLOCK_BOOTTIME - CLOCK_MONOTONIC, as far as it was told */
	struct etw_suspends sums; /* atomic */
};

/* etw_clock_read_machine() - the machine's clocks; see etw_clock_read. */
etw_clock_read etw_clock_read_machine;

/*
 * etw_suspend_watch_begin() - watches from now on; with a page that another host made, from where that one saw last.
 *
 * @page:     outlives the watch
 * @writable: @page, or NULL
 * @read:     NULL: the machine's clocks
 */
void etw_suspend_watch_begin(struct etw_suspend_watch *watch, const struct wire_clock_page *page,
			     struct wire_clock_page *writable, etw_clock_read *read);

/*
 * etw_suspend_watch_look() - looks whether the machine was suspended since the last look, and puts QPC right then, where the
 * page can be written. Costs five readings of clocks where it was not.
 *
 * @ret_gap: by how many ticks QPC has got ahead of CLOCK_MONOTONIC in the suspend
 *
 * Returns whether it was.
 */
bool etw_suspend_watch_look(struct etw_suspend_watch *watch, int64_t *ret_gap);

/* etw_suspend_watch_sums() - of what the looks found. */
void etw_suspend_watch_sums(const struct etw_suspend_watch *watch, struct etw_suspends *ret);

#endif
