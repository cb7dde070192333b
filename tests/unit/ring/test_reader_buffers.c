/* SPDX-License-Identifier: MIT */
/* Giving buffers back, quarantine, and what a host that died leaves to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched_point.h"
#include "unit/ring/made_ring.h"
#include "unit/ring/read_ring.h"

static void test_reader_buffers__released_buffers_are_written_again(void **state)
{
	struct made_ring made;
	struct etw_ring_counts counts;
	uint64_t written = 0;

	(void)state;
	assert_int_equal(made_ring_open(&made, 2, BUFFER_BYTES), 0);
	for (int round = 0; round < 20; round++) {
		uint64_t first = written + 1;

		while (made_event_write(&made, written + 1) == 0)
			written++;
		look(&made, ETW_RING_LOOK_BUMP);
		expect_events(&made, first, written);
		etw_ring_reader_counts(made.reader, &counts);
		assert_int_equal(counts.free_buffers, 0);
		etw_ring_reader_release(made.reader);
		etw_ring_reader_counts(made.reader, &counts);
		assert_int_equal(counts.free_buffers, 1);
		assert_int_equal(counts.lost_no_buffer, round + 1);
	}
	assert_int_equal(written, (2 + 19) * PER_BUFFER);
	made_ring_close(&made);
}

static void test_reader_buffers__a_quarantined_buffer_returns_when_its_gaps_close(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span spans[2];
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	make_closed_gap(&made, 2, spans);
	assert_int_equal(made_event_take(&made, 1000, NULL), 0);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 0);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 1);
	assert_int_equal(counts.free_buffers, 2);
	etw_ring_commit(&spans[1]);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 1);
	etw_ring_commit(&spans[0]);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 0);
	assert_int_equal(counts.free_buffers, 3);
	assert_int_equal(counts.lost_in_gaps, 2); /* the one gap held two events */
	assert_int_equal(made.durable.quarantined[0], 0);
	made_ring_close(&made);
}

static void test_reader_buffers__an_abandoned_gap_lost_nothing(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	make_closed_gap(&made, 1, &span);
	assert_int_equal(made_event_take(&made, 1000, NULL), 0);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 0);
	etw_ring_abandon(&span); /* before the release: no quarantine at all */
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 1);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_in_gaps, 0);
	assert_int_equal(counts.quarantined, 0);
	made_ring_close(&made);
}

static void reopen(struct made_ring *made, struct etw_ring_position position)
{
	etw_ring_reader_close(made->reader);
	made->reader = NULL;
	assert_int_equal(
		etw_ring_reader_open(&made->set, 0, &made->durable, position, &made->reader), 0);
}

static void test_reader_buffers__a_new_host_goes_on_at_the_committed_position(void **state)
{
	struct etw_ring_position positions[3 * PER_BUFFER + 1];
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	for (uint64_t i = 1; i <= 3 * PER_BUFFER; i++)
		assert_int_equal(made_event_write(&made, i), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	for (uint64_t i = 0; i < 3 * PER_BUFFER; i++) {
		positions[i] = etw_ring_reader_position(made.reader);
		assert_int_equal(made_event_take(&made, 1, NULL), i + 1);
	}
	/* Nothing was released, so each position is good; the later ones do not disturb the others. */
	for (uint64_t i = 3 * PER_BUFFER; i-- > 0;) {
		struct etw_ring_durable durable = made.durable;
		struct etw_ring_reader *first = made.reader;

		assert_int_equal(made.durable.released, 0);
		if (i >= PER_BUFFER)
			continue; /* opening there would release the buffers before */
		assert_int_equal(
			etw_ring_reader_open(&made.set, 0, &durable, positions[i], &made.reader),
			0);
		look(&made, ETW_RING_LOOK_BUMP);
		expect_events(&made, i + 1, 3 * PER_BUFFER);
		etw_ring_reader_close(made.reader);
		made.reader = first;
	}
	reopen(&made, positions[2 * PER_BUFFER + 1]);
	assert_int_equal(made.durable.released, 2);
	look(&made, ETW_RING_LOOK_BUMP);
	expect_events(&made, 2 * PER_BUFFER + 2, 3 * PER_BUFFER);
	made_ring_close(&made);
}

static void test_reader_buffers__hosts_that_come_and_go_lose_nothing(void **state)
{
	uint64_t written = 0, taken = 0, refused = 0;
	struct etw_ring_position committed = {0};
	struct etw_ring_counts counts;
	struct made_ring made;
	unsigned seed = 7;

	(void)state;
	assert_int_equal(made_ring_open(&made, 5, 2048), 0);
	for (int round = 0; round < 20000; round++) {
		uint64_t committed_taken = taken;

		for (int i = rand_r(&seed) % 60; i > 0; i--) {
			if (made_event_write(&made, written + 1) == 0)
				written++;
			else
				refused++;
		}
		look(&made, (enum etw_ring_look)(rand_r(&seed) % 3));
		for (int i = rand_r(&seed) % 100; i > 0; i--) {
			uint64_t number = made_event_take(&made, 1, NULL);

			if (!number)
				break;
			assert_int_equal(number, ++taken);
		}
		if (rand_r(&seed) % 4 == 0) {
			taken = committed_taken;
			reopen(&made, committed);
			continue;
		}
		committed = etw_ring_reader_position(made.reader);
		if (rand_r(&seed) % 2)
			etw_ring_reader_release(made.reader);
	}
	look(&made, ETW_RING_LOOK_BUMP);
	expect_events(&made, taken + 1, written);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.lost_no_buffer, refused);
	assert_int_equal(counts.lost_in_gaps, 0);
	made_ring_close(&made);
}

static void test_reader_buffers__a_quarantine_survives_the_host(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span spans[2];
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	make_closed_gap(&made, 2, spans);
	assert_int_equal(made_event_take(&made, 1000, NULL), 0);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 0);
	etw_ring_reader_release(made.reader);
	reopen(&made, etw_ring_reader_position(made.reader));
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 1);
	assert_int_equal(counts.lost_in_gaps, 0);
	etw_ring_commit(&spans[0]);
	etw_ring_commit(&spans[1]);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 0);
	assert_int_equal(counts.lost_in_gaps, 1); /* the first host had counted the other */
	assert_int_equal(counts.free_buffers, 3);
	made_ring_close(&made);
}

/*
 * Between the notes "quarantined" and "released": then the gap closes. The next host finds a whole buffer, and
 * has to forget that it was quarantined: else it is queued once more as soon as it is full again.
 */
static void test_reader_buffers__a_host_that_dies_while_it_quarantines_leaves_one_buffer(
	void **state)
{
	struct etw_ring_durable before;
	struct etw_ring_counts counts;
	struct etw_ring_span span;
	struct made_ring made;
	uint64_t written = 0;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	make_closed_gap(&made, 1, &span);
	assert_int_equal(made_event_take(&made, 1000, NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 0);
	before = made.durable;
	etw_ring_reader_release(made.reader);
	assert_int_equal(made.durable.quarantined[0], 1);
	made.durable.released = before.released;
	etw_ring_commit(&span);
	reopen(&made, etw_ring_reader_position(made.reader));
	look(&made, ETW_RING_LOOK_BUMP);
	expect_events(&made, 5, 5);
	/* All that is accepted comes out, also after the buffer was full once more. */
	for (int round = 0; round < 6; round++) {
		uint64_t first = written + 1;

		while (made_event_write(&made, written + 1) == 0)
			assert_true(++written - first < 3 * PER_BUFFER);
		look(&made, ETW_RING_LOOK_BUMP);
		expect_events(&made, first, written);
		etw_ring_reader_release(made.reader);
	}
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 0);
	assert_int_equal(counts.free_buffers, 2);
	assert_int_equal(counts.lost_in_gaps, 0); /* the first host had counted the one */
	reopen(&made, etw_ring_reader_position(made.reader));
	made_ring_close(&made);
}

static void test_reader_buffers__gaps_before_the_position_are_found_again(void **state)
{
	struct etw_ring_counts counts;
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	/* Read to its end but not released ... */
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	make_closed_gap(&made, 1, &span);
	assert_int_equal(made_event_take(&made, 1000, NULL), 0);
	assert_int_equal(made_event_take(&made, 1000 + MADE_GAP_NS, NULL), 4);
	/* ... or read in part: in both cases the buffer is not cleared under its writer. */
	reopen(&made, etw_ring_reader_position(made.reader));
	look(&made, ETW_RING_LOOK_BUMP);
	assert_int_equal(made_event_take(&made, 1000, NULL), 4);
	assert_int_equal(made_event_take(&made, 1000, NULL), 5);
	reopen(&made, etw_ring_reader_position(made.reader));
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 1);
	etw_ring_commit(&span);
	etw_ring_reader_release(made.reader);
	etw_ring_reader_counts(made.reader, &counts);
	assert_int_equal(counts.quarantined, 0);
	made_ring_close(&made);
}

static void expect_contradiction(const struct made_ring *made,
				 const struct etw_ring_durable *durable,
				 struct etw_ring_position position)
{
	struct etw_ring_durable copy = *durable;
	struct etw_ring_reader *reader = NULL;

	assert_int_equal(etw_ring_reader_open(&made->set, 0, &copy, position, &reader), -EPROTO);
	assert_null(reader);
}

static void test_reader_buffers__contradictions_of_what_was_left_are_refused(void **state)
{
	const struct etw_ring_position start = {0};
	struct etw_ring_durable durable;
	struct made_ring made;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	expect_contradiction(&made, &made.durable, (struct etw_ring_position){.offset = 4});
	expect_contradiction(&made, &made.durable,
			     (struct etw_ring_position){.offset = BUFFER_BYTES + 8});
	expect_contradiction(&made, &made.durable, (struct etw_ring_position){.slots = 3});
	expect_contradiction(&made, &made.durable, (struct etw_ring_position){.slots = 4});
	durable = made.durable;
	durable.released = 1;
	expect_contradiction(&made, &durable, start);
	durable = made.durable;
	durable.queued = 4;
	expect_contradiction(&made, &durable, start);
	durable = made.durable;
	durable.released = 4;
	expect_contradiction(&made, &durable, (struct etw_ring_position){.slots = 4});
	durable = made.durable;
	durable.buffer_of_slot[1] = 3;
	expect_contradiction(&made, &durable, start);
	durable = made.durable;
	durable.buffer_of_slot[1] = 0;
	expect_contradiction(&made, &durable, start);
	durable = made.durable;
	durable.quarantined[1] = 1;
	expect_contradiction(&made, &durable, start);
	durable = made.durable;
	durable.queued = 2;
	durable.quarantined[2] = 1;
	durable.quarantine_bytes[2] = BUFFER_BYTES + 8;
	expect_contradiction(&made, &durable, start);
	made_ring_close(&made);
}

/* A sanitizer's allocator ends the program where malloc() would return NULL. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

/* Writes until there is no room, reads all of it and gives back what it can: one buffer is free again. */
static void fill_and_empty(struct made_ring *made)
{
	while (made_event_write(made, 1) == 0)
		continue;
	look(made, ETW_RING_LOOK_BUMP);
	while (made_event_take(made, 1000, NULL))
		continue;
	etw_ring_reader_release(made->reader);
}

static void test_reader_buffers__a_new_host_knows_that_the_ring_was_full(void **state)
{
	struct made_ring made;
	uint64_t seen = 0;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	(void)etw_ring_reader_was_full(made.reader, &seen);
	assert_false(etw_ring_reader_was_full(made.reader, &seen));
	assert_int_equal(made_event_write(&made, 1), 0);
	reopen(&made, etw_ring_reader_position(made.reader));
	assert_false(etw_ring_reader_was_full(made.reader, &seen));
	fill_and_empty(&made);
	reopen(&made, etw_ring_reader_position(made.reader));
	assert_true(etw_ring_reader_was_full(made.reader, &seen));
	assert_false(etw_ring_reader_was_full(made.reader, &seen));
	made_ring_close(&made);
}

#ifdef ETW_SCHED_POINTS
static struct made_ring *filled_ring;
static uint64_t filled_seen;

/* Between the host's look at the word and the buffer's place in the queue. */
static void fill_meanwhile(const char *name)
{
	if (strcmp(name, "ring.reader.assigned") != 0)
		return;
	while (made_event_write(filled_ring, 1) == 0)
		continue;
	assert_true(etw_ring_reader_was_full(filled_ring->reader, &filled_seen));
}

static void test_reader_buffers__a_ring_that_fills_while_it_gets_a_buffer_was_full(void **state)
{
	struct made_ring made;

	(void)state;
	filled_seen = 0;
	assert_int_equal(made_ring_open(&made, 4, BUFFER_BYTES), 0);
	(void)etw_ring_reader_was_full(made.reader, &filled_seen);
	for (uint64_t i = 0; i < 2 * PER_BUFFER; i++)
		assert_int_equal(made_event_write(&made, i + 1), 0);
	look(&made, ETW_RING_LOOK_BUMP);
	expect_events(&made, 1, 2 * PER_BUFFER);
	assert_false(etw_ring_reader_was_full(made.reader, &filled_seen));
	filled_ring = &made;
	etw_sched_point_hook = fill_meanwhile;
	etw_ring_reader_release(made.reader);
	etw_sched_point_hook = NULL;
	assert_true(etw_ring_reader_was_full(made.reader, &filled_seen));
	assert_false(etw_ring_reader_was_full(made.reader, &filled_seen));
	made_ring_close(&made);
}
#endif

#ifndef IS_SANITIZED
/* Uses up what malloc() has, in a child, then opens a reader. Ends with status 0 for -ENOMEM. */
static void open_without_memory(struct made_ring *made)
{
	const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
	struct etw_ring_durable durable = {0};
	struct etw_ring_reader *reader = NULL;
	int result;

	if (setrlimit(RLIMIT_AS, &limit))
		_exit(2);
	for (size_t bytes = 1 << 16; bytes >= 16; bytes /= 2) {
		void *volatile memory;

		do
			memory = malloc(bytes);
		while (memory);
	}
	result = etw_ring_reader_open(&made->set, 0, &durable, (struct etw_ring_position){0},
				      &reader);
	_exit(result == -ENOMEM && !reader ? 0 : 1);
}

static void test_reader_buffers__no_memory_is_an_error(void **state)
{
	struct made_ring made;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(made_ring_open(&made, 3, BUFFER_BYTES), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		open_without_memory(&made);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	made_ring_close(&made);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_buffers__released_buffers_are_written_again),
		cmocka_unit_test(
			test_reader_buffers__a_quarantined_buffer_returns_when_its_gaps_close),
		cmocka_unit_test(test_reader_buffers__an_abandoned_gap_lost_nothing),
		cmocka_unit_test(test_reader_buffers__a_new_host_goes_on_at_the_committed_position),
		cmocka_unit_test(test_reader_buffers__hosts_that_come_and_go_lose_nothing),
		cmocka_unit_test(test_reader_buffers__a_quarantine_survives_the_host),
		cmocka_unit_test(
			test_reader_buffers__a_host_that_dies_while_it_quarantines_leaves_one_buffer),
		cmocka_unit_test(test_reader_buffers__gaps_before_the_position_are_found_again),
		cmocka_unit_test(test_reader_buffers__contradictions_of_what_was_left_are_refused),
		cmocka_unit_test(test_reader_buffers__a_new_host_knows_that_the_ring_was_full),
#ifdef ETW_SCHED_POINTS
		cmocka_unit_test(
			test_reader_buffers__a_ring_that_fills_while_it_gets_a_buffer_was_full),
#endif
#ifndef IS_SANITIZED
		cmocka_unit_test(test_reader_buffers__no_memory_is_an_error),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
