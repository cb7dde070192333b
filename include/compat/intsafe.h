/* SPDX-License-Identifier: MIT */
/* Limits of the integer types, and arithmetic that fails instead of wrapping round. */
#ifndef ETW_COMPAT_INTSAFE_H
#define ETW_COMPAT_INTSAFE_H

#include <limits.h>

#include <basetsd.h>
#include <winerror.h>

#define INTSAFE_E_ARITHMETIC_OVERFLOW ((HRESULT)0x80070216)

#undef USHORT_MAX
#define SHORT_MAX     32767
#define USHORT_MAX    0xffff
#define BYTE_MAX      0xff
#define WORD_MAX      USHORT_MAX
#define DWORD_MAX     0xffffffffU
#define LONGLONG_MAX  9223372036854775807LL
#define ULONGLONG_MAX 0xffffffffffffffffULL
#define INT_PTR_MAX   LONGLONG_MAX
#define UINT_PTR_MAX  ULONGLONG_MAX
#define SIZE_T_MAX    ULONGLONG_MAX

#define ETW_COMPAT_SAFE(name, op, from, to)                                   \
	ETW_STATIC_INLINE HRESULT name(from left, from right, to *ret)        \
	{                                                                     \
		if (!__builtin_##op##_overflow(left, right, ret))             \
			return S_OK;                                          \
		*ret = (to)-1;                                                \
		return INTSAFE_E_ARITHMETIC_OVERFLOW;                         \
	}
#define ETW_COMPAT_SAFE_CONVERT(name, from, to)                               \
	ETW_STATIC_INLINE HRESULT name(from value, to *ret)                   \
	{                                                                     \
		if (!__builtin_add_overflow(value, (from)0, ret))             \
			return S_OK;                                          \
		*ret = (to)-1;                                                \
		return INTSAFE_E_ARITHMETIC_OVERFLOW;                         \
	}
#define ETW_COMPAT_SAFE_ALL(type, name)                                       \
	ETW_COMPAT_SAFE(name##Add, add, type, type)                           \
	ETW_COMPAT_SAFE(name##Sub, sub, type, type)                           \
	ETW_COMPAT_SAFE(name##Mult, mul, type, type)

ETW_COMPAT_SAFE_ALL(USHORT, UShort)
ETW_COMPAT_SAFE_ALL(WORD, Word)
ETW_COMPAT_SAFE_ALL(UINT, UInt)
ETW_COMPAT_SAFE_ALL(ULONG, ULong)
ETW_COMPAT_SAFE_ALL(DWORD, DWord)
ETW_COMPAT_SAFE_ALL(ULONGLONG, ULongLong)
ETW_COMPAT_SAFE_ALL(SIZE_T, SizeT)
ETW_COMPAT_SAFE_ALL(INT, Int)
ETW_COMPAT_SAFE_ALL(LONG, Long)
ETW_COMPAT_SAFE_ALL(LONGLONG, LongLong)
ETW_COMPAT_SAFE_CONVERT(SizeTToULong, SIZE_T, ULONG)
ETW_COMPAT_SAFE_CONVERT(SizeTToDWord, SIZE_T, DWORD)
ETW_COMPAT_SAFE_CONVERT(SizeTToUInt, SIZE_T, UINT)
ETW_COMPAT_SAFE_CONVERT(SizeTToInt, SIZE_T, INT)
ETW_COMPAT_SAFE_CONVERT(SizeTToUShort, SIZE_T, USHORT)
ETW_COMPAT_SAFE_CONVERT(ULongToUShort, ULONG, USHORT)
ETW_COMPAT_SAFE_CONVERT(ULongToInt, ULONG, INT)
ETW_COMPAT_SAFE_CONVERT(ULongToLong, ULONG, LONG)
ETW_COMPAT_SAFE_CONVERT(DWordToInt, DWORD, INT)
ETW_COMPAT_SAFE_CONVERT(UIntToInt, UINT, INT)
ETW_COMPAT_SAFE_CONVERT(UIntToUShort, UINT, USHORT)
ETW_COMPAT_SAFE_CONVERT(IntToUInt, INT, UINT)
ETW_COMPAT_SAFE_CONVERT(IntToUShort, INT, USHORT)
ETW_COMPAT_SAFE_CONVERT(IntToULong, INT, ULONG)
ETW_COMPAT_SAFE_CONVERT(IntToDWord, INT, DWORD)
ETW_COMPAT_SAFE_CONVERT(LongToULong, LONG, ULONG)
ETW_COMPAT_SAFE_CONVERT(ULongLongToULong, ULONGLONG, ULONG)
ETW_COMPAT_SAFE_CONVERT(ULongLongToDWord, ULONGLONG, DWORD)
ETW_COMPAT_SAFE_CONVERT(ULongLongToLongLong, ULONGLONG, LONGLONG)
ETW_COMPAT_SAFE_CONVERT(ULongLongToSizeT, ULONGLONG, SIZE_T)
#endif
