/* SPDX-License-Identifier: MIT */
/* Heaps. All memory is of malloc(); a heap of a program's own counts its blocks and gives all back at its end. */
#ifndef ETW_COMPAT_HEAPAPI_H
#define ETW_COMPAT_HEAPAPI_H

#include <minwinbase.h>

ETW_EXTERN_C_BEGIN
HANDLE WINAPI GetProcessHeap(VOID);
HANDLE WINAPI HeapCreate(DWORD flOptions, SIZE_T dwInitialSize, SIZE_T dwMaximumSize);
BOOL WINAPI HeapDestroy(HANDLE hHeap);
LPVOID WINAPI HeapAlloc(HANDLE hHeap, DWORD dwFlags, SIZE_T dwBytes);
LPVOID WINAPI HeapReAlloc(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem, SIZE_T dwBytes);
BOOL WINAPI HeapFree(HANDLE hHeap, DWORD dwFlags, LPVOID lpMem);
SIZE_T WINAPI HeapSize(HANDLE hHeap, DWORD dwFlags, LPCVOID lpMem);
BOOL WINAPI HeapSetInformation(HANDLE HeapHandle, HEAP_INFORMATION_CLASS HeapInformationClass,
			       PVOID HeapInformation, SIZE_T HeapInformationLength);
ETW_EXTERN_C_END
#endif
