/* SPDX-License-Identifier: MIT */
/* Taking events: looks, order, gaps, and memory that lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "ring/slot.h"
#include "unit/ring/made_ring.h"
#include "unit/ring/read_ring.h"

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

static void test_reader__a_switch_closes_the_open_buffer(void **state)
{
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	look(&made, ETW_RING_LOOK_SWITCH);
	assert_int_equal(wire_ring_word_slot(made_ring_head(&made)->word), 0); /* it is empty */
	assert_int_equal(made_event_write(&made, 1), 0);
	look(&made, ETW_RING_LOOK_SWITCH);
	assert_int_equal(wire_ring_word_slot(made_ring_head(&made)->word), 1);
	expect_events(&made, 1, 1);
	assert_int_equal(etw_ring_reader_position(made.reader).slots, 1);
	assert_int_equal(made_event_write(&made, 2), 0);
	look(&made, ETW_RING_LOOK_SWITCH);
	assert_int_equal(made_event_write(&made, 3), 0);
	look(&made, ETW_RING_LOOK_SWITCH); /* no other buffer is free: nothing was released */
	assert_int_equal(wire_ring_word_slot(made_ring_head(&made)->word), 2);
	expect_events(&made, 2, 3);
	made_ring_close(&made);
}

static void test_reader__peek_stays_until_take(void **state)
{
	struct etw_ring_event one, other;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	assert_int_equal(made_event_write(&made, 1), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	etw_ring_reader_take(made.reader, true); /* nothing was peeked at */
	assert_int_equal(etw_ring_reader_peek(made.reader, 1, &one), 0);
	assert_int_equal(etw_ring_reader_peek(made.reader, 1, &other), 0);
	assert_ptr_equal(one.at, other.at);
	assert_int_equal(one.bytes, MADE_EVENT_BYTES);
	assert_int_equal(etw_ring_reader_position(made.reader).offset, 0);
	etw_ring_reader_take(made.reader, true);
	etw_ring_reader_take(made.reader, true);
	assert_int_equal(etw_ring_reader_position(made.reader).offset, MADE_EVENT_BYTES);
	made_ring_close(&made);
}

static void test_reader__rejected_events_are_counted(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_event event;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(made_event_write(&made, i), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(etw_ring_reader_peek(made.reader, 1, &event), 0);
		etw_ring_reader_take(made.reader, i != 1);
	}
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.rejected, 1);
	made_ring_close(&made);
}

static void test_reader__abandoned_places_are_stepped_over(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	assert_int_equal(made_event_write(&made, 1), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &span), 0);
	etw_ring_abandon(&span);
	assert_int_equal(made_event_write(&made, 2), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	expect_events(&made, 1, 2);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 0);
	assert_int_equal(counts.rejected, 0);
	made_ring_close(&made);
}

static void test_reader__a_gap_in_the_open_buffer_holds_until_it_closes(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;
	int status;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	assert_int_equal(made_event_write(&made, 1), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 2, &span), 0);
	assert_int_equal(made_event_write(&made, 3), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(etw_ring_reader_oldest_gap_ns(made.reader), 0);
	assert_int_equal(made_event_take(&made, 50, NULL), 1);
	assert_int_equal(made_event_take(&made, 60, &status), 0);
	assert_int_equal(status, -EAGAIN);
	assert_int_equal(etw_ring_reader_oldest_gap_ns(made.reader), 60);
	assert_int_equal(etw_ring_reader_open_gap_ns(made.reader), 60);
	assert_int_equal(made_event_take(&made, 60 + 2 * MADE_GAP_NS, &status), 0);
	assert_int_equal(status, -EAGAIN);
	etw_ring_commit(&span);
	assert_int_equal(made_event_take(&made, 70, NULL), 2);
	assert_int_equal(etw_ring_reader_oldest_gap_ns(made.reader), 0);
	expect_events(&made, 3, 3);
	made_ring_close(&made);
}

static void test_reader__an_old_gap_makes_the_next_bump_close_the_buffer(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;
	int status;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 1, &span), 0);
	assert_int_equal(made_event_write(&made, 2), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(made_event_take(&made, 10, &status), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(wire_ring_word_slot(made_ring_head(&made)->word), 0);
	assert_int_equal(made_event_take(&made, 10 + MADE_GAP_NS, &status), 0);
	assert_int_equal(status, -EAGAIN);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(wire_ring_word_slot(made_ring_head(&made)->word), 1);
	assert_int_equal(made_event_take(&made, 10 + MADE_GAP_NS, &status), 2);
	made_ring_close(&made);
}

static void test_reader__a_gap_in_a_closed_buffer_is_waited_for_100_ms(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span spans[2];
	struct made_ring made;
	int status;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	make_closed_gap(&made, 2, spans);
	assert_int_equal(made_event_take(&made, 1000, &status), 0);
	assert_int_equal(status, -EAGAIN);
	assert_int_equal(etw_ring_reader_oldest_gap_ns(made.reader), 1000);
	assert_int_equal(etw_ring_reader_open_gap_ns(made.reader), 0);
	assert_int_equal(made_event_take(&made, 999 + MADE_GAP_NS, &status), 0);
	assert_int_equal(status, -EAGAIN);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, &status), 4);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, &status), 0);
	assert_int_equal(status, ETW_END);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 1);
	made_ring_close(&made);
}

static void test_reader__gaps_that_are_old_together_are_passed_together(void **state)
{
	struct etw_ring_span first, second, late;
	struct made_ring made;
	int status;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &first), 0);
	assert_int_equal(made_event_write(&made, 1), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &second), 0);
	assert_int_equal(made_event_write(&made, 2), 0);
	assert_int_equal(made_event_write(&made, 3), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(made_event_take(&made, 1000, &status), 0);
	/* Reserved later, in the same buffer: it has its own 100 ms. */
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &late), 0);
	assert_int_equal(made_event_write(&made, 4), 0);
	assert_int_equal(made_event_write(&made, 5), 0);
	look(&made, ETW_RING_LOOK_SWITCH);
	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, &status), i);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, &status), 0);
	assert_int_equal(status, -EAGAIN);
	made_ring_close(&made);
}

/* A writer that dies every now and then costs each event 100 ms at most, and not the sum of them. */
static void test_reader__a_gap_ages_while_another_is_waited_for(void **state)
{
	const uint64_t step_ns = MADE_GAP_NS * 6 / 10;
	const uint64_t grain_ns = MADE_GAP_NS / 8;
	struct etw_ring_span spans[40];
	struct made_ring made;
	uint64_t now_ns = 1000;
	uint64_t taken = 0;
	int status;

	(void)state;
	assert_int_equal(made_ring_open(&made, 40, BUFFER_BYTES), 0);
	for (uint64_t i = 0; i < 40; i++) {
		assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &spans[i]), 0);
		assert_int_equal(made_event_write(&made, i + 1), 0);
		for (uint64_t end_ns = now_ns + step_ns; now_ns < end_ns; now_ns += grain_ns / 4) {
			look(&made, ETW_RING_LOOK_SWITCH);
			while (made_event_take(&made, now_ns, &status))
				taken++;
		}
		/* Behind by the events of 100 ms, which are two here. */
		assert_in_range(taken, i > 2 ? i - 2 : 0, i + 1);
	}
	made_ring_close(&made);
}

static void test_reader__a_gap_at_the_end_of_a_buffer_ends_it(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span spans[3];
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	make_closed_gap(&made, 3, spans);
	assert_int_equal(made_event_take(&made, 1000, NULL), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 5);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 1);
	made_ring_close(&made);
}

static void expect_broken(struct made_ring *made)
{
	int status;

	assert_int_equal(etw_ring_reader_look(made->reader, ETW_RING_LOOK_CLOSED, 1), -EPROTO);
	assert_int_equal(made_event_take(made, 1, &status), 0);
	assert_int_equal(status, ETW_END);
	/* It stays so, whatever the word is then. */
	store_relaxed(&made_ring_head(made)->word, UINT64_C(0));
	assert_int_equal(etw_ring_reader_look(made->reader, ETW_RING_LOOK_BUMP, 1), -EPROTO);
	made_ring_close(made);
}

static void test_reader__a_word_that_makes_no_sense_breaks_the_ring(void **state)
{
	static const uint64_t words[] = {
		UINT64_C(4) << WIRE_RING_OFFSET_BITS, /* a slot that there is not */
		UINT64_C(3) << WIRE_RING_OFFSET_BITS, /* one that has no buffer */
		BUFFER_BYTES / 8 + 1,                 /* beyond the buffer */
		MADE_EVENT_BYTES / 8 - 1,             /* back behind what was seen */
	};
	struct made_ring made;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
		assert_int_equal(made_event_write(&made, 1), 0);
		look(&made, ETW_RING_LOOK_BUMP);
		store_relaxed(&made_ring_head(&made)->word, words[i]);
		expect_broken(&made);
	}
}

static void test_reader__an_end_that_makes_no_sense_breaks_the_ring(void **state)
{
	static const uint32_t ends[] = {BUFFER_BYTES / 8 + 1, UINT32_MAX, MADE_EVENT_BYTES / 8 - 1};
	struct made_ring made;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
		assert_int_equal(made_event_write(&made, 1), 0);
		look(&made, ETW_RING_LOOK_BUMP);
		for (uint64_t j = 0; j < PER_BUFFER; j++)
			assert_int_equal(made_event_write(&made, j), 0);
		store_relaxed(etw_ring_end(&made.set, etw_ring_at(&made.set, 0), 0),
			      wire_ring_end(1, ends[i]));
		expect_broken(&made);
	}
}

static void test_reader__sizes_that_lie_cost_their_own_events(void **state)
{
	static const uint16_t sizes[] = {0, 7, BUFFER_BYTES, 65535};
	struct etw_ring_counts counts;
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
		assert_int_equal(made_event_write(&made, 1), 0);
		assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &span), 0);
		etw_store16(span.at, sizes[i]);
		etw_ring_commit(&span);
		assert_int_equal(made_event_write(&made, 2), 0);
		look(&made, ETW_RING_LOOK_BUMP);
		expect_events(&made, 1, 2);
		etw_ring_reader_counts(made.reader, &counts);
		assert_int_equal(counts.rejected, 1);
		made_ring_close(&made);
	}
}

static void test_reader__marks_that_nobody_writes_are_rejected(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 99, &span), 0);
	store_release(span.mark, (uint8_t)3);
	assert_int_equal(made_event_write(&made, 1), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	expect_events(&made, 1, 1);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.rejected, 1);
	made_ring_close(&made);
}

/* Random bytes over what writers may write, more or less of them. */
static void spoil(struct made_ring *made, unsigned *seed)
{
	uint8_t *ring = etw_ring_at(&made->set, 0);

	for (int i = rand_r(seed) % 40; i > 0; i--) {
		size_t at = (size_t)rand_r(seed) % made->set.ring_stride;

		/* Not often in the first line: most of those rings are broken at once. */
		if (at >= sizeof(struct wire_ring) || rand_r(seed) % 50 == 0)
			ring[at] = (uint8_t)(rand_r(seed) % 3 ? rand_r(seed) % 4 : rand_r(seed));
	}
}

static void read_spoilt(struct made_ring *made, unsigned *seed)
{
	const uint8_t *buffers = etw_ring_at(&made->set, 0) + made->set.buffers_at;
	const uint8_t *end = buffers + (size_t)made->set.buffer_count * made->set.buffer_bytes;
	struct etw_ring_event event;
	uint64_t now_ns = 1;

	for (int i = 0; i < 1000; i++) {
		int status = etw_ring_reader_peek(made->reader, now_ns, &event);

		if (status == ETW_END)
			return;
		now_ns += MADE_GAP_NS / 2;
		if (status == -EAGAIN) {
			(void)etw_ring_reader_look(made->reader, ETW_RING_LOOK_BUMP, 1);
			continue;
		}
		assert_true(event.at >= buffers && event.at + event.bytes <= end);
		etw_ring_reader_take(made->reader, rand_r(seed) % 2);
	}
}

static void test_reader__spoilt_memory_leads_nowhere_outside(void **state)
{
	struct etw_ring_counts counts;
	struct made_ring made;
	unsigned seed = 11;
	int rounds = 0;

	(void)state;
	for (int ring = 0; ring < 300; ring++) {
		assert_int_equal(made_ring_open(&made, 5, BUFFER_BYTES), 0);
		for (int round = 0; round < 30; round++, rounds++) {
			for (int i = rand_r(&seed) % 12; i > 0; i--)
				(void)made_event_write(&made, 1);
			spoil(&made, &seed);
			if (etw_ring_reader_look(made.reader, (enum etw_ring_look)(round % 3), 1))
				break;
			read_spoilt(&made, &seed);
			etw_ring_reader_release(made.reader);
			etw_ring_reader_counts(made.reader, &counts);
			assert_in_range(counts.quarantined + counts.free_buffers, 0, 5);
		}
		made_ring_close(&made);
	}
	assert_in_range(rounds, 1000, 9000);
}

static void test_reader__generations_may_wrap(void **state)
{
	struct made_ring made;
	uint64_t written = 0, taken = 0;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	for (int round = 0; round < 64; round++) {
		/* As after so many bumps. */
		for (int i = 0; i < 3; i++) {
			add_seq_cst(&made_ring_head(&made)->word,
				    (uint64_t)(0x0FFFFFFFu + (unsigned)round) << 32);
			look(&made, ETW_RING_LOOK_BUMP);
		}
		for (int i = 0; i < PER_BUFFER + 1; i++)
			assert_int_equal(made_event_write(&made, ++written), 0);
		look(&made, ETW_RING_LOOK_BUMP);
		expect_events(&made, taken + 1, written);
		taken = written;
		etw_ring_reader_release(made.reader);
	}
	made_ring_close(&made);
}

static void test_reader__a_slot_that_was_long_unused_gets_its_end(void **state)
{
	struct made_ring made;
	uint64_t written = 0;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	for (int i = 0; i < 9; i++) {
		add_seq_cst(&made_ring_head(&made)->word, UINT64_C(0x10000000) << 32);
		look(&made, ETW_RING_LOOK_BUMP);
	}
	/* Slot 3 has had no buffer until now; its end is from more than half a turn ago. */
	for (int i = 0; i < 5; i++) {
		for (int j = 0; j < PER_BUFFER + 1; j++)
			assert_int_equal(made_event_write(&made, ++written), 0);
		look(&made, ETW_RING_LOOK_BUMP);
		expect_events(&made, written - PER_BUFFER, written);
		etw_ring_reader_release(made.reader);
	}
	made_ring_close(&made);
}

/* What is too short for a time has none; nothing is read behind it. */
/* No other buffer is free, so the open one is never closed: what stands behind the gap was promised all the same. */
static void regress_reader__a_gap_in_the_last_buffer_of_a_retired_set(void **state)
{
	struct etw_ring_span gaps[3];
	struct etw_ring_counts counts;
	struct made_ring made;
	int status;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	make_closed_gap(&made, 1, &gaps[0]); /* 5 is the next buffer's first */
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 6, &gaps[1]), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 6, &gaps[2]), 0);
	assert_int_equal(made_event_write(&made, 7), 0);
	store_release(&etw_ring_set_page(&made.set)->is_retired, 1u);
	look(&made, ETW_RING_LOOK_SWITCH);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, &status), 0);
	assert_int_equal(status, -EAGAIN);
	assert_int_equal(made_event_take(&made, 1000 + 2 * MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + 2 * MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + 2 * MADE_GAP_NS, NULL), 5);
	/* The second gap was there when the first was waited for. */
	assert_int_equal(made_event_take(&made, 1000 + 2 * MADE_GAP_NS, NULL), 7);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 2);
	/* Two events and no one lay in the second gap. */
	etw_ring_commit(&gaps[1]);
	etw_ring_commit(&gaps[2]);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 3);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 3);
	made_ring_close(&made);
}

static void test_reader__a_short_event_has_no_time(void **state)
{
	(void)state;
	for (uint32_t bytes = 8; bytes <= 32; bytes += 8) {
		struct made_ring made;
		struct etw_ring_span span;
		struct etw_ring_event event;

		assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
		assert_int_equal(etw_ring_reserve(&made.set, &made.clock, bytes, &span), 0);
		memset(span.at, 1, bytes);
		etw_store16(span.at, (uint16_t)bytes);
		etw_ring_commit(&span);
		look(&made, ETW_RING_LOOK_BUMP);
		assert_int_equal(etw_ring_reader_peek(made.reader, 1, &event), 0);
		assert_int_equal(event.time_raw, bytes < 24 ? 0 : 0x0101010101010101);
		made_ring_close(&made);
	}
}

static void test_reader__the_time_of_an_event_is_that_of_its_reserve(void **state)
{
	struct made_ring made;
	struct etw_ring_span span;
	struct etw_ring_event event;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	assert_int_equal(made_event_reserve(&made, MADE_EVENT_BYTES, 1, &span), 0);
	etw_ring_commit(&span);
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(etw_ring_reader_peek(made.reader, 1, &event), 0);
	assert_int_equal(event.time_raw, span.time_raw);
	made_ring_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader__closed_look_leaves_the_open_buffer),
		cmocka_unit_test(test_reader__a_switch_closes_the_open_buffer),
		cmocka_unit_test(test_reader__peek_stays_until_take),
		cmocka_unit_test(test_reader__rejected_events_are_counted),
		cmocka_unit_test(test_reader__abandoned_places_are_stepped_over),
		cmocka_unit_test(test_reader__a_gap_in_the_open_buffer_holds_until_it_closes),
		cmocka_unit_test(test_reader__an_old_gap_makes_the_next_bump_close_the_buffer),
		cmocka_unit_test(test_reader__a_gap_in_a_closed_buffer_is_waited_for_100_ms),
		cmocka_unit_test(test_reader__gaps_that_are_old_together_are_passed_together),
		cmocka_unit_test(test_reader__a_gap_ages_while_another_is_waited_for),
		cmocka_unit_test(test_reader__a_gap_at_the_end_of_a_buffer_ends_it),
		cmocka_unit_test(test_reader__a_word_that_makes_no_sense_breaks_the_ring),
		cmocka_unit_test(test_reader__an_end_that_makes_no_sense_breaks_the_ring),
		cmocka_unit_test(test_reader__sizes_that_lie_cost_their_own_events),
		cmocka_unit_test(test_reader__marks_that_nobody_writes_are_rejected),
		cmocka_unit_test(test_reader__spoilt_memory_leads_nowhere_outside),
		cmocka_unit_test(test_reader__generations_may_wrap),
		cmocka_unit_test(test_reader__a_slot_that_was_long_unused_gets_its_end),
		cmocka_unit_test(regress_reader__a_gap_in_the_last_buffer_of_a_retired_set),
		cmocka_unit_test(test_reader__a_short_event_has_no_time),
		cmocka_unit_test(test_reader__the_time_of_an_event_is_that_of_its_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
