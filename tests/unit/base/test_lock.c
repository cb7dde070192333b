/* SPDX-License-Identifier: MIT */
/* A lock that is waited for until a time. */
#include "base/lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LONG_NS  UINT64_C(300000000000)
#define SHORT_NS UINT64_C(1000000)
#define ROUNDS   2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t number; /* by lock */

static void *count_up(void *result)
{
	bool *is_good = result;

	for (int i = 0; i < ROUNDS; i++) {
		*is_good = etw_lock_until(&lock, etw_monotonic_ns() + LONG_NS);
		if (!*is_good)
			break;
		number++;
		(void)pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void test_lock__keeps_others_out(void **state)
{
	bool is_good[2];
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, &is_good[i]), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_true(is_good[i]);
	}
	assert_int_equal(number, 2 * ROUNDS);
}

static void *try_in_vain(void *result)
{
	*(bool *)result = etw_lock_until(&lock, etw_monotonic_ns() + SHORT_NS);
	return NULL;
}

static void test_lock__gives_up(void **state)
{
	bool is_taken = true;
	pthread_t thread;

	(void)state;
	assert_true(etw_lock_until(&lock, 0));
	assert_int_equal(pthread_create(&thread, NULL, try_in_vain, &is_taken), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(is_taken);
	(void)pthread_mutex_unlock(&lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock__keeps_others_out),
		cmocka_unit_test(test_lock__gives_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
