/* SPDX-License-Identifier: MIT */
/*
 * Conversion between clocks, by a synthetic machine: a counter of 2.6 GHz that runs for more than a day,
 * and a CLOCK_MONOTONIC that NTP slews against it. The machine's own arithmetic is exact, so that what
 * the conversion gives can be held against what it should.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "base/time_pairs.h"

#define FREQUENCY     UINT64_C(2600000000)
#define SAMPLE_NS     UINT64_C(10000000)
#define NS_PER_SECOND UINT64_C(1000000000)

static struct etw_time_pairs pairs;

static int setup(void **state)
{
	(void)state;
	memset(&pairs, 0, sizeof(pairs));
	return 0;
}

/*
 * The machine. CLOCK_MONOTONIC goes in straight pieces, each with a slew in parts per billion; the counter
 * is exact. A piece begins at (counter, monotonic_ns).
 */
struct machine {
	uint64_t counter, monotonic_ns;
	int64_t slew_ppb;
};

static uint64_t counter_at(const struct machine *machine, uint64_t monotonic_ns)
{
	unsigned __int128 ticks = (unsigned __int128)(monotonic_ns - machine->monotonic_ns) *
				  FREQUENCY;

	/* Monotonic runs (1 + slew) as fast as true time. */
	return machine->counter +
	       (uint64_t)(ticks / (uint64_t)((int64_t)NS_PER_SECOND + machine->slew_ppb));
}

static void change_slew(struct machine *machine, uint64_t monotonic_ns, int64_t slew_ppb)
{
	machine->counter = counter_at(machine, monotonic_ns);
	machine->monotonic_ns = monotonic_ns;
	machine->slew_ppb = slew_ppb;
}

/* As ntpd does it: a new correction every 16 s or so, up to 500 ppm, now and then none. */
static int64_t slew_of(uint64_t round)
{
	uint64_t mixed = round * UINT64_C(0x9E3779B97F4A7C15);

	mixed ^= mixed >> 29;
	return round % 7 == 0 ? 0 : (int64_t)(mixed % 1000001) - 500000;
}

static uint64_t distance(int64_t got, uint64_t wanted)
{
	int64_t delta = got - (int64_t)wanted;

	return (uint64_t)(delta < 0 ? -delta : delta);
}

static void test_time_pairs__a_day_of_ticks_with_slew(void **state)
{
	struct machine machine = {0, 0, 0};
	uint64_t end = 100000 * NS_PER_SECOND; /* 27.8 hours: 2.6e14 ticks */
	uint64_t worst = 0, rounds = 0, checks = 0;
	int64_t last_raw = -1;

	(void)state;
	assert_int_equal(etw_time_pairs_add(&pairs, 0, 0), 0);
	for (uint64_t now = SAMPLE_NS; now <= end; now += SAMPLE_NS) {
		/* At a sample: within one the error is looked at below. */
		if (now % (16 * NS_PER_SECOND) == 0)
			change_slew(&machine, now, slew_of(++rounds));
		assert_int_equal(
			etw_time_pairs_add(&pairs, (int64_t)counter_at(&machine, now), now), 0);
		if (now / SAMPLE_NS % 100 > 1)
			continue;
		for (uint64_t at = now - SAMPLE_NS + 1; at <= now; at += 1234567) {
			int64_t raw;

			/* The piece before the change reaches up to this sample. */
			if (at < machine.monotonic_ns)
				continue;
			assert_int_equal(etw_time_pairs_convert(&pairs, at, &raw), 0);
			assert_true(raw > last_raw);
			last_raw = raw;
			if (distance(raw, counter_at(&machine, at)) > worst)
				worst = distance(raw, counter_at(&machine, at));
			checks++;
		}
	}
	assert_true(checks > 1000000);
	assert_true(worst <= 2); /* ticks: both ends of the line and the result are whole ones */
}

static void test_time_pairs__a_change_of_slew_between_samples(void **state)
{
	struct machine before = {0, 0, 500000}, after = before;
	int64_t raw, last = -1;
	uint64_t worst = 0;

	(void)state;
	/* The worst there is: from +500 ppm to -500 ppm, in the middle. */
	change_slew(&after, SAMPLE_NS / 2, -500000);
	assert_int_equal(etw_time_pairs_add(&pairs, 0, 0), 0);
	assert_int_equal(
		etw_time_pairs_add(&pairs, (int64_t)counter_at(&after, SAMPLE_NS), SAMPLE_NS), 0);
	for (uint64_t at = 0; at <= SAMPLE_NS; at += 1000) {
		uint64_t wanted = counter_at(at < SAMPLE_NS / 2 ? &before : &after, at);

		assert_int_equal(etw_time_pairs_convert(&pairs, at, &raw), 0);
		assert_true(raw > last);
		last = raw;
		if (distance(raw, wanted) > worst)
			worst = distance(raw, wanted);
	}
	/* 1000 ppm * 10 ms / 4 = 2.5 us = 6500 ticks: the line through two points of a bent one. */
	assert_true(worst > 6400 && worst < 6510);
}

static void test_time_pairs__a_time_without_a_later_sample(void **state)
{
	int64_t raw = 77;

	(void)state;
	assert_int_equal(etw_time_pairs_convert(&pairs, 0, &raw), -EAGAIN);
	assert_int_equal(etw_time_pairs_add(&pairs, 1000, 100), 0);
	assert_int_equal(etw_time_pairs_convert(&pairs, 100, &raw), -EAGAIN); /* one is no line */
	assert_int_equal(etw_time_pairs_convert(&pairs, 50, &raw), -EAGAIN);
	assert_int_equal(etw_time_pairs_add(&pairs, 2000, 200), 0);
	assert_int_equal(etw_time_pairs_convert(&pairs, 201, &raw), -EAGAIN);
	assert_int_equal(raw, 77);
	assert_int_equal(etw_time_pairs_convert(&pairs, 200, &raw), 0);
	assert_int_equal(raw, 2000);
	assert_int_equal(etw_time_pairs_convert(&pairs, 100, &raw), 0);
	assert_int_equal(raw, 1000);
	assert_int_equal(etw_time_pairs_convert(&pairs, 101, &raw), 0);
	assert_int_equal(raw, 1010);
}

static void test_time_pairs__before_the_oldest_pair(void **state)
{
	int64_t raw;

	(void)state;
	assert_int_equal(etw_time_pairs_add(&pairs, 1000, 100), 0);
	assert_int_equal(etw_time_pairs_add(&pairs, 2003, 200), 0);
	assert_int_equal(etw_time_pairs_convert(&pairs, 99, &raw), 0);
	assert_int_equal(raw, 989); /* 1000 - 10.03, rounded down */
	assert_int_equal(etw_time_pairs_convert(&pairs, 0, &raw), 0);
	assert_int_equal(raw, -3);
}

static void test_time_pairs__the_ring_keeps_the_last_ones(void **state)
{
	uint64_t count = 3 * ETW_TIME_PAIRS_MAX + 7, oldest = count - (ETW_TIME_PAIRS_MAX - 1);
	int64_t raw;

	(void)state;
	/* Squares: each segment has a slope of its own, so that a wrong one shows. */
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(
			etw_time_pairs_add(&pairs, (int64_t)((i + 1) * (i + 1)), (i + 1) * 10), 0);
	for (uint64_t i = oldest; i < count; i++) {
		assert_int_equal(etw_time_pairs_convert(&pairs, (i + 1) * 10, &raw), 0);
		assert_int_equal(raw, (i + 1) * (i + 1));
		if (i == oldest)
			continue;
		assert_int_equal(etw_time_pairs_convert(&pairs, (i + 1) * 10 - 5, &raw), 0);
		assert_int_equal(raw, (i + 1) * (i + 1) - i - 1); /* i + 1/2 back, rounded down */
	}
	/* Before: the slope of the two oldest. */
	assert_int_equal(etw_time_pairs_convert(&pairs, (oldest + 1) * 10 - 100, &raw), 0);
	assert_int_equal(raw, (oldest + 1) * (oldest + 1) - 10 * (2 * oldest + 3));
}

static void test_time_pairs__clocks_that_stand_still(void **state)
{
	(void)state;
	assert_int_equal(etw_time_pairs_add(&pairs, 1000, 100), 0);
	assert_int_equal(etw_time_pairs_add(&pairs, 1000, 200), -EAGAIN);
	assert_int_equal(etw_time_pairs_add(&pairs, 2000, 100), -EAGAIN);
	assert_int_equal(etw_time_pairs_add(&pairs, 999, 200), -EAGAIN);
	assert_int_equal(pairs.count, 1);
	assert_int_equal(etw_time_pairs_add(&pairs, 1001, 101), 0);
}

static void test_time_pairs__numbers_of_any_size(void **state)
{
	int64_t raw;

	(void)state;
	assert_int_equal(etw_time_pairs_add(&pairs, INT64_MIN, 0), 0);
	assert_int_equal(etw_time_pairs_add(&pairs, INT64_MAX, UINT64_MAX), 0);
	assert_int_equal(etw_time_pairs_convert(&pairs, UINT64_MAX / 2 + 1, &raw), 0);
	assert_int_equal(raw, 0);
	memset(&pairs, 0, sizeof(pairs));
	assert_int_equal(etw_time_pairs_add(&pairs, 0, UINT64_MAX - 1), 0);
	assert_int_equal(etw_time_pairs_add(&pairs, INT64_MAX, UINT64_MAX), 0);
	assert_int_equal(etw_time_pairs_convert(&pairs, 0, &raw), 0);
	assert_int_equal(raw, INT64_MIN);
}

/* A counter that is interrupted in some of the tries: each call costs a number of ticks of its own. */
struct counter {
	const int64_t *readings;
	unsigned next;
};

static int64_t read_given(void *context)
{
	struct counter *counter = context;

	return counter->readings[counter->next++];
}

static void test_time_pairs__the_best_try_is_taken(void **state)
{
	static const int64_t readings[] = {100,  900,  1000, 1101, 2000,
					   2011, 3000, 3200, 4000, 4999};
	struct counter counter = {readings, 0};

	(void)state;
	assert_int_equal(etw_time_pairs_sample(&pairs, read_given, &counter), 0);
	assert_int_equal(counter.next, 10);
	assert_int_equal(pairs.count, 1);
	assert_int_equal(pairs.pairs[0].raw, 2005);
	/* A counter that runs backwards gives no pair. */
	counter.next = 0;
	assert_int_equal(etw_time_pairs_sample(&pairs, read_given, &counter), -EAGAIN);
}

static int64_t read_monotonic(void *context)
{
	struct timespec now;

	(void)context;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * (int64_t)NS_PER_SECOND + now.tv_nsec;
}

static int64_t counter_ahead; /* of CLOCK_MONOTONIC */

static int64_t read_ahead(void *context)
{
	return read_monotonic(context) + counter_ahead;
}

/* The counter was set forward by an hour between two samples: what was before the second stays on its side. */
static void test_time_pairs__a_gap(void **state)
{
	const int64_t gap = INT64_C(3600) * 1000000000;
	uint64_t between, last;
	int64_t raw;

	(void)state;
	memset(&pairs, 0, sizeof(pairs));
	counter_ahead = 0;
	assert_int_equal(etw_time_pairs_sample(&pairs, read_ahead, NULL), 0);
	between = (uint64_t)read_monotonic(NULL);
	counter_ahead = gap;
	assert_int_equal(etw_time_pairs_sample_gap(&pairs, read_ahead, NULL, gap), 0);
	assert_int_equal(pairs.count, 3);
	last = pairs.pairs[2].monotonic_ns;
	assert_int_equal(etw_time_pairs_convert(&pairs, last, &raw), 0);
	assert_int_equal(raw, pairs.pairs[2].raw);
	/* A pair is as exact as its try is short: half of the gap lies beyond any width. */
	assert_true(raw - (int64_t)last > gap / 2);
	assert_int_equal(etw_time_pairs_convert(&pairs, last - 1, &raw), 0);
	assert_true(raw - (int64_t)last < gap / 2);
	assert_int_equal(etw_time_pairs_convert(&pairs, between, &raw), 0);
	assert_true(raw - (int64_t)between < gap / 2);
	/* So close to the last pair that there is no room for two. */
	memset(&pairs, 0, sizeof(pairs));
	assert_int_equal(
		etw_time_pairs_add(&pairs, read_ahead(NULL), (uint64_t)read_monotonic(NULL)), 0);
	assert_int_equal(etw_time_pairs_sample_gap(&pairs, read_ahead, NULL, INT64_MAX / 2), 0);
	assert_int_equal(pairs.count, 2);
}

/* With CLOCK_MONOTONIC for a counter the conversion must give what it got, but for the width of a try. */
static void test_time_pairs__a_sample_is_of_now(void **state)
{
	int64_t before = read_monotonic(NULL), after, raw;

	(void)state;
	assert_int_equal(etw_time_pairs_sample(&pairs, read_monotonic, NULL), 0);
	after = read_monotonic(NULL);
	raw = pairs.pairs[0].raw;
	assert_true(raw >= before && raw <= after);
	assert_true((int64_t)pairs.pairs[0].monotonic_ns >= before);
	assert_true((int64_t)pairs.pairs[0].monotonic_ns <= after);
}

/* Readers while the ring turns: every conversion is exact, or there is none. */
static void *convert_many(void *ret)
{
	uint64_t failures = 0, done = 0;

	while (done < 200000) {
		uint64_t count = load_acquire(&pairs.count);
		uint64_t at = count * 10 - done % 10000;
		int64_t raw;

		if (count < 2)
			continue;
		if (!etw_time_pairs_convert(&pairs, at, &raw))
			failures += raw != (int64_t)at * 3 + 5;
		else
			failures++; /* a pair at or behind it is there */
		done++;
	}
	*(uint64_t *)ret = failures;
	return NULL;
}

static void test_time_pairs__readers_while_the_ring_turns(void **state)
{
	pthread_t threads[2];
	uint64_t failures[2];
	unsigned left = 2;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, convert_many, &failures[i]), 0);
	for (uint64_t i = 1; left; i++) {
		if (etw_time_pairs_add(&pairs, (int64_t)(i * 30 + 5), i * 10))
			break;
		while (left && i > 2000000 && !pthread_tryjoin_np(threads[2 - left], NULL))
			left--;
	}
	assert_int_equal(left, 0);
	assert_int_equal(failures[0], 0);
	assert_int_equal(failures[1], 0);
}

#define CASE(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_time_pairs__a_day_of_ticks_with_slew),
		CASE(test_time_pairs__a_change_of_slew_between_samples),
		CASE(test_time_pairs__a_time_without_a_later_sample),
		CASE(test_time_pairs__before_the_oldest_pair),
		CASE(test_time_pairs__the_ring_keeps_the_last_ones),
		CASE(test_time_pairs__clocks_that_stand_still),
		CASE(test_time_pairs__numbers_of_any_size),
		CASE(test_time_pairs__the_best_try_is_taken),
		CASE(test_time_pairs__a_sample_is_of_now),
		CASE(test_time_pairs__a_gap),
		CASE(test_time_pairs__readers_while_the_ring_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
