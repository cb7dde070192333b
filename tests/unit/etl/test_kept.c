/* SPDX-License-Identifier: MIT */
/* What loading gave, kept for later passes: in memory up to a limit, beyond it by what was found out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "etl/kept.h"
#include "unit/etl/sample.h"

/* Preset "plain": data buffers of 1024 bytes, each with 10 events of 88. */
#define BUFFER     1024
#define BUFFERS    6
#define EVENT      88
#define PER_BUFFER 10

struct keeping {
	struct sample sample;
	struct etw_etl_kept kept;
	struct etw_etl_block own;
	struct etw_findings findings;
	const struct etw_etl_block *block; /* of the last buffer */
};

static struct keeping prepare(size_t limit_bytes)
{
	return (struct keeping){
		.sample = sample_make("plain"),
		.kept = {.is_wanted = true, .limit_bytes = limit_bytes},
	};
}

static void done(struct keeping *keeping)
{
	etw_etl_kept_done(&keeping->kept);
	etw_etl_block_done(&keeping->own);
	sample_done(&keeping->sample);
}

static struct etw_etl_buffer buffer_of(const struct keeping *keeping, uint32_t number)
{
	struct etw_etl_buffer buffer = sample_buffer(&keeping->sample, (uint64_t)number * BUFFER);

	buffer.number = number;
	return buffer;
}

static void first(struct keeping *keeping, uint32_t number)
{
	struct etw_etl_buffer buffer = buffer_of(keeping, number);

	assert_int_equal(etw_etl_kept_first(&keeping->kept, &keeping->sample.file, &buffer,
					    &keeping->own, &keeping->findings, &keeping->block),
			 0);
}

static void again(struct keeping *keeping, uint32_t number)
{
	struct etw_etl_buffer buffer = buffer_of(keeping, number);

	assert_int_equal(etw_etl_kept_load(&keeping->kept, &keeping->sample.file, &buffer,
					   &keeping->own, &keeping->findings, &keeping->block),
			 0);
}

static void assert_loads(const struct keeping *keeping, uint64_t loaded, uint64_t fetched)
{
	assert_int_equal(keeping->kept.loaded, loaded);
	assert_int_equal(keeping->kept.fetched, fetched);
}

/* The times of the block's events, which name them. */
static unsigned assert_events(const struct etw_etl_block *block, uint32_t number)
{
	struct etw_etl_cursor cursor;
	unsigned count = 0;

	for (bool has = etw_etl_cursor_start(&cursor, block); has;
	     has = etw_etl_cursor_next(&cursor)) {
		/* Two processors take turns, of which each fills buffers of its own. */
		assert_int_equal((cursor.event.time_raw - 1000000) % 200, number % 2 ? 0 : 100);
		count++;
	}
	return count;
}

/* A plain buffer is read again, which costs less than to have it in memory; but it is not checked again. */
static void test_kept__plain_buffers_are_fetched(void **state)
{
	struct keeping keeping = prepare(SIZE_MAX);

	(void)state;
	for (uint32_t number = 1; number <= BUFFERS; number++) {
		first(&keeping, number);
		assert_ptr_equal(keeping.block, &keeping.own);
		assert_int_equal(assert_events(keeping.block, number), PER_BUFFER);
	}
	for (uint32_t number = BUFFERS; number; number--) {
		again(&keeping, number);
		assert_int_equal(assert_events(keeping.block, number), PER_BUFFER);
		first(&keeping, number);
		assert_int_equal(assert_events(keeping.block, number), PER_BUFFER);
	}
	assert_loads(&keeping, BUFFERS, 2 * BUFFERS);
	assert_int_equal(keeping.kept.bytes, keeping.kept.room * sizeof(*keeping.kept.slots));
	assert_int_equal(keeping.findings.kept_count, 0);
	done(&keeping);
}

static void test_kept__nothing_unless_wanted(void **state)
{
	struct keeping keeping = prepare(SIZE_MAX);

	(void)state;
	keeping.kept.is_wanted = false;
	first(&keeping, 1);
	assert_ptr_equal(keeping.block, &keeping.own);
	again(&keeping, 1);
	first(&keeping, 1);
	assert_loads(&keeping, 3, 0);
	assert_int_equal(keeping.kept.bytes, 0);
	done(&keeping);
}

/* Blocks whose events have places, which only memory keeps: whatever the limit is, it holds, and nothing is loaded twice. */
static void test_kept__limits(void **state)
{
	(void)state;
	for (size_t limit = 0; limit < 60000; limit += 3000) {
		struct keeping keeping = prepare(limit);

		for (uint32_t number = 1; number <= BUFFERS; number++) {
			etw_store64(keeping.sample.bytes + number * BUFFER + 0x48 + 0x10,
				    number % 2 ? 1000000 + 200000 : 1000100 + 200000);
			first(&keeping, number);
		}
		assert_true(keeping.kept.bytes - keeping.kept.room * sizeof(*keeping.kept.slots) <=
			    limit);
		for (uint32_t number = BUFFERS; number; number--) {
			again(&keeping, number);
			assert_int_equal(assert_events(keeping.block, number), PER_BUFFER);
		}
		assert_int_equal(keeping.kept.loaded, BUFFERS);
		assert_true(limit ? keeping.kept.fetched <= BUFFERS
				  : keeping.kept.fetched == BUFFERS);
		assert_int_equal(keeping.findings.kept_count, 0);
		done(&keeping);
	}
}

static void test_kept__compressed(void **state)
{
	struct sample sample = sample_make("compressed-small");

	(void)state;
	for (size_t limit = 0; limit <= SIZE_MAX / 2; limit += SIZE_MAX / 2) {
		struct etw_etl_kept kept = {.is_wanted = true, .limit_bytes = limit};
		struct etw_etl_buffer buffer = sample_buffer(&sample, 0x400);
		CLEANUP(etw_etl_block_done) struct etw_etl_block own = {0};
		const struct etw_etl_block *block;

		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(etw_etl_kept_first(&kept, &sample.file, &buffer, &own,
							    NULL, &block),
					 0);
			assert_int_equal(assert_events(block, 1) + assert_events(block, 1), 44);
		}
		assert_int_equal(kept.loaded, 1);
		assert_int_equal(kept.fetched, limit ? 0 : 2);
		etw_etl_kept_done(&kept);
	}
	sample_done(&sample);
}

/* Every pass that gets a damaged block gets its findings too. */
static void test_kept__findings(void **state)
{
	struct keeping keeping = prepare(SIZE_MAX);

	(void)state;
	memset(keeping.sample.bytes + BUFFER + 0x48 + EVENT, 0x41, EVENT);
	for (unsigned i = 1; i < 4; i++) {
		if (i & 1)
			first(&keeping, 1);
		else
			again(&keeping, 1);
		assert_int_equal(keeping.block->count, PER_BUFFER - 1);
		assert_int_equal(keeping.findings.counts[ETW_FINDING_EVENTS], i);
		assert_int_equal(keeping.findings.bytes[ETW_FINDING_EVENTS], i * EVENT);
	}
	assert_loads(&keeping, 1, 0);
	done(&keeping);
	/* Without room for them, the block is loaded again. */
	keeping = prepare(0);
	memset(keeping.sample.bytes + BUFFER + 0x48 + EVENT, 0x41, EVENT);
	first(&keeping, 1);
	again(&keeping, 1);
	assert_int_equal(keeping.findings.counts[ETW_FINDING_EVENTS], 2);
	assert_loads(&keeping, 2, 0);
	done(&keeping);
}

/* Events that are not in order have places, in memory or found again. */
static void test_kept__places(void **state)
{
	(void)state;
	for (size_t limit = 0; limit <= SIZE_MAX / 2; limit += SIZE_MAX / 2) {
		struct keeping keeping = prepare(limit);
		struct etw_etl_cursor cursor;

		etw_store64(keeping.sample.bytes + BUFFER + 0x48 + 0x10, 1000900);
		first(&keeping, 1);
		assert_false(keeping.block->is_stepped);
		again(&keeping, 1);
		assert_int_equal(keeping.block->count, PER_BUFFER);
		assert_true(etw_etl_cursor_start(&cursor, keeping.block));
		assert_int_equal(cursor.offset, EVENT);
		assert_loads(&keeping, 1, limit ? 0 : 1);
		done(&keeping);
	}
}

static void test_kept__take(void **state)
{
	struct keeping keeping = prepare(SIZE_MAX);
	CLEANUP(etw_etl_block_done) struct etw_etl_block taken = {0};
	const uint8_t *events;
	size_t bytes;

	(void)state;
	for (uint32_t number = 1; number <= 2; number++) {
		etw_store64(keeping.sample.bytes + number * BUFFER + 0x48 + 0x10,
			    1200100 - 100 * (number % 2));
		first(&keeping, number);
	}
	bytes = keeping.kept.bytes;
	again(&keeping, 1);
	assert_ptr_not_equal(keeping.block, &keeping.own);
	events = keeping.block->events;
	etw_etl_kept_take(&keeping.kept, keeping.block, &taken);
	assert_ptr_equal(taken.events, events);
	assert_true(keeping.kept.bytes < bytes);
	again(&keeping, 1);
	assert_ptr_equal(keeping.block, &keeping.own);
	again(&keeping, 2);
	assert_ptr_not_equal(keeping.block, &keeping.own);
	assert_loads(&keeping, 3, 0);
	done(&keeping);
	assert_int_equal(assert_events(&taken, 1), PER_BUFFER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept__plain_buffers_are_fetched),
		cmocka_unit_test(test_kept__nothing_unless_wanted),
		cmocka_unit_test(test_kept__limits),
		cmocka_unit_test(test_kept__compressed),
		cmocka_unit_test(test_kept__findings),
		cmocka_unit_test(test_kept__places),
		cmocka_unit_test(test_kept__take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
