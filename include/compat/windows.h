/* SPDX-License-Identifier: MIT */
/*
 * What Windows programs that trace need of the Windows API. It is in headers by area, as in the SDK; this one includes them
 * all. What Linux cannot do is declared with a sentence that the compiler prints when a program uses it.
 */
#ifndef ETW_COMPAT_WINDOWS_H
#define ETW_COMPAT_WINDOWS_H
#ifndef _WINDOWS_
#define _WINDOWS_
#endif

#include <sdkddkver.h>
#include <winapifamily.h>

#include <windef.h>

#include <winbase.h>
#include <wincon.h>
#include <winnls.h>
#include <winuser.h>

#ifndef WIN32_LEAN_AND_MEAN
#include <shellapi.h>
#include <wincrypt.h>
#endif
#if __has_include(<objbase.h>)
#include <objbase.h>
#endif
#endif
