/* SPDX-License-Identifier: MIT */
/* Facts about this machine, held against other ways to ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/machine.h"

static void test_machine__processors(void **state)
{
	(void)state;
	assert_true(etw_machine_processors() >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void test_machine__mhz(void **state)
{
	uint32_t mhz = etw_machine_mhz();

	(void)state;
	/* Not every machine says it; none has a unit wrong by thousands. */
	assert_true(mhz == 0 || (mhz >= 100 && mhz <= 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine__processors),
		cmocka_unit_test(test_machine__mhz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
