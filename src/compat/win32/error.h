/* SPDX-License-Identifier: MIT */
/* The last error, and Win32 codes for errno values. */
#ifndef ETW_COMPAT_WIN32_ERROR_H
#define ETW_COMPAT_WIN32_ERROR_H

#include <windows.h>

/* etw_fail() - sets the last error; returns FALSE. */
static inline BOOL etw_fail(DWORD error)
{
	SetLastError(error);
	return FALSE;
}

/* etw_fail_null() - sets the last error; returns NULL. */
static inline void *etw_fail_null(DWORD error)
{
	SetLastError(error);
	return NULL;
}

/* etw_error_of_errno() - the Win32 code for an errno value. */
DWORD etw_error_of_errno(int error);

#endif
