/* SPDX-License-Identifier: MIT */
/* The string functions of <wchar.h> for units of two bytes. */
#ifndef ETW_COMPAT_WIDE_STRING_H
#define ETW_COMPAT_WIDE_STRING_H

#include <wchar.h>

#endif
