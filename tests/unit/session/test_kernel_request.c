/* SPDX-License-Identifier: MIT */
/* What a session wants of the kernel, from its configuration to the source. */
#include "session/common/kernel_request.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/profile_source.h"

static struct wire_session_config config, wanted;

static int setup(void **state)
{
	(void)state;
	memset(&config, 0, sizeof(config));
	memset(&wanted, 0, sizeof(wanted));
	return 0;
}

/* Members that nobody names count for nothing, whatever is in them. */
static void test_kernel_request__flags_alone(void **state)
{
	(void)state;
	config.enable_flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH;
	config.kernel.group_masks[4] = 1;
	config.kernel.only_pid = 7;
	config.kernel.profile_interval_ft = 5000;
	config.kernel.options = WIRE_KERNEL_UNWIND;
	config.kernel.stack_hook_count = 1;
	etw_kernel_request_settle(&config);
	assert_int_equal(config.enable_flags, EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH);
	assert_int_equal(config.kernel.group_masks[0], EVENT_TRACE_FLAG_PROCESS);
	assert_int_equal(config.kernel.group_masks[1], 0x4);
	assert_int_equal(config.kernel.group_masks[4], 0);
	assert_int_equal(config.kernel.only_pid, 0);
	assert_int_equal(config.kernel.profile_interval_ft, 0);
	assert_int_equal(config.kernel.options, 0);
	assert_int_equal(config.kernel.stack_hook_count, 0);
}

static void test_kernel_request__masks_say_what_flags_there_are(void **state)
{
	(void)state;
	config.enable_flags = EVENT_TRACE_FLAG_DISK_IO;
	config.kernel.parts = WIRE_KERNEL_MASKS;
	config.kernel.group_masks[0] = EVENT_TRACE_FLAG_THREAD;
	config.kernel.group_masks[1] = 0x2;
	config.kernel.group_masks[4] = 0x8000;
	etw_kernel_request_settle(&config);
	assert_int_equal(config.enable_flags, EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_PROFILE);
	assert_int_equal(config.kernel.group_masks[4], 0x8000);
}

/* An update with the flags that a query showed leaves alone what flags cannot say. */
static void test_kernel_request__update(void **state)
{
	struct wire_kernel_request before;

	(void)state;
	config.kernel.parts = WIRE_KERNEL_MASKS | WIRE_KERNEL_STACKS | WIRE_KERNEL_ONLY_PID;
	config.kernel.group_masks[1] = 0x4;
	config.kernel.group_masks[4] = 0x8000;
	config.kernel.stack_hook_count = 2;
	config.kernel.stack_hooks[0] = 0x0524;
	config.kernel.stack_hooks[1] = 0x0532;
	config.kernel.only_pid = 7;
	etw_kernel_request_settle(&config);
	before = config.kernel;
	wanted.enable_flags = config.enable_flags;
	etw_kernel_request_update(&config, &wanted);
	assert_true(etw_kernel_request_is_same(&before, &config.kernel));
	wanted.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	etw_kernel_request_update(&config, &wanted);
	assert_false(etw_kernel_request_is_same(&before, &config.kernel));
	assert_int_equal(config.enable_flags, EVENT_TRACE_FLAG_PROCESS);
	assert_int_equal(config.kernel.group_masks[0], EVENT_TRACE_FLAG_PROCESS);
	assert_int_equal(config.kernel.group_masks[1], 0);
	assert_int_equal(config.kernel.group_masks[4], 0);
	assert_int_equal(config.kernel.stack_hook_count, 2);
	assert_int_equal(config.kernel.only_pid, 7);
	wanted.kernel.parts = WIRE_KERNEL_STACKS | WIRE_KERNEL_INTERVAL;
	wanted.kernel.stack_hook_count = 1;
	wanted.kernel.stack_hooks[0] = 0x0F2E;
	wanted.kernel.profile_interval_ft = 5000;
	etw_kernel_request_update(&config, &wanted);
	assert_int_equal(config.kernel.stack_hook_count, 1);
	assert_int_equal(config.kernel.stack_hooks[0], 0x0F2E);
	assert_int_equal(config.kernel.stack_hooks[1], 0);
	assert_int_equal(config.kernel.profile_interval_ft, 5000);
	assert_int_equal(config.kernel.only_pid, 7);
}

static void test_kernel_request__intervals(void **state)
{
	static const struct {
		uint32_t interval_ft;
		int result;
	} rows[] = {
		{0, 0},        {1, -EINVAL},        {1220, -EINVAL},       {1221, 0},
		{10000000, 0}, {10000001, -EINVAL}, {UINT32_MAX, -EINVAL},
	};
	struct wire_kernel_request request = {.parts = WIRE_KERNEL_INTERVAL};
	struct etw_fault fault;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		request.profile_interval_ft = rows[i].interval_ft;
		assert_int_equal(etw_kernel_request_check(&request, &fault), rows[i].result);
	}
	request.parts = 0; /* not named */
	assert_int_equal(etw_kernel_request_check(&request, &fault), 0);
}

static uint32_t place_of(uint32_t id)
{
	uint32_t place;

	assert_true(etw_profile_source_find(id, &place));
	return place;
}

static void test_kernel_request__sources_of_samples(void **state)
{
	const uint32_t faults = place_of(0x1002), misses = place_of(29);
	struct wire_kernel_request before;

	(void)state;
	wanted = config;
	wanted.kernel.parts = WIRE_KERNEL_SOURCES | WIRE_KERNEL_SOURCE_INTERVALS;
	wanted.kernel.profile_sources = UINT32_C(1) << faults;
	wanted.kernel.source_intervals[faults] = 7;
	wanted.kernel.source_intervals[misses] = 5000;
	etw_kernel_request_update(&config, &wanted);
	assert_int_equal(config.kernel.profile_sources, UINT32_C(1) << faults);
	before = config.kernel;
	/* An interval is kept for when its source is chosen, and while others are. */
	wanted.kernel.parts = WIRE_KERNEL_SOURCE_INTERVALS;
	wanted.kernel.source_intervals[faults] = 0;
	etw_kernel_request_update(&config, &wanted);
	assert_true(etw_kernel_request_is_same(&before, &config.kernel));
	wanted.kernel.source_intervals[misses] = 6000;
	etw_kernel_request_update(&config, &wanted);
	assert_false(etw_kernel_request_is_same(&before, &config.kernel));
	assert_int_equal(config.kernel.source_intervals[faults], 7);
	assert_int_equal(config.kernel.source_intervals[misses], 6000);
	wanted.kernel.parts = WIRE_KERNEL_SOURCES;
	wanted.kernel.profile_sources = UINT32_C(1) << misses;
	etw_kernel_request_update(&config, &wanted);
	assert_int_equal(config.kernel.profile_sources, UINT32_C(1) << misses);
	assert_int_equal(config.kernel.source_intervals[faults], 7);
}

static void test_kernel_request__sources_that_cannot_be(void **state)
{
	const uint32_t faults = place_of(0x1002), misses = place_of(29);
	struct wire_kernel_request request = {.parts = WIRE_KERNEL_SOURCES |
						       WIRE_KERNEL_SOURCE_INTERVALS};
	int has_misses = etw_profile_source_probe(misses, etw_perf_open);
	struct etw_fault fault = {0};

	(void)state;
	request.profile_sources = UINT32_C(1) << faults;
	assert_int_equal(etw_kernel_request_check(&request, &fault), 0);
	request.source_intervals[faults] = UINT32_MAX;
	assert_int_equal(etw_kernel_request_check(&request, &fault), -EINVAL);
	assert_string_equal(fault.field, "PageFaults");
	request.source_intervals[faults] = 0;
	request.profile_sources = UINT32_C(1) << ETW_PROFILE_SOURCE_TIMER;
	assert_int_equal(etw_kernel_request_check(&request, &fault), -EINVAL);
	assert_string_equal(fault.field, "Timer");
	request.profile_sources = UINT32_C(1) << misses;
	if (!has_misses || has_misses == -EACCES)
		return;
	assert_int_equal(etw_kernel_request_check(&request, &fault), -EOPNOTSUPP);
	assert_string_equal(fault.field, "LLCMisses");
	request.parts = WIRE_KERNEL_SOURCE_INTERVALS; /* nothing of it is named */
	assert_int_equal(etw_kernel_request_check(&request, &fault), 0);
}

static void test_kernel_request__as_a_source_is_asked(void **state)
{
	struct etw_source_request request;

	(void)state;
	config.kernel.parts = WIRE_KERNEL_PARTS;
	config.kernel.group_masks[7] = 9;
	config.kernel.options = WIRE_KERNEL_UNWIND;
	config.kernel.profile_sources = 0x6;
	config.kernel.source_intervals[2] = 5000;
	config.kernel.stack_hook_count = WIRE_STACK_HOOKS_MAX;
	for (unsigned i = 0; i < WIRE_STACK_HOOKS_MAX; i++)
		config.kernel.stack_hooks[i] = (uint16_t)(0x0500 + i);
	etw_kernel_request_translate(&config.kernel, &request);
	assert_int_equal(request.group_masks[7], 9);
	assert_int_equal(request.options, ETW_SOURCE_UNWIND);
	assert_int_equal(request.profile_sources, 0x6);
	assert_int_equal(request.source_intervals[2], 5000);
	assert_int_equal(request.stack_hook_count, WIRE_STACK_HOOKS_MAX);
	assert_int_equal(request.stack_hooks[WIRE_STACK_HOOKS_MAX - 1], 0x05FF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kernel_request__flags_alone, setup),
		cmocka_unit_test_setup(test_kernel_request__masks_say_what_flags_there_are, setup),
		cmocka_unit_test_setup(test_kernel_request__update, setup),
		cmocka_unit_test_setup(test_kernel_request__intervals, setup),
		cmocka_unit_test_setup(test_kernel_request__sources_of_samples, setup),
		cmocka_unit_test_setup(test_kernel_request__sources_that_cannot_be, setup),
		cmocka_unit_test_setup(test_kernel_request__as_a_source_is_asked, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
