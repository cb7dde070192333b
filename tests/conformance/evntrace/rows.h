/* SPDX-License-Identifier: MIT */
/*
 * Rows of documented errors: a function of the header, an error, a call that gets it, and the source. check_rows.py reads
 * the files of rows too, and compares them with documented_errors.tsv.
 */
#ifndef ETW_TESTS_CONFORMANCE_EVNTRACE_ROWS_H
#define ETW_TESTS_CONFORMANCE_EVNTRACE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <winerror.h>

#include "conformance/evntrace/host.h"
#include "conformance/evntrace/waiting.h"

struct row {
	const char *function;
	const char *error;
	ULONG expected;
	ULONG (*call)(void);
	const char *source;
	bool wants_root; /* another user has a part in it */
};

#define ROW(function, error, call, source)                            \
	{                                                             \
#function, #error, ERROR_##error, call, source, false \
	}
#define ROOT(function, error, call, source)                          \
	{                                                            \
#function, #error, ERROR_##error, call, source, true \
	}
/* An error that is documented and does not happen: documented_errors.tsv says why. */
#define NEVER(function, error, call, source)                          \
	{                                                             \
#function, #error, ERROR_SUCCESS, call, source, false \
	}

/* row_call() - the row's error. One that finds no free buffer is tried again: a row before it may have filled them. */
static inline ULONG row_call(const struct row *row)
{
	const time_t begin = wait_seconds();
	ULONG error = row->call();

	while (error == ERROR_NOT_ENOUGH_MEMORY && row->expected != error) {
		wait_step(begin, row->function, row->source, 0);
		error = row->call();
	}
	return error;
}

/* rows_check() - calls all, in their order. */
static inline void rows_check(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ULONG error;

		if (rows[i].wants_root && !host_is_root())
			continue;
		error = row_call(&rows[i]);
		if (error != rows[i].expected)
			fail_msg("%s, ERROR_%s, %s: %u, not %u", rows[i].function, rows[i].error,
				 rows[i].source, error, rows[i].expected);
	}
}

#endif
