/* SPDX-License-Identifier: MIT */
/* The C library's <string.h>, and what Microsoft adds. */
#pragma GCC system_header
#include_next <string.h>

#ifndef ETW_COMPAT_STRING_H
#define ETW_COMPAT_STRING_H

#include <etw_compat_crt.h>
#include <wchar.h> /* wcs*, which are in both of Microsoft's headers */

ETW_CRT_BEGIN
errno_t strcpy_s(char *to, size_t size, const char *from);
errno_t strcat_s(char *to, size_t size, const char *from);
errno_t strncpy_s(char *to, size_t size, const char *from, size_t count);
errno_t strncat_s(char *to, size_t size, const char *from, size_t count);
size_t strnlen_s(const char *text, size_t most);
char *strtok_s(char *text, const char *delimiters, char **context);
int _strnicmp(const char *a, const char *b, size_t count);
int _stricmp(const char *a, const char *b);
int _stricoll(const char *a, const char *b);
char *_strdup(const char *text);
char *_strlwr(char *text);
char *_strupr(char *text);
errno_t _strlwr_s(char *text, size_t size);
errno_t _strupr_s(char *text, size_t size);
char *_strrev(char *text);
char *_strnset(char *text, int unit, size_t count);
char *_strset(char *text, int unit);

errno_t memcpy_s(void *to, size_t size, const void *from, size_t count);
errno_t memmove_s(void *to, size_t size, const void *from, size_t count);

ETW_CRT_END

#ifdef __cplusplus
#include <etw_compat_overloads.hpp>
extern "C++" {
ETW_CRT_COPY_FORMS(char, strcpy_s, strcat_s, strncpy_s, strncat_s)
}
#endif

#endif
