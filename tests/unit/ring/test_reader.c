/* SPDX-License-Identifier: MIT */
/* Taking events: order, gaps, quarantine, what a dead host leaves, and memory that lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/wait.h>

#include "ring/ring_internal.h"
#include "unit/ring/made_ring.h"

#define PER_BUFFER   4
#define BUFFER_BYTES (MADE_EVENT_BYTES * PER_BUFFER)

static void expect_events(struct made_ring *made, uint64_t from, uint64_t to)
{
	int status;

	for (uint64_t i = from; i <= to; i++)
		assert_int_equal(made_event_take(made, 1, NULL), i);
	assert_int_equal(made_event_take(made, 1, &status), 0);
	assert_int_equal(status, ETW_END);
}

static void look(struct made_ring *made, enum etw_ring_look how)
{
	assert_int_equal(etw_ring_reader_look(made->reader, how, 1), 0);
}

static void test_reader__closed_look_leaves_the_open_buffer(void **state)
{
	struct made_ring made;
	uint64_t word;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	for (uint64_t i = 1; i <= PER_BUFFER + 1; i++)
		assert_int_equal(made_event_write(&made, i), 0);
	word = made_ring_head(&made)->word;
	look(&made, ETW_RING_LOOK_CLOSED);
	assert_int_equal(made_ring_head(&made)->word, word);
	expect_events(&made, 1, PER_BUFFER);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(wire_ring_word_generation(made_ring_head(&made)->word),
			 wire_ring_word_generation(word) + 1);
	expect_events(&made, PER_BUFFER + 1, PER_BUFFER + 1);
	made_ring_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader__closed_look_leaves_the_open_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
