/* SPDX-License-Identifier: MIT */
/*
 * libstdc++'s configuration, without the templates that libstdc++.so holds ready: those for wchar_t are
 * of four bytes there. The program makes its own instead, of two bytes.
 */
#include_next <bits/c++config.h>

#ifndef ETW_COMPAT_BITS_CXXCONFIG_H
#define ETW_COMPAT_BITS_CXXCONFIG_H

#if defined(__SIZEOF_WCHAR_T__) && __SIZEOF_WCHAR_T__ == 2
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

#endif
