/* SPDX-License-Identifier: MIT */
/* Basic definitions of Microsoft's C run time. */
#ifndef _INC_CRTDEFS
#define _INC_CRTDEFS

#include <sys/types.h>
#include <time.h>

#include <etw_compat_crt.h>

#ifndef _CRTIMP
#define _CRTIMP
#endif
#ifndef __CRTDECL
#define __CRTDECL
#endif
#define _CRT_UNUSED(name) ((void)(name))

typedef size_t rsize_t;
typedef int64_t __time64_t;
typedef int32_t __time32_t;

#endif
