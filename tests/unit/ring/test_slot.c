/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "ring/slot.h"
#include "unit/ring/made_ring.h"

static void test_slot__an_end_is_only_ever_raised(void **state)
{
	uint64_t end = wire_ring_end(5, 10);

	(void)state;
	assert_true(etw_ring_raise_end(&end, wire_ring_end(5, 9)));
	assert_int_equal(end, wire_ring_end(5, 10));
	assert_true(etw_ring_raise_end(&end, wire_ring_end(4, 100)));
	assert_int_equal(end, wire_ring_end(5, 10));
	assert_true(etw_ring_raise_end(&end, wire_ring_end(6, 0)));
	assert_int_equal(end, wire_ring_end(6, 0));
	/* Across the generation's wrap. */
	end = wire_ring_end(UINT32_MAX, 10);
	assert_true(etw_ring_raise_end(&end, wire_ring_end(0, 3)));
	assert_int_equal(end, wire_ring_end(0, 3));
	assert_true(etw_ring_raise_end(&end, wire_ring_end(UINT32_MAX, 11)));
	assert_int_equal(end, wire_ring_end(0, 3));
}

/* Writers and the host may find at the same time that a slot is full: it is left once, with its exact end. */
static void test_slot__is_left_once(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;
	uint8_t *ring;
	uint64_t word;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, 1024), 0);
	ring = etw_ring_at(&made.set, 0);
	assert_int_equal(etw_ring_reserve(&made.set, &made.clock, 24, &span), 0);
	word = etw_ring_head(ring)->word;
	assert_true(etw_ring_switch(&made.set, ring, word));
	assert_false(etw_ring_switch(&made.set, ring, word));
	assert_int_equal(*etw_ring_end(&made.set, ring, wire_ring_word_slot(word)),
			 wire_ring_end(wire_ring_word_generation(word), 3));
	word = wire_ring_word(wire_ring_word_generation(word) + 1, wire_ring_word_slot(word) + 1,
			      0);
	assert_int_equal(etw_ring_head(ring)->word, word);
	made_ring_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slot__an_end_is_only_ever_raised),
		cmocka_unit_test(test_slot__is_left_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
