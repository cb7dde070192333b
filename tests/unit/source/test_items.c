/* SPDX-License-Identifier: MIT */
/* The heap of records in order of time, and their places in the streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "source/kernel/out/items.h"

static struct etw_kernel_item *add(struct etw_kernel_heap *heap, struct etw_kernel_stream *stream,
				   uint64_t time_ns, uint64_t end)
{
	struct etw_kernel_item *item = calloc(1, sizeof(*item));

	assert_non_null(item);
	item->time_ns = time_ns;
	item->end = end;
	assert_int_equal(etw_kernel_heap_add(heap, stream, item), 0);
	return item;
}

static void test_items__come_out_by_time(void **state)
{
	struct etw_kernel_stream stream = {0};
	struct etw_kernel_heap heap = {0};
	uint64_t seed = 1, before = 0;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		add(&heap, &stream, seed >> 40, i);
	}
	for (int i = 0; i < 5000; i++) {
		struct etw_kernel_item *item = etw_kernel_heap_peek(&heap);

		assert_ptr_equal(item, etw_kernel_heap_take(&heap));
		assert_true(item->time_ns >= before);
		before = item->time_ns;
	}
	assert_null(etw_kernel_heap_peek(&heap));
	etw_kernel_heap_done(&heap);
	etw_kernel_stream_done(&stream);
}

static void test_items__equal_times_keep_their_order(void **state)
{
	struct etw_kernel_stream stream = {0};
	struct etw_kernel_heap heap = {0};

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		add(&heap, &stream, 7, i);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(etw_kernel_heap_take(&heap)->end, i);
	etw_kernel_heap_done(&heap);
	etw_kernel_stream_done(&stream);
}

static void test_items__hold_their_place_until_safe(void **state)
{
	struct etw_kernel_stream stream = {0};
	struct etw_kernel_heap heap = {0};
	struct etw_kernel_item *first, *second, *third;
	uint64_t position = 0;

	(void)state;
	first = add(&heap, &stream, 3, 10);
	second = add(&heap, &stream, 2, 20);
	third = add(&heap, &stream, 1, 30);
	assert_false(etw_kernel_stream_release(&stream, &position));
	/* Applied out of the order of the stream: the first one still holds all. */
	second->is_applied = third->is_applied = true;
	assert_false(etw_kernel_stream_release(&stream, &position));
	first->is_applied = true;
	first->outstanding = 1;
	third->outstanding = 2;
	assert_false(etw_kernel_stream_release(&stream, &position));
	first->outstanding = 0;
	assert_true(etw_kernel_stream_release(&stream, &position));
	assert_int_equal(position, 20);
	third->outstanding = 0;
	assert_true(etw_kernel_stream_release(&stream, &position));
	assert_int_equal(position, 30);
	assert_null(stream.first);
	assert_null(stream.last);
	etw_kernel_heap_done(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items__come_out_by_time),
		cmocka_unit_test(test_items__equal_times_keep_their_order),
		cmocka_unit_test(test_items__hold_their_place_until_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
