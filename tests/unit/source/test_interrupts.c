/* SPDX-License-Identifier: MIT */
/* Interrupts and soft interrupts from the live kernel. Skips with the reason where it does not allow it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"

#define SKIPPED           77
#define TYPE_MESSAGE      0x0F32 /* an interrupt that is a message of a device */
#define TYPE_ISR          0x0F43
#define TYPE_THREADED_DPC 0x0F42
#define TYPE_DPC          0x0F44
#define TYPE_TIMER_DPC    0x0F45
#define TYPE_STACK        0x1820

static struct etw_source *open_one(struct fake_source_host *fake)
{
	struct etw_source_request request = {
		.group_masks = {EVENT_TRACE_FLAG_PROCESS, 0x4080},
		.stack_hooks = {TYPE_ISR, TYPE_TIMER_DPC},
		.stack_hook_count = 2,
	};
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(fake);
	fake->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	assert_int_equal(etw_kernel_source.open(&fake->host, NULL, &source, &fault), 0);
	if (etw_kernel_source.enable(source, &request, &fault)) {
		print_error("%s: %s\n", fault.field, fault.sentence);
		fail();
	}
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

static bool is_interrupt(uint16_t type)
{
	return type == TYPE_ISR || type == TYPE_MESSAGE;
}

struct seen {
	unsigned interrupts, soft, stacks, wanted;
};

/* Of what was interrupted: a thread, or an idle processor, below the interrupt's own functions. */
static void check_stack(const struct etw_source_event *event, int64_t time_raw, uint16_t before)
{
	assert_true(is_interrupt(before) || before == TYPE_TIMER_DPC);
	assert_int_equal(event->time_raw, time_raw);
	assert_int_equal(etw_load64(event->bytes + 16), time_raw);
	assert_true(event->byte_count > 32);
	assert_true(etw_load64(event->bytes + 32) >> 63);
}

static bool is_soft(uint16_t type)
{
	return type == TYPE_THREADED_DPC || type == TYPE_DPC || type == TYPE_TIMER_DPC;
}

static bool is_routine(uint64_t address)
{
	return address >> 63 || address < 256;
}

static struct seen drain(struct fake_source_host *fake, struct etw_source *source)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct seen seen = {0};

	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++) {
		int64_t end_raw = INT64_MIN;
		uint16_t before = 0;

		while (etw_kernel_source.peek(source, cpu, &event)) {
			uint16_t type = etw_load16(event.bytes + 6);

			if (is_interrupt(type) || is_soft(type)) {
				int64_t begin_raw = (int64_t)etw_load64(event.bytes + 16);

				assert_true(begin_raw <= event.time_raw);
				assert_true(event.time_raw >= end_raw);
				assert_true(is_routine(etw_load64(event.bytes + 24)));
				if (is_interrupt(type))
					seen.interrupts++;
				else
					seen.soft++;
				end_raw = event.time_raw;
				seen.wanted += is_interrupt(type) || type == TYPE_TIMER_DPC;
			} else if (type == TYPE_STACK) {
				check_stack(&event, end_raw, before);
				seen.stacks++;
			}
			before = type;
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
	return seen;
}

/* Timers make some of each, on any machine that is on. */
static void test_interrupts__come_with_what_they_took(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	uint64_t no_stack;
	struct seen seen = {0};

	(void)state;
	while (!seen.interrupts || !seen.soft || !seen.stacks) {
		struct seen more;

		usleep(20000);
		collect(source);
		more = drain(&fake, source);
		seen.interrupts += more.interrupts;
		seen.soft += more.soft;
		seen.stacks += more.stacks;
		seen.wanted += more.wanted;
	}
	no_stack = fake_source_host_count(&fake, &etw_kernel_source, source, ETW_LOSS_NO_STACK);
	assert_int_equal(seen.stacks + no_stack, seen.wanted);
	etw_kernel_source.close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interrupts__come_with_what_they_took),
	};
	struct etw_fault fault;

	if (etw_kernel_probe_check(&fault) ||
	    etw_kernel_probe_class(ETW_KERNEL_CLASS_INTERRUPTS, &fault) ||
	    etw_kernel_probe_class(ETW_KERNEL_CLASS_DPCS, &fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
