/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_source_host.h"
#include "source/kernel/out/watermark.h"

static void test_watermark__is_the_latest_moment_that_the_clock_knows(void **state)
{
	struct etw_kernel_watermark watermark = {0};
	struct fake_source_host fake;

	(void)state;
	fake_source_host_init(&fake);
	fake.sample_ns = 100;
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, 90), 900);
	/* Behind the last sample: it waits, and the next sample lets it through. */
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, 120), 900);
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, 140), 900);
	fake.sample_ns = 130;
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, 150), 1200);
	fake.sample_ns = 1000;
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, 160), 1600);
	assert_int_equal(watermark.moment_count, 0);
}

/* However long no sample comes: the newest moment is kept, and old ones, so that each sample moves it. */
static void test_watermark__goes_on_after_a_long_time_without_samples(void **state)
{
	struct etw_kernel_watermark watermark = {0};
	struct fake_source_host fake;
	const uint64_t last_ns = 1000 + 10 * ETW_KERNEL_MOMENTS;

	(void)state;
	fake_source_host_init(&fake);
	fake.sample_ns = 1;
	for (uint64_t ns = 1000; ns <= last_ns; ns++)
		assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, ns), 0);
	fake.sample_ns = 1000 + ETW_KERNEL_MOMENTS / 4;
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, last_ns),
			 10 * (1000 + ETW_KERNEL_MOMENTS / 4));
	fake.sample_ns = last_ns;
	assert_int_equal(etw_kernel_watermark_move(&watermark, &fake.host, last_ns), 10 * last_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watermark__is_the_latest_moment_that_the_clock_knows),
		cmocka_unit_test(test_watermark__goes_on_after_a_long_time_without_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
