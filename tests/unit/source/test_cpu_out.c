/* SPDX-License-Identifier: MIT */
/* What is known of frequent events before they are made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "source/kernel/code/seen.h"
#include "source/kernel/collector/cpu_out.h"

#define KERNEL UINT64_C(0xFFFFFFFF81000000)

struct sampled {
	struct etw_kernel_cpu_record record;
	struct etw_kernel_sample sample;
	uint64_t frames[3];
} __attribute__((aligned(8)));

static int to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	(void)context;
	*ret = (int64_t)monotonic_ns;
	return 0;
}

static bool has(const uint64_t *addresses, uint32_t count, uint64_t address)
{
	for (uint32_t i = 0; i < count; i++)
		if (addresses[i] == address)
			return true;
	return false;
}

/* A session's end writes the symbols of events that come out behind it. */
static void test_cpu_out__looks_ahead(void **state)
{
	const struct etw_source_host host = {.cpu_count = 1, .to_raw = to_raw};
	struct sampled sampled[2] = {
		{.record = {.kind = ETW_KERNEL_SAMPLE,
			    .payload_bytes = sizeof(struct etw_kernel_sample),
			    .kernel_frames = 2,
			    .user_frames = 1},
		 .sample = {.address = KERNEL + 1},
		 .frames = {KERNEL + 2, KERNEL + 3, 4}},
		{.record = {.kind = ETW_KERNEL_SAMPLE,
			    .payload_bytes = sizeof(struct etw_kernel_sample),
			    .kernel_frames = 1},
		 .sample = {.address = 5},
		 .frames = {KERNEL + 6}},
	};
	struct etw_kernel_cpu_place places[2] = {{.at = &sampled[0].record, .time_ns = 1},
						 {.at = &sampled[1].record, .time_ns = 2}};
	struct etw_kernel_cpu_ring ring = {
		.places = places, .count = 2, .room = 2, .is_broken = true};
	struct etw_kernel_cpu_rings rings = {.at = &ring, .count = 1};
	struct etw_kernel_seen seen = {0};
	struct etw_kernel_cpu_out cpu_out;
	struct etw_kernel_out out = {0};
	uint64_t *addresses;
	uint32_t count;

	(void)state;
	assert_int_equal(etw_kernel_cpu_out_init(&cpu_out, &host, &rings, &out), 0);
	etw_kernel_cpu_out_look_ahead(&cpu_out); /* nobody asks */
	cpu_out.maker.seen = &seen;
	etw_kernel_cpu_out_look_ahead(&cpu_out);
	assert_int_equal(etw_kernel_seen_sort(&seen, &addresses, &count), 0);
	assert_int_equal(count, 4);
	for (uint64_t i = 1; i <= 6; i++)
		assert_int_equal(has(addresses, count, KERNEL + i), i != 4 && i != 5);
	assert_false(seen.is_all);
	/* They are still to come. */
	assert_int_equal(ring.count, 2);
	free(addresses);
	etw_kernel_seen_done(&seen);
	etw_kernel_cpu_out_done(&cpu_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_out__looks_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
