/* SPDX-License-Identifier: MIT */
/*
 * Included before each source of a Windows program (-include): what Microsoft's compiler does by itself.
 *
 * pkg-config cannot tell C from C++, so whatever differs between them is here and not among the flags.
 */
#ifndef ETW_COMPAT_PREFIX_H
#define ETW_COMPAT_PREFIX_H

#if !defined(__SIZEOF_WCHAR_T__) || __SIZEOF_WCHAR_T__ != 2
#error "libetw-compat needs -fshort-wchar; take all flags of pkg-config etw-compat"
#endif

#if defined(__has_include)
#if __has_include(<etw_compat_keywords.h>)
#include <etw_compat_keywords.h>
#endif
#endif

#ifndef __cplusplus

/* A function that is not declared would give an int, and so cut a pointer in half. */
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
/* void main(void) */
#pragma GCC diagnostic ignored "-Wmain"

/* In C an inline function is defined where it stands, as in gnu89, and no second definition is asked for. */
#if !defined(ETW_COMPAT_STANDARD_INLINE) && !defined(__GNUC_GNU_INLINE__)
#define inline __inline__ __attribute__((__gnu_inline__))
#undef __inline
#define __inline __inline__ __attribute__((__gnu_inline__))
#endif

#elif !defined(ETW_COMPAT_STANDARD_MAIN)

/*
 * void main(): C++ compilers accept int alone. The word before `main` becomes the type of a function that nobody
 * calls, and the program's main() is an int, which is 0 where it does not return one.
 */
#define main                           \
	etw_compat_type_of_main(void); \
	int main

#endif

#endif
