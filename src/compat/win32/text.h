/* SPDX-License-Identifier: MIT */
/* Texts at the edge: the A functions speak UTF-8, the W functions UTF-16. */
#ifndef ETW_COMPAT_WIN32_TEXT_H
#define ETW_COMPAT_WIN32_TEXT_H

#include <stddef.h>

#include <minwindef.h>

/* etw_narrow() - owned UTF-8; NULL for NULL, or with the last error when memory ran out. */
char *etw_narrow(const WCHAR *text);

/* etw_widen() - owned UTF-16; NULL for NULL, or with the last error when memory ran out. */
WCHAR *etw_widen(const char *text);

/* How a function tells the size of a text that it returns. */
enum etw_text_size {
	ETW_SIZE_WITHOUT_NUL, /* as GetEnvironmentVariable: without the NUL if it fits, with it if not */
	ETW_SIZE_CUT, /* as GetModuleFileName: cut to the room; the room and ERROR_INSUFFICIENT_BUFFER */
	ETW_SIZE_WITH_NUL, /* as ExpandEnvironmentStrings: always with the NUL */
};

/* etw_return_narrow() / _wide() - a UTF-8 text into @room units at @to. Return what the size says; 0 when memory ran out. */
DWORD etw_return_narrow(const char *text, char *to, DWORD room, enum etw_text_size size);
DWORD etw_return_wide(const char *text, WCHAR *to, DWORD room, enum etw_text_size size);

/* etw_return_sized() - as GetUserName: *@size is the room, then the length with the NUL; ERROR_INSUFFICIENT_BUFFER or @short_error. */
BOOL etw_return_sized_narrow(const char *text, char *to, DWORD *size, DWORD short_error,
			     BOOL counts_nul);
BOOL etw_return_sized_wide(const char *text, WCHAR *to, DWORD *size, DWORD short_error,
			   BOOL counts_nul);

/* etw_linux_path() - owned path of Linux for what the program gave, by base/path.h; NULL with the last error. */
char *etw_linux_path(const char *path);
char *etw_linux_path_wide(const WCHAR *path);

#endif
