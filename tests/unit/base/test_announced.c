/* SPDX-License-Identifier: MIT */
/* Announced images and the queues that they wait in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/announced.h"

static struct etw_announced_image *make(uint64_t base)
{
	const struct etw_announced_image head = {
		.pid = 7, .base = base, .byte_count = 16, .path_bytes = 4, .symbol_bytes = 3};

	return etw_announced_image_new(&head, "codeX", (const uint8_t *)"abc");
}

static void test_announced__keeps_what_it_was_given(void **state)
{
	struct etw_announced_image *image = make(0x1000);

	(void)state;
	assert_non_null(image);
	assert_string_equal(etw_announced_path(image), "code");
	assert_memory_equal(etw_announced_symbols(image), "abc", 3);
	assert_ptr_equal(etw_announced_image_ref(image), image);
	etw_announced_image_unref(image);
	assert_int_equal(image->refs, 1);
	etw_announced_image_unref(image);
	etw_announced_image_unref(NULL);
}

static void test_announced__queues_keep_their_order(void **state)
{
	struct etw_announced_queue queue = {0}, more = {0};
	struct etw_announced_image *image = make(0x1000);

	(void)state;
	assert_int_equal(etw_announced_put(&queue, image, ETW_ANNOUNCED_LOADED, 1), 0);
	assert_int_equal(etw_announced_put(&more, image, ETW_ANNOUNCED_MORE, 2), 0);
	assert_int_equal(etw_announced_put(&more, image, ETW_ANNOUNCED_UNLOADED, 3), 0);
	assert_int_equal(image->refs, 4);
	etw_announced_append(&queue, &more);
	assert_null(more.first);
	etw_announced_append(&queue, &more);
	for (uint64_t time_ns = 1; time_ns < 3; time_ns++) {
		assert_int_equal(queue.first->time_ns, time_ns);
		etw_announced_drop(&queue);
	}
	etw_announced_clear(&queue);
	assert_null(queue.first);
	assert_null(queue.last);
	assert_int_equal(image->refs, 1);
	etw_announced_image_unref(image);
}

/* Whatever waits in a queue is paid for, withdrawn or not: so the account bounds the queue. */
static void test_announced__charges_come_back_with_the_last_reference(void **state)
{
	struct etw_announced_charges *charges = etw_announced_charges_new();
	struct etw_announced_image *first = make(0x1000), *second = make(0x2000);
	struct etw_announced_queue queue = {0};
	struct etw_announced_charge *charge;

	(void)state;
	assert_non_null(charges);
	assert_int_equal(etw_announced_image_charge(first, charges, 7, 100), 0);
	assert_int_equal(etw_announced_image_charge(second, charges, 8, 200), 0);
	assert_int_equal(charges->refs, 3);
	assert_int_equal(etw_announced_put(&queue, first, ETW_ANNOUNCED_UNLOADED, 1), 0);
	etw_announced_image_unref(first);
	assert_null(etw_announced_charges_take(charges));
	etw_announced_clear(&queue);
	charge = etw_announced_charges_take(charges);
	assert_non_null(charge);
	assert_int_equal(charge->uid, 7);
	assert_int_equal(charge->bytes, 100);
	free(charge);
	assert_null(etw_announced_charges_take(charges));
	/* The account may be gone before the last image is. */
	etw_announced_charges_unref(charges);
	etw_announced_image_unref(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_announced__keeps_what_it_was_given),
		cmocka_unit_test(test_announced__queues_keep_their_order),
		cmocka_unit_test(test_announced__charges_come_back_with_the_last_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
