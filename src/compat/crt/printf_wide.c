/* SPDX-License-Identifier: MIT */
/* The wide printf functions, and the names that fortified builds call them by. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "compat/crt/checked.h"
#include "compat/crt/format.h"

#define POSITIONAL (ETW_FORMAT_POSITIONAL | ETW_FORMAT_STRICT)

/* The function with variable arguments that calls the one with a list. */
#define FORWARD(result, last, call)   \
	do {                          \
		va_list list;         \
		va_start(list, last); \
		(result) = call;      \
		va_end(list);         \
	} while (0)

int vwprintf(const wchar_t *format, va_list list)
{
	return etw_print_file(stdout, true, format, list, 0);
}

int wprintf(const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, vwprintf(format, list));
	return result;
}

int vfwprintf(FILE *file, const wchar_t *format, va_list list)
{
	return etw_print_file(file, true, format, list, 0);
}

int fwprintf(FILE *file, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, vfwprintf(file, format, list));
	return result;
}

int vwprintf_s(const wchar_t *format, va_list list)
{
	return etw_print_file(stdout, true, format, list, ETW_FORMAT_STRICT);
}

int wprintf_s(const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, vwprintf_s(format, list));
	return result;
}

int vfwprintf_s(FILE *file, const wchar_t *format, va_list list)
{
	return etw_print_file(file, true, format, list, ETW_FORMAT_STRICT);
}

int fwprintf_s(FILE *file, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, vfwprintf_s(file, format, list));
	return result;
}

int _vwprintf_p(const wchar_t *format, va_list list)
{
	return etw_print_file(stdout, true, format, list, POSITIONAL);
}

int _wprintf_p(const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, _vwprintf_p(format, list));
	return result;
}

int _vfwprintf_p(FILE *file, const wchar_t *format, va_list list)
{
	return etw_print_file(file, true, format, list, POSITIONAL);
}

int _fwprintf_p(FILE *file, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, _vfwprintf_p(file, format, list));
	return result;
}

int vswprintf(wchar_t *buffer, size_t count, const wchar_t *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_STANDARD, true, buffer, count, format, list);
}

int swprintf(wchar_t *buffer, size_t count, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, vswprintf(buffer, count, format, list));
	return result;
}

int _vswprintf(wchar_t *buffer, const wchar_t *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_UNLIMITED, true, buffer, SIZE_MAX, format, list);
}

int _swprintf(wchar_t *buffer, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, _vswprintf(buffer, format, list));
	return result;
}

int _vsnwprintf(wchar_t *buffer, size_t count, const wchar_t *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_OLD, true, buffer, count, format, list);
}

int _snwprintf(wchar_t *buffer, size_t count, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, _vsnwprintf(buffer, count, format, list));
	return result;
}

int _vscwprintf(const wchar_t *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_COUNT, true, NULL, 0, format, list);
}

int _scwprintf(const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, _vscwprintf(format, list));
	return result;
}

int vswprintf_s(wchar_t *buffer, size_t size, const wchar_t *format, va_list list)
{
	return etw_print_secure(true, buffer, size, 0, false, format, list);
}

int swprintf_s(wchar_t *buffer, size_t size, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, vswprintf_s(buffer, size, format, list));
	return result;
}

int _vsnwprintf_s(wchar_t *buffer, size_t size, size_t count, const wchar_t *format, va_list list)
{
	return etw_print_secure(true, buffer, size, count, true, format, list);
}

int _snwprintf_s(wchar_t *buffer, size_t size, size_t count, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, _vsnwprintf_s(buffer, size, count, format, list));
	return result;
}

int __vwprintf_chk(int flag, const wchar_t *format, va_list list)
{
	(void)flag;
	return vwprintf(format, list);
}

int __wprintf_chk(int flag, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, __vwprintf_chk(flag, format, list));
	return result;
}

int __vfwprintf_chk(FILE *file, int flag, const wchar_t *format, va_list list)
{
	(void)flag;
	return vfwprintf(file, format, list);
}

int __fwprintf_chk(FILE *file, int flag, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, __vfwprintf_chk(file, flag, format, list));
	return result;
}

int __vswprintf_chk(wchar_t *buffer, size_t count, int flag, size_t room, const wchar_t *format,
		    va_list list)
{
	(void)flag;
	if (count > room)
		abort(); /* the buffer is smaller than the program says */
	return vswprintf(buffer, count, format, list);
}

int __swprintf_chk(wchar_t *buffer, size_t count, int flag, size_t room, const wchar_t *format, ...)
{
	int result;

	FORWARD(result, format, __vswprintf_chk(buffer, count, flag, room, format, list));
	return result;
}
