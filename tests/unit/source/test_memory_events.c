/* SPDX-License-Identifier: MIT */
/* The bytes of faults, of memory and of views of files, field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_source_host.h"
#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/events/cpu_events.h"

#define TIME_RAW INT64_C(0x1122334455667788)
#define START_NS UINT64_C(12345)
#define TID      77
#define PID      70
#define KEY      UINT64_C(0xffff888812345678)
#define ADDRESS  UINT64_C(0x7f0011223000)

struct fixture {
	struct fake_source_host fake;
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
	fixture.maker = (struct etw_kernel_cpu_maker){
		.host = &fixture.fake.host,
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

static uint32_t make_bytes(struct fixture *fixture, uint16_t kind, const void *payload,
			   uint16_t payload_bytes)
{
	fixture->record.head = (struct etw_kernel_cpu_record){
		.kind = kind,
		.payload_bytes = payload_bytes,
		.stack_tid = TID,
		.stack_pid = PID,
	};
	memcpy(fixture->record.payload, payload, payload_bytes);
	return etw_kernel_cpu_event(&fixture->maker, &fixture->record.head, TIME_RAW,
				    fixture->bytes);
}

/* Returns the payload of an event with a SYSTEM header; all of its bytes are what the header says. */
static const uint8_t *make(struct fixture *fixture, uint16_t kind, const void *payload,
			   uint16_t payload_bytes, uint16_t hook, uint32_t event_payload_bytes)
{
	uint32_t bytes = make_bytes(fixture, kind, payload, payload_bytes);

	assert_int_equal(bytes, 32 + event_payload_bytes);
	assert_int_equal(etw_load16(fixture->bytes), 2);
	assert_int_equal(fixture->bytes[2], 0x02);
	assert_int_equal(fixture->bytes[3], 0xC0);
	assert_int_equal(etw_load16(fixture->bytes + 4), bytes);
	assert_int_equal(etw_load16(fixture->bytes + 6), hook);
	assert_int_equal(etw_load32(fixture->bytes + 8), TID);
	assert_int_equal(etw_load32(fixture->bytes + 12), PID);
	assert_int_equal(etw_load64(fixture->bytes + 16), TIME_RAW);
	assert_int_equal(etw_load64(fixture->bytes + 24), 0);
	return fixture->bytes + 32;
}

static void test_faults__have_address_and_code(void **state)
{
	struct fixture *fixture = *state;

	for (uint32_t type = 10; type <= 15; type++) {
		const struct etw_kernel_fault fault = {
			.address = ADDRESS, .pc = 0x401000, .type = type};
		const uint8_t *at = make(fixture, ETW_KERNEL_FAULT, &fault, sizeof(fault),
					 (uint16_t)(0x0200 | type), 16);

		assert_int_equal(etw_load64(at), ADDRESS);
		assert_int_equal(etw_load64(at + 8), 0x401000);
	}
}

static void test_faults__of_unknown_types_make_no_event(void **state)
{
	struct etw_kernel_fault fault = {.type = 9};

	assert_int_equal(make_bytes(*state, ETW_KERNEL_FAULT, &fault, sizeof(fault)), 0);
	fault.type = 16;
	assert_int_equal(make_bytes(*state, ETW_KERNEL_FAULT, &fault, sizeof(fault)), 0);
}

/* Returns the payload: the thread is in it, and the header is short. */
static const uint8_t *make_hard(struct fixture *fixture, uint64_t start_ns)
{
	const struct etw_kernel_hard_fault fault = {
		.start_ns = start_ns,
		.offset = 0x123000,
		.address = ADDRESS,
		.file_key = KEY,
		.byte_count = 0x4000,
	};

	assert_int_equal(make_bytes(fixture, ETW_KERNEL_HARD_FAULT, &fault, sizeof(fault)),
			 16 + 40);
	assert_int_equal(etw_load16(fixture->bytes + 6), 0x0220);
	return fixture->bytes + 16;
}

static void test_hard_faults__say_what_was_read(void **state)
{
	const uint8_t *at = make_hard(*state, START_NS);
	struct fixture *fixture = *state;
	int64_t start_raw;

	assert_int_equal(
		fixture->fake.host.to_raw(fixture->fake.host.context, START_NS, &start_raw), 0);
	assert_int_equal(etw_load64(at), start_raw);
	assert_int_equal(etw_load64(at + 8), 0x123000);
	assert_int_equal(etw_load64(at + 16), ADDRESS);
	assert_int_equal(etw_load64(at + 24), KEY);
	assert_int_equal(etw_load32(at + 32), TID);
	assert_int_equal(etw_load32(at + 36), 0x4000);
}

static void test_hard_faults__a_start_that_is_not_known_is_the_end(void **state)
{
	assert_int_equal(etw_load64(make_hard(*state, 0)), TIME_RAW);
}

static void test_memory__is_taken_and_given_back(void **state)
{
	struct etw_kernel_memory memory = {.base = ADDRESS,
					   .byte_count = 0x5000,
					   .tid = TID,
					   .pid = 71,
					   .flags = ETW_KERNEL_MEMORY_RESERVE |
						    ETW_KERNEL_MEMORY_COMMIT};
	const uint8_t *at = make(*state, ETW_KERNEL_MEMORY, &memory, sizeof(memory), 0x0262, 24);

	assert_int_equal(etw_load64(at), ADDRESS);
	assert_int_equal(etw_load64(at + 8), 0x5000);
	assert_int_equal(etw_load32(at + 16), 71);
	assert_int_equal(etw_load32(at + 20), 0x3000);
	memory.flags = ETW_KERNEL_MEMORY_RELEASE;
	at = make(*state, ETW_KERNEL_MEMORY, &memory, sizeof(memory), 0x0263, 24);
	assert_int_equal(etw_load32(at + 20), 0x8000);
	memory.flags = ETW_KERNEL_MEMORY_DECOMMIT;
	at = make(*state, ETW_KERNEL_MEMORY, &memory, sizeof(memory), 0x0263, 24);
	assert_int_equal(etw_load32(at + 20), 0x4000);
}

static void test_views__are_mapped_and_unmapped(void **state)
{
	struct etw_kernel_view view = {
		.base = ADDRESS,
		.byte_count = 0x6000,
		.file_key = KEY,
		.page_offset = 3,
		.tid = TID,
		.pid = PID,
		.rights = ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_EXECUTE,
	};
	const uint8_t *at = make(*state, ETW_KERNEL_VIEW, &view, sizeof(view), 0x0425, 36);

	assert_int_equal(etw_load64(at), ADDRESS);
	assert_int_equal(etw_load64(at + 8), KEY);
	assert_int_equal(etw_load64(at + 16), UINT64_C(3) << 32 | 0x20);
	assert_int_equal(etw_load64(at + 24), 0x6000);
	assert_int_equal(etw_load32(at + 32), PID);
	view.is_unmapped = 1;
	(void)make(*state, ETW_KERNEL_VIEW, &view, sizeof(view), 0x0426, 36);
}

static void test_views__have_the_rights_that_windows_names(void **state)
{
	static const struct {
		uint32_t rights, protection;
	} cases[] = {
		{0, 0x01},
		{ETW_KERNEL_VIEW_READ, 0x02},
		{ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_WRITE | ETW_KERNEL_VIEW_SHARED, 0x04},
		{ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_WRITE, 0x08},
		{ETW_KERNEL_VIEW_EXECUTE, 0x10},
		{ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_EXECUTE, 0x20},
		{ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_WRITE | ETW_KERNEL_VIEW_EXECUTE |
			 ETW_KERNEL_VIEW_SHARED,
		 0x40},
		{ETW_KERNEL_VIEW_WRITE | ETW_KERNEL_VIEW_EXECUTE, 0x80},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct etw_kernel_view view = {.tid = TID, .rights = cases[i].rights};
		const uint8_t *at = make(*state, ETW_KERNEL_VIEW, &view, sizeof(view), 0x0425, 36);

		if (etw_load64(at + 16) != cases[i].protection)
			fail_msg("rights %x", cases[i].rights);
	}
}

static void test_memory__short_records_make_no_event(void **state)
{
	static const struct {
		uint16_t kind;
		size_t bytes;
	} kinds[] = {
		{ETW_KERNEL_FAULT, sizeof(struct etw_kernel_fault)},
		{ETW_KERNEL_HARD_FAULT, sizeof(struct etw_kernel_hard_fault)},
		{ETW_KERNEL_MEMORY, sizeof(struct etw_kernel_memory)},
		{ETW_KERNEL_VIEW, sizeof(struct etw_kernel_view)},
	};
	const uint64_t zeros[8] = {0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(
			make_bytes(*state, kinds[i].kind, zeros, (uint16_t)(kinds[i].bytes - 8)),
			0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_faults__have_address_and_code),
		TEST(test_faults__of_unknown_types_make_no_event),
		TEST(test_hard_faults__say_what_was_read),
		TEST(test_hard_faults__a_start_that_is_not_known_is_the_end),
		TEST(test_memory__is_taken_and_given_back),
		TEST(test_views__are_mapped_and_unmapped),
		TEST(test_views__have_the_rights_that_windows_names),
		TEST(test_memory__short_records_make_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
