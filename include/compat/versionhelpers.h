/* SPDX-License-Identifier: MIT */
/* Whether the system is that version of Windows or later. It answers as Windows 10 for workstations does. */
#ifndef ETW_COMPAT_VERSIONHELPERS_H
#define ETW_COMPAT_VERSIONHELPERS_H

#include <winbase.h>

#define ETW_COMPAT_VERSION_HELPER(name, major, minor, pack)                  \
	ETW_STATIC_INLINE BOOL name(VOID)                                    \
	{                                                                    \
		return IsWindowsVersionOrGreater((major), (minor), (pack));  \
	}

ETW_STATIC_INLINE BOOL IsWindowsVersionOrGreater(WORD wMajorVersion, WORD wMinorVersion,
						 WORD wServicePackMajor)
{
	const DWORD types = VER_MAJORVERSION | VER_MINORVERSION | VER_SERVICEPACKMAJOR;
	OSVERSIONINFOEXW wanted;
	DWORDLONG conditions = 0;

	ZeroMemory(&wanted, sizeof(wanted));
	wanted.dwOSVersionInfoSize = sizeof(wanted);
	wanted.dwMajorVersion = wMajorVersion;
	wanted.dwMinorVersion = wMinorVersion;
	wanted.wServicePackMajor = wServicePackMajor;
	VER_SET_CONDITION(conditions, VER_MAJORVERSION, VER_GREATER_EQUAL);
	VER_SET_CONDITION(conditions, VER_MINORVERSION, VER_GREATER_EQUAL);
	VER_SET_CONDITION(conditions, VER_SERVICEPACKMAJOR, VER_GREATER_EQUAL);
	return VerifyVersionInfoW(&wanted, types, conditions) != FALSE;
}

ETW_COMPAT_VERSION_HELPER(IsWindowsXPOrGreater, 5, 1, 0)
ETW_COMPAT_VERSION_HELPER(IsWindowsXPSP1OrGreater, 5, 1, 1)
ETW_COMPAT_VERSION_HELPER(IsWindowsXPSP2OrGreater, 5, 1, 2)
ETW_COMPAT_VERSION_HELPER(IsWindowsXPSP3OrGreater, 5, 1, 3)
ETW_COMPAT_VERSION_HELPER(IsWindowsVistaOrGreater, 6, 0, 0)
ETW_COMPAT_VERSION_HELPER(IsWindowsVistaSP1OrGreater, 6, 0, 1)
ETW_COMPAT_VERSION_HELPER(IsWindowsVistaSP2OrGreater, 6, 0, 2)
ETW_COMPAT_VERSION_HELPER(IsWindows7OrGreater, 6, 1, 0)
ETW_COMPAT_VERSION_HELPER(IsWindows7SP1OrGreater, 6, 1, 1)
ETW_COMPAT_VERSION_HELPER(IsWindows8OrGreater, 6, 2, 0)
ETW_COMPAT_VERSION_HELPER(IsWindows8Point1OrGreater, 6, 3, 0)
ETW_COMPAT_VERSION_HELPER(IsWindowsThresholdOrGreater, 10, 0, 0)
ETW_COMPAT_VERSION_HELPER(IsWindows10OrGreater, 10, 0, 0)

ETW_STATIC_INLINE BOOL IsWindowsServer(VOID)
{
	return FALSE;
}
#endif
