/* SPDX-License-Identifier: MIT */
/* What the tests of the reader share: rings of buffers that hold four events, read by looks. */
#ifndef ETW_TESTS_UNIT_RING_READ_RING_H
#define ETW_TESTS_UNIT_RING_READ_RING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/ring/made_ring.h"

#define PER_BUFFER   4
#define BUFFER_BYTES (MADE_EVENT_BYTES * PER_BUFFER)

static inline void expect_events(struct made_ring *made, uint64_t from, uint64_t to)
{
	int status;

	for (uint64_t i = from; i <= to; i++)
		assert_int_equal(made_event_take(made, 1, NULL), i);
	assert_int_equal(made_event_take(made, 1, &status), 0);
	assert_int_equal(status, ETW_END);
}

static inline void look(struct made_ring *made, enum etw_ring_look how)
{
	assert_int_equal(etw_ring_reader_look(made->reader, how, 1), 0);
}

/* Buffer 0: events 1 and 4, between them @gaps reservations, then as much as closes the buffer. */
static inline void make_closed_gap(struct made_ring *made, uint32_t gaps, struct etw_ring_span *ret)
{
	assert_int_equal(made_event_write(made, 1), 0);
	for (uint32_t i = 0; i < gaps; i++)
		assert_int_equal(made_event_reserve(made, MADE_EVENT_BYTES, 2 + i, &ret[i]), 0);
	for (uint32_t i = 1 + gaps; i < PER_BUFFER; i++)
		assert_int_equal(made_event_write(made, 4), 0);
	assert_int_equal(made_event_write(made, 5), 0);
	look(made, ETW_RING_LOOK_CLOSED);
	assert_int_equal(made_event_take(made, 1000, NULL), 1);
}

#endif
