/* SPDX-License-Identifier: MIT */
/* Which sessions get the kernel's events, and which names and GUIDs belong together. */
#include "wire/system_logger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/guid.h"
#include "wire/well_known.h"

static const GUID none;
static const GUID other = {1, 2, 3, {4}};
static const GUID kernel = WIRE_KERNEL_LOGGER_GUID;
static const GUID context = WIRE_CONTEXT_LOGGER_GUID;
static const GUID global = WIRE_GLOBAL_LOGGER_GUID;

static void test_system_logger__names_have_their_guids(void **state)
{
	static const struct {
		const char *name;
		const GUID *given, *bound;
		int result;
	} rows[] = {
		{"NT Kernel Logger", &none, &kernel, 0},
		{"nt kernel LOGGER", &other, &kernel, 0},
		{"NT Kernel Logger", &context, &kernel, 0},
		{"Circular Kernel Context Logger", &none, &context, 0},
		{"circular kernel context logger", &kernel, &context, 0},
		{"x", &none, &none, 0},
		{"x", &other, &other, 0},
		{"x", &global, &global, 0},
		{"x", &kernel, &kernel, -EINVAL},
		{"x", &context, &context, -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		GUID guid = *rows[i].given;

		if (etw_fixed_session_bind(rows[i].name, &guid) != rows[i].result ||
		    !etw_guid_equal(&guid, rows[i].bound))
			fail_msg("row %zu", i);
	}
	assert_true(etw_fixed_session_has_name("NT KERNEL LOGGER"));
	assert_false(etw_fixed_session_has_name("NT Kernel Logger "));
}

static void test_system_logger__by_mode_name_and_guid(void **state)
{
	struct wire_session_config config = {.name = "x", .enable_flags = EVENT_TRACE_FLAG_PROCESS};

	(void)state;
	assert_false(etw_system_logger_is(&config));
	config.log_file_mode = EVENT_TRACE_SYSTEM_LOGGER_MODE;
	assert_true(etw_system_logger_is(&config));
	config.log_file_mode = 0;
	config.guid = global;
	assert_true(etw_system_logger_is(&config));
	config.guid = other;
	assert_false(etw_system_logger_is(&config));
	(void)snprintf(config.name, sizeof(config.name), "nt kernel logger");
	assert_true(etw_system_logger_is(&config));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_logger__names_have_their_guids),
		cmocka_unit_test(test_system_logger__by_mode_name_and_guid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
