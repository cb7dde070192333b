/* SPDX-License-Identifier: MIT */
/* Languages and locales by number. */
#ifndef ETW_COMPAT_WINNT_LANGUAGES_H
#define ETW_COMPAT_WINNT_LANGUAGES_H

#include <minwindef.h>

#define MAKELANGID(primary, sub) ((((WORD)(sub)) << 10) | (WORD)(primary))
#define PRIMARYLANGID(language)  ((WORD)(language)&0x3ff)
#define SUBLANGID(language)      ((WORD)(language) >> 10)
#define MAKELCID(language, sort) ((DWORD)((((DWORD)((WORD)(sort))) << 16) | ((DWORD)((WORD)(language)))))
#define LANGIDFROMLCID(locale)   ((WORD)(locale))
#define SORTIDFROMLCID(locale)   ((WORD)((((DWORD)(locale)) >> 16) & 0xf))

#define LANG_NEUTRAL    0x00
#define LANG_INVARIANT  0x7f
#define LANG_CHINESE    0x04
#define LANG_GERMAN     0x07
#define LANG_ENGLISH    0x09
#define LANG_SPANISH    0x0a
#define LANG_FRENCH     0x0c
#define LANG_ITALIAN    0x10
#define LANG_JAPANESE   0x11
#define LANG_KOREAN     0x12
#define LANG_PORTUGUESE 0x16
#define LANG_RUSSIAN    0x19

#define SUBLANG_NEUTRAL     0x00
#define SUBLANG_DEFAULT     0x01
#define SUBLANG_SYS_DEFAULT 0x02
#define SUBLANG_ENGLISH_US  0x01
#define SUBLANG_ENGLISH_UK  0x02
#define SUBLANG_GERMAN      0x01

#define SORT_DEFAULT          0x0
#define LANG_SYSTEM_DEFAULT   MAKELANGID(LANG_NEUTRAL, SUBLANG_SYS_DEFAULT)
#define LANG_USER_DEFAULT     MAKELANGID(LANG_NEUTRAL, SUBLANG_DEFAULT)
#define LOCALE_SYSTEM_DEFAULT MAKELCID(LANG_SYSTEM_DEFAULT, SORT_DEFAULT)
#define LOCALE_USER_DEFAULT   MAKELCID(LANG_USER_DEFAULT, SORT_DEFAULT)
#define LOCALE_NEUTRAL        MAKELCID(MAKELANGID(LANG_NEUTRAL, SUBLANG_NEUTRAL), SORT_DEFAULT)
#define LOCALE_INVARIANT      MAKELCID(MAKELANGID(LANG_INVARIANT, SUBLANG_NEUTRAL), SORT_DEFAULT)
#define LOCALE_NAME_MAX_LENGTH 85

#endif
