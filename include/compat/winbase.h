/* SPDX-License-Identifier: MIT */
/* The base services: what has no header of its own, and all that has. */
#ifndef ETW_COMPAT_WINBASE_H
#define ETW_COMPAT_WINBASE_H

#include <consoleapi.h>
#include <datetimeapi.h>
#include <debugapi.h>
#include <errhandlingapi.h>
#include <fileapi.h>
#include <handleapi.h>
#include <heapapi.h>
#include <libloaderapi.h>
#include <memoryapi.h>
#include <minwinbase.h>
#include <processenv.h>
#include <processthreadsapi.h>
#include <profileapi.h>
#include <securitybaseapi.h>
#include <stringapiset.h>
#include <synchapi.h>
#include <sysinfoapi.h>
#include <timezoneapi.h>
#include <winerror.h>

/* Behind the name DeleteFile of fileapi.h, which its member has, too, with the A or the W. */
typedef struct _FILE_DISPOSITION_INFO {
	BOOLEAN DeleteFile;
} FILE_DISPOSITION_INFO, *PFILE_DISPOSITION_INFO;

/* --- Memory. */
#define LMEM_FIXED          0x0000
#define LMEM_MOVEABLE       0x0002
#define LMEM_NOCOMPACT      0x0010
#define LMEM_NODISCARD      0x0020
#define LMEM_ZEROINIT       0x0040
#define LHND                (LMEM_MOVEABLE | LMEM_ZEROINIT)
#define LPTR                (LMEM_FIXED | LMEM_ZEROINIT)
#define GMEM_FIXED          0x0000
#define GMEM_MOVEABLE       0x0002
#define GMEM_ZEROINIT       0x0040
#define GHND                (GMEM_MOVEABLE | GMEM_ZEROINIT)
#define GPTR                (GMEM_FIXED | GMEM_ZEROINIT)

/* --- Messages. */
#define FORMAT_MESSAGE_ALLOCATE_BUFFER 0x00000100
#define FORMAT_MESSAGE_IGNORE_INSERTS  0x00000200
#define FORMAT_MESSAGE_FROM_STRING     0x00000400
#define FORMAT_MESSAGE_FROM_HMODULE    0x00000800
#define FORMAT_MESSAGE_FROM_SYSTEM     0x00001000
#define FORMAT_MESSAGE_ARGUMENT_ARRAY  0x00002000
#define FORMAT_MESSAGE_MAX_WIDTH_MASK  0x000000FF

/* --- Names. */
#define MAX_COMPUTERNAME_LENGTH 15
#define UNLEN                   256
#define EXCEPTION_EXECUTE_HANDLER    1
#define EXCEPTION_CONTINUE_SEARCH    0
#define EXCEPTION_CONTINUE_EXECUTION (-1)

ETW_EXTERN_C_BEGIN
HLOCAL WINAPI LocalAlloc(UINT uFlags, SIZE_T uBytes);
HLOCAL WINAPI LocalReAlloc(HLOCAL hMem, SIZE_T uBytes, UINT uFlags);
LPVOID WINAPI LocalLock(HLOCAL hMem);
BOOL WINAPI LocalUnlock(HLOCAL hMem);
SIZE_T WINAPI LocalSize(HLOCAL hMem);
HLOCAL WINAPI LocalFree(HLOCAL hMem);
HGLOBAL WINAPI GlobalAlloc(UINT uFlags, SIZE_T dwBytes);
HGLOBAL WINAPI GlobalReAlloc(HGLOBAL hMem, SIZE_T dwBytes, UINT uFlags);
LPVOID WINAPI GlobalLock(HGLOBAL hMem);
BOOL WINAPI GlobalUnlock(HGLOBAL hMem);
SIZE_T WINAPI GlobalSize(HGLOBAL hMem);
HGLOBAL WINAPI GlobalFree(HGLOBAL hMem);

DWORD WINAPI FormatMessageA(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId,
			    LPSTR lpBuffer, DWORD nSize, va_list *Arguments);
DWORD WINAPI FormatMessageW(DWORD dwFlags, LPCVOID lpSource, DWORD dwMessageId, DWORD dwLanguageId,
			    LPWSTR lpBuffer, DWORD nSize, va_list *Arguments);

int WINAPI lstrlenA(LPCSTR lpString);
int WINAPI lstrlenW(LPCWSTR lpString);
int WINAPI lstrcmpA(LPCSTR lpString1, LPCSTR lpString2);
int WINAPI lstrcmpW(LPCWSTR lpString1, LPCWSTR lpString2);
int WINAPI lstrcmpiA(LPCSTR lpString1, LPCSTR lpString2);
int WINAPI lstrcmpiW(LPCWSTR lpString1, LPCWSTR lpString2);
LPSTR WINAPI lstrcpyA(LPSTR lpString1, LPCSTR lpString2);
LPWSTR WINAPI lstrcpyW(LPWSTR lpString1, LPCWSTR lpString2);
LPSTR WINAPI lstrcatA(LPSTR lpString1, LPCSTR lpString2);
LPWSTR WINAPI lstrcatW(LPWSTR lpString1, LPCWSTR lpString2);
LPSTR WINAPI lstrcpynA(LPSTR lpString1, LPCSTR lpString2, int iMaxLength);
LPWSTR WINAPI lstrcpynW(LPWSTR lpString1, LPCWSTR lpString2, int iMaxLength);
BOOL WINAPI IsBadReadPtr(const VOID *lp, UINT_PTR ucb)
	ETW_NOT_HERE("IsBadReadPtr: no answer would hold; keep pointers right, and look by process_vm_readv()");

BOOL WINAPI VerifyVersionInfoA(LPOSVERSIONINFOEXA lpVersionInformation, DWORD dwTypeMask,
			       DWORDLONG dwlConditionMask);
BOOL WINAPI VerifyVersionInfoW(LPOSVERSIONINFOEXW lpVersionInformation, DWORD dwTypeMask,
			       DWORDLONG dwlConditionMask);
BOOL WINAPI GetComputerNameA(LPSTR lpBuffer, LPDWORD nSize);
BOOL WINAPI GetComputerNameW(LPWSTR lpBuffer, LPDWORD nSize);
BOOL WINAPI GetUserNameA(LPSTR lpBuffer, LPDWORD pcbBuffer);
BOOL WINAPI GetUserNameW(LPWSTR lpBuffer, LPDWORD pcbBuffer);
BOOL WINAPI QueryFullProcessImageNameA(HANDLE hProcess, DWORD dwFlags, LPSTR lpExeName,
				       PDWORD lpdwSize);
BOOL WINAPI QueryFullProcessImageNameW(HANDLE hProcess, DWORD dwFlags, LPWSTR lpExeName,
				       PDWORD lpdwSize);
DWORD_PTR WINAPI SetThreadAffinityMask(HANDLE hThread, DWORD_PTR dwThreadAffinityMask);
BOOL WINAPI GetProcessAffinityMask(HANDLE hProcess, PDWORD_PTR lpProcessAffinityMask,
				   PDWORD_PTR lpSystemAffinityMask);
DWORD WINAPI GetActiveProcessorCount(WORD GroupNumber);

BOOL WINAPI LookupAccountSidA(LPCSTR lpSystemName, PSID Sid, LPSTR Name, LPDWORD cchName,
			      LPSTR ReferencedDomainName, LPDWORD cchReferencedDomainName,
			      PSID_NAME_USE peUse)
	ETW_NOT_HERE("LookupAccountSid is not built yet: ask getpwuid_r() and getgrgid_r()");
BOOL WINAPI LookupAccountSidW(LPCWSTR lpSystemName, PSID Sid, LPWSTR Name, LPDWORD cchName,
			      LPWSTR ReferencedDomainName, LPDWORD cchReferencedDomainName,
			      PSID_NAME_USE peUse)
	ETW_NOT_HERE("LookupAccountSid is not built yet: ask getpwuid_r() and getgrgid_r()");
BOOL WINAPI LookupAccountNameA(LPCSTR lpSystemName, LPCSTR lpAccountName, PSID Sid, LPDWORD cbSid,
			       LPSTR ReferencedDomainName, LPDWORD cchReferencedDomainName,
			       PSID_NAME_USE peUse)
	ETW_NOT_HERE("LookupAccountName is not built yet: ask getpwuid_r() and getgrgid_r()");
BOOL WINAPI LookupAccountNameW(LPCWSTR lpSystemName, LPCWSTR lpAccountName, PSID Sid, LPDWORD cbSid,
			       LPWSTR ReferencedDomainName, LPDWORD cchReferencedDomainName,
			       PSID_NAME_USE peUse)
	ETW_NOT_HERE("LookupAccountName is not built yet: ask getpwuid_r() and getgrgid_r()");
BOOL WINAPI LookupPrivilegeValueA(LPCSTR lpSystemName, LPCSTR lpName, PLUID lpLuid)
	ETW_NOT_HERE("LookupPrivilegeValue is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI LookupPrivilegeValueW(LPCWSTR lpSystemName, LPCWSTR lpName, PLUID lpLuid)
	ETW_NOT_HERE("LookupPrivilegeValue is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI LookupPrivilegeNameA(LPCSTR lpSystemName, PLUID lpLuid, LPSTR lpName, LPDWORD cchName)
	ETW_NOT_HERE("LookupPrivilegeName is not built yet: ask geteuid(), getgroups() and capget()");
BOOL WINAPI LookupPrivilegeNameW(LPCWSTR lpSystemName, PLUID lpLuid, LPWSTR lpName,
				 LPDWORD cchName)
	ETW_NOT_HERE("LookupPrivilegeName is not built yet: ask geteuid(), getgroups() and capget()");
ETW_EXTERN_C_END

#define FormatMessage             ETW_AW(FormatMessage)
#define lstrlen                   ETW_AW(lstrlen)
#define lstrcmp                   ETW_AW(lstrcmp)
#define lstrcmpi                  ETW_AW(lstrcmpi)
#define lstrcpy                   ETW_AW(lstrcpy)
#define lstrcat                   ETW_AW(lstrcat)
#define lstrcpyn                  ETW_AW(lstrcpyn)
#define VerifyVersionInfo         ETW_AW(VerifyVersionInfo)
#define GetComputerName           ETW_AW(GetComputerName)
#define GetUserName               ETW_AW(GetUserName)
#define QueryFullProcessImageName ETW_AW(QueryFullProcessImageName)
#define LookupAccountSid          ETW_AW(LookupAccountSid)
#define LookupAccountName         ETW_AW(LookupAccountName)
#define LookupPrivilegeValue      ETW_AW(LookupPrivilegeValue)
#define LookupPrivilegeName       ETW_AW(LookupPrivilegeName)
#define ALL_PROCESSOR_GROUPS      0xffff
#endif
