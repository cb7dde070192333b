/* SPDX-License-Identifier: MIT */
/* Debuggers. */
#ifndef ETW_COMPAT_DEBUGAPI_H
#define ETW_COMPAT_DEBUGAPI_H

#include <minwinbase.h>

ETW_EXTERN_C_BEGIN
BOOL WINAPI IsDebuggerPresent(VOID);
VOID WINAPI DebugBreak(VOID);
VOID WINAPI OutputDebugStringA(LPCSTR lpOutputString);
VOID WINAPI OutputDebugStringW(LPCWSTR lpOutputString);
ETW_EXTERN_C_END

#define OutputDebugString ETW_AW(OutputDebugString)
#define __debugbreak()    __builtin_trap()
#endif
