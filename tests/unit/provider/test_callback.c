/* SPDX-License-Identifier: MIT */
/* How callbacks run. What hosts make of them: test_listener.c and test_provider.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include <evntrace.h>

#include "provider/callback.h"
#include "provider/lock.h"

#define PLACE 7

static struct etw_registration *const registration = &etw_registrations[PLACE];

struct told {
	unsigned calls; /* under the lock */
	uint32_t code;
	uint64_t match_any;
	pthread_t waiter;
	bool has_waiter;
	bool was_over; /* what the waiter saw; under the lock */
	bool is_over;  /* the same */
};

static void *await_callback(void *context)
{
	struct told *told = context;

	etw_provider_lock();
	etw_callback_await(etw_registration_number(registration));
	told->was_over = told->is_over;
	etw_provider_unlock();
	return NULL;
}

/* Takes the lock, which is free while it runs. */
static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	struct told *told = context;

	(void)source;
	(void)level;
	(void)all;
	(void)filter;
	etw_provider_lock();
	told->calls++;
	told->code = code;
	told->match_any = any;
	if (told->has_waiter)
		assert_int_equal(pthread_create(&told->waiter, NULL, await_callback, told), 0);
	told->is_over = true;
	etw_provider_unlock();
}

static void run(PENABLECALLBACK callback, struct told *told)
{
	const struct etw_callback_news news = {.control_code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
					       .match_any = 6};

	etw_provider_lock();
	registration->callback = callback;
	registration->context = told;
	registration->code = NULL;
	etw_callback_run(registration, &news);
	etw_provider_unlock();
}

static void test_callback__runs_without_the_lock(void **state)
{
	struct told told = {0};

	(void)state;
	run(on_enable, &told);
	assert_int_equal(told.calls, 1);
	assert_int_equal(told.code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(told.match_any, 6);
	run(NULL, &told);
	assert_int_equal(told.calls, 1);
}

static void test_callback__who_waits_finds_it_over(void **state)
{
	struct told told = {.has_waiter = true};

	(void)state;
	run(on_enable, &told);
	assert_int_equal(pthread_join(told.waiter, NULL), 0);
	assert_true(told.was_over);
}

/* Enables once more, on its own thread. */
static void NTAPI on_enable_again(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any,
				  ULONGLONG all, PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	const struct etw_callback_news news = {.control_code = EVENT_CONTROL_CODE_CAPTURE_STATE};
	struct told *told = context;

	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	etw_provider_lock();
	if (told->calls++ == 0) {
		assert_true(etw_callback_is_caller());
		etw_callback_run(registration, &news);
		etw_callback_await(
			etw_registration_number(registration)); /* at once: it is its own */
	}
	told->is_over = true;
	etw_provider_unlock();
}

static void test_callback__within_a_callback(void **state)
{
	struct told told = {0};

	(void)state;
	run(on_enable_again, &told);
	assert_int_equal(told.calls, 2);
	assert_false(etw_callback_is_caller());
}

/* The registration says that the code was in an object in which it is not, or no longer. */
static void test_callback__of_an_unloaded_plugin_is_dropped(void **state)
{
	struct told told = {0};
	const struct etw_callback_news news = {0};

	(void)state;
	etw_provider_lock();
	registration->callback = on_enable;
	registration->context = &told;
	registration->code = &told;
	etw_callback_run(registration, &news);
	etw_provider_unlock();
	assert_int_equal(told.calls, 0);
	assert_null(registration->callback);
}

/* The parent's listener was in it when the child was forked. */
static void test_callback__of_a_parent_holds_up_no_child(void **state)
{
	(void)state;
	etw_provider_lock();
	etw_callback_reset_in_child();
	etw_callback_await(etw_registration_number(registration));
	etw_provider_unlock();
}

static int prepare(void **state)
{
	(void)state;
	etw_provider_lock();
	assert_int_equal(etw_fork_prepare(), 0);
	assert_int_equal(etw_provider_wait_init(), 0);
	etw_provider_unlock();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callback__runs_without_the_lock),
		cmocka_unit_test(test_callback__who_waits_finds_it_over),
		cmocka_unit_test(test_callback__within_a_callback),
		cmocka_unit_test(test_callback__of_an_unloaded_plugin_is_dropped),
		cmocka_unit_test(test_callback__of_a_parent_holds_up_no_child),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
