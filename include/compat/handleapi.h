/* SPDX-License-Identifier: MIT */
/* Handles: of files, events, threads, processes, tokens and all else that CloseHandle gives back. */
#ifndef ETW_COMPAT_HANDLEAPI_H
#define ETW_COMPAT_HANDLEAPI_H

#include <minwinbase.h>

ETW_EXTERN_C_BEGIN
BOOL WINAPI CloseHandle(HANDLE hObject);
BOOL WINAPI DuplicateHandle(HANDLE hSourceProcessHandle, HANDLE hSourceHandle,
			    HANDLE hTargetProcessHandle, LPHANDLE lpTargetHandle,
			    DWORD dwDesiredAccess, BOOL bInheritHandle, DWORD dwOptions);
BOOL WINAPI GetHandleInformation(HANDLE hObject, LPDWORD lpdwFlags);
BOOL WINAPI SetHandleInformation(HANDLE hObject, DWORD dwMask, DWORD dwFlags)
	ETW_NOT_HERE("SetHandleInformation is not built yet: no handle is inherited; pass descriptors");
BOOL WINAPI CompareObjectHandles(HANDLE hFirst, HANDLE hSecond);
ETW_EXTERN_C_END

#define HANDLE_FLAG_INHERIT            0x00000001
#define HANDLE_FLAG_PROTECT_FROM_CLOSE 0x00000002
#endif
