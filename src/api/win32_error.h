/* SPDX-License-Identifier: MIT */
/* The one place where results of the modules become Win32 codes. */
#ifndef ETW_API_WIN32_ERROR_H
#define ETW_API_WIN32_ERROR_H

#include <etw/wintypes.h>

#include "base/macros.h"

/*
 * etw_win32_from_result() - the Win32 code for 0 or a negative errno.
 *
 * Returns ERROR_SUCCESS for 0 and every positive status, the code of the table for a negative
 * errno, ERROR_GEN_FAILURE for one that the table does not name. Contract checks without an errno
 * twin (ERROR_BAD_LENGTH, ERROR_INSUFFICIENT_BUFFER ...) are made by the entry points themselves.
 * Context: any thread, signal-safe.
 */
ULONG etw_win32_from_result(int result);

/* TRY_WIN32(expression): returns the Win32 code from an entry point when it is negative. */
#define TRY_WIN32(expression)                                     \
	do {                                                      \
		int try_win32_ = (expression);                    \
		if (UNLIKELY(try_win32_ < 0))                     \
			return etw_win32_from_result(try_win32_); \
	} while (0)

#endif
