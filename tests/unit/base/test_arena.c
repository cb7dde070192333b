/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void test_arena__memory_is_zeroed_and_aligned(void **state)
{
	struct etw_arena arena;

	(void)state;
	etw_arena_init(&arena);
	for (size_t bytes = 0; bytes < 9000; bytes += 37) {
		uint8_t *at = etw_arena_alloc(&arena, bytes);

		assert_non_null(at);
		assert_int_equal((uintptr_t)at % 16, 0);
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(at[i], 0);
		memset(at, 0xff, bytes);
	}
	etw_arena_done(&arena);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_arena__copies_are_independent(void **state)
{
	char text[] = "abcdef";
	struct etw_arena arena;
	char *copy, *part;

	(void)state;
	etw_arena_init(&arena);
	copy = etw_arena_strdup(&arena, text);
	part = etw_arena_strndup(&arena, text + 1, 3);
	text[1] = 'x';
	assert_string_equal(copy, "abcdef");
	assert_string_equal(part, "bcd");
	assert_memory_equal(etw_arena_copy(&arena, "xy", 2), "xy", 2);
	etw_arena_done(&arena);
}

static void test_arena__sizes_that_overflow_are_refused(void **state)
{
	struct etw_arena arena;

	(void)state;
	etw_arena_init(&arena);
	assert_null(etw_arena_array(&arena, SIZE_MAX / 8, 16));
	assert_null(etw_arena_alloc(&arena, SIZE_MAX));
	assert_null(etw_arena_strndup(&arena, "", SIZE_MAX));
	assert_non_null(etw_arena_array(&arena, 0, 16));
	etw_arena_done(&arena);
}

static void test_arena__release_returns_to_the_mark(void **state)
{
	struct etw_arena arena;
	struct etw_arena_mark mark;
	char *kept;
	size_t bytes;

	(void)state;
	etw_arena_init(&arena);
	kept = etw_arena_strdup(&arena, "kept");
	mark = etw_arena_mark(&arena);
	bytes = etw_arena_bytes(&arena);
	assert_non_null(etw_arena_alloc(&arena, 100000));
	assert_non_null(etw_arena_alloc(&arena, 300000));
	assert_true(etw_arena_bytes(&arena) >= 400000);
	etw_arena_release(&arena, mark);
	assert_int_equal(etw_arena_bytes(&arena), bytes);
	assert_string_equal(kept, "kept");
	etw_arena_done(&arena);
}

static void test_arena__release_to_the_beginning_frees_all(void **state)
{
	struct etw_arena arena;
	struct etw_arena_mark mark;

	(void)state;
	etw_arena_init(&arena);
	mark = etw_arena_mark(&arena);
	assert_non_null(etw_arena_alloc(&arena, 1));
	etw_arena_release(&arena, mark);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena__memory_is_zeroed_and_aligned),
		cmocka_unit_test(test_arena__copies_are_independent),
		cmocka_unit_test(test_arena__sizes_that_overflow_are_refused),
		cmocka_unit_test(test_arena__release_returns_to_the_mark),
		cmocka_unit_test(test_arena__release_to_the_beginning_frees_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
