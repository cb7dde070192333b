/* SPDX-License-Identifier: MIT */
/* Files and folders. Paths are Windows' or Linux', as everywhere in this library (docs/design, "Paths"). */
#ifndef ETW_COMPAT_FILEAPI_H
#define ETW_COMPAT_FILEAPI_H

#include <minwinbase.h>

#define CREATE_NEW              1
#define CREATE_ALWAYS           2
#define OPEN_EXISTING           3
#define OPEN_ALWAYS             4
#define TRUNCATE_EXISTING       5
#define FILE_BEGIN              0
#define FILE_CURRENT            1
#define FILE_END                2
#define INVALID_FILE_SIZE       ((DWORD)0xFFFFFFFF)
#define INVALID_SET_FILE_POINTER ((DWORD)-1)
#define INVALID_FILE_ATTRIBUTES ((DWORD)-1)
#define FILE_TYPE_UNKNOWN       0x0000
#define FILE_TYPE_DISK          0x0001
#define FILE_TYPE_CHAR          0x0002
#define FILE_TYPE_PIPE          0x0003
#define FILE_FLAG_WRITE_THROUGH       0x80000000U
#define FILE_FLAG_OVERLAPPED          0x40000000
#define FILE_FLAG_NO_BUFFERING        0x20000000
#define FILE_FLAG_RANDOM_ACCESS       0x10000000
#define FILE_FLAG_SEQUENTIAL_SCAN     0x08000000
#define FILE_FLAG_DELETE_ON_CLOSE     0x04000000
#define FILE_FLAG_BACKUP_SEMANTICS    0x02000000
#define FILE_FLAG_OPEN_REPARSE_POINT  0x00200000
#define MOVEFILE_REPLACE_EXISTING     0x00000001
#define MOVEFILE_COPY_ALLOWED         0x00000002
#define MOVEFILE_WRITE_THROUGH        0x00000008

typedef struct _FILE_END_OF_FILE_INFO {
	LARGE_INTEGER EndOfFile;
} FILE_END_OF_FILE_INFO, *PFILE_END_OF_FILE_INFO;
typedef struct _FILE_STANDARD_INFO {
	LARGE_INTEGER AllocationSize;
	LARGE_INTEGER EndOfFile;
	DWORD NumberOfLinks;
	BOOLEAN DeletePending;
	BOOLEAN Directory;
} FILE_STANDARD_INFO, *PFILE_STANDARD_INFO;
typedef struct _WIN32_FILE_ATTRIBUTE_DATA {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime;
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
} WIN32_FILE_ATTRIBUTE_DATA, *LPWIN32_FILE_ATTRIBUTE_DATA;

ETW_EXTERN_C_BEGIN
HANDLE WINAPI CreateFileA(LPCSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
			  LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
			  DWORD dwFlagsAndAttributes, HANDLE hTemplateFile);
HANDLE WINAPI CreateFileW(LPCWSTR lpFileName, DWORD dwDesiredAccess, DWORD dwShareMode,
			  LPSECURITY_ATTRIBUTES lpSecurityAttributes, DWORD dwCreationDisposition,
			  DWORD dwFlagsAndAttributes, HANDLE hTemplateFile);
BOOL WINAPI ReadFile(HANDLE hFile, LPVOID lpBuffer, DWORD nNumberOfBytesToRead,
		     LPDWORD lpNumberOfBytesRead, LPOVERLAPPED lpOverlapped);
BOOL WINAPI WriteFile(HANDLE hFile, LPCVOID lpBuffer, DWORD nNumberOfBytesToWrite,
		      LPDWORD lpNumberOfBytesWritten, LPOVERLAPPED lpOverlapped);
BOOL WINAPI FlushFileBuffers(HANDLE hFile);
DWORD WINAPI GetFileSize(HANDLE hFile, LPDWORD lpFileSizeHigh);
BOOL WINAPI GetFileSizeEx(HANDLE hFile, PLARGE_INTEGER lpFileSize);
DWORD WINAPI SetFilePointer(HANDLE hFile, LONG lDistanceToMove, PLONG lpDistanceToMoveHigh,
			    DWORD dwMoveMethod);
BOOL WINAPI SetFilePointerEx(HANDLE hFile, LARGE_INTEGER liDistanceToMove,
			     PLARGE_INTEGER lpNewFilePointer, DWORD dwMoveMethod);
BOOL WINAPI SetEndOfFile(HANDLE hFile);
DWORD WINAPI GetFileType(HANDLE hFile);
BOOL WINAPI GetFileTime(HANDLE hFile, LPFILETIME lpCreationTime, LPFILETIME lpLastAccessTime,
			LPFILETIME lpLastWriteTime);
BOOL WINAPI GetFileInformationByHandle(HANDLE hFile,
				       LPBY_HANDLE_FILE_INFORMATION lpFileInformation);
BOOL WINAPI SetFileInformationByHandle(HANDLE hFile, FILE_INFO_BY_HANDLE_CLASS FileInformationClass,
				       LPVOID lpFileInformation, DWORD dwBufferSize);
BOOL WINAPI GetFileInformationByHandleEx(HANDLE hFile,
					 FILE_INFO_BY_HANDLE_CLASS FileInformationClass,
					 LPVOID lpFileInformation, DWORD dwBufferSize);

BOOL WINAPI DeleteFileA(LPCSTR lpFileName);
BOOL WINAPI DeleteFileW(LPCWSTR lpFileName);
BOOL WINAPI CreateDirectoryA(LPCSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes);
BOOL WINAPI CreateDirectoryW(LPCWSTR lpPathName, LPSECURITY_ATTRIBUTES lpSecurityAttributes);
BOOL WINAPI RemoveDirectoryA(LPCSTR lpPathName);
BOOL WINAPI RemoveDirectoryW(LPCWSTR lpPathName);
DWORD WINAPI GetFileAttributesA(LPCSTR lpFileName);
DWORD WINAPI GetFileAttributesW(LPCWSTR lpFileName);
BOOL WINAPI GetFileAttributesExA(LPCSTR lpFileName, GET_FILEEX_INFO_LEVELS fInfoLevelId,
				 LPVOID lpFileInformation);
BOOL WINAPI GetFileAttributesExW(LPCWSTR lpFileName, GET_FILEEX_INFO_LEVELS fInfoLevelId,
				 LPVOID lpFileInformation);
BOOL WINAPI CopyFileA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName, BOOL bFailIfExists);
BOOL WINAPI CopyFileW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName, BOOL bFailIfExists);
BOOL WINAPI MoveFileA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName);
BOOL WINAPI MoveFileW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName);
BOOL WINAPI MoveFileExA(LPCSTR lpExistingFileName, LPCSTR lpNewFileName, DWORD dwFlags);
BOOL WINAPI MoveFileExW(LPCWSTR lpExistingFileName, LPCWSTR lpNewFileName, DWORD dwFlags);
HANDLE WINAPI FindFirstFileA(LPCSTR lpFileName, LPWIN32_FIND_DATAA lpFindFileData);
HANDLE WINAPI FindFirstFileW(LPCWSTR lpFileName, LPWIN32_FIND_DATAW lpFindFileData);
BOOL WINAPI FindNextFileA(HANDLE hFindFile, LPWIN32_FIND_DATAA lpFindFileData);
BOOL WINAPI FindNextFileW(HANDLE hFindFile, LPWIN32_FIND_DATAW lpFindFileData);
BOOL WINAPI FindClose(HANDLE hFindFile);
DWORD WINAPI GetFullPathNameA(LPCSTR lpFileName, DWORD nBufferLength, LPSTR lpBuffer,
			      LPSTR *lpFilePart);
DWORD WINAPI GetFullPathNameW(LPCWSTR lpFileName, DWORD nBufferLength, LPWSTR lpBuffer,
			      LPWSTR *lpFilePart);
DWORD WINAPI GetTempPathA(DWORD nBufferLength, LPSTR lpBuffer);
DWORD WINAPI GetTempPathW(DWORD nBufferLength, LPWSTR lpBuffer);
UINT WINAPI GetTempFileNameA(LPCSTR lpPathName, LPCSTR lpPrefixString, UINT uUnique,
			     LPSTR lpTempFileName);
UINT WINAPI GetTempFileNameW(LPCWSTR lpPathName, LPCWSTR lpPrefixString, UINT uUnique,
			     LPWSTR lpTempFileName);
BOOL WINAPI LockFile(HANDLE hFile, DWORD dwFileOffsetLow, DWORD dwFileOffsetHigh,
		     DWORD nNumberOfBytesToLockLow, DWORD nNumberOfBytesToLockHigh)
	ETW_NOT_HERE("LockFile: locks of Linux are advice to other programs; use fcntl(F_OFD_SETLK)");
BOOL WINAPI SetFileAttributesW(LPCWSTR lpFileName, DWORD dwFileAttributes)
	ETW_NOT_HERE("SetFileAttributes: files of Linux have modes; use chmod()");
ETW_EXTERN_C_END

#define CreateFile          ETW_AW(CreateFile)
#define DeleteFile          ETW_AW(DeleteFile)
#define CreateDirectory     ETW_AW(CreateDirectory)
#define RemoveDirectory     ETW_AW(RemoveDirectory)
#define GetFileAttributes   ETW_AW(GetFileAttributes)
#define GetFileAttributesEx ETW_AW(GetFileAttributesEx)
#define CopyFile            ETW_AW(CopyFile)
#define MoveFile            ETW_AW(MoveFile)
#define MoveFileEx          ETW_AW(MoveFileEx)
#define FindFirstFile       ETW_AW(FindFirstFile)
#define FindNextFile        ETW_AW(FindNextFile)
#define GetFullPathName     ETW_AW(GetFullPathName)
#define GetTempPath         ETW_AW(GetTempPath)
#define GetTempFileName     ETW_AW(GetTempFileName)
#define SetFileAttributes   SetFileAttributesW
#endif
