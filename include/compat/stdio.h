/* SPDX-License-Identifier: MIT */
/* The C library's <stdio.h>, and what Microsoft adds. */
#pragma GCC system_header
#include_next <stdio.h>

#ifndef ETW_COMPAT_STDIO_H
#define ETW_COMPAT_STDIO_H

#include <etw_compat_crt.h>
#include <wchar.h> /* which Microsoft's <stdio.h> includes, too */

ETW_CRT_BEGIN
int vprintf_s(const char *format, va_list list);
int printf_s(const char *format, ...);
int vfprintf_s(FILE *file, const char *format, va_list list);
int fprintf_s(FILE *file, const char *format, ...);
int _vprintf_p(const char *format, va_list list);
int _printf_p(const char *format, ...);
int _vfprintf_p(FILE *file, const char *format, va_list list);
int _fprintf_p(FILE *file, const char *format, ...);
int _vsnprintf(char *buffer, size_t count, const char *format, va_list list);
int _snprintf(char *buffer, size_t count, const char *format, ...);
int _vscprintf(const char *format, va_list list);
int _scprintf(const char *format, ...);
int vsprintf_s(char *buffer, size_t size, const char *format, va_list list);
int sprintf_s(char *buffer, size_t size, const char *format, ...);
int _vsnprintf_s(char *buffer, size_t size, size_t count, const char *format, va_list list);
int _snprintf_s(char *buffer, size_t size, size_t count, const char *format, ...);
int vsnprintf_s(char *buffer, size_t size, size_t count, const char *format, va_list list);
int snprintf_s(char *buffer, size_t size, size_t count, const char *format, ...);

int _set_printf_count_output(int enable);
int _get_printf_count_output(void);
char *gets_s(char *buffer, size_t size);

ETW_CRT_END

#ifdef __cplusplus
#include <etw_compat_overloads.hpp>
extern "C++" {
ETW_CRT_PRINT_FORMS(char, sprintf_s, vsprintf_s, _snprintf_s, _vsnprintf_s)

template <size_t N> inline char *gets_s(char (&buffer)[N])
{
	return gets_s(buffer, N);
}
}
#endif

#endif
