/* SPDX-License-Identifier: MIT */
/* Flags in their place in the mask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "wire/group_masks.h"

static void expect(uint32_t flags, uint32_t first, uint32_t second, uint32_t third)
{
	const uint32_t wanted[WIRE_GROUP_MASKS_WORDS] = {first, second, third};
	uint32_t got[WIRE_GROUP_MASKS_WORDS];

	memset(got, 0xFF, sizeof(got));
	etw_group_masks_of_flags(flags, got);
	assert_memory_equal(got, wanted, sizeof(wanted));
	assert_int_equal(etw_group_masks_to_flags(got), flags & 0x1FFFFFFF);
}

static void test_group_masks__most_flags_stay(void **state)
{
	(void)state;
	expect(0, 0, 0, 0);
	expect(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD, 7,
	       0, 0);
}

/* What net.4.5.2.x86.etl was recorded with: PROFILE is shown elsewhere. */
static void test_group_masks__aliases_move(void **state)
{
	(void)state;
	expect(0x0101270F, 0x0001270F, 2, 0);
	expect(EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_DPC | EVENT_TRACE_FLAG_INTERRUPT, 0,
	       0x4084, 0);
	expect(EVENT_TRACE_FLAG_DISPATCHER | EVENT_TRACE_FLAG_VIRTUAL_ALLOC |
		       EVENT_TRACE_FLAG_DRIVER,
	       0, 0x8210, 0);
	expect(EVENT_TRACE_FLAG_SYSTEMCALL, 0, 0, 0x40);
}

static void test_group_masks__some_are_never_stored(void **state)
{
	(void)state;
	expect(0xE0000001, 1, 0, 0);
}

static void test_group_masks__trace_versions(void **state)
{
	(void)state;
	assert_int_equal(etw_group_masks_trace_version(9200), 0x2A);
	assert_int_equal(etw_group_masks_trace_version(18362), 0x46);
	assert_int_equal(etw_group_masks_trace_version(19041), 0x50);
	assert_int_equal(etw_group_masks_trace_version(19045), 0x50);
	assert_int_equal(etw_group_masks_trace_version(20348), 0x55);
	assert_int_equal(etw_group_masks_trace_version(26100), 0x55);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_masks__most_flags_stay),
		cmocka_unit_test(test_group_masks__aliases_move),
		cmocka_unit_test(test_group_masks__some_are_never_stored),
		cmocka_unit_test(test_group_masks__trace_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
