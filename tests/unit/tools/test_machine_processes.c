/* SPDX-License-Identifier: MIT */
#include "tools/common/machine_processes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Traces are opened by the command-line cases; here is what there is without any. */
static void test_machine_processes__of_nothing_are_empty(void **state)
{
	struct etw_machine_processes processes = {0};

	(void)state;
	assert_true(etw_machine_processes_is_empty(&processes));
	assert_null(etw_machine_processes_of(&processes, 0));
	etw_machine_processes_done(&processes);
	etw_machine_processes_done(&processes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine_processes__of_nothing_are_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
