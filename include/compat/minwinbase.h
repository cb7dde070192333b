/* SPDX-License-Identifier: MIT */
/* What several of the headers below winbase.h share. */
#ifndef ETW_COMPAT_MINWINBASE_H
#define ETW_COMPAT_MINWINBASE_H

#include <etw/winstructs.h>
#include <minwindef.h>
#include <winnt.h>

#define INFINITE 0xFFFFFFFF

typedef DWORD(WINAPI *PTHREAD_START_ROUTINE)(LPVOID lpThreadParameter);
typedef PTHREAD_START_ROUTINE LPTHREAD_START_ROUTINE;

typedef struct _WIN32_FIND_DATAA {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime;
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
	DWORD dwReserved0;
	DWORD dwReserved1;
	CHAR cFileName[MAX_PATH];
	CHAR cAlternateFileName[14];
} WIN32_FIND_DATAA, *PWIN32_FIND_DATAA, *LPWIN32_FIND_DATAA;

#define WIN32_FIND_DATA   ETW_AW(WIN32_FIND_DATA)
#define PWIN32_FIND_DATA  ETW_AW(PWIN32_FIND_DATA)
#define LPWIN32_FIND_DATA ETW_AW(LPWIN32_FIND_DATA)

typedef enum _FILE_INFO_BY_HANDLE_CLASS {
	FileBasicInfo = 0,
	FileStandardInfo = 1,
	FileNameInfo = 2,
	FileRenameInfo = 3,
	FileDispositionInfo = 4,
	FileAllocationInfo = 5,
	FileEndOfFileInfo = 6
} FILE_INFO_BY_HANDLE_CLASS;

typedef enum _GET_FILEEX_INFO_LEVELS { GetFileExInfoStandard } GET_FILEEX_INFO_LEVELS;
#endif
