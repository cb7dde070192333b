/* SPDX-License-Identifier: MIT */
/* The bytes of system calls and interrupts, field by field. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_source_host.h"
#include "source/kernel/events/cpu_events.h"

#define TIME_RAW INT64_C(0x1122334455667788)
#define START_NS UINT64_C(12345)

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_routines routines;
	struct etw_kernel_seen seen;
	struct etw_kernel_cpu_maker maker;
	struct {
		struct etw_kernel_cpu_record head;
		uint64_t payload[8];
	} record;
	uint8_t bytes[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fake_source_host_init(&fixture.fake);
	fixture.routines.native[7] = 0xffffffff81000700;
	fixture.routines.compat[7] = 0xffffffff81000800;
	fixture.routines.soft[3] = 0xffffffff81000900;
	fixture.routines.vectors[0xEC] = 0xffffffff81000a00;
	fixture.maker = (struct etw_kernel_cpu_maker){
		.host = &fixture.fake.host,
		.routines = &fixture.routines,
		.seen = &fixture.seen,
	};
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_seen_done(&fixture->seen);
	return 0;
}

/* Returns the event's payload; all of its bytes are what the header says. */
static const uint8_t *make(struct fixture *fixture, uint16_t kind, const void *payload,
			   uint16_t payload_bytes, uint16_t hook, uint32_t event_payload_bytes)
{
	uint32_t bytes;

	fixture->record.head = (struct etw_kernel_cpu_record){.kind = (uint16_t)kind,
							      .payload_bytes = payload_bytes};
	memcpy(fixture->record.payload, payload, payload_bytes);
	bytes = etw_kernel_cpu_event(&fixture->maker, &fixture->record.head, TIME_RAW,
				     fixture->bytes);
	assert_int_equal(bytes, 16 + event_payload_bytes);
	assert_int_equal(etw_load16(fixture->bytes), 2);
	assert_int_equal(fixture->bytes[2], 0x11);
	assert_int_equal(fixture->bytes[3], 0xC0);
	assert_int_equal(etw_load16(fixture->bytes + 4), bytes);
	assert_int_equal(etw_load16(fixture->bytes + 6), hook);
	assert_int_equal(etw_load64(fixture->bytes + 8), TIME_RAW);
	return fixture->bytes + 16;
}

static uint64_t enter(struct fixture *fixture, uint32_t number, uint32_t flags)
{
	const struct etw_kernel_syscall_enter payload = {.number = number, .flags = flags};

	return etw_load64(
		make(fixture, ETW_KERNEL_SYSCALL_ENTER, &payload, sizeof(payload), 0x0F33, 8));
}

static uint32_t leave(struct fixture *fixture, int64_t result)
{
	const struct etw_kernel_syscall_exit payload = {.result = result};

	return etw_load32(
		make(fixture, ETW_KERNEL_SYSCALL_EXIT, &payload, sizeof(payload), 0x0F34, 4));
}

static void test_system_calls__enter_names_the_function(void **state)
{
	struct fixture *fixture = *state;
	uint64_t *addresses;
	uint32_t count;

	assert_int_equal(enter(fixture, 7, 0), 0xffffffff81000700);
	assert_int_equal(enter(fixture, 7, ETW_KERNEL_SYSCALL_COMPAT), 0xffffffff81000800);
	assert_int_equal(enter(fixture, 8, 0), 8);
	/* The trace gets the symbols of both functions. */
	assert_int_equal(etw_kernel_seen_sort(&fixture->seen, &addresses, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(addresses[0], 0xffffffff81000700);
	free(addresses);
}

static void test_system_calls__exit_has_the_lower_half_of_the_result(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(leave(fixture, 5), 5);
	assert_int_equal(leave(fixture, -ENOENT), (uint32_t)-ENOENT);
	assert_int_equal(leave(fixture, INT64_C(0x7f1234567000)), 0x34567000);
}

static void test_system_calls__short_records_make_no_event(void **state)
{
	struct fixture *fixture = *state;

	for (int kind = 0; kind <= ETW_KERNEL_CPU_KINDS; kind++) {
		fixture->record.head = (struct etw_kernel_cpu_record){.kind = (uint16_t)kind,
								      .payload_bytes = 4};
		assert_int_equal(etw_kernel_cpu_event(&fixture->maker, &fixture->record.head,
						      TIME_RAW, fixture->bytes),
				 0);
	}
}

static const uint8_t *interrupt(struct fixture *fixture, uint32_t number, uint8_t flags)
{
	const struct etw_kernel_interrupt payload = {
		.start_ns = START_NS,
		.routine = flags ? 0 : 0xffffffffc0001000,
		.number = number,
		.result = 1,
		.flags = flags,
	};

	return make(fixture, ETW_KERNEL_INTERRUPT, &payload, sizeof(payload), 0x0F43, 20);
}

static void test_interrupts__have_their_start_and_their_handler(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *at = interrupt(fixture, 0x1A2, 0);

	assert_int_equal(etw_load64(at), START_NS * FAKE_TICKS_PER_NS);
	assert_int_equal(etw_load64(at + 8), 0xffffffffc0001000);
	assert_int_equal(at[16], 1);
	assert_int_equal(etw_load16(at + 17), 0x1A2);
	assert_int_equal(at[19], 0);
	at = interrupt(fixture, 0xEC, ETW_KERNEL_INTERRUPT_LOCAL);
	assert_int_equal(etw_load64(at + 8), 0xffffffff81000a00);
	assert_int_equal(etw_load16(at + 17), 0xEC);
	at = interrupt(fixture, 0xED, ETW_KERNEL_INTERRUPT_LOCAL);
	assert_int_equal(etw_load64(at + 8), 0xED);
}

static void test_interrupts__messages_have_their_number(void **state)
{
	static struct etw_kernel_messages messages;
	struct fixture *fixture = *state;
	const struct etw_kernel_interrupt payload = {
		.start_ns = START_NS,
		.routine = 0xffffffffc0001000,
		.number = 0x1A2,
		.result = 1,
	};
	const uint8_t *at;

	messages.lines[0x1A2] = 2 + 7;
	messages.lines[0xEC] = 2;
	fixture->maker.messages = &messages;
	at = make(fixture, ETW_KERNEL_INTERRUPT, &payload, sizeof(payload), 0x0F32, 24);
	assert_int_equal(etw_load64(at + 8), 0xffffffffc0001000);
	assert_int_equal(at[16], 1);
	assert_int_equal(etw_load16(at + 17), 0x1A2);
	assert_int_equal(at[19], 0);
	assert_int_equal(etw_load32(at + 20), 7);
	(void)interrupt(fixture, 0x1A3, 0);                         /* a line without a message */
	(void)interrupt(fixture, 0xEC, ETW_KERNEL_INTERRUPT_LOCAL); /* no line at all */
}

/* Where the clock cannot tell the start, it is the end: no event lasts less than nothing. */
static void test_interrupts__a_start_that_is_not_known_is_the_end(void **state)
{
	struct fixture *fixture = *state;

	fixture->fake.sample_ns = START_NS - 1;
	assert_int_equal(etw_load64(interrupt(fixture, 1, 0)), TIME_RAW);
}

static uint64_t soft_interrupt(struct fixture *fixture, uint32_t number, uint32_t flags,
			       uint16_t hook)
{
	const struct etw_kernel_soft_interrupt payload = {
		.start_ns = START_NS, .number = number, .flags = flags};
	const uint8_t *at = make(fixture, ETW_KERNEL_SOFT_INTERRUPT, &payload, sizeof(payload),
				 hook, 16);

	assert_int_equal(etw_load64(at), START_NS * FAKE_TICKS_PER_NS);
	return etw_load64(at + 8);
}

static void test_interrupts__soft_ones_are_deferred_calls(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(soft_interrupt(fixture, 3, 0, 0x0F44), 0xffffffff81000900);
	assert_int_equal(soft_interrupt(fixture, 9, 0, 0x0F44), 9);
	assert_int_equal(soft_interrupt(fixture, 3, ETW_KERNEL_SOFT_IN_THREAD, 0x0F42),
			 0xffffffff81000900);
	assert_int_equal(soft_interrupt(fixture, 1, 0, 0x0F45), 1);
	assert_int_equal(soft_interrupt(fixture, 8, ETW_KERNEL_SOFT_IN_THREAD, 0x0F45), 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_system_calls__enter_names_the_function),
		TEST(test_system_calls__exit_has_the_lower_half_of_the_result),
		TEST(test_system_calls__short_records_make_no_event),
		TEST(test_interrupts__have_their_start_and_their_handler),
		TEST(test_interrupts__messages_have_their_number),
		TEST(test_interrupts__a_start_that_is_not_known_is_the_end),
		TEST(test_interrupts__soft_ones_are_deferred_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
