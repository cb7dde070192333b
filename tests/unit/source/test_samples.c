/* SPDX-License-Identifier: MIT */
/* Samples with their stacks, from the live kernel. Skips with the reason where it does not allow it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/perf/sampler.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"
#include "source/kernel/processes/priority.h"
#include "wire/etl_event.h"

#define SKIPPED      77
#define WANTED       50   /* samples of this thread */
#define ROUNDS_MAX   2000 /* of 10 ms of processor time, far more than it takes */
#define PROFILE_MASK 0x2
#define TYPE_SAMPLE  0x0F2E
#define TYPE_STACK   0x1820

static const struct etw_source_request samples = {.group_masks = {0, PROFILE_MASK}};

static void set(struct etw_source *source, const struct etw_source_request *request)
{
	struct etw_fault fault = {0};

	if (etw_kernel_source.enable(source, request, &fault)) {
		print_error("%s: %s\n", fault.field, fault.sentence);
		fail();
	}
}

static struct etw_source *open_one(struct fake_source_host *fake)
{
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(fake);
	fake->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	assert_int_equal(etw_kernel_source.open(&fake->host, NULL, &source, &fault), 0);
	return source;
}

static void collect(struct etw_source *source)
{
	const int64_t wanted_raw = (int64_t)etw_monotonic_ns() * FAKE_TICKS_PER_NS;
	int64_t watermark_raw = INT64_MIN;
	int r;

	for (;;) {
		r = etw_kernel_source.collect(source, &watermark_raw);
		if (r < 0 || (r == 0 && watermark_raw >= wanted_raw))
			break;
		if (r == 0)
			usleep(1000);
	}
	assert_int_equal(r, 0);
}

/* 10 ms of this thread's processor time. */
static __attribute__((noinline)) void burn(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (uint64_t i = 0; i < 100000; i++)
			__asm__ volatile("" : : "r"(i));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec <
		 10000000);
}

struct seen {
	unsigned samples, own, own_stacks, in_burn;
};

static void look_at_sample(const uint8_t *at, struct seen *seen)
{
	uint64_t address = etw_load64(at);
	int nice = getpriority(PRIO_PROCESS, 0);

	seen->samples++;
	assert_int_equal(etw_load16(at + 12), 1); /* Count */
	assert_int_equal(at[15], 0);              /* Rank */
	if (etw_load32(at + 8) == 0)
		assert_int_equal(at[14] >> 3, ETW_KERNEL_PRIORITY_IDLE_TASK);
	if (etw_load32(at + 8) != (uint32_t)gettid())
		return;
	seen->own++;
	assert_int_equal(at[14] >> 3, etw_kernel_priority_of_stat(nice, 0, 0));
	seen->in_burn += address - (uintptr_t)burn < 1024;
}

/* Behind its sample, which is of where the stack begins. */
static void look_at_stack(const uint8_t *at, uint64_t address, struct seen *seen)
{
	assert_int_equal(etw_load64(at + 16), address);
	if (etw_load32(at + 12) != (uint32_t)gettid())
		return;
	assert_int_equal(etw_load32(at + 8), getpid());
	seen->own_stacks++;
}

static void drain_cpu(struct etw_source *source, uint32_t cpu, struct seen *seen)
{
	int64_t before_raw = INT64_MIN;
	struct etw_source_event event;
	struct etw_source_mark mark;
	uint64_t address = 0;

	while (etw_kernel_source.peek(source, cpu, &event)) {
		uint16_t type = etw_load16(event.bytes + 6);

		assert_true(event.time_raw >= before_raw);
		if (type == TYPE_SAMPLE) {
			assert_int_equal(event.byte_count, 16 + 16);
			look_at_sample(event.bytes + 16, seen);
			address = etw_load64(event.bytes + 16);
		} else if (type == TYPE_STACK) {
			assert_int_equal(event.time_raw, before_raw);
			look_at_stack(event.bytes + 16, address, seen);
		}
		before_raw = event.time_raw;
		etw_kernel_source.pop(source, cpu, &mark);
	}
}

static void drain(struct fake_source_host *fake, struct etw_source *source, struct seen *seen)
{
	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++)
		drain_cpu(source, cpu, seen);
	etw_kernel_source.release(source);
}

/* Until there are @wanted samples of this thread. */
static struct seen sample(struct fake_source_host *fake, struct etw_source *source, unsigned wanted)
{
	struct seen seen = {0};

	for (int i = 0; i < ROUNDS_MAX && seen.own < wanted; i++) {
		burn();
		collect(source);
		drain(fake, source, &seen);
	}
	return seen;
}

static void test_samples__come_while_a_thread_runs(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	struct seen seen;

	(void)state;
	set(source, &samples);
	seen = sample(&fake, source, WANTED);
	assert_true(seen.own >= WANTED);
	assert_true(seen.in_burn >= 1);
	assert_int_equal(seen.own_stacks, 0);
	etw_kernel_source.close(source);
}

static void test_samples__each_has_the_stack_that_it_interrupted(void **state)
{
	struct etw_source_request request = samples;
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	uint64_t lost;
	struct seen seen;

	(void)state;
	request.stack_hooks[0] = TYPE_SAMPLE;
	request.stack_hook_count = 1;
	set(source, &request);
	seen = sample(&fake, source, WANTED);
	assert_true(seen.own >= WANTED);
	lost = fake_source_host_lost(&fake, &etw_kernel_source, source);
	assert_int_equal(lost, 0);
	assert_int_equal(seen.own_stacks, seen.own);
	etw_kernel_source.close(source);
}

static void test_samples__stop_when_they_are_not_wanted_any_more(void **state)
{
	const struct etw_source_request nothing = {0};
	struct etw_source_request slow = samples;
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	struct seen seen;

	(void)state;
	set(source, &samples);
	seen = sample(&fake, source, 1);
	assert_true(seen.own >= 1);
	set(source, &nothing);
	collect(source);
	drain(&fake, source, &seen);
	seen = (struct seen){0};
	burn();
	collect(source);
	drain(&fake, source, &seen);
	assert_int_equal(seen.samples, 0);
	slow.profile_interval_ft = 20000;
	set(source, &slow);
	seen = sample(&fake, source, 1);
	assert_true(seen.own >= 1);
	etw_kernel_source.close(source);
}

static void test_sampler__period_is_the_nearest_possible(void **state)
{
	(void)state;
	assert_int_equal(etw_kernel_sampler_period(10000, 0), 1000000);
	assert_int_equal(etw_kernel_sampler_period(10000, 100000), 1000000);
	assert_int_equal(etw_kernel_sampler_period(1221, 100000), 122100);
	/* The kernel's least, and what it allows. */
	assert_int_equal(etw_kernel_sampler_period(1, 0), 10000);
	assert_int_equal(etw_kernel_sampler_period(1, 1000000), 10000);
	assert_int_equal(etw_kernel_sampler_period(1221, 3000), 333400);
	assert_int_equal(etw_kernel_sampler_period(UINT32_MAX, 1), (uint64_t)UINT32_MAX * 100);
	assert_int_equal(etw_kernel_sampler_period(10000, 1), 1000000000);
}

int main(void)
{
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(test_sampler__period_is_the_nearest_possible),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_samples__come_while_a_thread_runs),
		cmocka_unit_test(test_samples__each_has_the_stack_that_it_interrupted),
		cmocka_unit_test(test_samples__stop_when_they_are_not_wanted_any_more),
	};
	struct etw_fault fault;
	int failed = cmocka_run_group_tests(pure, NULL, NULL);

	if (failed)
		return failed;
	if (etw_kernel_probe_check(&fault) ||
	    etw_kernel_probe_class(ETW_KERNEL_CLASS_SAMPLES, &fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(live, NULL, NULL);
}
