/* SPDX-License-Identifier: MIT */
/* What files of Linux are in the terms of Windows. */
#ifndef ETW_COMPAT_WIN32_FILE_H
#define ETW_COMPAT_WIN32_FILE_H

#include <sys/stat.h>

#include "compat/win32/object.h"

/* etw_file_attributes() - FILE_ATTRIBUTE_... */
DWORD etw_file_attributes(const struct stat *status);

/* etw_file_data() - attributes, times and size. */
void etw_file_data(const struct stat *status, WIN32_FILE_ATTRIBUTE_DATA *ret);

/* etw_path_error() - the Win32 code for an errno value about a path: of ENOENT, whether its folder is there. */
DWORD etw_path_error(const char *path, int error);

#endif
