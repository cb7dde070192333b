/* SPDX-License-Identifier: MIT */
/* Constants, macros and structures that programs and the system share; by area in headers of their own. */
#ifndef ETW_COMPAT_WINNT_H
#define ETW_COMPAT_WINNT_H

#include <ctype.h>
#include <etw/winstructs.h>
#include <minwindef.h>
#include <ntstatus.h>
#include <winnt_access.h>
#include <winnt_images.h>
#include <winnt_interlocked.h>
#include <winnt_languages.h>
#include <winnt_macros.h>
#include <winnt_memory.h>
#include <winnt_security.h>
#include <winnt_versions.h>

#endif
