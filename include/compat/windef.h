/* SPDX-License-Identifier: MIT */
/* The base types, with those of windows. */
#ifndef ETW_COMPAT_WINDEF_H
#define ETW_COMPAT_WINDEF_H

#include <minwindef.h>
#include <winnt.h>

typedef DWORD COLORREF;
typedef struct tagPOINT {
	LONG x;
	LONG y;
} POINT, *PPOINT, *LPPOINT;
typedef struct _POINTL {
	LONG x;
	LONG y;
} POINTL, *PPOINTL;
typedef struct tagRECT {
	LONG left;
	LONG top;
	LONG right;
	LONG bottom;
} RECT, *PRECT, *LPRECT;
typedef struct tagSIZE {
	LONG cx;
	LONG cy;
} SIZE, *PSIZE, *LPSIZE;
#endif
