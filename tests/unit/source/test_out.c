/* SPDX-License-Identifier: MIT */
/* Queues of events: session times, numbers, what a former host had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_source_host.h"
#include "source/kernel/out/out.h"

static void add(struct etw_kernel_out *out, uint64_t time_ns, uint32_t cpu, uint8_t fill)
{
	uint8_t *at;

	etw_kernel_out_begin(out, time_ns, cpu, NULL);
	at = etw_kernel_out_add(out, 24, 8);
	assert_non_null(at);
	at[0] = fill;
}

static void test_out__each_cpu_has_its_order(void **state)
{
	struct fake_source_host fake;
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, NULL), 0);
	add(&out, 100, 1, 1);
	add(&out, 110, 0, 2);
	add(&out, 120, 1, 3);
	add(&out, 130, 99, 4); /* a CPU that nobody has: the first */
	assert_true(etw_kernel_out_peek(&out, 1, &event));
	assert_int_equal(event.bytes[0], 1);
	assert_int_equal(event.byte_count, 24);
	assert_int_equal(event.time_raw, 1000);
	assert_int_equal(etw_load64(event.bytes + 8), 1000);
	etw_kernel_out_pop(&out, 1, &mark);
	assert_int_equal(mark.moment, 100);
	assert_int_equal(mark.number, 0);
	assert_true(etw_kernel_out_peek(&out, 1, &event));
	assert_int_equal(event.bytes[0], 3);
	etw_kernel_out_pop(&out, 1, &mark);
	assert_false(etw_kernel_out_peek(&out, 1, &event));
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	assert_int_equal(event.bytes[0], 2);
	etw_kernel_out_pop(&out, 0, &mark);
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	assert_int_equal(event.bytes[0], 4);
	assert_int_equal(out.held_bytes, 24);
	etw_kernel_out_done(&out);
}

static void test_out__events_wait_for_the_clock(void **state)
{
	struct fake_source_host fake;
	struct etw_source_event event;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	fake.sample_ns = 99;
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, NULL), 0);
	add(&out, 100, 0, 1);
	assert_false(etw_kernel_out_peek(&out, 0, &event));
	fake.sample_ns = 100;
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	/* Once told, a time stays. */
	fake.sample_ns = 0;
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	assert_int_equal(event.time_raw, 1000);
	etw_kernel_out_done(&out);
}

static void test_out__what_a_former_host_had_is_left_out(void **state)
{
	struct etw_source_mark marks[FAKE_CPUS] = {{.moment = 100, .number = 1}};
	struct fake_source_host fake;
	struct etw_source_event event;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, marks), 0);
	etw_kernel_out_begin(&out, 90, 0, NULL);
	assert_null(etw_kernel_out_add(&out, 24, 8));
	etw_kernel_out_begin(&out, 100, 0, NULL);
	assert_null(etw_kernel_out_add(&out, 24, 8));
	assert_null(etw_kernel_out_add(&out, 24, 8));
	assert_non_null(etw_kernel_out_add(&out, 24, 8)); /* its third event was not output */
	etw_kernel_out_begin(&out, 90, 1, NULL);          /* the other CPU stood elsewhere */
	assert_non_null(etw_kernel_out_add(&out, 24, 8));
	assert_int_equal(out.no_memory, 0);
	assert_true(etw_kernel_out_peek(&out, 0, &event));
	etw_kernel_out_done(&out);
}

static void test_out__records_hold_until_all_is_popped(void **state)
{
	struct etw_kernel_item *item = calloc(1, sizeof(*item));
	struct fake_source_host fake;
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, NULL), 0);
	etw_kernel_out_begin(&out, 5, 0, item);
	assert_non_null(etw_kernel_out_add(&out, 24, 8));
	assert_non_null(etw_kernel_out_add(&out, 24, 8));
	assert_int_equal(item->outstanding, 2);
	for (uint32_t left = 2; left-- > 0;) {
		assert_true(etw_kernel_out_peek(&out, 0, &event));
		etw_kernel_out_pop(&out, 0, &mark);
		assert_int_equal(item->outstanding, left);
	}
	assert_int_equal(mark.moment, 5);
	assert_int_equal(mark.number, 1);
	etw_kernel_out_done(&out);
	free(item);
}

static void test_out__kinds_have_their_numbers(void **state)
{
	struct etw_source_mark marks[FAKE_CPUS] = {
		{.moment = 100,
		 .number = (uint64_t)ETW_KERNEL_SLOT_THREAD_ENDS << ETW_KERNEL_SLOT_BITS}};
	struct fake_source_host fake;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, marks), 0);
	etw_kernel_out_begin(&out, 100, 0, NULL);
	/* Forty unloads, of which the former host knew fewer, stay below the thread's end. */
	etw_kernel_out_slot(&out, ETW_KERNEL_SLOT_UNLOADS);
	for (int i = 0; i < 40; i++)
		assert_null(etw_kernel_out_add(&out, 24, 8));
	etw_kernel_out_slot(&out, ETW_KERNEL_SLOT_THREAD_ENDS);
	assert_null(etw_kernel_out_add(&out, 24, 8));
	etw_kernel_out_slot(&out, ETW_KERNEL_SLOT_END);
	assert_non_null(etw_kernel_out_add(&out, 24, 8));
	etw_kernel_out_done(&out);
}

/* A fork of a process with many images; the former host got as far as the fiftieth. */
static void test_out__many_events_of_one_record(void **state)
{
	struct etw_source_mark marks[FAKE_CPUS] = {0};
	struct fake_source_host fake;
	struct etw_source_event event;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	for (int host = 0; host < 2; host++) {
		int count = 0;

		assert_int_equal(etw_kernel_out_init(&out, &fake.host, marks), 0);
		etw_kernel_out_begin(&out, 100, 0, NULL);
		etw_kernel_out_slot(&out, ETW_KERNEL_SLOT_LOADS);
		for (int i = 0; i < 200; i++)
			count += etw_kernel_out_add(&out, 24, 8) != NULL;
		assert_int_equal(count, host == 0 ? 200 : 150);
		for (int i = 0; i < 50; i++) {
			assert_true(etw_kernel_out_peek(&out, 0, &event));
			etw_kernel_out_pop(&out, 0, &marks[0]);
		}
		etw_kernel_out_done(&out);
	}
}

static void test_out__too_large_is_counted(void **state)
{
	struct fake_source_host fake;
	struct etw_kernel_out out;

	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_out_init(&out, &fake.host, NULL), 0);
	etw_kernel_out_begin(&out, 5, 0, NULL);
	assert_null(etw_kernel_out_add(&out, 65536, 8));
	assert_int_equal(out.no_memory, 1);
	etw_kernel_out_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out__each_cpu_has_its_order),
		cmocka_unit_test(test_out__events_wait_for_the_clock),
		cmocka_unit_test(test_out__what_a_former_host_had_is_left_out),
		cmocka_unit_test(test_out__records_hold_until_all_is_popped),
		cmocka_unit_test(test_out__kinds_have_their_numbers),
		cmocka_unit_test(test_out__many_events_of_one_record),
		cmocka_unit_test(test_out__too_large_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
