/* SPDX-License-Identifier: MIT */
/* The table of what can be sampled by, and which event of perf's is opened for it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/profile_source.h"

static struct perf_event_attr opened;
static int result; /* 0: a descriptor */

static int fake_open(const struct perf_event_attr *attributes, pid_t tid, int cpu)
{
	opened = *attributes;
	assert_int_equal(tid, 0);
	assert_int_equal(cpu, -1);
	return result ? result : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static uint32_t place_of(const char *name)
{
	uint32_t place = UINT32_MAX;

	assert_true(etw_profile_source_named(name, strlen(name), &place));
	return place;
}

static void test_profile_source__opens_its_event(void **state)
{
	static const struct {
		const char *name;
		uint32_t id, type;
		uint64_t config, period;
		int pinned;
	} rows[] = {
		{"Timer", 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000, 0},
		{"TotalIssues", 2, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 65536, 1},
		{"BranchInstructions", 6, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		 65536, 1},
		{"DcacheMisses", 8, PERF_TYPE_HW_CACHE, 0x10000, 65536, 1},
		{"IcacheMisses", 9, PERF_TYPE_HW_CACHE, 0x10001, 65536, 1},
		{"CacheMisses", 10, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 65536, 1},
		{"BranchMispredictions", 11, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 65536,
		 1},
		{"TotalCycles", 19, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 65536, 1},
		{"UnhaltedReferenceCycles", 27, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES,
		 65536, 1},
		{"LLCReference", 28, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 65536, 1},
		{"LLCMisses", 29, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 65536, 1},
		{"AlignmentFixup", 1, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, 0},
		{"pagefaults", 0x1002, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 100, 0},
		{"CPUMIGRATIONS", 0x1004, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1, 0},
	};

	(void)state;
	result = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t place = place_of(rows[i].name), found = UINT32_MAX;

		assert_true(etw_profile_source_find(rows[i].id, &found));
		assert_int_equal(found, place);
		assert_int_equal(etw_profile_source_probe(place, fake_open), 0);
		assert_int_equal(opened.type, rows[i].type);
		assert_int_equal(opened.config, rows[i].config);
		assert_int_equal(opened.sample_period, rows[i].period);
		assert_int_equal(opened.pinned, rows[i].pinned);
		assert_int_equal(opened.disabled, 1);
		assert_int_equal(opened.exclude_kernel, 1);
		assert_int_equal(opened.freq, 0);
	}
}

static void test_profile_source__no_two_are_alike(void **state)
{
	(void)state;
	assert_int_equal(etw_profile_source(0)->id, ETW_PROFILE_SOURCE_TIMER);
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		const struct etw_profile_source *source = etw_profile_source(i);

		assert_true(strlen(source->name) < ETW_PROFILE_SOURCE_NAME_MAX);
		assert_true(source->id <= UINT16_MAX); /* as events have it */
		assert_true(etw_profile_source_allows(i, source->interval));
		assert_false(etw_profile_source_allows(i, source->interval_min - 1));
		assert_false(etw_profile_source_allows(i, source->interval_max + 1));
		for (uint32_t j = 0; j < i; j++) {
			assert_int_not_equal(source->id, etw_profile_source(j)->id);
			assert_string_not_equal(source->name, etw_profile_source(j)->name);
		}
	}
}

static void test_profile_source__unknown_ones(void **state)
{
	uint32_t place;

	(void)state;
	assert_false(etw_profile_source_find(3, &place));
	assert_false(etw_profile_source_find(UINT32_MAX, &place));
	assert_false(etw_profile_source_named("Time", 4, &place));
	assert_false(etw_profile_source_named("", 0, &place));
	assert_true(etw_profile_source_named("Timer:100", 5, &place));
}

/* A machine without counters, one that forbids, and one that has all. */
static void test_profile_source__probe_says_what_opening_says(void **state)
{
	(void)state;
	result = -ENOENT;
	assert_int_equal(etw_profile_source_probe(place_of("LLCMisses"), fake_open), -ENOENT);
	assert_int_equal(etw_profile_sources_probe(fake_open), 0);
	result = -EPERM;
	assert_int_equal(etw_profile_source_probe(place_of("PageFaults"), fake_open), -EACCES);
	result = 0;
	assert_int_equal(etw_profile_sources_probe(fake_open),
			 (UINT32_C(1) << ETW_PROFILE_SOURCES) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_source__opens_its_event),
		cmocka_unit_test(test_profile_source__no_two_are_alike),
		cmocka_unit_test(test_profile_source__unknown_ones),
		cmocka_unit_test(test_profile_source__probe_says_what_opening_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
