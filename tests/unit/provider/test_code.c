/* SPDX-License-Identifier: MIT */
/* Which loaded object a callback lies in. That an unloaded one is not called: tests/recording/lifecycle.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "provider/code.h"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
#define IS_TOLD 1
#else
#define IS_TOLD 0
#endif

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)code;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)context;
}

static void test_code__lies_in_the_program(void **state)
{
	(void)state;
	if (!IS_TOLD) {
		print_message("skipped: this C library does not tell where code lies\n");
		skip();
	}
	assert_non_null(etw_code_object(on_enable));
	assert_ptr_equal(etw_code_object(on_enable), etw_code_object(on_enable));
	assert_true((uintptr_t)etw_code_object(on_enable) <= (uintptr_t)on_enable);
}

static void test_code__no_callback_lies_nowhere(void **state)
{
	(void)state;
	assert_null(etw_code_object(NULL));
}

static void test_code__made_at_run_time_lies_in_no_object(void **state)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	PENABLECALLBACK callback;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(&callback, &page, sizeof(callback));
	assert_null(etw_code_object(callback));
	(void)munmap(page, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code__lies_in_the_program),
		cmocka_unit_test(test_code__no_callback_lies_nowhere),
		cmocka_unit_test(test_code__made_at_run_time_lies_in_no_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
