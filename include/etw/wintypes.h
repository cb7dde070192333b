/* SPDX-License-Identifier: MIT */
/*
 * The Windows types that the tracing headers are written in.
 *
 * ULONG, DWORD and LONG are 32-bit, never C long. WCHAR is one 16-bit UTF-16 unit:
 * wchar_t where the program is built with -fshort-wchar, char16_t otherwise.
 */
#ifndef ETW_WINTYPES_H
#define ETW_WINTYPES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ETW_EXTERN_C_BEGIN extern "C" {
#define ETW_EXTERN_C_END }
#ifndef EXTERN_C
#define EXTERN_C extern "C"
#endif
#else
#define ETW_EXTERN_C_BEGIN
#define ETW_EXTERN_C_END
#ifndef EXTERN_C
#define EXTERN_C extern
#endif
#endif

/* Functions of libetw carry default visibility whatever the including program is built with. */
#define ETW_API __attribute__((__visibility__("default")))
#define ETW_STATIC_INLINE static inline __attribute__((__unused__))

/* --- Calling conventions: one only on Linux. */
#ifndef WINAPI
#define WINAPI
#endif
#ifndef WINAPIV
#define WINAPIV
#endif
#ifndef CALLBACK
#define CALLBACK
#endif
#ifndef APIENTRY
#define APIENTRY
#endif
#ifndef NTAPI
#define NTAPI
#endif
#ifndef STDMETHODCALLTYPE
#define STDMETHODCALLTYPE
#endif
#ifndef STDMETHODVCALLTYPE
#define STDMETHODVCALLTYPE
#endif

#include <etw/sal2.h>

/* --- Integers. */
#ifndef VOID
#define VOID void
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef MAX_PATH
#define MAX_PATH 260
#endif
#ifndef ANYSIZE_ARRAY
#define ANYSIZE_ARRAY 1
#endif

typedef char CHAR;
typedef signed char INT8, *PINT8;
typedef unsigned char BYTE, UCHAR, BOOLEAN, UINT8;
typedef int16_t SHORT, INT16;
typedef uint16_t WORD, USHORT, UINT16;
typedef int INT, BOOL;
typedef unsigned int UINT;
typedef int32_t LONG, INT32, LONG32;
typedef uint32_t DWORD, ULONG, UINT32, ULONG32, DWORD32;
__extension__ typedef long long LONGLONG, INT64, LONG64;
__extension__ typedef unsigned long long ULONGLONG, DWORDLONG, UINT64, ULONG64, DWORD64;
typedef float FLOAT;
typedef double DOUBLE;
typedef intptr_t INT_PTR, LONG_PTR;
typedef uintptr_t UINT_PTR, ULONG_PTR, DWORD_PTR;
typedef size_t SIZE_T;
typedef ptrdiff_t SSIZE_T;
typedef LONG HRESULT, NTSTATUS;
typedef WORD ATOM, LANGID;
typedef DWORD LCID, ACCESS_MASK, SECURITY_INFORMATION;

typedef BYTE *PBYTE, *LPBYTE;
typedef UCHAR *PUCHAR;
typedef BOOLEAN *PBOOLEAN;
typedef SHORT *PSHORT;
typedef USHORT *PUSHORT;
typedef UINT16 *PUINT16;
typedef WORD *PWORD, *LPWORD;
typedef INT *PINT, *LPINT;
typedef BOOL *PBOOL, *LPBOOL;
typedef UINT *PUINT;
typedef LONG *PLONG, *LPLONG;
typedef ULONG *PULONG;
typedef DWORD *PDWORD, *LPDWORD;
typedef LONGLONG *PLONGLONG;
typedef ULONGLONG *PULONGLONG;
typedef ULONG64 *PULONG64;
typedef DWORD64 *PDWORD64;
typedef ULONG_PTR *PULONG_PTR;
typedef DWORD_PTR *PDWORD_PTR;
typedef SIZE_T *PSIZE_T;
typedef void *PVOID, *LPVOID;
typedef const void *PCVOID, *LPCVOID;

/* --- Characters. */
#if defined(__SIZEOF_WCHAR_T__) && __SIZEOF_WCHAR_T__ == 2
#define ETW_WCHAR_IS_WCHAR_T 1
#define ETW_WIDE_(text) L##text
typedef wchar_t WCHAR;
#else
#define ETW_WCHAR_IS_WCHAR_T 0
#define ETW_WIDE_(text) u##text
#ifdef __cplusplus
typedef char16_t WCHAR;
#else
typedef __CHAR16_TYPE__ WCHAR;
#endif
#endif
/* A literal of WCHARs: what L"..." is on Windows. */
#define ETW_WIDE(text) ETW_WIDE_(text)

typedef CHAR *PCHAR, *LPCH, *PCH;
typedef CHAR *NPSTR, *LPSTR, *PSTR;
typedef const CHAR *LPCSTR, *PCSTR, *LPCCH, *PCCH;
typedef WCHAR *PWCHAR, *LPWCH, *PWCH;
typedef WCHAR *NWPSTR, *LPWSTR, *PWSTR;
typedef const WCHAR *LPCWSTR, *PCWSTR, *LPCWCH, *PCWCH;
typedef WCHAR *BSTR;

#ifdef UNICODE
typedef WCHAR TCHAR, *PTCHAR;
typedef LPWSTR LPTSTR, PTSTR;
typedef LPCWSTR LPCTSTR, PCTSTR;
#ifndef __TEXT
#define __TEXT(quote) ETW_WIDE_(quote)
#endif
#else
typedef CHAR TCHAR, *PTCHAR;
typedef LPSTR LPTSTR, PTSTR;
typedef LPCSTR LPCTSTR, PCTSTR;
#ifndef __TEXT
#define __TEXT(quote) quote
#endif
#endif
#ifndef TEXT
#define TEXT(quote) __TEXT(quote)
#endif

/* --- Handles. */
typedef void *HANDLE;
typedef HANDLE *PHANDLE, *LPHANDLE;
typedef HANDLE HMODULE, HINSTANCE;
#ifndef INVALID_HANDLE_VALUE
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#endif

/* --- Numbers in two halves, and times. */
typedef union _LARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		LONG HighPart;
	};
	struct {
		DWORD LowPart;
		LONG HighPart;
	} u;
	LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
	__extension__ struct {
		DWORD LowPart;
		DWORD HighPart;
	};
	struct {
		DWORD LowPart;
		DWORD HighPart;
	} u;
	ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef struct _FILETIME {
	DWORD dwLowDateTime;
	DWORD dwHighDateTime;
} FILETIME, *PFILETIME, *LPFILETIME;

typedef struct _SYSTEMTIME {
	WORD wYear;
	WORD wMonth;
	WORD wDayOfWeek;
	WORD wDay;
	WORD wHour;
	WORD wMinute;
	WORD wSecond;
	WORD wMilliseconds;
} SYSTEMTIME, *PSYSTEMTIME, *LPSYSTEMTIME;

typedef struct _TIME_ZONE_INFORMATION {
	LONG Bias;
	WCHAR StandardName[32];
	SYSTEMTIME StandardDate;
	LONG StandardBias;
	WCHAR DaylightName[32];
	SYSTEMTIME DaylightDate;
	LONG DaylightBias;
} TIME_ZONE_INFORMATION, *PTIME_ZONE_INFORMATION, *LPTIME_ZONE_INFORMATION;

/* --- Security: addressed only, never looked into. */
typedef PVOID PSID;
typedef PVOID PSECURITY_DESCRIPTOR;

#endif /* ETW_WINTYPES_H */
