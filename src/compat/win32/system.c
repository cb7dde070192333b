/* SPDX-License-Identifier: MIT */
/* The machine and the version that programs are told: Windows 10, for workstations. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <winternl.h>

#include "compat/win32/object.h"
#include "compat/win32/text.h"

#define MAJOR 10
#define MINOR 0
#define BUILD 19045

void GetSystemInfo(LPSYSTEM_INFO lpSystemInfo)
{
	const long count = sysconf(_SC_NPROCESSORS_ONLN), page = sysconf(_SC_PAGESIZE);

	memset(lpSystemInfo, 0, sizeof(*lpSystemInfo));
#if defined(__aarch64__)
	lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_ARM64;
#else
	lpSystemInfo->wProcessorArchitecture = PROCESSOR_ARCHITECTURE_AMD64;
	lpSystemInfo->dwProcessorType = PROCESSOR_AMD_X8664;
#endif
	lpSystemInfo->dwPageSize = (DWORD)page;
	lpSystemInfo->lpMinimumApplicationAddress = (LPVOID)0x10000;
	lpSystemInfo->lpMaximumApplicationAddress = (LPVOID)0x7FFFFFFEFFFF;
	lpSystemInfo->dwNumberOfProcessors = (DWORD)count;
	lpSystemInfo->dwActiveProcessorMask = count >= 64 ? ~(DWORD_PTR)0
							  : ((DWORD_PTR)1 << count) - 1;
	lpSystemInfo->dwAllocationGranularity = (DWORD)page;
}

void GetNativeSystemInfo(LPSYSTEM_INFO lpSystemInfo)
{
	GetSystemInfo(lpSystemInfo);
}

DWORD GetActiveProcessorCount(WORD GroupNumber)
{
	(void)GroupNumber;
	return (DWORD)sysconf(_SC_NPROCESSORS_ONLN);
}

BOOL GlobalMemoryStatusEx(LPMEMORYSTATUSEX lpBuffer)
{
	struct sysinfo info;

	if (lpBuffer->dwLength != sizeof(*lpBuffer) || sysinfo(&info))
		return etw_fail(ERROR_INVALID_PARAMETER);
	*lpBuffer = (MEMORYSTATUSEX){
		.dwLength = sizeof(*lpBuffer),
		.ullTotalPhys = (DWORDLONG)info.totalram * info.mem_unit,
		.ullAvailPhys = (DWORDLONG)(info.freeram + info.bufferram) * info.mem_unit,
		.ullTotalPageFile = (DWORDLONG)(info.totalram + info.totalswap) * info.mem_unit,
		.ullAvailPageFile = (DWORDLONG)(info.freeram + info.freeswap) * info.mem_unit,
		.ullTotalVirtual = 0x7FFFFFFE0000,
		.ullAvailVirtual = 0x7FFFFFFE0000,
	};
	if (lpBuffer->ullTotalPhys)
		lpBuffer->dwMemoryLoad =
			(DWORD)(100 - lpBuffer->ullAvailPhys * 100 / lpBuffer->ullTotalPhys);
	return TRUE;
}

/* --- Versions. */
DWORD GetVersion(void)
{
	return MAJOR | MINOR << 8 | (DWORD)BUILD << 16;
}

BOOL GetVersionExW(LPOSVERSIONINFOW lpVersionInformation)
{
	const DWORD size = lpVersionInformation->dwOSVersionInfoSize;

	if (size != sizeof(OSVERSIONINFOW) && size != sizeof(OSVERSIONINFOEXW))
		return etw_fail(ERROR_INSUFFICIENT_BUFFER);
	memset(lpVersionInformation, 0, size);
	lpVersionInformation->dwOSVersionInfoSize = size;
	lpVersionInformation->dwMajorVersion = MAJOR;
	lpVersionInformation->dwMinorVersion = MINOR;
	lpVersionInformation->dwBuildNumber = BUILD;
	lpVersionInformation->dwPlatformId = VER_PLATFORM_WIN32_NT;
	if (size == sizeof(OSVERSIONINFOEXW))
		((LPOSVERSIONINFOEXW)lpVersionInformation)->wProductType = VER_NT_WORKSTATION;
	return TRUE;
}

BOOL GetVersionExA(LPOSVERSIONINFOA lpVersionInformation)
{
	const DWORD size = lpVersionInformation->dwOSVersionInfoSize;

	if (size != sizeof(OSVERSIONINFOA) && size != sizeof(OSVERSIONINFOEXA))
		return etw_fail(ERROR_INSUFFICIENT_BUFFER);
	memset(lpVersionInformation, 0, size);
	lpVersionInformation->dwOSVersionInfoSize = size;
	lpVersionInformation->dwMajorVersion = MAJOR;
	lpVersionInformation->dwMinorVersion = MINOR;
	lpVersionInformation->dwBuildNumber = BUILD;
	lpVersionInformation->dwPlatformId = VER_PLATFORM_WIN32_NT;
	if (size == sizeof(OSVERSIONINFOEXA))
		((LPOSVERSIONINFOEXA)lpVersionInformation)->wProductType = VER_NT_WORKSTATION;
	return TRUE;
}

NTSTATUS RtlGetVersion(PRTL_OSVERSIONINFOW VersionInformation)
{
	return GetVersionExW(VersionInformation) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* Three bits for each type, those of the lowest type lowest. */
ULONGLONG VerSetConditionMask(ULONGLONG ConditionMask, DWORD TypeMask, BYTE Condition)
{
	for (unsigned i = 0; i < 8; i++) {
		if (TypeMask >> i & 1)
			ConditionMask = (ConditionMask & ~((ULONGLONG)7 << i * 3)) |
					(ULONGLONG)(Condition & 7) << i * 3;
	}
	return ConditionMask;
}

static int condition_of(DWORDLONG conditions, unsigned bit)
{
	return (int)(conditions >> bit * 3 & 7);
}

static bool holds(int condition, DWORD ours, DWORD wanted)
{
	switch (condition) {
	case VER_EQUAL:
		return ours == wanted;
	case VER_GREATER:
		return ours > wanted;
	case VER_GREATER_EQUAL:
		return ours >= wanted;
	case VER_LESS:
		return ours < wanted;
	case VER_LESS_EQUAL:
		return ours <= wanted;
	case VER_AND:
		return (ours & wanted) == wanted;
	case VER_OR:
		return (ours & wanted) != 0;
	default:
		return false;
	}
}

/* Major, minor and service pack are one number in parts: the first that differs decides, by the condition of the highest. */
static bool version_holds(const OSVERSIONINFOEXW *wanted, DWORD types, DWORDLONG conditions)
{
	static const unsigned bits[] = {1, 0, 5, 4};
	const DWORD ours[] = {MAJOR, MINOR, 0, 0};
	const DWORD theirs[] = {wanted->dwMajorVersion, wanted->dwMinorVersion,
				wanted->wServicePackMajor, wanted->wServicePackMinor};
	int condition = 0;

	for (size_t i = 0; i < 4; i++) {
		if (!(types >> bits[i] & 1))
			continue;
		if (!condition)
			condition = condition_of(conditions, bits[i]);
		if (ours[i] != theirs[i] || condition == VER_EQUAL) {
			if (!holds(condition, ours[i], theirs[i]))
				return false;
			if (condition != VER_EQUAL)
				return true;
		}
	}
	return !condition || holds(condition, 0, 0);
}

static BOOL verify(const OSVERSIONINFOEXW *wanted, DWORD types, DWORDLONG conditions)
{
	if (!types || !conditions)
		return etw_fail(ERROR_BAD_ARGUMENTS);
	if (!version_holds(wanted, types, conditions) ||
	    (types & VER_BUILDNUMBER &&
	     !holds(condition_of(conditions, 2), BUILD, wanted->dwBuildNumber)) ||
	    (types & VER_PLATFORMID &&
	     !holds(condition_of(conditions, 3), VER_PLATFORM_WIN32_NT, wanted->dwPlatformId)) ||
	    (types & VER_SUITENAME && !holds(condition_of(conditions, 6), 0, wanted->wSuiteMask)) ||
	    (types & VER_PRODUCT_TYPE &&
	     !holds(condition_of(conditions, 7), VER_NT_WORKSTATION, wanted->wProductType)))
		return etw_fail(ERROR_OLD_WIN_VERSION);
	return TRUE;
}

BOOL VerifyVersionInfoW(LPOSVERSIONINFOEXW lpVersionInformation, DWORD dwTypeMask,
			DWORDLONG dwlConditionMask)
{
	return verify(lpVersionInformation, dwTypeMask, dwlConditionMask);
}

BOOL VerifyVersionInfoA(LPOSVERSIONINFOEXA lpVersionInformation, DWORD dwTypeMask,
			DWORDLONG dwlConditionMask)
{
	const OSVERSIONINFOEXW wanted = {
		.dwMajorVersion = lpVersionInformation->dwMajorVersion,
		.dwMinorVersion = lpVersionInformation->dwMinorVersion,
		.dwBuildNumber = lpVersionInformation->dwBuildNumber,
		.dwPlatformId = lpVersionInformation->dwPlatformId,
		.wServicePackMajor = lpVersionInformation->wServicePackMajor,
		.wServicePackMinor = lpVersionInformation->wServicePackMinor,
		.wSuiteMask = lpVersionInformation->wSuiteMask,
		.wProductType = lpVersionInformation->wProductType,
	};

	return verify(&wanted, dwTypeMask, dwlConditionMask);
}

/* --- Names. */
BOOL GetComputerNameA(LPSTR lpBuffer, LPDWORD nSize)
{
	struct utsname name;

	(void)uname(&name);
	return etw_return_sized_narrow(name.nodename, lpBuffer, nSize, ERROR_BUFFER_OVERFLOW,
				       FALSE);
}

BOOL GetComputerNameW(LPWSTR lpBuffer, LPDWORD nSize)
{
	struct utsname name;

	(void)uname(&name);
	return etw_return_sized_wide(name.nodename, lpBuffer, nSize, ERROR_BUFFER_OVERFLOW, FALSE);
}

BOOL GetComputerNameExA(COMPUTER_NAME_FORMAT NameType, LPSTR lpBuffer, LPDWORD nSize)
{
	struct utsname name;

	(void)uname(&name);
	if (NameType == ComputerNameDnsDomain || NameType == ComputerNamePhysicalDnsDomain)
		name.nodename[0] = '\0';
	return etw_return_sized_narrow(name.nodename, lpBuffer, nSize, ERROR_MORE_DATA, FALSE);
}

BOOL GetComputerNameExW(COMPUTER_NAME_FORMAT NameType, LPWSTR lpBuffer, LPDWORD nSize)
{
	struct utsname name;

	(void)uname(&name);
	if (NameType == ComputerNameDnsDomain || NameType == ComputerNamePhysicalDnsDomain)
		name.nodename[0] = '\0';
	return etw_return_sized_wide(name.nodename, lpBuffer, nSize, ERROR_MORE_DATA, FALSE);
}

/* The user's name, or the number of one that has no name. */
static void user_name(char to[256])
{
	struct passwd entry, *found = NULL;
	char room[4096];

	(void)snprintf(to, 256, "%u", (unsigned)geteuid());
	if (!getpwuid_r(geteuid(), &entry, room, sizeof(room), &found) && found)
		(void)snprintf(to, 256, "%s", found->pw_name);
}

BOOL GetUserNameA(LPSTR lpBuffer, LPDWORD pcbBuffer)
{
	char name[256];

	user_name(name);
	return etw_return_sized_narrow(name, lpBuffer, pcbBuffer, ERROR_INSUFFICIENT_BUFFER, TRUE);
}

BOOL GetUserNameW(LPWSTR lpBuffer, LPDWORD pcbBuffer)
{
	char name[256];

	user_name(name);
	return etw_return_sized_wide(name, lpBuffer, pcbBuffer, ERROR_INSUFFICIENT_BUFFER, TRUE);
}

UINT GetSystemDirectoryA(LPSTR lpBuffer, UINT uSize)
{
	return etw_return_narrow("/usr/lib", lpBuffer, uSize, ETW_SIZE_WITHOUT_NUL);
}

UINT GetSystemDirectoryW(LPWSTR lpBuffer, UINT uSize)
{
	return etw_return_wide("/usr/lib", lpBuffer, uSize, ETW_SIZE_WITHOUT_NUL);
}

UINT GetWindowsDirectoryA(LPSTR lpBuffer, UINT uSize)
{
	return etw_return_narrow("/usr", lpBuffer, uSize, ETW_SIZE_WITHOUT_NUL);
}

UINT GetWindowsDirectoryW(LPWSTR lpBuffer, UINT uSize)
{
	return etw_return_wide("/usr", lpBuffer, uSize, ETW_SIZE_WITHOUT_NUL);
}

/* --- Debuggers and errors. */
BOOL IsDebuggerPresent(void)
{
	size_t bytes;
	char *status = etw_proc_read("/proc/self/status", &bytes);
	const char *tracer = status ? strstr(status, "TracerPid:") : NULL;
	const BOOL is_traced = tracer && strtol(tracer + 10, NULL, 10) != 0;

	free(status);
	return is_traced;
}

void DebugBreak(void)
{
	__builtin_trap();
}

/* Linux has no reader of these texts. */
void OutputDebugStringA(LPCSTR lpOutputString)
{
	(void)lpOutputString;
}

void OutputDebugStringW(LPCWSTR lpOutputString)
{
	(void)lpOutputString;
}

static UINT error_mode;

UINT SetErrorMode(UINT uMode)
{
	return __atomic_exchange_n(&error_mode, uMode, __ATOMIC_ACQ_REL);
}

UINT GetErrorMode(void)
{
	return __atomic_load_n(&error_mode, __ATOMIC_ACQUIRE);
}
