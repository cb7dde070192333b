/* SPDX-License-Identifier: MIT */
/* The counter that ETW calls QPC. */
#ifndef ETW_COMPAT_PROFILEAPI_H
#define ETW_COMPAT_PROFILEAPI_H

#include <minwinbase.h>

ETW_EXTERN_C_BEGIN
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *lpPerformanceCount);
BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *lpFrequency);
ETW_EXTERN_C_END
#endif
