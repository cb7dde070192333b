/* SPDX-License-Identifier: MIT */
/* Types of the list of all processes and threads; its functions are not built yet. */
#ifndef ETW_COMPAT_TLHELP32_H
#define ETW_COMPAT_TLHELP32_H

#include <winbase.h>

#define TH32CS_SNAPHEAPLIST 0x00000001
#define TH32CS_SNAPPROCESS  0x00000002
#define TH32CS_SNAPTHREAD   0x00000004
#define TH32CS_SNAPMODULE   0x00000008
#define TH32CS_SNAPMODULE32 0x00000010
#define TH32CS_SNAPALL      (TH32CS_SNAPPROCESS | TH32CS_SNAPTHREAD)
#define TH32CS_INHERIT      0x80000000U

#define ETW_COMPAT_PROCESSENTRY(suffix, character)               \
	typedef struct tagPROCESSENTRY32##suffix {               \
		DWORD dwSize;                                    \
		DWORD cntUsage;                                  \
		DWORD th32ProcessID;                             \
		ULONG_PTR th32DefaultHeapID;                     \
		DWORD th32ModuleID;                              \
		DWORD cntThreads;                                \
		DWORD th32ParentProcessID;                       \
		LONG pcPriClassBase;                             \
		DWORD dwFlags;                                   \
		character szExeFile[MAX_PATH];                   \
	} PROCESSENTRY32##suffix, *PPROCESSENTRY32##suffix, *LPPROCESSENTRY32##suffix
ETW_COMPAT_PROCESSENTRY(W, WCHAR);
ETW_COMPAT_PROCESSENTRY(, CHAR);

typedef struct tagTHREADENTRY32 {
	DWORD dwSize;
	DWORD cntUsage;
	DWORD th32ThreadID;
	DWORD th32OwnerProcessID;
	LONG tpBasePri;
	LONG tpDeltaPri;
	DWORD dwFlags;
} THREADENTRY32, *PTHREADENTRY32, *LPTHREADENTRY32;

ETW_EXTERN_C_BEGIN
HANDLE WINAPI CreateToolhelp32Snapshot(DWORD dwFlags, DWORD th32ProcessID)
	ETW_NOT_HERE("CreateToolhelp32Snapshot is not built yet: read /proc");
BOOL WINAPI Process32FirstW(HANDLE hSnapshot, LPPROCESSENTRY32W lppe)
	ETW_NOT_HERE("Process32First is not built yet: read /proc");
BOOL WINAPI Process32NextW(HANDLE hSnapshot, LPPROCESSENTRY32W lppe)
	ETW_NOT_HERE("Process32Next is not built yet: read /proc");
BOOL WINAPI Process32First(HANDLE hSnapshot, LPPROCESSENTRY32 lppe)
	ETW_NOT_HERE("Process32First is not built yet: read /proc");
BOOL WINAPI Process32Next(HANDLE hSnapshot, LPPROCESSENTRY32 lppe)
	ETW_NOT_HERE("Process32Next is not built yet: read /proc");
BOOL WINAPI Thread32First(HANDLE hSnapshot, LPTHREADENTRY32 lpte)
	ETW_NOT_HERE("Thread32First is not built yet: read /proc");
BOOL WINAPI Thread32Next(HANDLE hSnapshot, LPTHREADENTRY32 lpte)
	ETW_NOT_HERE("Thread32Next is not built yet: read /proc");
BOOL WINAPI Module32FirstW(HANDLE hSnapshot, PVOID lpme)
	ETW_NOT_HERE("Module32First: read /proc/<pid>/maps");
BOOL WINAPI Module32NextW(HANDLE hSnapshot, PVOID lpme)
	ETW_NOT_HERE("Module32Next: read /proc/<pid>/maps");
ETW_EXTERN_C_END

#ifdef UNICODE
#define Process32First   Process32FirstW
#define Process32Next    Process32NextW
#define PROCESSENTRY32   PROCESSENTRY32W
#define PPROCESSENTRY32  PPROCESSENTRY32W
#define LPPROCESSENTRY32 LPPROCESSENTRY32W
#endif
#endif
