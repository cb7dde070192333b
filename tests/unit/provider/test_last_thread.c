/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "provider/last_thread.h"

#if defined(__SANITIZE_THREAD__)
#define HAS_FOREIGN_THREAD true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_FOREIGN_THREAD true
#endif
#endif
#ifndef HAS_FOREIGN_THREAD
#define HAS_FOREIGN_THREAD false
#endif

static uint32_t pokes; /* atomic */

static void count_poke(void)
{
	(void)add_relaxed(&pokes, 1u);
}

static void test_last_thread__nobody_is_the_last_while_main_lives(void **state)
{
	(void)state;
	assert_false(etw_last_thread_is_caller());
	etw_last_thread_meet(count_poke);
	assert_int_equal(etw_last_thread_due_ms(true), -1);
	assert_int_equal(etw_last_thread_due_ms(false), -1);
	assert_false(etw_last_thread_is_caller());
}

/* Ends well when it is the only one left, after the main thread's destructor has poked. */
static void *wait_until_alone(void *unused)
{
	(void)unused;
	while (!etw_last_thread_is_caller())
		(void)usleep(1000);
	_exit(load_acquire(&pokes) == 1 && etw_last_thread_due_ms(true) > 0 ? 0 : 1);
}

static void test_last_thread__the_end_of_main_is_heard_of(void **state)
{
	pthread_t thread;
	int status = 0;
	pid_t child;

	(void)state;
	/* The thread sanitizer has a thread of its own in each process: no other is ever alone. */
	if (HAS_FOREIGN_THREAD)
		skip();
	child = fork();
	if (child == 0) {
		etw_last_thread_reset_in_child();
		etw_last_thread_meet(count_poke);
		if (pthread_create(&thread, NULL, wait_until_alone, NULL))
			_exit(2);
		pthread_exit(NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_thread__nobody_is_the_last_while_main_lives),
		cmocka_unit_test(test_last_thread__the_end_of_main_is_heard_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
