/* SPDX-License-Identifier: MIT */
/* The process' environment: variables, command line, standard handles. */
#ifndef ETW_COMPAT_PROCESSENV_H
#define ETW_COMPAT_PROCESSENV_H

#include <minwinbase.h>

#define STD_INPUT_HANDLE  ((DWORD)-10)
#define STD_OUTPUT_HANDLE ((DWORD)-11)
#define STD_ERROR_HANDLE  ((DWORD)-12)

ETW_EXTERN_C_BEGIN
LPSTR WINAPI GetCommandLineA(VOID);
LPWSTR WINAPI GetCommandLineW(VOID);
DWORD WINAPI GetEnvironmentVariableA(LPCSTR lpName, LPSTR lpBuffer, DWORD nSize);
DWORD WINAPI GetEnvironmentVariableW(LPCWSTR lpName, LPWSTR lpBuffer, DWORD nSize);
BOOL WINAPI SetEnvironmentVariableA(LPCSTR lpName, LPCSTR lpValue);
BOOL WINAPI SetEnvironmentVariableW(LPCWSTR lpName, LPCWSTR lpValue);
DWORD WINAPI ExpandEnvironmentStringsA(LPCSTR lpSrc, LPSTR lpDst, DWORD nSize);
DWORD WINAPI ExpandEnvironmentStringsW(LPCWSTR lpSrc, LPWSTR lpDst, DWORD nSize);
LPWCH WINAPI GetEnvironmentStringsW(VOID) ETW_NOT_HERE("GetEnvironmentStrings: walk environ");
DWORD WINAPI GetCurrentDirectoryA(DWORD nBufferLength, LPSTR lpBuffer);
DWORD WINAPI GetCurrentDirectoryW(DWORD nBufferLength, LPWSTR lpBuffer);
BOOL WINAPI SetCurrentDirectoryA(LPCSTR lpPathName);
BOOL WINAPI SetCurrentDirectoryW(LPCWSTR lpPathName);
HANDLE WINAPI GetStdHandle(DWORD nStdHandle);
BOOL WINAPI SetStdHandle(DWORD nStdHandle, HANDLE hHandle);
ETW_EXTERN_C_END

#define GetCommandLine           ETW_AW(GetCommandLine)
#define GetEnvironmentVariable   ETW_AW(GetEnvironmentVariable)
#define SetEnvironmentVariable   ETW_AW(SetEnvironmentVariable)
#define ExpandEnvironmentStrings ETW_AW(ExpandEnvironmentStrings)
#define GetCurrentDirectory      ETW_AW(GetCurrentDirectory)
#define SetCurrentDirectory      ETW_AW(SetCurrentDirectory)
#define GetEnvironmentStrings    GetEnvironmentStringsW
#endif
