/* SPDX-License-Identifier: MIT */
/* Macros about memory, structures and arrays. */
#ifndef ETW_COMPAT_WINNT_MACROS_H
#define ETW_COMPAT_WINNT_MACROS_H

#include <stddef.h>
#include <string.h>

#include <minwindef.h>

/* --- Arrays. In C++ a pointer instead of an array does not compile. */
#ifdef __cplusplus
extern "C++" {
template <typename Element, size_t Count>
char (*etw_compat_count(Element (&)[Count]))[Count];
}
#define RTL_NUMBER_OF_V2(array) (sizeof(*etw_compat_count(array)))
#else
#define RTL_NUMBER_OF_V2(array) RTL_NUMBER_OF_V1(array)
#endif
#define RTL_NUMBER_OF_V1(array) (sizeof(array) / sizeof((array)[0]))
#define RTL_NUMBER_OF(array)    RTL_NUMBER_OF_V1(array)
#define ARRAYSIZE(array)        RTL_NUMBER_OF_V2(array)
#define _ARRAYSIZE(array)       RTL_NUMBER_OF_V1(array)
#ifndef _countof
#define _countof(array) RTL_NUMBER_OF_V2(array)
#endif

/* --- Structures. */
#define FIELD_OFFSET(type, field)            ((LONG)(LONG_PTR)offsetof(type, field))
#define UFIELD_OFFSET(type, field)           ((DWORD)offsetof(type, field))
#define RTL_FIELD_SIZE(type, field)          (sizeof(((type *)0)->field))
#define RTL_SIZEOF_THROUGH_FIELD(type, field) (offsetof(type, field) + RTL_FIELD_SIZE(type, field))
#define RTL_CONTAINS_FIELD(object, size, field) \
	((PCHAR)(&(object)->field) + sizeof((object)->field) <= (PCHAR)(object) + (size))
#define RTL_BITS_OF(operand)             (sizeof(operand) * 8)
#define RTL_BITS_OF_FIELD(type, field)   (RTL_BITS_OF(((type *)0)->field))
#define CONTAINING_RECORD(address, type, field) ((type *)((PCHAR)(address)-offsetof(type, field)))
#ifdef __cplusplus
#define TYPE_ALIGNMENT(type) alignof(type)
#define C_ASSERT(condition)  static_assert(condition, #condition)
#else
#define TYPE_ALIGNMENT(type) _Alignof(type)
#define C_ASSERT(condition)  _Static_assert(condition, #condition)
#endif

/* --- Parameters and variables that are not used. */
#define UNREFERENCED_PARAMETER(parameter)    ((void)(parameter))
#define DBG_UNREFERENCED_PARAMETER(parameter) ((void)(parameter))
#define DBG_UNREFERENCED_LOCAL_VARIABLE(name) ((void)(name))

/* --- Memory. */
#define RtlEqualMemory(left, right, bytes)  (!memcmp((left), (right), (bytes)))
#define RtlMoveMemory(to, from, bytes)      memmove((to), (from), (bytes))
#define RtlCopyMemory(to, from, bytes)      memcpy((to), (from), (bytes))
#define RtlFillMemory(to, bytes, value)     memset((to), (value), (bytes))
#define RtlZeroMemory(to, bytes)            memset((to), 0, (bytes))
#define RtlSecureZeroMemory(to, bytes)      etw_compat_wipe((to), (bytes))
#define EqualMemory                         RtlEqualMemory
#define MoveMemory                          RtlMoveMemory
#define CopyMemory                          RtlCopyMemory
#define FillMemory                          RtlFillMemory
#define ZeroMemory                          RtlZeroMemory
#define SecureZeroMemory                    RtlSecureZeroMemory

static inline void *etw_compat_wipe(void *to, size_t bytes)
{
	volatile char *at = (volatile char *)to;

	while (bytes--)
		*at++ = 0;
	return to;
}

/* --- Limits. */
#define MINCHAR   0x80
#define MAXCHAR   0x7f
#define MINSHORT  0x8000
#define MAXSHORT  0x7fff
#define MINLONG   0x80000000
#define MAXLONG   0x7fffffff
#define MAXBYTE   0xff
#define MAXWORD   0xffff
#define MAXDWORD  0xffffffff
#define MAXLONG64 MAXINT64

/* --- Texts of no use, and what stands for nothing. */
#define UNICODE_NULL             ((WCHAR)0)
#define UNICODE_STRING_MAX_BYTES ((WORD)65534)
#define UNICODE_STRING_MAX_CHARS 32767
#define ANSI_NULL                ((CHAR)0)
#define UNALIGNED
#define UNALIGNED64
#define RESTRICTED_POINTER
#define MEMORY_ALLOCATION_ALIGNMENT 16
#define SYSTEM_CACHE_ALIGNMENT_SIZE 64
#define MAXIMUM_WAIT_OBJECTS        64
#define MAXIMUM_SUSPEND_COUNT       MAXCHAR
#define MAXIMUM_PROCESSORS          64
#define APPLICATION_ERROR_MASK      0x20000000
#define ERROR_SEVERITY_SUCCESS      0x00000000
#define ERROR_SEVERITY_INFORMATIONAL 0x40000000
#define ERROR_SEVERITY_WARNING      0x80000000
#define ERROR_SEVERITY_ERROR        0xC0000000
#define NT_SUCCESS(status)          (((NTSTATUS)(status)) >= 0)
#define Int32x32To64(left, right)   ((LONGLONG)(LONG)(left) * (LONGLONG)(LONG)(right))
#define UInt32x32To64(left, right)  ((ULONGLONG)(DWORD)(left) * (ULONGLONG)(DWORD)(right))

#define DEFINE_ENUM_FLAG_OPERATORS(type) ETW_COMPAT_FLAG_OPERATORS(type)
#ifdef __cplusplus
#define ETW_COMPAT_FLAG_OPERATOR(type, op)                                     \
	inline constexpr type operator op(type left, type right)               \
	{                                                                      \
		return type(__underlying_type(type)(left) op __underlying_type(type)(right)); \
	}                                                                      \
	inline type &operator op##=(type &left, type right)                    \
	{                                                                      \
		return left = left op right;                                   \
	}
#define ETW_COMPAT_FLAG_OPERATORS(type)            \
	extern "C++" {                             \
	ETW_COMPAT_FLAG_OPERATOR(type, |)          \
	ETW_COMPAT_FLAG_OPERATOR(type, &)          \
	ETW_COMPAT_FLAG_OPERATOR(type, ^)          \
	inline constexpr type operator~(type value) \
	{                                          \
		return type(~__underlying_type(type)(value)); \
	}                                          \
	}
#else
#define ETW_COMPAT_FLAG_OPERATORS(type)
#endif

typedef struct _LIST_ENTRY {
	struct _LIST_ENTRY *Flink;
	struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
	struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

/* Processors in groups of 64: Linux has one group of all. */
typedef struct _GROUP_AFFINITY {
	KAFFINITY Mask;
	WORD Group;
	WORD Reserved[3];
} GROUP_AFFINITY, *PGROUP_AFFINITY;

typedef struct _PROCESSOR_NUMBER {
	WORD Group;
	BYTE Number;
	BYTE Reserved;
} PROCESSOR_NUMBER, *PPROCESSOR_NUMBER;

#endif
