/* SPDX-License-Identifier: MIT */
/* Names by which the C library's headers call functions in fortified builds, and in those for C23. */
#ifndef ETW_COMPAT_CHECKED_H
#define ETW_COMPAT_CHECKED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* __vprintf_chk() - vprintf(), with the room that the compiler knows of. */
int __vprintf_chk(int flag, const char *format, va_list list);
/* __printf_chk() - printf(), with the room that the compiler knows of. */
int __printf_chk(int flag, const char *format, ...);
/* __vfprintf_chk() - vfprintf(), with the room that the compiler knows of. */
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list);
/* __fprintf_chk() - fprintf(), with the room that the compiler knows of. */
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
/* __vsprintf_chk() - vsprintf(), with the room that the compiler knows of. */
int __vsprintf_chk(char *buffer, int flag, size_t room, const char *format, va_list list);
/* __sprintf_chk() - sprintf(), with the room that the compiler knows of. */
int __sprintf_chk(char *buffer, int flag, size_t room, const char *format, ...);
/* __vsnprintf_chk() - vsnprintf(), with the room that the compiler knows of. */
int __vsnprintf_chk(char *buffer, size_t count, int flag, size_t room, const char *format,
		    va_list list);
/* __snprintf_chk() - snprintf(), with the room that the compiler knows of. */
int __snprintf_chk(char *buffer, size_t count, int flag, size_t room, const char *format, ...);
/* __vwprintf_chk() - vwprintf(), with the room that the compiler knows of. */
int __vwprintf_chk(int flag, const wchar_t *format, va_list list);
/* __wprintf_chk() - wprintf(), with the room that the compiler knows of. */
int __wprintf_chk(int flag, const wchar_t *format, ...);
/* __vfwprintf_chk() - vfwprintf(), with the room that the compiler knows of. */
int __vfwprintf_chk(FILE *file, int flag, const wchar_t *format, va_list list);
/* __fwprintf_chk() - fwprintf(), with the room that the compiler knows of. */
int __fwprintf_chk(FILE *file, int flag, const wchar_t *format, ...);
/* __vswprintf_chk() - vswprintf(), with the room that the compiler knows of. */
int __vswprintf_chk(wchar_t *buffer, size_t count, int flag, size_t room, const wchar_t *format,
		    va_list list);
/* __swprintf_chk() - swprintf(), with the room that the compiler knows of. */
int __swprintf_chk(wchar_t *buffer, size_t count, int flag, size_t room, const wchar_t *format,
		   ...);
/* __isoc23_wcstol() - wcstol(), as headers for C23 name it. */
long __isoc23_wcstol(const wchar_t *text, wchar_t **end, int base);
/* __isoc23_wcstoul() - wcstoul(), as headers for C23 name it. */
unsigned long __isoc23_wcstoul(const wchar_t *text, wchar_t **end, int base);
/* __isoc23_wcstoll() - wcstoll(), as headers for C23 name it. */
long long __isoc23_wcstoll(const wchar_t *text, wchar_t **end, int base);
/* __isoc23_wcstoull() - wcstoull(), as headers for C23 name it. */
unsigned long long __isoc23_wcstoull(const wchar_t *text, wchar_t **end, int base);

#endif
