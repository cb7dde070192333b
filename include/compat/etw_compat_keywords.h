/* SPDX-License-Identifier: MIT */
/*
 * Microsoft's words beside standard C: integer types, calling conventions and __declspec.
 *
 * Where the compiler knows a word itself (clang with -fms-extensions), it stays the compiler's. There is one calling
 * convention, so that those words say nothing.
 */
#ifndef ETW_COMPAT_KEYWORDS_H
#define ETW_COMPAT_KEYWORDS_H

#if defined(__is_identifier)
#define ETW_IS_WORD_FREE(word) __is_identifier(word)
#else
#define ETW_IS_WORD_FREE(word) 1
#endif

#ifndef __int64
#if ETW_IS_WORD_FREE(__int64)
#define __int8 char
#define __int16 short
#define __int32 int
#define __int64 long long
#endif
#endif

#undef __cdecl
#undef __stdcall
#undef __fastcall
#undef __thiscall
#undef __vectorcall
#undef __clrcall
#undef _cdecl
#undef _stdcall
#undef __pascal
#define __cdecl
#define __stdcall
#define __fastcall
#define __thiscall
#define __vectorcall
#define __clrcall
#define _cdecl
#define _stdcall
#define __pascal

#undef __forceinline
#define __forceinline inline __attribute__((__always_inline__))

#ifndef __ptr64
#define __ptr64
#define __ptr32
#define __sptr
#define __uptr
#endif
#ifndef __unaligned
#if ETW_IS_WORD_FREE(__unaligned)
#define __unaligned
#endif
#endif
#ifndef __w64
#define __w64
#endif
#define __assume(condition)                                 \
	do {                                                \
		if (!(condition))                           \
			__builtin_unreachable();            \
	} while (0)
#define __noop(...)     ((void)0)
#define __alignof(type) __alignof__(type)

/*
 * ETW_NOT_HERE(sentence) - for functions that cannot be had on Linux: a program that uses one does not compile, and the
 * sentence says what to use instead.
 */
#if defined(__has_attribute)
#if __has_attribute(__unavailable__)
#define ETW_NOT_HERE(sentence) __attribute__((__unavailable__(sentence)))
#endif
#endif
#ifndef ETW_NOT_HERE
#define ETW_NOT_HERE(sentence) __attribute__((__error__(sentence)))
#endif

#if ETW_IS_WORD_FREE(__declspec)
#undef __declspec
#define __declspec(what)          ETW_DECLSPEC_##what
#define ETW_DECLSPEC_align(bytes) __attribute__((__aligned__(bytes)))
#define ETW_DECLSPEC_allocate(section)
#define ETW_DECLSPEC_allocator
#define ETW_DECLSPEC_code_seg(section)
#define ETW_DECLSPEC_deprecated __attribute__((__deprecated__))
#define ETW_DECLSPEC_dllexport  __attribute__((__visibility__("default")))
#define ETW_DECLSPEC_dllimport
#define ETW_DECLSPEC_empty_bases
#define ETW_DECLSPEC_guard(what)
#define ETW_DECLSPEC_noalias
#define ETW_DECLSPEC_noinline __attribute__((__noinline__))
#define ETW_DECLSPEC_noreturn __attribute__((__noreturn__))
#define ETW_DECLSPEC_nothrow  __attribute__((__nothrow__))
#define ETW_DECLSPEC_novtable
#define ETW_DECLSPEC_restrict
#define ETW_DECLSPEC_safebuffers
#define ETW_DECLSPEC_selectany __attribute__((__weak__))
#define ETW_DECLSPEC_spectre(what)
#define ETW_DECLSPEC_thread __thread
#define ETW_DECLSPEC_uuid(text)
#define ETW_DECLSPEC_naked \
	_Pragma("GCC error \"naked functions hold machine code of Windows; write the function in C\"")
#define ETW_DECLSPEC_property(accessors) \
	_Pragma("GCC error \"properties are known to clang with -fms-extensions alone; call the accessors\"")
#endif

#define DECLSPEC_ALIGN(bytes)    __attribute__((__aligned__(bytes)))
#define DECLSPEC_CACHEALIGN      DECLSPEC_ALIGN(64)
#define DECLSPEC_NOINLINE        __attribute__((__noinline__))
#define DECLSPEC_NORETURN        __attribute__((__noreturn__))
#define DECLSPEC_NOTHROW         __attribute__((__nothrow__))
#define DECLSPEC_SELECTANY       __attribute__((__weak__))
#define DECLSPEC_DEPRECATED      __attribute__((__deprecated__))
#define DECLSPEC_EXPORT          __attribute__((__visibility__("default")))
#define DECLSPEC_ALLOCATOR
#define DECLSPEC_IMPORT
#define DECLSPEC_NOVTABLE
#ifndef DECLSPEC_UUID
#define DECLSPEC_UUID(text) __declspec(uuid(text))
#endif
#define MIDL_INTERFACE(text) struct DECLSPEC_UUID(text) DECLSPEC_NOVTABLE
#define FORCEINLINE          __forceinline
#define CFORCEINLINE         FORCEINLINE

#endif
