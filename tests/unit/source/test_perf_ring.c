/* SPDX-License-Identifier: MIT */
/* perf's ring, read over memory of the test's. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel/perf/perf_ring.h"

#define RING_BYTES 256

static void test_perf_ring__wraps(void **state)
{
	static struct {
		struct perf_event_mmap_page control;
		uint8_t data[RING_BYTES];
	} memory;
	struct etw_kernel_perf_ring ring = {
		.map = &memory.control, .data = memory.data, .byte_count = RING_BYTES};
	_Alignas(8) uint8_t to[RING_BYTES];

	(void)state;
	for (uint8_t i = 0; i < 100; i++) {
		struct perf_event_header header = {.type = i, .size = 56};
		uint8_t record[56];

		memset(record, i, sizeof(record));
		memcpy(record, &header, sizeof(header));
		for (size_t k = 0; k < sizeof(record); k++)
			memory.data[(memory.control.data_head + k) % RING_BYTES] = record[k];
		memory.control.data_head += sizeof(record);
		assert_int_equal(
			etw_kernel_perf_ring_next(&ring, etw_kernel_perf_ring_end(&ring), to), 56);
		assert_memory_equal(to, record, sizeof(record));
		assert_int_equal(
			etw_kernel_perf_ring_next(&ring, etw_kernel_perf_ring_end(&ring), to), 0);
		etw_kernel_perf_ring_release(&ring, ring.position);
		assert_int_equal(memory.control.data_tail, memory.control.data_head);
	}
	memory.data[(memory.control.data_head + 6) % RING_BYTES] = 4; /* shorter than its header */
	memory.data[(memory.control.data_head + 7) % RING_BYTES] = 0;
	memory.control.data_head += 56;
	assert_int_equal(etw_kernel_perf_ring_next(&ring, etw_kernel_perf_ring_end(&ring), to),
			 -EBADMSG);
	assert_int_equal(etw_kernel_perf_ring_next(&ring, ring.position + 4, to), -EBADMSG);
}

static void test_perf_ring__nothing_open_is_nothing(void **state)
{
	struct etw_kernel_perf_ring ring = {.fd = -1};

	(void)state;
	assert_int_equal(etw_kernel_perf_ring_enable(&ring, true), 0);
	etw_kernel_perf_ring_close(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perf_ring__wraps),
		cmocka_unit_test(test_perf_ring__nothing_open_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
