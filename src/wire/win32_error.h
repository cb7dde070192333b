/* SPDX-License-Identifier: MIT */
/*
 * The one place where results of the modules become Win32 codes: for what the API returns, and for what a host writes
 * where Windows has such a code.
 */
#ifndef ETW_WIRE_WIN32_ERROR_H
#define ETW_WIRE_WIN32_ERROR_H

#include <etw/wintypes.h>

/*
 * etw_win32_from_result() - the Win32 code for 0 or a negative errno.
 *
 * Returns ERROR_SUCCESS for 0 and every positive status, the code of the table for a negative
 * errno, ERROR_GEN_FAILURE for one that the table does not name. Contract checks without an errno
 * twin (ERROR_BAD_LENGTH, ERROR_INSUFFICIENT_BUFFER ...) are made by the entry points themselves.
 * Context: any thread, signal-safe.
 */
ULONG etw_win32_from_result(int result);

/* etw_win32_from_start() - likewise of starting a session, where some results mean its file or another session. */
ULONG etw_win32_from_start(int result);

#endif
