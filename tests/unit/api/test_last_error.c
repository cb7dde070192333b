/* SPDX-License-Identifier: MIT */
/* GetLastError is one value per thread, shared by both libraries. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errhandlingapi.h>
#include <evntrace.h>
#include <winerror.h>

static void test_last_error__get_gives_what_set_took(void **state)
{
	(void)state;
	SetLastError(ERROR_CTX_CLOSE_PENDING);
	assert_int_equal(GetLastError(), 7007);
	SetLastError(0xffffffff);
	assert_int_equal(GetLastError(), 0xffffffff);
}

static void *store_error(void *ret)
{
	*(DWORD *)ret = GetLastError();
	SetLastError(5);
	return NULL;
}

static void test_last_error__threads_do_not_share(void **state)
{
	pthread_t thread;
	DWORD seen = 1;

	(void)state;
	SetLastError(87);
	assert_int_equal(pthread_create(&thread, NULL, store_error, &seen), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(seen, 0);
	assert_int_equal(GetLastError(), 87);
}

static void test_last_error__libetw_core_sets_the_same_value(void **state)
{
	(void)state;
	SetLastError(0);
	assert_true(OpenTraceFromFile(NULL, NULL, NULL) == INVALID_PROCESSTRACE_HANDLE);
	assert_int_not_equal(GetLastError(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_error__get_gives_what_set_took),
		cmocka_unit_test(test_last_error__threads_do_not_share),
		cmocka_unit_test(test_last_error__libetw_core_sets_the_same_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
