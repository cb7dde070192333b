/* SPDX-License-Identifier: MIT */
/*
 * Every pair of a function of tdh.h and an error that Microsoft documents for it, in the order of section 3 of
 * docs/format/contract-tdh.md. One thing is out of order in each row; with nothing out of order the same call succeeds.
 *
 * Six documented pairs cannot happen and have no row: ERROR_WMI_SERVER_UNAVAILABLE of TdhGetEventInformation,
 * TdhGetEventMapInformation, TdhGetPropertySize, TdhGetProperty and TdhEnumerateProviderFilters (classes do not
 * come from a server), ERROR_NOT_ENOUGH_MEMORY of TdhCloseDecodingHandle (it takes none). What each function does
 * beyond that is in the other tables of this folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <tdh.h>
#include <winerror.h>

#include "base/macros.h"
#include "documented_calls.h"
#include "synthetic/scarce_memory.h"

struct row {
	const char *name;
	ULONG error;
	enum cause cause;
	const char *source;
};

#define ROW(name, error, cause)                          \
	{                                                \
		"Tdh" #name, ERROR_##error, cause, "[3]" \
	}

static const struct row rows[] = {
#include "documented_rows.inc"
};

static const struct documented_call *call_of(const struct row *row)
{
	const struct documented_call *call = documented_call(row->name);

	assert_non_null(call);
	return call;
}

static void prepare(const struct documented_call *call)
{
	if (call->before)
		assert_int_equal(call->before(NONE), ERROR_SUCCESS);
}

static void check_success(const struct documented_call *call, ULONG error)
{
	if (error)
		fail_msg("%s in order: %u", call->name, error);
	if (call->after)
		assert_int_equal(call->after(NONE), ERROR_SUCCESS);
}

/* Whichever allocation fails. */
static void check_memory(const struct row *row, const struct documented_call *call)
{
	ULONG error = row->error;
	long failures = 0;

	for (long i = 1; error; i++) {
		scarce_begin(i);
		error = call->asked(NO_MEMORY);
		if (scarce_end() != (error != ERROR_SUCCESS))
			fail_msg("%s, allocation %ld: %u", row->name, i, error);
		if (error && error != row->error)
			fail_msg("%s, allocation %ld: %u, not %u", row->name, i, error, row->error);
		failures += error != ERROR_SUCCESS;
	}
	assert_true(failures > 0);
}

static void test_documented_errors__are_returned(void **state)
{
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct documented_call *call = call_of(&rows[i]);
		ULONG error;

		if (rows[i].cause == NO_MEMORY)
			continue;
		prepare(call);
		error = call->asked(rows[i].cause);
		if (error != rows[i].error)
			fail_msg("row %zu: %s: %u, not %u (%s)", i, rows[i].name, error,
				 rows[i].error, rows[i].source);
		check_success(call, call->asked(NONE));
		tried++;
	}
	print_message("%zu of %zu rows\n", tried, ARRAY_SIZE(rows));
}

static void test_documented_errors__memory_runs_out(void **state)
{
	size_t tried = 0;

	(void)state;
	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer's allocator ends the program instead\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct documented_call *call = call_of(&rows[i]);

		if (rows[i].cause != NO_MEMORY)
			continue;
		prepare(call);
		check_memory(&rows[i], call);
		check_success(call, ERROR_SUCCESS);
		tried++;
	}
	print_message("%zu of %zu rows\n", tried, ARRAY_SIZE(rows));
}

/* A row stands once. */
static void test_documented_errors__rows_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(rows[i].name, rows[k].name) && rows[i].error == rows[k].error &&
			    rows[i].cause == rows[k].cause)
				fail_msg("rows %zu and %zu are the same", k, i);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documented_errors__rows_differ),
		cmocka_unit_test(test_documented_errors__are_returned),
		cmocka_unit_test(test_documented_errors__memory_runs_out),
	};

	return cmocka_run_group_tests(tests, documented_begin, documented_end);
}
