/* SPDX-License-Identifier: MIT */
/* The types and macros below all others: words, halves of numbers, min and max, A and W names. */
#ifndef ETW_COMPAT_MINWINDEF_H
#define ETW_COMPAT_MINWINDEF_H

#include <basetsd.h>
#include <winapifamily.h>
#if __has_include(<specstrings.h>)
#include <specstrings.h>
#endif

/*
 * ETW_AW(name) - a function's or structure's name with the W of UNICODE, or the A of programs without.
 */
#ifdef UNICODE
#define ETW_AW(name) name##W
#else
#define ETW_AW(name) name##A
#endif

#ifndef NULL
#define NULL 0
#endif
#ifndef CONST
#define CONST const
#endif
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef OPTIONAL
#define OPTIONAL
#endif
#ifndef FAR
#define FAR
#define far
#define NEAR
#define near
#define PASCAL
#define cdecl
#define CDECL
#define WINAPI_INLINE WINAPI
#define APIPRIVATE
#endif
#ifndef WINBASEAPI
#define WINBASEAPI
#define WINADVAPI
#define WINUSERAPI
#define WINSHELLAPI
#define NTSYSAPI
#endif

typedef const BYTE *LPCBYTE, *PCBYTE;
typedef FLOAT *PFLOAT;
typedef HANDLE HGLOBAL, HLOCAL, GLOBALHANDLE, LOCALHANDLE;
typedef UINT_PTR WPARAM;
typedef LONG_PTR LPARAM, LRESULT;
typedef HANDLE HWND, HKEY, HRSRC, HICON, HMENU, HDC, HKL, HBRUSH, HCURSOR, HFONT, HGDIOBJ;
typedef HKEY *PHKEY;
/* Of any arguments in C, as GetProcAddress() returns them. */
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 202311L)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif
typedef INT_PTR(WINAPI *FARPROC)();
typedef INT_PTR(WINAPI *NEARPROC)();
typedef INT_PTR(WINAPI *PROC)();
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 202311L)
#pragma GCC diagnostic pop
#endif
typedef int HFILE;

#define MAKEWORD(low, high)  ((WORD)((BYTE)((DWORD_PTR)(low)&0xff) | ((WORD)((BYTE)((DWORD_PTR)(high)&0xff))) << 8))
#define MAKELONG(low, high)  ((LONG)((WORD)((DWORD_PTR)(low)&0xffff) | ((DWORD)((WORD)((DWORD_PTR)(high)&0xffff))) << 16))
#define LOWORD(number)       ((WORD)((DWORD_PTR)(number)&0xffff))
#define HIWORD(number)       ((WORD)((DWORD_PTR)(number) >> 16 & 0xffff))
#define LOBYTE(number)       ((BYTE)((DWORD_PTR)(number)&0xff))
#define HIBYTE(number)       ((BYTE)((DWORD_PTR)(number) >> 8 & 0xff))

/* C++ keeps the standard library's, whose headers cannot bear macros of these names. */
#ifndef NOMINMAX
#ifdef __cplusplus
extern "C++" {
#include <etw_compat_minmax.hpp>
}
#else
#ifndef max
#define max(left, right) (((left) > (right)) ? (left) : (right))
#endif
#ifndef min
#define min(left, right) (((left) < (right)) ? (left) : (right))
#endif
#endif
#endif
#ifndef __max
#define __max(left, right) (((left) > (right)) ? (left) : (right))
#define __min(left, right) (((left) < (right)) ? (left) : (right))
#endif

#endif
