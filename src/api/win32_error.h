/* SPDX-License-Identifier: MIT */
/* How entry points return what the modules result in, as Win32 codes. */
#ifndef ETW_API_WIN32_ERROR_H
#define ETW_API_WIN32_ERROR_H

#include "base/macros.h"
#include "wire/win32_error.h"

/* TRY_WIN32(expression): returns the Win32 code from an entry point when it is negative. */
#define TRY_WIN32(expression)                                     \
	do {                                                      \
		int try_win32_ = (expression);                    \
		if (UNLIKELY(try_win32_ < 0))                     \
			return etw_win32_from_result(try_win32_); \
	} while (0)

#endif
