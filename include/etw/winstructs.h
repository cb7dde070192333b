/* SPDX-License-Identifier: MIT */
/*
 * Structures of Windows that ETW programs touch but no tracing function takes. Layouts only: the
 * functions around them belong to the porting layer. abi/layout.csv holds every size.
 */
#ifndef ETW_WINSTRUCTS_H
#define ETW_WINSTRUCTS_H

#include <etw/winsecurity.h>
#include <etw/wintypes.h>
#include <guiddef.h>

/* --- Security. */
typedef struct _LUID {
	DWORD LowPart;
	LONG HighPart;
} LUID, *PLUID;

typedef struct _LUID_AND_ATTRIBUTES {
	LUID Luid;
	DWORD Attributes;
} LUID_AND_ATTRIBUTES, *PLUID_AND_ATTRIBUTES;

typedef struct _TOKEN_PRIVILEGES {
	DWORD PrivilegeCount;
	LUID_AND_ATTRIBUTES Privileges[ANYSIZE_ARRAY];
} TOKEN_PRIVILEGES, *PTOKEN_PRIVILEGES;

typedef struct _SECURITY_ATTRIBUTES {
	DWORD nLength;
	LPVOID lpSecurityDescriptor;
	BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

/* --- The machine. */
typedef struct _OSVERSIONINFOEXW {
	DWORD dwOSVersionInfoSize;
	DWORD dwMajorVersion;
	DWORD dwMinorVersion;
	DWORD dwBuildNumber;
	DWORD dwPlatformId;
	WCHAR szCSDVersion[128];
	WORD wServicePackMajor;
	WORD wServicePackMinor;
	WORD wSuiteMask;
	BYTE wProductType;
	BYTE wReserved;
} OSVERSIONINFOEXW, *POSVERSIONINFOEXW, *LPOSVERSIONINFOEXW;

typedef struct _SYSTEM_INFO {
	__extension__ union {
		DWORD dwOemId;
		__extension__ struct {
			WORD wProcessorArchitecture;
			WORD wReserved;
		};
	};
	DWORD dwPageSize;
	LPVOID lpMinimumApplicationAddress;
	LPVOID lpMaximumApplicationAddress;
	DWORD_PTR dwActiveProcessorMask;
	DWORD dwNumberOfProcessors;
	DWORD dwProcessorType;
	DWORD dwAllocationGranularity;
	WORD wProcessorLevel;
	WORD wProcessorRevision;
} SYSTEM_INFO, *LPSYSTEM_INFO;

typedef struct _MEMORY_BASIC_INFORMATION {
	PVOID BaseAddress;
	PVOID AllocationBase;
	DWORD AllocationProtect;
	WORD PartitionId;
	SIZE_T RegionSize;
	DWORD State;
	DWORD Protect;
	DWORD Type;
} MEMORY_BASIC_INFORMATION, *PMEMORY_BASIC_INFORMATION;

/* --- Processes, threads, locks. */
typedef struct _CRITICAL_SECTION {
	PVOID DebugInfo;
	LONG LockCount;
	LONG RecursionCount;
	HANDLE OwningThread;
	HANDLE LockSemaphore;
	ULONG_PTR SpinCount;
} CRITICAL_SECTION, *PCRITICAL_SECTION, *LPCRITICAL_SECTION;

typedef struct _SRWLOCK {
	PVOID Ptr;
} SRWLOCK, *PSRWLOCK;

typedef struct _PROCESS_INFORMATION {
	HANDLE hProcess;
	HANDLE hThread;
	DWORD dwProcessId;
	DWORD dwThreadId;
} PROCESS_INFORMATION, *PPROCESS_INFORMATION, *LPPROCESS_INFORMATION;

typedef struct _STARTUPINFOW {
	DWORD cb;
	LPWSTR lpReserved;
	LPWSTR lpDesktop;
	LPWSTR lpTitle;
	DWORD dwX;
	DWORD dwY;
	DWORD dwXSize;
	DWORD dwYSize;
	DWORD dwXCountChars;
	DWORD dwYCountChars;
	DWORD dwFillAttribute;
	DWORD dwFlags;
	WORD wShowWindow;
	WORD cbReserved2;
	LPBYTE lpReserved2;
	HANDLE hStdInput;
	HANDLE hStdOutput;
	HANDLE hStdError;
} STARTUPINFOW, *LPSTARTUPINFOW;

/* --- Files. */
typedef struct _OVERLAPPED {
	ULONG_PTR Internal;
	ULONG_PTR InternalHigh;
	__extension__ union {
		__extension__ struct {
			DWORD Offset;
			DWORD OffsetHigh;
		};
		PVOID Pointer;
	};
	HANDLE hEvent;
} OVERLAPPED, *LPOVERLAPPED;

typedef struct _WIN32_FIND_DATAW {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime;
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
	DWORD dwReserved0;
	DWORD dwReserved1;
	WCHAR cFileName[MAX_PATH];
	WCHAR cAlternateFileName[14];
} WIN32_FIND_DATAW, *PWIN32_FIND_DATAW, *LPWIN32_FIND_DATAW;

typedef struct _BY_HANDLE_FILE_INFORMATION {
	DWORD dwFileAttributes;
	FILETIME ftCreationTime;
	FILETIME ftLastAccessTime;
	FILETIME ftLastWriteTime;
	DWORD dwVolumeSerialNumber;
	DWORD nFileSizeHigh;
	DWORD nFileSizeLow;
	DWORD nNumberOfLinks;
	DWORD nFileIndexHigh;
	DWORD nFileIndexLow;
} BY_HANDLE_FILE_INFORMATION, *PBY_HANDLE_FILE_INFORMATION, *LPBY_HANDLE_FILE_INFORMATION;

/* --- Network. Windows tags it in6_addr, which would collide with <netinet/in.h>. */
typedef struct _IN6_ADDR {
	union {
		UCHAR Byte[16];
		USHORT Word[8];
	} u;
} IN6_ADDR, *PIN6_ADDR, *LPIN6_ADDR;

/* --- Counted text. */
typedef struct _UNICODE_STRING {
	USHORT Length;
	USHORT MaximumLength;
	PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

typedef struct _STRING {
	USHORT Length;
	USHORT MaximumLength;
	PCHAR Buffer;
} STRING, *PSTRING, ANSI_STRING, *PANSI_STRING;
typedef const ANSI_STRING *PCANSI_STRING;

/* --- Event log. */
typedef HANDLE EVT_HANDLE, *PEVT_HANDLE;

typedef struct _EVT_VARIANT {
	__extension__ union {
		BOOL BooleanVal;
		INT8 SByteVal;
		INT16 Int16Val;
		INT32 Int32Val;
		INT64 Int64Val;
		UINT8 ByteVal;
		UINT16 UInt16Val;
		UINT32 UInt32Val;
		UINT64 UInt64Val;
		float SingleVal;
		double DoubleVal;
		ULONGLONG FileTimeVal;
		SYSTEMTIME *SysTimeVal;
		GUID *GuidVal;
		LPCWSTR StringVal;
		LPCSTR AnsiStringVal;
		PBYTE BinaryVal;
		PSID SidVal;
		size_t SizeTVal;
		BOOL *BooleanArr;
		INT8 *SByteArr;
		INT16 *Int16Arr;
		INT32 *Int32Arr;
		INT64 *Int64Arr;
		UINT8 *ByteArr;
		UINT16 *UInt16Arr;
		UINT32 *UInt32Arr;
		UINT64 *UInt64Arr;
		float *SingleArr;
		double *DoubleArr;
		FILETIME *FileTimeArr;
		SYSTEMTIME *SysTimeArr;
		GUID *GuidArr;
		LPWSTR *StringArr;
		LPSTR *AnsiStringArr;
		PSID *SidArr;
		size_t *SizeTArr;
		EVT_HANDLE EvtHandleVal;
		LPCWSTR XmlVal;
		LPCWSTR *XmlValArr;
	};
	DWORD Count;
	DWORD Type;
} EVT_VARIANT, *PEVT_VARIANT;

#endif /* ETW_WINSTRUCTS_H */
