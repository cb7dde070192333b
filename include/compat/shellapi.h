/* SPDX-License-Identifier: MIT */
/* Of the shell, the command line alone. */
#ifndef ETW_COMPAT_SHELLAPI_H
#define ETW_COMPAT_SHELLAPI_H

#include <winbase.h>

ETW_EXTERN_C_BEGIN
LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR lpCmdLine, int *pNumArgs);
HINSTANCE WINAPI ShellExecuteW(HWND hwnd, LPCWSTR lpOperation, LPCWSTR lpFile, LPCWSTR lpParameters,
			       LPCWSTR lpDirectory, INT nShowCmd)
	ETW_NOT_HERE("ShellExecute: start programs by posix_spawn(), documents by xdg-open");
HINSTANCE WINAPI ShellExecuteA(HWND hwnd, LPCSTR lpOperation, LPCSTR lpFile, LPCSTR lpParameters,
			       LPCSTR lpDirectory, INT nShowCmd)
	ETW_NOT_HERE("ShellExecute: start programs by posix_spawn(), documents by xdg-open");
ETW_EXTERN_C_END

#define ShellExecute ETW_AW(ShellExecute)
#endif
