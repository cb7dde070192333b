/* SPDX-License-Identifier: MIT */
/* Integers as wide as pointers, and conversions between them, handles and pointers. */
#ifndef ETW_COMPAT_BASETSD_H
#define ETW_COMPAT_BASETSD_H

#include <etw/wintypes.h>
#include <etw_compat_keywords.h>

typedef INT16 *PINT16;
typedef INT32 *PINT32;
typedef INT64 *PINT64;
typedef UINT8 *PUINT8;
typedef UINT32 *PUINT32;
typedef UINT64 *PUINT64;
typedef LONG32 *PLONG32;
typedef LONG64 *PLONG64;
typedef ULONG32 *PULONG32;
typedef DWORD32 *PDWORD32;
typedef INT_PTR *PINT_PTR;
typedef UINT_PTR *PUINT_PTR;
typedef LONG_PTR *PLONG_PTR;
typedef SSIZE_T *PSSIZE_T;
typedef ULONG_PTR KAFFINITY, *PKAFFINITY;
typedef int HALF_PTR, *PHALF_PTR;
typedef unsigned int UHALF_PTR, *PUHALF_PTR;
#define POINTER_64
#define POINTER_32
#define POINTER_SIGNED
#define POINTER_UNSIGNED

#define HandleToULong(handle)   ((ULONG)(ULONG_PTR)(handle))
#define HandleToLong(handle)    ((LONG)(LONG_PTR)(handle))
#define HandleToUlong(handle)   HandleToULong(handle)
#define ULongToHandle(number)   ((HANDLE)(ULONG_PTR)(ULONG)(number))
#define UlongToHandle(number)   ULongToHandle(number)
#define LongToHandle(number)    ((HANDLE)(LONG_PTR)(LONG)(number))
#define PtrToUlong(pointer)     ((ULONG)(ULONG_PTR)(pointer))
#define PtrToULong(pointer)     PtrToUlong(pointer)
#define PtrToLong(pointer)      ((LONG)(LONG_PTR)(pointer))
#define PtrToUint(pointer)      ((UINT)(UINT_PTR)(pointer))
#define PtrToInt(pointer)       ((INT)(INT_PTR)(pointer))
#define PtrToUshort(pointer)    ((USHORT)(ULONG_PTR)(pointer))
#define PtrToShort(pointer)     ((SHORT)(LONG_PTR)(pointer))
#define PtrToPtr64(pointer)     ((void *)(pointer))
#define Ptr64ToPtr(pointer)     ((void *)(pointer))
#define ULongToPtr(number)      ((void *)(ULONG_PTR)(ULONG)(number))
#define UlongToPtr(number)      ULongToPtr(number)
#define LongToPtr(number)       ((void *)(LONG_PTR)(LONG)(number))
#define UIntToPtr(number)       ((void *)(UINT_PTR)(UINT)(number))
#define UintToPtr(number)       UIntToPtr(number)
#define IntToPtr(number)        ((void *)(INT_PTR)(INT)(number))

#define MAXUINT8     ((UINT8)~((UINT8)0))
#define MAXINT8      ((INT8)(MAXUINT8 >> 1))
#define MININT8      ((INT8)~MAXINT8)
#define MAXUINT16    ((UINT16)~((UINT16)0))
#define MAXINT16     ((INT16)(MAXUINT16 >> 1))
#define MININT16     ((INT16)~MAXINT16)
#define MAXUINT32    ((UINT32)~((UINT32)0))
#define MAXINT32     ((INT32)(MAXUINT32 >> 1))
#define MININT32     ((INT32)~MAXINT32)
#define MAXUINT64    ((UINT64)~((UINT64)0))
#define MAXINT64     ((INT64)(MAXUINT64 >> 1))
#define MININT64     ((INT64)~MAXINT64)
#define MAXULONG32   ((ULONG32)~((ULONG32)0))
#define MAXULONG64   ((ULONG64)~((ULONG64)0))
#define MAXULONGLONG ((ULONGLONG)~((ULONGLONG)0))
#define MAXLONGLONG  ((LONGLONG)(MAXULONGLONG >> 1))
#define MAXSIZE_T    ((SIZE_T)~((SIZE_T)0))
#define MAXUINT      ((UINT)~((UINT)0))
#define MAXINT       ((INT)(MAXUINT >> 1))
#define MININT       ((INT)~MAXINT)
#define MAXDWORD32   ((DWORD32)~((DWORD32)0))
#define MAXDWORD64   ((DWORD64)~((DWORD64)0))
#define MAXULONG     ((ULONG)~((ULONG)0))
#define MAXUINT_PTR  ((UINT_PTR)~((UINT_PTR)0))
#define MAXULONG_PTR ((ULONG_PTR)~((ULONG_PTR)0))

#endif
