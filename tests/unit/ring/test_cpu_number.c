/* SPDX-License-Identifier: MIT */
/* The number of the CPU, by the shared area and by the system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>

#include "ring/cpu_number.h"

/* The only CPU on which the calling thread may run from now on. */
static uint32_t pin(void)
{
	cpu_set_t cpus;
	uint32_t cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	return cpu;
}

static void *ask(void *context)
{
	const uint32_t cpu = pin();
	const uint32_t fast = etw_cpu_number_fast();
	uint32_t *is_right = context;

	/* Where the kernel or the C library shares no area, the fast way says so. */
	*is_right = etw_cpu_number() == cpu && (fast == cpu || (int32_t)fast < 0);
	return NULL;
}

static void test_cpu_number__needs_no_preparation(void **state)
{
	uint32_t cpu;

	(void)state;
	assert_int_equal(etw_cpu_number_at, 0);
	cpu = pin();
	assert_int_equal(etw_cpu_number(), cpu);
}

static void test_cpu_number__is_that_of_each_thread(void **state)
{
	pthread_t thread;
	uint32_t is_right = 0;

	(void)state;
	etw_cpu_number_prepare();
	(void)ask(&is_right);
	assert_true(is_right);
	is_right = 0;
	assert_int_equal(pthread_create(&thread, NULL, ask, &is_right), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(is_right);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_number__needs_no_preparation),
		cmocka_unit_test(test_cpu_number__is_that_of_each_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
