/* SPDX-License-Identifier: MIT */
/* Suspends, by made-up clocks: what the counter did in them, and what becomes of the page. */
#include "session/suspend_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "ring/clock.h"

#define HOUR_NS   (3600 * ETW_NS_PER_S)
#define MHZ       UINT64_C(2500) /* of the counter */
#define TICKS(ns) ((int64_t)((ns)*MHZ / 1000))

/* The machine. */
static struct etw_clock_reading machine;

static void read_made(const struct wire_clock_page *page, unsigned tries,
		      struct etw_clock_reading *ret)
{
	(void)page;
	assert_true(tries > 0);
	*ret = machine;
}

/* Awake, with a counter that is 1 ppm too fast and a CLOCK_MONOTONIC that is slewed by 500. */
static void run(uint64_t ns)
{
	machine.raw_ns += ns;
	machine.counter += (uint64_t)TICKS(ns) + (uint64_t)TICKS(ns) / 1000000;
	machine.monotonic_ns += ns + ns / 2000;
	machine.boottime_ns += ns + ns / 2000;
}

static void suspend(uint64_t ns, int64_t counted_ticks)
{
	machine.boottime_ns += ns;
	machine.counter += (uint64_t)counted_ticks;
}

static void boot(struct wire_clock_page *page)
{
	machine = (struct etw_clock_reading){
		.counter = 77, .raw_ns = 1000, .monotonic_ns = 1000, .boottime_ns = 1000};
	*page = (struct wire_clock_page){
		.kind = WIRE_CLOCK_TSC, .frequency = MHZ * 1000000, .offset = 5};
}

static int64_t qpc(const struct wire_clock_page *page)
{
	return (int64_t)machine.counter + page->offset;
}

static void test_suspend_watch__a_machine_that_is_awake(void **state)
{
	struct etw_suspend_watch watch;
	struct wire_clock_page page;
	struct etw_suspends sums;
	int64_t gap;

	(void)state;
	boot(&page);
	etw_suspend_watch_begin(&watch, &page, &page, read_made);
	for (int i = 0; i < 100000; i++) {
		run(i % 7 ? ETW_NS_PER_MS : HOUR_NS / 3);
		assert_false(etw_suspend_watch_look(&watch, &gap));
	}
	etw_suspend_watch_sums(&watch, &sums);
	assert_int_equal(sums.count, 0);
	assert_int_equal(page.offset, 5);
	assert_int_equal(page.changes, 0);
}

/* Whatever the counter did, QPC has counted the suspend in the end. */
static void check_put_right(int64_t counted_ticks, int64_t want_offset)
{
	struct etw_suspend_watch watch;
	struct wire_clock_page page;
	struct etw_suspends sums;
	int64_t gap = 0, before;

	boot(&page);
	etw_suspend_watch_begin(&watch, &page, &page, read_made);
	run(HOUR_NS);
	assert_false(etw_suspend_watch_look(&watch, &gap));
	/* A host that nobody needs looks rarely: the counter has drifted. */
	run(3 * HOUR_NS);
	before = qpc(&page);
	suspend(2 * HOUR_NS, counted_ticks);
	assert_true(etw_suspend_watch_look(&watch, &gap));
	assert_int_equal(gap, TICKS(2 * HOUR_NS));
	assert_int_equal(page.offset, want_offset);
	assert_int_equal(qpc(&page) - before, TICKS(2 * HOUR_NS));
	etw_suspend_watch_sums(&watch, &sums);
	assert_int_equal(sums.count, 1);
	assert_int_equal(sums.asleep_ns, 2 * HOUR_NS);
	assert_int_equal(sums.missing_ns, 0);
	assert_true(sums.noticed_ft > 0);
	/* Once. */
	run(HOUR_NS);
	assert_false(etw_suspend_watch_look(&watch, &gap));
	assert_int_equal(page.offset, want_offset);
}

static void test_suspend_watch__a_counter_that_stops(void **state)
{
	(void)state;
	check_put_right(0, 5 + TICKS(2 * HOUR_NS));
}

static void test_suspend_watch__a_counter_that_runs_on(void **state)
{
	(void)state;
	check_put_right(TICKS(2 * HOUR_NS), 5);
}

/* The last look was just before the suspend, so that the counter's own drift plays no part. */
static void test_suspend_watch__a_counter_that_begins_anew(void **state)
{
	struct etw_suspend_watch watch;
	struct wire_clock_page page;
	int64_t gap = 0, before;

	(void)state;
	boot(&page);
	etw_suspend_watch_begin(&watch, &page, &page, read_made);
	run(HOUR_NS);
	assert_false(etw_suspend_watch_look(&watch, &gap));
	before = qpc(&page);
	suspend(HOUR_NS, 0);
	machine.counter = 12;
	assert_true(etw_suspend_watch_look(&watch, &gap));
	assert_in_range(qpc(&page) - before, TICKS(HOUR_NS) - 1, TICKS(HOUR_NS) + 1);
	assert_true(page.offset > 0);
}

static void test_suspend_watch__short_ones_add_up(void **state)
{
	struct etw_suspend_watch watch;
	struct wire_clock_page page;
	struct etw_suspends sums;
	int64_t gap;
	int found = 0;

	(void)state;
	boot(&page);
	etw_suspend_watch_begin(&watch, &page, &page, read_made);
	for (int i = 0; i < 40; i++) {
		run(ETW_NS_PER_S);
		suspend(ETW_NS_PER_MS / 4, 0);
		found += etw_suspend_watch_look(&watch, &gap);
	}
	etw_suspend_watch_sums(&watch, &sums);
	assert_int_equal(found, 10);
	assert_int_equal(sums.count, 10);
	assert_int_equal(sums.asleep_ns, 10 * ETW_NS_PER_MS);
	assert_int_equal(page.offset, 5 + TICKS(10 * ETW_NS_PER_MS));
}

/* A thread that was stopped between two clocks has seen no suspend. */
static void test_suspend_watch__a_slow_reading_is_no_suspend(void **state)
{
	struct etw_suspend_watch watch;
	struct wire_clock_page page;
	int64_t gap;

	(void)state;
	boot(&page);
	etw_suspend_watch_begin(&watch, &page, &page, read_made);
	run(ETW_NS_PER_MS);
	machine.width_ns = ETW_NS_PER_S;
	machine.boottime_ns += ETW_NS_PER_S;
	assert_false(etw_suspend_watch_look(&watch, &gap));
	machine.width_ns = 100;
	machine.boottime_ns -= ETW_NS_PER_S;
	run(ETW_NS_PER_MS);
	assert_false(etw_suspend_watch_look(&watch, &gap));
}

/* It knows the clocks from the page, and cannot write that. */
static void test_suspend_watch__the_next_host_names_what_is_missing(void **state)
{
	struct etw_suspend_watch first, second;
	struct wire_clock_page page;
	struct etw_suspends sums;
	int64_t gap = -1;

	(void)state;
	boot(&page);
	etw_suspend_watch_begin(&first, &page, &page, read_made);
	run(HOUR_NS);
	assert_false(etw_suspend_watch_look(&first, &gap));
	suspend(HOUR_NS, 0);
	assert_true(etw_suspend_watch_look(&first, &gap));
	/* What the first host put right the second one does not find. */
	etw_suspend_watch_begin(&second, &page, NULL, read_made);
	run(ETW_NS_PER_S);
	assert_false(etw_suspend_watch_look(&second, &gap));
	/* Nobody was there; then the second one. */
	etw_suspend_watch_begin(&second, &page, NULL, read_made);
	suspend(3 * HOUR_NS, 0);
	assert_true(etw_suspend_watch_look(&second, &gap));
	assert_int_equal(gap, 0);
	assert_int_equal(page.offset, 5 + TICKS(HOUR_NS));
	suspend(HOUR_NS, TICKS(HOUR_NS));
	assert_true(etw_suspend_watch_look(&second, &gap));
	assert_int_equal(gap, TICKS(HOUR_NS));
	etw_suspend_watch_sums(&second, &sums);
	assert_int_equal(sums.count, 2);
	assert_int_equal(sums.asleep_ns, 4 * HOUR_NS);
	assert_int_equal(sums.behind_ns, 3 * HOUR_NS);
	assert_int_equal(sums.missing_ns, 3 * HOUR_NS);
}

static void test_suspend_watch__the_offset_of_a_moment(void **state)
{
	struct etw_suspend_watch watch;
	struct wire_clock_page page;
	uint64_t before_ns;
	int64_t gap;

	(void)state;
	boot(&page);
	etw_suspend_watch_begin(&watch, &page, &page, read_made);
	run(ETW_NS_PER_S);
	before_ns = machine.monotonic_ns;
	assert_int_equal(etw_clock_offset_at(&page, before_ns), 5);
	run(ETW_NS_PER_MS);
	suspend(HOUR_NS, 0);
	assert_true(etw_suspend_watch_look(&watch, &gap));
	assert_int_equal(etw_clock_offset_at(&page, before_ns), 5);
	assert_int_equal(etw_clock_offset_at(&page, machine.monotonic_ns), 5 + TICKS(HOUR_NS));
}

static void test_suspend_watch__the_machines_clocks(void **state)
{
	struct wire_clock_page page = {.kind = WIRE_CLOCK_TSC, .frequency = 1};
	struct etw_clock_reading from, to;
	struct etw_suspend_watch none = {0};
	int64_t gap;

	(void)state;
	etw_clock_read_machine(&page, 3, &from);
	etw_clock_read_machine(&page, 3, &to);
	assert_true(to.counter > from.counter && to.raw_ns > from.raw_ns);
	assert_true(to.monotonic_ns > from.monotonic_ns && to.boottime_ns > from.boottime_ns);
	page.kind = WIRE_CLOCK_MONOTONIC_RAW;
	etw_clock_read_machine(&page, 1, &to);
	assert_int_equal(to.counter, to.raw_ns);
	assert_false(etw_suspend_watch_look(&none, &gap));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suspend_watch__a_machine_that_is_awake),
		cmocka_unit_test(test_suspend_watch__a_counter_that_stops),
		cmocka_unit_test(test_suspend_watch__a_counter_that_runs_on),
		cmocka_unit_test(test_suspend_watch__a_counter_that_begins_anew),
		cmocka_unit_test(test_suspend_watch__short_ones_add_up),
		cmocka_unit_test(test_suspend_watch__a_slow_reading_is_no_suspend),
		cmocka_unit_test(test_suspend_watch__the_next_host_names_what_is_missing),
		cmocka_unit_test(test_suspend_watch__the_offset_of_a_moment),
		cmocka_unit_test(test_suspend_watch__the_machines_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
