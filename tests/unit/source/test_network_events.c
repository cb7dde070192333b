/* SPDX-License-Identifier: MIT */
/* The bytes of TcpIp's and UdpIp's events, field by field. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "source/kernel/bpf/network_records.h"
#include "source/kernel/events/cpu_events.h"

#define TIME_RAW    INT64_C(0x1122334455667788)
#define TIME_NS     UINT64_C(5000000999999)
#define TIME_MS     5000000
#define CONNECTION  UINT64_C(0xffff888101020304)
#define PORT        443
#define LOCAL_PORT  0x1234
#define HEADER      16
#define FAIL_HEADER 32

struct fixture {
	struct {
		struct etw_kernel_cpu_record head;
		struct etw_kernel_network payload;
	} record;
	uint8_t bytes[ETW_KERNEL_CPU_EVENT_MAX] __attribute__((aligned(8)));
	uint32_t byte_count;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fixture.record.head = (struct etw_kernel_cpu_record){
		.time_ns = TIME_NS,
		.kind = ETW_KERNEL_NETWORK,
		.payload_bytes = sizeof(fixture.record.payload),
	};
	fixture.record.payload = (struct etw_kernel_network){
		.connection = CONNECTION,
		.remote = {10, 0, 0, 1, [15] = 99},
		.local = {10, 0, 0, 2, [15] = 98},
		.remote_port = htons(PORT),
		.local_port = htons(LOCAL_PORT),
		.pid = 4711,
		.tid = 4712,
		.byte_count = 1000,
		.sequence = 0xfedcba98,
		.window = 65535,
		.mss = 1460,
		.receive_scale = 7,
		.send_scale = 9,
	};
	*state = &fixture;
	return 0;
}

static uint32_t make(struct fixture *fixture, uint8_t event, uint8_t flags)
{
	const struct etw_kernel_cpu_maker maker = {0};

	fixture->record.payload.event = event;
	fixture->record.payload.flags = flags;
	memset(fixture->bytes, 0xA5, sizeof(fixture->bytes));
	fixture->byte_count = etw_kernel_cpu_event(&maker, &fixture->record.head, TIME_RAW,
						   fixture->bytes);
	return fixture->byte_count;
}

/* A PERFINFO header; what it says is all there is. Returns the payload. */
static const uint8_t *hold_header(const struct fixture *fixture, uint16_t hook, uint32_t bytes)
{
	assert_int_equal(fixture->byte_count, HEADER + bytes);
	assert_int_equal(etw_load16(fixture->bytes), 2);
	assert_int_equal(fixture->bytes[2], 0x11);
	assert_int_equal(fixture->bytes[3], 0xC0);
	assert_int_equal(etw_load16(fixture->bytes + 4), fixture->byte_count);
	assert_int_equal(etw_load16(fixture->bytes + 6), hook);
	assert_int_equal(etw_load64(fixture->bytes + 8), TIME_RAW);
	assert_int_equal(fixture->bytes[fixture->byte_count], 0xA5);
	return fixture->bytes + HEADER;
}

/* What all but Fail begin with. Returns what is behind. */
static const uint8_t *hold_ends(const uint8_t *at, size_t address_bytes)
{
	const uint8_t remote[16] = {10, 0, 0, 1, [15] = 99}, local[16] = {10, 0, 0, 2, [15] = 98};

	assert_int_equal(etw_load32(at), 4711);
	assert_int_equal(etw_load32(at + 4), 1000);
	assert_memory_equal(at + 8, remote, address_bytes);
	assert_memory_equal(at + 8 + address_bytes, local, address_bytes);
	at += 8 + 2 * address_bytes;
	/* In network order. */
	assert_int_equal(at[0] << 8 | at[1], PORT);
	assert_int_equal(at[2] << 8 | at[3], LOCAL_PORT);
	return at + 4;
}

static void hold_tail(const uint8_t *at)
{
	assert_int_equal(etw_load32(at), 0xfedcba98);
	assert_int_equal(etw_load64(at + 4), CONNECTION);
}

static void test_network__a_send_of_tcp_has_times(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *at;

	make(fixture, ETW_KERNEL_NETWORK_SEND, 0);
	at = hold_ends(hold_header(fixture, 0x060A, 40), 4);
	assert_int_equal(etw_load32(at), TIME_MS);
	assert_int_equal(etw_load32(at + 4), TIME_MS);
	hold_tail(at + 8);
	make(fixture, ETW_KERNEL_NETWORK_SEND, ETW_KERNEL_NETWORK_IPV6);
	at = hold_ends(hold_header(fixture, 0x061A, 64), 16);
	hold_tail(at + 8);
}

static void test_network__others_end_with_the_connection(void **state)
{
	static const struct {
		uint8_t event;
		uint16_t hook;
	} events[] = {
		{ETW_KERNEL_NETWORK_RECEIVE, 0x060B},
		{ETW_KERNEL_NETWORK_DISCONNECT, 0x060D},
		{ETW_KERNEL_NETWORK_RETRANSMIT, 0x060E},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		make(fixture, events[i].event, 0);
		hold_tail(hold_ends(hold_header(fixture, events[i].hook, 32), 4));
		make(fixture, events[i].event, ETW_KERNEL_NETWORK_IPV6);
		hold_tail(hold_ends(hold_header(fixture, events[i].hook + 16, 56), 16));
	}
}

static void test_network__datagrams_are_of_the_other_class(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, ETW_KERNEL_NETWORK_SEND, ETW_KERNEL_NETWORK_UDP);
	hold_tail(hold_ends(hold_header(fixture, 0x080A, 32), 4));
	make(fixture, ETW_KERNEL_NETWORK_RECEIVE, ETW_KERNEL_NETWORK_UDP | ETW_KERNEL_NETWORK_IPV6);
	hold_tail(hold_ends(hold_header(fixture, 0x081B, 56), 16));
}

static void hold_options(const uint8_t *at, uint16_t is_agreed)
{
	assert_int_equal(etw_load16(at), 1460);
	assert_int_equal(etw_load16(at + 2), is_agreed);
	assert_int_equal(etw_load16(at + 4), 0);
	assert_int_equal(etw_load16(at + 6), is_agreed);
	assert_int_equal(etw_load32(at + 8), 65535);
	assert_int_equal(etw_load16(at + 12), 7);
	assert_int_equal(etw_load16(at + 14), 9);
	hold_tail(at + 16);
}

static void test_network__a_new_connection_says_what_was_agreed_on(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t agreed = ETW_KERNEL_NETWORK_SACK | ETW_KERNEL_NETWORK_WINDOW_SCALE;

	make(fixture, ETW_KERNEL_NETWORK_CONNECT, agreed);
	hold_options(hold_ends(hold_header(fixture, 0x060C, 48), 4), 1);
	make(fixture, ETW_KERNEL_NETWORK_ACCEPT, ETW_KERNEL_NETWORK_IPV6);
	hold_options(hold_ends(hold_header(fixture, 0x061F, 72), 16), 0);
}

static void test_network__a_failure_has_its_process_in_the_header(void **state)
{
	struct fixture *fixture = *state;

	fixture->record.payload.error = ECONNREFUSED;
	assert_int_equal(make(fixture, ETW_KERNEL_NETWORK_FAIL, 0), FAIL_HEADER + 4);
	assert_int_equal(fixture->bytes[2], 0x02);
	assert_int_equal(etw_load16(fixture->bytes + 4), FAIL_HEADER + 4);
	assert_int_equal(etw_load16(fixture->bytes + 6), 0x0611);
	assert_int_equal(etw_load32(fixture->bytes + 8), 4712);
	assert_int_equal(etw_load32(fixture->bytes + 12), 4711);
	assert_int_equal(etw_load64(fixture->bytes + 16), TIME_RAW);
	assert_int_equal(etw_load16(fixture->bytes + 32), 2);
	assert_int_equal(etw_load16(fixture->bytes + 34), 0x0236);
	fixture->record.payload.error = ENETUNREACH;
	make(fixture, ETW_KERNEL_NETWORK_FAIL, ETW_KERNEL_NETWORK_UDP | ETW_KERNEL_NETWORK_IPV6);
	assert_int_equal(etw_load16(fixture->bytes + 6), 0x0811);
	assert_int_equal(etw_load16(fixture->bytes + 32), 23);
	assert_int_equal(etw_load16(fixture->bytes + 34), 0x023C);
	fixture->record.payload.error = EILSEQ;
	make(fixture, ETW_KERNEL_NETWORK_FAIL, 0);
	assert_int_equal(etw_load16(fixture->bytes + 34), 0x0001);
}

static void test_network__what_makes_no_sense_is_no_event(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(make(fixture, ETW_KERNEL_NETWORK_CONNECT, ETW_KERNEL_NETWORK_UDP), 0);
	assert_int_equal(make(fixture, 16, 0), 0);
	assert_int_equal(make(fixture, 0, 0), 0);
	fixture->record.head.payload_bytes--;
	assert_int_equal(make(fixture, ETW_KERNEL_NETWORK_SEND, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_network__a_send_of_tcp_has_times, set_up),
		cmocka_unit_test_setup(test_network__others_end_with_the_connection, set_up),
		cmocka_unit_test_setup(test_network__datagrams_are_of_the_other_class, set_up),
		cmocka_unit_test_setup(test_network__a_new_connection_says_what_was_agreed_on,
				       set_up),
		cmocka_unit_test_setup(test_network__a_failure_has_its_process_in_the_header,
				       set_up),
		cmocka_unit_test_setup(test_network__what_makes_no_sense_is_no_event, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
