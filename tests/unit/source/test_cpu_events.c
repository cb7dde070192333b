/* SPDX-License-Identifier: MIT */
/* The bytes of switches, ready threads, samples and stacks, field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "source/kernel/events/cpu_events.h"
#include "source/kernel/processes/priority.h"
#include "wire/etl_event.h"

#define TIME_RAW     INT64_C(0x1122334455667788)
#define NICE_0       120
#define FIFO_99      0
#define DEADLINE     255 /* -1 in a byte */
#define NORMAL       8
#define KERNEL_PLACE UINT64_C(0xffffffff81000000)

static struct {
	struct etw_kernel_cpu_record head;
	uint64_t payload[16];
} record;

static struct etw_kernel_seen seen;
static uint8_t bytes[ETW_KERNEL_STACK_MAX] __attribute__((aligned(8)));

/* Returns the event's payload; all of its bytes are what the header says. */
static const uint8_t *make(uint16_t kind, const void *payload, uint16_t payload_bytes,
			   uint16_t hook, uint32_t event_payload_bytes)
{
	const struct etw_kernel_cpu_maker maker = {.seen = &seen};
	uint32_t count;

	record.head = (struct etw_kernel_cpu_record){.kind = kind, .payload_bytes = payload_bytes};
	memcpy(record.payload, payload, payload_bytes);
	memset(bytes, 0xEE, sizeof(bytes));
	count = etw_kernel_cpu_event(&maker, &record.head, TIME_RAW, bytes);
	assert_int_equal(count, 16 + event_payload_bytes);
	assert_int_equal(etw_load16(bytes), kind == ETW_KERNEL_PRIORITY ? 3 : 2);
	assert_int_equal(bytes[2], 0x11);
	assert_int_equal(bytes[3], 0xC0);
	assert_int_equal(etw_load16(bytes + 4), count);
	assert_int_equal(etw_load16(bytes + 6), hook);
	assert_int_equal(etw_load64(bytes + 8), TIME_RAW);
	assert_int_equal(bytes[count], 0xEE);
	return bytes + 16;
}

static void test_cpu_events__sample(void **state)
{
	struct etw_kernel_sample sample = {
		.address = KERNEL_PLACE,
		.tid = 41,
		.priority = NICE_0,
	};
	const uint8_t *at;

	(void)state;
	at = make(ETW_KERNEL_SAMPLE, &sample, sizeof(sample), 0x0F2E, 16);
	assert_int_equal(etw_load64(at), KERNEL_PLACE);
	assert_true(seen.is_used); /* it wants a name */
	etw_kernel_seen_done(&seen);
	assert_int_equal(etw_load32(at + 8), 41);
	assert_int_equal(etw_load16(at + 12), 1);
	assert_int_equal(at[14], NORMAL << 3);
	assert_int_equal(at[15], 0);
	sample.flags = ETW_KERNEL_SAMPLE_SOFT_INTERRUPT;
	sample.priority = DEADLINE;
	sample.policy = ETW_KERNEL_POLICY_DEADLINE;
	at = make(ETW_KERNEL_SAMPLE, &sample, sizeof(sample), 0x0F2E, 16);
	assert_int_equal(at[14], ETW_KERNEL_PRIORITY_HIGHEST << 3 | 1);
	/* The idle thread has the priority that nobody else has. */
	sample = (struct etw_kernel_sample){.priority = NICE_0};
	at = make(ETW_KERNEL_SAMPLE, &sample, sizeof(sample), 0x0F2E, 16);
	assert_int_equal(etw_load32(at + 8), 0);
	assert_int_equal(at[14], 0);
}

static void test_cpu_events__counter_sample(void **state)
{
	const struct etw_kernel_counter_sample sample = {
		.address = KERNEL_PLACE, .tid = 41, .source = 0x1002};
	const uint8_t *at;

	(void)state;
	at = make(ETW_KERNEL_COUNTER_SAMPLE, &sample, sizeof(sample), 0x0F2F, 16);
	assert_int_equal(etw_load64(at), KERNEL_PLACE);
	assert_true(seen.is_used);
	etw_kernel_seen_done(&seen);
	assert_int_equal(etw_load32(at + 8), 41);
	assert_int_equal(etw_load16(at + 12), 0x1002);
	assert_int_equal(etw_load16(at + 14), 0);
}

static void test_cpu_events__ready(void **state)
{
	struct etw_kernel_ready ready = {.tid = 41};
	const uint8_t *at;

	(void)state;
	at = make(ETW_KERNEL_READY, &ready, sizeof(ready), 0x0532, 8);
	assert_int_equal(etw_load32(at), 41);
	assert_int_equal(etw_load32(at + 4), 1); /* the end of a wait */
	ready.flags = ETW_KERNEL_READY_INTERRUPT;
	at = make(ETW_KERNEL_READY, &ready, sizeof(ready), 0x0532, 8);
	assert_int_equal(etw_load32(at + 4), 0x00010001);
	ready.flags = ETW_KERNEL_READY_NEW;
	at = make(ETW_KERNEL_READY, &ready, sizeof(ready), 0x0532, 8);
	assert_int_equal(etw_load32(at + 4), 0);
}

static void test_cpu_events__priority(void **state)
{
	struct etw_kernel_priority change = {
		.tid = 41,
		.old_priority = NICE_0,
		.new_priority = FIFO_99,
	};
	const uint8_t *at;

	(void)state;
	at = make(ETW_KERNEL_PRIORITY, &change, sizeof(change), 0x0530, 8);
	assert_int_equal(etw_load32(at), 41);
	assert_int_equal(at[4], NORMAL);
	assert_int_equal(at[5], etw_kernel_priority_of(FIFO_99, ETW_KERNEL_POLICY_FIFO));
	assert_int_equal(etw_load16(at + 6), 0);
	change.is_base = 1;
	change.is_old_idle = 1;
	change.new_priority = DEADLINE;
	at = make(ETW_KERNEL_PRIORITY, &change, sizeof(change), 0x0531, 8);
	assert_int_equal(at[4], 1);
	assert_int_equal(at[5], ETW_KERNEL_PRIORITY_HIGHEST);
	change.is_old_idle = 0;
	change.is_new_idle = 1;
	change.new_priority = NICE_0;
	at = make(ETW_KERNEL_PRIORITY, &change, sizeof(change), 0x0531, 8);
	assert_int_equal(at[4], NORMAL);
	assert_int_equal(at[5], 1);
}

static void test_cpu_events__idle_states(void **state)
{
	struct etw_kernel_idle_state idle = {.state = 3};
	const uint8_t *at;

	(void)state;
	at = make(ETW_KERNEL_IDLE_STATE, &idle, sizeof(idle), 0x1239, 16);
	assert_int_equal(etw_load32(at), 3);
	assert_int_equal(etw_load32(at + 4), 0);
	assert_int_equal(etw_load64(at + 8), 0);
	idle.is_end = 1;
	at = make(ETW_KERNEL_IDLE_STATE, &idle, sizeof(idle), 0x123A, 8);
	assert_int_equal(etw_load32(at), 3);
	assert_int_equal(etw_load32(at + 4), 0);
}

/* It describes itself: tests/unit/wire/test_kernel_power.c has what it says. */
static void test_cpu_events__frequency(void **state)
{
	static const struct etw_kernel_cpu_maker maker = {0};
	const struct etw_kernel_frequency frequency = {.cpu = 7, .khz = 3600000};
	uint32_t count;

	(void)state;
	record.head = (struct etw_kernel_cpu_record){
		.kind = ETW_KERNEL_FREQUENCY,
		.payload_bytes = sizeof(frequency),
	};
	memcpy(record.payload, &frequency, sizeof(frequency));
	memset(bytes, 0xEE, sizeof(bytes));
	count = etw_kernel_cpu_event(&maker, &record.head, TIME_RAW, bytes);
	assert_true(count && count <= ETW_KERNEL_CPU_EVENT_MAX);
	assert_int_equal(etw_load16(bytes), count);
	assert_int_equal(etw_load64(bytes + offsetof(struct wire_event_header, time_raw)),
			 TIME_RAW);
	assert_int_equal(etw_load32(bytes + count - 8), 7);
	assert_int_equal(etw_load32(bytes + count - 4), 3600000);
	record.head.payload_bytes--;
	assert_int_equal(etw_kernel_cpu_event(&maker, &record.head, TIME_RAW, bytes), 0);
}

static void test_cpu_events__switch_has_the_priorities_of_both(void **state)
{
	const struct etw_kernel_switch one = {
		.new_tid = 41,
		.old_tid = 42,
		.waited_ns = 7999999,
		.new_priority = DEADLINE,
		.new_policy = ETW_KERNEL_POLICY_DEADLINE,
		.old_priority = FIFO_99,
		.old_policy = ETW_KERNEL_POLICY_FIFO,
		.idle_state = 5,
	};
	const uint8_t *at = make(ETW_KERNEL_SWITCH, &one, sizeof(one), 0x0524, 24);

	(void)state;
	assert_int_equal(etw_load32(at), 41);
	assert_int_equal(etw_load32(at + 4), 42);
	assert_int_equal(at[8], ETW_KERNEL_PRIORITY_HIGHEST);
	assert_int_equal(at[9], etw_kernel_priority_of(FIFO_99, ETW_KERNEL_POLICY_FIFO));
	assert_int_equal(at[10], 5); /* PreviousCState */
	assert_int_equal(etw_load32(at + 16), 7);
}

static void test_cpu_events__stack_names_its_event(void **state)
{
	const struct etw_kernel_sample sample = {.tid = 41};
	const uint64_t frames[] = {KERNEL_PLACE, KERNEL_PLACE + 8, 0x400000};

	(void)state;
	(void)make(ETW_KERNEL_SAMPLE, &sample, sizeof(sample), 0x0F2E, 16);
	record.head.stack_tid = 41;
	record.head.stack_pid = 40;
	assert_int_equal(etw_kernel_cpu_stack(&record.head, frames, 3, TIME_RAW, bytes),
			 16 + 16 + 24);
	assert_int_equal(etw_load16(bytes + 6), 0x1820);
	assert_int_equal(etw_load64(bytes + 8), TIME_RAW);
	assert_int_equal(etw_load64(bytes + 16), TIME_RAW);
	assert_int_equal(etw_load32(bytes + 24), 40);
	assert_int_equal(etw_load32(bytes + 28), 41);
	assert_memory_equal(bytes + 32, frames, sizeof(frames));
}

static void test_cpu_events__short_payload_makes_none(void **state)
{
	static const struct etw_kernel_cpu_maker maker = {0};

	(void)state;
	record.head = (struct etw_kernel_cpu_record){
		.kind = ETW_KERNEL_SAMPLE,
		.payload_bytes = sizeof(struct etw_kernel_sample) - 1,
	};
	assert_int_equal(etw_kernel_cpu_event(&maker, &record.head, TIME_RAW, bytes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_events__sample),
		cmocka_unit_test(test_cpu_events__counter_sample),
		cmocka_unit_test(test_cpu_events__ready),
		cmocka_unit_test(test_cpu_events__priority),
		cmocka_unit_test(test_cpu_events__idle_states),
		cmocka_unit_test(test_cpu_events__frequency),
		cmocka_unit_test(test_cpu_events__switch_has_the_priorities_of_both),
		cmocka_unit_test(test_cpu_events__stack_names_its_event),
		cmocka_unit_test(test_cpu_events__short_payload_makes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
