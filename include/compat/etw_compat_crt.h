/* SPDX-License-Identifier: MIT */
/* What the headers of the C run time share: errno_t, _TRUNCATE, and how functions are declared. */
#ifndef ETW_COMPAT_CRT_H
#define ETW_COMPAT_CRT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<etw_compat_keywords.h>)
#include <etw_compat_keywords.h>
#endif
#endif

#if !defined(__SIZEOF_WCHAR_T__) || __SIZEOF_WCHAR_T__ != 2
#error "libetw-compat needs -fshort-wchar; take all flags of pkg-config etw-compat"
#endif

#ifdef __cplusplus
#define ETW_CRT_BEGIN extern "C" {
#define ETW_CRT_END   }
#else
#define ETW_CRT_BEGIN
#define ETW_CRT_END
#endif

#ifndef _ERRNO_T_DEFINED
#define _ERRNO_T_DEFINED
typedef int errno_t;
#endif
#ifndef _TRUNCATE
#define _TRUNCATE ((size_t)-1)
#endif
#define _CRT_SIZE_MAX ((size_t)-1)
#define _NLSCMPERROR  0x7FFFFFFF
#ifndef STRUNCATE
#define STRUNCATE 80
#endif

#ifndef _countof
#ifdef __cplusplus
extern "C++" template <typename T, size_t N> char (*etw_compat_countof(T (&array)[N]))[N];
#define _countof(array) (sizeof(*etw_compat_countof(array)))
#else
#define _countof(array) (sizeof(array) / sizeof((array)[0]))
#endif
#endif

#ifndef _CRT_STRINGIZE
#define _CRT_STRINGIZE_(text) #text
#define _CRT_STRINGIZE(text)  _CRT_STRINGIZE_(text)
#define _CRT_WIDE_(text)      L##text
#define _CRT_WIDE(text)       _CRT_WIDE_(text)
#endif

#endif
