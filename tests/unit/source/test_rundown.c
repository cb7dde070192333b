/* SPDX-License-Identifier: MIT */
/* What is told at the start and at the end, with a made-up procfs and a ring in plain memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_procfs.h"
#include "fake_ring.h"
#include "fake_source_host.h"
#include "source/kernel/collector/rundown.h"
#include "source/kernel/config/config_events.h"
#include "wire/group_masks.h"

#define PROCESS_START    0x0301
#define PROCESS_DC_START 0x0303
#define PROCESS_DC_END   0x0304
#define GROUP_CONFIG     0x0B
#define INTERVAL_SET     0x0F48
#define INTERVAL_START   0x0F49
#define INTERVAL_END     0x0F4A
#define HOOKS_MAX        32

/* The events of a rundown may be of any CPU of this machine. */
#define CPUS 1024

static char root[] = "/tmp/etw-rundown-XXXXXX";

static struct fake_source_host fake;
static struct fake_ring ring;
static struct etw_kernel_collector collector;
static struct etw_kernel_rundown rundown;

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	fake_source_host_init(&fake);
	fake.host.cpu_count = CPUS;
	assert_int_equal(etw_kernel_collector_init(&collector, &fake.host, NULL), 0);
	assert_int_equal(etw_kernel_rundown_init(&rundown, root), 0);
	rundown.config_root = root;
	fake_ring_open(&ring, &collector.streams.ring);
	collector.tracker->flags = EVENT_TRACE_FLAG_PROCESS;
	collector.tracker->ns_per_tick = FAKE_TICK_NS;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etw_kernel_collector_done(&collector);
	etw_kernel_rundown_done(&rundown);
	fake_end(root);
	return 0;
}

/* What came out, in order of time; of one moment in order of the queue. */
struct told {
	unsigned count;
	uint16_t hooks[HOOKS_MAX];
	int64_t times_raw[HOOKS_MAX];
};

static void take_all(struct told *told)
{
	struct etw_source_event event;
	struct etw_source_mark mark;

	told->count = 0;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		while (etw_kernel_out_peek(&collector.out, cpu, &event)) {
			unsigned at = told->count++;

			assert_true(at < HOOKS_MAX);
			for (; at && told->times_raw[at - 1] > event.time_raw; at--) {
				told->times_raw[at] = told->times_raw[at - 1];
				told->hooks[at] = told->hooks[at - 1];
			}
			told->times_raw[at] = event.time_raw;
			told->hooks[at] = etw_load16(event.bytes + 6);
			etw_kernel_out_pop(&collector.out, cpu, &mark);
		}
	}
}

static unsigned count_of(const struct told *told, uint16_t hook)
{
	unsigned count = 0;

	for (unsigned i = 0; i < told->count; i++)
		count += told->hooks[i] == hook;
	return count;
}

static void start(bool describe, bool is_other, uint64_t until_ns)
{
	const struct etw_kernel_rundown_start how = {
		.masks = {EVENT_TRACE_FLAG_PROCESS},
		.describe = describe,
		.is_other = is_other,
		.until_ns = until_ns,
	};

	assert_int_equal(etw_kernel_rundown_start(&rundown, &collector, &how), 0);
	assert_true(rundown.is_filled);
}

static void end(bool has_loss, uint32_t config_groups)
{
	const struct etw_kernel_rundown_end how = {
		.masks = {EVENT_TRACE_FLAG_PROCESS},
		.has_loss = has_loss,
		.config_groups = config_groups,
		.read_ns = etw_monotonic_ns(),
	};

	etw_kernel_collector_read_all(&collector);
	assert_int_equal(etw_kernel_rundown_end(&rundown, &collector, &how), 0);
}

static void test_rundown__masks_then_who_is_there(void **state)
{
	struct told told;

	(void)state;
	fake_process(root, 20, "S", 500);
	fake_process(root, 30, "S", 600);
	start(true, false, UINT64_MAX);
	assert_false(etw_kernel_rundown_is_safe(&rundown));
	take_all(&told);
	assert_int_equal(told.hooks[0], WIRE_HOOK_GROUP_MASKS_OLD);
	assert_int_equal(told.hooks[1], WIRE_HOOK_GROUP_MASKS_NEW);
	assert_int_equal(count_of(&told, PROCESS_DC_START), 2);
	assert_int_equal(told.count, 5); /* and that it is complete */
	assert_true(etw_kernel_rundown_is_safe(&rundown));
	assert_int_equal(rundown.told_masks[0], EVENT_TRACE_FLAG_PROCESS);
}

/* Who starts meanwhile is in the records: told as a start, and not as one who was there. */
static void test_rundown__who_starts_meanwhile_is_told_once(void **state)
{
	struct told told;
	int64_t watermark_raw;

	(void)state;
	fake_process(root, 20, "S", 500);
	fake_process(root, 30, "S", 30);
	(void)fake_ring_put_start(&ring, etw_monotonic_ns() + ETW_NS_PER_S, 0, 30, 0);
	start(true, false, UINT64_MAX);
	take_all(&told);
	assert_int_equal(count_of(&told, PROCESS_DC_START), 1);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	etw_kernel_collector_apply(&collector, UINT64_MAX);
	take_all(&told);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.hooks[0], PROCESS_START);
}

/* The next host does what a dead one had not finished, for those who were there at its time. */
static void test_rundown__of_another_host_is_done_for_its_time(void **state)
{
	struct told told;

	(void)state;
	fake_process(root, 20, "S", 500);
	fake_process(root, 30, "S", 600);
	start(true, true, 550 * (uint64_t)FAKE_TICK_NS);
	take_all(&told);
	assert_int_equal(count_of(&told, PROCESS_DC_START), 1);
	assert_int_equal(count_of(&told, WIRE_HOOK_GROUP_MASKS_NEW), 1);
}

static void test_rundown__the_tracker_alone_is_filled(void **state)
{
	struct told told;

	(void)state;
	fake_process(root, 20, "S", 500);
	start(false, true, UINT64_MAX);
	take_all(&told);
	assert_int_equal(told.count, 0);
	assert_int_equal(collector.tracker->tasks.process_count, 1);
}

static void test_rundown__the_end_is_told_from_what_is_known(void **state)
{
	struct told told;

	(void)state;
	fake_process(root, 20, "S", 500);
	start(true, false, UINT64_MAX);
	take_all(&told);
	/* Nobody looks at procfs again without a loss. */
	fake_process(root, 30, "S", 600);
	end(false, 0);
	take_all(&told);
	assert_int_equal(told.hooks[0], WIRE_HOOK_GROUP_MASKS_OLD);
	assert_int_equal(told.hooks[1], PROCESS_DC_END);
	assert_int_equal(told.hooks[2], WIRE_HOOK_GROUP_MASKS_NEW);
	assert_int_equal(told.count, 4);
}

static void test_rundown__a_loss_is_corrected_by_procfs(void **state)
{
	struct told told;
	unsigned configs = 0;

	(void)state;
	fake_process(root, 20, "S", 500);
	start(true, false, UINT64_MAX);
	take_all(&told);
	fake_process(root, 30, "S", 600);
	end(true, ETW_KERNEL_CONFIG_ALL);
	take_all(&told);
	assert_int_equal(count_of(&told, PROCESS_DC_END), 2);
	for (unsigned i = 0; i < told.count; i++)
		configs += told.hooks[i] >> 8 == GROUP_CONFIG;
	assert_true(configs > 0);
}

static void test_rundown__without_procfs_it_says_so(void **state)
{
	const struct etw_kernel_rundown_start how = {.masks = {EVENT_TRACE_FLAG_PROCESS}};

	(void)state;
	rundown.root = "/nonexistent";
	assert_int_equal(etw_kernel_rundown_start(&rundown, &collector, &how), -ENOENT);
	assert_false(rundown.is_filled);
}

static void change_intervals(uint32_t timer, uint32_t other)
{
	const struct etw_kernel_rundown_start how = {
		.masks = {EVENT_TRACE_FLAG_PROCESS},
		.intervals = {[0] = timer, [5] = other},
		.describe = true,
		.until_ns = UINT64_MAX,
	};

	assert_int_equal(
		etw_kernel_rundown_change(&rundown, &collector, &how, EVENT_TRACE_FLAG_PROCESS), 0);
}

static void change_interval(uint32_t timer)
{
	change_intervals(timer, 0);
}

static void test_rundown__intervals_of_samples_are_told(void **state)
{
	static const uint16_t changes[] = {INTERVAL_START, INTERVAL_SET, INTERVAL_END,
					   INTERVAL_START};
	struct told told;

	(void)state;
	start(true, false, UINT64_MAX);
	take_all(&told);
	change_interval(10000);
	change_interval(1221);
	change_interval(1221);
	change_interval(0);
	change_interval(0);
	change_interval(10000);
	take_all(&told);
	assert_int_equal(told.count, 4);
	assert_memory_equal(told.hooks, changes, sizeof(changes));
	end(false, 0);
	take_all(&told);
	assert_int_equal(told.hooks[0], INTERVAL_END);
	assert_int_equal(count_of(&told, INTERVAL_END), 1);
}

/* Each source for itself. */
static void test_rundown__intervals_of_two_sources(void **state)
{
	static const uint16_t changes[] = {INTERVAL_START, INTERVAL_START, INTERVAL_SET,
					   INTERVAL_END};
	struct told told;

	(void)state;
	start(true, false, UINT64_MAX);
	take_all(&told);
	change_intervals(10000, 4096);
	change_intervals(10000, 5000);
	change_intervals(0, 5000);
	take_all(&told);
	assert_int_equal(told.count, 4);
	assert_memory_equal(told.hooks, changes, sizeof(changes));
	change_intervals(10000, 5000);
	take_all(&told);
	end(false, 0);
	take_all(&told);
	assert_int_equal(count_of(&told, INTERVAL_END), 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_rundown__masks_then_who_is_there),
		CASE(test_rundown__who_starts_meanwhile_is_told_once),
		CASE(test_rundown__of_another_host_is_done_for_its_time),
		CASE(test_rundown__the_tracker_alone_is_filled),
		CASE(test_rundown__the_end_is_told_from_what_is_known),
		CASE(test_rundown__a_loss_is_corrected_by_procfs),
		CASE(test_rundown__without_procfs_it_says_so),
		CASE(test_rundown__intervals_of_samples_are_told),
		CASE(test_rundown__intervals_of_two_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
