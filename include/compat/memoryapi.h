/* SPDX-License-Identifier: MIT */
/* Pages. */
#ifndef ETW_COMPAT_MEMORYAPI_H
#define ETW_COMPAT_MEMORYAPI_H

#include <minwinbase.h>

ETW_EXTERN_C_BEGIN
LPVOID WINAPI VirtualAlloc(LPVOID lpAddress, SIZE_T dwSize, DWORD flAllocationType,
			   DWORD flProtect) ETW_NOT_HERE("VirtualAlloc: use mmap()");
BOOL WINAPI VirtualFree(LPVOID lpAddress, SIZE_T dwSize, DWORD dwFreeType)
	ETW_NOT_HERE("VirtualFree: use munmap()");
BOOL WINAPI VirtualProtect(LPVOID lpAddress, SIZE_T dwSize, DWORD flNewProtect,
			   PDWORD lpflOldProtect) ETW_NOT_HERE("VirtualProtect: use mprotect()");
BOOL WINAPI ReadProcessMemory(HANDLE hProcess, LPCVOID lpBaseAddress, LPVOID lpBuffer, SIZE_T nSize,
			      SIZE_T *lpNumberOfBytesRead);
HANDLE WINAPI CreateFileMappingW(HANDLE hFile, LPSECURITY_ATTRIBUTES lpFileMappingAttributes,
				 DWORD flProtect, DWORD dwMaximumSizeHigh, DWORD dwMaximumSizeLow,
				 LPCWSTR lpName)
	ETW_NOT_HERE("CreateFileMapping: map files by mmap()");
LPVOID WINAPI MapViewOfFile(HANDLE hFileMappingObject, DWORD dwDesiredAccess, DWORD dwFileOffsetHigh,
			    DWORD dwFileOffsetLow, SIZE_T dwNumberOfBytesToMap)
	ETW_NOT_HERE("MapViewOfFile: map files by mmap()");
ETW_EXTERN_C_END

#define CreateFileMapping CreateFileMappingW
#endif
