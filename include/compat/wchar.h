/* SPDX-License-Identifier: MIT */
/* The C library's <wchar.h>, and the wide functions that Microsoft adds. */
#pragma GCC system_header
#include_next <wchar.h>

#ifndef ETW_COMPAT_WCHAR_H
#define ETW_COMPAT_WCHAR_H

#include <etw_compat_crt.h>

ETW_CRT_BEGIN
errno_t wcscpy_s(wchar_t *to, size_t size, const wchar_t *from);
errno_t wcscat_s(wchar_t *to, size_t size, const wchar_t *from);
errno_t wcsncpy_s(wchar_t *to, size_t size, const wchar_t *from, size_t count);
errno_t wcsncat_s(wchar_t *to, size_t size, const wchar_t *from, size_t count);
size_t wcsnlen_s(const wchar_t *text, size_t most);
wchar_t *wcstok_s(wchar_t *text, const wchar_t *delimiters, wchar_t **context);
int _wcsnicmp(const wchar_t *a, const wchar_t *b, size_t count);
int _wcsicmp(const wchar_t *a, const wchar_t *b);
int _wcsicoll(const wchar_t *a, const wchar_t *b);
wchar_t *_wcsdup(const wchar_t *text);
wchar_t *_wcslwr(wchar_t *text);
wchar_t *_wcsupr(wchar_t *text);
errno_t _wcslwr_s(wchar_t *text, size_t size);
errno_t _wcsupr_s(wchar_t *text, size_t size);
wchar_t *_wcsrev(wchar_t *text);
wchar_t *_wcsnset(wchar_t *text, wchar_t unit, size_t count);
wchar_t *_wcsset(wchar_t *text, wchar_t unit);
errno_t _i64tow_s(long long value, wchar_t *to, size_t size, int radix);
errno_t _ui64tow_s(unsigned long long value, wchar_t *to, size_t size, int radix);
errno_t _itow_s(int value, wchar_t *to, size_t size, int radix);
errno_t _ltow_s(int value, wchar_t *to, size_t size, int radix);
errno_t _ultow_s(unsigned value, wchar_t *to, size_t size, int radix);
wchar_t *_itow(int value, wchar_t *to, int radix);
wchar_t *_ltow(int value, wchar_t *to, int radix);
wchar_t *_ultow(unsigned value, wchar_t *to, int radix);
wchar_t *_i64tow(long long value, wchar_t *to, int radix);
wchar_t *_ui64tow(unsigned long long value, wchar_t *to, int radix);

errno_t wmemcpy_s(wchar_t *to, size_t size, const wchar_t *from, size_t count);
errno_t wmemmove_s(wchar_t *to, size_t size, const wchar_t *from, size_t count);
int _wtoi(const wchar_t *text);
long _wtol(const wchar_t *text);
long long _wtoi64(const wchar_t *text);
long long _wtoll(const wchar_t *text);
double _wtof(const wchar_t *text);
long long _wcstoi64(const wchar_t *text, wchar_t **end, int base);
unsigned long long _wcstoui64(const wchar_t *text, wchar_t **end, int base);
wchar_t *wcsdup(const wchar_t *text);

int vwprintf_s(const wchar_t *format, va_list list);
int wprintf_s(const wchar_t *format, ...);
int vfwprintf_s(__FILE *file, const wchar_t *format, va_list list);
int fwprintf_s(__FILE *file, const wchar_t *format, ...);
int _vwprintf_p(const wchar_t *format, va_list list);
int _wprintf_p(const wchar_t *format, ...);
int _vfwprintf_p(__FILE *file, const wchar_t *format, va_list list);
int _fwprintf_p(__FILE *file, const wchar_t *format, ...);
int _vswprintf(wchar_t *buffer, const wchar_t *format, va_list list);
int _swprintf(wchar_t *buffer, const wchar_t *format, ...);
int _vsnwprintf(wchar_t *buffer, size_t count, const wchar_t *format, va_list list);
int _snwprintf(wchar_t *buffer, size_t count, const wchar_t *format, ...);
int _vscwprintf(const wchar_t *format, va_list list);
int _scwprintf(const wchar_t *format, ...);
int vswprintf_s(wchar_t *buffer, size_t size, const wchar_t *format, va_list list);
int swprintf_s(wchar_t *buffer, size_t size, const wchar_t *format, ...);
int _vsnwprintf_s(wchar_t *buffer, size_t size, size_t count, const wchar_t *format, va_list list);
int _snwprintf_s(wchar_t *buffer, size_t size, size_t count, const wchar_t *format, ...);

int _putws(const wchar_t *text);
wchar_t *_getws_s(wchar_t *buffer, size_t size);

ETW_CRT_END

#ifdef __cplusplus
#include <etw_compat_overloads.hpp>
extern "C++" {
ETW_CRT_COPY_FORMS(wchar_t, wcscpy_s, wcscat_s, wcsncpy_s, wcsncat_s)
ETW_CRT_PRINT_FORMS(wchar_t, swprintf_s, vswprintf_s, _snwprintf_s, _vsnwprintf_s)

template <size_t N> inline errno_t _wcslwr_s(wchar_t (&text)[N])
{
	return _wcslwr_s(text, N);
}

template <size_t N> inline errno_t _wcsupr_s(wchar_t (&text)[N])
{
	return _wcsupr_s(text, N);
}

template <size_t N> inline errno_t _itow_s(int value, wchar_t (&to)[N], int radix)
{
	return _itow_s(value, to, N, radix);
}

template <size_t N> inline wchar_t *_getws_s(wchar_t (&buffer)[N])
{
	return _getws_s(buffer, N);
}

/* The form without a limit, which Microsoft's C++ accepts. */
inline int swprintf(wchar_t *buffer, const wchar_t *format, ...)
{
	va_list list;
	va_start(list, format);
	int result = _vswprintf(buffer, format, list);
	va_end(list);
	return result;
}
}
#endif

/* Those of glibc take wide characters of four bytes. A program that calls one does not compile. */
ETW_CRT_BEGIN
#define ETW_GLIBC_WIDE(instead) ETW_NOT_HERE("not in libetw-compat, and glibc's is for wchar_t of four bytes: " instead)
#define ETW_NO_WIDE_SCAN	ETW_GLIBC_WIDE("read a line with fgetws() and convert it with wcstol() and its like")
int wscanf(const wchar_t *__restrict format, ...) ETW_NO_WIDE_SCAN;
int fwscanf(__FILE *__restrict file, const wchar_t *__restrict format, ...) ETW_NO_WIDE_SCAN;
int swscanf(const wchar_t *__restrict text, const wchar_t *__restrict format, ...) ETW_NO_WIDE_SCAN;
int vwscanf(const wchar_t *__restrict format, va_list list) ETW_NO_WIDE_SCAN;
int vfwscanf(__FILE *__restrict file, const wchar_t *__restrict format, va_list list) ETW_NO_WIDE_SCAN;
int vswscanf(const wchar_t *__restrict text, const wchar_t *__restrict format, va_list list) ETW_NO_WIDE_SCAN;
size_t wcsftime(wchar_t *__restrict to, size_t size, const wchar_t *__restrict format,
		const struct tm *__restrict time) ETW_GLIBC_WIDE("use strftime() and convert its text");
#undef ETW_NO_WIDE_SCAN
#undef ETW_GLIBC_WIDE
ETW_CRT_END

#endif
