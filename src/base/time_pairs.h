/* SPDX-License-Identifier: MIT */
/*
 * CLOCK_MONOTONIC as the session's counter. The kernel stamps its events with CLOCK_MONOTONIC, which NTP
 * slews against the counter; so pairs of both clocks are sampled regularly, and what lies between two
 * samples is interpolated.
 *
 * | operation               | sampler                     | any other thread |
 * |-------------------------|-----------------------------|------------------|
 * | etw_time_pairs_sample() | one thread at a time        | no               |
 * | etw_time_pairs_add()    | the same                    | no               |
 * | etw_time_pairs_convert()| free                        | free             |
 *
 * Error of a conversion: half the time between the two readings of the counter around the best try (some
 * 20 ns), 1 tick of rounding, and what the slew changed between two samples: a change of 500 ppm in the
 * middle of 10 ms costs 1.3 us there.
 * Source: docs/design/recording.md "Clock".
 */
#ifndef ETW_BASE_TIME_PAIRS_H
#define ETW_BASE_TIME_PAIRS_H

#include <stdint.h>

#define ETW_TIME_PAIRS_MAX 1024 /* with a sample every 10 ms: 10 seconds; a power of two */

/* Reads the counter. Must not be moved by the processor across the reading of another clock (fenced). */
typedef int64_t etw_counter_read(void *context);

/* Stored relaxed: `count` says which are valid. */
struct etw_time_pair {
	int64_t raw;
	uint64_t monotonic_ns;
};

/* Zeroed: empty. Pair i lies at i modulo ETW_TIME_PAIRS_MAX. */
struct etw_time_pairs {
	uint64_t count; /* pairs ever added; atomic */
	struct etw_time_pair pairs[ETW_TIME_PAIRS_MAX];
};

/*
 * etw_time_pairs_sample() - adds a pair of now: the best of several tries.
 *
 * @counter: see above; called with @context
 *
 * Returns 0; -EAGAIN as etw_time_pairs_add().
 */
int etw_time_pairs_sample(struct etw_time_pairs *pairs, etw_counter_read *counter, void *context);

/*
 * etw_time_pairs_add() - adds a pair that was measured elsewhere.
 *
 * Returns 0; -EAGAIN when one of both clocks did not move on since the last pair: nothing is added.
 */
int etw_time_pairs_add(struct etw_time_pairs *pairs, int64_t raw, uint64_t monotonic_ns);

/*
 * etw_time_pairs_sample_gap() - as etw_time_pairs_sample(), where the counter was set forward: what was before now goes by the
 * counter as it would be without.
 *
 * @gap: in ticks
 */
int etw_time_pairs_sample_gap(struct etw_time_pairs *pairs, etw_counter_read *counter,
			      void *context, int64_t gap);

/*
 * etw_time_pairs_convert() - a time of CLOCK_MONOTONIC as the counter.
 *
 * Times before the oldest pair that is kept go by the slope of the two oldest. Never runs back where
 * @monotonic_ns does not, for times that the pairs cover. Returns 0; -EAGAIN with @ret untouched when no
 * pair lies at or behind @monotonic_ns yet, or there are fewer than two.
 */
int etw_time_pairs_convert(const struct etw_time_pairs *pairs, uint64_t monotonic_ns, int64_t *ret);

#endif
