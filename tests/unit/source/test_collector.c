/* SPDX-License-Identifier: MIT */
/* Records in, events out, by a ring in plain memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_ring.h"
#include "fake_source_host.h"
#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/code/routines.h"
#include "source/kernel/collector/collector.h"

#define PROCESS_START 0x0301
#define CPU_RING_MAX  (UINT64_C(8) << 20) /* as large as they are made */

static struct fake_source_host fake;
static struct fake_ring ring;
static struct etw_kernel_collector collector;

/* The ring of frequent events of processor 0. */
static struct {
	uint64_t consumer, producer, byte_count;
	uint8_t *data;
} calls;

static int set_up(void **state)
{
	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(etw_kernel_collector_init(&collector, &fake.host, NULL), 0);
	fake_ring_open(&ring, &collector.streams.ring);
	collector.tracker->flags = EVENT_TRACE_FLAG_PROCESS;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etw_kernel_collector_done(&collector);
	free(calls.data);
	calls.data = NULL;
	return 0;
}

static void open_calls(uint64_t byte_count)
{
	static const struct etw_kernel_routines none;
	struct etw_kernel_cpu_rings *rings = &collector.streams.cpu_rings;

	collector.cpu_out.maker.routines = &none;
	calls.consumer = 0;
	calls.producer = 0;
	calls.byte_count = byte_count;
	calls.data = calloc(2, byte_count);
	assert_non_null(calls.data);
	rings->at = calloc(1, sizeof(*rings->at));
	assert_non_null(rings->at);
	rings->count = 1;
	etw_kernel_ring_init(&rings->at[0].ring, &calls.consumer, &calls.producer, calls.data,
			     byte_count);
}

/* A system call begins. @bits: FAKE_RING_BUSY or 0. Returns where the record's header is; NULL: the ring is full. */
static uint32_t *put_call(uint64_t time_ns, uint32_t bits)
{
	struct {
		uint32_t header[2];
		struct etw_kernel_cpu_record record;
		struct etw_kernel_syscall_enter call;
	} made = {
		.header = {(sizeof(made.record) + sizeof(made.call)) | bits},
		.record = {.time_ns = time_ns,
			   .kind = ETW_KERNEL_SYSCALL_ENTER,
			   .payload_bytes = sizeof(made.call)},
	};
	uint8_t *at = calls.data + calls.producer;

	if (calls.producer + sizeof(made) > calls.byte_count)
		return NULL;
	memcpy(at, &made, sizeof(made));
	calls.producer += sizeof(made);
	return (uint32_t *)(void *)at;
}

/* Takes all events of processor 0, in the order in which they are shown. Returns how many. */
static size_t take_in_order(int64_t *last_raw)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	size_t count = 0;

	for (; etw_kernel_collector_peek(&collector, 0, &event); count++) {
		assert_true(event.time_raw >= *last_raw);
		*last_raw = event.time_raw;
		etw_kernel_collector_pop(&collector, 0, &mark);
	}
	return count;
}

/* As the rundown at the end tells something: behind everything that was applied. */
static void tell_end(uint64_t now_ns)
{
	etw_kernel_collector_apply(&collector, now_ns);
	etw_kernel_out_begin(&collector.out, collector.applied_ns, 0, NULL);
	assert_non_null(etw_kernel_out_add(&collector.out, 0x20, 0x10));
}

/* Takes the next event of a CPU. Returns the process whose start it tells; 0: there is no event. */
static uint32_t pop_start(uint32_t cpu, int64_t *ret_time_raw)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	uint32_t pid;

	if (!etw_kernel_out_peek(&collector.out, cpu, &event))
		return 0;
	assert_int_equal(etw_load16(event.bytes + 6), PROCESS_START);
	*ret_time_raw = event.time_raw;
	pid = etw_load32(event.bytes + 0x28);
	etw_kernel_out_pop(&collector.out, cpu, &mark);
	return pid;
}

static void test_collector__records_become_events_of_their_cpu(void **state)
{
	int64_t watermark_raw = -1, time_raw = -1;

	(void)state;
	(void)fake_ring_put_start(&ring, 200, 1, 20, 0);
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	assert_int_equal(pop_start(0, &time_raw), 10);
	assert_int_equal(time_raw, 1000);
	assert_int_equal(pop_start(0, &time_raw), 0);
	assert_int_equal(pop_start(1, &time_raw), 20);
	assert_int_equal(time_raw, 2000);
	/* No event is to come from before the look at the clock. */
	assert_int_equal(watermark_raw, (int64_t)collector.streams.read_ns * 10);
	assert_true(watermark_raw > 2000);
}

/* One that comes with a time for which it is too late is raised, so that the watermark holds. */
static void test_collector__a_late_record_is_raised_to_the_watermark(void **state)
{
	int64_t first_raw, watermark_raw, time_raw = 0;

	(void)state;
	assert_int_equal(etw_kernel_collector_collect(&collector, &first_raw), 0);
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	assert_int_equal(pop_start(0, &time_raw), 10);
	assert_true(time_raw >= first_raw);
	assert_true(watermark_raw >= first_raw);
}

static void test_collector__a_record_in_the_making_is_waited_for(void **state)
{
	uint32_t *header = fake_ring_put_start(&ring, 100, 0, 10, FAKE_RING_BUSY);
	int64_t watermark_raw, time_raw;

	(void)state;
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 1);
	assert_int_equal(watermark_raw, 0);
	assert_int_equal(pop_start(0, &time_raw), 0);
	*header &= ~FAKE_RING_BUSY;
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	assert_int_equal(pop_start(0, &time_raw), 10);
}

static void test_collector__reading_all_applies_nothing(void **state)
{
	int64_t time_raw;

	(void)state;
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	(void)fake_ring_put_start(&ring, 300, 0, 30, 0);
	etw_kernel_collector_read_all(&collector);
	assert_int_equal(pop_start(0, &time_raw), 0);
	etw_kernel_collector_apply(&collector, 200);
	assert_int_equal(collector.applied_ns, 200);
	assert_int_equal(pop_start(0, &time_raw), 10);
	assert_int_equal(pop_start(0, &time_raw), 0);
	etw_kernel_collector_apply(&collector, 300);
	assert_int_equal(pop_start(0, &time_raw), 30);
}

/* What is left in the rings at the end would be lost, and nobody would count it. */
static void test_collector__reading_all_goes_beyond_what_is_held(void **state)
{
	const uint64_t held_bytes = collector.out.held_bytes;
	int64_t watermark_raw, time_raw;

	(void)state;
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	collector.out.held_bytes = UINT64_MAX / 2; /* the engine is far behind */
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	assert_int_equal(pop_start(0, &time_raw), 0);
	etw_kernel_collector_read_all(&collector);
	etw_kernel_collector_apply(&collector, 100);
	assert_int_equal(pop_start(0, &time_raw), 10);
	collector.out.held_bytes = held_bytes;
}

static void *finish_late(void *header)
{
	usleep(100000);
	__atomic_and_fetch((uint32_t *)header, ~FAKE_RING_BUSY, __ATOMIC_RELEASE);
	return NULL;
}

/* A processor may stand still in the middle of a record: what comes behind it must not be missed. */
static void test_collector__reading_all_waits_for_who_is_writing(void **state)
{
	uint32_t *header = fake_ring_put_start(&ring, 100, 0, 10, FAKE_RING_BUSY);
	pthread_t writer;
	int64_t time_raw;

	(void)state;
	(void)fake_ring_put_start(&ring, 200, 0, 20, 0);
	assert_int_equal(pthread_create(&writer, NULL, finish_late, header), 0);
	etw_kernel_collector_read_all(&collector);
	pthread_join(writer, NULL);
	etw_kernel_collector_apply(&collector, 300);
	assert_int_equal(pop_start(0, &time_raw), 10);
	assert_int_equal(pop_start(0, &time_raw), 20);
}

/* The kernel has its memory back when the events of a record were popped. */
static void test_collector__a_record_stays_until_its_events_are_taken(void **state)
{
	int64_t watermark_raw, time_raw;

	(void)state;
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	etw_kernel_streams_release(&collector.streams);
	assert_int_equal(ring.consumer, 0);
	assert_int_equal(pop_start(0, &time_raw), 10);
	etw_kernel_streams_release(&collector.streams);
	assert_int_equal(ring.consumer, ring.producer);
}

/* A ring that has filled up while no host was there is more than one look takes. */
static void test_collector__reading_all_reads_a_full_ring(void **state)
{
	int64_t watermark_raw, last_raw = 0;
	size_t count = 0, taken;

	(void)state;
	open_calls(CPU_RING_MAX);
	while (put_call(100 + count, 0))
		count++;
	etw_kernel_collector_read_all(&collector);
	assert_false(collector.is_behind);
	tell_end(etw_monotonic_ns());
	taken = take_in_order(&last_raw);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	taken += take_in_order(&last_raw);
	assert_int_equal(taken, count + 1);
}

/* What comes later with an earlier time would be refused, and left out by the next host. */
static void test_collector__nothing_is_told_behind_what_is_to_be_read(void **state)
{
	int64_t watermark_raw, last_raw = 0;
	uint32_t *header;

	(void)state;
	open_calls(1024);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	header = put_call(etw_monotonic_ns(), FAKE_RING_BUSY);
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 1);
	tell_end(etw_monotonic_ns());
	assert_int_equal(take_in_order(&last_raw), 1);
	*header &= ~FAKE_RING_BUSY;
	assert_int_equal(etw_kernel_collector_collect(&collector, &watermark_raw), 0);
	assert_int_equal(take_in_order(&last_raw), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_collector__records_become_events_of_their_cpu),
		CASE(test_collector__a_late_record_is_raised_to_the_watermark),
		CASE(test_collector__a_record_in_the_making_is_waited_for),
		CASE(test_collector__reading_all_applies_nothing),
		CASE(test_collector__reading_all_goes_beyond_what_is_held),
		CASE(test_collector__reading_all_waits_for_who_is_writing),
		CASE(test_collector__a_record_stays_until_its_events_are_taken),
		CASE(test_collector__reading_all_reads_a_full_ring),
		CASE(test_collector__nothing_is_told_behind_what_is_to_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
