/* SPDX-License-Identifier: MIT */
/* Beside GetLastError(): what is done about errors that nobody handles. */
#ifndef ETW_COMPAT_ERRHANDLINGAPI_H
#define ETW_COMPAT_ERRHANDLINGAPI_H

#include_next <errhandlingapi.h>

#include <minwinbase.h>

#define SEM_FAILCRITICALERRORS     0x0001
#define SEM_NOGPFAULTERRORBOX      0x0002
#define SEM_NOOPENFILEERRORBOX     0x8000

ETW_EXTERN_C_BEGIN
UINT WINAPI SetErrorMode(UINT uMode);
UINT WINAPI GetErrorMode(VOID);
VOID WINAPI RaiseException(DWORD dwExceptionCode, DWORD dwExceptionFlags, DWORD nNumberOfArguments,
			   const ULONG_PTR *lpArguments)
	ETW_NOT_HERE("RaiseException: Linux has no structured exceptions; throw in C++, return an error in C");
PVOID WINAPI SetUnhandledExceptionFilter(PVOID lpTopLevelExceptionFilter)
	ETW_NOT_HERE("SetUnhandledExceptionFilter: handle SIGSEGV and its like by sigaction()");
PVOID WINAPI AddVectoredExceptionHandler(ULONG First, PVOID Handler)
	ETW_NOT_HERE("AddVectoredExceptionHandler: handle SIGSEGV and its like by sigaction()");
ETW_EXTERN_C_END
#endif
