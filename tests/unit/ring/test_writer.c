/* SPDX-License-Identifier: MIT */
/* Reserving: places, times, switches, wakes, losses, and memory that others have spoilt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "ring/slot.h"
#include "unit/ring/made_ring.h"

#define BUFFERS      3
#define BUFFER_BYTES 1024

static void open_ring(struct made_ring *made)
{
	assert_int_equal(made_ring_open(made, BUFFERS, BUFFER_BYTES), 0);
}

static int reserve(struct made_ring *made, uint32_t bytes, struct etw_ring_span *ret)
{
	return etw_ring_reserve(&made->set, &made->clock, bytes, ret);
}

static void test_writer__places_follow_each_other_padded_to_8(void **state)
{
	struct etw_ring_span first, second, third;
	struct made_ring made;

	(void)state;
	open_ring(&made);
	assert_int_equal(reserve(&made, 81, &first), 0);
	assert_int_equal(reserve(&made, 1, &second), 0);
	assert_int_equal(reserve(&made, 8, &third), 0);
	assert_ptr_equal(first.at, etw_ring_at(&made.set, 0) + made.set.buffers_at);
	assert_ptr_equal(first.mark, etw_ring_at(&made.set, 0) + made.set.maps_at);
	assert_ptr_equal(second.at, first.at + 88);
	assert_ptr_equal(second.mark, first.mark + 11);
	assert_ptr_equal(third.at, second.at + 8);
	assert_true(first.time_raw <= second.time_raw && second.time_raw <= third.time_raw);
	assert_int_equal((uintptr_t)first.at % 8, 0);
	made_ring_close(&made);
}

static void test_writer__commit_and_abandon_mark_the_first_unit(void **state)
{
	struct etw_ring_span first, second;
	struct made_ring made;

	(void)state;
	open_ring(&made);
	assert_int_equal(reserve(&made, 24, &first), 0);
	assert_int_equal(reserve(&made, 24, &second), 0);
	assert_int_equal(*first.mark, WIRE_RING_EMPTY);
	etw_ring_commit(&first);
	etw_ring_abandon(&second);
	assert_int_equal(*first.mark, WIRE_RING_COMMITTED);
	assert_int_equal(first.mark[1], WIRE_RING_EMPTY);
	assert_int_equal(*second.mark, WIRE_RING_ABANDONED);
	made_ring_close(&made);
}

static void test_writer__a_full_buffer_is_left_with_its_exact_end(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;
	uint64_t word, end;

	(void)state;
	open_ring(&made);
	assert_int_equal(reserve(&made, BUFFER_BYTES - 16, &span), 0);
	assert_int_equal(reserve(&made, 24, &span), 0);
	word = load_relaxed(&made_ring_head(&made)->word);
	assert_int_equal(wire_ring_word_slot(word), 1);
	assert_int_equal(wire_ring_word_generation(word), 2);
	assert_int_equal(wire_ring_word_offset(word), 3);
	end = load_relaxed(etw_ring_end(&made.set, etw_ring_at(&made.set, 0), 0));
	assert_int_equal(end, wire_ring_end(1, (BUFFER_BYTES - 16) / 8));
	made_ring_close(&made);
}

static void test_writer__a_buffer_can_be_filled_to_its_last_byte(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	open_ring(&made);
	for (uint32_t i = 0; i < BUFFERS; i++)
		assert_int_equal(reserve(&made, BUFFER_BYTES, &span), 0);
	assert_int_equal(wire_ring_word_slot(made_ring_head(&made)->word), BUFFERS - 1);
	assert_int_equal(reserve(&made, 1, &span), -ENOBUFS);
	made_ring_close(&made);
}

static void test_writer__without_a_free_buffer_the_event_is_counted(void **state)
{
	struct etw_ring_span span = {.time_raw = 5};
	struct made_ring made;
	uint64_t word;

	(void)state;
	open_ring(&made);
	for (uint32_t i = 0; i < BUFFERS; i++)
		assert_int_equal(reserve(&made, BUFFER_BYTES - 8, &span), 0);
	word = load_relaxed(&made_ring_head(&made)->word);
	span.time_raw = 5;
	assert_int_equal(reserve(&made, 16, &span), -ENOBUFS);
	assert_int_equal(reserve(&made, 16, &span), -ENOBUFS);
	assert_int_equal(span.time_raw, 5);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->word), word);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->lost_no_buffer), 2);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->lost_too_large), 0);
	/* What still fits is not lost. */
	assert_int_equal(reserve(&made, 8, &span), 0);
	made_ring_close(&made);
}

static void test_writer__too_large_events_are_counted(void **state)
{
	static const uint32_t sizes[] = {0, BUFFER_BYTES + 1, 65535, 65536, UINT32_MAX};
	struct etw_ring_span span;
	struct made_ring made;

	(void)state;
	open_ring(&made);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		assert_int_equal(reserve(&made, sizes[i], &span), -EMSGSIZE);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->lost_too_large), ARRAY_SIZE(sizes));
	assert_int_equal(load_relaxed(&made_ring_head(&made)->word), wire_ring_word(1, 0, 0));
	made_ring_close(&made);
	assert_int_equal(made_ring_open(&made, 2, 128 * 1024), 0);
	assert_int_equal(reserve(&made, 65536, &span), -EMSGSIZE);
	assert_int_equal(reserve(&made, 65535, &span), 0);
	made_ring_close(&made);
}

static void test_writer__a_retired_set_takes_and_counts_nothing(void **state)
{
	struct etw_ring_span span;
	struct made_ring made;
	uint64_t word;

	(void)state;
	open_ring(&made);
	assert_int_equal(reserve(&made, 16, &span), 0);
	store_release(&etw_ring_set_page(&made.set)->is_retired, 1u);
	word = load_relaxed(&made_ring_head(&made)->word);
	assert_int_equal(reserve(&made, 16, &span), -ESTALE);
	assert_int_equal(reserve(&made, BUFFER_BYTES, &span), -ESTALE);
	assert_int_equal(reserve(&made, 65536, &span), -ESTALE);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->word), word);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->lost_no_buffer), 0);
	assert_int_equal(load_relaxed(&made_ring_head(&made)->lost_too_large), 0);
	made_ring_close(&made);
}

/* What comes while the session runs on is counted; behind its end nothing is, and the count stays. */
static void test_writer__what_a_retired_set_refuses_is_counted_until_the_end(void **state)
{
	struct wire_ring_set *page;
	struct etw_ring_set mapped;
	struct made_ring made;

	(void)state;
	open_ring(&made);
	page = etw_ring_set_page(&made.set);
	store_release(&page->is_retired, 1u);
	assert_int_equal(etw_ring_refuse(&made.set), -ENOBUFS);
	assert_int_equal(etw_ring_refuse(&made.set), -ENOBUFS);
	assert_int_equal(load_relaxed(&page->refused), 2);
	(void)or_acq_rel(&page->refused, WIRE_RING_OVER);
	assert_int_equal(etw_ring_refuse(&made.set), 0);
	assert_int_equal(wire_ring_refused(load_relaxed(&page->refused)), 2);
	/* Who gave the set back knows of the others. */
	assert_int_equal(etw_ring_set_map(&made.fds, &mapped), 0);
	assert_int_equal(etw_ring_set_retire_mapping(&mapped), 0);
	assert_int_equal(etw_ring_refuse(&mapped), 0);
	etw_ring_set_unmap(&mapped);
	made_ring_close(&made);
}

/* A writer that saw the word before its process gave the set back finds another one in the private memory. */
static void test_writer__no_word_is_0(void **state)
{
	struct etw_ring_set mapped;
	struct made_ring made;

	(void)state;
	open_ring(&made);
	assert_true(load_relaxed(&made_ring_head(&made)->word) != 0);
	assert_int_equal(etw_ring_set_map(&made.fds, &mapped), 0);
	assert_int_equal(etw_ring_set_retire_mapping(&mapped), 0);
	assert_int_equal(load_relaxed((const uint64_t *)(const void *)etw_ring_at(&mapped, 0)), 0);
	etw_ring_set_unmap(&mapped);
	made_ring_close(&made);
}

static void test_writer__a_place_in_a_retired_mapping_can_still_be_written(void **state)
{
	struct etw_ring_span span, other;
	struct made_ring made;
	struct etw_ring_set mapped;

	(void)state;
	open_ring(&made);
	assert_int_equal(etw_ring_set_map(&made.fds, &mapped), 0);
	assert_int_equal(etw_ring_reserve(&mapped, &made.clock, 64, &span), 0);
	assert_int_equal(etw_ring_set_retire_mapping(&mapped), 0);
	memset(span.at, 0x77, 64);
	etw_ring_commit(&span);
	assert_int_equal(etw_ring_reserve(&mapped, &made.clock, 64, &other), -ESTALE);
	/* The host's side has the gap and none of the bytes. */
	assert_int_equal(etw_ring_at(&made.set, 0)[made.set.buffers_at], 0);
	assert_int_equal(etw_ring_at(&made.set, 0)[made.set.maps_at], WIRE_RING_EMPTY);
	etw_ring_set_unmap(&mapped);
	made_ring_close(&made);
}

struct sleeper {
	uint32_t *asleep;
	uint32_t is_woken; /* atomic */
};

static void *sleep_on(void *context)
{
	struct sleeper *sleeper = context;

	while (load_seq_cst(sleeper->asleep) == 1)
		(void)syscall(SYS_futex, sleeper->asleep, FUTEX_WAIT, 1, NULL, NULL, 0);
	store_release(&sleeper->is_woken, 1u);
	return NULL;
}

static void test_writer__a_switch_wakes_a_host_that_sleeps(void **state)
{
	struct made_ring made;
	struct sleeper sleeper = {0};
	struct etw_ring_span span;
	pthread_t thread;

	(void)state;
	open_ring(&made);
	sleeper.asleep = &etw_ring_set_page(&made.set)->asleep;
	store_seq_cst(sleeper.asleep, 1u);
	assert_int_equal(pthread_create(&thread, NULL, sleep_on, &sleeper), 0);
	assert_int_equal(reserve(&made, BUFFER_BYTES, &span), 0);
	assert_int_equal(load_relaxed(sleeper.asleep), 1);
	errno = E2BIG;
	assert_int_equal(reserve(&made, 8, &span), 0);
	assert_int_equal(errno, E2BIG);
	assert_int_equal(load_relaxed(sleeper.asleep), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(load_acquire(&sleeper.is_woken), 1);
	made_ring_close(&made);
}

static void test_writer__asleep_is_left_alone_unless_it_is_1(void **state)
{
	struct made_ring made;
	struct etw_ring_span span;
	uint32_t *asleep;

	(void)state;
	open_ring(&made);
	asleep = &etw_ring_set_page(&made.set)->asleep;
	store_relaxed(asleep, 2u);
	assert_int_equal(reserve(&made, BUFFER_BYTES, &span), 0);
	assert_int_equal(reserve(&made, BUFFER_BYTES, &span), 0);
	assert_int_equal(load_relaxed(asleep), 2);
	made_ring_close(&made);
}

static void test_writer__a_bump_makes_a_reserve_that_was_under_way_fail(void **state)
{
	struct made_ring made;
	struct etw_ring_span span;
	uint64_t word;

	(void)state;
	open_ring(&made);
	word = load_acquire(&made_ring_head(&made)->word);
	assert_int_equal(etw_ring_reader_look(made.reader, ETW_RING_LOOK_BUMP, 0), 0);
	assert_false(cas_acq_rel(&made_ring_head(&made)->word, &word, word + 2));
	assert_int_equal(reserve(&made, 16, &span), 0);
	assert_int_equal(wire_ring_word_offset(made_ring_head(&made)->word), 2);
	made_ring_close(&made);
}

/* A set with one ring for each of these CPUs and the calling thread on the last CPU it may use. */
static uint32_t open_pinned(struct made_ring *made, uint32_t *ret_cpu, bool is_too_small)
{
	struct etw_ring_set_config config = {
		.buffer_count = 2, .buffer_bytes = 256, .clock_type = ETW_CLOCK_QPC};
	cpu_set_t cpus;
	uint32_t cpu = 0;

	assert_int_equal(made_ring_open(made, 2, 256), 0);
	made_ring_close(made);
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (uint32_t i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &cpus))
			cpu = i;
	}
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	config.cpu_count = is_too_small && cpu ? cpu : cpu + 1;
	memset(&made->durable, 0, sizeof(made->durable));
	assert_int_equal(etw_ring_set_create(&config, &made->fds), 0);
	assert_int_equal(etw_ring_set_map(&made->fds, &made->set), 0);
	*ret_cpu = cpu;
	return config.cpu_count;
}

static void test_writer__each_cpu_has_its_ring(void **state)
{
	struct made_ring made;
	struct etw_ring_span span;
	cpu_set_t before;
	uint32_t cpu;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	(void)open_pinned(&made, &cpu, false);
	assert_int_equal(etw_cpu_number(), cpu);
	assert_int_equal(etw_ring_reader_open(&made.set, cpu, &made.durable,
					      (struct etw_ring_position){0}, &made.reader),
			 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(reserve(&made, 128, &span), 0);
		assert_ptr_equal(span.at, etw_ring_at(&made.set, cpu) + made.set.buffers_at +
						  (size_t)i * 128);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	made_ring_close(&made);
}

static void test_writer__a_cpu_beyond_the_rings_shares_one(void **state)
{
	struct made_ring made;
	struct etw_ring_span span;
	cpu_set_t before;
	uint32_t cpu, rings;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	rings = open_pinned(&made, &cpu, true);
	assert_int_equal(etw_ring_reader_open(&made.set, cpu % rings, &made.durable,
					      (struct etw_ring_position){0}, &made.reader),
			 0);
	assert_int_equal(reserve(&made, 8, &span), 0);
	assert_ptr_equal(span.at, etw_ring_at(&made.set, cpu % rings) + made.set.buffers_at);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	made_ring_close(&made);
}

static uint32_t pick(unsigned *seed)
{
	uint32_t high = (uint32_t)rand_r(seed), low = (uint32_t)rand_r(seed);

	return high << 16 ^ low;
}

/* A word, queue and ends as another process may leave them; often nearly right ones. */
static void spoil(struct made_ring *made, unsigned *seed)
{
	uint8_t *ring = etw_ring_at(&made->set, 0);
	uint32_t slot = pick(seed) % 3 ? pick(seed) % made->set.slot_count : pick(seed) % 1024;
	uint32_t offset = pick(seed) % 3 ? pick(seed) % (BUFFER_BYTES / 8 + 2)
					 : pick(seed) & WIRE_RING_OFFSET_MASK;

	store_relaxed(&made_ring_head(made)->word, wire_ring_word(pick(seed), slot, offset));
	for (uint32_t i = 0; i < made->set.slot_count; i++) {
		store_relaxed(etw_ring_queue(&made->set, ring, i),
			      pick(seed) % 3 ? pick(seed) % (BUFFERS + 2) : pick(seed));
		store_relaxed(etw_ring_end(&made->set, ring, i),
			      (uint64_t)pick(seed) << 32 | pick(seed));
	}
}

static void test_writer__spoilt_memory_leads_nowhere_outside(void **state)
{
	unsigned seed = 20;
	struct made_ring made;
	uint8_t *ring;
	int reserved = 0;

	(void)state;
	open_ring(&made);
	ring = etw_ring_at(&made.set, 0);
	for (int i = 0; i < 200000; i++) {
		uint32_t bytes = 1 + pick(&seed) % BUFFER_BYTES;
		struct etw_ring_span span;
		int result;

		spoil(&made, &seed);
		result = reserve(&made, bytes, &span);
		assert_true(result == 0 || result == -ENOBUFS);
		if (result)
			continue;
		reserved++;
		assert_true(span.at >= ring + made.set.buffers_at);
		assert_true(span.at + bytes <=
			    ring + made.set.buffers_at + (size_t)BUFFERS * BUFFER_BYTES);
		assert_true(span.mark >= ring + made.set.maps_at);
		assert_true(span.mark < ring + made.set.maps_at + BUFFERS * BUFFER_BYTES / 8);
	}
	assert_in_range(reserved, 1000, 200000);
	made_ring_close(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer__places_follow_each_other_padded_to_8),
		cmocka_unit_test(test_writer__commit_and_abandon_mark_the_first_unit),
		cmocka_unit_test(test_writer__a_full_buffer_is_left_with_its_exact_end),
		cmocka_unit_test(test_writer__a_buffer_can_be_filled_to_its_last_byte),
		cmocka_unit_test(test_writer__without_a_free_buffer_the_event_is_counted),
		cmocka_unit_test(test_writer__too_large_events_are_counted),
		cmocka_unit_test(test_writer__a_retired_set_takes_and_counts_nothing),
		cmocka_unit_test(test_writer__what_a_retired_set_refuses_is_counted_until_the_end),
		cmocka_unit_test(test_writer__no_word_is_0),
		cmocka_unit_test(test_writer__a_place_in_a_retired_mapping_can_still_be_written),
		cmocka_unit_test(test_writer__a_switch_wakes_a_host_that_sleeps),
		cmocka_unit_test(test_writer__asleep_is_left_alone_unless_it_is_1),
		cmocka_unit_test(test_writer__a_bump_makes_a_reserve_that_was_under_way_fail),
		cmocka_unit_test(test_writer__each_cpu_has_its_ring),
		cmocka_unit_test(test_writer__a_cpu_beyond_the_rings_shares_one),
		cmocka_unit_test(test_writer__spoilt_memory_leads_nowhere_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
