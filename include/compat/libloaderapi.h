/* SPDX-License-Identifier: MIT */
/* Modules: shared libraries, and the DLLs of Windows that this library stands for. */
#ifndef ETW_COMPAT_LIBLOADERAPI_H
#define ETW_COMPAT_LIBLOADERAPI_H

#include <minwinbase.h>

#define DONT_RESOLVE_DLL_REFERENCES         0x00000001
#define LOAD_LIBRARY_AS_DATAFILE            0x00000002
#define LOAD_WITH_ALTERED_SEARCH_PATH       0x00000008
#define LOAD_LIBRARY_AS_IMAGE_RESOURCE      0x00000020
#define LOAD_LIBRARY_SEARCH_SYSTEM32        0x00000800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS    0x00001000
#define GET_MODULE_HANDLE_EX_FLAG_PIN                0x00000001
#define GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT 0x00000002
#define GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS       0x00000004

ETW_EXTERN_C_BEGIN
HMODULE WINAPI LoadLibraryA(LPCSTR lpLibFileName);
HMODULE WINAPI LoadLibraryW(LPCWSTR lpLibFileName);
HMODULE WINAPI LoadLibraryExA(LPCSTR lpLibFileName, HANDLE hFile, DWORD dwFlags);
HMODULE WINAPI LoadLibraryExW(LPCWSTR lpLibFileName, HANDLE hFile, DWORD dwFlags);
BOOL WINAPI FreeLibrary(HMODULE hLibModule);
FARPROC WINAPI GetProcAddress(HMODULE hModule, LPCSTR lpProcName);
HMODULE WINAPI GetModuleHandleA(LPCSTR lpModuleName);
HMODULE WINAPI GetModuleHandleW(LPCWSTR lpModuleName);
BOOL WINAPI GetModuleHandleExA(DWORD dwFlags, LPCSTR lpModuleName, HMODULE *phModule);
BOOL WINAPI GetModuleHandleExW(DWORD dwFlags, LPCWSTR lpModuleName, HMODULE *phModule);
DWORD WINAPI GetModuleFileNameA(HMODULE hModule, LPSTR lpFilename, DWORD nSize);
DWORD WINAPI GetModuleFileNameW(HMODULE hModule, LPWSTR lpFilename, DWORD nSize);
BOOL WINAPI DisableThreadLibraryCalls(HMODULE hLibModule);
HRSRC WINAPI FindResourceW(HMODULE hModule, LPCWSTR lpName, LPCWSTR lpType)
	ETW_NOT_HERE("FindResource: programs of Linux have no resources; link the data in, or read a file");
HRSRC WINAPI FindResourceA(HMODULE hModule, LPCSTR lpName, LPCSTR lpType)
	ETW_NOT_HERE("FindResource: programs of Linux have no resources; link the data in, or read a file");
int WINAPI LoadStringW(HINSTANCE hInstance, UINT uID, LPWSTR lpBuffer, int cchBufferMax)
	ETW_NOT_HERE("LoadString: programs of Linux have no resources; put the texts into a table");
int WINAPI LoadStringA(HINSTANCE hInstance, UINT uID, LPSTR lpBuffer, int cchBufferMax)
	ETW_NOT_HERE("LoadString: programs of Linux have no resources; put the texts into a table");
ETW_EXTERN_C_END

#define LoadLibrary       ETW_AW(LoadLibrary)
#define LoadLibraryEx     ETW_AW(LoadLibraryEx)
#define GetModuleHandle   ETW_AW(GetModuleHandle)
#define GetModuleHandleEx ETW_AW(GetModuleHandleEx)
#define GetModuleFileName ETW_AW(GetModuleFileName)
#define FindResource      ETW_AW(FindResource)
#define LoadString        ETW_AW(LoadString)
#define MAKEINTRESOURCEA(number) ((LPSTR)((ULONG_PTR)((WORD)(number))))
#define MAKEINTRESOURCEW(number) ((LPWSTR)((ULONG_PTR)((WORD)(number))))
#define MAKEINTRESOURCE          ETW_AW(MAKEINTRESOURCE)
#define IS_INTRESOURCE(name)     (((ULONG_PTR)(name) >> 16) == 0)
#endif
