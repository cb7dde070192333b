/* SPDX-License-Identifier: MIT */
#ifndef ETW_ERRHANDLINGAPI_H
#define ETW_ERRHANDLINGAPI_H

#include <etw/wintypes.h>

ETW_EXTERN_C_BEGIN

/* One value per thread, as on Windows. */

/*
 * GetLastError() and its like - the error that OpenTraceW() left, of the calling thread.
 *
 * Functions that succeed leave it as it was, as on Windows.
 *
 * Returns the error of the thread's last function that failed; of functions that return their error, look at that.
 */
ETW_API DWORD WINAPI GetLastError(VOID);
ETW_API VOID WINAPI SetLastError(_In_ DWORD dwErrCode);

ETW_EXTERN_C_END

#endif /* ETW_ERRHANDLINGAPI_H */
