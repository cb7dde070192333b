/* SPDX-License-Identifier: MIT */
/* What wakes the listener: seen by poll() and by the word, once; not mixed up with descriptors of the program. */
#include "provider/poke.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_readable(void)
{
	struct pollfd at = {.fd = etw_poke_fd(), .events = POLLIN};

	return poll(&at, 1, 0) > 0;
}

static int open_poke(void **state)
{
	(void)state;
	etw_poke_open();
	return etw_poke_fd() < 0;
}

static int close_poke(void **state)
{
	(void)state;
	etw_poke_close();
	return 0;
}

static void test_poke__is_seen_until_it_is_taken(void **state)
{
	const uint32_t before = etw_poke_count();

	(void)state;
	assert_false(is_readable());
	etw_poke();
	etw_poke();
	assert_int_equal(etw_poke_count(), before + 2);
	assert_int_equal(*etw_poke_word(), before + 2);
	assert_true(is_readable());
	etw_poke_take();
	assert_false(is_readable());
	etw_poke();
	etw_poke_wait(-1);
	assert_false(is_readable());
}

/* The program has closed all its descriptors: what has the number now is its own. */
static void test_poke__a_number_that_is_the_programs_is_left_alone(void **state)
{
	const int number = etw_poke_fd();
	int ends[2];

	(void)state;
	assert_false(etw_poke_has_lost_socket());
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], number), number);
	assert_true(etw_poke_has_lost_socket());
	etw_poke();
	etw_poke_take();
	etw_poke_close();
	assert_true(fcntl(number, F_GETFD) >= 0);
	(void)close(number);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void test_poke__the_reserve_makes_room_and_comes_back(void **state)
{
	const int first = dup(0);
	int again;

	(void)state;
	(void)close(first);
	etw_poke_release_reserve();
	again = dup(0);
	(void)close(again);
	assert_true(again < first); /* a number that the reserve had is free */
	etw_poke_hold_reserve();
	etw_poke_hold_reserve(); /* it is there: nothing more is taken */
	again = dup(0);
	(void)close(again);
	assert_int_equal(again, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_poke__is_seen_until_it_is_taken, open_poke,
						close_poke),
		cmocka_unit_test_setup_teardown(
			test_poke__a_number_that_is_the_programs_is_left_alone, open_poke,
			close_poke),
		cmocka_unit_test_setup_teardown(test_poke__the_reserve_makes_room_and_comes_back,
						open_poke, close_poke),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
