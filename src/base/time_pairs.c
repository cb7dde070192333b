/* SPDX-License-Identifier: MIT */
/*
 * Pairs of clocks in a ring that one thread fills and others read without a lock. A reader takes what it
 * needs and looks at the count again: when the sampler has come around to one of its pairs meanwhile, it
 * starts anew.
 */
#include "base/time_pairs.h"

#include <errno.h>
#include <stdbool.h>

#include "base/atomic.h"
#include "base/time.h"

#define TRIES 5

static struct etw_time_pair load_pair(const struct etw_time_pairs *pairs, uint64_t number)
{
	const struct etw_time_pair *pair = &pairs->pairs[number % ETW_TIME_PAIRS_MAX];

	return (struct etw_time_pair){load_relaxed(&pair->raw), load_relaxed(&pair->monotonic_ns)};
}

int etw_time_pairs_add(struct etw_time_pairs *pairs, int64_t raw, uint64_t monotonic_ns)
{
	uint64_t count = load_relaxed(&pairs->count);
	struct etw_time_pair *pair = &pairs->pairs[count % ETW_TIME_PAIRS_MAX];

	if (count) {
		struct etw_time_pair last = load_pair(pairs, count - 1);

		if (raw <= last.raw || monotonic_ns <= last.monotonic_ns)
			return -EAGAIN;
	}
	/* Who sees one of these stores sees the count that says so; pairs with is_intact(). */
	fence_release();
	store_relaxed(&pair->raw, raw);
	store_relaxed(&pair->monotonic_ns, monotonic_ns);
	store_release(&pairs->count, count + 1); /* pairs with etw_time_pairs_convert() */
	return 0;
}

static struct etw_time_pair measure(etw_counter_read *counter, void *context)
{
	uint64_t best_ns = 0, best_width = UINT64_MAX;
	int64_t best_raw = 0;

	for (int i = 0; i < TRIES; i++) {
		int64_t before = counter(context);
		uint64_t now_ns = etw_monotonic_ns();
		uint64_t width = (uint64_t)counter(context) - (uint64_t)before;

		if (width >= best_width)
			continue;
		best_width = width;
		best_ns = now_ns;
		best_raw = before + (int64_t)(width / 2);
	}
	return (struct etw_time_pair){best_raw, best_ns};
}

int etw_time_pairs_sample(struct etw_time_pairs *pairs, etw_counter_read *counter, void *context)
{
	struct etw_time_pair now = measure(counter, context);

	return etw_time_pairs_add(pairs, now.raw, now.monotonic_ns);
}

int etw_time_pairs_sample_gap(struct etw_time_pairs *pairs, etw_counter_read *counter,
			      void *context, int64_t gap)
{
	struct etw_time_pair now = measure(counter, context);

	/* One that is not behind the last pair is not needed: then that pair is as close to now. */
	(void)etw_time_pairs_add(pairs, now.raw - gap, now.monotonic_ns - 1);
	return etw_time_pairs_add(pairs, now.raw, now.monotonic_ns);
}

/* The first pair of [low, high] that is not before the time; @high is known to be one. */
static uint64_t find_pair(const struct etw_time_pairs *pairs, uint64_t low, uint64_t high,
			  uint64_t monotonic_ns)
{
	uint64_t step = 1;

	/* Most times are of the last few samples: look from the end in growing steps. */
	while (high - low > step) {
		if (load_pair(pairs, high - step).monotonic_ns < monotonic_ns) {
			low = high - step + 1;
			break;
		}
		high -= step;
		step *= 2;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (load_pair(pairs, middle).monotonic_ns < monotonic_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether no pair from @oldest on has been overwritten, or is being. */
static bool is_intact(const struct etw_time_pairs *pairs, uint64_t oldest)
{
	fence_acquire(); /* pairs with etw_time_pairs_add() */
	return load_relaxed(&pairs->count) < oldest + ETW_TIME_PAIRS_MAX;
}

/*
 * On the line through both, rounded down. Saturates far outside. Pairs that were overwritten while they
 * were read can be the same; what comes out then is thrown away.
 */
static int64_t interpolate(struct etw_time_pair from, struct etw_time_pair to,
			   uint64_t monotonic_ns)
{
	__int128 delta_ns = (__int128)monotonic_ns - (__int128)from.monotonic_ns;
	__int128 run_ns = (__int128)to.monotonic_ns - (__int128)from.monotonic_ns;
	__int128 ticks;

	if (run_ns <= 0)
		return 0;
	/* Both factors are below 2^65: the slope of a real pair is far too small to overflow. */
	if (__builtin_mul_overflow(delta_ns, (__int128)to.raw - from.raw, &ticks))
		return delta_ns < 0 ? INT64_MIN : INT64_MAX;
	ticks = ticks / run_ns - (ticks % run_ns < 0) + from.raw;
	if (ticks > INT64_MAX)
		return INT64_MAX;
	return ticks < INT64_MIN ? INT64_MIN : (int64_t)ticks;
}

int etw_time_pairs_convert(const struct etw_time_pairs *pairs, uint64_t monotonic_ns, int64_t *ret)
{
	for (;;) {
		uint64_t count = load_acquire(&pairs->count); /* pairs with etw_time_pairs_add() */
		uint64_t oldest, at;
		int64_t raw;

		if (count < 2)
			return -EAGAIN;
		/* One less than there is room for: the sampler may be writing the next one. */
		oldest = count < ETW_TIME_PAIRS_MAX ? 0 : count - (ETW_TIME_PAIRS_MAX - 1);
		if (load_pair(pairs, count - 1).monotonic_ns < monotonic_ns) {
			if (is_intact(pairs, oldest))
				return -EAGAIN;
			continue;
		}
		at = find_pair(pairs, oldest, count - 1, monotonic_ns);
		if (at == oldest)
			at++;
		raw = interpolate(load_pair(pairs, at - 1), load_pair(pairs, at), monotonic_ns);
		if (is_intact(pairs, oldest)) {
			*ret = raw;
			return 0;
		}
	}
}
