/* SPDX-License-Identifier: MIT */
/* Flags as words. */
#include "wire/kernel_flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

static void test_kernel_flags__names(void **state)
{
	(void)state;
	assert_string_equal(etw_kernel_flag_name(EVENT_TRACE_FLAG_CSWITCH), "CSWITCH");
	assert_string_equal(etw_kernel_flag_name(EVENT_TRACE_FLAG_EXTENSION), "EXTENSION");
	assert_null(etw_kernel_flag_name(0x08000000));
	assert_null(etw_kernel_flag_name(0));
	assert_null(etw_kernel_flag_name(3));
}

static void test_kernel_flags__lists(void **state)
{
	char room[1024];

	(void)state;
	etw_kernel_flags_format(EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_CSWITCH, room,
				sizeof(room));
	assert_string_equal(room, "CSWITCH, DISK_IO");
	etw_kernel_flags_format(0x08000000, room, sizeof(room));
	assert_string_equal(room, "0x08000000");
	etw_kernel_flags_format(0, room, sizeof(room));
	assert_string_equal(room, "");
	etw_kernel_flags_format(UINT32_MAX, room, sizeof(room));
	assert_non_null(strstr(room, ", EXTENSION"));
	etw_kernel_flags_format(EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_CSWITCH, room, 6);
	assert_string_equal(room, "CSWIT");
	etw_kernel_flags_format(EVENT_TRACE_FLAG_CSWITCH, room, 0);
}

/* NO_SYSCONFIG leaves something out; it asks for no event. */
static void test_kernel_flags__events(void **state)
{
	(void)state;
	assert_int_equal(etw_kernel_flags_events(EVENT_TRACE_FLAG_NO_SYSCONFIG), 0);
	assert_int_equal(
		etw_kernel_flags_events(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_NO_SYSCONFIG),
		EVENT_TRACE_FLAG_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_flags__names),
		cmocka_unit_test(test_kernel_flags__lists),
		cmocka_unit_test(test_kernel_flags__events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
