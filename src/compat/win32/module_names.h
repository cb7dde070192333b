/* SPDX-License-Identifier: MIT */
/* Functions that GetProcAddress() finds in the DLLs of Windows that this archive stands for. */
#ifndef ETW_COMPAT_WIN32_MODULE_NAMES_H
#define ETW_COMPAT_WIN32_MODULE_NAMES_H

#include <minwindef.h>

/* etw_module_is_known() - whether this archive and libetw stand for a DLL; @name in any case, with or without ".dll". */
BOOL etw_module_is_known(const char *name);

/* etw_module_function() - one of them by its exact name; NULL. Those that libetw exports are found by the loader, not here. */
FARPROC etw_module_function(const char *name);

#endif
