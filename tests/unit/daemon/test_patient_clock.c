/* SPDX-License-Identifier: MIT */
#include "daemon/patient_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/time.h"

#define MINUTE_MS 60000

static void test_patient_clock__leaves_out_what_a_round_took_too_long(void **state)
{
	uint64_t before = etw_monotonic_ms(), left_out;

	(void)state;
	etwd_patient_round_ended(before - 2 * MINUTE_MS, 0);
	assert_true(etw_monotonic_ms() - etwd_patient_now_ms() < MINUTE_MS);
	/* As long as it was to wait, and a second: nothing stood still. */
	etwd_patient_round_ended(before - MINUTE_MS, MINUTE_MS - ETWD_PATIENT_ROUND_MS);
	assert_true(etwd_patient_now_ms() >= before);
	/* A minute that was to be 100 ms. */
	etwd_patient_round_ended(before, 100);
	left_out = etw_monotonic_ms() - etwd_patient_now_ms();
	assert_true(left_out >= MINUTE_MS - 100 - ETWD_PATIENT_ROUND_MS);
	assert_true(left_out < MINUTE_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patient_clock__leaves_out_what_a_round_took_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
