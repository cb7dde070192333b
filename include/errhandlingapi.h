/* SPDX-License-Identifier: MIT */
#ifndef ETW_ERRHANDLINGAPI_H
#define ETW_ERRHANDLINGAPI_H

#include <etw/wintypes.h>

ETW_EXTERN_C_BEGIN

/* One value per thread, as on Windows. */
ETW_API DWORD WINAPI GetLastError(VOID);
ETW_API VOID WINAPI SetLastError(_In_ DWORD dwErrCode);

ETW_EXTERN_C_END

#endif /* ETW_ERRHANDLINGAPI_H */
