/* SPDX-License-Identifier: MIT */
/* Rings of frequent events in plain memory: which records are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "fake_ring.h"
#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/rings/cpu_rings.h"

struct ready {
	struct etw_kernel_cpu_record record;
	struct etw_kernel_ready ready;
	uint64_t frames[260];
};

/* Records of the same size, whose heads say different things of the frames. */
static const struct {
	uint8_t kind, kernel_frames, user_frames, flags;
	bool is_taken;
} cases[] = {
	{ETW_KERNEL_READY, 0, 0, 0, true},
	{ETW_KERNEL_READY, ETW_KERNEL_KERNEL_FRAMES, ETW_KERNEL_USER_FRAMES, 0, true},
	{ETW_KERNEL_READY, ETW_KERNEL_KERNEL_FRAMES + 1, 0, 0, false},
	{ETW_KERNEL_READY, 255, 0, ETW_KERNEL_STACK_COPIED, false},
	{ETW_KERNEL_READY, 0, ETW_KERNEL_USER_FRAMES + 1, 0, false},
	{ETW_KERNEL_READY, 3, 1, ETW_KERNEL_STACK_COPIED, true},
	/* The frame is missing that says which copy it is. */
	{ETW_KERNEL_READY, 3, 0, ETW_KERNEL_STACK_COPIED, false},
	{ETW_KERNEL_READY, 3, 2, ETW_KERNEL_STACK_COPIED, false},
	{ETW_KERNEL_CPU_KINDS, 0, 0, 0, false},
};

static void test_cpu_rings__records_hold_no_more_than_programs_write(void **state)
{
	struct etw_kernel_cpu_ring ring = {0};
	struct etw_kernel_cpu_rings rings = {.at = &ring, .count = 1};
	static struct fake_ring memory;
	uint64_t until_ns = UINT64_MAX, malformed = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ready ready = {
			.record = {.time_ns = i + 1,
				   .kind = cases[i].kind,
				   .payload_bytes = sizeof(ready.ready),
				   .kernel_frames = cases[i].kernel_frames,
				   .user_frames = cases[i].user_frames,
				   .stack_flags = cases[i].flags},
		};

		fake_ring_open(&memory, &ring.ring);
		(void)fake_ring_put(&memory, &ready, sizeof(ready), 0);
		assert_int_equal(etw_kernel_cpu_rings_read(&rings, &until_ns), 0);
		malformed += !cases[i].is_taken;
		assert_int_equal(ring.count, cases[i].is_taken);
		assert_int_equal(ring.malformed, malformed);
		if (ring.count)
			etw_kernel_cpu_rings_pop(&rings, 0);
	}
	free(ring.places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_rings__records_hold_no_more_than_programs_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
