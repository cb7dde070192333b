/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "provider/lock.h"

#define A_MOMENT_NS UINT64_C(20000000)

static bool has_news; /* lock */

static void *bring_news(void *unused)
{
	etw_provider_lock();
	has_news = true;
	etw_provider_wake();
	etw_provider_unlock();
	return unused;
}

static void test_lock__who_waits_hears_of_news(void **state)
{
	pthread_t thread;

	(void)state;
	etw_provider_lock();
	assert_int_equal(etw_provider_wait_init(), 0);
	assert_int_equal(pthread_create(&thread, NULL, bring_news, NULL), 0);
	while (!has_news) /* the other thread gets the lock meanwhile, or this would not end */
		etw_provider_wait();
	etw_provider_unlock();
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_lock__waiting_ends_without_news(void **state)
{
	const uint64_t deadline_ns = etw_monotonic_ns() + A_MOMENT_NS;

	(void)state;
	etw_provider_lock();
	assert_int_equal(etw_provider_wait_init(), 0);
	while (etw_monotonic_ns() < deadline_ns)
		etw_provider_wait_until(deadline_ns);
	etw_provider_unlock();
}

static void test_lock__a_child_sets_free_what_its_parent_held(void **state)
{
	int status;
	pid_t child;

	(void)state;
	etw_provider_lock();
	child = fork();
	if (child == 0) {
		etw_provider_lock_reset();
		etw_provider_lock();
		etw_provider_unlock();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	etw_provider_unlock();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock__who_waits_hears_of_news),
		cmocka_unit_test(test_lock__waiting_ends_without_news),
		cmocka_unit_test(test_lock__a_child_sets_free_what_its_parent_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
