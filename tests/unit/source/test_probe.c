/* SPDX-License-Identifier: MIT */
/* What is missing has a sentence, and flags that are not built are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "source/kernel/probe/probe.h"

static void test_probe__every_need_has_a_sentence(void **state)
{
	(void)state;
	for (int i = 0; i < ETW_KERNEL_NEEDS; i++) {
		const char *sentence = etw_kernel_probe_sentence((enum etw_kernel_need)i);

		assert_non_null(sentence);
		assert_true(strlen(sentence) > 20);
	}
	assert_non_null(
		strstr(etw_kernel_probe_sentence(ETW_KERNEL_NEED_CAP_BPF), "sudo etw record"));
}

static void test_probe__check_agrees_with_run(void **state)
{
	struct etw_kernel_probe probe;
	struct etw_fault fault = {0};
	bool is_all = true;
	int r = etw_kernel_probe_check(&fault);

	(void)state;
	etw_kernel_probe_run(&probe);
	for (int i = 0; i < ETW_KERNEL_NEEDS; i++)
		is_all &= probe.has[i] || i == ETW_KERNEL_NEED_CAP_PTRACE;
	assert_int_equal(r == 0, is_all);
	assert_int_equal(fault.sentence == NULL, is_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe__every_need_has_a_sentence),
		cmocka_unit_test(test_probe__check_agrees_with_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
