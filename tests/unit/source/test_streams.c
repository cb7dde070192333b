/* SPDX-License-Identifier: MIT */
/* Rings in plain memory, read into one heap. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/time.h"
#include "fake_ring.h"
#include "fake_source_host.h"
#include "source/kernel/rings/streams.h"

#define CPUS       2
#define PERF_BYTES 4096

static struct fake_ring ring;
static struct etw_kernel_streams streams;

/* A ring of perf's. */
static struct perf_memory {
	struct perf_event_mmap_page control;
	_Alignas(8) uint8_t data[PERF_BYTES];
} perf_memory, data_memory;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(etw_kernel_streams_init(&streams, CPUS), 0);
	fake_ring_open(&ring, &streams.ring);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	/* The memory is the test's. */
	for (unsigned i = 0; streams.perfs && i < 2 * CPUS; i++)
		streams.perfs[i] = (struct etw_kernel_perf_ring){.fd = -1};
	etw_kernel_streams_done(&streams);
	return 0;
}

static struct etw_kernel_perf_ring perf_of(struct perf_memory *memory)
{
	return (struct etw_kernel_perf_ring){.fd = 1000000,
					     .cpu = 1,
					     .map = &memory->control,
					     .data = memory->data,
					     .byte_count = PERF_BYTES};
}

/* Of CPU 1; CPU 0 is offline. */
static void open_perf(void)
{
	memset(&perf_memory, 0, sizeof(perf_memory));
	memset(&data_memory, 0, sizeof(data_memory));
	streams.perf_record = aligned_alloc(8, ETW_KERNEL_PERF_RECORD_MAX);
	streams.perfs = calloc(2 * CPUS, sizeof(*streams.perfs));
	assert_true(streams.perf_record && streams.perfs);
	streams.perfs[0].fd = -1;
	streams.perfs[1] = perf_of(&perf_memory);
	streams.perfs[CPUS].fd = -1;
	streams.perfs[CPUS + 1] = perf_of(&data_memory);
}

static void put_lost(struct perf_memory *memory, uint64_t count, uint64_t time_ns)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
		uint32_t pid, tid;
		uint64_t time_ns;
		uint32_t cpu, reserved;
	} record = {
		.header = {.type = PERF_RECORD_LOST, .size = sizeof(record)},
		.lost = count,
		.pid = 5,
		.tid = 6,
		.time_ns = time_ns,
		.cpu = 1,
	};

	memcpy(memory->data + memory->control.data_head, &record, sizeof(record));
	memory->control.data_head += sizeof(record);
}

static struct etw_kernel_item *take(void)
{
	return etw_kernel_heap_peek(&streams.heap) ? etw_kernel_heap_take(&streams.heap) : NULL;
}

static void test_streams__are_merged_by_time(void **state)
{
	const uint64_t before_ns = etw_monotonic_ns();
	struct etw_kernel_item *item;

	(void)state;
	(void)fake_ring_put_start(&ring, 300, 1, 30, 0);
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	open_perf();
	put_lost(&perf_memory, 3, 200);
	assert_int_equal(etw_kernel_streams_read(&streams), 0);
	assert_true(streams.read_ns + ETW_KERNEL_PERF_SLACK_NS >= before_ns);
	item = take();
	assert_int_equal(item->time_ns, 100);
	assert_int_equal(item->cpu, 0);
	assert_false(item->is_mapping);
	item = take();
	assert_int_equal(item->time_ns, 200);
	assert_true(item->is_mapping);
	assert_int_equal(item->cpu, 1);
	assert_int_equal(item->byte_count, 0); /* it says nothing, and holds its place */
	assert_int_equal(take()->time_ns, 300);
	assert_null(take());
	assert_int_equal(streams.lost_mappings[1], 3);
}

/* A ring of its own, whose loss is no loss of images, and which goes back by itself. */
static void test_streams__data_take_no_room_from_code(void **state)
{
	struct etw_kernel_item *data, *code;

	(void)state;
	open_perf();
	put_lost(&data_memory, 40, 100);
	put_lost(&perf_memory, 3, 200);
	put_lost(&data_memory, 2, 300);
	assert_int_equal(etw_kernel_streams_read(&streams), 0);
	assert_int_equal(streams.lost_mappings[1], 3);
	assert_int_equal(streams.lost_pieces[1], 42);
	data = take();
	assert_int_equal(data->time_ns, 100);
	code = take();
	assert_int_equal(code->time_ns, 200);
	assert_int_equal(take()->time_ns, 300);
	code->is_applied = true;
	etw_kernel_streams_release(&streams);
	assert_int_equal(perf_memory.control.data_tail, perf_memory.control.data_head);
	assert_int_equal(data_memory.control.data_tail, 0);
	data->is_applied = true;
	etw_kernel_streams_release(&streams);
	assert_int_equal(data_memory.control.data_tail, data_memory.control.data_head / 2);
}

static void test_streams__a_record_in_the_making_holds_the_time_up(void **state)
{
	uint32_t *header;

	(void)state;
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	header = fake_ring_put_start(&ring, 200, 0, 20, FAKE_RING_BUSY);
	(void)fake_ring_put_start(&ring, 300, 0, 30, 0);
	assert_int_equal(etw_kernel_streams_read(&streams), 1);
	assert_int_equal(streams.read_ns, 0);
	assert_int_equal(take()->time_ns, 100);
	assert_null(take());
	*header &= ~FAKE_RING_BUSY;
	assert_int_equal(etw_kernel_streams_read(&streams), 0);
	assert_true(streams.read_ns > 0);
	assert_int_equal(take()->time_ns, 200);
	assert_int_equal(take()->time_ns, 300);
}

static void test_streams__memory_goes_back_when_nothing_waits(void **state)
{
	struct etw_kernel_item *first, *second;

	(void)state;
	(void)fake_ring_put_start(&ring, 100, 0, 10, 0);
	(void)fake_ring_put_start(&ring, 200, 0, 20, 0);
	assert_int_equal(etw_kernel_streams_read(&streams), 0);
	first = take();
	second = take();
	etw_kernel_streams_release(&streams);
	assert_int_equal(ring.consumer, 0);
	first->is_applied = second->is_applied = true;
	second->outstanding = 1; /* an event of it is not safe */
	etw_kernel_streams_release(&streams);
	assert_true(ring.consumer > 0 && ring.consumer < ring.producer);
	second->outstanding = 0;
	etw_kernel_streams_release(&streams);
	assert_int_equal(ring.consumer, ring.producer);
}

/* What makes no sense is stepped over, for good: no record can be told from the next one. */
static void test_streams__a_broken_ring_holds_nobody_up(void **state)
{
	uint32_t *header = fake_ring_put_start(&ring, 100, 0, 10, 0);

	(void)state;
	*header = FAKE_RING_BYTES;
	assert_int_equal(etw_kernel_streams_read(&streams), 0);
	assert_true(streams.is_broken);
	assert_true(streams.read_ns > 0);
	(void)fake_ring_put_start(&ring, 200, 0, 20, 0);
	assert_int_equal(etw_kernel_streams_read(&streams), 0);
	assert_null(take());
}

static void test_streams__nothing_was_opened(void **state)
{
	struct etw_kernel_streams none = {0};

	(void)state;
	etw_kernel_streams_enable_mappings(&none, true);
	etw_kernel_streams_done(&none);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* Without room for descriptors no ring is left behind that a later try would take for all of them. */
static void test_streams__mappings_have_all_rings_or_none(void **state)
{
	struct fake_source_host fake;
	struct rlimit before, none;

	(void)state;
	fake_source_host_init(&fake);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(etw_kernel_streams_open_mappings(&streams, &fake.host, NULL) < 0);
		assert_null(streams.perfs);
		assert_null(streams.perf_record);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_streams__are_merged_by_time),
		CASE(test_streams__data_take_no_room_from_code),
		CASE(test_streams__a_record_in_the_making_holds_the_time_up),
		CASE(test_streams__memory_goes_back_when_nothing_waits),
		CASE(test_streams__a_broken_ring_holds_nobody_up),
		cmocka_unit_test(test_streams__nothing_was_opened),
		cmocka_unit_test_setup_teardown(test_streams__mappings_have_all_rings_or_none,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
