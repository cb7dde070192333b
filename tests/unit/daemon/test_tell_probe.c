/* SPDX-License-Identifier: MIT */
/* What `etwd --probe` says: lines for `etw doctor`, whatever this machine allows. */
#include "daemon/tell_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel/probe/probe.h"

static void test_tell_probe__what_no_machine_has(void **state)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	const char *line;

	(void)state;
	assert_non_null(file);
	(void)etwd_tell_probe(file);
	assert_int_equal(fclose(file), 0);
	line = strstr(text, "less\tunserved\t");
	/* Where nothing can be recorded the needs alone are told. */
	assert_true((line != NULL) == (etw_kernel_probe_check(NULL) == 0));
	if (line) {
		assert_non_null(strstr(line, "REGISTRY"));
		assert_non_null(strstr(line, "ALPC"));
		assert_null(strstr(line, "PROCESS"));
		assert_null(strstr(line, " CSWITCH"));
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tell_probe__what_no_machine_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
